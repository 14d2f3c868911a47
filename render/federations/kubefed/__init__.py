"""KubeFed v2: where a federated object goes, what each cluster is sent, and how replicas are divided."""
