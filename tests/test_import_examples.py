"""Every ``examples/coming-from-*`` converts to what its ``converted/`` folder holds.

``python -m tests.test_import_examples`` writes these folders anew.
"""

import shutil
from pathlib import Path

import pytest

from reconciler.cli import run
from tests.tables import each_row
from tests.test_examples import EXAMPLES, contents

NAMES = sorted(path.parent.name for path in EXAMPLES.glob("coming-from-*/given"))


def convert(name: str, folder: Path) -> Path:
    """Import the given files of an example into a folder."""
    assert run(["-q", "import", str(EXAMPLES / name / "given"), "--output-dir", str(folder)]) in {0, 3}
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_an_example_converts_to_what_is_checked_in(name: str, tmp_path: Path) -> None:
    assert contents(convert(name, tmp_path / "converted")) == contents(EXAMPLES / name / "converted")


@each_row("name", NAMES)
def test_an_example_has_its_line_in_the_guide(name: str) -> None:
    assert f"](../{name})" in (EXAMPLES / "coming-from-others" / "README.md").read_text(encoding="utf-8")


if __name__ == "__main__":
    for each in NAMES:
        shutil.rmtree(EXAMPLES / each / "converted", ignore_errors=True)
        convert(each, EXAMPLES / each / "converted")
