"""Charts per class of clusters: what a chart is asked for by the rules of overrides, and by what members can do.

Here alone the clusters fall into classes before anything is built; each class is then rendered once, and classes that
ask for the same are one.

1. The chart's own rules (``spec.overrideRules``) add to its values, in order.
2. Override policies that select the chart by its kind change what it asks for, as they change any object.
3. Where it says neither the version of Kubernetes nor the APIs that it may count on, those of its clusters count - as
   far as the chart asks at all.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from msgspec import Struct, field

from overrides.engine import OverrideEngine
from overrides.errors import PolicyOrigin
from overrides.policy import OverridePolicy, Overriders
from overrides.record import AppliedRule
from reconciler.building.requests import UnusableRequest
from reconciler.source.facts import FactsOf, clusters_corrected_by_facts
from reconciler.source.karmada_objects import admitted_kind, load_karmada_objects
from reconciler.source.manifests import LocatedManifest
from reconciler.source.roles import HELM_CHART
from reconciler.source.schemas.kubernetes import minor_version
from render.bits import Mask, indexes_of_mask
from render.cluster import Cluster
from render.cluster_index import ClusterIndex
from render.kinds import BUILT_IN
from render.model import Manifest, ObjectRef, merged_chart_values
from render.parsing.selectors import parse_cluster_affinity
from render.settings.fleet import Fleet

_BUILT_IN_GROUPS = frozenset(group for group, _ in BUILT_IN)


class ChartClass(NamedTuple):
    """A class of clusters, the chart as they ask for it, and the rules that make it so, as messages name them."""

    clusters: Mask
    chart: Manifest
    rules: tuple[str, ...] = ()


class Assumed(NamedTuple):
    """Everything a chart may count on: the version of Kubernetes ("": not known), and APIs beside its own."""

    kube_version: str = ""
    api_versions: tuple[str, ...] = ()

    def __str__(self) -> str:
        version = f"Kubernetes {self.kube_version}" if self.kube_version else "an unknown version of Kubernetes"
        return f"{version} with the APIs of its clusters" if self.api_versions else version


class ChartMembers(Struct, frozen=True, dict=True):
    """The members of a fleet, and the override policies that select charts, with the places of these."""

    clusters: Sequence[Cluster] = ()
    policies: Sequence[OverridePolicy] = ()
    places: Mapping[tuple[str, int], LocatedManifest] = field(default_factory=dict)

    @cached_property
    def index(self) -> ClusterIndex:
        """The clusters as bits."""
        return ClusterIndex(self.clusters)

    @cached_property
    def _engine(self) -> OverrideEngine:
        return OverrideEngine(self.policies, self.index)

    def names_of_clusters(self, clusters: Mask) -> frozenset[str]:
        """Return the names of clusters."""
        return frozenset(self.index.names[position] for position in indexes_of_mask(clusters))

    def classes_of(self, chart: Manifest) -> Iterator[ChartClass]:
        """Yield a chart as each class of clusters asks for it; a fleet without clusters has the chart as it is."""
        if not self.clusters:
            yield ChartClass(0, chart_without_rules(chart))
        for own in self._own_classes(chart):
            for overridden in self._engine.override(own.chart, own.clusters):
                if overridden.error is not None:
                    raise self._problem_of_policy(overridden.error.origin, overridden.error, own.chart)
                assert overridden.manifest is not None
                rules = (f"{each.policy} {each.rule}" for each in overridden.applied)
                yield ChartClass(overridden.clusters, overridden.manifest, (*own.rules, *rules))

    def _problem_of_policy(self, origin: PolicyOrigin, error: Any, chart: Manifest) -> UnusableRequest:
        """Return why a policy cannot be applied to a chart, as a problem of the policy."""
        message = f"{error.message} (in {ObjectRef.of(chart)})"
        return UnusableRequest(error.field, message, error.hint, place=self.places.get((origin.path, origin.document)))

    def _own_classes(self, chart: Manifest) -> Iterator[ChartClass]:
        """Yield a chart with its own rules applied."""
        rules = chart["spec"].get("overrideRules") if isinstance(chart["spec"], Mapping) else None
        classes = [ChartClass(self.index.all, chart_without_rules(chart))] if self.clusters else []
        for number, rule in enumerate(rules if isinstance(rules, list) and is_helm_chart(chart) else ()):
            target = rule.get("targetCluster")
            clusters = (
                self.index.all
                if target is None
                else self.index.clusters_matching_affinity(parse_cluster_affinity(target))
            )
            name = f"spec.overrideRules[{number}]"
            classes = [part for each in classes for part in _split_class(each, clusters, rule, name)]
        yield from classes

    def classes_among(self, chart: Manifest, only: frozenset[str] | None) -> Iterator[ChartClass]:
        """Yield the classes of a chart as far as it is for their clusters (None: for all)."""
        for each in self.classes_of(chart):
            clusters = each.clusters if only is None else each.clusters & self.index.clusters_named(only)
            if only is None or clusters:
                yield each._replace(clusters=clusters)

    def assumed_in(self, clusters: Mask) -> dict[Assumed, Mask]:
        """Return what a chart may count on in some clusters, by class."""
        found: dict[Assumed, Mask] = {}
        for position in indexes_of_mask(clusters):
            assumed = self._assumed_by_position[position]
            found[assumed] = found.get(assumed, 0) | 1 << position
        return found or {Assumed(): clusters}

    @cached_property
    def _assumed_by_position(self) -> Sequence[Assumed]:
        return tuple(_assumed_of_cluster(cluster) for cluster in self.index.clusters)


def chart_members(manifests: Iterable[LocatedManifest], fleet: Fleet, facts: FactsOf) -> ChartMembers:
    """Return the Clusters among manifests as they are observed, and the override policies that select charts by kind.

    What charts make is not among these manifests, so no chart decides on another.
    """
    kinds = {HELM_CHART, *fleet.source.rendered}
    admitted = ((place, admitted_kind(place.manifest)) for place in manifests)
    chosen = [
        (place, kind)
        for place, kind in admitted
        if kind and (kind.kind == "Cluster" or kind.kind.endswith("OverridePolicy"))
    ]
    found = load_karmada_objects(chosen, default_namespace=fleet.default_namespace).objects
    by_name = {cluster.name: cluster for cluster in found.clusters}
    return ChartMembers(
        clusters=clusters_corrected_by_facts(by_name.values(), facts(fleet)),
        policies=[
            policy
            for policy in found.override_policies
            if any(selector.kind in kinds for selector in policy.resource_selectors)
        ],
        places={(place.file.path, place.number): place for place, _ in chosen},
    )


def is_helm_chart(chart: Manifest) -> bool:
    """Say whether a manifest is a HelmChart, which may have rules of its own."""
    return bool(chart["kind"] == HELM_CHART)


def chart_without_rules(chart: Manifest) -> Manifest:
    """Return a chart without its own rules."""
    if not is_helm_chart(chart) or "overrideRules" not in chart["spec"]:
        return chart
    return {**chart, "spec": {key: value for key, value in chart["spec"].items() if key != "overrideRules"}}


def _split_class(given: ChartClass, clusters: Mask, rule: Mapping[str, Any], name: str) -> Iterator[ChartClass]:
    """Yield a class without the clusters that a rule targets, and these with the rule applied."""
    if outside := given.clusters & ~clusters:
        yield given._replace(clusters=outside)
    if inside := given.clusters & clusters:
        spec = given.chart["spec"]
        values = merged_chart_values(spec.get("values") or {}, rule.get("values") or {})
        files = [*(spec.get("valuesFiles") or ()), *(rule.get("valuesFiles") or ())]
        chart = {**given.chart, "spec": {**spec, "values": values, "valuesFiles": files}}
        yield ChartClass(inside, chart, (*given.rules, name))


def _assumed_of_cluster(cluster: Cluster) -> Assumed:
    """Return what a cluster says of itself; the patch of a version decides nothing in a chart."""
    minor = minor_version(cluster.kubernetes_version)
    apis: set[str] = set()
    for api_version, kind in cluster.api_enablements or ():
        group, slash, _ = api_version.partition("/")
        if slash and group not in _BUILT_IN_GROUPS:
            apis |= {api_version, f"{api_version}/{kind}"}
    return Assumed("" if minor is None else f"1.{minor}.0", tuple(sorted(apis)))


def record_of_deciding_rules(chart: Manifest, place: LocatedManifest, rules: Sequence[str]) -> AppliedRule:
    """Return what decides a class, as the record of an override has its rules."""
    ref = ObjectRef.of(chart)
    name = f"{ref.kind} {ref.namespace}/{ref.name}"
    path, document = place.file.path, place.number
    return AppliedRule(
        policy=name,
        rule=", ".join(rules) or "spec",
        origin=PolicyOrigin(policy=name, path=path, document=document),
        source=OverridePolicy(name=ref.name, path=path, document=document),
        overriders=Overriders(),
    )
