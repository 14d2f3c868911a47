"""Cluster health, taints, eviction and application failover: Karmada's rules of illness, as functions of ``now``.

``health`` filters what probes and heartbeats say into a Ready condition and its taints, ``taint_policies`` adds those
of ClusterTaintPolicies, ``taint_eviction`` and ``application`` decide which clusters a binding leaves, ``eviction`` has
what that means for its targets and works, and ``tasks`` when what was left behind there may go.
"""
