"""The state of rollouts on the rendered branch: ``rollouts/<namespace or _cluster>/<name>.yaml`` for each policy.

Where a policy lets groups of objects out by themselves, each of them has ``<name>/<group>.yaml``.

The plan stands in it by value, so that a rollout ends by it when its policy is deleted meanwhile. What can be derived
from what is known now, such as which clusters are through, is not kept.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct, field

from reconciler.ledger.branch_file import FileFault, ObjectName, converted_to_struct, object_of_any_size, plain_data
from reconciler.pipeline.previous import RenderedTree, parse_file_at_root
from render.admission.rollouts import FLEET_KIND, IMPLICIT_WAVE
from render.documents import emit
from render.gitobjects import TREE_MODE
from render.layout import CLUSTER_SCOPED, file_name_of_object
from render.model import ARGOSY_API_VERSION, Manifest, TargetCluster
from render.rollouts.parsing import parse_rollout_policy, plain_rollout_spec
from render.rollouts.policy import RolloutPolicy
from render.rollouts.state import (
    Given,
    OneWayChange,
    RolloutPhase,
    RolloutReason,
    RolloutState,
    SplitToRestore,
    WaitingChange,
)
from render.timing import instant_text, parse_instant

ROLLOUTS_FOLDER = "rollouts"
KIND = "RolloutState"
_FOLDER_OF_FLEET = "_fleet"

RolloutStates = Mapping[str, RolloutState]
"""The states of rollouts by their names: the policy, and the group of objects where it makes some."""

_SUFFIX = ".yaml"


def rollout_path(state: RolloutState) -> tuple[str, ...]:
    """Return the path of the state of a rollout on the rendered branch."""
    folder, name = _folder_of_plan(state.plan), file_name_of_object(state.plan.name)
    if not state.group:
        return ROLLOUTS_FOLDER, folder, f"{name}{_SUFFIX}"
    # A folder must not have the name of another policy's file.
    groups = f"{name.removesuffix(_SUFFIX)}%2Eyaml" if name.endswith(_SUFFIX) else name
    return ROLLOUTS_FOLDER, folder, groups, f"{file_name_of_object(state.group)}{_SUFFIX}"


def _folder_of_plan(plan: RolloutPolicy) -> str:
    if plan.is_of_fleet:
        return _FOLDER_OF_FLEET
    return file_name_of_object(plan.namespace) if plan.namespace else CLUSTER_SCOPED


class _RecordedCluster(Struct, frozen=True, kw_only=True, omit_defaults=True):
    name: str = field(name="cluster")
    at: str
    through: str = ""
    has_old_status: bool = field(name="statusTooOld", default=False)


class _VersionOfObject(Struct, frozen=True, kw_only=True):
    object: ObjectName
    version: str


class _RecordedChange(Struct, frozen=True, kw_only=True, omit_defaults=True):
    change: str
    commits: tuple[str, ...] = ()
    versions: tuple[_VersionOfObject, ...] = ()


class _OneWayRecord(Struct, frozen=True, kw_only=True):
    object: ObjectName
    reason: str


class _SplitRecord(Struct, frozen=True, kw_only=True):
    object: ObjectName
    clusters: dict[str, int]


class _StateFile(Struct, frozen=True, kw_only=True, omit_defaults=True):
    plan: dict[str, Any]
    change: str
    commits: tuple[str, ...] = ()
    since: str
    phase: RolloutPhase
    phase_since: str = field(name="phaseSince")
    reason: RolloutReason
    reason_since: str = field(name="reasonSince", default="")
    next_step: str = field(name="nextStep", default="")
    wave: str = ""
    wave_since: str = field(name="waveSince")
    given: tuple[_RecordedCluster, ...] = ()
    seats: dict[str, str] = field(default_factory=dict)
    heard: tuple[str, ...] = ()
    void_controls: tuple[str, ...] = field(name="voidControls", default=())
    group: str = ""
    queue: tuple[_RecordedChange, ...] = ()
    back: tuple[_RecordedCluster, ...] = ()
    one_way: tuple[_OneWayRecord, ...] = field(name="cannotGoBack", default=())
    restores: tuple[_SplitRecord, ...] = ()
    unrestored: tuple[str, ...] = field(name="notRestored", default=())


def rollout_state_file(state: RolloutState) -> bytes:
    """Return the state of a rollout as the file that records it."""
    recorded = _StateFile(
        plan=_plain_plan(state.plan),
        change=state.change,
        commits=state.commits,
        since=instant_text(state.since),
        phase=state.phase,
        phase_since=instant_text(state.phase_since),
        reason=state.reason,
        reason_since=instant_text(state.reason_since) if state.reason_since is not None else "",
        next_step=state.next_step,
        wave=state.wave,
        wave_since=instant_text(state.wave_since),
        given=tuple(map(_recorded_cluster, state.given)),
        seats=dict(state.seats),
        heard=state.heard,
        void_controls=state.void_controls,
        group=state.group,
        queue=tuple(map(_recorded_change, state.queue)),
        back=tuple(map(_recorded_cluster, state.back)),
        one_way=tuple(_OneWayRecord(object=ObjectName.of_ref(each.ref), reason=each.reason) for each in state.one_way),
        restores=tuple(map(_recorded_split, state.restores)),
        unrestored=state.unrestored,
    )
    return emit({"apiVersion": ARGOSY_API_VERSION, "kind": KIND, **plain_data(recorded)})


def _recorded_split(split: SplitToRestore) -> _SplitRecord:
    clusters = {each.name: each.replicas for each in split.targets}
    return _SplitRecord(object=ObjectName.of_ref(split.ref), clusters=clusters)


def _split_of_record(recorded: _SplitRecord) -> SplitToRestore:
    targets = (TargetCluster(name, replicas) for name, replicas in recorded.clusters.items())
    return SplitToRestore(ref=recorded.object.ref, targets=tuple(targets))


def _recorded_cluster(given: Given) -> _RecordedCluster:
    through = instant_text(given.through) if given.through else ""
    return _RecordedCluster(
        name=given.cluster, at=instant_text(given.at), through=through, has_old_status=given.has_old_status
    )


def _cluster_of_record(recorded: _RecordedCluster) -> Given:
    return Given(
        cluster=recorded.name,
        at=_instant_of_text(recorded.at),
        through=_instant_of_text(recorded.through) if recorded.through else None,
        has_old_status=recorded.has_old_status,
    )


def _recorded_change(change: WaitingChange) -> _RecordedChange:
    return _RecordedChange(
        change=change.digest,
        commits=change.commits,
        versions=tuple(
            _VersionOfObject(object=ObjectName.of_ref(ref), version=version) for ref, version in change.versions
        ),
    )


def _change_of_record(recorded: _RecordedChange) -> WaitingChange:
    return WaitingChange(
        digest=recorded.change,
        commits=recorded.commits,
        versions=tuple((each.object.ref, each.version) for each in recorded.versions),
    )


def _plain_plan(plan: RolloutPolicy) -> dict[str, Any]:
    names = {"namespace": plan.namespace} if plan.namespace else {}
    kind = {"kind": FLEET_KIND} if plan.is_of_fleet else {}
    return {**kind, "metadata": {**names, "name": plan.name}, "spec": plain_rollout_spec(plan)}


def _parse_plan(plain: Manifest) -> RolloutPolicy:
    try:
        return parse_rollout_policy(plain)
    except (AttributeError, KeyError, TypeError, ValueError) as error:  # it was admitted before it was written
        raise FileFault("its plan is no rollout policy") from error


def parse_rollout_state(content: bytes) -> RolloutState:
    """Read the state of a rollout back from its file; FileFault where it is not as it was written."""
    found = converted_to_struct(object_of_any_size(content), _StateFile)
    plan = _parse_plan(found.plan)
    if found.wave not in {"", IMPLICIT_WAVE, *(wave.name for wave in plan.waves)}:
        raise FileFault("its plan has no such wave")
    return RolloutState(
        plan=plan,
        change=found.change,
        commits=found.commits,
        since=_instant_of_text(found.since),
        wave=found.wave,
        wave_since=_instant_of_text(found.wave_since),
        given=tuple(map(_cluster_of_record, found.given)),
        seats=found.seats,
        phase=found.phase,
        phase_since=_instant_of_text(found.phase_since),
        reason=found.reason,
        reason_since=_instant_of_text(found.reason_since) if found.reason_since else None,
        next_step=found.next_step,
        heard=found.heard,
        void_controls=found.void_controls,
        group=found.group,
        queue=tuple(map(_change_of_record, found.queue)),
        back=tuple(map(_cluster_of_record, found.back)),
        one_way=tuple(OneWayChange(ref=each.object.ref, reason=each.reason) for each in found.one_way),
        restores=tuple(map(_split_of_record, found.restores)),
        unrestored=found.unrestored,
    )


def _instant_of_text(text: str) -> datetime:
    found = parse_instant(text)
    if found is None:
        raise FileFault(f"{text!r} is no time")
    return found


def rollout_states_of_tree(tree: RenderedTree) -> RolloutStates:
    """Return the states of all rollouts on a rendered tree; GitError where one is not as it was written."""
    return {state.name: state for state in _states_in_files(tree)}


def has_rollout_states(tree: RenderedTree) -> bool:
    """Say whether a rendered tree has the state of any rollout."""
    return bool(tree.root) and ROLLOUTS_FOLDER in tree.trees.entries(tree.root)


def _states_in_files(tree: RenderedTree) -> Iterator[RolloutState]:
    folder = tree.trees.entries(tree.root).get(ROLLOUTS_FOLDER) if tree.root else None
    if folder is None or folder.mode != TREE_MODE:
        return
    files = dict(tree.files(folder.id))
    contents = tree.contents(files.values())
    for path, blob_id in sorted(files.items()):
        yield parse_file_at_root("/".join((ROLLOUTS_FOLDER, *path)), contents[blob_id], parse_rollout_state)
