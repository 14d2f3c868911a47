"""Outages of real API servers: one is killed and comes back, with failover on and the real clock.

Deployments get their status from a stand-in for the controllers, as nothing runs pods here.
"""

import json
import shutil
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from render.documents import parse_documents

from .build import Repository, a_cluster, a_deployment, a_policy, argosy, weighted
from .clusters import Member, members_of_a_fleet
from .controllers import controller
from .test_failover import DOWN, TOLERATED, WEB, a_fleet
from .waiting import eventually, joined

pytestmark = pytest.mark.cluster

NAMES = ("oslo", "paris", "rome")
WEBS = "/apis/apps/v1/namespaces/default/deployments"
BINDING, TAINTS, PARIS = "bindings/default/Deployment.apps/web.yaml", "taints.yaml", "clusters/paris.yaml"
TOLERATED_SECONDS, THRESHOLD_SECONDS = 10, 30
FAILING = "argosy.dev/failing-since"
MERGE = "application/merge-patch+json"


@pytest.fixture(scope="module")
def outage() -> Iterator[tuple[dict[str, Member], Path]]:
    """Three API servers, and a folder with their kubeconfigs."""
    with members_of_a_fleet(NAMES) as (members, folder):
        yield {member.name: member for member in members}, folder / "kubeconfigs"


@contextmanager
def settling(members: Iterable[Member]) -> Iterator[None]:
    """Let every Deployment of the members that answer become as it should be, for as long as the block."""
    ended = threading.Event()

    def settle(member: Member) -> None:
        while not ended.wait(0.2):
            with suppress(OSError):
                for live in (member.read(WEBS) or {"items": ()})["items"]:
                    settle_one(member, live)

    threads = [threading.Thread(target=settle, args=(member,)) for member in members]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        joined(*threads)


def settle_one(member: Member, live: dict[str, Any]) -> None:
    counters = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
    status = {**dict.fromkeys(counters, live["spec"]["replicas"]), "observedGeneration": live["metadata"]["generation"]}
    if {name: live.get("status", {}).get(name) for name in status} != status:
        path = f"{WEBS}/{live['metadata']['name']}/status"
        member.request("PATCH", path, {"status": status}, content_type=MERGE)


def replicas_in(member: Member) -> int:
    found = member.read(f"{WEBS}/web")
    return int(found["spec"]["replicas"]) if found else 0


@dataclass(frozen=True)
class Outage:
    """A fleet whose replicas leave what has been down for some seconds, and its members."""

    repository: Repository
    members: dict[str, Member]

    @classmethod
    def create(cls, folder: Path, members: dict[str, Member]) -> "Outage":
        repository = Repository.create(folder / "fleet")
        tolerated = [{**TOLERATED[0], "tolerationSeconds": TOLERATED_SECONDS}]
        placement = {"clusterTolerations": tolerated, "replicaScheduling": weighted(oslo=1, paris=1, rome=1)}
        repository.commit(
            {
                **{f"{name}.yaml": a_cluster(name) for name in NAMES},
                "argosy.yaml": a_fleet(featureGates={"Failover": True}),
                "down.yaml": DOWN,
                "web.yaml": a_deployment("web", replicas=6),
                "policy.yaml": a_policy("web", selectors=[WEB], placement=placement, failover={"cluster": {}}),
            }
        )
        return cls(repository, members)

    def recorded(self, path: str, branch: str = "argosy/rendered") -> Any:
        text = self.repository.git("show", f"{branch}:{path}", check=False)
        return parse_documents((text + "\n").encode())[0].value if text else {}

    def holds(self, *names: str, **wanted: int) -> None:
        """Wait until the members that are named hold so many replicas."""
        asked = {name: self.members[name] for name in (*names, *wanted)}
        want = dict.fromkeys(names, 0) | wanted
        eventually(lambda: {name: replicas_in(each) for name, each in asked.items()} == want, f"{want} replicas")

    def failing_since(self) -> str:
        def asked() -> Any:
            return self.recorded(PARIS, "argosy/status").get("metadata", {}).get("annotations", {}).get(FAILING)

        return str(eventually(asked, "a look that fails"))

    def tainted(self) -> str:
        return str(eventually(lambda: self.recorded(TAINTS), "a taint")["clusters"]["paris"][0]["timeAdded"])

    def tasks(self) -> Any:
        return self.recorded(BINDING)["spec"].get("gracefulEvictionTasks")


