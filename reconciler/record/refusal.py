"""The refusal of a source commit, as the status branch records it: since when and why, and never what a file holds."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reconciler.publish.removal_guard import NOTHING_COMMITTED
from render.documents import emit
from render.errors import InputError, ReconcileError
from render.model import ARGOSY_API_VERSION
from render.words import counted

_MOST_DETAILS = 20


class SourceRefusal(Struct, frozen=True, kw_only=True):
    """A source commit that passes refuse: the exit code they end with, since when, and why.

    ``since`` is empty where no pass has recorded it. ``details`` are the places of problems, or what a guard counted.
    """

    source: str
    code: int
    message: str
    since: str = ""
    details: tuple[str, ...] = ()
    hint: str = ""

    @classmethod
    def of(cls, source: str, error: ReconcileError) -> "SourceRefusal":
        """Return the refusal that an error means, without anything that a problem quotes."""
        if isinstance(error, InputError):
            problems = error.problems
            message = f"{counted(len(problems), 'problem')}; run argosy validate"
            return cls(
                source=source, code=error.exit_code, message=message, details=_few(each.place for each in problems)
            )
        first, *lines = error.message.splitlines()
        return cls(
            source=source,
            code=error.exit_code,
            message=first.removesuffix(NOTHING_COMMITTED),
            details=_few(line.strip() for line in lines),
            hint=error.hint,
        )

    def recorded_at(self, now: str, before: "SourceRefusal | None") -> "SourceRefusal":
        """Return this as it is recorded: since the first pass that refused this source, or now."""
        return replace(self, since=before.since if before is not None and before.source == self.source else now)

    def __str__(self) -> str:
        since = f" since {self.since}" if self.since else ""
        return f"source {self.source[:12]} is refused{since}: {self.message}"

    @property
    def sentences(self) -> tuple[str, ...]:
        """The refusal and its details, a line each."""
        return (str(self), *(f"  {each}" for each in self.details))

    @property
    def lines(self) -> tuple[str, ...]:
        """The refusal in full: the sentence, its details and the hint."""
        return (*self.sentences, f"  hint: {self.hint}") if self.hint else self.sentences


def _few(details: Iterable[str]) -> tuple[str, ...]:
    found = tuple(details)
    more = (f"and {len(found) - _MOST_DETAILS} more",) if len(found) > _MOST_DETAILS else ()
    return found[:_MOST_DETAILS] + more


def plain_refusal(refusal: SourceRefusal) -> dict[str, Any]:
    """Return a refusal as plain data."""
    return {
        "source": refusal.source,
        "since": refusal.since or None,
        "code": refusal.code,
        "message": refusal.message,
        "details": list(refusal.details),
        "hint": refusal.hint,
    }


def refusal_file(refusal: SourceRefusal) -> bytes:
    """Return a refusal as its file."""
    return emit({"apiVersion": ARGOSY_API_VERSION, "kind": "SourceRefusal", **plain_refusal(refusal)})


def parse_refusal(value: Mapping[str, Any]) -> SourceRefusal:
    """Read the object of the file back, which has no fault."""
    return SourceRefusal(
        source=value["source"],
        since=value["since"],
        code=value["code"],
        message=value["message"],
        details=tuple(value["details"]),
        hint=value["hint"],
    )
