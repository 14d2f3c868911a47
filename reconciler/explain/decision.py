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
_VOTES = {Mode.STATIC: "WEIGHT", Mode.FRESH: "ROOM", Mode.SCALE_UP: "ROOM", Mode.SCALE_DOWN: "HELD"}


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
    why = f"it was evicted from {first_few(left)}" if left else _WHY[explanation.trigger]
    yield f"{explanation.trigger}: {why}."
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
        header = ("CLUSTER", "RESULT", "REPLICAS", "HELD", "TIER", "SCORE", "ROOM", "WHY NOT")
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
    return each.cluster, chosen, str(each.replicas or ""), held, tier, str(each.score or ""), room, each.why


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
    is_copied = division.mode is Mode.COPY
    rows = [_vote_cells(each.cluster, each.votes, each.base, each.more) for each in division.votes]
    votes, base, more = (sum(getattr(each, name) for each in division.votes) for name in ("votes", "base", "more"))
    if not is_copied:
        rows.append(_vote_cells("sum", votes, base, more))
    mode = _MODE[division.mode].format(replicas=division.replicas)
    title = f"Division: {mode}{', on top of what each held' if base and more else ''}"
    header = ("CLUSTER", _VOTES.get(division.mode, "VOTES"), "BASE", "MORE", "REPLICAS")
    return section_with_table(title, header, rows, before=_tie_rules_in_words(division, is_packed=is_packed))


def _tie_rules_in_words(division: ExplainedDivision, *, is_packed: bool) -> Iterator[str]:
    if is_packed and division.replicas:
        yield "Among as few clusters as have room for all: those that hold replicas already, then the roomiest."
    if division.replicas:
        name = "greater" if division.is_descending else "smaller"
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
