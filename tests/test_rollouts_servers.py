"""Rollouts over real API servers by whole passes, with the status of Deployments written as a controller would."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from reconciler.members.options import DeliveryOptions
from reconciler.run.pass_job import PassJob, PassReport
from render.documents import parse_documents
from render.failover.health import HealthThresholds
from render.timing import instant_text

from .build import Ended, Repository, a_cluster, a_policy, argosy, on_clusters
from .clusters import Member, members_of_a_fleet
from .killed_effects import KILLED
from .rolling import WEB, a_rollout_policy, a_wave, web
from .test_outage_real_servers import MERGE, WEBS, settle_one
from .waiting import SECONDS, eventually, running

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).parent.parent
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

    def begin(self, waves: list[dict[str, Any]], names: Sequence[str] = NAMES, **policy: Any) -> None:
        """Give every member of the source the first version, well as it is."""
        placed = a_policy("web", selectors=[WEB], placement=on_clusters())
        clusters = {f"{name}.yaml": a_cluster(name) for name in names}
        files = {"web.yaml": web(1), "policy.yaml": placed, "rollout.yaml": a_rollout_policy(waves=waves, **policy)}
        # Fleets that begin alike in one second would be one and the same to members.
        self.repository.commit({**clusters, **files}, message=str(self.repository.path))
        begun = self.reconcile("--bootstrap")
        assert begun.code == 0, begun.out
        self.settle(*names)
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

    def code_of_pass_that_dies(self, effect: int) -> int:
        """Run a pass in a process of its own, which dies before an effect, and return its exit code."""
        options = ["-q", "-C", str(self.repository.path), "reconcile", "--kubeconfigs", str(self.kubeconfigs)]
        command = [sys.executable, "-m", "tests.killed_effects", str(effect), *options]
        return subprocess.run(command, cwd=ROOT, capture_output=True, check=False, timeout=SECONDS).returncode

    def say(self, *words: str) -> None:
        ended = argosy(self.repository, self.capsys, "rollout", *words, "--commit")
        assert ended.code == 0, ended

    def live(self, name: str) -> Any:
        return self.members[name].read(f"{WEBS}/web")

    def images(self) -> str:
        """The version of web in each server, as one digit for each of the names; a dash where it is not."""
        return "".join(version_of(live) for live in map(self.live, NAMES))

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


def version_of(live: Any) -> str:
    image = live["spec"]["template"]["spec"]["containers"][0]["image"] if live else "-"
    return str(image).removeprefix("web:")


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
    states = {each["cluster"]: each["state"] for each in status["clusters"]}
    assert states == {"oslo": "through", "paris": "through", "rome": "waits"}
    fleet.repository.commit({"web.yaml": web(3)})
    assert fleet.run() == "321"


def test_a_server_that_joins_has_the_completed_version_until_its_wave_is_due(fleet: ServedFleet) -> None:
    fleet.begin([WAVES[0], WAVES[2]], NAMES[:2])
    fleet.repository.commit({"web.yaml": web(2)})
    assert fleet.run(1) == "21-"
    fleet.repository.commit({"rome.yaml": a_cluster("rome")})
    assert fleet.run() == "211"
    fleet.settle("oslo", "rome")
    assert fleet.run() == "222"
    fleet.settle(*NAMES)
    fleet.run()
    assert fleet.phase() == "Completed"


def test_a_hotfix_supersedes_a_change_in_servers_with_three_versions(fleet: ServedFleet) -> None:
    fleet.begin(WAVES)
    fleet.repository.commit({"web.yaml": web(2)})
    fleet.run(1)
    fleet.settle("oslo")
    assert fleet.run() == "221"
    fleet.repository.commit({"web.yaml": web(3)})
    assert fleet.run() == "321"
    fleet.settle("paris")  # is well by the version that nobody waits for any more
    assert fleet.run() == "321"
    for name, after in (("oslo", "331"), ("paris", "333")):
        fleet.settle(name)
        assert fleet.run() == after
    fleet.settle("rome")
    fleet.run()
    assert fleet.phase() == "Completed"


def test_a_failure_takes_servers_back_with_the_replicas_of_now_until_a_retry(fleet: ServedFleet) -> None:
    waves = [WAVES[0], WAVES[1], WAVES[2]]
    fleet.begin(waves, onFailure="Rollback", gate={"deadline": "1s"})
    fleet.repository.commit({"web.yaml": web(2)})
    assert fleet.run(1) == "211"
    eventually(lambda: fleet.run(1) == "111", "the deadline", seconds=60, pause=0.5)
    assert fleet.phase() == "Held"
    fleet.repository.commit({"web.yaml": web(2, replicas=5)})
    assert (fleet.run(), fleet.phase()) == ("111", "Held")
    assert [fleet.live(name)["spec"]["replicas"] for name in NAMES] == [5, 5, 5]
    fleet.settle(*NAMES)
    fleet.say("retry")
    assert fleet.run(1) == "211"


def test_replicas_change_at_once_in_servers_at_the_version_of_each(fleet: ServedFleet) -> None:
    fleet.begin(WAVES)
    fleet.repository.commit({"web.yaml": web(2, replicas=7)})
    assert fleet.run(1) == "211"
    assert [fleet.live(name)["spec"]["replicas"] for name in NAMES] == [7, 7, 7]
    fleet.members["rome"].kubectl("-n", "default", "scale", "deployment/web", "--replicas=1")
    fleet.members["rome"].kubectl("-n", "default", "set", "image", "deployment/web", "*=web:9")
    assert fleet.run(1) == "211"
    assert fleet.live("rome")["spec"]["replicas"] == 7


def test_servers_go_on_while_the_newest_source_is_refused_and_end_by_a_policy_that_is_no_more(
    fleet: ServedFleet,
) -> None:
    fleet.begin(WAVES)
    fleet.repository.commit({"web.yaml": web(2)})
    assert fleet.run(1) == "211"
    fleet.repository.commit({"broken.yaml": {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy"}})
    fleet.settle("oslo")
    assert fleet.reconcile().code == 3
    assert fleet.run() == "221"
    fleet.repository.git("rm", "-q", "broken.yaml", "rollout.yaml")
    fleet.repository.commit({})
    assert fleet.run() == "221"
    fleet.settle("paris")
    assert fleet.run() == "222"


def test_servers_are_asked_again_when_the_status_branch_is_lost(fleet: ServedFleet) -> None:
    fleet.begin(WAVES)
    fleet.repository.commit({"web.yaml": web(2)})
    fleet.run(1)
    fleet.settle("oslo")
    assert fleet.run() == "221"
    fleet.repository.git("update-ref", "-d", "refs/heads/argosy/status")
    assert fleet.run() == "221", "what nobody knows any more is not well"
    fleet.settle("paris")
    assert fleet.run() == "222"
    fleet.settle("rome")
    fleet.run()
    assert fleet.phase() == "Completed"


def test_a_pass_over_servers_that_dies_before_an_effect_is_done_again_by_the_next(fleet: ServedFleet) -> None:
    """Also files that a pass remembers things in, and leases of who writes, are effects here."""
    fleet.begin(WAVES)
    for version, effects in ((2, (1, 14, 27)), (3, (40, 12, 3))):
        fleet.repository.commit({"web.yaml": web(version)})
        for effect in effects:
            assert fleet.code_of_pass_that_dies(effect) == KILLED
        assert fleet.run(1) == f"{version}11"
    fleet.settle("oslo")
    fleet.run(1)
    fleet.repository.commit({"broken.yaml": {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy"}})
    for effect in (25, 9, 2):
        assert fleet.code_of_pass_that_dies(effect) == KILLED
    assert fleet.run() == "331", "the last good source goes on"
    commits = fleet.repository.git("log", "--format=%(trailers:key=Argosy-Source,valueonly)%T", "argosy/rendered")
    trees = commits.split()[1::2]
    assert len(set(trees)) == len(trees), "nothing was committed twice"


def test_the_first_delivery_goes_to_servers_by_waves_and_a_removal_at_once(fleet: ServedFleet) -> None:
    fleet.begin(WAVES)
    fleet.repository.git("rm", "-q", "web.yaml")
    fleet.repository.commit({"rollout.yaml": a_rollout_policy(waves=WAVES, alsoFor=["FirstDeliveries"])})
    fleet.reconcile("--allow-removal", "*=1")
    assert fleet.run() == "---"
    fleet.repository.commit({"web.yaml": web(2)})
    for name, after in (("oslo", "2--"), ("paris", "22-"), ("rome", "222")):
        assert fleet.run() == after
        fleet.settle(name)
    fleet.run()
    assert fleet.phase() == "Completed"


def test_a_pass_that_comes_rarely_looks_at_servers_before_it_opens_a_gate(fleet: ServedFleet) -> None:
    """One pass by hand each half hour: what broke after the last look opens nothing, and what is well does."""
    fleet.begin([WAVES[0], WAVES[2]], gate={"healthyFor": "5m", "maxStatusAge": "5m"})
    fleet.repository.commit({"web.yaml": web(2)})
    assert fleet.run(1) == "211"
    fleet.settle("oslo")
    assert fleet.run() == "211", "this pass sees that it is well"
    live, begin = fleet.live("oslo"), datetime.now(UTC)
    fleet.report("oslo", availableReplicas=0, readyReplicas=0, unavailableReplicas=live["spec"]["replicas"])

    def pass_after(minutes: int) -> tuple[str, str, str]:
        later = instant_text(begin + timedelta(minutes=minutes))
        assert fleet.reconcile("--now", later).code == 0
        return fleet.images(), fleet.phase(), fleet.health("oslo")[0]

    assert pass_after(30) == ("211", "Progressing", "Unhealthy")
    assert pass_after(60) == ("211", "Progressing", "Unhealthy")
    fleet.report("oslo", **dict.fromkeys(("availableReplicas", "readyReplicas"), live["spec"]["replicas"]))
    assert pass_after(90) == ("222", "Progressing", "Healthy")
    fleet.settle("paris", "rome")
    assert pass_after(120) == ("222", "Completed", "Healthy"), "those that were given it are looked at first, too"
    assert argosy(fleet.repository, fleet.capsys, "verify", "-n", "9").code == 0
