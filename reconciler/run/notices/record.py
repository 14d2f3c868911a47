"""The record of what was told, ``told.yaml`` on the status branch: the conditions that hold, and what is to be sent.

A message stands in it from before it is sent until it was taken. Whoever sends it puts off its next try first, so that
of several processes one sends it, and after a restart it is neither lost nor sent twice; only one that was killed
between sending and saying so is sent again, under the same id.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.forge.commit_statuses import CommitState
from render.documents import DocumentErrors, emit, parse_documents
from render.model import ARGOSY_API_VERSION

from .conditions import Notice, SourceVerdict

TOLD_PATH = "told.yaml"
MOST_TRIES = 30
_FIRST_RETRY, _LONGEST_RETRY = 30, 3600
_MOST_UNSENT = 20
"""Messages that wait for one channel; the oldest makes way."""
_CLAIM_SECONDS = 60


class Unsent(Struct, frozen=True, kw_only=True):
    """A message that one channel has not taken yet; ``next_try`` is when it is tried again."""

    channel: str
    id: str
    source: str
    rendered: str
    notices: tuple[Notice, ...] = ()
    verdict: SourceVerdict | None = None
    tries: int = 0
    next_try: int = 0

    def claimed(self, now: int) -> "Unsent":
        """Return the message as one that is about to be sent: nobody else tries it meanwhile."""
        return replace(self, tries=self.tries + 1, next_try=now + _CLAIM_SECONDS)

    def put_off(self, now: int) -> "Unsent":
        """Return the message after a try that failed: later each time."""
        return replace(self, next_try=now + min(_FIRST_RETRY << min(self.tries - 1, 20), _LONGEST_RETRY))

    def plain(self) -> dict[str, Any]:
        """Return this as plain data."""
        verdict = {"state": str(self.verdict.state), "text": self.verdict.text} if self.verdict else None
        notices = [{"text": each.text, "solved": each.is_solved} for each in self.notices]
        found = {"notices": notices, "status": verdict}
        return {
            "channel": self.channel,
            "id": self.id,
            "source": self.source,
            "rendered": self.rendered,
            **{name: value for name, value in found.items() if value},
            "tries": self.tries,
            "nextTry": self.next_try,
        }

    @classmethod
    def parse(cls, plain: Mapping[str, Any]) -> "Unsent":
        """Read it back; KeyError, TypeError, ValueError or AttributeError where it is something else."""
        status = plain.get("status")
        return cls(
            channel=str(plain["channel"]),
            id=str(plain["id"]),
            source=str(plain["source"]),
            rendered=str(plain["rendered"]),
            notices=tuple(
                Notice(text=str(each["text"]), is_solved=bool(each["solved"])) for each in plain.get("notices", ())
            ),
            verdict=SourceVerdict(state=CommitState(status["state"]), text=str(status["text"])) if status else None,
            tries=int(plain["tries"]),
            next_try=int(plain["nextTry"]),
        )


class Told(Struct, frozen=True, kw_only=True):
    """The record: conditions that people were told of, the last verdict of each channel, and what is to be sent."""

    conditions: Mapping[str, str] = field(default_factory=dict)
    verdicts: Mapping[str, str] = field(default_factory=dict)
    unsent: tuple[Unsent, ...] = ()

    @property
    def next_try(self) -> int | None:
        """The time at which the next message is due; None where none waits."""
        return min((each.next_try for each in self.unsent), default=None)

    def file(self) -> bytes:
        """Return the record as its file."""
        found = {
            "verdicts": dict(sorted(self.verdicts.items())),
            "unsent": [each.plain() for each in self.unsent],
        }
        conditions = dict(sorted(self.conditions.items()))
        rest = {name: value for name, value in found.items() if value}
        return emit({"apiVersion": ARGOSY_API_VERSION, "kind": "Told", "conditions": conditions, **rest})

    @classmethod
    def parse(cls, content: bytes) -> "Told":
        """Read it back; what is not as passes write it is none."""
        try:
            value = parse_documents(content)[0].value if content else {}
        except (DocumentErrors, IndexError):
            return cls()
        if not isinstance(value, dict):
            return cls()
        try:
            unsent = tuple(Unsent.parse(each) for each in value.get("unsent", ()))
        except (KeyError, TypeError, ValueError, AttributeError):
            unsent = ()
        return cls(conditions=_texts(value.get("conditions")), verdicts=_texts(value.get("verdicts")), unsent=unsent)

    def adding(self, new: Iterable[Unsent]) -> "Told":
        """Return the record with more to send; a channel that takes nothing keeps only the newest."""
        unsent = (*self.unsent, *new)
        names = {each.channel for each in unsent}
        kept = {id(each) for name in names for each in [one for one in unsent if one.channel == name][-_MOST_UNSENT:]}
        return replace(self, unsent=tuple(each for each in unsent if id(each) in kept))

    def claiming(self, now: int, channels: Iterable[str]) -> "tuple[Told, tuple[Unsent, ...]]":
        """Return the record with all that is due put off, and what is ours to send: due, and for one of the channels.

        What waits for another channel is forgotten, for nobody has that any more.
        """
        known = frozenset(channels)
        claimed = {each.id: each.claimed(now) for each in self.unsent if each.next_try <= now and each.channel in known}
        unsent = tuple(claimed.get(each.id, each) for each in self.unsent if each.channel in known)
        return replace(self, unsent=unsent), tuple(claimed.values())

    def after(self, tried: Iterable[Unsent], is_taken: Callable[[Unsent], bool], now: int) -> "Told":
        """Return the record after tries: what was taken is gone, and so is what was tried too often."""
        over = {each.id for each in tried if is_taken(each) or each.tries >= MOST_TRIES}
        failed = {each.id for each in tried} - over
        unsent = (each.put_off(now) if each.id in failed else each for each in self.unsent if each.id not in over)
        return replace(self, unsent=tuple(unsent))


def _texts(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {key: text for key, text in value.items() if isinstance(key, str) and isinstance(text, str)}
