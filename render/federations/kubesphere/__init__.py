"""KubeSphere's multi-cluster objects: KubeFed's federated kinds, clusters and workspaces of its own, and charts."""
