"""The reasons why a fleet, a cluster or an object is not applied, healthy or rolled out yet."""

from collections.abc import Container, Iterable, Iterator

from msgspec import Struct

from reconciler.branches.publication import publication_of
from reconciler.branches.reading import read_source
from reconciler.branches.rendered_sources import fetch_rendered_source
from reconciler.console.log import Log
from reconciler.guards.removal_guard import removal_hint
from reconciler.ledger.conditions import condition_of_type
from reconciler.ledger.refusal import SourceRefusal
from reconciler.names.subjects import is_cluster_noun, refuse_unknown_clusters
from reconciler.pipeline.held_clusters import Hold, holds_named_in_message
from reconciler.pipeline.pending import SUSPENDED, WAITS_FOR_WAVE, Pending, pending_of
from reconciler.pipeline.rendered_condition import RENDERED
from reconciler.record.binding_status import expected_clusters
from reconciler.record.recorded_status import (
    is_applied_and_healthy,
    object_named_in_work,
    path_in_cluster,
    reason_in_work,
)
from reconciler.record.work_status import APPLIED
from reconciler.repository import open_repository
from reconciler.source.desired import Desired
from render.binding import Binding, Condition
from render.cluster import is_applied_by_own_agent
from render.errors import GitError, GuardRefused, ReconcileError
from render.model import Manifest

from .branches import (
    Pacing,
    RecordedFleet,
    Tips,
    binding_meant_by,
    fetched_tips,
    object_meant_by,
    read_recorded_fleet,
    rendered_binding,
)
from .fleet import Lag
from .obstacles import Obstacle
from .waiting_lines import WaitingLines, line_about_standstill
from .waiting_rollouts import ROLLED_OUT, obstacles_of_rollouts

POLL_SECONDS = 2.0
ONLY_RENDERED = "OnlyRendered"
_NO_TIPS: Tips = ("",)
"""Tips that no branch has, so that the branches are read again."""


class Wish(Struct, frozen=True, kw_only=True):
    """A state to wait for (``applied``, ``healthy``, ``rolled-out``), of a cluster, an object or the fleet ("")."""

    subject: str = ""
    namespace: str = ""
    state: str = "applied"

    @property
    def state_of_works(self) -> str:
        """The state in which each object has to be: what is rolled out is at least applied."""
        return "applied" if self.state == ROLLED_OUT else self.state


class SourceIsRefused(ReconcileError):
    """Passes refuse the source that is waited for, so that waiting is in vain; it ends with their exit code."""

    def __init__(self, refusal: SourceRefusal) -> None:
        super().__init__("\n".join(refusal.sentences), hint=refusal.hint)
        self.exit_code = refusal.code


class ClustersAreHeld(ReconcileError):
    """Clusters that are waited for keep what they have until a person allows the removal; that ends waiting, too."""

    exit_code = GuardRefused.exit_code

    def __init__(self, holds: Iterable[tuple[Hold, str]]) -> None:
        since = dict(sorted(holds))
        lines = [
            f"{hold.cluster} is held back since source {source[:12]}: {hold.words}" for hold, source in since.items()
        ]
        super().__init__("\n".join(lines), hint=removal_hint({hold.cluster: hold.leaving for hold in since}))


class Waited(Struct, frozen=True, kw_only=True):
    """The end of waiting: what is missing (nothing: it came true), how long it took, and the rendered commit.

    ``pending`` is what that commit does not ask for yet, because it is suspended or a lazy policy waits. ``standstill``
    says who would renew what is missing.
    """

    missing: tuple[Obstacle, ...]
    seconds: float
    rendered: str = ""
    pending: tuple[Pending, ...] = ()
    standstill: str = ""


class _Seen(Struct, frozen=True, kw_only=True):
    """The branches as they were last read: what is missing and pending by them, their tips, the rendered commit.

    ``standstill`` says who would renew them ("": what is missing says it itself).
    """

    missing: tuple[Obstacle, ...] = (Obstacle(text="nothing is known yet", reason="NotKnown"),)
    tips: Tips = ()
    rendered: str = ""
    pending: tuple[Pending, ...] = ()
    standstill: str = ""


