"""The access of a controller to clusters that it uses for itself: for its Lease, and for Events."""

from reconciler.deliver.options import DeliveryOptions
from reconciler.members.opening import MemberAccess, Members


def openable_clusters(delivery: DeliveryOptions) -> Members:
    """Return the clusters that the options of delivery have credentials of, as the controller itself."""
    return Members(
        MemberAccess(kubeconfig=delivery.kubeconfig, folder=delivery.kubeconfigs, in_cluster=delivery.in_cluster)
    )
