"""The answer of somebody who was asked, in a line, and why there is none."""

import hashlib

from msgspec import Struct

from reconciler.console.cleaning import safe_for_terminal

_LONGEST = 120
_DIGEST_LENGTH = 16


class NoAnswer(Exception):
    """Nobody answered what was asked; the text says why, as people read it."""


class CheckReply(Struct, frozen=True, kw_only=True):
    """The words of somebody who was asked: whether the check is met by them, and a line of them.

    ``is_answer`` is false where there was no answer, and ``value`` says why. ``digest`` is that of all that was said.
    """

    is_met: bool
    value: str
    digest: str = ""
    is_answer: bool = True

    @classmethod
    def of_content(cls, content: bytes, value: str, *, is_met: bool) -> "CheckReply":
        """Return an answer with its digest, and of its value as much as a line has room for."""
        return cls(
            is_met=is_met, value=line_of_text(value), digest=hashlib.sha256(content).hexdigest()[:_DIGEST_LENGTH]
        )


def line_of_text(text: str) -> str:
    r"""Return text as a line that anybody can be shown.

    >>> line_of_text("a\n\x1b[2K  b"), line_of_text("x" * 200)[-2:]
    ('a \\x1b[2K b', 'x…')
    """
    line = safe_for_terminal(" ".join(text[: 4 * _LONGEST].split()))
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
