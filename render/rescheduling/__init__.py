"""Replicas that are placed, and placed again: by Karmada's descheduler, and by a WorkloadRebalancer."""
