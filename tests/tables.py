"""Tables whose rows one test goes through: to report a row of a pure function takes longer than to test it."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest


def each_row(
    names: str | tuple[str, ...], table: Iterable[Any], *, ids: Callable[[Any], object] | Sequence[object] | None = None
) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Call a test with every row of a table, as ``pytest.mark.parametrize`` would; one that fails keeps none from it.

    What is raised has the errors of all rows that failed, each with the name of its row.
    """
    arguments = tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else names
    rows = tuple(table)

    def decorated(test: Callable[..., None]) -> Callable[[], None]:
        def every_row() -> None:
            failures = list[BaseException]()
            for number, row in enumerate(rows):
                values = row if len(arguments) > 1 else (row,)
                try:
                    test(**dict(zip(arguments, values, strict=True)))
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - raised again below
                    error.add_note(f"row {number}: {_name(ids, number, values)}")
                    failures.append(error)
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(rows)} rows", failures)

        assert rows, "a table without rows claims nothing"
        for name in ("__name__", "__qualname__", "__module__", "__doc__"):
            setattr(every_row, name, getattr(test, name))
        return every_row

    return decorated


def _name(ids: Callable[[Any], object] | Sequence[object] | None, number: int, values: Sequence[Any]) -> str:
    if ids is None:
        return ", ".join(map(repr, values))
    return ", ".join(str(ids(value)) for value in values) if callable(ids) else str(ids[number])
