"""Render manifests for a fleet: everything that decides the target clusters of an object and its form in each.

Nothing here touches files, clusters, the network or the clock.
"""

DISTRIBUTION = "argosy"
