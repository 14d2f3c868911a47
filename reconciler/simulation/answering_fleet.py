"""A fleet while simulated passes go by: what each cluster was given by now, and what the next pass is told of it."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.ledger.facts import Facts
from reconciler.ledger.health import ObservedHealth, ReportedHealth
from reconciler.pipeline.following_passes import PassMemory, inputs_of_next_pass
from reconciler.pipeline.health import are_ready_replicas_asked_for, is_health_asked_for
from reconciler.pipeline.pass_values import Inputs
from reconciler.pipeline.reserves import reserves_of_changed_facts
from render.binding import Binding
from render.failover.tasks import HEALTHY
from render.model import ObjectRef
from render.rollouts.status_ages import StatusLooks
from render.timing import SECOND, instant_text

from .simulated_pass import SimulatedPass, scope_of_next_pass


class _Given(Struct, frozen=True, kw_only=True):
    """The replicas and the version of an object that a cluster has, and since when (None: since before)."""

    replicas: int
    version: str
    since: datetime | None = None


class AnsweringFleet(Struct, kw_only=True):
    """The fleet on its way: the last pass, and what each cluster that answers has applied of all of them.

    ``facts`` are those from before the alterations: what the base reserved of capacity is reserved of these.
    """

    inputs: Inputs
    facts: Facts
    memory: PassMemory
    silent: frozenset[str]
    _last: SimulatedPass | None = None
    _seen_at: datetime | None = None
    _newest: datetime | None = None
    _given: dict[tuple[ObjectRef, str], _Given] = field(default_factory=dict)

    def observe_base(self, base: SimulatedPass) -> None:
        """Begin with what the pass before the alterations gave to clusters."""
        self._last = base

    def apply(self, done: SimulatedPass) -> bool:
        """Let the clusters that answer have what a pass gives them; say whether the next pass will find news there."""
        last, before = self._last, self._seen_at
        assert last is not None, "a base comes before the passes that go on from it"
        is_changed = last.rendered.tree.root != done.rendered.tree.root
        self._seen_at, self._last = done.at, done
        for binding in done.rendered.built.bindings if is_changed else ():
            former = last.bindings.get(binding.ref)
            if former is not None and _gives_the_same(former, binding):
                continue
            known = dict(_given_by_binding(former)) if former is not None else {}
            for name, given in _given_by_binding(binding):
                if name not in self.silent and known.get(name) != given:
                    self._given[binding.ref, name] = replace(given, since=done.at)
                    self._newest = done.at
        return is_changed or (self._newest is not None and self._newest == before)

    def inputs_at(self, at: datetime) -> Inputs:
        """Return the inputs of the next pass."""
        assert self._last is not None, "a base comes before the passes that go on from it"
        inputs, bindings = self.inputs, self._last.bindings.values()
        following = inputs_of_next_pass(inputs, self._last.rendered, self.memory, at, self._last.bindings)
        following = replace(
            following,
            reserves=reserves_of_changed_facts(following.reserves, self.facts, inputs.facts),
            failover=replace(following.failover, health=self._health(inputs.failover.health, bindings)),
            rollouts=replace(
                following.rollouts,
                health=self._health(inputs.rollouts.health, bindings),
                # Every pass looks at all that answer before it decides.
                looks=StatusLooks(
                    times={each.name: at for each in inputs.desired.clusters if each.name not in self.silent}
                ),
            ),
            moves=replace(following.moves, health=self._health(inputs.moves.health, bindings)),
        )
        # The first of them goes by other facts than the base, or by another source.
        is_first = self._seen_at is None
        return following if is_first else replace(following, scope=scope_of_next_pass(self._last, following))

    def _health(self, recorded: ObservedHealth, bindings: Iterable[Binding]) -> ObservedHealth:
        """Return recorded health with that of what clusters were given since."""
        asked = (each for each in bindings if is_health_asked_for(self.inputs.desired, each))
        found = {each.ref: tuple(self._reports(each, recorded.workloads.get(each.ref, ()))) for each in asked}
        return replace(recorded, workloads={**recorded.workloads, **found})

    def _reports(self, binding: Binding, recorded: Iterable[ReportedHealth]) -> Iterator[ReportedHealth]:
        known, placed = {each.cluster: each for each in recorded}, dict(_given_by_binding(binding))
        for name in dict.fromkeys([*placed, *known]):
            given = self._given.get((binding.ref, name), placed[name]) if name in placed else None
            before = known.get(name)
            if before is not None and (given is None or given.since is None or name in self.silent):
                yield before
            elif given is not None and name not in self.silent and self._is_seen(given):
                yield self._report(binding, name, given, before)

    def _is_seen(self, given: _Given) -> bool:
        """Say whether a pass has looked at what a cluster was given, once it was there."""
        return given.since is None or (self._seen_at is not None and given.since < self._seen_at)

    def _report(self, binding: Binding, name: str, given: _Given, before: ReportedHealth | None) -> ReportedHealth:
        """Return the health of what a cluster was given; what was unhealthy there before stays so."""
        is_asked = are_ready_replicas_asked_for(self.inputs.desired, binding)
        found = ReportedHealth(
            cluster=name,
            health=HEALTHY,
            since=instant_text(given.since + SECOND) if given.since is not None else "",
            version=given.version,
            ready=given.replicas if is_asked else None,
        )
        if before is not None and before.health != HEALTHY:
            return replace(before, version=given.version)
        return replace(found, status=before.status) if before is not None else found


def _gives_the_same(former: Binding, binding: Binding) -> bool:
    return (former.targets, former.rollout, former.kept) == (binding.targets, binding.rollout, binding.kept)


def _given_by_binding(binding: Binding) -> Iterator[tuple[str, _Given]]:
    """Yield the clusters that an object is delivered to, each with what it gets."""
    rollout, replicas = binding.rollout, binding.assigned_replicas
    versions = rollout.version_by_cluster if rollout is not None else {}
    completed = rollout.completed if rollout is not None else ""
    for target in binding.targets:
        if target.name in replicas:
            yield target.name, _Given(replicas=replicas[target.name], version=versions.get(target.name, completed))
