"""The refusal of a source commit: since when and why, and never what a file holds."""

from typing import Annotated, ClassVar

from msgspec import Meta
from msgspec.structs import replace

from .branch_file import BranchFile

_LARGEST_CODE = 255


class SourceRefusal(BranchFile, frozen=True, kw_only=True, omit_defaults=False):
    """A source commit that passes refuse: the exit code they end with, since when, and why.

    ``since`` is empty where no pass has recorded it. ``details`` are the places of problems, or what a guard counted.
    """

    PATH: ClassVar[str] = "refusal.yaml"
    KIND: ClassVar[str] = "SourceRefusal"
    ABOUT: ClassVar[str] = "While a newer source is refused: which, since when, and why."

    source: str
    since: str = ""
    code: Annotated[int, Meta(ge=1, le=_LARGEST_CODE)]
    message: str
    details: tuple[str, ...] = ()
    hint: str = ""

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
