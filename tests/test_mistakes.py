"""Common mistakes in a source: each is named with its place and a hint, before anything is rendered.

The mistakes stand in ``vectors/mistakes.yaml``. They are made in the work tree of one repository, so that none of them
needs a commit.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from render.documents import parse_documents
from tests.build import Ended, Repository, argosy

VECTORS = Path(__file__).parent / "vectors" / "mistakes.yaml"
FINE, ROWS = (document.value for document in parse_documents(VECTORS.read_bytes()))


class Mistake(NamedTuple):
    """A mistake and what a command says of it.

    ``changed`` are lines of a file and those in their place, ``added`` new files (None: one that is taken away).
    """

    why: str
    says: str
    code: int = 0
    run: str = "validate"
    file: str = ""
    changed: tuple[tuple[str, str], ...] = ()
    added: Mapping[str, str | None] = {}


def mistake(row: Mapping[str, Any]) -> Mistake:
    changes = row.get("changes") or ([{"from": row["from"], "to": row["to"]}] if "from" in row else [])
    return Mistake(
        why=row["why"],
        says=row.get("says", ""),
        code=row.get("code", 0),
        run=row.get("run", "validate"),
        file=row.get("file", ""),
        changed=tuple((each["from"], each["to"]) for each in changes),
        added=row.get("add", {}),
    )


MISTAKES = [mistake(row) for row in ROWS]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    made = Repository.create(tmp_path_factory.mktemp("mistakes") / "fleet")
    made.commit(FINE)
    return made


@pytest.fixture
def repository(fleet: Repository) -> Iterator[Repository]:
    """The fleet, which is as it should be again afterwards."""
    yield fleet
    for path in fleet.path.iterdir():
        if path.name not in FINE and path.is_file():
            path.unlink()
    fleet.write(FINE)


def files_of(case: Mistake) -> dict[str, str | None]:
    """The files that a mistake changes or adds."""
    files: dict[str, str | None] = dict(case.added)
    if case.changed:
        text = files[case.file] = str(FINE[case.file])
        for before, after in case.changed:
            assert text.count(before) == 1, f"{before!r} stands {text.count(before)} times in {case.file}"
            text = files[case.file] = text.replace(before, after)
    return files


def said(ended: Ended, command: str) -> str:
    """Return what a command says on both streams, without the last line of ``validate``, which counts."""
    lines = ended.out.splitlines()[: -1 if command.startswith("validate") else None]
    return "".join(f"{line}\n" for line in (*ended.err.splitlines(), *lines))


def test_the_fleet_without_a_mistake_is_fine(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert argosy(repository, capsys, "validate") == (
        0,
        "0 problems, 0 warnings: 1 template, 1 propagation policy, 1 override policy, 3 clusters in 5 files\n",
        "",
    )


@pytest.mark.parametrize("case", MISTAKES, ids=lambda case: case.why)
def test_a_mistake_is_named(case: Mistake, repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.write(files_of(case))
    ended = argosy(repository, capsys, *case.run.split())
    assert (ended.code, said(ended, case.run)) == (case.code, case.says)
