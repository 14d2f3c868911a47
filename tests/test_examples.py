"""Every example renders to what its ``rendered/`` folder holds: ``python -m tests.test_examples`` writes it anew."""

import shutil
import tempfile
from pathlib import Path

import pytest

from reconciler.cli import run
from tests.build import Repository

EXAMPLES = Path(__file__).parent.parent / "examples"
NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/rendered"))


def rendered(name: str, folder: Path) -> Path:
    """Render an example in a repository of its own and return the folder it was written to."""
    fleet, target = folder / "fleet", folder / "rendered"
    shutil.copytree(EXAMPLES / name, fleet, ignore=shutil.ignore_patterns("rendered", "README.md"))
    Repository.create(fleet).commit({}, name)
    assert run(["-q", "-C", str(fleet), "render", "--output-dir", str(target)]) == 0
    return target


def contents(folder: Path) -> dict[str, str]:
    """The files below a folder, by path."""
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("name", NAMES)
def test_an_example_renders_to_what_is_checked_in(name: str, tmp_path: Path) -> None:
    assert contents(rendered(name, tmp_path)) == contents(EXAMPLES / name / "rendered")


@pytest.mark.parametrize("name", NAMES)
def test_an_example_has_its_line_in_the_list_of_examples(name: str) -> None:
    assert f"]({name})" in (EXAMPLES / "README.md").read_text(encoding="utf-8")


def update() -> None:
    """Write the ``rendered/`` folder of every example."""
    for path in sorted(EXAMPLES.iterdir()):
        if (path / "policies").is_dir():
            with tempfile.TemporaryDirectory() as folder:
                target = rendered(path.name, Path(folder))
                shutil.rmtree(path / "rendered", ignore_errors=True)
                shutil.copytree(target, path / "rendered")


if __name__ == "__main__":
    update()
