"""The scheduler of Clusternet: clusters of all subscribers, without those whose taints are not tolerated, divided.

1. The clusters of each subscriber in their order, each once; those being deleted and tainted ones are left out.
2. They are sorted by how few taints of ``PreferNoSchedule`` are not tolerated.
3. With sub-groups each subscriber takes its first so many of them, a cluster of two subscribers twice.
4. The assigner divides each feed: by weights, by the room that is left, or not at all.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from render.cluster import Taint, first_untolerated_taint, is_tolerated
from render.federations.decoding import WrongShape, checked_selector, decode_label_selector
from render.model import Manifest
from render.placement import Toleration
from render.selectors import matches_labels

from .dividing import Targets, shares_by_static_weights, shares_in_proportion_to_weights, wrapped_to_int32

_MOST_SCORE = 100
NEGATIVE = "has a negative number of replicas, which no API server takes"


class NotScheduled(ValueError):
    """Clusternet cannot schedule the subscription; what it was bound to stays."""


class ManagedCluster(Struct, frozen=True, kw_only=True):
    """A registered cluster: ``key`` is its namespace and name."""

    key: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...] = ()
    is_leaving: bool = False


class FeedOrder(Struct, frozen=True, kw_only=True):
    """One feed with the replicas that its object wants, None for an object without a count."""

    key: str
    replicas: int | None


class ClusternetFleet(Struct, frozen=True, kw_only=True):
    """The clusters, the feeds that are known, and by feed and cluster the replicas that there is room for."""

    clusters: Sequence[ManagedCluster]
    feeds: Sequence[FeedOrder] = ()
    available: Mapping[str, Mapping[str, int]]


def feed_key(feed: Mapping[str, Any]) -> str:
    """Return the key of a feed: apiVersion, kind, namespace if it has one, and name."""
    parts = [str(feed.get(part) or "") for part in ("apiVersion", "kind", "namespace", "name")]
    return "/".join(part for place, part in enumerate(parts) if part or place != 2)


def managed_cluster(manifest: Manifest, *, is_leaving: bool = False) -> ManagedCluster:
    """Return a ManagedCluster as the scheduler reads it."""
    metadata, spec = manifest["metadata"], manifest.get("spec") or {}
    taints = tuple(
        Taint(key=each.get("key") or "", value=each.get("value") or "", effect=each.get("effect") or "")
        for each in spec.get("taints") or ()
    )
    key = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"
    return ManagedCluster(key=key, labels=metadata.get("labels") or {}, taints=taints, is_leaving=is_leaving)


def targets_of_subscription(subscription: Manifest, fleet: ClusternetFleet) -> Targets:
    """Return what a subscription is bound to, in the order of score; NotScheduled where nothing is bound anew."""
    spec = subscription.get("spec") or {}
    if not fleet.clusters:
        raise NotScheduled("there is no cluster")
    try:
        feasible = feasible_clusters(spec, fleet.clusters)
    except WrongShape as error:
        raise NotScheduled(str(error)) from error
    if not feasible:
        raise NotScheduled("no cluster fits")
    chosen = _clusters_by_group(spec, feasible) if spec.get("schedulingBySubGroup") else feasible
    if not chosen:
        raise NotScheduled("no cluster is selected")
    if spec.get("schedulingStrategy") != "Dividing":
        return Targets(clusters=tuple(each.key for each in chosen))
    return _targets_with_shares(subscription, fleet, chosen)


def _targets_with_shares(subscription: Manifest, fleet: ClusternetFleet, chosen: Sequence[ManagedCluster]) -> Targets:
    """Return the clusters with their shares of each feed."""
    spec = subscription.get("spec") or {}
    if negative := next((each.key for each in fleet.feeds if (each.replicas or 0) < 0), ""):
        raise NotScheduled(f"{negative} {NEGATIVE}")
    dividing = spec.get("dividingScheduling") or {}
    if dividing.get("type") == "Static":
        return _targets_by_static_weights(spec, fleet, chosen)
    if dividing.get("type") == "Dynamic":
        return _targets_by_dynamic_weights(subscription, dividing, fleet, chosen)
    raise NotScheduled("spec.dividingScheduling says of no type how replicas are divided")


def feasible_clusters(spec: Mapping[str, Any], clusters: Sequence[ManagedCluster]) -> list[ManagedCluster]:
    """Return the clusters that subscribers select and whose taints are tolerated, the least doubtful first."""
    found: dict[str, ManagedCluster] = {}
    for subscriber in spec.get("subscribers") or ():
        found |= {each.key: each for each in _clusters_of_subscriber(subscriber, clusters) if each.key not in found}
    tolerations = tolerations_of(spec)
    staying = [each for each in found.values() if not each.is_leaving]
    fitting = [each for each in staying if first_untolerated_taint(each.taints, tolerations) is None]
    doubts = [_count_of_untolerated_preferences(each, tolerations) for each in fitting]
    worst = max(doubts, default=0) or 1
    order = sorted(range(len(fitting)), key=lambda place: _MOST_SCORE * doubts[place] // worst)
    return [fitting[place] for place in order]


def weight_of_each_cluster(spec: Mapping[str, Any], clusters: Sequence[ManagedCluster]) -> list[int]:
    """Return the weight of each cluster: the sum of those of all subscribers that select it."""
    weights = [0] * len(clusters)
    for subscriber in spec.get("subscribers") or ():
        weight = subscriber.get("weight") or 0
        keys = {each.key for each in _clusters_of_subscriber(subscriber, clusters)} if weight > 0 else frozenset()
        weights = [sum_ + weight * (each.key in keys) for sum_, each in zip(weights, clusters, strict=True)]
    return weights


def _clusters_of_subscriber(subscriber: Mapping[str, Any], clusters: Sequence[ManagedCluster]) -> list[ManagedCluster]:
    what = "spec.subscribers.clusterAffinity"
    selector = decode_label_selector(subscriber.get("clusterAffinity"), what)
    if selector is None:
        return []
    checked = checked_selector(selector, what)
    return [each for each in clusters if matches_labels(checked, each.labels)]


def tolerations_of(spec: Mapping[str, Any]) -> tuple[Toleration, ...]:
    """Return the tolerations of a subscription."""
    return tuple(
        Toleration(
            key=each.get("key") or "",
            operator=each.get("operator") or "",
            value=each.get("value") or "",
            effect=each.get("effect") or "",
        )
        for each in spec.get("clusterTolerations") or ()
    )


def _count_of_untolerated_preferences(cluster: ManagedCluster, tolerations: Sequence[Toleration]) -> int:
    return sum(each.effect == "PreferNoSchedule" and not is_tolerated(each, tolerations) for each in cluster.taints)


def _clusters_by_group(spec: Mapping[str, Any], feasible: Sequence[ManagedCluster]) -> list[ManagedCluster]:
    chosen: list[ManagedCluster] = []
    for subscriber in spec.get("subscribers") or ():
        if subscriber.get("subGroupStrategy") is None:
            raise NotScheduled("a subscriber has no subGroupStrategy")
        least = subscriber["subGroupStrategy"].get("minClusters") or 0
        chosen += _clusters_of_subscriber(subscriber, feasible)[:least]
    return chosen


def _targets_by_static_weights(
    spec: Mapping[str, Any], fleet: ClusternetFleet, chosen: Sequence[ManagedCluster]
) -> Targets:
    weights = weight_of_each_cluster(spec, chosen)
    clusters = tuple(each.key for each in chosen)
    if not sum(weights):
        return Targets(clusters=clusters)
    wanted = {each.key: each.replicas for each in fleet.feeds}
    replicas: dict[str, tuple[int, ...]] = {}
    for feed in map(feed_key, spec.get("feeds") or ()):
        if feed not in wanted:
            raise NotScheduled(f"nothing is known of the feed {feed}")
        count = wanted[feed]
        replicas[feed] = () if count is None else tuple(shares_by_static_weights(count, weights) or ())
    return Targets(clusters=clusters, replicas=replicas)


def _targets_by_dynamic_weights(
    subscription: Manifest, dividing: Mapping[str, Any], fleet: ClusternetFleet, chosen: Sequence[ManagedCluster]
) -> Targets:
    """Add the difference between wished and bound replicas to what is bound; nothing bound is ever taken away."""
    clusters = [each.key for each in chosen]
    room = {each.key: _room_in_each_cluster(each, fleet, clusters) for each in fleet.feeds if each.replicas is not None}
    if dividing.get("dynamicDividing") is None:
        raise NotScheduled("spec.dividingScheduling.dynamicDividing is missing")
    status = subscription.get("status") or {}
    before = {feed: tuple(counts or ()) for feed, counts in (status.get("replicas") or {}).items()}
    bound = tuple(status.get("bindingClusters") or ())
    targets = Targets(clusters=bound, replicas=None if status.get("replicas") is None else before)
    if dividing["dynamicDividing"].get("strategy") != "Spread":
        return targets
    for feed in fleet.feeds:
        change = (
            None
            if feed.replicas is None
            else wrapped_to_int32(feed.replicas - wrapped_to_int32(sum(before.get(feed.key, ()))))
        )
        if feed.key not in before or (change or 0) > 0:
            shares = [] if change is None else shares_in_proportion_to_weights(change, room[feed.key])
            targets = targets.with_feed(feed.key, clusters, shares)
        elif change is not None and change < 0:
            targets = targets.with_feed(feed.key, bound, shares_in_proportion_to_weights(change, before[feed.key]))
    return targets


def _room_in_each_cluster(feed: FeedOrder, fleet: ClusternetFleet, clusters: Sequence[str]) -> list[int]:
    known = fleet.available.get(feed.key) or {}
    if missing := [each for each in clusters if each not in known]:
        raise NotScheduled(f"the room for {feed.key} in {missing[0]} is not known")
    return [known[each] for each in clusters]
