"""Clones of a fleet that go their own ways meet in the cluster: the second is refused, and nothing is taken back."""

import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler.deliver.results import ClusterReport
from reconciler.members.exchange import Answer, Client, Failure, Request
from reconciler.members.options import DeliveryOptions

from .applying import Recorder, Send, outcomes
from .build import Repository, a_cluster, a_config_map, a_policy, on_clusters
from .clusters import remove_namespaces
from .memory_fleet import MemoryFleet

SELECTED = {"apiVersion": "v1", "kind": "ConfigMap"}
SPACE = f"t{secrets.token_hex(4)}"
OLDER = DeliveryOptions(allow_older=True)


@pytest.fixture(params=["in memory", pytest.param("real", marks=pytest.mark.cluster)])
def fleet(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MemoryFleet]:
    """A fleet of one member that holds two ConfigMaps and their namespace."""
    policy = a_policy(selectors=[SELECTED], placement=on_clusters("member1"), namespace=SPACE)
    files = {f"{name}.yaml": a_config_map(name, namespace=SPACE, said="once") for name in ("a", "b")}
    made = MemoryFleet.create(tmp_path / "fleet", {"member1": (0, {})}, {**files, "policy.yaml": policy})
    if request.param == "real":
        made.members["member1"] = request.getfixturevalue("members")[0]
    made.run()
    yield made
    if request.param == "real":
        remove_namespaces([made.members["member1"]], SPACE)


def forked(fleet: MemoryFleet) -> MemoryFleet:
    """A copy of the repository with all its branches, whose contexts lead to the same cluster."""
    path = fleet.repository.path.with_name("fork")
    shutil.copytree(fleet.repository.path, path)
    return MemoryFleet(Repository(path), members=fleet.members, now=fleet.now)


def change(fleet: MemoryFleet, name: str, said: str) -> None:
    fleet.repository.commit({f"{name}.yaml": a_config_map(name, namespace=SPACE, said=said)})


def told(reports: tuple[ClusterReport, ...]) -> dict[str, str]:
    (report,) = reports
    assert report.applied is not None, report.failure
    found = outcomes(report.applied).items()
    return {name: said for name, said in found if said != "unchanged UpToDate"}


def refused(reports: tuple[ClusterReport, ...]) -> tuple[str, str]:
    (report,) = reports
    assert report.failure is not None
    assert report.applied is None
    return report.failure.message, report.failure.hint


def rendered(fleet: MemoryFleet) -> str:
    return fleet.repository.git("rev-parse", "argosy/rendered")[:12]


def diverged(one: MemoryFleet, other: MemoryFleet) -> tuple[str, str]:
    """The refusal of the clone that comes second."""
    message = (
        f"'member1' was given {rendered(one)}, which {rendered(other)} does not follow: another clone of this fleet"
        " applies to it, or the rendered branch was rewound"
    )
    hint = (
        "let one of them apply to it, and bootstrap the other as a fleet of its own; if this one is right:"
        " --allow-older"
    )
    return message, hint


def test_a_fork_neither_overwrites_nor_prunes_what_the_other_clone_wants(fleet: MemoryFleet) -> None:
    """Once each overwrote the other's values as drift, deleted what it had left out, and called itself converged."""
    fork = forked(fleet)
    change(fleet, "a", "by the fleet")
    fork.repository.commit({"a.yaml": a_config_map("a", namespace=SPACE, said="by the fork"), "b.yaml": None})
    assert told(fleet.run()) == {"ConfigMap a": "configured Changed"}
    for _ in range(2):
        assert refused(fork.run(allowed={"*": 9})) == diverged(fleet, fork)
    assert told(fleet.run()) == {}


def test_one_clone_takes_over_where_that_is_said_and_the_other_is_told(fleet: MemoryFleet) -> None:
    fork = forked(fleet)
    change(fleet, "a", "by the fleet")
    change(fork, "a", "by the fork")
    fleet.run()
    fork.run()
    assert told(fork.run(options=OLDER)) == {"ConfigMap a": "configured Changed"}
    assert told(fork.run()) == {}
    assert refused(fleet.run()) == diverged(fork, fleet)


