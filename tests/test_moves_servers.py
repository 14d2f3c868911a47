"""A move step by step over real API servers, by whole passes; controllers write the status of Deployments."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from .build import Repository, a_cluster, argosy
from .clusters import Member, members_of_a_fleet
from .moving import a_fleet_of_moves, divided, web
from .test_outage_real_servers import MERGE, WEBS, settle_one

pytestmark = pytest.mark.cluster

NAMES = ("oslo", "paris")


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[dict[str, Member], Path]]:
    """Two API servers without controllers, and a folder with their kubeconfigs."""
    with members_of_a_fleet(NAMES) as (members, folder):
        yield {member.name: member for member in members}, folder / "kubeconfigs"


class Fleet:
    """A fleet over real servers, whose passes are whole runs of ``argosy reconcile``."""

    def __init__(
        self, folder: Path, servers: tuple[dict[str, Member], Path], capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.members, self.kubeconfigs = servers
        self.repository, self.capsys = Repository.create(folder / "fleet"), capsys
        clusters = {f"{name}.yaml": a_cluster(name) for name in NAMES}
        files = {"argosy.yaml": a_fleet_of_moves(), "web.yaml": web(6), "policy.yaml": divided(oslo=1)}
        self.repository.commit({**clusters, **files})
        self.reconcile("--bootstrap")

    def reconcile(self, *options: str) -> str:
        """Run a pass, and return what was said of a move that waits."""
        ended = argosy(self.repository, self.capsys, "reconcile", "--kubeconfigs", str(self.kubeconfigs), *options)
        assert ended.code == 0, ended
        return ended.err.partition("and waits for ")[2].strip()

    def replicas(self) -> dict[str, tuple[int, int]]:
        """The replicas that web asks for in each server that has it, and those that are ready."""
        found = {}
        for name, member in self.members.items():
            code, live = member.request("GET", f"{WEBS}/web")
            if code == 200:
                found[name] = live["spec"]["replicas"], live.get("status", {}).get("readyReplicas", 0)
        return found

    def start(self, name: str, ready: int | None = None) -> None:
        """Let the controller of a server start pods, of which so many get ready (None: all)."""
        live = self.members[name].read(f"{WEBS}/web")
        settle_one(self.members[name], live)
        if ready is not None:
            status = {"readyReplicas": ready, "availableReplicas": ready, "updatedReplicas": ready}
            code, answer = self.members[name].request(
                "PATCH", f"{WEBS}/web/status", {"status": status}, content_type=MERGE
            )
            assert code == 200, answer


def test_replicas_leave_a_server_as_their_successors_in_another_get_ready(
    servers: tuple[dict[str, Member], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = Fleet(tmp_path, servers, capsys)
    fleet.start("oslo")
    fleet.reconcile()
    fleet.repository.commit({"policy.yaml": divided(paris=1)})
    fleet.reconcile()
    assert fleet.replicas() == {"oslo": (6, 6), "paris": (2, 0)}
    assert fleet.reconcile() == "paris, where nobody knows yet what is ready"
    fleet.start("paris", ready=1)
    fleet.reconcile()
    fleet.reconcile()
    assert fleet.replicas() == {"oslo": (5, 6), "paris": (3, 1)}, "one that is ready lets one go"
    fleet.start("oslo")
    assert fleet.reconcile() == "paris, where nobody knows yet what is ready"
    fleet.start("paris", ready=1)
    fleet.reconcile()
    assert fleet.reconcile() == "paris, where 1 of 3 replicas are ready"
    assert fleet.replicas() == {"oslo": (5, 5), "paris": (3, 1)}
    for _ in range(4):
        for name in fleet.replicas():
            fleet.start(name)
        assert sum(ready for _, ready in fleet.replicas().values()) >= 6
        fleet.reconcile()
        fleet.reconcile()
    assert fleet.replicas() == {"paris": (6, 6)}
    told = argosy(fleet.repository, capsys, "verify", "-n", "9").out
    assert told.count(": equal\n") == len(told.splitlines()) == 6
