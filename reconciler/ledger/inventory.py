"""The inventory of a cluster, as Git remembers it: the cluster's identity, and the commits whose trees it may hold.

A commit is *attempted* before the first write, *converged* when everything it asks for was done; the objects of all of
them are what pruning may consider. What was left in place for a reason (a Namespace nobody confirmed, an object that is
still finalizing) is remembered by itself, so it outlives the commit that named it. A cluster may be *held* at a commit
(``holds``): the file says that as well, so that whatever applies to the cluster reads it with the rest.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, ClassVar, Self

from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

from render.model import Manifest, ObjectRef

from .branch_file import BranchFile, ObjectName, check_version, converted_to_struct
from .holds import ClusterHold, check_hold


class ApplyOutcome(StrEnum):
    """The end of an apply to a cluster: all done, done but for some objects, or broken off."""

    CONVERGED = "Converged"
    INCOMPLETE = "Incomplete"
    INTERRUPTED = "Interrupted"


class HistoryPlace(StrEnum):
    """The place of a commit that a cluster was given in the history of another one.

    ``SINCE``: the other one was applied, and somebody else has given the cluster a commit that its history lacks.
    """

    BEFORE = "Before"
    AFTER = "After"
    SINCE = "Since"
    ELSEWHERE = "Elsewhere"


class HeldObject(Struct, frozen=True, kw_only=True):
    """An object a cluster may hold. ``preserve``: on leaving it stays there; ``keep``: its manifest forbids pruning."""

    ref: ObjectRef
    preserve: bool = False
    keep: bool = False


class _LeftObject(ObjectName, frozen=True, kw_only=True):
    """An object that was left behind, as it is recorded."""

    preserve: bool = False
    keep: bool = False


class _InventoryFields(Struct, frozen=True, kw_only=True):
    cluster: str
    uid: str = field(name="clusterUID")
    manager: str = field(name="fieldManager", default="")
    converged: str
    attempted: tuple[str, ...] = ()
    left: tuple[_LeftObject, ...] = ()
    answered: str | None = None
    hold: ClusterHold | None = None


class Inventory(BranchFile, frozen=True, kw_only=True):
    """A cluster's pinned kube-system UID, its commits, the objects left behind, and all objects it may hold.

    ``uid`` is empty before the first contact. ``manager`` is the field manager that everything was applied by when the
    cluster last converged: where it is another, objects may still carry an earlier identity of the fleet.
    ``held_objects`` is computed from the commits' trees and not recorded. ``answered`` are digests of what the
    cluster's server answered (``plans/answers.py``): None before it was ever asked, and where nobody may rely on
    what is known. ``hold`` is that on the cluster, over or not; None where nobody holds it.
    """

    PATH: ClassVar[str] = "inventory/{cluster}.yaml"
    KIND: ClassVar[str] = "Inventory"
    VERSION: ClassVar[int] = 3
    ABOUT: ClassVar[str] = (
        "The commits a cluster may hold objects of, by which is pruned, what its server answered, and the commit that"
        " somebody holds the cluster at."
    )

    cluster: str
    uid: str = ""
    manager: str = ""
    converged: str = ""
    attempted: tuple[str, ...] = ()
    left: tuple[HeldObject, ...] = ()
    held_objects: Mapping[ObjectRef, HeldObject] = field(default_factory=dict)
    answered: frozenset[str] | None = None
    hold: ClusterHold | None = None

    @property
    def written_version(self) -> int:
        """The version: an Argosy that does not know such a hold must not apply to the cluster, but to any other.

        One that knows version 2 would let a newer source end every hold.
        """
        if self.hold is None:
            return 1
        return self.VERSION if self.hold.outlasts_sources else 2

    @classmethod
    def of(cls, value: Any) -> Self:
        """Return the inventory in a plain object; FileFault where there is none."""
        check_version(value, cls.VERSION)
        found = converted_to_struct(value, _InventoryFields)
        check_hold(found.hold)
        return cls(
            cluster=found.cluster,
            uid=found.uid,
            manager=found.manager,
            converged=found.converged,
            attempted=found.attempted,
            left=tuple(HeldObject(ref=each.ref, preserve=each.preserve, keep=each.keep) for each in found.left),
            answered=None if found.answered is None else frozenset(found.answered.split()),
            hold=found.hold,
        )

    def plain(self) -> Manifest:
        """Return the object in the file, without its version."""
        left = [_plain_held_object(item) for item in self.left]
        return {
            "apiVersion": self.API_VERSION,
            "kind": self.KIND,
            "cluster": self.cluster,
            "clusterUID": self.uid,
            **({"fieldManager": self.manager} if self.manager else {}),
            "converged": self.converged,
            **({"attempted": list(self.attempted)} if self.attempted else {}),
            **({"left": left} if left else {}),
            # One text: a thousand clusters' inventories are read in every pass.
            **({"answered": " ".join(sorted(self.answered))} if self.answered is not None else {}),
            **({"hold": self.hold.plain()} if self.hold is not None else {}),
        }

    @property
    def commits(self) -> tuple[str, ...]:
        """The commits whose trees the cluster may hold objects of."""
        return tuple(dict.fromkeys(commit for commit in (self.converged, *self.attempted) if commit))

    def with_attempt(self, commit: str, uid: str) -> "Inventory":
        """Return the inventory to record before a commit's first write: from then on the cluster may hold its tree."""
        attempted = self.attempted if commit in self.commits else (*self.attempted, commit)
        return replace(self, uid=self.uid or uid, attempted=attempted)

    def inventory_after_apply(
        self,
        commit: str,
        outcome: ApplyOutcome,
        left: Iterable[HeldObject],
        manager: str = "",
        known: "Inventory | None" = None,
    ) -> "Inventory":
        """Return the inventory after a commit was applied by a field manager, with what that left behind.

        An apply that got to its end knows what is left of everything before, whether or not it did all it should. One
        that was interrupted knows nothing of the rest, so that everything remembered before stays; so does what others
        recorded since the apply was planned by the ``known`` inventory (None: this one), for it knows nothing of that.
        """
        since = tuple(each for each in self.commits if known and each not in {*known.commits, commit})
        if since:
            left = {item.ref: item for item in (*self.left, *left)}.values()
        if outcome is ApplyOutcome.INTERRUPTED:
            left_by_ref = {item.ref: item for item in (*self.left, *left)}
            return replace(self, left=tuple(left_by_ref[ref] for ref in sorted(left_by_ref)))
        remaining = tuple(sorted(left, key=lambda item: item.ref))
        if outcome is ApplyOutcome.CONVERGED:
            return replace(self, manager=manager, converged=commit, attempted=since, left=remaining)
        unfinished = tuple(each for each in since if each != self.converged)
        return replace(self, attempted=(commit, *unfinished), left=remaining)

    def with_objects(self, held_objects: Iterable[HeldObject]) -> "Inventory":
        """Return the inventory with the objects of its commits' trees; where they differ the later entry counts."""
        return replace(self, held_objects={item.ref: item for item in (*self.left, *held_objects)})


def _plain_held_object(item: HeldObject) -> dict[str, Any]:
    flags = {"preserve": item.preserve, "keep": item.keep}
    return {**to_builtins(item.ref), **{name: flag for name, flag in flags.items() if flag}}
