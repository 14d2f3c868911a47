"""FederatedResourceQuotas: the usage of workloads, limits for a namespace in the fleet, and the shares of clusters."""
