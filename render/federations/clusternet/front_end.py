"""Clusternet's documents as units: subscriptions with the objects that they feed, overriding documents, clusters."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from render.federations.conversion import Documents, FrontEnd
from render.federations.decoding import WrongShape, decode_bool, decode_integer, decode_object, decode_text
from render.federations.manifests import (
    SKIP_NAMESPACE,
    manifest_with_label,
    member_cluster,
    without_server_fields,
    words_of_access_to_member,
)
from render.federations.patches import PatchFailed
from render.federations.shapes import read_texts, reader_of_fields, reader_of_list, reader_of_map, shape_of_document
from render.federations.units import (
    Conversion,
    Labels,
    Left,
    Placed,
    Reach,
    Remark,
    Unit,
    approximate_remark,
    exact_remark,
    refused_remark,
    remark_exact_for_now,
    units_and_left_documents,
)
from render.model import Manifest

from .charts import helm_release_of, helm_repository_of
from .distribution import Way, route_of_subscription
from .overriding import CHART_KIND, chart_after_overrides, is_of_feed, object_after_overrides
from .rules import Made, OverriddenFeed, Reached, rules_of_overridden_feed
from .scheduling import NEGATIVE, FeedOrder, ManagedCluster, feed_key, managed_cluster

_CLUSTER_NAME = "clusters.clusternet.io/cluster-name"
_DEFAULT_PRIORITY = 500
_COUNTED = frozenset({"Deployment", "ReplicaSet", "StatefulSet"})
_WRITTEN = frozenset({"Base", "Description", "HelmRelease"})
_READ = {
    "FeedInventory": "it says which replicas a feed wants",
    "Localization": "it became rules of override policies; it applies at once",
    "Globalization": "it became rules of override policies; it applies at once",
    "Manifest": "the object in it stands by itself",
}
_INIT = "apps.clusternet.io/is-default-cluster-init"
_FEED = reader_of_fields(apiVersion=decode_text, kind=decode_text, namespace=decode_text, name=decode_text)
_TOLERATION = reader_of_fields(key=decode_text, operator=decode_text, value=decode_text, effect=decode_text)
_OVERRIDES = reader_of_fields(
    feed=_FEED,
    priority=decode_integer,
    clusterAffinity=decode_object,
    overrides=reader_of_list(
        reader_of_fields(
            name=decode_text,
            value=decode_text,
            type=decode_text,
            overrideChart=decode_bool,
            fieldPath=decode_text,
            fieldFormat=decode_text,
        )
    ),
)


class _Subscriptions:
    """The documents by what they are to each other."""

    def __init__(self, documents: Documents, known_clusters: Labels) -> None:
        its_own, self._beside = documents
        self._own = its_own
        self._members = [each for each in its_own if each.kind == "ManagedCluster"]
        managed = [managed_cluster(each.manifest) for each in self._members]
        others = [ManagedCluster(key=f"{name}/{name}", labels=labels) for name, labels in known_clusters.items()]
        self._clusters = sorted([*managed, *others], key=lambda each: each.key)
        named = {managed_cluster(each.manifest).key: _name_of_document(each) for each in self._members}
        self._names = {**named, **{each.key: each.key.partition("/")[2] for each in others}}
        shadowed = [_object_in_manifest(each) for each in its_own if each.kind == "Manifest"]
        self._charts = [each for each in its_own if each.kind == CHART_KIND]
        self._objects = [*self._charts, *self._beside, *filter(None, shadowed)]
        self._overriding = [
            _manifest_with_default_priority(each) for each in its_own if each.kind in {"Localization", "Globalization"}
        ]
        self._inventories = {each.key: each for each in its_own if each.kind == "FeedInventory"}
        self._fed: dict[str, str] = {}
        self._ways: dict[str, Reach] = {}

    def converted(self) -> Conversion:
        """Convert all of them."""
        units: list[Unit] = []
        left: list[Left] = []
        for each in self._own:
            if each.kind == "Subscription":
                found, missing = self._units_of_subscription(each)
                units += found
                left += missing
            elif each.kind != CHART_KIND:
                left.append(each.left_unconverted(self._remark_on_document_only_read(each)))
        fed = {each.origin for each in units} | {each.origin for each in left}
        left += [
            each.left_unconverted(exact_remark("not-fed", "no Subscription feeds it, so that it goes nowhere"))
            for each in self._charts
            if each.origin not in fed
        ]
        # The object in a Manifest, in which a hub keeps what it does not run, is told of with that Manifest.
        others = sum(each.origin not in fed for each in self._beside)
        members = tuple((each.origin, self._cluster_of_managed_cluster(each)) for each in self._members)
        return Conversion(units=tuple(units), members=members, left=tuple(left), others=others)

    def _remark_on_document_only_read(self, document: Placed) -> Remark:
        if document.kind in _READ:
            return exact_remark(f"{document.kind.lower()}-read", _READ[document.kind])
        if document.kind == "ManagedCluster":
            way = words_of_access_to_member(document.key[1], is_pulling=document.spec.get("syncMode") == "Pull")
            what = f"its agent holds the credentials; {way}"
            if document.spec.get("syncMode") == "Dual":
                return approximate_remark("dual-sync", f"Dual has become Push; {what}")
            return exact_remark("credentials-left-out", what)
        if document.kind in _WRITTEN:
            return exact_remark("controller-written", "a controller of Clusternet wrote it")
        return exact_remark("setting", "a setting or a request of Clusternet's own agents")

    def _units_of_subscription(self, document: Placed) -> tuple[list[Unit], list[Left]]:
        fed = [(each, self._object_named_by_feed(each)) for each in document.spec.get("feeds") or ()]
        orders = self._feed_orders_of_subscription(document, [one for _, one in fed if one is not None])
        try:
            divided = [replace(each, replicas=None) if (each.replicas or 0) < 0 else each for each in orders]
            route = route_of_subscription(document, self._clusters, divided, self._names)
        except WrongShape as error:
            return [], [document.left_unconverted(refused_remark("unreadable", str(error)))]
        units: list[Unit] = []
        left = [document.left_unconverted(each) for each in (*route.remarks, *_remarks_on_doubtful_fields(document))]
        if not left:
            left.append(
                document.left_unconverted(exact_remark("subscription-read", "it became the policies of what it feeds"))
            )
        order_by_key = {each.key: each for each in orders}
        for feed, one in fed:
            order = order_by_key.get(feed_key(feed))
            if one is None:
                left.append(
                    document.left_unconverted(
                        refused_remark("feed-missing", f"{feed_key(feed)} is not among the documents")
                    )
                )
                continue
            if order is not None and (order.replicas or 0) < 0:
                left.append(one.left_unconverted(refused_remark("negative-replicas", f"it {NEGATIVE}")))
                continue
            found = self._units_of_fed_object(one, document, route, order)
            more, missing = units_and_left_documents(found)
            units += more
            left += missing
        return units, left

    def _units_of_fed_object(
        self, one: Placed, subscription: Placed, route: Way, order: FeedOrder | None
    ) -> Sequence[Unit | Left]:
        place = f"{one.origin} {one.subject}"
        first = self._fed.setdefault(place, subscription.subject)
        self._ways.setdefault(place, route.reach)
        if first != subscription.subject:
            if self._ways[place] == route.reach and order is None:
                return []
            what = f"{first} feeds it already: an object has one policy, so put the subscribers into one Subscription"
            return [one.left_unconverted(refused_remark("fed-twice", what))]
        members = Reached(clusters=route.reached, names=self._names)
        if one.kind == CHART_KIND:
            return self._units_of_chart(one, route, members)
        return [self._unit_of_fed_object(one, route, members, order)]

    def _unit_of_fed_object(self, one: Placed, route: Way, members: Reached, order: FeedOrder | None) -> Unit:
        manifest = without_server_fields(one.manifest)
        if one.kind == "Namespace":
            manifest = manifest_with_label(manifest, SKIP_NAMESPACE)
        overriding = [each for each in self._overriding if is_of_feed(one.manifest, each["spec"].get("feed") or {})]
        shares = route.shares.get(order.key, {}) if order else {}
        made: Made = lambda documents: object_after_overrides(manifest, documents)
        written = self._localizations_of_shares(one, shares)
        weights = route.weights_for(order, self._names) if order and order.replicas is not None else ()
        if order is not None and order.replicas is not None and not self._clusters:
            weights = route.weights
        remarks: list[Remark] = []
        if shares and (not weights or _overrides_set_replicas(one.manifest, overriding, members, made)):
            weights, overriding = (), [*overriding, *written]
            remarks.append(
                remark_exact_for_now("shares-pinned", "the replicas of each cluster are those Clusternet gives it now")
            )
        found = _overridden_feed(one.manifest, overriding, members, made)
        by_room = route.by_room if order is not None and order.replicas is not None else None
        return _unit_with_rules(one, manifest, route, found, remarks, weights=weights, by_room=by_room)

    def _localizations_of_shares(self, one: Placed, shares: Mapping[str, int]) -> list[Manifest]:
        """Return the Localizations that Clusternet makes of shares: replicas at the default priority."""
        feed = {"apiVersion": one.manifest["apiVersion"], "kind": one.kind, "name": one.key[1], "namespace": one.key[0]}
        return [
            {
                "kind": "Localization",
                "metadata": {"name": f"{one.key[1]}-replicas", "namespace": key.partition("/")[0]},
                "spec": {
                    "feed": feed,
                    "priority": _DEFAULT_PRIORITY,
                    "overrides": [_localization_value_of_replicas(count)],
                },
            }
            for key, count in shares.items()
        ]

    def _units_of_chart(self, one: Placed, route: Way, members: Reached) -> list[Unit | Left]:
        overriding = [each for each in self._overriding if is_of_feed(one.manifest, each["spec"].get("feed") or {})]
        chart = without_server_fields(one.manifest)

        def made(documents: Sequence[Manifest]) -> dict[str, Any]:
            found = chart_after_overrides(chart, documents)
            return helm_release_of(found.chart, found.values)

        what = "it became a HelmRelease and a HelmRepository of Flux, which each member must run"
        remarks = [approximate_remark("chart-by-flux", what)]
        if (one.spec.get("chartPullSecret") or {}).get("name"):
            remarks.append(approximate_remark("chart-pull-secret", "the Secret to pull it with is not copied"))
        found = _overridden_feed(one.manifest, overriding, members, made)
        repository = _unit_with_rules(one, helm_repository_of(chart), route, OverriddenFeed(), [])
        return [_unit_with_rules(one, made(()), route, found, remarks), repository]

    def _object_named_by_feed(self, feed: Mapping[str, Any]) -> Placed | None:
        return next((each for each in self._objects if is_of_feed(each.manifest, feed)), None)

    def _feed_orders_of_subscription(self, subscription: Placed, objects: Sequence[Placed]) -> list[FeedOrder]:
        inventory = self._inventories.get(subscription.key)
        replicas_by_key = (
            {feed_key(each): each.get("desiredReplicas") for each in (inventory.spec.get("feeds") or ())}
            if inventory
            else {}
        )
        orders = []
        for each in objects:
            key = feed_key(
                {"apiVersion": each.manifest["apiVersion"], "kind": each.kind, **_namespace_and_name_fields(each)}
            )
            orders.append(FeedOrder(key=key, replicas=replicas_by_key.get(key, _replicas_clusternet_divides(each))))
        return orders

    def _cluster_of_managed_cluster(self, document: Placed) -> Manifest:
        status = document.manifest.get("status") or {}
        fields = {
            "syncMode": "Pull" if document.spec.get("syncMode") == "Pull" else "Push",
            "apiEndpoint": status.get("apiserverURL"),
            "taints": [dict(each) for each in document.spec.get("taints") or ()],
        }
        return member_cluster(_name_of_document(document), document.metadata.get("labels") or {}, fields)


def _unit_with_rules(
    one: Placed, manifest: Manifest, route: Way, found: OverriddenFeed, remarks: Sequence[Remark], **division: Any
) -> Unit:
    return Unit(
        manifest=manifest,
        reach=route.reach,
        origin=one.origin,
        subject=one.subject,
        rules=found.rules,
        tolerations=route.tolerations,
        remarks=(*remarks, *found.remarks),
        **division,
    )


def _overridden_feed(source: Manifest, overriding: Sequence[Manifest], members: Reached, made: Made) -> OverriddenFeed:
    try:
        return rules_of_overridden_feed(source, overriding, members, made)
    except (WrongShape, PatchFailed) as error:
        return OverriddenFeed(remarks=(refused_remark("clusternet-override-fails", str(error)),))


def _overrides_set_replicas(source: Manifest, overriding: Sequence[Manifest], members: Reached, made: Made) -> bool:
    """Say whether people override the replicas, which then are not Karmada's to divide alone."""
    rules = _overridden_feed(source, overriding, members, made).rules
    return any(each["path"] in {"/spec", "/spec/replicas"} for rule in rules for each in rule.operations)


