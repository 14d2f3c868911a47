"""Clusternet's scheduler: the clusters of a subscription, and its replicas divided by weights or by room."""

from typing import Any

from render.federations.clusternet.dividing import shares_by_static_weights, shares_in_proportion_to_weights
from render.federations.clusternet.scheduling import (
    ClusternetFleet,
    FeedOrder,
    NotScheduled,
    feed_key,
    managed_cluster,
    targets_of_subscription,
)

from . import Case


def check(case: Case) -> str | None:
    given, expected = case["input"], case["expected"]
    if given["mode"] == "schedule":
        got = _scheduled(given)
        want = {key: value for key, value in expected.items() if key in got}
        if expected.get("error") or "panic" in expected:
            want = {"error": True}
        want["error"] = bool(want.get("error"))
    else:
        want = {"replicas": expected["replicas"]}
        divide, weights = (
            (shares_in_proportion_to_weights, given["available"])
            if given["mode"] == "dynamic"
            else (shares_by_static_weights, given["weights"])
        )
        got = {"replicas": divide(given["desired"], weights)}
    return None if got == want else f"{got}, want {want}"


def _scheduled(given: dict[str, Any]) -> dict[str, Any]:
    feeds = ((given.get("feedInventory") or {}).get("spec") or {}).get("feeds") or ()
    fleet = ClusternetFleet(
        clusters=[
            managed_cluster(each, is_leaving=(each["metadata"].get("annotations") or {}).get("rec/deleting") == "true")
            for each in given["clusters"]
        ],
        feeds=[FeedOrder(key=feed_key(each), replicas=each.get("desiredReplicas")) for each in feeds],
        available=given.get("available") or {},
    )
    try:
        found = targets_of_subscription(given["subscription"], fleet)
    except NotScheduled:
        return {"error": True}
    bound = found.in_order()
    replicas = None if bound.replicas is None else {feed: list(each) for feed, each in bound.replicas.items()}
    return {
        "error": False,
        "order": list(found.clusters),
        "bindingClusters": list(bound.clusters),
        "replicas": replicas,
    }
