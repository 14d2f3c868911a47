"""Whole fleets on three real members: applied, applied again without a single write, and drained to nothing."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.build import Repository, argosy
from tests.clusters import Member, remove_namespaces
from tests.fleets import GROUP, MEMBERS, SAMPLES, SHOP, samples, shop

pytestmark = pytest.mark.cluster


class Whole(NamedTuple):
    why: str
    namespace: str
    files: dict[str, Any]
    held: dict[str, int]
    paths: tuple[str, ...]


APPS = f"/apis/apps/v1/namespaces/{SHOP}"
FLEETS = [
    Whole("a shop", SHOP, shop(), {"member1": 42, "member2": 42, "member3": 42}, (f"{APPS}/deployments/cart",)),
    Whole(
        "samples",
        SAMPLES,
        samples(),
        {"member1": 10, "member2": 6, "member3": 8},
        (
            f"/apis/{GROUP}/v1/namespaces/{SAMPLES}/bells/noon",
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/fleet-samples-bells",
        ),
    ),
]


@pytest.fixture
def kubeconfigs(members: tuple[Member, ...], tmp_path: Path) -> Iterator[Path]:
    """A folder with a kubeconfig for each member."""
    folder = tmp_path / "kubeconfigs"
    folder.mkdir()
    for member in members:
        (folder / f"{member.name}.yaml").write_text(member.kubeconfig.read_text())
    yield folder
    remove_namespaces(members, SHOP, SAMPLES, "argosy-system")


EVICTING = {
    "apiVersion": "argosy.dev/v1alpha1",
    "kind": "Fleet",
    "metadata": {"name": "default"},
    "spec": {"failover": {"lastCopy": "Evict"}},
}


@pytest.mark.parametrize("case", FLEETS, ids=lambda case: case.why)
def test_a_fleet_is_applied_once_and_drained_to_nothing(
    case: Whole,
    members: tuple[Member, ...],
    kubeconfigs: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({"argosy.yaml": EVICTING, **case.files})
    access = ("--kubeconfigs", str(kubeconfigs))
    first = argosy(repository, capsys, "reconcile", "--bootstrap", *access)
    assert first.code == 0, first.err
    assert {name: len(repository.files(under=f"clusters/{name}")) for name in MEMBERS} == case.held
    assert [member.read(path) is not None for path in case.paths for member in members[:1]] == [True] * len(case.paths)

    again = json.loads(argosy(repository, capsys, "apply", "-o", "json", *access).out)
    counts = {name: each["counts"] for name, each in again["clusters"].items()}
    assert counts == {name: {"unchanged": count} for name, count in case.held.items()}
    assert argosy(repository, capsys, "diff", "--live", *access).out == "".join(f"{name}: equal\n" for name in MEMBERS)

    for name in MEMBERS:
        assert (
            argosy(repository, capsys, "cluster", "unjoin", name, "--drain", "--commit", "--allow-unplaced").code == 0
        )
    drained = argosy(repository, capsys, "reconcile", "--confirm-all", *access)
    # 1: nothing has a place any more. The members themselves are as they should be.
    assert (drained.code, drained.out.count("Converged")) == (1, 3), drained.out + drained.err
    assert repository.files(under="clusters") == []
    assert [member.read(path) for path in case.paths for member in members] == [None] * (len(case.paths) * 3)
    spaces = [member.read(f"/api/v1/namespaces/{case.namespace}") for member in members]
    assert [each for each in spaces if each and not each["metadata"].get("deletionTimestamp")] == []
    for name in MEMBERS:
        left = argosy(repository, capsys, "cluster", "unjoin", name, "--commit")
        assert left.code == 0, left.err
    assert [path for path in repository.files("HEAD") if path.startswith("clusters/")] == []
