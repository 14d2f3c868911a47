"""The rollouts of a fleet, as its newest rendered commit that is known here records them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from reconciler.branches.in_force import fleet_in_force, rendered_tip_or_none
from reconciler.branches.publication import Publication, publication_of
from reconciler.branches.reading import read_previous
from reconciler.branches.status_branch import StatusBranch
from reconciler.console.tables import text_table
from reconciler.ledger.rollout_checks import ChecksFile, RecordedCheck
from reconciler.pipeline.previous import RenderedTree
from reconciler.pipeline.rollouts.emergency_files import emergencies_of_tree
from reconciler.pipeline.rollouts.state_files import rollout_states_of_tree
from reconciler.record.recorded_status import read_recorded
from reconciler.repository import Repository
from render.admission.rollouts import FLEET_KIND
from render.errors import UnknownName
from render.rollouts.emergencies import Emergency, seconds_to_confirm
from render.rollouts.fleet_calendar import ended_freezes_of_fleet
from render.rollouts.plan import planned_waves, words_of_planned_wave
from render.rollouts.policy import RolloutPolicy
from render.rollouts.state import Given, RolloutState
from render.timing import instant_text
from render.words import counted_noun, first_few

from .branches import RecordedFleet
from .unasked_clusters import WORDS, UnaskedClusters, clusters_not_asked, words_of_unasked

_NOBODY = "no rollout has begun: argosy diff shows by which waves a change would go out"


class RecordedRollouts(Struct, frozen=True, kw_only=True):
    """The rollouts at a rendered commit, by their names, and the clusters that each passes over.

    ``emergencies`` are those that nobody has confirmed, for which a second person has so many ``seconds``. ``checks``
    are the answers to checks.
    """

    commit: str
    states: Mapping[str, RolloutState]
    publication: Publication
    status_branch: str
    unasked: UnaskedClusters = {}
    emergencies: tuple[Emergency, ...] = ()
    seconds: int = 0
    checks: tuple[RecordedCheck, ...] = ()

    def checks_of(self, state: RolloutState) -> list[RecordedCheck]:
        """Return the answers to checks of one rollout."""
        return [each for each in self.checks if each.rollout == state.name]

    def emergency_meant(self, name: str, namespace: str, group: str) -> RolloutState:
        """Return the change that went out in an emergency and that a name means; UnknownName where nothing tells."""
        found = {each.subject: state_of_emergency(each) for each in self.emergencies}
        meant = [
            state
            for state in found.values()
            if name in {"", state.plan.name, str(state.plan), state.name}
            and namespace in {"", state.plan.namespace}
            and group in {"", state.group}
        ]
        if len(meant) == 1:
            return meant[0]
        known = ", ".join(sorted(f"{state.name} ({state.change})" for state in meant or found.values()))
        if not meant:
            message = "no emergency waits for a confirmation" + (f" of {name!r}" if name else "")
            raise UnknownName(message, hint=f"these do: {known}" if known else "argosy rollout status shows them")
        raise UnknownName("more than one emergency is meant", hint=f"name one: {known}")

    def groups_meant(self, name: str, namespace: str, group: str) -> list[RolloutState]:
        """Return the rollouts that a name means, of all groups unless one is named, by their names."""
        return [
            state
            for _, state in sorted(self.states.items())
            if name in {"", state.plan.name, str(state.plan), state.name}
            and namespace in {"", state.plan.namespace}
            and group in {"", state.group}
        ]

    def meant(self, name: str, namespace: str, group: str = "") -> RolloutState:
        """Return the rollout that a name means, or without a name the only one; UnknownName where nothing tells.

        ``namespace`` and ``group`` may be empty: then any counts.
        """
        found = self.groups_meant(name, namespace, group)
        if len(found) == 1:
            return found[0]
        known = ", ".join(sorted(state.name for state in found or self.states.values()))
        if not found:
            wanted = f" {'/'.join(filter(None, (namespace, name)))!r}" if name else ""
            where = f" in the namespace {namespace!r}" if namespace and not name else ""
            what = f" for {group}" if group else ""
            message = f"there is no rollout{wanted}{where}{what}"
            raise UnknownName(message, hint=f"known here: {known}" if known else _NOBODY)
        options = (
            "-n for its namespace and --group for its objects"
            if any(each.group for each in found)
            else "-n for its namespace"
        )
        raise UnknownName("more than one rollout is meant", hint=f"name one, with {options}: {known}")


def read_recorded_rollouts(repository: Repository) -> RecordedRollouts:
    """Return the rollouts of the newest rendered commit that is known here; ConfigError where nothing is rendered."""
    fleet, _ = fleet_in_force(repository, repository.resolve("HEAD"), rendered_tip_or_none)
    publication = publication_of(repository, fleet)
    tip = publication.known_tip(fleet.rendered_branch)
    if tip is None:
        raise publication.nothing_rendered(fleet.rendered_branch)
    previous = read_previous(repository, tip)
    states = rollout_states_of_tree(previous.tree)
    status = StatusBranch(publication=publication, branch=fleet.status_branch)
    records = read_recorded(status, status.tip(), ("clusters",)).clusters() if states else {}
    return RecordedRollouts(
        commit=tip,
        states=states,
        publication=publication,
        status_branch=fleet.status_branch,
        emergencies=emergencies_of_tree(previous.tree),
        seconds=seconds_to_confirm(fleet.rollouts),
        checks=_checks_of_rollouts(previous.tree, states),
        unasked=clusters_not_asked(states.values(), records, previous.bindings.values() if states else ()),
    )


def _checks_of_rollouts(tree: RenderedTree, states: Mapping[str, RolloutState]) -> tuple[RecordedCheck, ...]:
    """Return the answers that a rendered tree has about the changes that go out."""
    entry = tree.trees.entry(tree.root, ("facts", ChecksFile.NAME))
    if entry is None:
        return ()
    file = ChecksFile.read(ChecksFile.PATH, tree.contents([entry.id])[entry.id])
    going = {(name, state.change) for name, state in states.items() if not state.is_completed}
    return tuple(each for each in file.checks if (each.rollout, each.change) in going)


def state_of_emergency(emergency: Emergency) -> RolloutState:
    """Return what a control that confirms an emergency is about: the rollout may be over by now."""
    kind, _, name = emergency.rollout.partition(" ")
    namespace, _, name = name.rpartition("/")
    since = emergency.since
    return RolloutState(
        plan=RolloutPolicy(name=name, namespace=namespace, is_of_fleet=kind == FLEET_KIND),
        change=emergency.change,
        group=emergency.group,
        since=since,
        wave_since=since,
        phase_since=since,
    )


def text_of_emergencies(emergencies: Sequence[Emergency], seconds: int, now: datetime) -> Iterator[str]:
    """Yield a line for each emergency that nobody has confirmed."""
    yield "".join(f"\n{each.words(seconds, now)}\n" for each in emergencies)


def text_of_rollouts(states: Sequence[RolloutState], unasked: UnaskedClusters) -> Iterator[str]:
    """Yield a line for each rollout, what each that is not completed waits for, and which clusters are not asked."""
    if not states:
        yield f"{_NOBODY}\n"
        return
    header = ("ROLLOUT", "CHANGE", "STATE", "WAVE", "GIVEN", "THROUGH", "SINCE")
    yield text_table(header, map(_row_of_rollout, states))
    waiting = [state for state in states if not state.is_completed]
    yield "".join(f"\n{state.name}: {state.reason}: {state.next_step}\n" for state in waiting)
    passed_over = ((state.name, unasked[state.name]) for state in states if state.name in unasked)
    yield "".join(f"\n{name}: not asked: {words_of_unasked(clusters)}\n" for name, clusters in passed_over)


def _row_of_rollout(state: RolloutState) -> tuple[str, ...]:
    total, through = len(state.seats), sum(each.is_through for each in state.given)
    return (
        state.name,
        state.change,
        str(state.phase),
        state.wave or "-",
        f"{len(state.given)}/{total}",
        f"{through}/{total}",
        instant_text(state.phase_since),
    )


def text_of_rollout(
    state: RolloutState, unasked: UnaskedClusters, checks: Iterable[RecordedCheck] = ()
) -> Iterator[str]:
    """Yield everything about one rollout: what goes out, what it waits for, each cluster with its wave, and checks."""
    yield f"{state.name}: {state.phase} ({state.reason}) since {instant_text(state.waits_since)}\n"
    commits = first_few([commit[:12] for commit in state.commits])
    yield f"change {state.change} of {commits}, since {instant_text(state.since)}\n"
    if not state.is_completed:
        yield f"next: {state.next_step}\n"
        yield from (f"{line}\n" for line in lines_about_way_back(state))
    for waiting in state.queue:
        commits, count = first_few([commit[:12] for commit in waiting.commits]), len(waiting.versions)
        yield f"then: change {waiting.digest} of {commits}, {counted_noun(count, 'object')}\n"
    given, back = ({each.cluster: each for each in several} for several in (state.given, state.back))
    reasons = {name: WORDS[reason] for name, reason in unasked.get(state.name, {}).items()}
    rows = [
        (wave.name, name, *_words_of_cluster(given.get(name), back.get(name), reasons.get(name, "")))
        for wave in planned_waves(state)
        for name in wave.clusters
    ]
    if rows:
        yield "\n"
        yield text_table(("WAVE", "CLUSTER", "STATE", "SINCE"), rows)
    yield from _text_of_checks(checks)


def lines_about_way_back(state: RolloutState) -> Iterator[str]:
    """Yield a line for each thing that a rollback does not take back, or gives back beside the bytes."""
    yield from (f"cannot go back: {each.ref}: {each.reason}" for each in state.one_way)
    yield from (f"goes back to: {each}" for each in state.restores)
    yield from (f"not restored: {each}" for each in state.unrestored)


def _text_of_checks(checks: Iterable[RecordedCheck]) -> Iterator[str]:
    """Yield a table of checks: what each asks about, and what was answered since when."""
    rows = [
        (each.check, each.cluster or f"wave {each.wave}", _words_of_answer(each), each.value, each.since)
        for each in checks
    ]
    if rows:
        yield "\n"
        yield text_table(("CHECK", "ABOUT", "ANSWER", "VALUE", "SINCE"), rows)


def _words_of_answer(check: RecordedCheck) -> str:
    if not check.answered:
        return "none"
    return "met" if check.met else "not met"


def _words_of_cluster(given: Given | None, back: Given | None, unasked: str) -> tuple[str, str]:
    why = f" ({unasked})" if unasked else ""
    if back is not None:
        return f"went back{why}", instant_text(back.at)
    if given is None:
        return f"waits{why}", ""
    if given.has_old_status:
        return "under way (status too old)", instant_text(given.at)
    if given.through is None:
        return f"under way{why}", instant_text(given.at)
    return "through", instant_text(given.through)


def text_of_plan(state: RolloutState) -> Iterator[str]:
    """Yield the waves of a rollout in their order, each with its clusters."""
    yield f"{state.name} lets change {state.change} out to {counted_noun(len(state.seats), 'cluster')}\n"
    yield from (f"  {line}\n" for line in lines_about_way_back(state))
    for wave in planned_waves(state):
        yield f"  {words_of_planned_wave(wave, ', '.join(wave.clusters))}\n"


def wave_to_approve(state: RolloutState) -> str:
    """Return the wave that waits for an approval, or the next one that needs one; "" where none does."""
    waves = [wave.name for wave in (*state.plan.waves, state.plan.implicit_wave)]
    begun = waves.index(state.wave) + 1 if state.wave in waves else 0
    to_come = (wave for wave in state.plan.waves if wave.is_approval_required and wave.name in waves[begun:])
    return next((wave.name for wave in to_come), "")


def name_of_wave_needing_approval(plan: RolloutPolicy, name: str) -> str:
    """Return a wave that needs an approval by its name; UnknownName where there is none of that name."""
    needing = [wave.name for wave in plan.waves if wave.is_approval_required]
    if name in needing:
        return name
    known = f"these do: {', '.join(needing)}" if needing else "none of its waves does"
    raise UnknownName(f"{plan} has no wave {name!r} that needs an approval", hint=known)


def lines_of_held_changes(branches: RecordedFleet) -> Iterator[str]:
    """Yield a line for each change that a rollback or an abort keeps out, with what ends the hold."""
    held = [state for state in branches.fleet.rollouts_under_way if state.is_held]
    yield "\n" if held else ""
    yield from (f"{state.hold}\n  hint: {state.next_step}\n" for state in held)


def lines_of_rollouts(branches: RecordedFleet) -> Iterator[str]:
    """Yield how far each rollout is that is not over, what comes next, and which freezes are over."""
    states = branches.fleet.rollouts
    found = clusters_not_asked(states, branches.recorded.clusters(), branches.fleet.bindings) if states else {}
    for state in (each for each in branches.fleet.rollouts_under_way if not each.is_held):
        yield from _lines_of_calendar(state) if state.plan.is_of_fleet else _lines_of_waves(state)
        if state.name in found:
            yield f"  not asked: {words_of_unasked(found[state.name])}\n"
    for state in states:
        if state.is_completed and state.name in found:
            yield f"\n{state.name}: {state.phase} without {words_of_unasked(found[state.name])}\n"
    yield from _lines_of_ended_freezes(branches)
    now = datetime.fromtimestamp(branches.now, UTC)
    seconds = seconds_to_confirm(branches.fleet.source.desired.fleet.rollouts)
    yield from text_of_emergencies(emergencies_of_tree(branches.fleet.previous.tree), seconds, now)


def _lines_of_waves(state: RolloutState) -> Iterator[str]:
    waves = planned_waves(state)
    given, every = sum(len(each.given) for each in waves), sum(len(each.clusters) for each in waves)
    wave = f", wave {state.wave}" if state.wave else ""
    yield f"\n{state.name}: {state.phase}{wave}, {given} of {counted_noun(every, 'cluster')} have change "
    yield f"{state.change}\n  next: {state.next_step}\n"


def _lines_of_calendar(state: RolloutState) -> Iterator[str]:
    count = counted_noun(len(state.seats), "cluster")
    yield f"\n{state.plan}: {state.phase}, change {state.change} is held back from {count}\n"
    yield f"  next: {state.next_step}\n"


def _lines_of_ended_freezes(branches: RecordedFleet) -> Iterator[str]:
    """Yield the freezes of argosy.yaml that are over, until somebody removes them."""
    now = datetime.fromtimestamp(branches.now, UTC)
    for number, freeze in ended_freezes_of_fleet(branches.fleet.source.desired.fleet.rollouts, now):
        yield f"\nspec.rollouts.freezes[{number}] ({freeze.reason}) is over since {instant_text(freeze.ends)}: "
        yield "remove it from argosy.yaml\n"
