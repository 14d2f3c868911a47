"""The effects of a change of the source on the fleet, as values: objects, policies, replicas and problems.

Both sides were rendered from the same previous commit and the same facts, so nothing here is due to anything else.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

from msgspec import Struct, field

from overrides.changes import ChangedField
from reconciler.ledger.holds import ClusterHolds
from reconciler.pipeline.movements import Bindings, Movement
from reconciler.pipeline.released import Released
from reconciler.pipeline.unselected import Unselected
from reconciler.rendering.events_of_pass import ChangeBesideRollout
from reconciler.rendering.problems import ObjectProblem
from render.divisions import DivisionWarning
from render.fleet_settings import SettingChange
from render.model import ObjectRef
from render.object_rollout import name_of_rollout
from render.rollouts.plan import PlannedWave
from render.rollouts.state import OneWayChange, SplitToRestore
from render.scheduling.unknown_capacity import UnknownCapacity
from render.words import first_few

from .costs import CostDifference
from .resilience import ResilienceChange
from .risks import Risk


class ChangeAction(StrEnum):
    """An object is added to a cluster, changed there or removed from it."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


class ObjectChange(Struct, frozen=True, kw_only=True):
    """A change of an object, the same in some clusters.

    ``fields`` are those of a changed object without its divided numbers: the movements show these, and an object
    without any other change has no fields here. ``is_preserved``: clusters keep it though it is removed.
    """

    ref: ObjectRef
    action: ChangeAction
    clusters: tuple[str, ...]
    fields: tuple[ChangedField, ...] = ()
    is_preserved: bool = False


class PendingChange(Struct, frozen=True, kw_only=True):
    """A change that is decided and not carried out: what suspended ``clusters`` miss, or a policy that waits.

    ``action`` is what would happen to the object there; None: nothing, or (with a ``message``) that is not known yet.
    ``wanted`` are the ids of the contents that they would get.
    """

    ref: ObjectRef
    reason: str
    message: str = ""
    clusters: tuple[str, ...] = ()
    action: ChangeAction | None = None
    fields: tuple[ChangedField, ...] = ()
    wanted: tuple[bytes, ...] = ()


class Takeover(Struct, frozen=True, kw_only=True):
    """A template that another policy claims now; "" is no policy."""

    ref: ObjectRef
    before: str
    after: str


CONFLICTS, PRESERVES = "conflictResolution", "preserveResourcesOnDeletion"


class DeliveryChange(Struct, frozen=True, kw_only=True):
    """An object that its clusters get by another rule of its policy, though the object is the same.

    ``failures`` are the clusters that are recorded as not having applied it, with the message.
    """

    ref: ObjectRef
    rule: str
    before: str
    after: str
    clusters: tuple[str, ...]
    failures: Mapping[str, str] = field(default_factory=dict)

    @property
    def takes_over(self) -> bool:
        """Return whether objects and fields that others made are overwritten from now on."""
        return self.rule == CONFLICTS and self.after == "Overwrite"


class ClusterTotal(Struct, frozen=True, kw_only=True):
    """The difference in one cluster, in numbers."""

    name: str
    added: int = 0
    changed: int = 0
    removed: int = 0
    replicas_before: int = 0
    replicas_after: int = 0


class PartChange(Struct, frozen=True, kw_only=True):
    """A part of a build that is another one: its role and name, and the versions it had and has, where it has any.

    ``action`` says whether it came, went or changed.
    """

    role: str
    name: str
    action: ChangeAction
    before: str = ""
    after: str = ""


class OriginChange(Struct, frozen=True, kw_only=True):
    """A build whose parts are others, and how many of the objects that differ it made."""

    build: str
    path: str
    parts: tuple[PartChange, ...] = ()
    objects: int = 0


class ChangedInput(Struct, frozen=True, kw_only=True):
    """An input of objects that is another one: its name, its file, and whether it came, went or changed."""

    name: str
    path: str
    action: ChangeAction


class UnrenderedFile(Struct, frozen=True, kw_only=True):
    """A file of the source that is another one while nothing that is rendered is, with the policies in it that are."""

    path: str
    action: ChangeAction
    policies: tuple[ChangedInput, ...] = ()


class Allowance(Struct, frozen=True, kw_only=True):
    """A trailer of a commit of the change itself, by which it lets itself pass a guard."""

    commit: str
    trailer: str


class StayNote(Struct, frozen=True, kw_only=True):
    """An object that stays in clusters though it would leave them, with the reason."""

    ref: ObjectRef
    reason: str
    message: str
    clusters: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.ref}: {self.reason}: {self.message}"


class Unplaced(Struct, frozen=True, kw_only=True):
    """A template that leaves its clusters and has no cluster any more."""

    ref: ObjectRef
    clusters: tuple[str, ...]