def wait_for(wish: Wish, log: Log, *, timeout: float, pacing: Pacing) -> Waited:
    """Wait until the wish came true or the time is over."""
    begun, seen = pacing.now(), _Seen()
    wish_in_words = f"{wish.subject or 'the fleet'} to be {wish.state.replace('-', ' ')}"
    lines = WaitingLines(log, wish_in_words, begun=begun, timeout=timeout)
    while True:
        seen = _read_what_is_missing(wish, log, seen, pacing)
        if not seen.missing or pacing.now() + POLL_SECONDS > begun + timeout:
            seconds = pacing.now() - begun
            log.progress("")
            return Waited(
                missing=seen.missing,
                seconds=seconds,
                rendered=seen.rendered,
                pending=seen.pending,
                standstill="" if timeout < POLL_SECONDS or lines.has_said_standstill else seen.standstill,
            )
        lines.tell([each.text for each in seen.missing], seen.standstill, pacing.now())
        pacing.pause(POLL_SECONDS)


def _read_what_is_missing(wish: Wish, log: Log, known: _Seen, pacing: Pacing) -> _Seen:
    """Return what is missing now; nothing is read where no branch moved.

    A fetch that fails ends the first observation; later ones are repeated, for the remote may come back in time. A
    fleet that was never rendered is a ConfigError: nothing says that a pass will ever begin.
    """
    try:
        with open_repository(log.repository) as repository:
            tips = fetched_tips(repository)
            if tips == known.tips:
                return known
            if tips[1] is None:
                desired = read_source(repository, str(tips[0])).desired
                refuse_unknown_subject(desired, wish)
                publication = publication_of(repository, desired.fleet)
                raise publication.nothing_rendered(desired.fleet.rendered_branch, is_asked=True)
            fetch_rendered_source(repository, tips[1])
            branches = read_recorded_fleet(repository, log, pacing.clock, tips)
            missing, pending = tuple(obstacles_to_wish(branches, wish)), tuple(_pending_of_subject(branches, wish))
    except GitError as error:
        if not known.tips:
            raise
        return _Seen(missing=(Obstacle(text=error.message, reason="GitFailed"),), tips=_NO_TIPS)
    if not known.tips and any(each.reason == ONLY_RENDERED for each in missing):
        log.warning("nothing is known to apply this fleet; waiting for somebody to run argosy apply")
    says_so = {ONLY_RENDERED, "NotPushed", "Held"}.issuperset(each.reason for each in missing)
    standstill = "" if says_so else line_about_standstill(branches, missing)
    return _Seen(missing=missing, tips=tips, rendered=str(tips[1]), pending=pending, standstill=standstill)


def _pending_of_subject(branches: RecordedFleet, wish: Wish) -> Iterator[Pending]:
    """Yield what is pending of the subject, which waiting does not bring about."""
    noun, _, name = wish.subject.partition("/")
    is_object = bool(name) and not is_cluster_noun(noun)
    of: Iterable[Binding] = branches.fleet.bindings
    if is_object:
        # An object that no rendered commit has yet is waited for: nothing of it is pending.
        ref = object_meant_by(branches.fleet.source.desired, noun, name, wish.namespace)
        of = filter(None, [rendered_binding(branches.fleet.previous, ref)])
    yield from (each for each in pending_of(of) if is_object or not name or name in each.clusters)


def refuse_unknown_subject(desired: Desired, wish: Wish) -> None:
    """Raise UnknownName when the source has no such cluster or object, for which one could wait for ever."""
    noun, _, name = wish.subject.partition("/")
    if name and is_cluster_noun(noun):
        refuse_unknown_clusters([name], [cluster.name for cluster in desired.clusters])
    elif name:
        object_meant_by(desired, noun, name, wish.namespace)


