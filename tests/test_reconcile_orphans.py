"""Orphans are shown before they go; what never stood in a commit of the fleet never goes - in memory and for real."""

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reconciler.console.log import Log
from reconciler.deliver.orphans import Orphans, orphan_agreement_on_terminal
from reconciler.deliver.results import ClusterReport
from reconciler.members.options import DeliveryOptions
from reconciler.plans.model import Action
from render.errors import GuardRefused
from render.model import ObjectRef

from .applying import outcomes
from .build import a_config_map, a_policy, on_clusters
from .clusters import remove_namespaces
from .memory_fleet import MemoryFleet

ORPHANS = DeliveryOptions(orphans=True)
SELECTED = {"apiVersion": "v1", "kind": "ConfigMap"}


@pytest.fixture(params=["in memory", pytest.param("real", marks=pytest.mark.cluster)])
def fleet(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MemoryFleet]:
    """A fleet of one member that holds twelve ConfigMaps, and the namespace they are in."""
    space = f"t{secrets.token_hex(4)}"
    files = {f"cm-{number}.yaml": a_config_map(f"cm-{number}", namespace=space) for number in range(12)}
    policy = policy_of(space)
    made = MemoryFleet.create(tmp_path / "fleet", {"member1": (0, {})}, {**files, "policy.yaml": policy})
    if request.param == "real":
        made.members["member1"] = request.getfixturevalue("members")[0]
    made.run()
    yield made
    if request.param == "real":
        remove_namespaces([made.members["member1"]], space)


def policy_of(space: str) -> dict[str, Any]:
    return a_policy(selectors=[SELECTED], placement=on_clusters("member1"), namespace=space)


def space_of(fleet: MemoryFleet) -> str:
    folders = fleet.repository.git("ls-tree", "--name-only", "argosy/rendered", "clusters/member1/").split()
    return next(folder.rpartition("/")[2] for folder in folders if not folder.endswith("_cluster"))


def member_of_others(fleet: MemoryFleet, name: str) -> str:
    """Put an object there that looks like the fleet's own, and that the fleet never rendered; return its path."""
    folder = f"/api/v1/namespaces/{space_of(fleet)}/configmaps"
    member = fleet.members["member1"]
    known = member.read(f"{folder}/cm-0")
    body = a_config_map(name, namespace=space_of(fleet))
    body["metadata"]["labels"] = known["metadata"]["labels"]
    manager = next(each["manager"] for each in known["metadata"]["managedFields"])
    path = f"{folder}/{name}"
    status, _ = member.request(
        "PATCH", f"{path}?fieldManager={manager}", body, content_type="application/apply-patch+yaml"
    )
    assert status == 201
    return path


def told(reports: tuple[ClusterReport, ...]) -> dict[str, str]:
    applied = reports[0].applied
    assert applied is not None
    return {name: said for name, said in outcomes(applied).items() if not said.startswith("unchanged")}


def test_what_no_commit_of_the_fleet_named_stays_whatever_the_flags(fleet: MemoryFleet) -> None:
    """Once a run that the guard refused remembered it all the same, and a later one deleted it."""
    path = member_of_others(fleet, "theirs")
    shown: list[Orphans] = []
    for number in range(12):
        (fleet.repository.path / f"cm-{number}.yaml").unlink()
    fleet.repository.commit({"cm-0.yaml": a_config_map("cm-0", namespace=space_of(fleet))})
    reports = fleet.run(options=ORPHANS, agree=shown.append)
    assert told(reports)["ConfigMap theirs"] == "kept Orphan"
    assert "theirs" not in str(fleet.recorded("inventory/member1.yaml"))
    fleet.run(options=DeliveryOptions(orphans=True, confirm_all=True), agree=shown.append, allowed={"*": 100})
    fleet.run(allowed={"*": 100})
    assert shown == [{}, {}]
    assert fleet.members["member1"].read(path) is not None


def forget(fleet: MemoryFleet) -> ObjectRef:
    """Let the fleet lose sight of an object: it leaves the tree while its label is off, and gets it back later."""
    member, path = fleet.members["member1"], f"/api/v1/namespaces/{space_of(fleet)}/configmaps/cm-11"
    labels = member.read(path)["metadata"]["labels"]
    patch = "application/merge-patch+json"
    member.request("PATCH", path, {"metadata": {"labels": dict.fromkeys(labels)}}, content_type=patch)
    (fleet.repository.path / "cm-11.yaml").unlink()
    fleet.repository.commit({})
    fleet.run()
    member.request("PATCH", path, {"metadata": {"labels": labels}}, content_type=patch)
    return ObjectRef("", "ConfigMap", space_of(fleet), "cm-11")


