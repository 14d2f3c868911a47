"""A member that is slow costs itself alone: the others are rendered for, applied to and recorded without it.

The slow ones wait for what the others have, so that a pass which waited for them would not end within the time.
"""

import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest

from reconciler.deliver.reports import exit_code_of_reports
from reconciler.ledger.inventory import ApplyOutcome
from reconciler.members.exchange import Answer, Failure, FailureKind, Request
from reconciler.members.options import DeliveryOptions
from reconciler.observe.members import RETRY_SECONDS
from render.documents import emit

from .attack.hostile_wires import raw_server
from .build import Repository, a_cluster, a_config_map, a_policy, argosy, on_clusters
from .clusters import Member, remove_namespaces
from .fakes import FakeCluster
from .memory_fleet import DOWN, MemoryFleet, add_node
from .prepared import prepared
from .served import kubeconfig_of, serving_members
from .waiting import SECONDS, eventually, happened, running

pytestmark = pytest.mark.waits

ROOT = Path(__file__).parent.parent
NAMES = ("eu", "slow", "us")
ROOMY = {"cpu": "8", "memory": "32Gi", "pods": "110"}
CONVERGED = dict.fromkeys(NAMES, str(ApplyOutcome.CONVERGED))


@pytest.fixture
def fleet(tmp_path: Path) -> MemoryFleet:
    """Three members that get a ConfigMap each."""
    selected = {"apiVersion": "v1", "kind": "ConfigMap"}
    policy = a_policy(selectors=[selected], placement=on_clusters(*NAMES))
    files = {"settings.yaml": a_config_map("settings", a="1"), "policy.yaml": policy}
    return MemoryFleet.create(tmp_path / "fleet", dict.fromkeys(NAMES, (1, ROOMY)), files)


def hold_back(fleet: MemoryFleet, is_held: Callable[[Request], bool]) -> None:
    """Let the slow member answer some requests only when a pass has recorded the others."""
    before = set(applies(fleet))

    def fault(request: Request) -> Answer | Failure | None:
        if is_held(request):
            eventually(lambda: set(applies(fleet)) - before, "the status commit of the other members")
        return None

    fleet.members["slow"].faults.append(fault)


def applies(fleet: MemoryFleet) -> list[str]:
    """The status commits that record an apply, newest first, with the commit each is of."""
    branch = fleet.repository.path / ".git" / "refs" / "heads" / "argosy" / "status"
    return _applies(fleet.repository, branch.read_text() if branch.exists() else "")


@cache
def _applies(repository: Repository, tip: str) -> list[str]:
    """Ask git only for a branch that has moved: those who wait for a commit ask fifty times a second."""
    lines = repository.git("log", "--format=%H %s", tip.strip()).splitlines() if tip else []
    return [line for line in lines if line.split(" ")[1:2] == ["Apply"]]


def states(fleet: MemoryFleet) -> dict[str, str]:
    return {report.cluster: report.state for report in fleet.run(10)}


def written(fleet: MemoryFleet) -> list[list[str]]:
    """The records of clusters that each status commit wrote, oldest first."""
    log = fleet.repository.git("log", "--reverse", "--format=%H", "argosy/status").splitlines()
    folders = [fleet.repository.git("show", "--format=", "--name-only", commit, "--", "clusters") for commit in log]
    return [sorted(Path(path).stem for path in found.split()) for found in folders if found]


@pytest.mark.parametrize("is_late", [False, True], ids=["in time", "late"])
def test_all_of_a_visit_has_one_deadline(fleet: MemoryFleet, *, is_late: bool) -> None:
    """The time that its observation takes is no longer there to apply to a member."""
    slow, seconds = fleet.members["slow"], 0.4
    if is_late:
        hold_back(fleet, lambda request: request.path == "/readyz")

    def dawdle(request: Request) -> None:
        began = time.monotonic()
        if request.path == "/readyz":
            eventually(lambda: time.monotonic() - began >= seconds, "the end of a slow answer")

    slow.faults.append(dawdle)
    assert states(fleet) == CONVERGED
    given = [left for name, left in fleet.opened if name == "slow"]
    # Once for its observation, which has a minute at most, and once to apply.
    assert len(given) == 2
    assert given[1] <= DeliveryOptions().timeout - seconds


