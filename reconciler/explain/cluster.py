"""One cluster explained, as values: the objects it holds, those it does not hold, and the reasons for both."""

from collections import Counter
from collections.abc import Iterator, Mapping

from msgspec import Struct

from reconciler.pipeline.dependencies import binding_name
from reconciler.pipeline.eviction_notes import EVICTED
from reconciler.pipeline.need_notes import REMOVED
from reconciler.pipeline.pass_values import Rendered
from reconciler.pipeline.rendered_condition import REMOVAL_HELD, RENDERED
from render.binding import Binding
from render.cluster import Cluster
from render.model import ObjectRef
from render.scheduling.decisions import Trigger
from render.scheduling.explanation import Candidate, Explanation
from render.scheduling.resource_models import modelled_nodes

from .capacity import CapacityOrigin, origin_of_capacity


class ClusterObject(Struct, frozen=True, kw_only=True):
    """An object that a cluster holds, its replicas (0: it has none), and the policy or object that puts it there.

    ``overridden`` is True where its policy assigns other replicas, and None elsewhere.
    """

    ref: ObjectRef
    replicas: int
    why: str
    overridden: bool | None = None


class AbsentObject(Struct, frozen=True, kw_only=True):
    """An object that is bound to go elsewhere: the filters that refuse this cluster, or another reason."""

    ref: ObjectRef
    refused: tuple[tuple[str, str], ...] = ()
    why: str = ""


class CapacityLine(Struct, frozen=True, kw_only=True):
    """One resource of a cluster, in Kubernetes' notation."""

    resource: str
    allocatable: str
    allocated: str
    allocating: str
    reserved: str


class GradeLine(Struct, frozen=True, kw_only=True):
    """A grade of a cluster's resource model: how many nodes it has, and the least of each resource that one has."""

    grade: int
    nodes: int
    least: Mapping[str, str]


class ClusterExplanation(Struct, frozen=True, kw_only=True):
    """A cluster as the scheduler sees it, with the objects it holds and does not. ``served`` counts recorded APIs.

    ``grades`` are those of its resource model by which its room is counted: none where the sums above count.
    """

    name: str
    path: str
    region: str
    provider: str
    zones: tuple[str, ...]
    labels: Mapping[str, str]
    former_names: tuple[str, ...]
    taints: tuple[str, ...]
    served: int | None
    origin: CapacityOrigin
    capacity: tuple[CapacityLine, ...]
    grades: tuple[GradeLine, ...]
    held: tuple[ClusterObject, ...]
    absent: tuple[AbsentObject, ...]


def cluster_explanation(name: str, rendered: Rendered) -> ClusterExplanation:
    """Explain a cluster of the source."""
    built = rendered.built
    cluster = built.index.clusters[built.index.index_by_name[name]]
    held = tuple(sorted(_objects_in_cluster(name, rendered), key=lambda each: each.ref))
    refs = {each.ref for each in held}
    elsewhere = {binding.ref: binding for binding in built.bindings if binding.ref not in refs}
    explained = {each.ref: each for each in built.schedule.explanations(elsewhere)}
    absent = (_explain_absent_object(name, binding, explained.get(ref)) for ref, binding in elsewhere.items())
    return ClusterExplanation(
        name=name,
        path=cluster.path,
        region=cluster.region,
        provider=cluster.provider,
        zones=cluster.zones,
        labels=cluster.labels,
        former_names=cluster.former_names,
        taints=tuple(map(str, cluster.taints)),
        served=None if cluster.api_enablements is None else len(cluster.api_enablements),
        origin=origin_of_capacity(cluster.resource_summary),
        capacity=tuple(_capacity_lines(cluster)),
        grades=tuple(_grade_lines(cluster)) if built.schedule.scheduler.state.options.uses_resource_models else (),
        held=held,
        absent=tuple(sorted(absent, key=lambda each: each.ref)),
    )


def _capacity_lines(cluster: Cluster) -> Iterator[CapacityLine]:
    summary = cluster.resource_summary
    for resource, allocatable in sorted(summary.allocatable.items()) if summary else ():
        parts = (summary.allocated, summary.allocating, summary.reserved) if summary else ()
        allocated, allocating, reserved = (part.get(resource, "") for part in parts)
        yield CapacityLine(
            resource=resource,
            allocatable=allocatable,
            allocated=allocated,
            allocating=allocating,
            reserved=reserved,
        )


