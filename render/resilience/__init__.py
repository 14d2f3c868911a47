"""ResiliencePolicies: the objects that they name, and the losses of clusters that these have to survive."""
