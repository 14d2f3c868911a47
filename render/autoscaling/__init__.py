"""FederatedHPA: the replicas that metrics of pods ask for, and how fast a workload may come there.

No pass acts on it. Metrics change by the second and are in no commit; members' own autoscalers follow them better.
"""
