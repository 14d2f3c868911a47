"""A pytest plugin in the copy of a tree: runs the tests it is told to, and notes who reaches what and how all ended.

It imports nothing of ours, for it is copied: what it runs may be any tree.
"""

import json
import os
from collections.abc import Generator
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("MUTATIONS_FOLDER", "."))
REACHED, ENDED, CHOSEN = "reached.txt", "ended.txt", "chosen.json"
_noted: set[tuple[int, str]] = set()


def hit(number: int) -> None:
    """Note that the running test reaches a function; processes that a test starts inherit its name."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    if (number, test) not in _noted:
        _noted.add((number, test))
        _note(REACHED, f"{number}\t{test}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not chosen; nothing is if nothing was chosen."""
    if (FOLDER / CHOSEN).exists():
        chosen = frozenset(json.loads((FOLDER / CHOSEN).read_text(encoding="utf-8")))
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in chosen])
        items[:] = [item for item in items if item.nodeid in chosen]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note how each part of a test ended, and how long it took."""
    report = yield
    _note(ENDED, f"{report.outcome}\t{report.duration:.3f}\t{item.nodeid}")
    return report


def _note(file: str, line: str) -> None:
    descriptor = os.open(FOLDER / file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(descriptor, f"{line}\n".encode())
    finally:
        os.close(descriptor)
