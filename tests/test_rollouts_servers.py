"""Rollouts over real API servers by whole passes, with the status of Deployments written as a controller would."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from reconciler.members.options import DeliveryOptions
from reconciler.run.pass_job import PassJob, PassReport
from render.documents import parse_documents
from render.failover.health import HealthThresholds

from .build import Ended, Repository, a_cluster, a_policy, argosy, on_clusters
from .clusters import Member, members_of_a_fleet
from .rolling import WEB, a_rollout_policy, a_wave, web
from .test_outage_real_servers import MERGE, WEBS, settle_one
from .waiting import eventually, running

pytestmark = pytest.mark.cluster

NAMES = ("oslo", "paris", "rome")
WAVES = [a_wave("canary", "oslo"), a_wave("second", "paris"), a_wave("rest")]
STATE = "rollouts/default/web.yaml"


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[dict[str, Member], Path]]:
    """Three API servers without controllers, and a folder with their kubeconfigs."""
    with members_of_a_fleet(NAMES) as (members, folder):
        yield {member.name: member for member in members}, folder / "kubeconfigs"


@dataclass(frozen=True)
class ServedFleet:
    """A fleet over real servers, whose passes are whole runs of ``argosy reconcile``."""

    repository: Repository
    members: dict[str, Member]
    kubeconfigs: Path
    capsys: pytest.CaptureFixture[str]

    def begin(self, waves: list[dict[str, Any]], **policy: Any) -> None:
        """Give every member the first version, well as it is."""
        placed = a_policy("web", selectors=[WEB], placement=on_clusters())
        clusters = {f"{name}.yaml": a_cluster(name) for name in NAMES}
        files = {"web.yaml": web(1), "policy.yaml": placed, "rollout.yaml": a_rollout_policy(waves=waves, **policy)}
        self.repository.commit({**clusters, **files})
        assert self.reconcile("--bootstrap").code == 0
        self.settle(*NAMES)
        self.reconcile()

    def reconcile(self, *options: str) -> Ended:
        return argosy(self.repository, self.capsys, "reconcile", "--kubeconfigs", str(self.kubeconfigs), *options)

    def run(self, passes: int = 2) -> str:
        """Run passes, and return what the servers have then."""
        for _ in range(passes):
            self.reconcile()
        return self.images()

    def reported_pass(self) -> PassReport:
        """Run a pass as the controller does, in a process of its own, and return its report."""
        delivery = DeliveryOptions(kubeconfigs=str(self.kubeconfigs))
        job = PassJob(fleet="shop", repository=str(self.repository.path), delivery=delivery)
        program = "from reconciler.run.processes.pass_process import main; main()"
        pipe = subprocess.PIPE
        with running([sys.executable, "-c", program], stdin=pipe, stdout=pipe, stderr=pipe) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(job.to_json() + "\n")
            process.stdin.flush()
            lines = [line for line in process.stdout if line.strip()]
        return PassReport.from_json(lines[-1])

    def say(self, *words: str) -> None:
        ended = argosy(self.repository, self.capsys, "rollout", *words, "--commit")
        assert ended.code == 0, ended

    def live(self, name: str) -> Any:
        return self.members[name].read(f"{WEBS}/web")

    def images(self) -> str:
        """The version of web in each server, as one digit for each of the names."""
        found = (self.live(name)["spec"]["template"]["spec"]["containers"][0]["image"] for name in NAMES)
        return "".join(image.removeprefix("web:") for image in found)

    def settle(self, *names: str) -> None:
        """Let the controllers of servers come to the end of what they have to do."""
        for name in names:
            settle_one(self.members[name], self.live(name))

    def report(self, name: str, **status: Any) -> None:
        """Let the controller of a server report something."""
        path = f"{WEBS}/web/status"
        code, answer = self.members[name].request("PATCH", path, {"status": status}, content_type=MERGE)
        assert code == 200, answer

    def recorded(self, path: str, branch: str) -> Any:
        return parse_documents((self.repository.show(path, branch) + "\n").encode())[0].value

    def health(self, name: str) -> tuple[str, str]:
        """The health of web in a server as it is recorded, with its reason."""
        work = self.recorded(f"works/{name}/default/Deployment.apps/web.yaml", "argosy/status")
        conditions = {each["type"]: each for each in work["status"]["conditions"]}
        return work["status"]["manifestStatuses"][0]["health"], conditions["Healthy"]["reason"]

    def phase(self) -> str:
        return str(self.recorded(STATE, "argosy/rendered")["phase"])


@pytest.fixture
def fleet(
    servers: tuple[dict[str, Member], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Iterator[ServedFleet]:
    members, kubeconfigs = servers
    yield ServedFleet(Repository.create(tmp_path / "fleet"), members, kubeconfigs, capsys)
    for member in members.values():
        member.request("DELETE", f"{WEBS}/web")


def test_no_server_gets_a_change_before_the_one_before_is_well_with_it(fleet: ServedFleet) -> None:
    """A server that was well before is not taken for well with what its controller has not seen yet."""
    fleet.begin(WAVES)
    fleet.repository.commit({"web.yaml": web(2)})
    for before, name, after in (("111", "oslo", "211"), ("211", "paris", "221"), ("221", "rome", "222")):
        assert fleet.images() == before
        assert fleet.run(1) == after
        live = fleet.live(name)
        assert live["status"]["observedGeneration"] < live["metadata"]["generation"]
        assert live["status"]["availableReplicas"] == live["spec"]["replicas"], "as it was with the version before"
        assert fleet.health(name) == ("Unhealthy", "NotObserved")
        assert (fleet.run(), fleet.phase()) == (after, "Progressing")
        fleet.report(name, observedGeneration=live["metadata"]["generation"], updatedReplicas=0)
        assert (fleet.run(), fleet.phase(), fleet.health(name)[0]) == (after, "Progressing", "Unhealthy")
        fleet.settle(name)
        assert fleet.run(1) == after, "this pass sees that it is well, and the next one goes on"
    fleet.run()
    assert fleet.phase() == "Completed"


def test_a_server_that_is_down_is_passed_over_and_drift_goes_back_to_the_version_that_a_server_stands_at(
    fleet: ServedFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reconciler.observe.cluster_status._THRESHOLDS", HealthThresholds(failure=2, success=0))
    fleet.begin([WAVES[0], WAVES[2]])  # a wave of which nobody can be asked would prove nothing, and wait
    fleet.repository.commit({"web.yaml": web(2)})
    assert fleet.run(1) == "211"
    fleet.members["rome"].kubectl("-n", "default", "set", "image", "deployment/web", "*=web:9")
    assert fleet.images() == "219"
    assert fleet.run(1) == "211"
    fleet.settle("oslo", "rome")
    fleet.members["paris"].stop_server()
    try:

        def rome_has_it() -> bool:
            fleet.reconcile()
            image = fleet.live("rome")["spec"]["template"]["spec"]["containers"][0]["image"]
            return bool(image == "web:2")

        eventually(rome_has_it, "rome's turn", seconds=60, pause=0.5)
        fleet.settle("rome")
        fleet.reconcile()
    finally:
        fleet.members["paris"].start_server()
    assert fleet.images() == "212"
    assert fleet.run() == "222"
    assert fleet.phase() == "Progressing"
    fleet.settle("paris")
    fleet.run()
    assert fleet.phase() == "Completed"


def test_the_controller_looks_at_members_soon_while_a_rollout_waits_for_them(fleet: ServedFleet) -> None:
    fleet.begin([WAVES[0], a_wave("rest", approval=True)])
    assert not fleet.reported_pass().waits_for_clusters
    fleet.repository.commit({"web.yaml": web(2)})
    begun = fleet.reported_pass()
    assert (begun.is_committed, begun.waits_for_clusters) == (True, True)
    fleet.run(3)
    idle = fleet.reported_pass()
    assert (idle.is_unchanged, idle.waits_for_clusters) == (True, True)
    fleet.settle("oslo")
    assert (fleet.run(), fleet.phase()) == ("211", "Waiting")
    assert not fleet.reported_pass().waits_for_clusters, "it waits for a person, who writes a commit"


def test_a_rollout_is_paused_approved_and_aborted(fleet: ServedFleet) -> None:
    fleet.begin([WAVES[0], a_wave("second", "paris", approval=True), WAVES[2]])
    fleet.repository.commit({"web.yaml": web(2)})
    assert fleet.run(1) == "211"
    fleet.say("pause")
    fleet.settle("oslo")
    assert (fleet.run(), fleet.phase()) == ("211", "Paused")
    fleet.say("resume")
    assert (fleet.run(), fleet.phase()) == ("211", "Waiting")
    fleet.say("approve", "--wave", "second")
    assert fleet.run(1) == "221"
    fleet.say("abort")
    fleet.settle("paris")
    assert (fleet.run(3), fleet.phase()) == ("221", "Held")
    status = json.loads(argosy(fleet.repository, fleet.capsys, "rollout", "status", "-o", "json").out)
    assert [each["cluster"] for each in status["clusters"]] == ["oslo", "paris"]
    fleet.repository.commit({"web.yaml": web(3)})
    assert fleet.run() == "321"
