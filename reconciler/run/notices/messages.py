"""Messages: what one channel is told at once."""

from collections.abc import Sequence

from msgspec import Struct

from .conditions import Notice, SourceVerdict


class Message(Struct, frozen=True, kw_only=True):
    """Notices of one pass over a fleet, or its verdict on the source; ``remote`` is the address of that."""

    id: str
    fleet: str
    source: str
    rendered: str
    remote: str = ""
    notices: Sequence[Notice] = ()
    verdict: SourceVerdict | None = None
