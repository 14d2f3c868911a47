"""The rows of the tables of an apply: as they are kept, and as a terminal shows them, whichever that is by then."""

from collections.abc import Iterator

from msgspec import Struct

from reconciler.console.tables import text_table

_HEADER = ("CLUSTER", "UNCHANGED", "WRITTEN", "DELETED", "KEPT", "FAILED", "STATE")
_PROBLEMS = ("OBJECT", "CLUSTER", "ACTION", "REASON", "MESSAGE")


class ReportRows(Struct, frozen=True, kw_only=True):
    """The rows of the tables of an apply, which are laid out where they are printed, and the hints below them.

    ``clusters`` says how many objects were written, deleted, kept or failed, and how it ended; many clusters in which
    all went well have one row. ``problems`` is what is not as the commit says, with the reason, what failed first: for
    three objects or more that have it in common, one row that counts them. Each hint is there once.
    """

    clusters: tuple[tuple[str, ...], ...] = ()
    problems: tuple[tuple[str, ...], ...] = ()
    hints: tuple[str, ...] = ()

    def text(self) -> Iterator[str]:
        """Yield the tables and the hints; nothing where there are no rows."""
        if self.clusters:
            yield text_table(_HEADER, self.clusters)
        if self.problems:
            yield "\n"
            yield text_table(_PROBLEMS, self.problems)
        if self.hints:
            yield "\n"
            yield from (f"{line}\n" for line in self.hints)
