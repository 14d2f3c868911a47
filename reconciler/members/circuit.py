"""Leaving a cluster alone that keeps failing: each failure doubles the time until it is tried again.

The first thing a pass asks of a cluster is a question with a short time limit, so trying again costs little.
"""

from dataclasses import dataclass

from .exchange import FailureKind

FIRST_SECONDS = 15.0
LONGEST_SECONDS = 600.0
_TRIPPING = frozenset(
    {
        FailureKind.UNREACHABLE,
        FailureKind.UNAUTHORIZED,
        FailureKind.CREDENTIALS,
        FailureKind.CERTIFICATE,
        FailureKind.UNAVAILABLE,
        FailureKind.DEADLINE,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaker:
    """How often in a row a cluster could not be used, and until when it is left alone."""

    failures: int = 0
    retry_at: float = 0.0

    def is_open(self, now: float) -> bool:
        """Whether the cluster is to be left alone now."""
        return now < self.retry_at

    def after(self, failure: FailureKind | None, now: float, spread: float) -> "Breaker":
        """Return the breaker after a pass; ``spread`` from 0.5 to 1 keeps clusters from being retried all at once."""
        if failure not in _TRIPPING:
            return Breaker()
        pause = min(FIRST_SECONDS * 2**self.failures, LONGEST_SECONDS)
        return Breaker(failures=self.failures + 1, retry_at=now + pause * spread)
