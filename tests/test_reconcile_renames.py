"""A member under another name, up to its API server: nothing in it is written but the name it is known by."""

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reconciler.deliver.results import ClusterReport
from reconciler.ledger.inventory import ApplyOutcome

from .applying import outcomes
from .build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters
from .clusters import Member, remove_namespaces
from .memory_fleet import MemoryFleet

SELECTED = [{"apiVersion": "v1", "kind": "ConfigMap"}, {"apiVersion": "apps/v1", "kind": "Deployment"}]
NAMES = ("a", "b", "c")
DYNAMIC = {
    "replicaSchedulingType": "Divided",
    "replicaDivisionPreference": "Weighted",
    "weightPreference": {"dynamicWeight": "AvailableReplicas"},
}


class Renamed:
    """A fleet of one member, which has a Deployment, three ConfigMaps and their namespace."""

    def __init__(self, folder: Path, space: str) -> None:
        self.space = space
        policy = a_policy(selectors=SELECTED, placement=on_clusters("member1"), namespace=space)
        files = {f"{name}.yaml": a_config_map(name, namespace=space) for name in NAMES}
        web = {"web.yaml": a_deployment("web", namespace=space)}
        self.fleet = MemoryFleet.create(folder, {"member1": (0, {})}, {**files, **web, "policy.yaml": policy})

    def live(self, plural: str) -> dict[str, Any]:
        """The objects of a kind by name, with what would change if they were written or made anew."""
        (member,) = self.fleet.members.values()
        group = "/apis/apps/v1" if plural in {"deployments", "replicasets"} else "/api/v1"
        listed = member.request("GET", f"{group}/namespaces/{self.space}/{plural}")[1]["items"]
        kept = ("uid", "generation", "resourceVersion") if plural == "configmaps" else ("uid", "generation")
        return {
            each["metadata"]["name"]: [each["metadata"].get(key) for key in kept]
            for each in listed
            if each["metadata"]["name"] != "kube-root-ca.crt"
        }

    def rename(self, capsys: pytest.CaptureFixture[str]) -> None:
        ended = argosy(self.fleet.repository, capsys, "cluster", "rename", "member1", "lyon", "--commit")
        assert ended.code == 0, ended.err
        self.fleet.members["lyon"] = self.fleet.members.pop("member1")

    def parent(self) -> dict[str, Any]:
        (member,) = self.fleet.members.values()
        root = self.fleet.repository.git("rev-list", "--max-parents=0", "argosy/rendered")[:12]
        path = f"/api/v1/namespaces/argosy-system/configmaps/argosy-default-{root}"
        annotations = member.request("GET", path)[1]["metadata"]["annotations"]
        assert isinstance(annotations, dict)
        return annotations


@pytest.fixture(params=["in memory", pytest.param("real", marks=pytest.mark.cluster)])
def renamed(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Renamed]:
    made = Renamed(tmp_path / "fleet", f"t{secrets.token_hex(4)}")
    real = request.getfixturevalue("members")[0] if request.param == "real" else None
    if isinstance(real, Member):
        made.fleet.members["member1"] = real
    (first,) = made.fleet.run()
    assert first.applied is not None, first.failure
    assert first.applied.outcome is ApplyOutcome.CONVERGED
    yield made
    if isinstance(real, Member):
        remove_namespaces([real], made.space)


def told(reports: tuple[ClusterReport, ...]) -> dict[str, str]:
    (report,) = reports
    assert report.applied is not None, report.failure
    return {name.split(f" {report.cluster}")[0]: said for name, said in outcomes(report.applied).items()}


def test_nothing_in_it_is_written_deleted_or_made_anew(renamed: Renamed, capsys: pytest.CaptureFixture[str]) -> None:
    fleet, kinds = renamed.fleet, ("configmaps", "deployments")
    before = {plural: renamed.live(plural) for plural in kinds}
    recorded = fleet.recorded("inventory/member1.yaml")
    works = {path.removeprefix("works/member1/") for path in fleet.repository.files("argosy/status", "works")}
    renamed.rename(capsys)
    assert set(told(fleet.run(dry_run=True)).values()) == {"unchanged UpToDate"}
    assert set(told(fleet.run()).values()) == {"unchanged UpToDate"}
    assert {plural: renamed.live(plural) for plural in kinds} == before
    assert renamed.parent()["argosy.dev/member"] == "lyon"

    branch = fleet.repository.files("argosy/status")
    assert not [path for path in branch if "member1" in path]
    assert {path.removeprefix("works/lyon/") for path in branch if path.startswith("works/")} == works
    after = fleet.recorded("inventory/lyon.yaml")
    assert after == {**recorded, "cluster": "lyon", "converged": fleet.repository.git("rev-parse", "argosy/rendered")}
    assert fleet.recorded("clusters/lyon.yaml")["metadata"]["name"] == "lyon"


