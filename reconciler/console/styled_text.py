"""Text with styles for some of its characters: the same text wherever it is joined, written or compared.

Whoever prints it as a part of its own shows the styles where the output has colours (``painting``); joined with other
text it is that text alone, so that nothing can take a style for a character.
"""

from collections.abc import Iterable
from typing import NamedTuple, Self

TITLE, FAINT = "bold", "dim"
"""The styles of what is no state: titles, and what is said beside something."""


class Span(NamedTuple):
    """A style from one character of a text on, up to another."""

    start: int
    end: int
    style: str


class StyledText(str):
    """A text and its spans, which follow one another."""

    __slots__ = ("spans",)

    spans: tuple[Span, ...]

    def __new__(cls, text: str, spans: Iterable[Span] = ()) -> Self:
        """Return the text with these spans."""
        styled = super().__new__(cls, text)
        styled.spans = tuple(spans)
        return styled

    @classmethod
    def of_title(cls, text: str) -> Self:
        """Return a title."""
        return cls(text, (Span(0, len(text.rstrip("\n")), TITLE),))

    @classmethod
    def of_pieces(cls, pieces: Iterable[tuple[str, str]]) -> Self:
        """Return the text of pieces, each with its style ("": it has none).

        >>> StyledText.of_pieces([("a", ""), ("bc", "bold")]).spans
        (Span(start=1, end=3, style='bold'),)
        """
        texts, spans, place = [], [], 0
        for text, style in pieces:
            if style and text:
                spans.append(Span(place, place + len(text), style))
            texts.append(text)
            place += len(text)
        return cls("".join(texts), spans)