class TestTheFirstTime:
    def test_a_member_that_does_not_answer_is_recorded_after_the_others(self, fleet: MemoryFleet) -> None:
        hold_back(fleet, lambda request: request.path == "/readyz")
        assert states(fleet) == CONVERGED
        assert written(fleet) == [["eu", "us"], ["slow"]]
        assert fleet.said == ["2 clusters done and recorded; still waiting for slow"]
        for member in fleet.members.values():
            assert member.read("/api/v1/namespaces/default/configmaps/settings")

    def test_its_attempt_is_recorded_before_it_is_written_to(self, fleet: MemoryFleet) -> None:
        recorded = list[bool]()

        def write(request: Request) -> Answer | Failure | None:
            if request.method != "GET":
                files = fleet.repository.files("argosy/status", "inventory")
                recorded.append("inventory/slow.yaml" in files)
            return None

        hold_back(fleet, lambda request: request.path == "/readyz")
        fleet.members["slow"].faults.append(write)
        fleet.run()
        assert recorded
        assert all(recorded)

    def test_what_it_said_late_is_what_the_next_pass_renders_by(self, fleet: MemoryFleet) -> None:
        hold_back(fleet, lambda request: request.path == "/readyz")
        fleet.run()
        assert fleet.repository.files("argosy/rendered", "facts") == ["facts/eu.yaml", "facts/us.yaml"]
        assert fleet.recorded("facts/slow.yaml")["status"]["resourceSummary"]["allocatable"] == ROOMY
        fleet.members["slow"].faults.clear()
        fleet.repository.commit({"settings.yaml": a_config_map("settings", a="2")})
        fleet.run(10)
        assert fleet.repository.files("argosy/rendered", "facts") == [f"facts/{name}.yaml" for name in NAMES]

    def test_the_commit_without_it_is_made_again_from_its_inputs(
        self, fleet: MemoryFleet, capsys: pytest.CaptureFixture[str]
    ) -> None:
        hold_back(fleet, lambda request: request.path == "/readyz")
        fleet.run()
        assert argosy(fleet.repository, capsys, "verify").code == 0

    def test_a_list_that_hangs_delays_nobody_else(self, fleet: MemoryFleet) -> None:
        hold_back(fleet, lambda request: request.path.endswith("/configmaps") and "labelSelector" in request.query)
        assert states(fleet) == CONVERGED
        assert fleet.said == ["2 clusters done and recorded; still waiting for slow"]
        subjects = [subject.partition(": ")[2] for subject in fleet.status_commits()[1:]]
        assert subjects == ["3 clusters ready, facts of 3 clusters, 2 objects of eu and us", "1 object of slow"]

    def test_one_that_falls_silent_while_it_is_observed_is_not_asked_again(self, fleet: MemoryFleet) -> None:
        """It says that it is healthy, and its lists hang: each would, once more, for as long as an observation may."""
        fleet.members["slow"].faults.append(lambda request: DOWN if request.path == "/api/v1/nodes" else None)
        reports = {report.cluster: report for report in fleet.run()}
        assert {name: report.state for name, report in reports.items()} == {**CONVERGED, "slow": "Unreachable"}
        assert reports["slow"].failure == DOWN
        assert [each.path for each in fleet.members["slow"].requests if "configmaps" in each.path] == []

    def test_an_observation_has_a_minute(self, fleet: MemoryFleet) -> None:
        assert states(fleet) == CONVERGED
        assert {name: member.limits for name, member in fleet.members.items()} == {name: [60.0] for name in NAMES}

    def test_one_whose_observation_takes_longer_is_not_written_to(self, fleet: MemoryFleet) -> None:
        over = Failure(kind=FailureKind.DEADLINE, message="the time this cluster was given is over")
        slow = fleet.members["slow"]
        slow.faults.append(lambda request: over if "labelSelector" in request.query else None)
        reports = {report.cluster: report for report in fleet.run()}
        assert (reports["slow"].failure, slow.writes) == (over, [])

    def test_a_write_that_hangs_delays_nobody_else(self, fleet: MemoryFleet) -> None:
        hold_back(fleet, lambda request: request.method == "PATCH")
        assert states(fleet) == CONVERGED
        assert fleet.said == ["2 clusters done and recorded; still waiting for slow"]