def at(time_: str) -> float:
    return datetime.fromisoformat(time_).timestamp()


def test_replicas_leave_a_server_that_is_killed_and_its_copy_goes_when_it_is_back(
    outage: tuple[dict[str, Member], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The times are those in Git: none of the rules acts before its seconds are over."""
    members, kubeconfigs = outage
    fleet, took = Outage.create(tmp_path, members), dict[str, float]()
    options = ("--bootstrap", "--kubeconfigs", str(kubeconfigs), "--drift", "1s", "--inside", "0")
    with settling(members.values()), controller(tmp_path, str(fleet.repository.path), *options):
        fleet.holds(oslo=2, paris=2, rome=2)
        members["paris"].stop_server()
        killed = time.time()
        failing, tainted = fleet.failing_since(), fleet.tainted()
        leaves = datetime.fromtimestamp(at(tainted) + TOLERATED_SECONDS, UTC)
        told = f"next: {leaves:%Y-%m-%d %H:%M:%S} UTC, web leaves paris\n"  # known once the pass that taints has ended
        eventually(lambda: told in argosy(fleet.repository, capsys, "status").out, told)
        evicted = eventually(fleet.tasks, "the eviction")[0]["creationTimestamp"]
        fleet.holds(oslo=3, rome=3)
        took["elsewhere"] = time.time() - killed
        eventually(lambda: not fleet.tasks(), "the end of the eviction")
        took["ended"] = time.time() - killed
        back = time.time()
        members["paris"].start_server()
        fleet.holds("paris", oslo=3, rome=3)
        took["old copy gone"] = time.time() - back
        eventually(lambda: not fleet.recorded(TAINTS), "the end of the taint")
    took |= {"failing": at(failing) - killed, "tainted": at(tainted) - killed, "evicted": at(evicted) - killed}
    print({what: round(seconds, 1) for what, seconds in took.items()})
    waited = at(tainted) - at(failing), at(evicted) - at(tainted)
    assert (waited[0] >= THRESHOLD_SECONDS, waited[1] >= TOLERATED_SECONDS) == (True, True), waited
    assert [each["name"] for each in fleet.recorded(BINDING)["spec"]["clusters"]] == ["oslo", "rome"]


def test_a_server_that_refuses_our_token_is_not_down(
    outage: tuple[dict[str, Member], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It answers 401 to a token that expired, and 403 to a user without rights; neither begins a failover."""
    members, kubeconfigs = outage
    fleet, folder = Outage.create(tmp_path, members), tmp_path / "kubeconfigs"
    for member in members.values():  # of another test's fleet
        member.request("DELETE", f"{WEBS}/web")
    shutil.copytree(kubeconfigs, folder)
    own = (folder / "paris.yaml").read_text()
    options = ("reconcile", "--kubeconfigs", str(folder))
    assert argosy(fleet.repository, capsys, *options, "--bootstrap").code == 0
    tree = fleet.repository.git("rev-parse", "argosy/rendered^{tree}")
    token = members["paris"].token
    for other, state in (("expired", "Unauthorized"), (f"{token}-nobody", "Forbidden")):
        (folder / "paris.yaml").write_text(own.replace(token, other))
        argosy(fleet.repository, capsys, *options)
        record = fleet.recorded(PARIS, "argosy/status")
        conditions = {each["type"]: each for each in record["status"]["conditions"]}
        assert FAILING not in record["metadata"]["annotations"]
        assert (conditions["Ready"]["status"], conditions["Observed"]["reason"]) == ("True", state)
        found = json.loads(argosy(fleet.repository, capsys, "status", "-o", "json").out)["clusters"]["paris"]
        assert (found["observation"]["state"], found["ready"], bool(found["hint"])) == (state, "Unknown", True)
    assert fleet.repository.git("rev-parse", "argosy/rendered^{tree}") == tree
    for member in members.values():
        member.request("DELETE", f"{WEBS}/web")
