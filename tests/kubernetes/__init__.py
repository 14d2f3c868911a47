"""The programs of a Kubernetes control plane for the tests: found, downloaded, or built from pinned Go modules."""