def test_what_left_the_source_with_the_old_name_is_pruned(renamed: Renamed, capsys: pytest.CaptureFixture[str]) -> None:
    """The commits that tell its objects call it otherwise."""
    renamed.fleet.repository.commit({"c.yaml": None})
    renamed.rename(capsys)
    said = {what for what in told(renamed.fleet.run()).values() if what != "unchanged UpToDate"}
    assert said == {"deleted NotWanted"}
    assert sorted(renamed.live("configmaps")) == ["a", "b"]


def test_it_is_known_again_without_a_status_branch(renamed: Renamed, capsys: pytest.CaptureFixture[str]) -> None:
    """The ApplySet's parent has the old name still, and the history of the rendered branch the old folder."""
    fleet = renamed.fleet
    fleet.repository.commit({"c.yaml": None})
    renamed.rename(capsys)
    fleet.repository.git("branch", "-D", "argosy/status")
    said = {what for what in told(fleet.run()).values() if what != "unchanged UpToDate"}
    assert said == {"deleted NotWanted"}


def test_a_name_that_was_changed_by_hand_is_refused_until_it_is_said(
    renamed: Renamed, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = renamed.fleet
    policy = (fleet.repository.path / "policy.yaml").read_text().replace("member1", "lyon")
    moved = {"clusters/member1.yaml": None, "clusters/lyon.yaml": a_cluster("lyon"), "policy.yaml": policy}
    fleet.repository.commit(moved)
    hint = "lyon is described alike; if it is the same cluster: argosy cluster rename member1 lyon"
    assert hint in argosy(fleet.repository, capsys, "diff", "HEAD~1", "HEAD").out
    fleet.members["lyon"] = fleet.members.pop("member1")
    (refused,) = fleet.run()
    assert refused.failure is not None
    assert (refused.failure.message, refused.failure.hint) == (
        "the context of 'lyon' leads to the cluster that this fleet knows as 'member1'",
        "correct the context; if it is the same cluster: argosy cluster rename member1 lyon",
    )
    assert argosy(fleet.repository, capsys, "cluster", "rename", "member1", "lyon", "--commit").code == 0
    assert set(told(fleet.run()).values()) == {"unchanged UpToDate"}


def test_observed_room_and_what_is_reserved_of_it_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Facts and reserves are recorded by name; what was placed a moment ago still takes room."""
    room = {"cpu": "8", "memory": "16Gi", "pods": "10"}
    made = a_deployment("web", replicas=6)
    policy = a_policy("web", selectors=[SELECTED[1]], placement=on_clusters("big", "small", replicaScheduling=DYNAMIC))
    fleet = MemoryFleet.create(tmp_path / "fleet", {"big": (2, room), "small": (1, room)}, {"web.yaml": [made, policy]})
    fleet.run()
    reserved = fleet.recorded("reserved.yaml", "argosy/rendered")["clusters"]
    assert argosy(fleet.repository, capsys, "cluster", "rename", "big", "zurich", "--commit").code == 0
    fleet.members["zurich"] = fleet.members.pop("big")
    fleet.run()
    facts = [path for path in fleet.repository.files("argosy/rendered") if path.startswith("facts/")]
    assert facts == ["facts/small.yaml", "facts/zurich.yaml"]
    after = fleet.recorded("reserved.yaml", "argosy/rendered")["clusters"]
    assert after["zurich"]["reserved"] == reserved["big"]["reserved"]
    assert fleet.repository.files("argosy/status", "facts") == ["facts/small.yaml", "facts/zurich.yaml"]
    binding = fleet.recorded("bindings/default/Deployment.apps/web.yaml", "argosy/rendered")
    assert binding["spec"]["clusters"] == [{"name": "zurich", "replicas": 4}, {"name": "small", "replicas": 2}]
    assert argosy(fleet.repository, capsys, "verify").code == 0


def test_no_folder_of_a_former_name_is_taken_for_a_cluster_that_was_emptied(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A rename is taken back and the cluster told anew that it is the same; the folder of the former name is old."""
    web = a_deployment("web", replicas=6)
    placement = on_clusters("paris", "rome", replicaScheduling=DYNAMIC)
    placement["clusterAffinity"] = {"labelSelector": {"matchLabels": {"tier": "web"}}}
    policy = a_policy("web", selectors=[SELECTED[1]], placement=placement)
    room = {"cpu": "8", "memory": "16Gi", "pods": "10"}
    fleet = MemoryFleet.create(tmp_path / "fleet", {"paris": (2, room), "rome": (2, room)}, {"web.yaml": [web, policy]})
    repository = fleet.repository
    repository.commit({f"clusters/{name}.yaml": a_cluster(name, labels={"tier": "web"}) for name in ("paris", "rome")})
    fleet.run()
    assert argosy(repository, capsys, "cluster", "rename", "paris", "lutetia", "--commit").code == 0
    fleet.members["lutetia"] = fleet.members.pop("paris")
    fleet.run()
    repository.git("revert", "--no-edit", "HEAD")
    fleet.members["paris"] = fleet.members.pop("lutetia")
    fleet.run()
    assert {path.split("/")[1] for path in repository.files(under="clusters")} == {"lutetia", "paris", "rome"}
    assert argosy(repository, capsys, "cluster", "rename", "lutetia", "paris", "--commit").code == 0
    fleet.run()
    assert {path.split("/")[1] for path in repository.files(under="clusters")} == {"paris", "rome"}
    drained = argosy(repository, capsys, "cluster", "drain", "paris", "--commit")
    assert drained.code == 0, drained.err
    for _ in range(2):
        fleet.run()
        assert {path.split("/")[1] for path in repository.files(under="clusters")} == {"rome"}
    assert not [key for key in fleet.members["paris"].objects if key[0] == "deployments.apps"]


@pytest.fixture
def reached(members: tuple[Member, ...], tmp_path: Path) -> Iterator[tuple[Repository, Member, str]]:
    """A fleet that says how its member is reached, a real server, and the namespace of its object."""
    member, space = members[0], f"t{secrets.token_hex(4)}"
    way = {"name": "member1", "context": "member1", "kubeconfig": str(member.kubeconfig)}
    fleet = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}}
    repository = Repository.create(tmp_path / "fleet")
    repository.commit(
        {
            "argosy.yaml": {**fleet, "spec": {"clusters": [way]}},
            "member1.yaml": a_cluster("member1"),
            "policy.yaml": a_policy(selectors=SELECTED, placement=on_clusters("member1"), namespace=space),
            "maps.yaml": [a_config_map(name, namespace=space) for name in ("a", "b")],
        }
    )
    yield repository, member, space
    remove_namespaces([member], space)


