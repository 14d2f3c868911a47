"""Replicas that are placed, and placed again: by Karmada's descheduler, and as WorkloadRebalancers ask for it."""
