"""Common mistakes in a source: each is named with its place and a hint, before anything is rendered.

The mistakes stand in ``vectors/fleet_mistakes.yaml``. They are made in the work tree of one repository, whose fleet was
rendered before, so that none of them needs a commit.
"""

from collections.abc import Iterator

import pytest

from reconciler.cli import run
from tests.build import Ended, Repository, argosy
from tests.mistakes import FINE, MISTAKES, Mistake, files_of


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    made = Repository.create(tmp_path_factory.mktemp("mistakes") / "fleet")
    made.commit(FINE)
    assert run(["-C", str(made.path), "render", "--commit", "--bootstrap"]) == 0
    return made


@pytest.fixture
def repository(fleet: Repository) -> Iterator[Repository]:
    """The fleet, which is as it should be again afterwards."""
    yield fleet
    for path in fleet.path.iterdir():
        if path.name not in FINE and path.is_file():
            path.unlink()
    fleet.write(FINE)


WHAT_FOLLOWS = (
    "warning: policy.yaml:11: spec.placement: no cluster meets it, so that Deployment.apps shop/web leaves berlin,"
    " paris, and no cluster takes it\n  hint: to keep it, mend the placement; to remove it, delete the template\n"
)
EMPTYING = {
    "a label of the placement with a typo",
    "a label of the placement that no cluster has",
    "a region that no cluster is in",
    "more regions than there are",
    "more clusters than are selected",
    "every cluster that is selected is tainted",
    "a placement of parts that exclude each other",
    "a selector of clusters without values",
}
"""The mistakes by which the one workload that is delivered would be in no cluster, which is said beside them."""


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
    told = said(ended, case.run)
    assert (ended.code, told.replace(WHAT_FOLLOWS, "")) == (case.code, case.says)
    assert (WHAT_FOLLOWS in told) is (case.why in EMPTYING)
