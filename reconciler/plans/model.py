"""The values of planning: all a cluster must hold, all that was observed there, and the plan with its reasons."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, ClassVar

from msgspec import Struct, field

from reconciler.ledger.inventory import HeldObject, HistoryPlace
from reconciler.members.discovery import Discovery, Resource
from reconciler.members.exchange import Failure
from reconciler.members.listing import Listing
from render.model import Manifest, ObjectRef
from render.policy import ConflictResolution
from render.settings.field_rules import FieldRule
from render.settings.removal_guard import RemovalGuard
from render.values import DiscreetStruct

from .admission import Admission
from .applyset import ApplySet

SUSPENDED = "its dispatch is suspended"
SUSPENDED_AND_MISSING = f"{SUSPENDED}; it is missing in the cluster"
SUSPENDED_AND_DIFFERENT = f"{SUSPENDED}; it differs in the cluster"


class Action(StrEnum):
    """An action on an object, planned or done; ``DELETED``, ``HANDED_OFF`` and ``FAILED`` only ever are results."""

    CREATED = "created"
    CONFIGURED = "configured"
    UNCHANGED = "unchanged"
    ADOPTED = "adopted"
    CONFLICT = "conflict"
    BLOCKED = "blocked"
    PRUNE = "prune"
    HAND_OFF = "handOff"
    KEPT = "kept"
    DELETED = "deleted"
    HANDED_OFF = "handedOff"
    FAILED = "failed"


WRITES = frozenset({Action.CREATED, Action.CONFIGURED, Action.ADOPTED})
DELETIONS = frozenset({Action.PRUNE, Action.HAND_OFF})


class DesiredObject(DiscreetStruct, frozen=True, kw_only=True):
    """An object a cluster must hold, as rendered for it, with what its binding says of conflicts and dispatching.

    ``encrypted`` is the text of one that SOPS encrypted, until it is decrypted; ``fault`` says why it could not be.
    """

    UNSHOWN = ("manifest", "encrypted")

    ref: ObjectRef
    manifest: Manifest
    conflict_resolution: ConflictResolution = ConflictResolution.ABORT
    is_suspended: bool = False
    encrypted: bytes = b""
    fault: str = ""
    fault_hint: str = ""


class ClusterDesired(Struct, frozen=True, kw_only=True):
    """Everything a cluster must hold at a commit. ``is_complete``: nothing of it failed to render."""

    cluster: str
    commit: str = ""
    objects: tuple[DesiredObject, ...] = ()
    is_complete: bool = True


def _desired_itself(desired: Manifest, _live: Manifest) -> Manifest:
    return desired


def _always_before(_commit: str) -> HistoryPlace:
    return HistoryPlace.BEFORE


def _is_in_no_other_cluster(_ref: ObjectRef) -> bool:
    return False


def _awaited_nowhere(_ref: ObjectRef) -> str:
    return ""


class PlanOptions(Struct, frozen=True, kw_only=True):
    """The permissions of a plan beyond what is safe for everybody, and the rules it needs.

    ``applyset``: the set members belong to. ``former_names``: those that the member had. ``twins``: other members whose
    contexts lead to the same cluster. ``is_older``: the commit is an ancestor of the one applied, which needs
    ``allow_older``. ``history_place`` places a commit that the cluster was given in the history of the one it is given
    now; ``names_commit``: the parent names the commit also where nothing is to be written. ``guard`` and
    ``allowed_removals`` bound what one pass deletes (None: the guard's own limits). ``is_elsewhere``: another cluster
    is to hold an object, as far as is known; ``awaited_in`` says which one is to hold it alone and cannot yet ("":
    none). ``last_copies``: what a cluster that went back keeps, as no other one would have it. ``confirmed``: objects
    of kinds never pruned unasked (``Namespace/shop``); ``confirm_all``: all of them.
    ``prune``: whether to prune at all; ``orphans``: those objects that go though no inventory names them.
    ``migrate_from``: managers whose fields become ours (another tool's, which we replace); ``take_from``: tools whose
    objects may be taken over. ``remove_foreign``: whether fields people added go. ``retain``: the source's own Retain
    rules (``retention_by``), which return the wanted object itself where there is none. ``field_rules``: argosy.yaml's,
    of any object.
    ``recovered``: objects that the history of the rendered branch names, for a cluster that has no inventory.
    ``changed``: objects whose manifests are others than in a commit that the cluster may hold. ``is_observing``: the
    plan is shown and not carried out, so that it is to say what differs, also where that is known to stay.
    ``is_drained``: everything is to leave the cluster for a while, which keeps its Namespaces.
    """

    applyset: ApplySet = field(default_factory=ApplySet)
    former_names: tuple[str, ...] = ()
    twins: tuple[str, ...] = ()
    is_older: bool = False
    history_place: Callable[[str], HistoryPlace] = _always_before
    names_commit: bool = False
    allow_older: bool = False
    guard: RemovalGuard = field(default_factory=RemovalGuard)
    allowed_removals: int | None = None
    is_elsewhere: Callable[[ObjectRef], bool] = _is_in_no_other_cluster
    awaited_in: Callable[[ObjectRef], str] = _awaited_nowhere
    last_copies: frozenset[ObjectRef] = frozenset()
    confirmed: frozenset[str] = frozenset()
    confirm_all: bool = False
    prune: bool = True
    orphans: frozenset[ObjectRef] = frozenset()
    migrate_from: frozenset[str] = frozenset()
    take_from: frozenset[str] = frozenset()
    recovered: tuple[HeldObject, ...] = ()
    remove_foreign: bool = False
    retain: Callable[[Manifest, Manifest], Manifest] = _desired_itself
    field_rules: tuple[FieldRule, ...] = ()
    changed: frozenset[ObjectRef] = frozenset()
    is_observing: bool = False
    is_drained: bool = False


class FieldChange(Struct, frozen=True, kw_only=True):
    """A field that differs: the kind of change, both values (masked where secret), the manager and when it wrote."""

    path: str
    change: str
    live: str = ""
    want: str = ""
    manager: str = ""
    time: str = ""


class ObjectOutcome(DiscreetStruct, frozen=True, kw_only=True):
    """The action on one object and its reason, planned or done.

    ``changes`` says what differs, ``yielded`` what is left to its owner, ``foreign`` what people added: applying
    changes neither of the two. ``expected`` are fields beyond the manifest that rules of retention leave to the
    cluster. ``answer_id`` and ``applied`` are digests of answers that are to be remembered
    (``answers``). ``live`` is the object that this is about.
    """

    UNSHOWN: ClassVar[tuple[str, ...]] = ("live",)

    ref: ObjectRef
    action: Action
    reason: str = ""
    message: str = ""
    hint: str = ""
    changes: tuple[FieldChange, ...] = ()
    yielded: tuple[FieldChange, ...] = ()
    foreign: tuple[FieldChange, ...] = ()
    expected: tuple[FieldChange, ...] = ()
    answer_id: str = ""
    applied: str = ""
    live: Manifest | None = None


class PlannedObject(ObjectOutcome, frozen=True, kw_only=True):
    """The plan for one object: the action, its reason, and what applying needs.

    ``manifest`` is what is sent. ``force``: conflicts were decided in our favour. ``live`` is the object the decision
    was made on, ``uid`` and ``resource_version`` are its. ``migrate``: managers whose ownership becomes ours first;
    ``takeover``: kubectl's, whose ownership becomes ours where no value changes by that. ``is_asked``: looking does not
    say whether applying would change the object, so that whoever only looks asks the server by a dry run. ``in_doubt``:
    nor does it say whether the object, which is not ours, is as wanted, so that the server is asked before anything is
    written. ``fixed`` are fields that the manifest states otherwise than they are and may ever be.
    """

    UNSHOWN = ("manifest", "desired", "live")

    resource: Resource | None = None
    manifest: Mapping[str, Any] | None = None
    desired: DesiredObject | None = None
    force: bool = False
    uid: str = ""
    resource_version: str = ""
    migrate: tuple[str, ...] = ()
    is_asked: bool = False
    fixed: tuple[FieldChange, ...] = ()
    takeover: tuple[str, ...] = ()
    in_doubt: bool = False


class Plan(DiscreetStruct, frozen=True, kw_only=True):
    """All that will be done to one cluster: objects in the order they are applied, deletions in theirs.

    ``prune_hold``: why nothing is pruned but what intercepts writes. ``refusal``: why nothing is done at all.
    ``unlisted``: kinds of which not all objects could be listed. ``members``: what the set will contain once all is
    done; ``recorded``: what its parent says now, ``unseen`` the part of that which could not be looked at;
    ``parent_refusal``: why that parent is not ours to change; ``former``: the set that fleets once shared, where it is
    still there. ``held_objects``: what the cluster may hold. ``autoscaled``, ``are_scalers_known``, ``is_converged``,
    ``answered``, ``admission`` and ``options`` let a single object be planned again when it changed meanwhile.
    """

    UNSHOWN = ("held_objects",)

    cluster: str
    commit: str = ""
    uid: str = ""
    objects: tuple[PlannedObject, ...] = ()
    deletions: tuple[PlannedObject, ...] = ()
    prune_hold: str = ""
    refusal: Failure | None = None
    unlisted: frozenset[str] = frozenset()
    members: ApplySet = field(default_factory=ApplySet)
    recorded: ApplySet = field(default_factory=ApplySet)
    unseen: ApplySet = field(default_factory=ApplySet)
    parent_refusal: str = ""
    former: ApplySet | None = None
    discovery: Discovery = field(default_factory=Discovery)
    autoscaled: frozenset[ObjectRef] = frozenset()
    are_scalers_known: bool = False
    is_converged: bool = False
    held_objects: Mapping[ObjectRef, HeldObject] = field(default_factory=dict)
    answered: frozenset[str] = frozenset()
    admission: Admission = field(default_factory=Admission)
    options: PlanOptions = field(default_factory=PlanOptions)

    @property
    def writes(self) -> int:
        """The number of objects that will be written or deleted."""
        return sum(1 for item in self.objects if item.action in WRITES) + sum(
            1 for item in self.deletions if item.action in DELETIONS
        )


class ObservedCluster(DiscreetStruct, frozen=True, kw_only=True):
    """One cluster as it was observed for its plan.

    ``live``: every object carrying our set's label, and those asked for by name. ``unlisted``: kinds, written
    ``Deployment.apps``, whose list failed; ``unlisted_places``: kinds with the namespaces where it did, while others
    could be listed; ``unread``: objects whose state is unknown. ``autoscaled``: workloads something else scales;
    ``are_scalers_known``: every list of autoscalers was answered. ``parent``: the ApplySet's; ``former_parent``: that
    of the set fleets once shared, where it was asked for. ``listings`` are the lists ``live`` comes from, None where
    objects were asked for by name as well; ``scalers`` those of autoscalers. ``admission`` is what
    intercepts writes there. ``failure``: why the cluster could not be
    observed at all.
    """

    UNSHOWN = ("live", "parent", "former_parent", "listings", "scalers")

    cluster: str
    uid: str = ""
    discovery: Discovery = field(default_factory=Discovery)
    live: Mapping[ObjectRef, Manifest] = field(default_factory=dict)
    unlisted: Mapping[str, Failure] = field(default_factory=dict)
    unlisted_places: Mapping[tuple[str, str], Failure] = field(default_factory=dict)
    unread: Mapping[ObjectRef, Failure] = field(default_factory=dict)
    autoscaled: frozenset[ObjectRef] = frozenset()
    are_scalers_known: bool = False
    parent: Manifest | None = None
    former_parent: Manifest | None = None
    listings: tuple[Listing, ...] | None = None
    scalers: tuple[Listing, ...] = ()
    admission: Admission = field(default_factory=Admission)
    failure: Failure | None = None

    @property
    def unlisted_kinds(self) -> frozenset[str]:
        """The kinds of which not all objects could be listed."""
        return frozenset({*self.unlisted, *(group_kind for group_kind, _ in self.unlisted_places)})

    def failure_to_see(self, ref: ObjectRef) -> Failure | None:
        """Return why the state of an object is not known; None where it is."""
        by_place = self.unlisted_places.get((ref.group_kind, ref.namespace)) if self.unlisted_places else None
        return self.unread.get(ref) or self.unlisted.get(ref.group_kind) or by_place
