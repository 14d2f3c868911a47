"""Liqo: namespaces that are offloaded from a home cluster to its peers."""
