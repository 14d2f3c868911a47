"""Moves step by step over members in memory, by real passes on a real repository, whose commits are made again."""

from pathlib import Path
from typing import Any

import pytest

from .build import a_policy, argosy, on_clusters, weighted
from .memory_fleet import MemoryFleet, settle
from .moving import a_fleet_of_moves, divided, duplicated, web
from .rolling import WEB, WEB_REF

NODES = (1, {"cpu": "8", "pods": "20"})
PATH = "default/Deployment.apps/web.yaml"
SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]},
}


def with_service(cluster: str) -> dict[str, Any]:
    """A policy that gives web and its Service to a cluster."""
    placement = on_clusters(cluster, replicaScheduling=weighted(**{cluster: 1}))
    return a_policy("web", selectors=[WEB, {"apiVersion": "v1", "kind": "Service"}], placement=placement)


class Members:
    """Members with the Deployment web; ``starting`` ones start no more pods than they have."""

    def __init__(self, folder: Path, *names: str, policy: dict[str, Any], **settings: Any) -> None:
        files = {"argosy.yaml": a_fleet_of_moves(**settings), "web.yaml": web(6), "policy.yaml": policy}
        self.fleet = MemoryFleet.create(folder / "fleet", dict.fromkeys(names, NODES), files)
        self.repository = self.fleet.repository
        self.starting: set[str] = set()
        for _ in range(3):
            self.run()

    def run(self, seconds: float = 0.0) -> None:
        """One pass, after which members have started the pods that they were told, but for those that start none."""
        self.fleet.run(seconds)
        for name in self.fleet.members.keys() - self.starting:
            settle(self.fleet.members[name])

    def commits(self) -> list[str]:
        """The replicas of each cluster in each rendered commit, oldest first."""
        ids = self.repository.git("rev-list", "--reverse", "argosy/rendered").split()
        return [self._replicas_in_commit(commit) for commit in ids]

    def _replicas_in_commit(self, commit: str) -> str:
        found = self.repository.contents(commit, under="clusters")
        texts = {path.split("/")[1]: text for path, text in found.items() if path.endswith(PATH)}
        return ", ".join(
            f"{name} {text.split('replicas: ')[1].splitlines()[0]}" for name, text in sorted(texts.items())
        )


def test_each_commit_of_a_move_is_made_again_from_what_it_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    members = Members(tmp_path, "oslo", "paris", policy=divided(oslo=1))
    members.repository.commit({"policy.yaml": divided(paris=1)})
    for _ in range(9):
        members.run()
    assert members.commits() == ["oslo 6", "oslo 6, paris 2", "oslo 4, paris 4", "oslo 2, paris 6", "paris 6"]
    tip = members.repository.git("rev-parse", "argosy/rendered")
    members.run(3600)
    assert members.repository.git("rev-parse", "argosy/rendered") == tip
    assert argosy(members.repository, capsys, "verify", "-n", "9").out.count(": equal\n") == 5


