"""FederatedPlacement of KubeFed: which clusters a federated object goes to."""

from render.federations.decoding import WrongShape
from render.federations.kubefed.placement import RegisteredClusters
from tests.kubefed import labels_by_name

from . import Case


def check(case: Case) -> str | None:
    given, expected = case["input"], case["expected"]
    is_namespaced = given["targetType"]["namespaced"]
    federation = RegisteredClusters(
        labels_by_cluster=labels_by_name(given["clusters"]), is_limited=given.get("limitedScope", False)
    )
    resource, namespace = given["resource"], given["federatedNamespace"]
    try:
        if given.get("selectorOnly"):
            clusters = sorted(
                federation.registered_clusters_selected_for(resource, namespace, is_namespaced=is_namespaced)
            )
        else:
            clusters = sorted(federation.clusters_of(resource, namespace, is_namespaced=is_namespaced))
    except WrongShape as error:
        return None if expected["error"] else f"{error}, want {expected['clusters']}"
    if expected["error"]:
        return f"{clusters}, want {expected['error']}"
    return None if clusters == (expected["clusters"] or []) else f"{clusters}, want {expected['clusters']}"
