"""The options of ``argosy reconcile``, apart from what carries them out, which takes long to import."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcileOptions:
    """The options of ``argosy reconcile``."""

    rev: str = ""
    bootstrap: bool = False
    accept_rewind: bool = False
    allowed: tuple[str, ...] = ()
    dry_run: bool = False
    output: str = "text"
