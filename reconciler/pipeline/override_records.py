"""The record of overrides in the bindings of a pass: the fields that they changed, and the replicas that they set.

A binding says how many replicas its policy assigns to each cluster, as Karmada's does. Where an override sets another
number, that one is what the cluster gets, and what people are told.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from overrides.binding_record import RecordWriter
from render.binding import Binding, OverriddenReplicas
from render.bits import indexes_of_mask
from render.interpretation.fields import value_at
from render.interpreter import Interpreter, InterpreterError, Layer, Operation
from render.model import ObjectRef, Template
from render.scheduling.targets import TargetList
from render.works import Content, Works

from .assembly import TreeContext, clusters_with_suspended_dispatch

_LAYERS_WITH_REPLICAS = frozenset({Layer.CUSTOMIZATION, Layer.THIRD_PARTY, Layer.NATIVE, Layer.SCALE})
"""The layers that may be asked again about what overrides made; a webhook may not."""

_DEFAULT = 1
"""The replicas of a Deployment, StatefulSet, ReplicaSet or ReplicationController, and the parallelism of a Job, to
which an override leaves none: API servers set it. What is set in objects of other kinds is not known."""


class OverrideRecords(Struct, frozen=True, kw_only=True):
    """Writes the records of one pass; ``names`` are those of the clusters, by bit, ``before`` its former bindings."""

    names: Sequence[str]
    interpreter: Interpreter
    templates: Mapping[ObjectRef, Template]
    before: Mapping[ObjectRef, Binding]
    _numbers_assigned: dict[int, tuple[TargetList, frozenset[int]]] = field(default_factory=dict)

    def with_records(
        self, bindings: Iterable[Binding], works: Mapping[ObjectRef, Works], fleet: TreeContext
    ) -> Iterator[Binding]:
        """Yield the bindings with what overrides changed; one that nothing was built for keeps its record.

        ``fleet`` says what clusters hold now.
        """
        writer = RecordWriter(names=self.names)
        for binding in bindings:
            built = works.get(binding.ref)
            if built is None:
                yield binding
                continue
            text = writer.text_of(built, kept=clusters_with_suspended_dispatch(binding, fleet))
            overridden = (
                tuple(self._clusters_with_other_replicas(binding, built, fleet))
                if text or built.failures
                else self._clusters_with_all_replicas(binding)
            )
            is_same = text == binding.applied_overrides and overridden == binding.overridden
            yield binding if is_same else replace(binding, applied_overrides=text, overridden=overridden)

    def _clusters_with_all_replicas(self, binding: Binding) -> tuple[OverriddenReplicas, ...]:
        """Return the clusters that get all replicas because nothing writes the share that is assigned to them."""
        template = self.templates.get(binding.ref)
        if template is None or not binding.is_divided or not binding.is_workload or binding.components:
            return ()
        if self.interpreter.has(Operation.REVISE_REPLICA, template.manifest):
            return ()
        found = sorted(name for name, share in binding.target_replicas.items() if share != binding.replicas)
        return (OverriddenReplicas(clusters=tuple(found), replicas=binding.replicas),) if found else ()

    def _clusters_with_other_replicas(
        self, binding: Binding, works: Works, fleet: TreeContext
    ) -> Iterator[OverriddenReplicas]:
        """Yield the clusters in which an override sets other replicas than are assigned to them, by their number."""
        clusters_by_number: dict[int, set[str]] = {}
        assigned: Mapping[str, int] = {}
        for content, number in self._contents_with_replicas(binding, works):
            if self._numbers_in_targets(binding.targets) <= {number}:  # most overrides set none
                continue
            assigned = assigned or binding.target_replicas  # as long as the fleet, whatever the number of classes
            names = map(self.names.__getitem__, indexes_of_mask(content.clusters))
            clusters_by_number.setdefault(number, set()).update(
                name for name in names if assigned.get(name, number) != number
            )
        for number, name in self._kept_numbers(binding, works, fleet) if works.failures else ():
            clusters_by_number.setdefault(number, set()).add(name)
        for number, found in sorted(clusters_by_number.items()):
            if found:
                yield OverriddenReplicas(clusters=tuple(sorted(found)), replicas=number)

    def _numbers_in_targets(self, targets: TargetList) -> frozenset[int]:
        """Return the numbers in targets, which many bindings share."""
        known = self._numbers_assigned.get(id(targets))
        if known is None:
            found = frozenset(target.replicas for target in targets)
            known = self._numbers_assigned[id(targets)] = (targets, found)  # which keeps the targets alive
        return known[1]

    def _contents_with_replicas(self, binding: Binding, works: Works) -> Iterator[tuple[Content, int]]:
        """Yield what overrides made, each with the replicas in it."""
        template = self.templates.get(binding.ref)
        if template is None or not binding.is_workload or binding.components:
            return
        path = self.interpreter.replica_field(template.manifest)
        is_known = self.interpreter.answering_layer(Operation.REVISE_REPLICA, template.manifest) is Layer.NATIVE
        for content in works.contents:
            if content.applied:
                number = (
                    self._read_number(content) if path is None else _replicas_at_path(content, path, is_known=is_known)
                )
                if number is not None:
                    yield content, number

    def _read_number(self, content: Content) -> int | None:
        """Return the replicas that are read of a manifest; None where each cluster has what is assigned to it."""
        try:
            if (
                self.interpreter.answering_layer(Operation.INTERPRET_REPLICA, content.manifest)
                not in _LAYERS_WITH_REPLICAS
            ):
                return None
            read = self.interpreter.replicas(content.manifest)
        except InterpreterError:
            return None
        return None if read is None else read.replicas

    def _kept_numbers(self, binding: Binding, works: Works, fleet: TreeContext) -> Iterator[tuple[int, str]]:
        """Yield the numbers of clusters for which nothing could be built: they keep what they have, or have none."""
        before, failed = self.before.get(binding.ref), 0
        for failure in works.failures:
            failed |= failure.clusters
        holders = 0
        for variant in fleet.variants_of(binding.ref, failed):
            holders |= variant.clusters
        had, assigned = before.placed_replicas if before else {}, binding.target_replicas
        for index in indexes_of_mask(failed):
            name = self.names[index]
            number = had.get(name) if holders >> index & 1 else 0
            if number is not None and assigned.get(name, number) != number:
                yield number, name


def _replicas_at_path(content: Content, path: Sequence[str], *, is_known: bool) -> int | None:
    """Return the replicas in a field of a manifest; ``is_known``: a server sets 1 where there are none."""
    try:
        found = value_at(content.manifest, *path)
    except InterpreterError:
        return None
    number = _DEFAULT if found is None and is_known else found
    return number if type(number) is int else None
