"""The inputs of a pass beside its source and its past, and what the pipeline is given of all of them."""

from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.branches.reading import ObservedInputs, Source
from reconciler.guards.allowances import Allowed, count_of_allowed_removals
from reconciler.guards.source_trailers import allowed_between
from reconciler.ledger.health import ObservedHealth
from reconciler.pipeline.failover import FailoverInputs
from reconciler.pipeline.health import health_of_members
from reconciler.pipeline.moves import MoveInputs, may_moves_be_gradual
from reconciler.pipeline.pass_values import Inputs
from reconciler.pipeline.previous import Previous, parse_file_at_root
from reconciler.pipeline.renames import (
    facts_by_new_names,
    new_names_of_clusters,
    previous_by_new_names,
    previous_without_clusters,
    reserves_by_new_names,
)
from reconciler.pipeline.reserves import RESERVED_FILE, Reserves, parse_reserves
from reconciler.pipeline.rollouts.attributes import ATTRIBUTES_FILE, parse_attributes
from reconciler.pipeline.rollouts.emergency_files import emergencies_of_tree
from reconciler.pipeline.rollouts.origins import RolloutOrigins
from reconciler.pipeline.rollouts.speakers import Speakers
from reconciler.pipeline.rollouts.stage_values import RolloutInputs
from reconciler.pipeline.rollouts.state_files import rollout_states_of_tree
from reconciler.pipeline.rollouts.versions import ClusterAttributes
from reconciler.pipeline.scope import Scope
from reconciler.pipeline.taints import TAINTS_FILE, parse_taints
from reconciler.repository import Repository
from reconciler.repository.trailers import NOW, commit_written_by_argosy, engine_version
from reconciler.source.desired import is_failing_over
from render.rollouts.status_ages import StatusLooks
from render.settings.removal_guard import GuardScope
from render.timing import parse_instant

from .former_bindings import restorations_of_source


class RenderInputs(Struct, frozen=True, kw_only=True):
    """The inputs of a pass beside its source and its past: what was observed, and what whoever runs the pass decides.

    ``now`` is the time of the pass (None: rules of time do not apply). ``scope`` limits what it has to look at (None:
    everything). ``allowed`` is what options allow beyond the guards. ``is_rolled_out``: every change is as if its
    rollout were over. ``speakers`` are known to have signed RolloutControls; of all others Git is asked.
    ``origins`` are those of controls and changes; None: the previous commit and Git tell.
    """

    observed: ObservedInputs = field(default_factory=ObservedInputs)
    now: datetime | None = None
    scope: Scope | None = None
    allowed: Allowed = field(default_factory=Allowed)
    is_rolled_out: bool = False
    speakers: Speakers = field(default_factory=dict)
    origins: RolloutOrigins | None = None


def pipeline_inputs_of_source(
    repository: Repository, source: Source, previous: Previous | None, given: RenderInputs
) -> Inputs:
    """Return what the pipeline is given, with clusters named as the source names them."""
    clusters = source.desired.clusters
    gone = source.desired.forgotten_clusters
    observed = {name: facts for name, facts in given.observed.facts.items() if name not in gone}
    facts, reserves = facts_by_new_names(observed, clusters), _previous_reserves(previous)
    if previous is not None:
        previous = previous_by_new_names(previous, clusters)
        previous = previous_without_clusters(previous, gone)
    return Inputs(
        desired=source.desired,
        facts=facts,
        answers=given.observed.answers,
        previous=previous,
        source=source.commit,
        reserves=reserves_by_new_names(reserves, facts, clusters),
        scope=given.scope,
        allowed_removals=allowed_removals(repository, source, previous, given.allowed),
        failover=_failover_inputs_of_members(source, previous, given),
        rollouts=_rollout_inputs(repository, source, previous, given),
        moves=_move_inputs(source, given),
        restorations=restorations_of_source(repository, source, previous),
    )


def _move_inputs(source: Source, given: RenderInputs) -> MoveInputs:
    """Return the inputs of moves, where any go step by step."""
    if not may_moves_be_gradual(source.desired.fleet.moves, source.desired.rollout_policies):
        return MoveInputs()
    return MoveInputs(
        health=health_of_members(given.observed.health, (cluster.name for cluster in source.desired.clusters))
    )


