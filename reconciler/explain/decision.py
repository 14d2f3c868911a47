"""A scheduling decision as sections: the clusters that passed or were refused, then the division in numbers."""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from reconciler.console.cluster_lists import shortened_cluster_list
from reconciler.console.table_layout import DITTO
from reconciler.console.text import Section, section_with_table
from render.quantity import QuantityFormat, format_quantity
from render.scheduling.decisions import SUCCESS_MESSAGE, Trigger
from render.scheduling.explanation import (
    Candidate,
    ExplainedAttempt,
    ExplainedDivision,
    Explanation,
    Rejected,
    ScoredRegion,
)
from render.scheduling.replicas import Mode
from render.scheduling.requests import CPU
from render.scheduling.rules import BEYOND_OVERFLOW, Strategy
from render.words import first_few

from .capacity import ClusterRoom, ResourceRoom

_WHY = {
    Trigger.PLACEMENT_CHANGED: "its placement is new or has changed",
    Trigger.REPLICAS_CHANGED: "its replicas have changed",
    Trigger.RESCHEDULE_TRIGGERED: "rescheduling was asked for",
    Trigger.TARGET_NOT_ALLOWED: "the source no longer allows a cluster that held it",
    Trigger.DUPLICATED_OR_NON_WORKLOAD: "nothing is divided, so every pass decides it",
    Trigger.TERMINATING_TARGET_CLUSTERS: "a cluster that held it is going",
    Trigger.REFUSAL_OUTDATED: "what it was refused for is not asked for any more, so it keeps what it holds",
    Trigger.NONE: "nothing asked for a new decision, so it stays as it is; decided now, this would be taken",
}
_MODE = {
    Mode.COPY: "every chosen cluster runs all of them",
    Mode.STATIC: "{replicas} by static weight",
    Mode.FRESH: "all {replicas} anew, by free room and what each held",
    Mode.SCALE_UP: "{replicas} by free room",
    Mode.SCALE_DOWN: "down to {replicas}, by what each held",
    Mode.WHOLE: "all of them in one cluster, where the indexes of its pods are counted from 0",
    Mode.STEADY: "kept: the clusters hold as many as are asked for",
}
_GRADES = ", but {} by its resource model, in which a node has the least of its grade (argosy explain cluster/{})"
_VOTES = {Mode.STATIC: "Weight", Mode.FRESH: "Room", Mode.SCALE_UP: "Room", Mode.SCALE_DOWN: "Held"}


class DecisionView(Struct, frozen=True, kw_only=True):
    """The part of a decision to show: one cluster ("": all), divisions seat by seat, and a sentence ``before`` it.

    ``facts`` says when facts were recorded. ``left`` are the clusters that it was evicted from in this pass.
    ``is_packed``: replicas go to as few clusters as hold them. ``counts_sets``: room is for full sets of components.
    """

    cluster: str = ""
    seats: bool = False
    before: tuple[str, ...] = ()
    facts: str = ""
    left: tuple[str, ...] = ()
    is_packed: bool = False
    counts_sets: bool = False


def decision_sections(explanation: Explanation, rooms: Sequence[ClusterRoom], view: DecisionView) -> Iterator[Section]:
    """Yield the sections of a decision."""
    yield Section(
        title=f"Scheduling: {explanation.strategy}", before=(*view.before, *_heading_lines(explanation, view.left))
    )
    for attempt in explanation.attempts:
        yield from _sections_of_attempt(attempt, replace(view, is_packed=explanation.strategy is Strategy.AGGREGATED))
    if explanation.attempts:
        yield from _capacity_sections([each for each in rooms if view.cluster in {"", each.cluster}], view)


def _heading_lines(explanation: Explanation, left: Sequence[str]) -> Iterator[str]:
    yield f"{explanation.trigger}: {trigger_in_words(explanation.trigger, left)}."
    condition = explanation.decision.condition
    if condition is not None and condition.message != SUCCESS_MESSAGE:
        yield f"{condition.reason}: {condition.message}"
    if explanation.decision.hint:
        yield explanation.decision.hint
    if explanation.terminating:
        yield f"No candidates, because they are being deleted: {shortened_cluster_list(explanation.terminating)}."


def _sections_of_attempt(attempt: ExplainedAttempt, view: DecisionView) -> Iterator[Section]:
    group = f" in affinity group {attempt.affinity}" if attempt.affinity else ""
    if attempt.refusal and group:
        yield Section(title=f"Affinity group {attempt.affinity} fails", before=(attempt.refusal.message,))
    candidates = [each for each in attempt.candidates if view.cluster in {"", each.cluster}]
    if candidates:
        header = ("CLUSTER", "RESULT", "REPLICAS", "HELD", "TIER", "SCORE", "ROOM", "WHY NOT", "IN SPITE OF")
        yield section_with_table(f"Clusters that pass every filter{group}", header, map(_candidate_cells, candidates))
    rejected = [each for each in attempt.rejected if view.cluster in {"", each.cluster}]
    if rejected:
        rows_of_rejected = [row for each in _rows_by_reasons(rejected) for row in each]
        yield section_with_table(f"Clusters refused{group}", ("CLUSTERS", "FILTER", "REASON"), rows_of_rejected)
    if attempt.regions:
        yield section_with_table(
            "Regions",
            ("REGION", "RESULT", "SCORE", "CLUSTERS, BEST FIRST", "WHY NOT"),
            map(_region_cells, attempt.regions),
        )
    for division in attempt.divisions:
        yield _division_section(division, is_packed=view.is_packed)
        if view.seats and division.replicas:
            yield _seats_section(division)


