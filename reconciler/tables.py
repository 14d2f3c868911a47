"""Tables as kubectl prints them: columns of equal width, two spaces apart, nothing behind the last."""

from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with its header; every line ends with a newline.

    >>> print(table(("NAME", "READY"), [("member1", "True")]), end="")
    NAME      READY
    member1   True
    """
    lines = [tuple(header), *(tuple(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "".join(
        "   ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() + "\n"
        for line in lines
    )
