"""Text in colours, by Rich: loaded where something is printed on a terminal that has them."""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby

from rich.color import ColorSystem
from rich.style import Style

from .cleaning import safe_for_terminal
from .styled_text import StyledText


def painted(parts: Iterable[str]) -> str:
    """Return the parts of a text for a terminal, with the codes of their styles.

    All of it is cleaned as other text is. Where that changes a part that has styles, their places are others, and it
    has none then: a table has cleaned its cells before.
    """

    def texts() -> Iterator[str]:
        for is_styled, group in groupby(parts, key=lambda part: isinstance(part, StyledText)):
            several = tuple(group)
            yield from map(_painted_part, several) if is_styled else (safe_for_terminal("".join(several)),)

    return "".join(texts())


def in_style(text: str, style: str) -> str:
    r"""Return a text in one style.

    >>> in_style("ok", "green")
    '\x1b[32mok\x1b[0m'
    """
    # The sixteen colours that each terminal has: those that its owner chose, legible on the ground chosen with them.
    return _parsed_style(style).render(text, color_system=ColorSystem.STANDARD)


def _painted_part(part: str) -> str:
    clean = safe_for_terminal(part)
    return "".join(_painted_pieces(part)) if isinstance(part, StyledText) and clean == part else clean


def _painted_pieces(text: StyledText) -> Iterator[str]:
    place = 0
    for start, end, style in text.spans:
        yield text[place:start]
        yield in_style(text[start:end], style)
        place = end
    yield text[place:]


@cache
def _parsed_style(style: str) -> Style:
    return Style.parse(style)
