"""Choose clusters for bindings and assign replicas to them, as Karmada's scheduler does."""
