"""Why a binding is where it is, as values: filters, order, regions, divisions, down to the single seat."""

from collections.abc import Iterator
from dataclasses import dataclass

from render.model import ObjectRef

from .decisions import Decision, Refusal, Trigger
from .replicas import Mode
from .rules import Strategy
from .webster import seat_by_seat


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A cluster that failed filters: each plugin with its reason, in their order."""

    cluster: str
    reasons: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A cluster that passed every filter, in the order of candidates.

    ``score`` and ``room`` decide the order after ``tier`` (the place in an overflow); ``room`` counts what the cluster
    ``held`` before, and is None where the placement never asks for it. ``replicas`` is what it gets.
    """

    cluster: str
    tier: int
    score: int
    room: int | None
    held: int | None
    is_selected: bool
    replicas: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRegion:
    """A region as a group: its clusters, best first, and its score; chosen if any of them is selected."""

    name: str
    clusters: tuple[str, ...]
    score: int
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """A cluster in a division: what it has already (``base``), the votes it is given more by, and how many more."""

    cluster: str
    base: int
    votes: int
    more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedDivision:
    """One division: in which mode, how many replicas, among which votes."""

    mode: Mode
    replicas: int
    votes: tuple[Vote, ...]
    is_descending: bool

    def seats(self) -> Iterator["ExplainedSeat"]:
        """Yield every replica as it is given, in order."""
        seats = seat_by_seat(self.replicas, [vote.votes for vote in self.votes], descending=self.is_descending)
        for number, seat in enumerate(seats, start=1):
            yield ExplainedSeat(
                number=number,
                cluster=self.votes[seat.party].cluster,
                average=seat.average,
                tied=tuple(self.votes[party].cluster for party in seat.tied),
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedSeat:
    """One replica of a division: who got it, by which average, and who was equal but for the tie rule."""

    number: int
    cluster: str
    average: float
    tied: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedAttempt:
    """One affinity group: who was rejected, who was a candidate, how replicas were divided, or why it failed."""

    affinity: str
    rejected: tuple[Rejected, ...]
    candidates: tuple[Candidate, ...]
    regions: tuple[ScoredRegion, ...]
    divisions: tuple[ExplainedDivision, ...]
    refusal: Refusal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A decision with all it rests on. ``terminating`` clusters were no candidates at all."""

    ref: ObjectRef
    trigger: Trigger
    strategy: Strategy
    decision: Decision
    attempts: tuple[ExplainedAttempt, ...]
    terminating: tuple[str, ...]
