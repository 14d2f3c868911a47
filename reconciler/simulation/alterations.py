"""Alterations: changes of a fleet that are supposed for a moment, each a value, and the inputs of a pass with them.

An alteration says what observations would say if it were so. A cluster that is lost does not answer: it is still in the
source, and becomes unready at the time of the simulation, as if the time until a probe is believed were over by then.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from reconciler.ledger.facts import ClusterFacts, Facts
from reconciler.ledger.health import ObservedHealth
from reconciler.pipeline.pass_values import Inputs
from reconciler.pipeline.reserves import reserves_of_changed_facts
from reconciler.source.desired import Desired, interpreter_of_source
from reconciler.source.facts import clusters_corrected_by_facts
from render.cluster import CORDON, Cluster, ClusterCondition, ResourceSummary, Taint
from render.errors import UnknownName
from render.failover.health import NOT_REACHABLE, REACHABLE, READY, TRUE, key_and_effect_of_taint
from render.interpreter import InterpreterError
from render.model import Manifest, ObjectRef, Template
from render.timing import instant_text


class LostClusters(Struct, frozen=True, kw_only=True, tag=True):
    """Clusters that do not answer any more."""

    names: frozenset[str]


class CordonedClusters(Struct, frozen=True, kw_only=True, tag=True):
    """Clusters that get nothing that they do not have already."""

    names: frozenset[str]


class TaintedCluster(Struct, frozen=True, kw_only=True, tag=True):
    """A cluster with one more taint."""

    name: str
    taint: Taint


class ChangedCapacity(Struct, frozen=True, kw_only=True, tag=True):
    """A cluster whose nodes have other resources to allocate; those that are not named stay.

    What is known of its nodes by their size counts no more, for nobody says which of them come or go.
    """

    name: str
    resources: Mapping[str, str]


class ScaledObject(Struct, frozen=True, kw_only=True, tag=True):
    """An object whose template asks for other replicas."""

    ref: ObjectRef
    replicas: int


Alteration = LostClusters | CordonedClusters | TaintedCluster | ChangedCapacity | ScaledObject


def altered(inputs: Inputs, alterations: Sequence[Alteration], now: datetime) -> Inputs:
    """Return the inputs of a pass as they would be with some alterations since a time.

    Names are those of the source; whoever made the alterations has refused others.
    """
    for each in alterations:
        inputs = _altered_once(inputs, each, now)
    return inputs


def lost_clusters(alterations: Iterable[Alteration]) -> frozenset[str]:
    """Return the clusters that are supposed not to answer."""
    lost = (each.names for each in alterations if isinstance(each, LostClusters))
    return frozenset[str]().union(*lost)


def altered_clusters(alterations: Iterable[Alteration]) -> frozenset[str]:
    """Return the clusters that something is supposed of."""
    names: set[str] = set()
    for each in alterations:
        if isinstance(each, LostClusters | CordonedClusters):
            names |= each.names
        elif isinstance(each, TaintedCluster | ChangedCapacity):
            names.add(each.name)
    return frozenset(names)


def newly_tainted_clusters(alterations: Iterable[Alteration]) -> frozenset[str]:
    """Return the clusters that are supposed to have a taint which they do not have."""
    kinds = CordonedClusters | TaintedCluster
    return altered_clusters(each for each in alterations if isinstance(each, kinds))


def _altered_once(inputs: Inputs, alteration: Alteration, now: datetime) -> Inputs:
    match alteration:
        case LostClusters(names=names):
            return _with_lost_clusters(inputs, names, now)
        case CordonedClusters(names=names):
            return _with_taint(inputs, names, CORDON)
        case TaintedCluster(name=name, taint=taint):
            return _with_taint(inputs, {name}, taint)
        case ChangedCapacity():
            return _with_capacity(inputs, alteration)
        case ScaledObject():
            return replace(inputs, desired=_desired_with_scaled_object(inputs, alteration))
        case _:
            assert_never(alteration)


def _with_lost_clusters(inputs: Inputs, names: frozenset[str], now: datetime) -> Inputs:
    """Return inputs in which clusters do not answer since a time; one that is unready already has its own time."""
    facts = dict(inputs.facts)
    for name in names:
        known = facts.get(name, ClusterFacts(name=name, status={}))
        facts[name] = replace(known, status=_status_of_lost_cluster(known.status, now))
    members = [cluster.name for cluster in inputs.desired.clusters]

    def with_conditions(health: ObservedHealth) -> ObservedHealth:
        known = health.conditions
        found = {name: known.get(name) or (REACHABLE,) for name in members}
        lost = {name: _conditions_of_lost_cluster(known.get(name, ()), now) for name in names}
        return replace(health, conditions={**known, **found, **lost})

    failover = inputs.failover
    # Where nothing fails over, a pass is told no conditions.
    knows_conditions = bool(failover.health.conditions) or inputs.desired.fleet.feature_gates.failover
    return replace(
        _with_facts(inputs, facts),
        failover=replace(failover, health=with_conditions(failover.health)) if knows_conditions else failover,
        rollouts=replace(inputs.rollouts, health=with_conditions(inputs.rollouts.health)),
        moves=replace(inputs.moves, health=with_conditions(inputs.moves.health)),
    )


def _conditions_of_lost_cluster(known: Iterable[ClusterCondition], now: datetime) -> tuple[ClusterCondition, ...]:
    ready = next((each for each in known if each.type == READY), None)
    if ready is not None and ready.status != TRUE:
        return (ready,)
    return (replace(NOT_REACHABLE, since=instant_text(now)),)


def _status_of_lost_cluster(status: Manifest, now: datetime) -> Manifest:
    known = [each for each in status.get("conditions") or () if each.get("type") == READY]
    if known and str(known[0].get("status")) != TRUE:
        return status
    lost = {
        "type": READY,
        "status": NOT_REACHABLE.status,
        "reason": NOT_REACHABLE.reason,
        "message": NOT_REACHABLE.message,
        "lastTransitionTime": instant_text(now),
    }
    return {**status, "conditions": [lost]}


def _with_facts(inputs: Inputs, facts: Facts) -> Inputs:
    """Return inputs with other facts; what earlier passes reserved of a cluster's room stays reserved."""
    reserves = reserves_of_changed_facts(inputs.reserves, inputs.facts, facts)
    return replace(inputs, facts=facts, reserves=reserves)