def obstacles_to_wish(branches: RecordedFleet, wish: Wish) -> list[Obstacle]:
    """Return the reasons why the wish is not true, none when it is.

    SourceIsRefused, ClustersAreHeld and RolloutsHaveStopped say that it cannot become true.
    """
    refuse_unknown_subject(branches.fleet.source.desired, wish)
    if branches.fleet.lag.is_pushed and branches.refusal is not None:
        raise SourceIsRefused(branches.refusal)
    if obstacle := _obstacle_of_branches(branches):
        return [obstacle]
    noun, _, name = wish.subject.partition("/")
    states = branches.fleet.rollouts_under_way if wish.state == ROLLED_OUT else ()
    if wish.subject and not is_cluster_noun(noun):
        binding = binding_meant_by(branches, noun, name, wish.namespace)
        _raise_if_clusters_are_held([binding], branches.fleet.members)
        found = _obstacles_of_object(branches, binding, wish.state_of_works)
        return [*obstacles_of_rollouts(states, of_object=binding), *found]
    awaited = sorted(name for name, progress in branches.progress.items() if progress.is_awaited)
    members = [name] if name else awaited
    _raise_if_clusters_are_held(branches.fleet.previous.bindings.values(), members)
    late = (why for member in members for why in _obstacles_of_cluster(branches, member, wish.state_of_works))
    return [*obstacles_of_rollouts(states, of_cluster=name), *late]


def _raise_if_clusters_are_held(bindings: Iterable[Binding], members: Container[str]) -> None:
    """Raise ClustersAreHeld where members keep older objects, because too much would leave them at once."""
    conditions = (each for binding in bindings for each in binding.conditions if each.type == RENDERED)
    holds = {
        (hold, each.since)
        for each in conditions
        for hold in holds_named_in_message(each.message)
        if hold.cluster in members
    }
    if holds:
        raise ClustersAreHeld(holds)


def _obstacle_of_branches(branches: RecordedFleet) -> Obstacle | None:
    """Return what is missing before anything can be said of a cluster."""
    lag = branches.fleet.lag
    if not lag.is_pushed:
        text = f"source {lag.head[:12]} is not pushed, so no pass sees it"
        return Obstacle(text=text, reason="NotPushed", hint="git push")
    if lag.lag is Lag.UNKNOWN:
        rendered, newest = lag.rendered[:12], lag.newest[:12]
        text = f"source {rendered} is rendered, which the source branch does not have: it may lack {newest}"
        return Obstacle(text=text, reason="NotRendered")
    if not lag.is_current:
        return Obstacle(text=f"source {lag.newest[:12]} is not rendered yet", reason="NotRendered")
    if branches.recorded.files:
        return None
    desired = branches.fleet.source.desired
    if (
        branches.is_applied_by_passes
        or desired.fleet.is_reported_by_tools
        or any(map(is_applied_by_own_agent, desired.clusters))
    ):
        return Obstacle(text="no pass has recorded anything yet", reason="NotRecorded")
    text = "no pass has recorded anything, and argosy.yaml says of no cluster how it is reached: it is only rendered"
    return Obstacle(text=text, reason=ONLY_RENDERED, hint="list clusters in argosy.yaml, or run argosy apply")