class TestTheNextTime:
    def test_nobody_waits_for_a_member_that_failed(self, fleet: MemoryFleet) -> None:
        fleet.run()
        fleet.down = {"slow"}
        fleet.run(10)
        fleet.down = set()
        fleet.repository.commit({"settings.yaml": a_config_map("settings", a="2")})
        hold_back(fleet, lambda request: request.path == "/readyz")
        assert states(fleet) == CONVERGED
        assert written(fleet)[-2:] == [["eu", "us"], ["slow"]]

    def test_one_that_failed_has_little_time_to_be_healthy(self, fleet: MemoryFleet) -> None:
        fleet.run()
        fleet.down = {"slow"}
        fleet.run(10)
        fleet.opened.clear()
        fleet.run(10)
        first = dict(reversed(fleet.opened))
        assert {name for name, seconds in first.items() if seconds <= RETRY_SECONDS} == {"slow"}

    def test_one_that_answers_again_is_as_all_others(self, fleet: MemoryFleet) -> None:
        fleet.run()
        fleet.down = {"slow"}
        fleet.run(10)
        fleet.down, fleet.said = set(), []
        assert states(fleet) == CONVERGED
        assert (fleet.said, written(fleet)[-1]) == ([], ["slow"])

    def test_one_that_stays_away_makes_no_commit_of_it(self, fleet: MemoryFleet) -> None:
        fleet.run()
        fleet.down = {"slow"}
        fleet.run(10)
        fleet.run(60)
        before, over = fleet.status_commits(), threading.Event()
        fleet.down = set()

        def hang(_request: Request) -> Failure:
            happened(over, "the record of the others")
            return DOWN

        fleet.members["slow"].faults.append(hang)
        fleet.said = Released(over)
        reports = fleet.run(60)
        assert ({report.cluster: report.state for report in reports}, exit_code_of_reports(reports)) == (
            {**CONVERGED, "slow": "Unreachable"},
            7,
        )
        assert fleet.status_commits() == before


class Released(list[str]):
    """Lines that let something go on when there is one."""

    def __init__(self, event: threading.Event) -> None:
        super().__init__()
        self.event = event

    def append(self, line: str) -> None:
        super().append(line)
        self.event.set()


def test_where_all_are_quick_there_is_one_commit(fleet: MemoryFleet) -> None:
    fleet.run()
    assert [subject.split()[0] for subject in fleet.status_commits()] == ["Attempt", "Apply"]
    assert fleet.said == []


def test_a_late_member_with_more_room_is_used_by_the_next_pass(fleet: MemoryFleet) -> None:
    add_node(fleet.members["slow"], "node-1", **ROOMY)
    hold_back(fleet, lambda request: request.path == "/readyz")
    fleet.run()
    assert fleet.recorded("facts/slow.yaml")["status"]["resourceSummary"]["allocatable"]["cpu"] == "16"


class Silent:
    """A server that takes connections and never answers, and knows that it was asked."""

    def __init__(self) -> None:
        self.asked = threading.Event()

    def __call__(self, _client: socket.socket, over: threading.Event) -> None:
        self.asked.set()
        over.wait(SECONDS)


def a_hanging_fleet(tmp_path: Path, host: str, *others: str) -> list[str]:
    """Commit a fleet whose member ``silent`` is at an address; return the arguments that reconcile it."""
    repository, folder = Repository.create(tmp_path / "hanging"), tmp_path / "kubeconfigs"
    names = ["silent", *others]
    policy = a_policy(selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}], placement=on_clusters(*names))
    clusters = {f"clusters/{name}.yaml": a_cluster(name) for name in names}
    repository.commit({**clusters, "settings.yaml": a_config_map("settings", a="1"), "policy.yaml": policy})
    folder.mkdir(exist_ok=True)
    (folder / "silent.yaml").write_bytes(emit(kubeconfig_of("silent", host)))
    return ["-C", str(repository.path), "reconcile", "--bootstrap", "--kubeconfigs", str(folder)]


