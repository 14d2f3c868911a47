"""Messages: what one channel is told at once."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from .conditions import Notice, SourceVerdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """Notices of one pass over a fleet, or its verdict on the source; ``remote`` is the address of that."""

    id: str
    fleet: str
    source: str
    rendered: str
    remote: str = ""
    notices: Sequence[Notice] = field(default=())
    verdict: SourceVerdict | None = None
