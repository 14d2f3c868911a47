"""Karmada's kinds that act on time and on what is observed: quotas, autoscalers, taint policies, remedies."""