def _replicas_clusternet_divides(document: Placed) -> int | None:
    """Return the replicas of an object of a kind that Clusternet divides, 1 where they are not given."""
    if document.kind not in _COUNTED:
        return None
    count = document.spec.get("replicas")
    return count if isinstance(count, int) else 1


def _localization_value_of_replicas(count: int) -> dict[str, Any]:
    patch = [{"op": "replace", "path": "/spec/replicas", "value": count}]
    return {"name": "replicas", "type": "JSONPatch", "value": json.dumps(patch)}


def _remarks_on_doubtful_fields(document: Placed) -> list[Remark]:
    remarks = []
    if (document.metadata.get("annotations") or {}).get(_INIT) == "true":
        what = "it is for clusters that join: its policy selects those and all others alike"
        remarks.append(approximate_remark("cluster-init", what))
    if document.spec.get("priority") is not None or document.spec.get("preemptionPolicy"):
        remarks.append(
            approximate_remark("priority", "the order in which subscriptions are scheduled has no counterpart")
        )
    return remarks


def _object_in_manifest(document: Placed) -> Placed | None:
    """Return the object in a Manifest, in which a hub keeps what it does not run itself."""
    template = document.manifest.get("template")
    if not isinstance(template, dict) or not (template.get("metadata") or {}).get("name"):
        return None
    return Placed(manifest=template, origin=document.origin)


