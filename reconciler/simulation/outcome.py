"""The outcome of a simulation: the objects that are concerned, the passes that move them, and the facts it goes by."""

from collections.abc import Iterator
from datetime import datetime

from msgspec import Struct

from reconciler.pipeline.movements import Movement, movements_between
from reconciler.pipeline.pass_values import Inputs
from render.errors import GuardRefused
from render.model import ObjectRef
from render.timing import Flip, parse_instant

from .alterations import ScaledObject, altered_clusters, lost_clusters
from .objects import ObjectCourse, PlacedReplicas, SimulatedObject
from .passes import Simulation


class SimulatedStep(Struct, frozen=True, kw_only=True):
    """A pass that moves something, as the fleet is configured."""

    at: datetime
    movements: tuple[Movement, ...]


class FactAge(Struct, frozen=True, kw_only=True):
    """The age of what is known of a cluster: when it was observed ("": nobody says), and whether its capacity is."""

    cluster: str
    observed_at: str
    seconds: int | None
    has_capacity: bool


class SimulationOutcome(Struct, frozen=True, kw_only=True):
    """The answer of a simulation.

    ``objects`` are those that are concerned: they stand in a cluster that something is supposed of, or are placed
    otherwise. ``steps`` are the passes that move replicas, ``ideal`` the movements of placing anew. ``refusal`` is what
    a guard would say, at ``refused_at``. ``notes`` are those of failover. ``next_flip`` comes after the ``horizon``.
    """

    simulation: Simulation
    objects: tuple[SimulatedObject, ...]
    ideal: tuple[Movement, ...]
    steps: tuple[SimulatedStep, ...]
    facts: tuple[FactAge, ...]
    notes: tuple[str, ...] = ()
    refusal: GuardRefused | None = None
    refused_at: datetime | None = None

    @property
    def unplaced(self) -> tuple[SimulatedObject, ...]:
        """The objects of which something finds no place, or serves nowhere when the horizon has come."""
        return tuple(each for each in self.objects if each.is_unplaced or each.is_unplaced_ideally)

    @property
    def next_flip(self) -> Flip | None:
        """The next change by itself after the horizon."""
        return self.simulation.next_flip


def outcome_of_simulation(simulation: Simulation) -> SimulationOutcome:
    """Return the answer of a simulation."""
    members = [cluster.name for cluster in simulation.ideal.inputs.desired.clusters]
    lost, base = lost_clusters(simulation.alterations), simulation.base.bindings
    refused = simulation.refused
    return SimulationOutcome(
        simulation=simulation,
        objects=tuple(_concerned_objects(simulation, lost)),
        ideal=movements_between(base, simulation.ideal.bindings, {*members, *lost}),
        steps=tuple(_steps(simulation)),
        facts=tuple(_ages_of_all_facts(simulation)),
        notes=tuple(
            dict.fromkeys(note for each in simulation.configured for note in each.rendered.built.failover.notes)
        ),
        refusal=refused.error if refused else None,
        refused_at=refused.refused.at if refused else None,
    )


def _steps(simulation: Simulation) -> Iterator[SimulatedStep]:
    before = simulation.base
    for each in simulation.configured:
        members = [cluster.name for cluster in each.inputs.desired.clusters]
        if found := movements_between(before.bindings, each.bindings, members):
            yield SimulatedStep(at=each.at, movements=found)
        before = each


def _ages_of_all_facts(simulation: Simulation) -> Iterator[FactAge]:
    """Yield how old what is known of each cluster is, also of those that are in added files alone."""
    base = simulation.base
    known = {each.cluster: each for each in ages_of_facts(base.inputs, base.at)}
    added = {each.cluster: each for each in ages_of_facts(simulation.ideal.inputs, base.at)}
    yield from (each for _, each in sorted({**added, **known}.items()))


def ages_of_facts(inputs: Inputs, now: datetime) -> Iterator[FactAge]:
    """Yield how old what is known of each cluster is at a time."""
    for cluster in inputs.desired.clusters:
        facts = inputs.facts.get(cluster.name)
        observed = parse_instant(facts.observed_at) if facts else None
        yield FactAge(
            cluster=cluster.name,
            observed_at=facts.observed_at if facts else "",
            seconds=max(0, int((now - observed).total_seconds())) if observed else None,
            has_capacity=bool(facts and facts.status.get("resourceSummary")) or cluster.resource_summary is not None,
        )


def _concerned_objects(simulation: Simulation, lost: frozenset[str]) -> Iterator[SimulatedObject]:
    base, ideal, last = (each.bindings for each in (simulation.base, simulation.ideal, simulation.last))
    altered = altered_clusters(simulation.alterations)
    manifests = {each.ref: each.manifest for each in simulation.ideal.inputs.desired.templates}
    # Where the first pass is refused, all stays as it was when the alterations began.
    courses = [(each.at, each.bindings) for each in simulation.configured or (simulation.base,)]
    scaled = {each.ref for each in simulation.alterations if isinstance(each, ScaledObject)}
    kept = _objects_kept_by_quota(simulation)
    placed = PlacedReplicas(lost=lost)
    for ref in sorted(base.keys() | ideal.keys() | last.keys()):
        before, *others = (placed.of(bindings.get(ref)) for bindings in (base, ideal, last))
        is_moved = any(each is not before and each != before for each in others) or not altered.isdisjoint(before)
        if not is_moved and ref not in scaled | kept and ref in base:
            continue
        found = ObjectCourse(ref=ref, base=base.get(ref), ideal=ideal.get(ref), last=last.get(ref), placed=placed)
        yield found.outcome(
            [(at, bindings.get(ref)) for at, bindings in courses], manifests.get(ref, {}), is_kept_by_quota=ref in kept
        )


def _objects_kept_by_quota(simulation: Simulation) -> frozenset[ObjectRef]:
    """Return the objects that a quota keeps as they are, though it does not so far."""
    schedules = [each.rendered.built.schedule for each in (simulation.base, *simulation.configured)]
    known, *found = (each.objects_kept_by_quota for each in (*schedules, simulation.ideal.decisions.schedule))
    return frozenset[ObjectRef]().union(*found) - known
