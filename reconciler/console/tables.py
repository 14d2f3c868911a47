"""Tables as kubectl prints them: plain in a pipe; on a terminal as wide as that is, with marks of states and colours.

1. On a terminal, cells are cleaned before anything is measured, and a time is told by its age.
2. Where the table is wider than there is room, the widest columns are wrapped first, those that answer last.
3. Of a text that takes many lines even so, the first ones are shown; so are the first columns of a terminal that is
   too narrow for all. Both end in an ellipsis. Nothing is cut off in a pipe.
"""

from collections.abc import Iterable, Sequence

from .styled_text import StyledText
from .table_layout import layout_of_table
from .terminal import output_screen


def text_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, width: int | None = None, indent: str = ""
) -> StyledText:
    """Return a table with its header; every line ends with a newline, and begins with the indent.

    Cells are wrapped where the table has more columns than ``width`` (None: than the terminal has; 0: than anything).

    >>> print(text_table(("NAME", "READY"), [("member1", "True")]), end="")
    NAME      READY
    member1   True
    >>> print(text_table(("NAME", "WHY"), [("member1", "it does not answer")], width=20), end="")
    NAME      WHY
    member1   it does
              not answer
    """
    screen = output_screen()
    limit = screen.width if width is None else width
    limit = max(limit - len(indent), 1) if limit else 0
    if screen.has_marks:
        from .table_looks import dressed_table

        return dressed_table(header, rows, screen, limit=limit, indent=indent)
    lines = [tuple(header), *(tuple(row) for row in rows)]
    layout = layout_of_table(lines, limit)
    return StyledText(
        "".join(indent + layout.line(part) + "\n" for line in lines for part in layout.parts_of_row(line))
    )
