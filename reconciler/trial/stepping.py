"""A PolicyTest over time: the passes from before anything failed until the time that the test asks about.

The first pass finds everything healthy; a test may say when it was. One follows whenever something fails or the source
changes, whenever an answer flips by itself, and a second after a rollout gave clusters something, as passes come one
after the other in a fleet that runs. Clusters that are ready apply at once what they are given. Nobody is asked for
checks of rollouts: the test says which are not met.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.ledger.facts import ClusterFacts
from reconciler.ledger.health import ObservedHealth, ReportedHealth
from reconciler.pipeline.failover import FailoverInputs
from reconciler.pipeline.following_passes import PassMemory
from reconciler.pipeline.moves import MoveInputs
from reconciler.pipeline.pass_values import Inputs, Rendered
from reconciler.pipeline.rendered_condition import RENDERED
from reconciler.pipeline.rollouts.attributes import parse_attributes
from reconciler.pipeline.rollouts.speakers import digest_of_control
from reconciler.pipeline.rollouts.stage_values import RolloutInputs
from reconciler.pipeline.rollouts.state_files import RolloutStates, rollout_states_of_tree
from reconciler.pipeline.stages import render_pass
from reconciler.source.desired import Desired
from reconciler.source.policy_tests import PolicyTest, StartedReplicas, TriedChange
from render.binding import Binding
from render.cluster import ClusterCondition
from render.failover.health import FALSE, NOT_REACHABLE, READY, REPORTING, TRUE
from render.failover.tasks import HEALTHY, UNHEALTHY
from render.model import ObjectRef
from render.rescheduling.descheduling import PendingPods, PendingReplicas
from render.rollouts.checks import CheckAnswer, CheckQuestion
from render.rollouts.policy import RolloutControl
from render.rollouts.status_ages import StatusLooks
from render.timing import SECOND, instant_text

_MOST_STEPS = 1000


def render_passes(test: PolicyTest, inputs: Inputs, times: Collection[datetime]) -> Mapping[datetime, Rendered]:
    """Return what the passes at some times render, after all that went before them; a replay of at most 1000."""
    last = max(times)
    failing = (test.not_ready, test.unhealthy, test.not_met, test.not_looked_at)
    begun = (*(at for each in failing for at in each.values()), *(each.since for each in test.unschedulable))
    said = (*(each.at for each in test.changes), *(each.at for each in test.requests))
    changes = sorted({at for at in (*begun, *said, *times) if at <= last})
    at = test.since or min(changes) - SECOND
    fleet = TriedFleet(test=test, inputs=inputs)
    before, rendered = None, fleet.pass_at(at, None)
    found: dict[datetime, Rendered] = {}
    for _ in range(_MOST_STEPS):
        fleet.apply(rendered, at)
        if at in times:
            found[at] = rendered
        if at >= last:
            break
        flip = rendered.built.flip
        # The next pass sees what this one has given to clusters.
        is_moving = _waits_for_clusters(rendered) and (before is None or before.tree.root != rendered.tree.root)
        coming = (*changes, *([flip.at] if flip else []), *([at + SECOND] if is_moving else []))
        at = min((each for each in coming if at < each <= last), default=last)
        before, rendered = rendered, fleet.pass_at(at, rendered)
    return {time: found.get(time, rendered) for time in times}


def _waits_for_clusters(rendered: Rendered) -> bool:
    """Say whether what clusters do with a pass's outcome leads to another one."""
    return bool(rendered.built.rolled.states) or any(each.moving is not None for each in rendered.built.bindings)


