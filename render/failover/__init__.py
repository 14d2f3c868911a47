"""Cluster health, taints, eviction and application failover: Karmada's rules of illness, as functions of ``now``.

``health`` filters what probes and heartbeats say into a Ready condition and its taints, ``taint_policies`` adds those
of ClusterTaintPolicies, ``taint_eviction`` and ``application`` decide which clusters a binding leaves, ``tasks`` when
what was left behind there may go, and ``purge`` what that means for the works.
"""
