"""WorkloadRebalancers: requests to schedule workloads afresh, and the ones among these that are answered already."""
