"""FederatedHPA: the replicas that metrics of pods ask for, and how fast a workload may come there.

A pass keeps replicas within the bounds alone. Metrics change by the second and are in no commit; members' own
autoscalers follow them better. So no pass runs ``metrics`` and ``limits``: they state Karmada's rule, and only the
recordings of Karmada ask them.
"""