def _obstacles_of_object(branches: RecordedFleet, binding: Binding, state: str) -> Iterator[Obstacle]:
    members = [name for name in expected_clusters(binding) if name in branches.fleet.members]
    clusters = [name for name in members if name not in binding.undispatched_clusters]
    if members and not clusters:
        is_waiting = binding.clusters_before_delivery.issuperset(members)
        message = binding.why_not_delivered(members[0]) if is_waiting else "dispatching is suspended everywhere"
        reason = WAITS_FOR_WAVE if is_waiting else SUSPENDED
        text = f"{binding.ref} is not dispatched: {message}"
        yield Obstacle(text=text, reason=reason, object=str(binding.ref), message=message)
    elif not clusters:
        yield Obstacle(text=f"{binding.ref} is placed nowhere", reason="NotPlaced", object=str(binding.ref))
    failed = next((each for each in binding.conditions if each.type == RENDERED and each.status == "False"), None)
    for name in clusters:
        work = branches.recorded.manifest(f"works/{name}/{path_in_cluster(binding.ref)}")
        if not branches.progress[name].is_reached:
            yield _obstacle_of_late_cluster(branches, name, str(binding.ref))
        elif failed and name in (failed.clusters or clusters):
            yield _obstacle_of_object_not_rendered(str(binding.ref), name, failed)
        elif work is None or not _is_in_wanted_state(work, state):
            yield _obstacle_of_work(str(binding.ref), name, state, work)


def _obstacles_of_cluster(branches: RecordedFleet, cluster: str, state: str) -> Iterator[Obstacle]:
    """Yield why a cluster is late: its last look or run, or what that left undone, or what is not healthy there."""
    progress = branches.progress[cluster]
    if not progress.is_reached:
        yield _obstacle_of_late_cluster(branches, cluster)
        return
    works = [branches.recorded.manifest(path) for path in branches.recorded.paths_below(f"works/{cluster}")]
    wanted = state if progress.is_complete else "applied"
    late = [work for work in works if work is not None and not _is_in_wanted_state(work, wanted)]
    yield from (_obstacle_of_work(object_named_in_work(work), cluster, wanted, work) for work in late)
    if progress.is_complete:
        return
    left = list(_obstacles_of_deviations(branches, cluster))
    yield from left
    if not (late or left):
        said = branches.recorded.clusters()[cluster].message
        message = said or "the last run did not do all that the commit asks for"
        text = f"{cluster}: not applied: {message}"
        yield Obstacle(text=text, reason="Incomplete", cluster=cluster, message=message, since=progress.since)


def _obstacle_of_late_cluster(branches: RecordedFleet, cluster: str, ref: str = "") -> Obstacle:
    progress = branches.progress[cluster]
    return Obstacle(
        text=f"{cluster}: not applied: {progress.message}",
        reason=progress.reason,
        cluster=cluster,
        object=ref,
        message=progress.message,
        hint=progress.hint,
        since=progress.since,
    )


def _obstacle_of_object_not_rendered(ref: str, cluster: str, failed: Condition) -> Obstacle:
    """Return why an object is late in a cluster that keeps what it had, as nothing newer could be made for it."""
    return Obstacle(
        text=f"{ref} is not rendered for {cluster}: {failed.reason}: {failed.message}",
        reason=failed.reason,
        cluster=cluster,
        object=ref,
        message=failed.message,
    )


def _obstacle_of_work(ref: str, cluster: str, state: str, work: Manifest | None) -> Obstacle:
    """Return why an object is late, with the reason its Work gives, and its message where it has one."""
    known = reason_in_work(work or {}, cluster)
    return Obstacle(
        text=": ".join(filter(None, (f"{ref} is not {state} in {cluster}", known.reason, known.message))),
        reason=known.reason or "NotAppliedYet",
        cluster=cluster,
        object=ref,
        message=known.message,
        since=known.since,
    )


def _obstacles_of_deviations(branches: RecordedFleet, cluster: str) -> Iterator[Obstacle]:
    """Yield the objects that a run kept, held or left hanging in a cluster."""
    record = branches.recorded.clusters()[cluster]
    for each in record.deviations:
        if not each.field:
            yield Obstacle(
                text=f"{each.ref} is {each.action} in {cluster}: {each.reason}: {each.message}",
                reason=each.reason,
                cluster=cluster,
                object=str(each.ref),
                message=each.message,
                since=record.since,
            )


def _is_in_wanted_state(work: Manifest, state: str) -> bool:
    if state == "healthy":
        return is_applied_and_healthy(work)
    return condition_of_type(work["status"].get("conditions"), APPLIED).get("status") == "True"
