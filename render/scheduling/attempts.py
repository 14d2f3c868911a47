"""One attempt: a binding, an affinity group, and everything found out on the way to its targets.

An attempt is a value; the scheduler takes its outcome from it, and so does whoever explains a decision.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from render.binding import Binding

from .decisions import Refusal, Trigger
from .filters import Filters
from .holdings import Holding
from .replicas import Division, Shares
from .rules import AffinityGroup, Rules
from .spread import Selection


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A binding as the scheduler works on it: its placement's rules, what it holds, how its ties break."""

    binding: Binding
    rules: Rules
    holding: Holding
    is_descending: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What one affinity group came to.

    ``selection`` is what spread constraints chose from and ``division`` what was divided, where it came to that;
    ``selected`` are the chosen clusters. ``outcome`` are the shares, or why there are none.
    """

    group: AffinityGroup
    filters: Filters
    selection: Selection | None = None
    selected: Sequence[int] = ()
    division: Division | None = None
    outcome: Shares | Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Deliberation:
    """Why a binding was taken up, and every attempt made for it, in order; the last one counts if it succeeded."""

    task: Task
    trigger: Trigger
    attempts: tuple[Attempt, ...] = ()

    @property
    def success(self) -> Attempt | None:
        """The attempt that found targets."""
        last = self.attempts[-1] if self.attempts else None
        return None if last is None or isinstance(last.outcome, Refusal) else last

    @property
    def refusal(self) -> Refusal | None:
        """The first failure, which is the answer when every group fails."""
        return next((each.outcome for each in self.attempts if isinstance(each.outcome, Refusal)), None)
