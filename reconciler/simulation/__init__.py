"""A fleet as it would be without a cluster, with other taints, capacity or replicas, and the passes that would come.

``alterations`` are the changes that can be supposed, as values; ``passes`` renders the fleet as it is, as an ideal
reschedule would have it, and pass by pass as the failover that is configured goes on. Nothing here is ever committed or
applied.
"""
