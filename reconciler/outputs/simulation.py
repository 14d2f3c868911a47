"""The document of ``argosy simulate``."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import UNSET, UnsetType

from reconciler.simulation.objects import SimulatedObject
from reconciler.simulation.outcome import FactAge, SimulationOutcome
from reconciler.simulation.text import assumptions_of_simulation, supposed_words
from render.timing import instant_text

from .costs import SimulatedCost, simulated_cost_part
from .difference_parts import MovementPart, movement_part
from .document import DocumentPart, OutputDocument, meaning_of_field
from .parts import ClusterName, ObjectName

ReplicasByCluster = Annotated[
    dict[str, int], meaning_of_field("The replicas in each cluster; 0 where the object has none.")
]


class SimulatedStepPart(DocumentPart, frozen=True, kw_only=True):
    """A pass that moves something."""

    at: Annotated[str, meaning_of_field("The time of the pass.")]
    movements: Annotated[tuple[MovementPart, ...], meaning_of_field("What it moves.")]


class DowntimePart(DocumentPart, frozen=True, kw_only=True):
    """A time for which replicas serve nowhere."""

    since: Annotated[str, meaning_of_field("The time from which they are missing.")]
    until: Annotated[
        str | None,
        meaning_of_field(
            "The time until which they are; null: until somebody acts, or for longer than is looked ahead."
        ),
    ]
    replicas: Annotated[int, meaning_of_field("How many are missing.")]


class LostCopiesPart(DocumentPart, frozen=True, kw_only=True):
    """The copies of an object in clusters that are lost."""

    clusters: ReplicasByCluster
    remaining: Annotated[tuple[str, ...], meaning_of_field("The clusters in which the object goes on.")]
    state: Annotated[str, meaning_of_field("What it keeps in the lost clusters, such as a volume; empty for nothing.")]
    is_duplicated: Annotated[bool, meaning_of_field("Whether each cluster has all of its replicas.")]


class SimulatedObjectPart(DocumentPart, frozen=True, kw_only=True):
    """An object that is concerned."""

    object: ObjectName
    asked: Annotated[int, meaning_of_field("The replicas that it asks for.")]
    before: ReplicasByCluster
    ideal: Annotated[
        dict[str, int], meaning_of_field("The replicas in each cluster if what is concerned is placed anew at once.")
    ]
    after: Annotated[
        dict[str, int], meaning_of_field("The replicas in each cluster at the horizon, as the fleet is configured.")
    ]
    missing: Annotated[
        int, meaning_of_field("The replicas that serve nowhere at the horizon, as the fleet is configured.")
    ]
    missing_ideally: Annotated[int, meaning_of_field("The replicas that find no place even if all is placed anew.")]
    missing_before: Annotated[int, meaning_of_field("The replicas that served nowhere to begin with.")]
    unplaced: Annotated[
        bool, meaning_of_field("Whether more of it finds no place, or serves nowhere at the horizon, than before.")
    ]
    reason: Annotated[str, meaning_of_field("Why it has no place or stays; empty where nothing says so.")]
    stopped_by_quota: Annotated[bool, meaning_of_field("Whether a quota keeps it from what it asks for.")]
    down: Annotated[tuple[DowntimePart, ...], meaning_of_field("The times for which replicas of it are missing.")]
    lost: (
        Annotated[
            LostCopiesPart,
            meaning_of_field("What is lost of an object that is duplicated or keeps a state; absent for any other."),
        ]
        | UnsetType
    ) = UNSET


class FactAgePart(DocumentPart, frozen=True, kw_only=True):
    """The age of what is known of a cluster."""

    cluster: ClusterName
    observed_at: Annotated[str, meaning_of_field("When its facts were seen; empty where nobody says so.")]
    age_seconds: Annotated[int | None, meaning_of_field("How old they are in seconds; null where that is not known.")]
    has_capacity: Annotated[bool, meaning_of_field("Whether its capacity is known.")]


class GuardRefusalPart(DocumentPart, frozen=True, kw_only=True):
    """The refusal of a guard."""

    at: Annotated[str, meaning_of_field("The time of the pass that it refuses.")]
    message: Annotated[str, meaning_of_field("What it says, with the limit that is broken.")]
    hint: Annotated[str, meaning_of_field("What would let the pass through.")]


class SimulationDocument(OutputDocument, frozen=True, kw_only=True):
    """The answer of a simulation."""

    kind = "Simulation"
    about = "What would become of a fleet: at once if all was placed anew, and by itself as it is configured."
    printed_by = ("simulate",)

    source: Annotated[str, meaning_of_field("The source commit; empty for the work tree, or with added files.")]
    previous: Annotated[str, meaning_of_field("The newest rendered commit, which all starts from; empty for none.")]
    now: Annotated[str, meaning_of_field("The time at which what is supposed begins.")]
    horizon: Annotated[str, meaning_of_field("The time until which passes are looked at.")]
    supposed: Annotated[tuple[str, ...], meaning_of_field("What is supposed, in words.")]
    ideal: Annotated[
        tuple[MovementPart, ...], meaning_of_field("What moves if what is concerned is placed anew at once.")
    ]
    steps: Annotated[
        tuple[SimulatedStepPart, ...], meaning_of_field("The passes that move something, as the fleet is configured.")
    ]
    objects: Annotated[tuple[SimulatedObjectPart, ...], meaning_of_field("The objects that are concerned.")]
    refusal: Annotated[
        GuardRefusalPart | None,
        meaning_of_field("The guard that refuses a pass, after which nothing goes on; null where none does."),
    ]
    next: Annotated[
        str | None, meaning_of_field("When something happens by itself after the horizon; null where nothing does.")
    ]
    notes: Annotated[tuple[str, ...], meaning_of_field("Notes of failover, such as on too many failures at once.")]
    cost: SimulatedCost = UNSET
    facts: Annotated[tuple[FactAgePart, ...], meaning_of_field("The age of what is known of each cluster.")]
    assumptions: Annotated[tuple[str, ...], meaning_of_field("What the answer takes for granted.")]


def simulation_document(
    outcome: SimulationOutcome,
    *,
    source: str,
    added: Sequence[str] = (),
) -> SimulationDocument:
    """Return the answer of a simulation as a document."""
    simulation, refusal = outcome.simulation, outcome.refusal
    previous = simulation.base.inputs.previous
    return SimulationDocument(
        source=source,
        previous=previous.commit if previous else "",
        now=instant_text(simulation.base.at),
        horizon=instant_text(simulation.horizon),
        supposed=supposed_words(simulation.alterations, added),
        ideal=tuple(map(movement_part, outcome.ideal)),
        steps=tuple(
            SimulatedStepPart(at=instant_text(each.at), movements=tuple(map(movement_part, each.movements)))
            for each in outcome.steps
        ),
        objects=tuple(map(_object_part, outcome.objects)),
        refusal=GuardRefusalPart(at=instant_text(outcome.refused_at), message=refusal.message, hint=refusal.hint)
        if refusal is not None and outcome.refused_at is not None
        else None,
        next=instant_text(outcome.next_flip.at) if outcome.next_flip else None,
        notes=outcome.notes,
        cost=simulated_cost_part(simulation),
        facts=tuple(map(fact_age_part, outcome.facts)),
        assumptions=assumptions_of_simulation(outcome),
    )


def fact_age_part(each: FactAge) -> FactAgePart:
    """Return the age of what is known of a cluster as a part of documents."""
    return FactAgePart(
        cluster=each.cluster,
        observed_at=each.observed_at,
        age_seconds=each.seconds,
        has_capacity=each.has_capacity,
    )


def _object_part(each: SimulatedObject) -> SimulatedObjectPart:
    return SimulatedObjectPart(
        object=str(each.ref),
        asked=each.asked,
        before=dict(each.before),
        ideal=dict(each.ideal),
        after=dict(each.after),
        missing=each.missing,
        missing_ideally=each.missing_ideally,
        missing_before=each.missing_before,
        unplaced=each.is_unplaced or each.is_unplaced_ideally,
        reason=each.reason or each.reason_ideally,
        stopped_by_quota=each.is_stopped_by_quota,
        down=tuple(
            DowntimePart(
                since=instant_text(down.since),
                until=instant_text(down.until) if down.until else None,
                replicas=down.replicas,
            )
            for down in each.down
        ),
        lost=UNSET
        if each.lost is None
        else LostCopiesPart(
            clusters=dict(each.lost.clusters),
            remaining=each.lost.remaining,
            state=each.lost.state,
            is_duplicated=each.lost.is_duplicated,
        ),
    )
