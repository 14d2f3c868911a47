"""Copies of objects that left a cluster which does not answer: nobody could delete them, and they may go on there."""

from collections.abc import Iterator
from itertools import groupby

from msgspec import Struct

from reconciler.record.binding_status import expected_clusters
from reconciler.record.recorded_status import path_in_cluster
from render.binding import Binding
from render.model import ObjectRef
from render.words import first_few

from .branches import RecordedFleet


class StrandedCopy(Struct, frozen=True, order=True):
    """An object that is recorded in a cluster where it is not to be any more, and why nobody knows that it is gone."""

    cluster: str
    ref: ObjectRef
    reason: str

    def __str__(self) -> str:
        return f"may still run in {self.cluster}, which does not answer ({self.reason})"


def stranded_copies(branches: RecordedFleet, *bindings: Binding) -> Iterator[StrandedCopy]:
    """Yield the copies of objects in members that could not be looked at, and that should not have them any more."""
    silent = {name: each.reason for name, each in branches.progress.items() if not each.is_known}
    for binding in bindings:
        below = path_in_cluster(binding.ref)
        for name in sorted(silent.keys() - set(expected_clusters(binding))):
            if f"works/{name}/{below}" in branches.recorded.files:
                yield StrandedCopy(name, binding.ref, silent[name])


def lines_of_stranded_copies(branches: RecordedFleet) -> Iterator[str]:
    """Yield a line for each member that does not answer, with what left it and may still run there."""
    found = sorted(stranded_copies(branches, *branches.fleet.bindings))
    for _, group in groupby(found, key=lambda each: each.cluster):
        copies = list(group)
        yield f"\n{first_few([str(each.ref) for each in copies])} {copies[0]}\n"