class TriedFleet(Struct, kw_only=True):
    """The fleet of a test on its way: what it was given by now, and the versions that its clusters have applied."""

    test: PolicyTest
    inputs: Inputs
    _memory: PassMemory = field(default_factory=PassMemory)
    _versions: dict[tuple[ObjectRef, str], tuple[str, datetime]] = field(default_factory=dict)
    _controls: dict[int, RolloutControl] = field(default_factory=dict)
    _answers: dict[str, CheckAnswer] = field(default_factory=dict)

    def pass_at(self, at: datetime, before: Rendered | None) -> Rendered:
        """Return what a pass renders, by the answers to the checks that its rollouts ask for."""
        while True:
            rendered = render_pass(self.inputs_at(at, before))
            found = {each.id: self._answer(each, at) for each in rendered.built.rolled.questions}
            if found.items() <= self._answers.items():
                return rendered
            self._answers |= found

    def _answer(self, question: CheckQuestion, at: datetime) -> CheckAnswer:
        """Return the answer to a question, as it was before where it is no other."""
        since, known = self.test.not_met.get(question.check.name), self._answers.get(question.id)
        is_met = since is None or since > at
        if known is not None and known.is_met == is_met:
            return known
        return CheckAnswer(is_met=is_met, since=at, value="met" if is_met else "not met")

    def apply(self, rendered: Rendered, at: datetime) -> None:
        """Let every cluster that is ready have what a pass gives it, and remember since when it has the version."""
        for binding in rendered.built.bindings:
            rollout = binding.rollout
            if rollout is None:
                continue
            for name in self._clusters_that_apply(binding, at):
                version = rollout.version_by_cluster.get(name, rollout.completed)
                if self._versions.get((binding.ref, name), ("", at))[0] != version:
                    self._versions[binding.ref, name] = version, at

    def _clusters_that_apply(self, binding: Binding, at: datetime) -> Iterator[str]:
        kept = {name for each in binding.kept for name in each.clusters}
        failed = {name for each in binding.conditions if each.type == RENDERED for name in each.clusters}
        down = {name for name, since in self.test.not_ready.items() if since <= at}
        return (each.name for each in binding.targets if each.name not in kept | failed | down)

    def inputs_at(self, at: datetime, before: Rendered | None) -> Inputs:
        """Return the inputs of a pass: the source and what has failed by then, and what the pass before it left."""
        test, previous = self.test, self._memory.previous_from_rendered(before) if before else None
        states = rollout_states_of_tree(previous.tree) if previous else {}
        desired = replace(
            desired_with_changes(self.inputs.desired, test.changes, at), rollout_controls=self._controls_at(at, states)
        )
        names = [cluster.name for cluster in desired.clusters]
        failed = {name: since for name, since in test.not_ready.items() if since <= at}
        bindings = before.built.bindings if before else ()
        health = ObservedHealth(
            conditions={
                name: _cluster_conditions(failed.get(name), is_reporting=name in test.reporting) for name in names
            },
            workloads={binding.ref: tuple(self._reported_health(binding, at)) for binding in bindings},
            pending={
                binding.ref: found
                for binding in bindings
                if (found := tuple(_pending_replicas(binding, test.unschedulable, at)))
            },
        )
        return replace(
            self.inputs,
            desired=desired,
            facts={name: _facts_of_cluster(name, is_ready=name not in failed) for name in names},
            previous=previous,
            failover=FailoverInputs(now=at, health=health, taints=before.built.tainted.recorded if before else {}),
            rollouts=self._rollout_inputs(states, health, before, self._looks(names, at)),
            moves=MoveInputs(health=health),
        )

    def _looks(self, names: Iterable[str], at: datetime) -> StatusLooks:
        """Return the last looks at clusters: every pass looks at all of them, unless the test says otherwise."""
        return StatusLooks(times={name: min(at, self.test.not_looked_at.get(name, at)) for name in names})

    def _rollout_inputs(
        self, states: RolloutStates, health: ObservedHealth, before: Rendered | None, looks: StatusLooks
    ) -> RolloutInputs:
        attributes = before.built.rolled.attributes if before else b""
        signed = ((self.test.requests[number].by, control) for number, control in self._controls.items())
        return replace(
            self.inputs.rollouts,
            states=states,
            health=health,
            answers=dict(self._answers),
            attributes=parse_attributes(attributes) if attributes else {},
            looks=looks,
            speakers={digest_of_control(control): by for by, control in signed},
        )

    def _controls_at(self, at: datetime, states: RolloutStates) -> tuple[RolloutControl, ...]:
        """Return what people have said by a time: each about the change that went out when it was said."""
        for number, each in enumerate(self.test.requests):
            state = states.get(each.policy)
            if each.at <= at and number not in self._controls and state is not None:
                self._controls[number] = RolloutControl(
                    name=f"controls-{number}",
                    rollout=each.policy,
                    change=state.change,
                    verb=each.verb,
                    wave=each.wave,
                    reason="as the test says",
                    at=instant_text(each.at),
                )
        return (*self.inputs.desired.rollout_controls, *self._controls.values())

    def _reported_health(self, binding: Binding, at: datetime) -> Iterator[ReportedHealth]:
        for target in binding.targets:
            since, seen = self.test.unhealthy.get(target.name), self.test.not_looked_at.get(target.name, at)
            is_failing = since is not None and since <= min(seen, at)
            version, applied = self._versions.get((binding.ref, target.name), ("", None))
            if applied is not None and applied > seen:
                version, applied = "", None
            begins = since if is_failing else applied
            yield ReportedHealth(
                cluster=target.name,
                health=UNHEALTHY if is_failing else HEALTHY,
                since=instant_text(begins) if begins else "",
                version=version,
                ready=0 if is_failing else target.replicas,
            )


def desired_with_changes(desired: Desired, changes: Iterable[TriedChange], at: datetime) -> Desired:
    """Return the source with the changes of a test up to a time; each takes the place of what was there."""
    clusters = {each.name: each for each in desired.clusters}
    templates = {each.ref: each for each in desired.templates}
    for change in sorted((each for each in changes if each.at <= at), key=lambda each: each.at):
        clusters |= {each.name: each for each in change.clusters}
        templates |= {each.ref: each for each in change.templates}
        for name in change.without_clusters:
            clusters.pop(name, None)
    return replace(
        desired,
        clusters=tuple(clusters[name] for name in sorted(clusters)),
        templates=tuple(templates[ref] for ref in sorted(templates)),
    )


def _cluster_conditions(failed: datetime | None, *, is_reporting: bool) -> tuple[ClusterCondition, ...]:
    if failed is None:
        return (ClusterCondition(type=READY, status=TRUE),)
    since = instant_text(failed)
    word = (ClusterCondition(type=REPORTING, status=TRUE, since=since),) if is_reporting else ()
    return (ClusterCondition(type=READY, status=FALSE, reason=NOT_REACHABLE.reason, since=since), *word)


def _facts_of_cluster(name: str, *, is_ready: bool) -> ClusterFacts:
    status = "True" if is_ready else "False"
    return ClusterFacts(name=name, status={"conditions": [{"type": READY, "status": status}]})


def _pending_replicas(binding: Binding, started: Iterable[StartedReplicas], at: datetime) -> Iterable[PendingReplicas]:
    replicas = {target.name: target.replicas for target in binding.targets}
    for each in started:
        more = replicas.get(each.cluster, 0) - each.ready
        if each.since <= at and more > 0:
            pods = (PendingPods(since=instant_text(each.since), pods=more),)
            yield PendingReplicas(cluster=each.cluster, ready=each.ready, pending=pods)