def test_a_clone_that_is_not_ahead_of_the_cluster_goes_on_with_its_next_commit(fleet: MemoryFleet) -> None:
    """The repository moved with all its branches: what the cluster was given stands in its history."""
    moved = forked(fleet)
    change(moved, "a", "after the move")
    assert told(moved.run()) == {"ConfigMap a": "configured Changed"}


def go_back(fleet: MemoryFleet, rendered_before: str) -> None:
    """Rewind the source and the rendered branch, and lose what the status branch says of the cluster."""
    fleet.repository.git("reset", "-q", "--hard", "HEAD~1")
    fleet.repository.git("update-ref", "refs/heads/argosy/rendered", rendered_before)
    fleet.repository.git("branch", "-D", "argosy/status")


def test_a_commit_older_than_what_the_cluster_holds_is_refused_without_a_status_branch(fleet: MemoryFleet) -> None:
    before = fleet.repository.git("rev-parse", "argosy/rendered")
    change(fleet, "a", "later")
    fleet.run()
    go_back(fleet, before)
    assert refused(fleet.run()) == (
        f"{before[:12]} is older than what 'member1' holds",
        "going back is allowed when it is said: revert in the source, or pass --allow-older",
    )
    assert told(fleet.run(options=OLDER)) == {"ConfigMap a": "configured Changed"}
    assert told(fleet.run()) == {}


def cloned(fleet: MemoryFleet, path: Path) -> MemoryFleet:
    """Give a fleet a remote, and return a clone of it."""
    hub = Repository.create(path / "hub.git", bare=True)
    fleet.repository.git("remote", "add", "origin", str(hub.path))
    fleet.repository.git("push", "-q", "origin", "--all")
    fleet.repository.git("branch", "-D", "argosy/rendered", "argosy/status")
    fleet.repository.git("clone", "-q", str(hub.path), str(path / "clone"))
    return MemoryFleet(Repository(path / "clone"), members=fleet.members, now=fleet.now)


def test_a_pass_that_a_newer_one_of_another_clone_overtook_takes_nothing_back(
    fleet: MemoryFleet, tmp_path: Path
) -> None:
    """The commit that the cluster was given meanwhile is not in this clone yet: the remote is asked again."""
    slow = cloned(fleet, tmp_path)
    before = slow.repository.git("rev-parse", "origin/argosy/rendered")
    change(fleet, "a", "later")

    def overtaken(name: str, deadline: float) -> Client | Failure:
        """Let the other clone do its pass after this one was rendered, before its cluster is applied to."""
        if len(slow.opened) == 1:
            fleet.run()
        return MemoryFleet.open(slow, name, deadline)

    slow.open = overtaken  # type: ignore[method-assign]
    assert refused(slow.run())[0] == f"{before[:12]} is older than what 'member1' holds"
    assert told(fleet.run()) == {}


def test_what_a_newer_pass_applied_meanwhile_is_remembered_by_the_slow_one(fleet: MemoryFleet, tmp_path: Path) -> None:
    """Its record stands for all that the cluster may hold; once it forgot the object, which nobody removed then."""
    slow = cloned(fleet, tmp_path)
    path = f"/api/v1/namespaces/{SPACE}/configmaps/a"
    change(slow, "a", "by the slow one")
    slow.repository.git("push", "-q", "origin", "HEAD:main")
    newer: list[tuple[ClusterReport, ...]] = []

    def overtaken(request: Request, send: Send) -> Answer | Failure:
        """Let the other clone do its pass when this one begins to write."""
        if request.path == path and request.method == "PATCH" and not newer:
            fleet.repository.git("pull", "-q", "origin", "main")
            change(fleet, "c", "new")
            newer.append(fleet.run())
        return send(request)

    def opened(name: str, deadline: float) -> Client | Failure:
        client = MemoryFleet.open(slow, name, deadline)
        return client if isinstance(client, Failure) else Recorder(client, wire=overtaken)

    slow.open = opened  # type: ignore[method-assign]
    assert told(slow.run()) == {"ConfigMap a": "configured Changed"}
    assert told(newer[0]) == {"ConfigMap a": "configured Changed", "ConfigMap c": "created Missing"}
    fleet.repository.commit({"c.yaml": None})
    assert told(fleet.run()) == {"ConfigMap c": "deleted NotWanted"}