class PlannedRollout(Struct, frozen=True, kw_only=True):
    """The plan by which a change goes out: its policy, the digest of the change, and the waves with their clusters.

    ``waiting`` counts the objects that are not in it, and have to wait until it is over. ``group`` is the group of
    objects that it is of ("": the policy makes none). ``held_by`` says what it waits for before it begins.
    ``is_of_calendar``: it goes by the calendar of argosy.yaml alone, and not by waves. ``one_way`` says what of the
    change would not go back, and ``restores`` which replicas a rollback gives back. ``beside`` are objects that change
    at once, though what names them goes out by waves.
    """

    policy: str
    change: str
    waves: tuple[PlannedWave, ...] = ()
    waiting: int = 0
    group: str = ""
    held_by: str = ""
    is_of_calendar: bool = False
    one_way: tuple[OneWayChange, ...] = ()
    restores: tuple[SplitToRestore, ...] = ()
    beside: tuple[ChangeBesideRollout, ...] = ()

    @property
    def name(self) -> str:
        """The rollout as people are told of it."""
        return name_of_rollout(self.policy, self.group)


class HeldChange(Struct, frozen=True, kw_only=True):
    """A change that a rollback or an abort keeps out: the hold in words, and whether this change ends it."""

    rollout: str
    change: str
    hold: str
    is_ended: bool = False


class Revert(Struct, frozen=True, kw_only=True):
    """A source that is again that of an earlier rendered commit, or takes one commit back.

    ``split`` are the objects whose replicas or clusters are not as they were, of ``objects`` in all. ``is_whole``: all
    files are as they were.
    """

    to: str
    source: str
    objects: int
    split: tuple[ObjectRef, ...] = ()
    is_whole: bool = True

    @property
    def command(self) -> str:
        """The command by which the split returns, too; empty where it does so by itself."""
        if not self.split:
            return ""
        if self.is_whole:
            return f"argosy rollback --to {self.to[:12]}"
        spaces = sorted({ref.namespace for ref in self.split})
        where = f" -n {spaces[0]}" if len(spaces) == 1 and spaces[0] else ""
        words = " ".join(f"{ref.kind.lower()}/{ref.name}" for ref in self.split)
        return f"argosy rollback {words}{where} --to {self.to[:12]}"

    @property
    def words(self) -> str:
        """The source that it brings back, and whether the split of replicas returns with it."""
        what = "the source is again that of" if self.is_whole else "this takes back a commit after"
        of = f"{what} rendered commit {self.to[:12]}"
        if not self.split:
            return f"{of}; replicas are where they were"
        return f"{of}; replicas are not where they were, of {first_few([str(ref) for ref in self.split])}"