def _rollout_inputs(
    repository: Repository, source: Source, previous: Previous | None, given: RenderInputs
) -> RolloutInputs:
    """Return the inputs of rollouts; clusters have the names that the source gives them now."""
    clusters = source.desired.clusters
    states = rollout_states_of_tree(previous.tree) if previous else {}
    emergencies = emergencies_of_tree(previous.tree) if previous else ()
    attributes = _previous_attributes(previous)
    calendar = source.desired.fleet.rollouts
    asked = source.desired.rollout_policies or source.desired.rollout_controls or calendar.freezes or calendar.windows
    if not (states or emergencies or attributes or asked):
        return RolloutInputs()
    from render.rollouts.step import state_with_renamed_clusters

    from .verified_controls import known_origins, speakers_of_controls

    known = {each.cluster for state in states.values() for each in state.given}.union(
        *(state.seats for state in states.values())
    )
    names = new_names_of_clusters(clusters, known.union(attributes))
    return RolloutInputs(
        states={name: state_with_renamed_clusters(state, names) for name, state in states.items()},
        health=health_of_members(given.observed.health, (cluster.name for cluster in clusters)),
        are_over=given.is_rolled_out,
        speakers=speakers_of_controls(repository, source, given.speakers),
        origins=known_origins(repository, source, previous) if given.origins is None else given.origins,
        answers=given.observed.checks,
        pauses=given.observed.pauses,
        emergencies=emergencies,
        attributes={names.get(name, name): each for name, each in attributes.items()},
        upgrade=engine_version() if previous is not None and previous.version != engine_version() else "",
        looks=StatusLooks.of(given.observed.looks, given.observed.health.status_ages),
    )


def allowed_removals(
    repository: Repository, source: Source, previous: Previous | None, allowed: Allowed
) -> Mapping[str, int]:
    """Return how many objects may leave each cluster beyond the limits, where clusters are held back one by one."""
    if previous is None or source.desired.fleet.removal_guard.scope is not GuardScope.CLUSTER:
        return {}
    counts = (allowed | allowed_between(repository, previous.source, source.commit)).removals_by_cluster
    return {name: count_of_allowed_removals(counts, name) for name in previous.tree.clusters}


def time_not_before_last_pass(
    repository: Repository, previous: Previous | None, now: datetime | None
) -> datetime | None:
    """Return a time that is not before the last one that decided: a clock may have been set back."""
    if now is None or previous is None:
        return now
    times = map(parse_instant, commit_written_by_argosy(repository, previous.commit).trailer(NOW))
    return max((now, *filter(None, times)))


def _failover_inputs_of_members(source: Source, previous: Previous | None, given: RenderInputs) -> FailoverInputs:
    """Return the inputs of failover; health of clusters that the source does not have is left out."""
    if given.now is None:
        return FailoverInputs(health=ObservedHealth(runs=given.observed.health.runs))
    taints = _root_file_of_previous(previous, TAINTS_FILE)
    health = health_of_members(given.observed.health, (cluster.name for cluster in source.desired.clusters))
    templates = {template.ref for template in source.desired.templates}
    health = replace(health, pending={ref: found for ref, found in health.pending.items() if ref in templates})
    return FailoverInputs(
        now=given.now,
        health=health if is_failing_over(source.desired) else replace(health, conditions={}),
        taints=parse_file_at_root(TAINTS_FILE, taints, parse_taints) if taints else {},
    )


def _previous_attributes(previous: Previous | None) -> Mapping[str, ClusterAttributes]:
    content = _root_file_of_previous(previous, ATTRIBUTES_FILE)
    return parse_file_at_root(ATTRIBUTES_FILE, content, parse_attributes) if content else {}


def _previous_reserves(previous: Previous | None) -> Reserves:
    content = _root_file_of_previous(previous, RESERVED_FILE)
    return parse_file_at_root(RESERVED_FILE, content, parse_reserves) if content else {}


def _root_file_of_previous(previous: Previous | None, name: str) -> bytes:
    """Return a file at the root of the previous tree; nothing where there is none."""
    tree = previous.tree if previous else None
    entry = tree.trees.entries(tree.root).get(name) if tree else None
    return tree.contents([entry.id])[entry.id] if tree and entry else b""