def _candidate_cells(each: Candidate) -> tuple[str, ...]:
    chosen = "chosen" if each.is_selected else "not chosen"
    tier = "" if each.tier in {0, BEYOND_OVERFLOW} else f"overflow {each.tier}"
    room, held = ("" if number is None else str(number) for number in (each.room, each.held))
    score = str(each.score or "")
    return each.cluster, chosen, str(each.replicas or ""), held, tier, score, room, each.why, each.in_spite_of


def _rows_by_reasons(rejected: Iterable[Rejected]) -> Iterator[list[tuple[str, str, str]]]:
    """Yield the rows of the clusters that were refused for the same reasons, a row per reason."""
    names: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for each in rejected:
        names.setdefault(each.reasons, []).append(each.cluster)
    for reasons, clusters in names.items():
        first = shortened_cluster_list(clusters)
        yield [(first if not number else DITTO, *reason) for number, reason in enumerate(reasons)]


def _region_cells(each: ScoredRegion) -> tuple[str, ...]:
    return (
        each.name,
        "chosen" if each.is_chosen else "not chosen",
        str(each.score),
        shortened_cluster_list(each.clusters),
        each.why,
    )


def _division_section(division: ExplainedDivision, *, is_packed: bool) -> Section:
    rows = [_vote_cells(each.cluster, each.votes, each.base, each.more) for each in division.votes]
    votes, base, more = (sum(getattr(each, name) for each in division.votes) for name in ("votes", "base", "more"))
    if division.mode is not Mode.COPY:
        rows.append(_vote_cells("sum", votes, base, more))
    words = division_in_words(division.mode, division.replicas, is_on_top=bool(base and more))
    header = ("CLUSTER", heading_of_votes(division.mode).upper(), "BASE", "MORE", "REPLICAS")
    rules = tie_rules_in_words(division.replicas, is_descending=division.is_descending, is_packed=is_packed)
    return section_with_table(f"Division: {words}", header, rows, before=rules)


def trigger_in_words(trigger: str, left: Sequence[str] = ()) -> str:
    """Return why a decision was taken; ``left`` are the clusters that the object was evicted from before it."""
    return f"it was evicted from {first_few(left)}" if left else _WHY[Trigger(trigger)]


def division_in_words(mode: str, replicas: int, *, is_on_top: bool) -> str:
    """Return how replicas are divided; ``is_on_top``: clusters keep what each held, and get more."""
    words = _MODE[Mode(mode)].format(replicas=replicas)
    return f"{words}, on top of what each held" if is_on_top else words


def heading_of_votes(mode: str) -> str:
    """Return what replicas are divided by, as the heading of a column."""
    return _VOTES.get(Mode(mode), "Votes")


def tie_rules_in_words(replicas: int, *, is_descending: bool, is_packed: bool) -> Iterator[str]:
    """Yield the rules by which a division chooses among equal clusters; none where nothing is divided."""
    if is_packed and replicas:
        yield "Among as few clusters as have room for all: those that hold replicas already, then the roomiest."
    if replicas:
        name = "greater" if is_descending else "smaller"
        yield f"A tie goes to the cluster with fewer of them, then to the {name} name."


def _vote_cells(name: str, votes: int, base: int, more: int) -> tuple[str, ...]:
    """Return a row; base and more have cells of their own only where a cluster has both."""
    is_both = bool(base and more)
    return name, str(votes or ""), str(base) if is_both else "", str(more) if is_both else "", str(base + more)


def _seats_section(division: ExplainedDivision) -> Section:
    rows = [(str(each.number), each.cluster, f"{each.average:g}", " ".join(each.tied)) for each in division.seats()]
    before = ("Each goes to the greatest average: votes / (2 x replicas given + 1).",)
    return section_with_table("Seat by seat", ("REPLICA", "CLUSTER", "AVERAGE", "TIED WITH"), rows, before=before)


def _capacity_sections(rooms: Iterable[ClusterRoom], view: DecisionView) -> Iterator[Section]:
    rows = [
        (
            each.cluster,
            each.origin,
            str(each.by_summary),
            str(each.taken or ""),
            str(each.held or ""),
            str(each.room),
            ", ".join(map(_resource_room_in_words, each.resources))
            + (_GRADES.format(each.by_summary, each.cluster) if each.by_grades else ""),
        )
        for each in rooms
    ]
    if rows:
        header = ("CLUSTER", "CAPACITY", "FITS", "TAKEN", "HELD", "ROOM", "RESOURCES")
        rule = "Room is what fits by the cluster's summary, less what this fleet has taken of it, plus what it held."
        sets = ("It counts full sets of the components, which go to one cluster together.",) if view.counts_sets else ()
        facts = (f"What was observed is as recorded in {view.facts}.",) if view.facts else ()
        yield section_with_table("Capacity", header, rows, before=(rule, *sets, *facts))


def _resource_room_in_words(each: ResourceRoom) -> str:
    over = max(each.used - each.allocatable, 0)
    amounts = each.allocatable, max(each.allocatable - each.used, 0), each.request, over
    allocatable, free, request, excess = (_quantity_text(each.resource, amount) for amount in amounts)
    left = allocatable if free == allocatable else f"{free} of {allocatable}"
    left += f", {excess} too many" if over else ""
    return f"{each.resource} {left}: {each.fits} of {request}"


def _quantity_text(resource: str, units: int) -> str:
    """Return so many units of a resource in Kubernetes' notation."""
    if resource == CPU:
        return format_quantity(Fraction(units, 1000))
    notation = QuantityFormat.BINARY_SI if resource == "memory" else QuantityFormat.DECIMAL_SI
    return format_quantity(Fraction(units), notation)
