"""Override policies and the engine that applies them; nothing here touches files, clusters, network or clock."""

DISTRIBUTION = "argosy"