def test_going_back_to_an_equal_commit_is_said_once(fleet: MemoryFleet) -> None:
    """Nothing is written in the cluster but which commit it holds now."""
    before = fleet.repository.git("rev-parse", "argosy/rendered")
    change(fleet, "c", "new")
    fleet.run()
    fleet.repository.commit({"c.yaml": None})
    fleet.run()
    fleet.repository.git("reset", "-q", "--hard", "HEAD~1")
    go_back(fleet, before)
    assert "is older than" in refused(fleet.run())[0]
    assert told(fleet.run(options=OLDER)) == {}
    assert told(fleet.run()) == {}


def test_an_agent_goes_on_from_a_commit_that_a_pass_applied_and_its_mirror_never_had(fleet: MemoryFleet) -> None:
    fleet.repository.commit({"clusters/member1.yaml": a_cluster("member1", syncMode="Pull")})
    change(fleet, "a", "by the agent")
    fleet.by_agent = True
    assert told(fleet.run()) == {"ConfigMap a": "configured Changed"}


def let(fleet: MemoryFleet, mode: str, name: str = "a", said: str = "once") -> None:
    """Let the member pull, or not any more, and change an object with it."""
    changed = a_config_map(name, namespace=SPACE, said=said)
    fleet.repository.commit({"clusters/member1.yaml": a_cluster("member1", syncMode=mode), f"{name}.yaml": changed})
    fleet.by_agent = mode == "Pull"


def test_an_agent_that_goes_on_after_its_cluster_pulls_no_more_takes_nothing_back(fleet: MemoryFleet) -> None:
    let(fleet, "Pull")
    fleet.run()
    let(fleet, "Push", said="by a pass")
    pulled, now = rendered(fleet), fleet.run()
    assert told(now) == {"ConfigMap a": "configured Changed"}
    for _ in range(2):
        report = fleet.pull("member1").report
        assert report is not None
        assert refused((report,)) == (
            f"'member1' was given {rendered(fleet)} since this agent applied {pulled}",
            "take the agent back where passes apply to the cluster now; if it pulls again: --accept-rewind, once",
        )
    assert told(fleet.run()) == {}


def test_an_agent_goes_on_with_the_next_commit_where_its_cluster_pulls_again(fleet: MemoryFleet) -> None:
    for mode, said in (("Pull", "once"), ("Push", "by a pass"), ("Pull", "by its agent")):
        let(fleet, mode, said=said)
        assert [report.failure for report in fleet.run()] == [None]
    assert told(fleet.run()) == {}


def test_an_agent_whose_cluster_pulls_the_same_again_goes_on_once_that_is_said(fleet: MemoryFleet) -> None:
    for mode, said in (("Pull", "once"), ("Push", "by a pass")):
        let(fleet, mode, said=said)
        fleet.run()
    let(fleet, "Pull")
    refused(fleet.run())
    accepted = fleet.pull("member1", accepts_rewind=True).report
    assert accepted is not None
    assert told((accepted,)) == {"ConfigMap a": "configured Drifted"}
    assert told(fleet.run()) == {}


def test_a_cluster_that_begins_to_pull_what_a_pass_has_applied_goes_on(fleet: MemoryFleet) -> None:
    """Its mirror never had the commit that the pass applied, nor does its first one ask for anything else."""
    policy = a_policy(selectors=[SELECTED], placement=on_clusters("member1"), namespace=SPACE)
    policy["spec"]["preserveResourcesOnDeletion"] = True
    before = rendered(fleet)
    fleet.repository.commit({"policy.yaml": policy})
    let(fleet, "Pull")
    assert [told(fleet.run()) for _ in range(2)] == [{}, {}]
    assert rendered(fleet) != before
