"""The processes of passes: forked by one that has made their imports, and started from nothing where there is none."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from reconciler.members.options import DeliveryOptions
from reconciler.run.pass_job import KILLED, PassJob, PassReport
from reconciler.run.processes.starting import ForkedPass, PassProcess, PassProcesses
from reconciler.run.processes.worker import PassWorker

from .build import Repository, a_cluster, a_deployment, a_policy, on_clusters
from .controllers import a_fleet, controller, is_rendered
from .fakes import FakeCluster
from .prepared import ROOT
from .processes import descendants
from .served import serving_members
from .waiting import SECONDS, eventually, running

pytestmark = pytest.mark.waits

IMPORTED_IN_PASS = """
import sys
from importlib import import_module
from reconciler.run.pass_job import PassJob
from reconciler.run.processes.fork_server import NEEDED
from reconciler.run.processes.pass_process import Stopping, run_pass_and_report

for name in NEEDED:
    import_module(name)
before = set(sys.modules)
report = run_pass_and_report(PassJob.from_json(sys.stdin.readline()), Stopping(), lambda: False)
new = {name for name in sys.modules if name not in before and name.partition(".")[0] in {"render", "reconciler"}}
print(report.code, report.is_committed, *sorted(new))
"""


@pytest.fixture
def processes() -> Iterator[PassProcesses]:
    """The processes of passes, of which one forks the others."""
    processes = PassProcesses()
    processes.prepare()
    yield processes
    processes.close()


def a_job(folder: Path, delivery: DeliveryOptions | None = None) -> PassJob:
    repository = Repository.create(folder / "fleet")
    policy = a_policy(placement=on_clusters("member1"))
    repository.commit({"cluster.yaml": a_cluster("member1"), "web.yaml": a_deployment(), "policy.yaml": policy})
    return PassJob(
        fleet="shop", repository=str(repository.path), bootstrap=True, delivery=delivery or DeliveryOptions()
    )


def reported(job: PassJob, processes: PassProcesses) -> tuple[PassReport, list[str]]:
    """The report of a pass, and the sources that it said it has read."""
    sources = list[str]()
    return PassWorker(job, processes, timeout=SECONDS, on_source=sources.append).run(), sources


@contextmanager
def waiting_pass(processes: PassProcesses) -> Iterator[PassProcess]:
    """A pass that waits for its job, and ends with the block, as it gets none."""
    process = processes.start()
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdin, process.stdout:
        yield process
        process.stdin.close()
        process.wait(timeout=SECONDS)


def is_next_forked(processes: PassProcesses) -> bool:
    with waiting_pass(processes) as process:
        return type(process) is ForkedPass


def code_of_pass_ended_by(number: int, processes: PassProcesses) -> int:
    with waiting_pass(processes) as process:
        os.killpg(process.pid, number)
        return process.wait(timeout=SECONDS)


def processes_that_fork() -> list[int]:
    """The processes that fork, among those that this one has started."""
    return [each for each in descendants(os.getpid()) if b"fork_server" in Path(f"/proc/{each}/cmdline").read_bytes()]


def test_passes_are_forked_and_report_as_those_that_are_not(tmp_path: Path, processes: PassProcesses) -> None:
    job = a_job(tmp_path)
    assert is_next_forked(processes)
    first, sources = reported(job, processes)
    with closing(PassProcesses()) as others:
        again, _ = reported(job, others)
    assert (first.code, first.is_committed, sources) == (0, True, [first.source])
    assert (again.code, again.is_unchanged, again.rendered) == (0, True, first.rendered)


def test_a_forked_pass_has_nothing_left_to_import(tmp_path: Path) -> None:
    """Half a second of imports between a push and the first write is what forking is for."""
    with serving_members([FakeCluster(name="member1")], tmp_path / "kubeconfigs") as served:
        job = a_job(tmp_path, DeliveryOptions(kubeconfigs=str(served.kubeconfigs)))
        said = subprocess.run(
            [sys.executable, "-c", IMPORTED_IN_PASS],
            input=job.to_json() + "\n",
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
            timeout=SECONDS,
        )
    assert said.stdout.splitlines()[-1] == "0 True"


def test_the_end_of_a_forked_pass_is_told(processes: PassProcesses) -> None:
    with waiting_pass(processes) as process:
        pass
    codes = [code_of_pass_ended_by(number, processes) for number in (signal.SIGKILL, signal.SIGTERM)]
    assert (process.returncode, codes) == (0, [-9, -15])


def test_a_forked_pass_that_is_killed_is_reported_with_the_signal(tmp_path: Path, processes: PassProcesses) -> None:
    worker = PassWorker(a_job(tmp_path), processes, timeout=SECONDS, on_source=lambda _: worker.kill())
    assert worker.run() == PassReport(code=KILLED, message="the process of the pass ended by SIGKILL")


def test_passes_that_run_side_by_side_know_nothing_of_each_other(processes: PassProcesses) -> None:
    """No pass keeps the streams of another open, whose end is how a pass learns that its controller is gone."""
    with waiting_pass(processes) as first, waiting_pass(processes) as second, waiting_pass(processes) as third:
        for process in (second, first, third):
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(timeout=SECONDS) == 0


def test_a_pass_imports_for_itself_where_nobody_forks_and_the_next_is_forked_again(
    tmp_path: Path, processes: PassProcesses
) -> None:
    assert is_next_forked(processes)
    (forking,) = processes_that_fork()
    os.kill(forking, signal.SIGKILL)
    job = a_job(tmp_path)
    assert reported(job, processes)[0].code == 0
    assert is_next_forked(processes)
    assert reported(job, processes)[0].is_unchanged


def test_the_process_that_forks_ends_with_the_controller() -> None:
    with closing(PassProcesses()) as processes:
        processes.prepare()
        assert len(eventually(processes_that_fork, "the process that forks")) == 1
    assert processes_that_fork() == []


def test_no_process_outlives_a_controller_that_is_killed(tmp_path: Path) -> None:
    work = a_fleet(tmp_path / "fleet.git")
    with controller(tmp_path, str(tmp_path / "fleet.git"), "--bootstrap", is_measured=True) as argosy:
        is_rendered(tmp_path / "fleet.git", work.git("rev-parse", "HEAD"))
        started = list(descendants(argosy.process.pid))
        assert started
        argosy.signal(signal.SIGKILL)
        eventually(lambda: not any(map(is_alive, started)), "the end of the process that forks")


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_the_process_that_forks_is_not_interrupted(processes: PassProcesses) -> None:
    """Whoever interrupts means the controller, which lets its passes finish what they are at."""
    assert is_next_forked(processes)
    (forking,) = processes_that_fork()
    os.kill(forking, signal.SIGINT)
    assert is_next_forked(processes)
    assert processes_that_fork() == [forking]


def test_no_process_outlives_a_measurement_that_is_killed() -> None:
    """``python -m tests.bench`` may be killed at any time, and its controller would go on for hours."""
    sleeping = "import sys, time; print('ready', flush=True); time.sleep(600)"
    program = (
        "import subprocess, sys; from tests.processes import bound_to_this_process\n"
        f"subprocess.run(bound_to_this_process([sys.executable, '-c', {sleeping!r}]))"
    )
    with running([sys.executable, "-c", program], stdout=subprocess.PIPE, cwd=ROOT) as measuring:
        assert measuring.stdout is not None
        assert measuring.stdout.readline() == "ready\n"
        (started,) = descendants(measuring.pid)
        measuring.kill()
        eventually(lambda: not is_alive(started), "the end of what it has started")