@pytest.mark.cluster
def test_a_rename_beside_settings_that_wait_leaves_its_server_as_it_is(
    reached: tuple[Repository, Member, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Under its former name its drift is healed, until somebody accepts the settings; then the name alone changes."""
    repository, member, space = reached
    path = f"/api/v1/namespaces/{space}/configmaps/"
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    before = member.read(f"{path}a")["metadata"]
    assert argosy(repository, capsys, "cluster", "rename", "member1", "lyon", "--commit").code == 0
    settings = (repository.path / "argosy.yaml").read_text()
    repository.commit({"argosy.yaml": settings.rstrip() + "\n  validation: Off\n"})
    member.request("DELETE", f"{path}b")
    refused = argosy(repository, capsys, "reconcile")
    assert (refused.code, "spec.validation: Strict -> Off" in refused.err) == (6, True)
    healed = member.read(f"{path}b")
    assert healed is not None
    assert "inventory/member1.yaml" in repository.files("argosy/status")
    accepted = argosy(repository, capsys, "reconcile", "--accept-settings")
    assert accepted.code == 0, accepted.err
    for known in (before, healed["metadata"]):
        after = member.read(f"{path}{known['name']}")["metadata"]
        assert [after[key] for key in ("uid", "resourceVersion")] == [known["uid"], known["resourceVersion"]]
    told = repository.files("argosy/status")
    assert ("inventory/lyon.yaml" in told, [each for each in told if "member1" in each]) == (True, [])
    assert argosy(repository, capsys, "reconcile").code == 0
