"""Every object of a fleet as its branches describe it: its clusters, and its state in each of them.

What is recorded is read once for all objects. Only what is not well in a cluster is kept for an object, so that a fleet
of a thousand objects in a thousand clusters is no million of values: what is not kept is as its cluster says, well
where the cluster is known to have what it is asked for.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct, field

from reconciler.pipeline.pending import SUSPENDED, WAITS_FOR_WAVE
from reconciler.record.binding_status import expected_clusters
from reconciler.record.recorded_status import path_in_cluster
from reconciler.status.branches import RecordedFleet
from reconciler.status.fault_times import FaultTimes
from reconciler.status.fleet import conditions_at_fault
from reconciler.status.in_no_cluster import objects_in_no_cluster
from render.binding import Binding
from render.matching.match import NoPolicyReason
from render.model import Manifest, ObjectRef, Template

from .states import (
    DISCONNECTED_CLUSTER,
    NOT_APPLIED_YET,
    WELL,
    StateReason,
    SurveyedState,
    rank_of_state,
    ready_replicas_in_work,
    state_of_member,
    state_of_work,
)

GOES_NOWHERE = "GoesNowhere"
"""The reason of an object that has a binding without a cluster, where the binding says nothing more."""
APP_LABELS = (
    "app.kubernetes.io/part-of",
    "app.kubernetes.io/instance",
    "app.kubernetes.io/name",
    "app",
)
"""The labels that say which app an object belongs to; the first that it has counts."""


class UsualStates(Struct, frozen=True, kw_only=True):
    """The states of objects in each cluster unless something else is recorded of them; ``ranks`` are their places."""

    reasons: Mapping[str, StateReason] = field(default_factory=dict)
    ranks: Mapping[str, int] = field(default_factory=dict)


class SurveyedObject(Struct, frozen=True, kw_only=True, dict=True):
    """An object of the fleet.

    ``replicas`` are those of each cluster that it goes to; 0 where it has none to count. ``cells`` tell its state in
    clusters where that is not ``usual`` there; ``ready`` how many replicas are ready there, as far
    as that is recorded. ``fault`` says why it is not placed or built as it should be.
    """

    ref: ObjectRef
    policy: str = ""
    app: str = ""
    path: str = ""
    replicas: Mapping[str, int] = field(default_factory=dict)
    cells: Mapping[str, StateReason] = field(default_factory=dict)
    usual: UsualStates = field(default_factory=UsualStates)
    ready: Mapping[str, int] = field(default_factory=dict)
    fault: StateReason | None = None

    def in_cluster(self, cluster: str) -> StateReason:
        """Return the state of the object in a cluster that it goes to."""
        return self.cells.get(cluster) or self.usual.reasons[cluster]

    def within(self, clusters: Collection[str]) -> "SurveyedObject":
        """Return the object as it is in some of its clusters: its states, its replicas and no fault of the whole."""
        return SurveyedObject(
            ref=self.ref,
            policy=self.policy,
            app=self.app,
            path=self.path,
            replicas={name: self.replicas[name] for name in clusters},
            cells={name: self.cells[name] for name in clusters if name in self.cells},
            usual=self.usual,
            ready={name: self.ready[name] for name in clusters if name in self.ready},
        )

    @cached_property
    def counts(self) -> Mapping[SurveyedState, int]:
        """The number of clusters in which it is in each state, the worst first."""
        ranks = Counter(map(self.usual.ranks.__getitem__, self.replicas))
        ranks.subtract(map(self.usual.ranks.__getitem__, self.cells))
        ranks.update(rank_of_state(cell.state) for cell in self.cells.values())
        return states_by_rank(ranks)

    @cached_property
    def worst(self) -> StateReason:
        """Its state all in all: the worst of all, and of these the longest."""
        found = {self.fault} if self.fault is not None else set()
        if self.counts.keys() - {SurveyedState.WELL}:
            found |= {self.usual.reasons[name] for name in self.replicas.keys() - self.cells.keys()}
            found |= set(self.cells.values())
        return min(found, key=lambda each: (rank_of_state(each.state), each.since or "~", each), default=WELL)

    @property
    def total_replicas(self) -> int:
        """The replicas that it has in all clusters together."""
        return sum(self.replicas.values())

    @property
    def total_ready(self) -> int | None:
        """The replicas that are ready in all clusters together; None unless that is known of each of them."""
        if any(count and name not in self.ready for name, count in self.replicas.items()):
            return None
        return sum(self.ready.values()) if self.ready else None


def states_by_rank(ranks: Mapping[int, int]) -> Mapping[SurveyedState, int]:
    """Return how often each state is found, the worst first, by the numbers of their ranks."""
    return {state: ranks[rank] for rank, state in enumerate(SurveyedState) if ranks.get(rank)}


def app_of_labels(labels: Mapping[str, object]) -> str:
    """Return the app that an object belongs to by its labels; empty where none says so."""
    return next((str(labels[name]) for name in APP_LABELS if labels.get(name)), "")


def usual_states(branches: RecordedFleet) -> UsualStates:
    """Return the states of objects in each cluster unless something else is recorded of them."""
    progress = branches.progress if branches.recorded.files else {}
    gone = StateReason(SurveyedState.UNKNOWN, DISCONNECTED_CLUSTER)
    reasons = {
        name: state_of_member(progress.get(name)) if name in branches.fleet.members else gone
        for name in branches.fleet.clusters
    }
    ranks = {name: rank_of_state(each.state) for name, each in reasons.items()}
    return UsualStates(reasons=reasons, ranks=ranks)


def surveyed_objects(branches: RecordedFleet, usual: UsualStates) -> Iterator[SurveyedObject]:
    """Yield every object that has a binding, by kind and name, and those of the source that no policy selects."""
    fleet = branches.fleet
    templates = {template.ref: template for template in fleet.source.desired.templates}
    recorded = branches.recorded
    works = _Works(recorded.works() if recorded.files else {}, branches)
    found = [_object_of_binding(each, templates.get(each.ref), works, usual) for each in fleet.bindings]
    waits = StateReason(
        SurveyedState.WAITING, NoPolicyReason.NO_POLICY, "no policy selects it, so that it goes nowhere"
    )
    found += [
        SurveyedObject(
            ref=ref,
            usual=usual,
            fault=waits,
            **_fields_of_template(templates.get(ref)),
        )
        for ref in fleet.templates_of_no_cluster
        if ref not in fleet.previous.bindings
    ]
    yield from sorted(found, key=lambda each: each.ref)


def surveyed_object(binding: Binding, branches: RecordedFleet, usual: UsualStates) -> SurveyedObject:
    """Return one object by its binding, as it is among all of them; only its own records are read."""
    recorded, below = branches.recorded, path_in_cluster(binding.ref)
    found = {name: recorded.manifest(f"works/{name}/{below}") for name in expected_clusters(binding)}
    works = {below: {name: work for name, work in found.items() if work is not None}}
    template = next((each for each in branches.fleet.source.desired.templates if each.ref == binding.ref), None)
    return _object_of_binding(binding, template, _Works(works, branches), usual)


def state_of_object_without_binding(
    path: str, cluster: str, branches: RecordedFleet, usual: UsualStates
) -> StateReason:
    """Return the state of an object that is recorded in a cluster and has no binding, such as a Namespace of others."""
    return _cell_of_object(branches.recorded.manifest(path), usual.reasons[cluster])[0]


class _Works:
    """The records of objects in clusters; equal ones are read once, in clusters that are seen alike.

    ``nowhere`` are objects that no cluster has.
    """

    def __init__(self, by_path: Mapping[str, Mapping[str, Manifest]], branches: RecordedFleet) -> None:
        self.by_path = by_path
        self.is_recorded = bool(branches.recorded.files)
        self.fault_times = branches.fault_times
        self.nowhere = {
            (each.object, each.cluster): StateReason(
                SurveyedState.UNWELL, each.reason, each.message, each.since, is_applied=False
            )
            for each in objects_in_no_cluster(branches)
        }
        self._known: dict[tuple[int, int], tuple[StateReason, int | None]] = {}

    def cell(self, work: Manifest | None, default: StateReason) -> tuple[StateReason, int | None]:
        """Return the state of an object in a cluster by its record, and how many replicas are ready there."""
        key = id(work), id(default)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = _cell_of_object(work, default)
        return known


def _object_of_binding(
    binding: Binding, template: Template | None, works: _Works, usual: UsualStates
) -> SurveyedObject:
    placed, absent = binding.placed_replicas, binding.undispatched_clusters
    replicas = {name: placed.get(name, 0) for name in expected_clusters(binding)}
    by_cluster = works.by_path.get(path_in_cluster(binding.ref), {})
    cells: dict[str, StateReason] = {}
    ready: dict[str, int] = {}
    for name in replicas if works.is_recorded or absent else ():
        cell, count = works.cell(by_cluster.get(name), usual.reasons[name])
        cell = works.nowhere.get((str(binding.ref), name), cell) if works.nowhere else cell
        if name in absent:
            reason = WAITS_FOR_WAVE if name in binding.clusters_before_delivery else SUSPENDED
            cell = StateReason(SurveyedState.WAITING, reason, binding.why_not_delivered(name))
        if cell is not usual.reasons[name]:
            cells[name] = cell
        if count is not None:
            ready[name] = count
    return SurveyedObject(
        ref=binding.ref,
        policy=binding.policy,
        replicas=replicas,
        cells=cells,
        usual=usual,
        ready=ready,
        fault=_fault_of_binding(binding, replicas, works.fault_times),
        **_fields_of_template(template),
    )


def _cell_of_object(work: Manifest | None, default: StateReason) -> tuple[StateReason, int | None]:
    """Return the state of an object in a cluster: as recorded, unless nobody knows how the cluster is by now."""
    if default.state is SurveyedState.UNKNOWN:
        return default, None
    if work is None:
        is_late = default.state in {SurveyedState.PROGRESSING, SurveyedState.WAITING}
        return (default if is_late else StateReason(SurveyedState.UNKNOWN, NOT_APPLIED_YET)), None
    cell, ready = state_of_work(work), ready_replicas_in_work(work)
    is_late = default.state in {SurveyedState.PROGRESSING, SurveyedState.WAITING}
    return (default if is_late and cell.state is SurveyedState.WELL else cell), ready


def _fault_of_binding(binding: Binding, clusters: Collection[str], times: FaultTimes) -> StateReason | None:
    """Return why an object is not placed or built as it should be, since the source that led to it; None where it is.

    What goes to no cluster because somebody asked for that, or because nothing that requires it does, waits.
    """
    problems = conditions_at_fault(binding)
    if problems:
        first = problems[0]
        since = times.get((binding.ref, first.type), "")
        return StateReason(SurveyedState.UNWELL, first.reason, first.message, since, is_applied=False)
    if clusters:
        return None
    why = next((each for each in binding.conditions if each.status == "False"), None)
    if why is None:
        return StateReason(SurveyedState.WAITING, GOES_NOWHERE, "it goes to no cluster")
    return StateReason(SurveyedState.WAITING, why.reason, why.message, times.get((binding.ref, why.type), ""))


def _fields_of_template(template: Template | None) -> dict[str, Any]:
    if template is None:
        return {}
    labels = (template.manifest.get("metadata") or {}).get("labels") or {}
    return {"app": app_of_labels(labels) if isinstance(labels, Mapping) else "", "path": template.path}
