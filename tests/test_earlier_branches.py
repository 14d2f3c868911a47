"""Branches that earlier versions wrote are read: passes go on from them, nothing moves, and nothing is forgotten."""

import json
from pathlib import Path
from typing import Any

import pytest

from render.documents import parse_documents
from tests.build import Repository, argosy
from tests.earlier_branches import MEMBERS, RECORDED, members, restored, source
from tests.memory_fleet import settle
from tests.served import serving_members

VERSIONS = sorted(path.stem for path in RECORDED.glob("*.export"))
WEB = {"berlin": 1, "oregon": 5, "paris": 2}


@pytest.fixture(params=VERSIONS)
def fleet(request: pytest.FixtureRequest, tmp_path: Path) -> Repository:
    return restored(request.param, tmp_path / "fleet")


def replicas(fleet: Repository, name: str) -> dict[str, int]:
    """Return the replicas of a Deployment by cluster, as its binding has them."""
    binding = parse_documents(fleet.show(f"bindings/default/Deployment.apps/{name}.yaml").encode())[0].value
    return {each["name"]: each["replicas"] for each in binding["spec"]["clusters"]}


def status(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(argosy(fleet, capsys, "status", "-o", "json").out)


def test_there_are_branches_of_several_versions() -> None:
    assert {"first-week", "before-versions", "0.1.0"} <= set(VERSIONS)


def test_what_earlier_passes_recorded_is_told(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    found = status(fleet, capsys)
    clusters = found["clusters"]
    assert {name: each["objects"] for name, each in clusters.items()} == dict.fromkeys(MEMBERS, 4)
    assert {name: each["outcome"] for name, each in clusters.items()} == {
        "berlin": "Converged",
        "oregon": "Converged",
        "paris": "Unreachable",
    }
    assert clusters["berlin"]["converged"] == fleet.git("rev-parse", "argosy/rendered")
    explained = argosy(fleet, capsys, "explain", "deploy/web")
    assert (explained.code, explained.err) == (0, "")
    assert "It asks for 8 replicas and goes to berlin 1, oregon 5, paris 2." in explained.out


def test_a_pass_over_an_equal_source_changes_nothing(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """An outcome may be written otherwise by another version, but what clusters must hold is the same."""
    before, bindings = fleet.contents(under="clusters/"), [replicas(fleet, name) for name in ("web", "api")]
    ended = argosy(fleet, capsys, "reconcile")
    assert (ended.code, ended.err) == (0, "")
    assert fleet.contents(under="clusters/") == before
    assert [replicas(fleet, name) for name in ("web", "api")] == bindings


def test_replicas_that_have_a_place_keep_it(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    by_room = replicas(fleet, "api")
    assert replicas(fleet, "web") == WEB
    fleet.commit({"web.yaml": source(oregon=5, replicas=16)["web.yaml"]})
    assert argosy(fleet, capsys, "reconcile").code == 0
    assert replicas(fleet, "web") == {name: 2 * number for name, number in WEB.items()}
    assert replicas(fleet, "api") == by_room


def test_members_go_on_from_what_an_earlier_version_gave_them(
    fleet: Repository, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A member is known again by what was recorded of it, and what leaves the source is deleted there."""
    found = members()
    with serving_members(found, tmp_path / "kubeconfigs") as served:
        passes = ("reconcile", "--kubeconfigs", str(served.kubeconfigs))
        assert argosy(fleet, capsys, *passes).code == 0
        for member in found:
            settle(member)
        assert argosy(fleet, capsys, *passes).code == 0
        assert {each["outcome"] for each in status(fleet, capsys)["clusters"].values()} == {"Converged"}
        assert argosy(fleet, capsys, "status").code == 0
        fleet.commit({"former.yaml": None})
        ended = argosy(fleet, capsys, *passes)
        assert ended.code == 0
        assert sorted(line for line in ended.err.splitlines() if "deleted" in line) == [
            f"{name}: ConfigMap default/former: deleted (NotWanted)" for name in MEMBERS
        ]
        held = [{ref[2] for ref in member.objects if ref[0] == "configmaps."} for member in found]
        assert [names & {"former", "settings"} for names in held] == [{"settings"}] * 3


def test_another_cluster_in_the_place_of_a_recorded_member_is_refused(
    fleet: Repository, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    berlin = members()[0]
    berlin.objects["namespaces.", "", "kube-system"]["metadata"]["uid"] = "another"
    with serving_members([berlin], tmp_path / "kubeconfigs") as served:
        ended = argosy(fleet, capsys, "apply", "--cluster", "berlin", "--kubeconfigs", str(served.kubeconfigs))
    assert ended.code == 1
    assert "-        berlin    failed   WrongCluster   " in ended.out
    assert served.written == []
