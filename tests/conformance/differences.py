"""Where this code answers otherwise than Karmada on purpose: at most ten rules, never a list of cases."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Difference:
    """A rule that explains failures of one kind: what it covers, and why the answer differs."""

    kind: str
    name: str
    why: str
    covers: Callable[[dict[str, Any], str], bool]


DIFFERENCES: tuple[Difference, ...] = ()
