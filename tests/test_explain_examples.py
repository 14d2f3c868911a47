"""An object of every strategy, explained as ``examples/strategies/explained`` has it.

``python -m tests.test_explain_examples`` writes that folder.
"""

import shutil
import tempfile
from pathlib import Path

import pytest

from reconciler.cli import run
from render.scheduling.rules import Strategy
from tests.build import Repository, argosy

FLEET = Path(__file__).parent.parent / "examples" / "strategies"
EXPLAINED = FLEET / "explained"
KINDS = {"undivided": "configmap"}


def made(folder: Path) -> Repository:
    fleet = folder / "fleet"
    shutil.copytree(FLEET, fleet, ignore=shutil.ignore_patterns("rendered", "explained"))
    repository = Repository.create(fleet)
    repository.commit({}, "strategies")
    return repository


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return made(tmp_path_factory.mktemp("strategies"))


@pytest.mark.parametrize("path", sorted(EXPLAINED.glob("*.txt")), ids=lambda path: path.stem)
def test_an_example_is_explained_as_checked_in(
    path: Path, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(repository, capsys, "-v", "explain", KINDS.get(path.stem, "deploy"), path.stem)
    assert ended == (0, path.read_text(encoding="utf-8"), "")


def test_every_strategy_that_can_be_asked_for_is_explained() -> None:
    told = {
        line.removeprefix("Scheduling: ")
        for path in EXPLAINED.glob("*.txt")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("Scheduling: ")
    }
    assert told == {str(each) for each in Strategy} - {str(Strategy.UNSUPPORTED)}


@pytest.mark.parametrize("name", ["quickstart", "strategies"])
def test_the_tests_of_an_example_pass(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(FLEET.parent / name, tmp_path / "fleet", ignore=shutil.ignore_patterns("rendered", "explained"))
    fleet = Repository.create(tmp_path / "fleet")
    ended = argosy(fleet, capsys, "test")
    assert (ended.code, ended.err, "FAIL" in ended.out) == (0, "", False)


def update() -> None:
    """Write every explanation."""
    from contextlib import redirect_stdout
    from io import StringIO

    names = [path.stem for path in (FLEET / "rendered" / "bindings" / "default").rglob("*.yaml")]
    with tempfile.TemporaryDirectory() as folder:
        fleet = made(Path(folder))
        for name in names:
            text = StringIO()
            with redirect_stdout(text):
                run(["-v", "-C", str(fleet.path), "explain", KINDS.get(name, "deploy"), name])
            EXPLAINED.mkdir(exist_ok=True)
            (EXPLAINED / f"{name}.txt").write_text(text.getvalue(), encoding="utf-8")


if __name__ == "__main__":
    update()