def test_a_pass_that_waits_can_be_interrupted(tmp_path: Path) -> None:
    silent = Silent()
    with (
        raw_server(silent) as host,
        (tmp_path / "said").open("w+") as said,
        prepared().running(a_hanging_fleet(tmp_path, host), stdout=said, stderr=said) as process,
    ):
        happened(silent.asked, "the first request")
        process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS) == 130
    assert (tmp_path / "said").read_text() == "\nargosy: interrupted\n"


def test_the_log_says_who_is_not_waited_for(tmp_path: Path) -> None:
    with raw_server(Silent()) as host, serving_members([FakeCluster(name="eu")], tmp_path / "kubeconfigs"):
        code, out, errors = prepared().ended([*a_hanging_fleet(tmp_path, host, "eu"), "--timeout", "5s"])
    said = (
        "not waited for, and taken as last recorded, until they answer: silent\n"
        "1 cluster done and recorded; still waiting for silent\n"
        "eu: ConfigMap default/settings: created (Missing)\n"
    )
    assert (code, errors) == (7, said)
    assert out.partition("\n")[2] == (
        "CLUSTER   UNCHANGED   WRITTEN   DELETED   KEPT   FAILED   STATE\n"
        "eu        0           1         0         0      0        Converged\n"
        "silent    0           0         0         0      0        Unreachable\n"
        "\n"
        "OBJECT   CLUSTER   ACTION   REASON        MESSAGE\n"
        f"-        silent    failed   Unreachable   {host} did not answer in time\n"
        "\n"
        "hint for Unreachable: see whether the cluster is up\n"
    )


@pytest.mark.cluster
def test_real_members_are_done_while_another_hangs(members: tuple[Member, ...], tmp_path: Path) -> None:
    """The third takes connections and says no word of TLS; it is let go only when the others are recorded."""
    honest, space = members[:2], f"t{secrets.token_hex(4)}"
    names = [*(member.name for member in honest), "silent"]
    selected = {"apiVersion": "v1", "kind": "ConfigMap"}
    policy = a_policy(namespace=space, selectors=[selected], placement=on_clusters(*names))
    repository, folder = Repository.create(tmp_path / "fleet"), tmp_path / "kubeconfigs"
    clusters = {f"clusters/{name}.yaml": a_cluster(name) for name in names}
    repository.commit({**clusters, "a.yaml": a_config_map("a", namespace=space, a="1"), "policy.yaml": policy})
    folder.mkdir()
    for member in honest:
        (folder / f"{member.name}.yaml").write_text(member.kubeconfig.read_text())
    with ExitStack() as hanging:
        host = hanging.enter_context(raw_server(Silent()))
        (folder / "silent.yaml").write_bytes(emit(kubeconfig_of("silent", host.replace("http:", "https:"))))
        command = [sys.executable, "-m", "reconciler", "-C", str(repository.path), "reconcile", "--bootstrap"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with running([*command, "--kubeconfigs", str(folder)], cwd=ROOT, **pipes) as process:
            assert process.stderr
            line = "2 clusters done and recorded; still waiting for silent"
            assert next((said for said in process.stderr if said.strip() == line), "") != ""
            assert process.poll() is None
            for member in honest:
                assert member.read(f"/api/v1/namespaces/{space}/configmaps/a")["data"] == {"a": "1"}
                recorded = repository.show(f"inventory/{member.name}.yaml", "argosy/status")
                assert f"converged: {repository.git('rev-parse', 'argosy/rendered')}" in recorded.replace('"', "")
            hanging.close()
            assert process.stdout
            rows = [line.split() for line in process.stdout.read().splitlines()]
            assert ["silent", *"00000", "Unreachable"] in rows
            assert process.wait(timeout=SECONDS) == 7
    remove_namespaces(honest, space)
