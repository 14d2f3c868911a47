"""The record of what was told, ``told.yaml`` on the status branch: the conditions that hold, and what is to be sent.

A message stands in it from before it is sent until it was taken. Whoever sends it puts off its next try first, so that
of several processes one sends it, and after a restart it is neither lost nor sent twice; only one that was killed
between sending and saying so is sent again, under the same id.
"""

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import ClassVar

from msgspec import Struct, field
from msgspec.structs import replace

from render.model import Manifest

from .branch_file import BranchFile, FileFault, object_of_content

MOST_TRIES = 30
_FIRST_RETRY, _LONGEST_RETRY = 30, 3600
_MOST_UNSENT = 20
"""Messages that wait for one channel; the oldest makes way."""
_CLAIM_SECONDS = 60


class Notice(Struct, frozen=True, kw_only=True):
    """One change to tell people of; ``is_solved``: a condition is over."""

    text: str
    is_solved: bool = field(name="solved", default=False)

    def __str__(self) -> str:
        return f"solved: {self.text}" if self.is_solved else self.text


class CommitState(StrEnum):
    """The state of a commit for its forge: what it asks for is so, is not, or may come to be."""

    SUCCESS = "success"
    FAILURE = "failure"
    PENDING = "pending"


class SourceVerdict(Struct, frozen=True, kw_only=True):
    """The verdict of a pass on its source commit, for the forge that has it."""

    state: CommitState
    text: str

    def __str__(self) -> str:
        return f"{self.state}: {self.text}"


class Unsent(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message that one channel has not taken yet; ``next_try`` is when it is tried again."""

    channel: str
    id: str
    source: str
    rendered: str
    notices: tuple[Notice, ...] = ()
    verdict: SourceVerdict | None = field(name="status", default=None)
    tries: int
    next_try: int = field(name="nextTry")

    def claimed_notice(self, now: int) -> "Unsent":
        """Return the message as one that is about to be sent: nobody else tries it meanwhile."""
        return replace(self, tries=self.tries + 1, next_try=now + _CLAIM_SECONDS)

    def postponed_notice(self, now: int) -> "Unsent":
        """Return the message after a try that failed: later each time."""
        return replace(self, next_try=now + min(_FIRST_RETRY << min(self.tries - 1, 20), _LONGEST_RETRY))


class NoticeRecord(BranchFile, frozen=True, kw_only=True):
    """The record: conditions that people were told of, the last verdict of each channel, and what is to be sent."""

    PATH: ClassVar[str] = "told.yaml"
    KIND: ClassVar[str] = "Told"
    ABOUT: ClassVar[str] = (
        "What `argosy run --notify` sent to people and is not over yet, and messages that no channel took yet."
    )

    conditions: dict[str, str] = field(default_factory=dict)
    verdicts: dict[str, str] = field(default_factory=dict)
    unsent: tuple[Unsent, ...] = ()

    @property
    def next_try(self) -> int | None:
        """The time at which the next message is due; None where none waits."""
        return min((each.next_try for each in self.unsent), default=None)

    def plain(self) -> Manifest:
        """Return the object in the file, which has conditions also where there are none."""
        return {**super().plain(), "conditions": self.conditions}

    @classmethod
    def read_or_none(cls, content: bytes) -> "NoticeRecord":
        """Read the record back; one that Argosy did not write is as good as none, but a newer one is a GitError."""
        try:
            return cls.of(object_of_content(content)) if content else cls()
        except FileFault as fault:
            if fault.is_newer:
                raise fault.at(cls.PATH) from fault
            return cls()

    def record_with_new(self, new: Iterable[Unsent]) -> "NoticeRecord":
        """Return the record with more to send; a channel that takes nothing keeps only the newest."""
        unsent = (*self.unsent, *new)
        names = {each.channel for each in unsent}
        kept = {id(each) for name in names for each in [one for one in unsent if one.channel == name][-_MOST_UNSENT:]}
        return replace(self, unsent=tuple(each for each in unsent if id(each) in kept))

    def record_with_claims_and_claimed(
        self, now: int, channels: Iterable[str]
    ) -> "tuple[NoticeRecord, tuple[Unsent, ...]]":
        """Return the record with all that is due put off, and what is ours to send: due, and for one of the channels.

        What waits for another channel is forgotten, for nobody has that any more.
        """
        known = frozenset(channels)
        claimed = {
            each.id: each.claimed_notice(now) for each in self.unsent if each.next_try <= now and each.channel in known
        }
        unsent = tuple(claimed.get(each.id, each) for each in self.unsent if each.channel in known)
        return replace(self, unsent=unsent), tuple(claimed.values())

    def record_after_tries(
        self, tried: Iterable[Unsent], is_taken: Callable[[Unsent], bool], now: int
    ) -> "NoticeRecord":
        """Return the record after tries: what was taken is gone, and so is what was tried too often."""
        over = {each.id for each in tried if is_taken(each) or each.tries >= MOST_TRIES}
        failed = {each.id for each in tried} - over
        unsent = (
            each.postponed_notice(now) if each.id in failed else each for each in self.unsent if each.id not in over
        )
        return replace(self, unsent=tuple(unsent))
