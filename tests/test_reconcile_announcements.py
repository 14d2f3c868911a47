"""Attempts on the status branch: only members that may get other objects are announced, and all before a write."""

from pathlib import Path

from .build import a_config_map, a_policy, on_clusters
from .memory_fleet import MemoryFleet

NODE = (1, {"cpu": "8", "memory": "16Gi", "pods": "110"})
MEMBERS = {"oslo": NODE, "paris": NODE}
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap"}


def a_map(name: str, cluster: str, text: str = "one") -> dict[str, object]:
    selector = {**CONFIG, "name": name}
    policy = a_policy(name, selectors=[selector], placement=on_clusters(cluster))
    return {f"{name}.yaml": a_config_map(name, text=text), f"{name}-policy.yaml": policy}


def a_fleet(folder: Path) -> MemoryFleet:
    fleet = MemoryFleet.create(folder / "fleet", MEMBERS, {**a_map("one", "oslo"), **a_map("two", "paris")})
    fleet.run()
    return fleet


def announced(fleet: MemoryFleet) -> list[tuple[str, ...]]:
    """The files of each commit that announces an attempt, oldest first."""
    commits = fleet.repository.git("log", "--reverse", "--format=%H", "--grep=^Attempt", "argosy/status").split()
    names = (fleet.repository.git("show", "--format=", "--name-only", commit) for commit in commits)
    return [tuple(each.split()) for each in names]


ALL = ("inventory/oslo.yaml", "inventory/paris.yaml")


def test_a_commit_that_changes_one_folder_is_announced_for_that_member_alone(tmp_path: Path) -> None:
    fleet = a_fleet(tmp_path)
    fleet.repository.commit({"one.yaml": a_config_map("one", text="other")})
    fleet.run(60)
    assert announced(fleet) == [ALL, ("inventory/oslo.yaml",)]
    assert [fleet.recorded(path)["converged"] for path in ALL] == [
        fleet.repository.git("rev-parse", "argosy/rendered")
    ] * 2


def test_a_commit_that_changes_no_folder_is_announced_for_nobody(tmp_path: Path) -> None:
    fleet = a_fleet(tmp_path)
    rendered = fleet.repository.git("rev-parse", "argosy/rendered")
    policy = a_policy("one", selectors=[{**CONFIG, "name": "one"}], placement=on_clusters("oslo"), propagateDeps=True)
    fleet.repository.commit({"one-policy.yaml": policy})
    fleet.run(60)
    assert fleet.repository.git("rev-parse", "argosy/rendered") != rendered
    assert announced(fleet) == [ALL]


def test_drift_in_a_member_that_was_not_announced_is_announced_before_it_is_healed(tmp_path: Path) -> None:
    fleet = a_fleet(tmp_path)
    key = ("configmaps.", "default", "two")
    fleet.members["paris"].objects[key]["data"] = {"text": "drifted"}
    fleet.repository.commit({"one.yaml": a_config_map("one", text="other")})
    seen: list[int] = []

    def counted(request: object) -> None:
        if "PATCH" in str(request):
            seen.append(len(announced(fleet)))

    fleet.members["paris"].faults.append(counted)
    fleet.run(60)
    assert seen[0] == 3
    assert announced(fleet) == [ALL, ("inventory/oslo.yaml",), ("inventory/paris.yaml",)]
    assert fleet.members["paris"].objects[key]["data"] == {"text": "one"}