def _with_taint(inputs: Inputs, names: Iterable[str], taint: Taint) -> Inputs:
    wanted = frozenset(names)

    def with_taint(cluster: Cluster) -> Cluster:
        key = key_and_effect_of_taint(taint)
        others = tuple(each for each in cluster.taints if key_and_effect_of_taint(each) != key)
        return replace(cluster, taints=(*others, taint))

    return _with_clusters(inputs, [with_taint(each) if each.name in wanted else each for each in _clusters(inputs)])


def _with_capacity(inputs: Inputs, change: ChangedCapacity) -> Inputs:
    facts = inputs.facts.get(change.name)
    if facts is not None and (summary := facts.status.get("resourceSummary")):
        changed = {key: value for key, value in summary.items() if key != "allocatableModelings"}
        changed["allocatable"] = {**(summary.get("allocatable") or {}), **change.resources}
        status = {**facts.status, "resourceSummary": changed}
        return _with_facts(inputs, {**inputs.facts, change.name: replace(facts, status=status)})
    return _with_clusters(
        inputs,
        [_with_declared_capacity(each, change) if each.name == change.name else each for each in _clusters(inputs)],
    )


def _with_declared_capacity(cluster: Cluster, change: ChangedCapacity) -> Cluster:
    summary = cluster.resource_summary or ResourceSummary(is_declared=True)
    allocatable = {**summary.allocatable, **change.resources}
    return replace(cluster, resource_summary=replace(summary, allocatable=allocatable, modelings=()))


def _clusters(inputs: Inputs) -> tuple[Cluster, ...]:
    return inputs.desired.clusters


def _with_clusters(inputs: Inputs, clusters: Sequence[Cluster]) -> Inputs:
    return replace(inputs, desired=replace(inputs.desired, clusters=tuple(clusters)))


def _desired_with_scaled_object(inputs: Inputs, scaled: ScaledObject) -> Desired:
    """Return the source with other replicas of an object; UnknownName where it has none, or they cannot be written."""
    desired = inputs.desired
    members = clusters_corrected_by_facts(desired.clusters, inputs.facts)
    interpreter = interpreter_of_source(desired, members=members)

    def manifest_with_replicas(manifest: Manifest) -> Manifest:
        try:
            if interpreter.replicas(manifest) is None:
                raise UnknownName(f"{scaled.ref} has no replicas that could be scaled")
            return interpreter.revise_replica(manifest, scaled.replicas)
        except InterpreterError as error:
            raise UnknownName(f"the replicas of {scaled.ref} cannot be written: {error}") from error

    def with_replicas(template: Template) -> Template:
        variants = (
            replace(each, manifest=manifest_with_replicas(each.manifest) if each.manifest is not None else None)
            for each in template.variants
        )
        return replace(
            template,
            manifest=manifest_with_replicas(template.manifest),
            digest=f"{template.digest} with {scaled.replicas}",
            has_default_replicas=False,
            variants=tuple(variants),
        )

    templates = (with_replicas(each) if each.ref == scaled.ref else each for each in desired.templates)
    return replace(desired, templates=tuple(templates))
