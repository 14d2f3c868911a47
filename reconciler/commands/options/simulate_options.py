"""The options of ``argosy simulate`` beside those that say what is supposed."""

from datetime import datetime

from msgspec import Struct, field

from reconciler.guards.allowances import Allowed


class SimulateOptions(Struct, frozen=True, kw_only=True):
    """The options of ``argosy simulate`` beside what is supposed: of which source, and how the answer is told."""

    namespace: str = ""
    rev: str = ""
    at: str = ""
    worktree: bool = False
    now: datetime | None = None
    horizon: float = 3600.0
    allowed: Allowed = field(default_factory=Allowed)
    explained: str = ""
    n_minus: int | None = None
    by: str = "cluster"
    headroom: str = ""
    output: str = "text"
