"""The route that the feeds of a subscription take: clusters, and how the replicas of each feed are divided."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from render.federations.decoding import checked_selector, decode_label_selector
from render.federations.planner import gives_same_division
from render.federations.units import (
    ByRoom,
    Placed,
    Reach,
    Remark,
    Weight,
    approximate_remark,
    exact_remark,
    refused_remark,
    remark_exact_for_now,
)
from render.placement import Toleration
from render.selectors import LabelSelector

from .dividing import Targets
from .scheduling import (
    ClusternetFleet,
    FeedOrder,
    ManagedCluster,
    NotScheduled,
    feasible_clusters,
    targets_of_subscription,
    tolerations_of,
    weight_of_each_cluster,
)
from .unions import union_of_selectors


class Way(Struct, frozen=True, kw_only=True):
    """The clusters of a subscription, and the replicas of each of its feeds by key of cluster."""

    reach: Reach
    reached: Sequence[ManagedCluster] = ()
    tolerations: tuple[Toleration, ...] = ()
    shares: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    weights: tuple[Weight, ...] = ()
    by_room: ByRoom | None = None
    remarks: tuple[Remark, ...] = ()

    def weights_for(self, feed: FeedOrder, names: Mapping[str, str]) -> tuple[Weight, ...]:
        """Return static weights that divide a feed as its shares do, none where there are none."""
        shares = {names.get(key, key): count for key, count in self.shares.get(feed.key, {}).items()}
        weight_by_name = {name: each.weight for each in self.weights for name in each.names}
        if not shares or not all(shares.values()) or weight_by_name.keys() != shares.keys():
            return ()
        return self.weights if gives_same_division(feed.replicas or 0, weight_by_name, shares) else ()


def route_of_subscription(
    subscription: Placed, clusters: Sequence[ManagedCluster], feeds: Sequence[FeedOrder], names: Mapping[str, str]
) -> Way:
    """Return the route of a subscription; WrongShape where Clusternet cannot read it."""
    spec = subscription.spec
    selectors = [_label_selector_of_subscriber(each) for each in spec.get("subscribers") or ()]
    feasible = feasible_clusters(spec, clusters)
    route = Way(reach=_reach_of_selectors(selectors), reached=feasible, tolerations=tolerations_of(spec))
    if route.reach.is_nowhere:
        return replace(route, remarks=(exact_remark("selects-nothing", "its subscribers select no cluster"),))
    is_divided = spec.get("schedulingStrategy") == "Dividing"
    kind = (spec.get("dividingScheduling") or {}).get("type") if is_divided else None
    if len(set(selectors)) > 1 or spec.get("schedulingBySubGroup"):
        route = _route_by_labels(route, spec, clusters) or _route_to_clusters_of_today(
            route, subscription, clusters, names
        )
    if route.reach.is_nowhere:
        return route
    if kind == "Static":
        return _route_by_static_weights(
            route, subscription, ClusternetFleet(clusters=clusters, feeds=feeds, available={}), names
        )
    if kind == "Dynamic":
        return _route_by_dynamic_weights(
            route, subscription, ClusternetFleet(clusters=clusters, feeds=feeds, available={}), names
        )
    return route


def _label_selector_of_subscriber(subscriber: Mapping[str, Any]) -> LabelSelector | None:
    what = "spec.subscribers.clusterAffinity"
    selector = decode_label_selector(subscriber.get("clusterAffinity"), what)
    return None if selector is None else checked_selector(selector, what)


def _reach_of_selectors(selectors: Sequence[LabelSelector | None]) -> Reach:
    found = [each for each in selectors if each is not None]
    return Reach(selector=found[0]) if found else Reach(is_nowhere=True)


def _route_to_targets(route: Way, targets: Targets, names: Mapping[str, str], *remarks: Remark) -> Way:
    found = tuple(dict.fromkeys(names[key] for key in targets.in_order().clusters if key in names))
    known = {each.key: each for each in route.reached}
    return replace(
        route,
        reach=Reach(names=found) if found else Reach(is_nowhere=True),
        reached=[known[key] for key in dict.fromkeys(targets.in_order().clusters) if key in known],
        remarks=(*route.remarks, *remarks),
    )


def _route_to_clusters_of_today(
    route: Way, subscription: Placed, clusters: Sequence[ManagedCluster], names: Mapping[str, str]
) -> Way:
    """Return a route to the clusters that several subscribers, or sub-groups, choose today."""
    if not clusters:
        what = "several subscribers are met one or another, by clusters that are not known: add the ManagedClusters"
        return replace(route, reach=Reach(is_nowhere=True), remarks=(refused_remark("union-needs-clusters", what),))
    is_grouped = bool(subscription.spec.get("schedulingBySubGroup"))
    copied = {**subscription.manifest, "spec": {**subscription.spec, "schedulingStrategy": "Replication"}}
    try:
        targets = targets_of_subscription(copied, ClusternetFleet(clusters=clusters, available={}))
    except NotScheduled as error:
        what = f"Clusternet binds it nowhere ({error}); what it was bound to stays there"
        return replace(route, reach=Reach(is_nowhere=True), remarks=(remark_exact_for_now("binds-nowhere", what),))
    if is_grouped:
        what = "the clusters are those that the sub-groups choose now, of equal ones the first by name"
        return _route_to_targets(route, targets, names, remark_exact_for_now("subgroup-frozen", what))
    what = "a policy has no clusters that meet one selector or another: they are those that meet one now"
    return _route_to_targets(route, targets, names, remark_exact_for_now("union-frozen", what))


def _route_by_labels(route: Way, spec: Mapping[str, Any], clusters: Sequence[ManagedCluster]) -> Way | None:
    """Return a route to the clusters of several subscribers by their labels, where no cluster has to be known."""
    if clusters or spec.get("schedulingBySubGroup"):
        return None
    weight_by_selector = _weight_by_selector(spec)
    union = union_of_selectors(list(weight_by_selector))
    is_weighted = (spec.get("dividingScheduling") or {}).get("type") == "Static" and any(weight_by_selector.values())
    if union is None or (is_weighted and not union.is_disjoint):
        return None
    return replace(route, reach=Reach(selector=union.selector))


def _weight_by_selector(spec: Mapping[str, Any]) -> dict[LabelSelector, int]:
    """Return the weights of subscribers by what they select; equal ones add up."""
    weights: dict[LabelSelector, int] = {}
    for each in spec.get("subscribers") or ():
        selector = _label_selector_of_subscriber(each)
        if selector is not None:
            weights[selector] = weights.get(selector, 0) + max(each.get("weight") or 0, 0)
    return weights


def _route_by_weights_of_labels(route: Way, spec: Mapping[str, Any]) -> Way:
    """Return a route that divides replicas by the weights of subscribers, whichever clusters they select."""
    weight_by_selector = _weight_by_selector(spec)
    if not any(weight_by_selector.values()):
        return route
    if len(weight_by_selector) == 1:
        what = "no cluster is known, so that replicas are divided evenly: add the ManagedClusters"
        return replace(route, weights=(Weight(weight=1),), remarks=(approximate_remark("clusters-unknown", what),))
    weights = tuple(
        Weight(weight=weight, selector=selector) for selector, weight in weight_by_selector.items() if weight
    )
    what = "no cluster is known: each has the weight of its labels, and a rest that is left over may go to another one"
    if len(weights) < len(weight_by_selector):
        what += "; clusters of weight 0 have the object without replicas there, and not at all here"
    return replace(route, weights=weights, remarks=(approximate_remark("weights-by-labels", what),))


def _route_by_static_weights(route: Way, subscription: Placed, fleet: ClusternetFleet, names: Mapping[str, str]) -> Way:
    if not fleet.clusters:
        return _route_by_weights_of_labels(route, subscription.spec)
    try:
        targets = targets_of_subscription(subscription.manifest, fleet)
    except NotScheduled as error:
        what = f"Clusternet binds it nowhere ({error}); what it was bound to stays there"
        return replace(route, reach=Reach(is_nowhere=True), remarks=(remark_exact_for_now("binds-nowhere", what),))
    if targets.replicas is None:
        return route
    chosen = [next(each for each in route.reached if each.key == key) for key in dict.fromkeys(targets.clusters)]
    weights: dict[int, list[str]] = {}
    for cluster, weight in zip(chosen, weight_of_each_cluster(subscription.spec, chosen), strict=True):
        weights.setdefault(weight, []).append(names[cluster.key])
    found = replace(
        _route_to_targets(route, targets, names) if 0 in weights else route,
        shares=_shares_of_targets(targets),
        weights=tuple(Weight(weight=weight, names=tuple(each)) for weight, each in weights.items() if weight),
    )
    if len(chosen) < len(targets.clusters):
        what = "a cluster that two sub-groups choose is given two shares, of which either may win: it has the last"
        return replace(found, remarks=(*found.remarks, approximate_remark("chosen-twice", what)))
    return found


def _route_by_dynamic_weights(
    route: Way, subscription: Placed, fleet: ClusternetFleet, names: Mapping[str, str]
) -> Way:
    """Return a route by what is bound, if that is known and needs no more, else by the room that clusters have."""
    dividing = subscription.spec["dividingScheduling"].get("dynamicDividing") or {}
    if dividing.get("strategy") != "Spread":
        what = "Clusternet knows Binpack, but binds nothing by it: the replicas are packed"
        return replace(route, by_room=ByRoom.AGGREGATED, remarks=(*route.remarks, approximate_remark("binpack", what)))
    bound = (subscription.manifest.get("status") or {}).get("replicas") or {}
    fixed = replace(fleet, available=_no_room_of_bound_feeds(bound, fleet))
    try:
        targets = targets_of_subscription(subscription.manifest, fixed)
    except NotScheduled:
        targets = None
    if targets is not None and targets.replicas and bound:
        what = "the clusters and replicas are those that it is bound to now, which Clusternet would not move either"
        return replace(
            _route_to_targets(route, targets, names, remark_exact_for_now("dynamic-pinned", what)),
            reached=[each for each in fleet.clusters if each.key in targets.clusters],
            shares=_shares_of_targets(targets),
        )
    what = "replicas are divided by the room that clusters have; rounding differs, and too little room is refused"
    return replace(
        route, by_room=ByRoom.WEIGHTED, remarks=(*route.remarks, approximate_remark("dynamic-by-room", what))
    )


def _no_room_of_bound_feeds(bound: Mapping[str, Sequence[int]], fleet: ClusternetFleet) -> dict[str, dict[str, int]]:
    """Return no room for the feeds that are bound and want no more replicas, which need none."""
    return {
        feed.key: {each.key: 0 for each in fleet.clusters}
        for feed in fleet.feeds
        if feed.key in bound and (feed.replicas or 0) <= sum(bound[feed.key] or ())
    }


def _shares_of_targets(targets: Targets) -> dict[str, dict[str, int]]:
    return {
        feed: dict(zip(targets.clusters, counts, strict=False))
        for feed, counts in (targets.replicas or {}).items()
        if counts
    }
