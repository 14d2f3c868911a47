"""Examples in docstrings are true."""

import doctest
import re
from importlib import import_module
from pathlib import Path

from .tables import each_row

ROOT = Path(__file__).parent.parent
SHOWING = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for package in ("render", "overrides", "reconciler")
    for path in sorted((ROOT / package).rglob("*.py"))
    if re.search(rb"^ +>>> ", path.read_bytes(), re.MULTILINE)
]


@each_row("name", SHOWING)
def test_every_example_is_true(name: str) -> None:
    """The output of the test has what differs."""
    result = doctest.testmod(import_module(name), report=False)
    assert result.attempted
    assert not result.failed