def test_a_move_waits_for_pods_that_members_start(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    members = Members(tmp_path, "oslo", "paris", policy=divided(oslo=1))
    members.repository.commit({"policy.yaml": divided(paris=1)})
    members.starting = {"paris"}
    for _ in range(4):
        members.run(60)
    assert members.commits() == ["oslo 6", "oslo 6, paris 2"]
    note = (
        "moves step by step: oslo has 6 and ends with 0, paris has 2 and ends with 6; the next step comes when enough"
        " of them are ready"
    )
    assert (
        f"Deployment.apps default/web   MakeBeforeBreak   {note}\n" in argosy(members.repository, capsys, "status").out
    )
    assert f"   {note}\n" in argosy(members.repository, capsys, "explain", "deploy/web").out
    waits = "warning: Deployment.apps default/web moves step by step, and waits for paris, where nobody knows yet what"
    said = argosy(members.repository, capsys, "reconcile")
    assert (said.code, said.err) == (0, f"{waits} is ready\n")
    members.starting = set()
    settle(members.fleet.members["paris"])
    for _ in range(9):
        members.run()
    assert members.commits()[-1] == "paris 6"
    assert argosy(members.repository, capsys, "verify", "-n", "9").out.count(": equal\n") == 5


def test_the_whole_move_is_shown_and_judged_before_its_first_step(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    members = Members(tmp_path, "oslo", "paris", policy=divided(oslo=1), movementGuard={"workload": {"replicas": 5}})
    members.repository.commit({"policy.yaml": divided(paris=1)})
    shown = argosy(members.repository, capsys, "diff", "HEAD~1", "HEAD").out
    assert shown.partition("REPLICAS\n")[2].partition("\nREFUSED")[0] == (
        "  Deployment.apps default/web: 6 replicas, 6 moved\n"
        "      oslo 6 -> 0, paris 0 -> 6\n"
        "\nSTAYS\n  Deployment.apps default/web: MakeBeforeBreak: moves step by step: oslo has 6 and ends with 0, paris"
        " has 2 and ends with 6; the next step comes when enough of them are ready\n"
    )
    refused = argosy(members.repository, capsys, "reconcile")
    assert (refused.code, "6 of 6 replicas move (more than 5)" in refused.err) == (6, True)
    members.repository.git("commit", "--allow-empty", "-qm", "Move web\n\nArgosy-Allow-Movement: * 6")
    for _ in range(9):
        members.run()
    assert members.commits()[1:] == ["oslo 6, paris 2", "oslo 4, paris 4", "oslo 2, paris 6", "paris 6"]


def test_copies_that_leave_last_are_judged_when_their_move_begins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A protected object is taken out of no cluster by the last step, for nobody would be asked then."""
    members = Members(tmp_path, "oslo", "paris", policy=duplicated("oslo"))
    protected = web(6)
    protected["metadata"]["labels"]["resourcetemplate.karmada.io/deletion-protected"] = "Always"
    members.repository.commit({"web.yaml": protected})
    members.run()
    members.repository.commit({"policy.yaml": duplicated("paris")})
    refused = argosy(members.repository, capsys, "reconcile")
    assert (refused.code, "this change takes away what is protected" in refused.err) == (6, True)
    members.repository.git("commit", "--allow-empty", "-qm", f"Move\n\nArgosy-Allow-Removal: {WEB_REF}")
    for _ in range(5):
        members.run()
    assert members.commits()[-2:] == ["oslo 6, paris 6", "paris 6"]
    assert list(members.fleet.members["oslo"].objects).count(("deployments.apps", "default", "web")) == 0


def test_what_serves_a_copy_is_judged_with_it_and_leaves_with_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody is asked when the last step is done, of which the first pass told."""
    guard = {"count": 0, "percent": 0}
    members = Members(tmp_path, "oslo", "paris", policy=with_service("oslo"), removalGuard=guard)
    members.repository.commit({"service.yaml": SERVICE})
    members.run()
    members.repository.commit({"policy.yaml": with_service("paris")})
    refused = argosy(members.repository, capsys, "reconcile")
    assert (refused.code, "oslo: 2 of 2 objects (more than 0)" in refused.err) == (6, True), refused.err
    members.repository.git("commit", "--allow-empty", "-qm", "Move\n\nArgosy-Allow-Removal: oslo 2")
    for _ in range(9):
        members.run()
    assert members.commits()[-4:] == ["oslo 6, paris 2", "oslo 4, paris 4", "oslo 2, paris 6", "paris 6"]
    left = {key[0] for key in members.fleet.members["oslo"].objects} & {"services.", "deployments.apps"}
    assert left == set(), "the second removal guard, of what is live, lets them go as well"
    assert argosy(members.repository, capsys, "verify", "-n", "9").out.count(": equal\n") == 6


@pytest.mark.parametrize("is_failing_over", [True, False])
def test_a_drain_says_that_replicas_leave_once_others_are_well(
    is_failing_over: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gates = {"featureGates": {"Failover": is_failing_over}}
    members = Members(tmp_path, "oslo", "paris", policy=divided(oslo=1, paris=1), **gates)
    drain = argosy(members.repository, capsys, "cluster", "drain", "oslo", "--commit")
    assert drain.out.splitlines()[0] == "cluster/oslo draining: 0 objects are to leave, 1 once they are well elsewhere"
    members.run(20)
    again = argosy(members.repository, capsys, "cluster", "drain", "oslo").out
    assert again.startswith("cluster/oslo already draining: 0 objects are to leave, 1 once they are well elsewhere\n")
    for _ in range(9):
        members.run(20)
    assert members.commits() == ["oslo 3, paris 3", "oslo 3, paris 5", "oslo 1, paris 6", "paris 6"]
