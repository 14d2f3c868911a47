"""Every example renders to what its ``rendered/`` folder holds: ``python -m tests.test_examples`` writes it anew."""

import shutil
import tempfile
from pathlib import Path

import pytest

from reconciler.cli import run
from tests.build import Repository, argosy
from tests.tables import each_row

EXAMPLES = Path(__file__).parent.parent / "examples"
AT = ("--now", "2026-03-02T06:00:00Z")
"""The time at which examples are rendered, where their rules ask for it."""
NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/rendered"))


def rendered(name: str, folder: Path) -> Path:
    """Render an example in a repository of its own and return the folder it was written to."""
    fleet, target = folder / "fleet", folder / "rendered"
    shutil.copytree(EXAMPLES / name, fleet, ignore=shutil.ignore_patterns("rendered", "README.md"))
    Repository.create(fleet).commit({}, name)
    assert run(["-q", "-C", str(fleet), "render", *AT, "--output-dir", str(target)]) == 0
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


@each_row("name", NAMES)
def test_an_example_has_its_line_in_the_list_of_examples(name: str) -> None:
    assert f"]({name})" in (EXAMPLES / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """All examples in one repository, each a fleet of its own."""
    path = Path(tmp_path_factory.mktemp("together")) / "fleets"
    for name in NAMES:
        shutil.copytree(EXAMPLES / name, path / "examples" / name)
    repository = Repository.create(path)
    repository.commit({}, "Add the fleets")
    return repository


@pytest.mark.parametrize("name", NAMES)
def test_an_example_runs_where_it_stands(name: str, together: Repository, tmp_path: Path) -> None:
    """Neither the folders beside it nor what was rendered of it are part of it."""
    target, fleet = tmp_path / "rendered", together.path / "examples" / name
    assert run(["-q", "-C", str(fleet), "render", *AT, "--output-dir", str(target)]) == 0
    assert contents(target) == contents(EXAMPLES / name / "rendered")


def test_above_several_fleets_each_is_named(together: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    ended = argosy(together, capsys, "validate")
    listed = ", ".join(f"examples/{name}" for name in NAMES[:10])
    said = f".: holds {len(NAMES)} fleets: {listed}\n  hint: name one with -C FOLDER\n"
    assert (ended.code, ended.out.startswith(said)) == (3, True)


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