class Difference(Struct, frozen=True, kw_only=True):
    """The difference between the renderings of two sources ("" is a work tree as it stands).

    ``joined`` and ``left`` are clusters that come to and go from the source; one that leaves is disconnected and
    keeps what it holds. ``renamed`` has the new names of clusters by the former ones, ``likely_renames`` those of
    clusters that left while one just like it joined. ``members`` are the clusters after the change, ``replicas``
    counts those placed before it. ``problems`` are new, ``solved`` are gone. ``released`` are objects that the change
    releases, and those whose templates it changes in vain. ``pending`` is what the change leaves pending, ``ended``
    what was pending and is not any more. ``origins`` are the files that objects were built from, and ``builds`` the
    builds that differ. ``settings`` are those that are others, and ``allowances`` what the change allows itself.
    ``causes`` are the inputs of objects that are others. ``taken`` are objects that came from a file which another
    folder's kustomization builds upon now, and that kustomization. ``undivided`` are the warnings that the change adds
    about what every cluster gets whole: they say nothing of a difference by themselves. ``refused`` are the lines in
    which guards refuse the change, and say what would let it pass. ``unselected`` are templates that go nowhere since
    the change, which is no difference in any cluster. ``unknown_capacities`` are clusters that get no replicas by room
    after it, and had no such lack before. ``unplaced`` are templates that end in no cluster, ``staying`` objects that
    stay for a reason that is no problem, such as that something which stays needs them. ``rollouts`` are those by which
    the change goes out, or that it has to wait for. ``delivered`` are objects that
    are delivered by other rules. ``held_changes`` are those that rollouts keep out. ``holds`` are those on
    clusters now, which a difference ends if the head ``is_newer`` than what they keep out. ``costs`` are those of a
    month on both sides (None: the head has no prices), ``risk`` is what the change may do. ``revert`` is set where the
    head is an earlier source again. ``resilience`` is what becomes of losses that objects have to survive, which is no
    difference in any cluster. ``unrendered`` are the files of the source that differ, where nothing else does.
    """

    base: str
    head: str
    previous: str = ""
    joined: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    likely_renames: Mapping[str, str] = field(default_factory=dict)
    left: tuple[str, ...] = ()
    clusters: tuple[ClusterTotal, ...] = ()
    objects: tuple[ObjectChange, ...] = ()
    takeovers: tuple[Takeover, ...] = ()
    movements: tuple[Movement, ...] = ()
    problems: tuple[ObjectProblem, ...] = ()
    solved: tuple[ObjectProblem, ...] = ()
    released: tuple[Released, ...] = ()
    pending: tuple[PendingChange, ...] = ()
    ended: tuple[PendingChange, ...] = ()
    replicas: int = 0
    members: tuple[str, ...] = ()
    origins: Mapping[ObjectRef, str] = field(default_factory=dict)
    builds: tuple[OriginChange, ...] = ()
    settings: tuple[SettingChange, ...] = ()
    allowances: tuple[Allowance, ...] = ()
    holds: ClusterHolds = field(default_factory=dict)
    is_newer: bool = False
    causes: Mapping[ObjectRef, tuple[ChangedInput, ...]] = field(default_factory=dict)
    taken: Mapping[ObjectRef, str] = field(default_factory=dict)
    undivided: tuple[DivisionWarning, ...] = ()
    unknown_capacities: tuple[UnknownCapacity, ...] = ()
    refused: tuple[str, ...] = ()
    unselected: tuple[Unselected, ...] = ()
    unplaced: tuple[Unplaced, ...] = ()
    staying: tuple[StayNote, ...] = ()
    delivered: tuple[DeliveryChange, ...] = ()
    rollouts: tuple[PlannedRollout, ...] = ()
    held_changes: tuple[HeldChange, ...] = ()
    costs: CostDifference | None = None
    revert: Revert | None = None
    resilience: tuple[ResilienceChange, ...] = ()
    risk: Risk | None = None
    unrendered: tuple[UnrenderedFile, ...] = ()

    @property
    def ends_holds(self) -> bool:
        """Return whether the change ends the holds that newer sources end."""
        return self.is_newer and not self.is_empty

    @property
    def clusters_no_longer_held(self) -> tuple[str, ...]:
        """The clusters that are held, and get the change and all that they were spared before."""
        return tuple(name for name, hold in self.holds.items() if self.ends_holds and not hold.outlasts_sources)

    @property
    def is_empty(self) -> bool:
        """Return whether the change changes no cluster, no claim and no problem, and nothing that is pending."""
        changes = (self.objects, self.takeovers, self.movements, self.problems, self.solved, self.pending, self.ended)
        others = (self.settings, self.joined, self.renamed, self.left, self.taken, self.delivered, self.rollouts)
        return not any((*others, *changes))

    @property
    def moved_replicas(self) -> int:
        """The number of replicas that move between clusters."""
        return sum(movement.moved_replicas for movement in self.movements)

    @property
    def replicas_placed_anew(self) -> int:
        """The number of replicas that are placed elsewhere because their cluster is disconnected."""
        return sum(movement.replicas_placed_anew for movement in self.movements)

    def count(self, action: ChangeAction) -> int:
        """Count the objects, not their copies in clusters, to which something happens."""
        return len({change.ref for change in self.objects if change.action is action})


def takeovers_between(before: Bindings, after: Bindings, templates: Iterable[ObjectRef]) -> tuple[Takeover, ...]:
    """Return the templates, out of those both sides have, that another policy claims afterwards."""
    return tuple(_takeovers(before, after, templates))


def _takeovers(before: Bindings, after: Bindings, templates: Iterable[ObjectRef]) -> Iterator[Takeover]:
    for ref in sorted(templates):
        old = before[ref].policy if ref in before else ""
        new = after[ref].policy if ref in after else ""
        if old != new:
            yield Takeover(ref=ref, before=old, after=new)


def cluster_totals(
    objects: Iterable[ObjectChange], movements: Iterable[Movement], before: Mapping[str, int], after: Mapping[str, int]
) -> tuple[ClusterTotal, ...]:
    """Return the totals of every cluster that the difference touches, given the replicas that clusters have."""
    counts: dict[str, dict[str, int]] = {}
    for change in objects:
        for name in change.clusters:
            row = counts.setdefault(name, {})
            row[change.action] = row.get(change.action, 0) + 1
    for movement in movements:
        for moved in (change for change in movement.changes if not change.is_disconnected):
            counts.setdefault(moved.cluster, {})
    return tuple(
        ClusterTotal(
            name=name,
            added=row.get(ChangeAction.ADDED, 0),
            changed=row.get(ChangeAction.CHANGED, 0),
            removed=row.get(ChangeAction.REMOVED, 0),
            replicas_before=before.get(name, 0),
            replicas_after=after.get(name, 0),
        )
        for name, row in sorted(counts.items())
    )