def _grade_lines(cluster: Cluster) -> Iterator[GradeLine]:
    """Yield the grades that have nodes, of a cluster whose room is counted by them."""
    if modelled_nodes(cluster) is None or cluster.resource_summary is None:
        return
    nodes: Counter[int] = Counter()
    for grade, count in cluster.resource_summary.modelings:
        nodes[grade] += count
    for model in sorted(cluster.resource_models, key=lambda each: each.grade):
        if nodes[model.grade]:
            least = {each.name: each.min for each in model.ranges}
            yield GradeLine(grade=model.grade, nodes=nodes[model.grade], least=least)


def _objects_in_cluster(name: str, rendered: Rendered) -> Iterator[ClusterObject]:
    owners = rendered.built.following.owners
    for binding in rendered.built.bindings:
        required = [
            f"required by {owner.ref}"
            for owner in owners.get(binding.ref, ())
            for snapshot in binding.required_by
            if snapshot.name == binding_name(owner.ref) and any(each.name == name for each in snapshot.clusters)
        ]
        own = [each for each in binding.targets if each.name == name]
        if needed := _reason_to_stay(name, binding):
            yield ClusterObject(ref=binding.ref, replicas=binding.placed_replicas.get(name, 0), why=needed)
        elif (own or required) and name not in binding.undispatched_clusters:
            by_policy = [binding.policy or "released: it stays as it was"] if own else []
            replicas = binding.placed_replicas[name] if own else 0
            why, overridden = ", ".join([*by_policy, *required]), name in binding.overridden_replicas or None
            yield ClusterObject(ref=binding.ref, replicas=replicas, why=why, overridden=overridden)
        elif not (own or required) and name in _clusters_keeping_former(binding):
            why = f"{REMOVAL_HELD}: too much would leave the cluster at once"
            yield ClusterObject(ref=binding.ref, replicas=0, why=why)
    bit = rendered.built.index.index_by_name[name]
    for template, works in rendered.namespaces:
        if any(variant.clusters >> bit & 1 for variant in works.variants):
            yield ClusterObject(ref=template.ref, replicas=0, why="is propagated with the objects in it")


def _reason_to_stay(name: str, binding: Binding) -> str:
    """Return because of what an object stays that a cluster would lose: others need it, or no other gets it yet."""
    types = {REMOVED} if any(each.name == name for each in binding.targets) else {REMOVED, EVICTED}
    return next((each.message for each in binding.conditions if each.type in types and name in each.clusters), "")


def _clusters_keeping_former(binding: Binding) -> frozenset[str]:
    """Return the clusters that keep what they have although something else was built, or nothing."""
    return frozenset(name for each in binding.conditions if each.type == RENDERED for name in each.clusters)


def _explain_absent_object(name: str, binding: Binding, explanation: Explanation | None) -> AbsentObject:
    """Say why a binding does not target a cluster, by the last affinity group that was tried."""
    if name in binding.clusters_before_delivery:
        return AbsentObject(ref=binding.ref, why=binding.why_not_delivered(name))
    if name in binding.undispatched_clusters:
        return AbsentObject(ref=binding.ref, why=f"{binding.policy} suspends dispatching to the cluster")
    attempt = explanation.attempts[-1] if explanation and explanation.attempts else None
    if explanation is None or attempt is None:
        return AbsentObject(ref=binding.ref, why="the scheduler has no say in it")
    refused = next((each.reasons for each in attempt.rejected if each.cluster == name), ())
    if refused:
        return AbsentObject(ref=binding.ref, refused=refused)
    if attempt.refusal is not None:
        return AbsentObject(ref=binding.ref, why=attempt.refusal.message)
    candidate = next((each for each in attempt.candidates if each.cluster == name), None)
    return AbsentObject(ref=binding.ref, why=_reason_not_targeted(candidate, explanation))


def _reason_not_targeted(candidate: Candidate | None, explanation: Explanation) -> str:
    if candidate is None:
        return "the cluster is being deleted"
    more = outcome_of_rebalancing_in_words(explanation, candidate.cluster)
    if explanation.trigger is Trigger.NONE:
        return f"nothing asks for a new decision; {more}" if more else _NOT_ASKED
    if not candidate.is_selected:
        return f"passes every filter; {candidate.why}"
    return "passes every filter; the division leaves it no replica"


_NOT_ASKED = "nothing asks for a new decision; decided now, it would be a candidate"


def outcome_of_rebalancing_in_words(explanation: Explanation, cluster: str) -> str:
    """Return what a request to reschedule would give a cluster of an object; nothing where that is not known."""
    if explanation.afresh is None:
        return ""
    ref, replicas = explanation.ref, explanation.afresh.get(cluster, 0)
    namespace = f" -n {ref.namespace}" if ref.namespace else ""
    gives = str(replicas) if replicas else "none"
    return f"argosy rebalance {ref.kind.lower()}/{ref.name}{namespace} would give it {gives}"