def test_what_the_fleet_once_rendered_goes_when_somebody_agrees(fleet: MemoryFleet) -> None:
    orphan, shown = forget(fleet), list[Orphans]()
    assert told(fleet.run()) == {"ConfigMap cm-11": "kept Orphan"}
    assert told(fleet.run(options=ORPHANS, agree=shown.append)) == {"ConfigMap cm-11": "deleted NotWanted"}
    assert shown == [{"member1": frozenset({orphan})}]
    assert told(fleet.run()) == {}


def test_a_forgotten_namespace_goes_once_it_is_confirmed_by_name(fleet: MemoryFleet) -> None:
    """Once only --confirm-all could do it, which confirms whatever else there is."""
    space, shown = f"{space_of(fleet)}-old", list[Orphans]()
    before = fleet.recorded("inventory/member1.yaml")
    fleet.repository.commit({"old.yaml": a_config_map("old", namespace=space), "policy-old.yaml": policy_of(space)})
    fleet.run()
    fleet.repository.commit({"old.yaml": None, "policy-old.yaml": None})
    fleet.run(allowed={"*": 1})
    rewrite_status(fleet, "inventory/member1.yaml", before)
    assert told(fleet.run(options=ORPHANS, agree=shown.append)) == {f"Namespace {space}": "kept Orphan"}
    confirmed = DeliveryOptions(orphans=True, confirmed=(f"Namespace/{space}",))
    assert told(fleet.run(options=confirmed, agree=shown.append)) == {f"Namespace {space}": "deleted NotWanted"}
    assert shown == [{}, {"member1": frozenset({ObjectRef("", "Namespace", "", space)})}]


def test_nothing_is_written_where_nobody_agrees(fleet: MemoryFleet) -> None:
    forget(fleet)
    before = fleet.status_commits()
    with pytest.raises(GuardRefused):
        fleet.run(options=ORPHANS)
    assert fleet.status_commits()[: len(before)] == before
    assert not any(subject.startswith("Attempt") for subject in fleet.status_commits()[len(before) :])
    assert told(fleet.run()) == {"ConfigMap cm-11": "kept Orphan"}


def test_a_dry_run_shows_orphans_and_records_nothing(fleet: MemoryFleet) -> None:
    forget(fleet)
    before = fleet.status_commits()
    (report,) = fleet.run(options=ORPHANS, dry_run=True)
    assert report.applied is not None
    assert report.applied.count(Action.PRUNE) == 1
    assert fleet.status_commits() == before


def test_a_file_that_names_what_no_commit_did_is_not_believed(fleet: MemoryFleet) -> None:
    """Inventories written by versions that took orphans in are read with care."""
    path = member_of_others(fleet, "theirs")
    inventory = fleet.recorded("inventory/member1.yaml")
    theirs = {"group": "", "kind": "ConfigMap", "namespace": space_of(fleet), "name": "theirs"}
    rewrite_status(fleet, "inventory/member1.yaml", {**inventory, "left": [theirs]})
    assert told(fleet.run(allowed={"*": 100})) == {"ConfigMap theirs": "kept Orphan"}
    assert fleet.members["member1"].read(path) is not None


def rewrite_status(fleet: MemoryFleet, path: str, value: Any) -> None:
    """Commit another content of a file to the status branch, as somebody else."""
    from render.documents import emit

    repository = fleet.repository
    repository.git("worktree", "add", "-q", str(repository.path.parent / "status"), "argosy/status")
    (repository.path.parent / "status" / path).write_bytes(emit(value))
    repository.git("-C", str(repository.path.parent / "status"), "commit", "-qam", "Rewrite")
    repository.git("worktree", "remove", str(repository.path.parent / "status"))


def test_without_a_terminal_orphans_are_listed_and_refused() -> None:
    import io

    stream = io.StringIO()
    log, orphans = Log(stream=stream), {"member1": frozenset({ObjectRef("", "ConfigMap", "shop", "old")})}
    with pytest.raises(GuardRefused) as refused:
        orphan_agreement_on_terminal(ORPHANS, log)(orphans)
    assert refused.value.message == "1 orphan would be deleted; nothing was applied"
    assert refused.value.hint == "see the lines above, then run it again with --yes"
    assert stream.getvalue() == "member1: ConfigMap shop/old: orphan, to be deleted\n"
    orphan_agreement_on_terminal(DeliveryOptions(orphans=True, yes=True), log)(orphans)
    orphan_agreement_on_terminal(ORPHANS, log)({})
