"""Real clusters taken over: imported, proven and applied, while no object changes but for who owns it."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler.cli import run

from .build import Repository, argosy
from .clusters import Member, remove_namespaces
from .live_objects import SPACE, changed, contents, elsewhere, everyday_objects, has_settled
from .waiting import eventually

pytestmark = pytest.mark.cluster


@pytest.fixture
def shops(members: tuple[Member, ...], tmp_path: Path) -> Iterator[tuple[Member, ...]]:
    """Two members in which people applied a shop, a little different in each, with kubeconfigs beside."""
    both, objects = members[:2], everyday_objects()
    (tmp_path / "kubeconfigs").mkdir()
    for member, wanted in zip(both, (objects, elsewhere(objects)), strict=True):
        shutil.copy(member.kubeconfig, tmp_path / "kubeconfigs" / f"{member.name}.yaml")
        member.kubectl("create", "namespace", SPACE)
        documents = (json.dumps(each, ensure_ascii=False) for each in wanted)
        member.kubectl("apply", "-f", "-", stdin="\n---\n".join(documents))
    eventually(lambda: all(has_settled(each, SPACE) for each in both), "controllers have made what they make")
    yield both
    remove_namespaces(both, SPACE, "argosy-system")


def test_clusters_are_taken_over_without_a_change(
    shops: tuple[Member, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    access, fleet = ("--kubeconfigs", str(tmp_path / "kubeconfigs")), tmp_path / "fleet"
    before = [contents(each, SPACE) for each in shops]
    named = [word for each in shops for word in ("--cluster", each.name)]
    code = run(["import", *access, *named, "-n", SPACE, "--output-dir", str(fleet)])
    said = capsys.readouterr().out
    assert (code, said.splitlines()[-2:]) == (
        0,
        ["member1: 22 objects taken over without a change", "member2: 20 objects taken over without a change"],
    ), said
    repository = Repository.create(fleet)
    repository.git("add", "-A")
    repository.git("commit", "-qm", "Import what runs")
    first = argosy(repository, capsys, "reconcile", "--bootstrap", *access)
    done = first.err.splitlines()
    # What is autoscaled keeps the number that kubectl wrote, and kubectl as the owner of that, which is no difference.
    assert (first.code, done) == (0, ["applied 42 objects to 2 clusters: 42 adopted"]), first.err
    # The generation of a Deployment counts changes of its annotations as well, and kubectl's copy is gone.
    assert [line for line in changed(before, shops, SPACE) if not line.endswith("/metadata/generation")] == []
    second = argosy(repository, capsys, "reconcile", *access)
    assert (second.code, repository.git("rev-list", "--count", "argosy/rendered").strip()) == (0, "1")
    migrated = argosy(
        repository,
        capsys,
        "apply",
        "--migrate-from",
        "kubectl-client-side-apply",
        "--migrate-from",
        "kubectl-create",
        *access,
    )
    # The generation of a Deployment counts changes of its annotations as well, and kubectl's copy is gone.
    rest = [line for line in changed(before, shops, SPACE) if not line.endswith("/metadata/generation")]
    assert (migrated.code, rest) == (0, []), migrated
    seen = argosy(repository, capsys, "diff", "--live", *access)
    assert (seen.code, [line for line in seen.out.splitlines() if "  " in line]) == (0, []), seen.out