def _manifest_with_default_priority(document: Placed) -> Manifest:
    return {**document.manifest, "spec": {"priority": _DEFAULT_PRIORITY, **document.spec}}


def _name_of_document(document: Placed) -> str:
    return str((document.metadata.get("labels") or {}).get(_CLUSTER_NAME) or document.key[1])


def _namespace_and_name_fields(document: Placed) -> dict[str, str]:
    namespace, name = document.key
    return {"namespace": namespace, "name": name}


def _convert_clusternet_documents(documents: Documents, known_clusters: Labels) -> Conversion:
    """Convert what subscriptions feed, and everything of Clusternet's own."""
    return _Subscriptions(documents, known_clusters).converted()


_SUBSCRIBER = reader_of_fields(
    clusterAffinity=decode_object, weight=decode_integer, subGroupStrategy=reader_of_fields(minClusters=decode_integer)
)
FRONT_END = FrontEnd(
    kinds={
        "Subscription": shape_of_document(
            reader_of_fields(
                subscribers=reader_of_list(_SUBSCRIBER),
                feeds=reader_of_list(_FEED),
                schedulingStrategy=decode_text,
                schedulingBySubGroup=decode_bool,
                dividingScheduling=reader_of_fields(
                    type=decode_text, dynamicDividing=reader_of_fields(strategy=decode_text)
                ),
                clusterTolerations=reader_of_list(_TOLERATION),
                priority=decode_integer,
            ),
            status=reader_of_fields(bindingClusters=read_texts, replicas=reader_of_map(reader_of_list(decode_integer))),
        ),
        "Globalization": shape_of_document(_OVERRIDES, status=decode_object),
        "Localization": shape_of_document(_OVERRIDES, status=decode_object),
        "FeedInventory": shape_of_document(
            reader_of_fields(
                feeds=reader_of_list(
                    reader_of_fields(
                        apiVersion=decode_text, kind=decode_text, name=decode_text, desiredReplicas=decode_integer
                    )
                )
            ),
            status=decode_object,
        ),
        "HelmChart": shape_of_document(
            reader_of_fields(
                repo=decode_text,
                chart=decode_text,
                version=decode_text,
                targetNamespace=decode_text,
                timeoutSeconds=decode_integer,
                chartPullSecret=reader_of_fields(name=decode_text),
            ),
            status=decode_object,
        ),
        "ManagedCluster": shape_of_document(
            reader_of_fields(syncMode=decode_text, taints=reader_of_list(_TOLERATION)),
            status=reader_of_fields(apiserverURL=decode_text),
        ),
    },
    other=shape_of_document(),
    plain=shape_of_document(decode_object),
    convert=_convert_clusternet_documents,
)
