"""Objects that run to completion, in a pass: what has begun keeps its division, and what is over moves nowhere.

What clusters report of runs counts only where a decision would move such an object. Where it counts, the binding has a
note, and the reports that it goes by stand in the commit.

Of what has begun in some clusters, only the rest is placed anew, in other clusters. What is evicted from a cluster
counts as the rest, unless it is over there. An object that is over in all of its clusters stays as it is.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.ledger.health import ObservedHealth
from render.binding import Binding, Completions
from render.cluster_index import ClusterIndex
from render.model import Manifest, ObjectRef, TargetCluster
from render.runs import Runs, completions_by_cluster, rescaled_targets
from render.settings.switches import TieBreak

from .eviction_notes import RUN_NOTES, with_run_note
from .schedules import Schedule


class RunsOfPass(Struct, frozen=True, kw_only=True):
    """The bindings of a pass before anything is decided, with the reports about their runs, and their templates.

    ``runs`` are those that count: none where everything goes as in Karmada.
    """

    bindings: Sequence[Binding]
    runs: Runs = field(default_factory=dict)
    manifests: Mapping[ObjectRef, Manifest] = field(default_factory=dict)
    index: ClusterIndex = field(default_factory=lambda: ClusterIndex(()))
    tie_break: TieBreak = TieBreak.NAME

    @property
    def reported_bindings(self) -> Mapping[ObjectRef, Binding]:
        """The bindings that something is reported of, by object."""
        return {each.ref: each for each in self.bindings if each.ref in self.runs} if self.runs else {}

    def begun_runs_that_would_move(self, schedule: Schedule) -> frozenset[ObjectRef]:
        """Return the objects that a schedule would move although they have begun."""
        asked = self.reported_bindings
        undecided = (each.ref for each in schedule.undecided if each.ref in asked and not each.begun) if asked else ()
        return frozenset(ref for ref in undecided if self._is_moved(asked[ref], schedule.decisions[ref].targets))

    def runs_that_are_over(self, held: Collection[ObjectRef]) -> frozenset[ObjectRef]:
        """Return those of some objects that are over in all clusters that have them."""
        asked = self.reported_bindings if held else {}
        return frozenset(ref for ref in held if self._is_over(asked[ref]))

    def with_targets_of_begun_runs(self, bindings: Iterable[Binding], held: frozenset[ObjectRef]) -> Iterator[Binding]:
        """Yield bindings, those of held objects with the targets in which they have begun."""
        asked = self.reported_bindings if held else {}
        for binding in bindings:
            yield self._with_clusters_of_run(binding, asked[binding.ref]) if binding.ref in held else binding

    def _is_moved(self, asked: Binding, targets: Iterable[TargetCluster]) -> bool:
        begun = self._clusters_begun_for(asked.ref)
        before, after = _replicas_by_cluster(asked.targets), _replicas_by_cluster(targets)
        if not begun & before.keys():
            return False
        applied = asked.applied_placement
        if asked.is_divided or (applied is not None and replace(asked, placement=applied).is_divided):
            return before != after
        return bool(begun & before.keys() - after.keys()) and bool(after.keys() - before.keys())

    def _is_over(self, asked: Binding) -> bool:
        ended = {each.cluster for each in self.runs[asked.ref] if each.finish}
        return ended.issuperset(each.name for each in asked.targets)

    def _clusters_begun_for(self, ref: ObjectRef) -> frozenset[str]:
        return frozenset(each.cluster for each in self.runs[ref])

    def _with_clusters_of_run(self, binding: Binding, asked: Binding) -> Binding:
        names, is_over, begun = self.index.index_by_name, self._is_over(asked), self._clusters_begun_for(asked.ref)
        targets = asked.targets
        if asked.is_divided and not is_over:
            targets = rescaled_targets(targets, asked.replicas, self._identity(asked))
        left = frozenset() if is_over else self._clusters_left(binding, asked)
        fixed = tuple(each for each in targets if each.name in begun and each.name not in left)
        others = () if is_over else tuple(each for each in targets if each.name not in begun and each.name in names)
        # A cluster that left the source keeps its share of the run, and is no target any more.
        here = tuple(each for each in fixed if each.name in names)
        held = replace(
            binding,
            targets=(*here, *(each for each in others if each.name not in left)),
            begun=fixed,
            replicas=sum(each.replicas for each in fixed) if is_over and asked.is_divided else asked.replicas,
            completions=self._completions(asked, fixed),
        )
        return with_run_note(held, [each.name for each in fixed], is_over=is_over) if fixed else held

    def _clusters_left(self, binding: Binding, asked: Binding) -> frozenset[str]:
        """Return the clusters that an object leaves in this pass or before, or that are being deleted."""
        names = self.index.index_by_name
        evicted = {each.from_cluster for each in binding.eviction_tasks}
        taken = _replicas_by_cluster(asked.targets).keys() - _replicas_by_cluster(binding.targets).keys()
        terminating = {name for name, position in names.items() if self.index.terminating_clusters() >> position & 1}
        return frozenset(evicted | taken | terminating)

    def _completions(self, asked: Binding, fixed: Iterable[TargetCluster]) -> Completions | None:
        """Return the completions that a Job has in the clusters in which it has begun; None for one without any."""
        manifest, applied = self.manifests[asked.ref], asked.applied_placement
        total = (manifest.get("spec") or {}).get("completions") if manifest["kind"] == "Job" else None
        if type(total) is not int:
            return None
        before = asked if applied is None else replace(asked, placement=applied)
        divided = completions_by_cluster(manifest, before, _replicas_by_cluster(asked.targets), self._identity(asked))
        return Completions(
            total=total, clusters=tuple(TargetCluster(each.name, divided.get(each.name, total)) for each in fixed)
        )

    def _identity(self, binding: Binding) -> str:
        return binding.uid or (str(binding.ref) if self.tie_break is TieBreak.IDENTITY else "")


def health_that_decided(health: ObservedHealth, bindings: Iterable[Binding], *, is_asked: bool) -> ObservedHealth:
    """Return the health that decided something in a pass: that of failover where it was asked, and runs that count.

    These are the runs of objects that have a note of it.
    """
    noted = (each.ref for each in bindings if any(note.reason in RUN_NOTES for note in each.conditions))
    runs = {ref: health.runs[ref] for ref in noted if ref in health.runs}
    return replace(health, runs=runs) if is_asked else ObservedHealth(runs=runs)


def _replicas_by_cluster(targets: Iterable[TargetCluster]) -> dict[str, int]:
    return {each.name: each.replicas for each in targets}
