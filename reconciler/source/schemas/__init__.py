"""The schemas that templates are checked against, and which of them a kind has in which version of Kubernetes.

``kubernetes`` has those of Kubernetes' own kinds, from a table that ships with Argosy, and ``served_versions`` which
versions of a kind are served. ``observed`` are those of the custom kinds that members have. ``checks`` joins the steps.
"""
