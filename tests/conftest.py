"""Real member clusters where their programs are there, and one line that says which tests used them.

With ``ARGOSY_E2E=required`` (``make e2e``) the programs are downloaded or built when they are missing, and a test that
needs them fails where they cannot be had. With ``ARGOSY_E2E=off`` those tests are left out.
"""

import gc
import itertools
import os
import re
import secrets
import signal
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadGroupScheduling
from xdist.workermanage import WorkerController

from .applying import Answering, Cluster
from .clusters import Member, started
from .fakes import FakeCluster
from .helm import installed_helm, obtain_helm
from .karmada import installed_karmada, obtain_karmada
from .kubernetes.programs import installed
from .members.program import ImitatedMember, built, imitated_members, is_built
from .peers import PEERS, obtain_peer
from .prepared import Prepared, share

PLAIN = ("etcd", "kube-apiserver", "kube-controller-manager")
MODE = os.environ.get("ARGOSY_E2E", "")
REQUIRED = MODE == "required"
AVAILABLE = REQUIRED or (MODE != "off" and all(installed(name) for name in PLAIN))
MISSING_PEERS = frozenset(name.replace("-", "_") for name in PEERS if os.environ.get("ARGOSY_PEERS") != "required")
BROWSER = frozenset({"chromium"} if os.environ.get("ARGOSY_BROWSER") != "required" else ())
HELM = REQUIRED or (MODE != "off" and installed_helm() is not None)
KARMADA = REQUIRED or (AVAILABLE and installed_karmada() is not None)
IMITATED = REQUIRED or (AVAILABLE and is_built())
SIMULATED = REQUIRED or (AVAILABLE and all(installed(name) for name in ("kube-scheduler", "kwok")))


# How long an example takes tells of the machine and of who else is using it, not of the code. Every run draws others.
settings.register_profile("argosy", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=40)
settings.register_profile("thorough", settings.get_profile("argosy"), max_examples=1000)
settings.load_profile("argosy")


MEMORY = Path("/dev/shm")
ROOM = 4 << 30
"""The bytes that must be free where temporary files are kept in memory: a whole run takes less than a tenth of them."""


def _keep_files_in_memory() -> None:
    """Put temporary files into memory, where there is room and programs may be run: most tests wait for their disk."""
    if "TMPDIR" in os.environ or not MEMORY.is_dir() or not os.access(MEMORY, os.W_OK):
        return
    found = os.statvfs(MEMORY)
    if found.f_bavail * found.f_frsize >= ROOM and not found.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


def pytest_configure(config: pytest.Config) -> None:
    """Let stories, which are told outside of test modules, say what differs, and processes share compiled modules."""
    _keep_files_in_memory()
    pytest.register_assert_rewrite("tests.stories")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell that starts this in its background has interrupts ignored, by every process below as well.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if told := getattr(config, "workerinput", {}).get("prepared"):
        share(told)
    # Hundreds of short processes are started; where each compiled all of Argosy again, that was most of their time.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # The kubectl of the test extra is the one that builds kustomizations, whatever the machine has.
    os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))


TEST_SECONDS, CLUSTER_TEST_SECONDS, SESSION_SECONDS = 600.0, 1800.0, 7200.0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail a test that does not come to its end, whatever it waits for."""
    seconds = CLUSTER_TEST_SECONDS if item.get_closest_marker("cluster") else TEST_SECONDS

    def stop(*_: object) -> None:
        pytest.fail(f"the test has not ended within {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


COUNTS = pytest.StashKey[tuple[int, int]]()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Keep the tests of the same servers in one process, so that no more of these are started than without others.

    Those that wait more than they compute are together in one as well: side by side they would leave cores idle.
    """
    if not item.config.pluginmanager.hasplugin("xdist"):
        return
    if item.get_closest_marker("cluster"):
        is_simulated = "simulated" in getattr(item, "fixturenames", ())
        item.add_marker(pytest.mark.xdist_group("simulated" if is_simulated else "members"))
    elif item.get_closest_marker("waits"):
        item.add_marker(pytest.mark.xdist_group("waits"))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the tests that need members out where there are none, openly."""
    needing = {id(item) for item in items if item.get_closest_marker("cluster")}
    without = [
        item
        for item in items
        if any(name in getattr(item, "fixturenames", ()) for name in MISSING_PEERS | BROWSER)
        or (not HELM if "helm" in getattr(item, "fixturenames", ()) else not AVAILABLE and id(item) in needing)
        or (not KARMADA and "karmada" in getattr(item, "fixturenames", ()))
        or (not SIMULATED and "simulated" in getattr(item, "fixturenames", ()))
        or (not IMITATED and item.get_closest_marker("imitated"))
    ]
    left_out = needing & {id(item) for item in without}
    config.stash[COUNTS] = len(needing) - len(left_out), len(left_out)
    if not without:
        return
    config.hook.pytest_deselected(items=without)
    items[:] = [item for item in items if item not in without]


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Begin with other modules than the other processes of tests, which then find each other's compiled ones.

    Hypothesis goes through the constants of all modules, in the order in which these were imported.
    """
    tests = Path(__file__).parent.resolve()
    modules = sorted(path.stem for path in tests.glob("test_*.py"))
    number, count = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]), os.environ.get("PYTEST_XDIST_WORKER_COUNT")
    if count is None or tests not in map(Path.resolve, map(Path, session.config.args)):
        return
    begin = len(modules) * number // int(count)
    for name in modules[begin:] + modules[:begin]:
        with suppress(Exception):  # pytest itself imports it again, and tells
            import_module(f"tests.{name}")
    ours = [name for name in sys.modules if name.startswith(("render", "overrides", "reconciler"))]
    for name in ours[: len(ours) * number // int(count)]:
        sys.modules[name] = sys.modules.pop(name)


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable(report: Any) -> Generator[None, dict[str, Any] | None, dict[str, Any] | None]:
    """Leave out of a report on its way between processes what is only looked at where a test did not pass."""
    data = yield
    if data and getattr(report, "passed", False):
        data["keywords"] = {}
    return data


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """Keep reports from being sent that say nothing: of set-ups and ends that passed, a third of all messages."""
    for plugin in session.config.pluginmanager.get_plugins():
        if hasattr(plugin, "sendevent"):
            vars(plugin)["sendevent"] = partial(_send_what_tells, plugin.sendevent)


def _send_what_tells(send: Callable[..., None], name: str, **told: Any) -> None:
    data = told.get("data") or {}
    if name == "testreport" and data.get("when") != "call" and data.get("outcome") == "passed":
        return
    send(name, **told)


def pytest_collection_finish() -> None:
    """Leave the thousands of collected tests out of every later search for garbage."""
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Run half as many processes again as there are cores, because many tests wait for a member or a lock."""
    return (os.cpu_count() or 2) * 3 // 2


ADDRESS = pytest.StashKey[str]()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Start the process that forks commands, one for all processes of tests."""
    stack = ExitStack()
    config.add_cleanup(stack.close)
    config.stash[ADDRESS] = stack.enter_context(Prepared.started(os.environ)).address


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: WorkerController) -> None:
    """Tell a process of tests where it is."""
    node.workerinput["prepared"] = node.config.stash[ADDRESS]


class Scheduling(LoadGroupScheduling):  # type: ignore[misc]  # pytest-xdist has no types
    """Hands out the tests of one function, or of one group, together, and looks at none again once it has ended.

    The scheduler of pytest-xdist counts all tests that a process was ever given after each one: with thousands, that
    takes a tenth of the processor time that the tests themselves take.
    """

    def __init__(self, config: pytest.Config, log: Any) -> None:
        super().__init__(config, log)
        self._positions: dict[WorkerController, dict[str, int]] = {}

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        super().add_node_collection(node, collection)
        self._positions[node] = {name: position for position, name in enumerate(collection)}

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        super().mark_test_complete(node, item_index, duration)
        unit = self._split_scope(self.registered_collections[node][item_index])
        if all(self.assigned_work[node][unit].values()):
            del self.assigned_work[node][unit]

    def _assign_work_unit(self, node: WorkerController) -> None:
        unit, tests = self.workqueue.popitem(last=False)
        self.assigned_work[node][unit] = tests
        node.send_runtest_some([self._positions[node][name] for name, has_ended in tests.items() if not has_ended])

    def _split_scope(self, nodeid: str) -> str:
        group = str(super()._split_scope(nodeid))
        return group if group != nodeid else nodeid.partition("[")[0]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Scheduling | None:
    """Schedule in our own way where groups stay together."""
    return Scheduling(config, log) if config.getvalue("dist") == "loadgroup" else None


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the counts to the process that prints the summary, where that is another."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["cluster_tests"] = session.config.stash.get(COUNTS, (0, 0))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the counts from a process that ran tests: all of them collected the same."""
    counts = getattr(node, "workeroutput", {}).get("cluster_tests")
    if counts is not None:
        node.config.stash[COUNTS] = tuple(counts)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how many tests marked ``cluster`` there were, and what they ran against."""
    run, left_out = config.stash.get(COUNTS, (0, 0))
    if run:
        server = installed("kube-apiserver") or "which are not here and cannot be made"
        terminalreporter.write_line(f"cluster tests: {run} with real API servers ({server})")
    if left_out:
        why = "as ARGOSY_E2E=off asks" if MODE == "off" else "their servers are not here, `make e2e` builds them"
        terminalreporter.write_line(f"cluster tests: {left_out} left out, {why}")


NUMBERS = itertools.count()


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the test's own, as pytest gives one, which for that looks through those of all tests before."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    path = tmp_path_factory.getbasetemp() / f"{name}-{next(NUMBERS)}"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture(scope="session")
def helm() -> Path:
    """The folder of a real helm, for a search path."""
    return obtain_helm().parent


@pytest.fixture(scope="session")
def imitated_program() -> Path:
    """The program that imitates many members (``tests/members``)."""
    return built()


@pytest.fixture(scope="session")
def karmada() -> Path:
    """The folder of Karmada's CustomResourceDefinitions."""
    return obtain_karmada()


@pytest.fixture(scope="session")
def gitea() -> Path:
    """A real Gitea."""
    return obtain_peer("gitea")


@pytest.fixture(scope="session")
def promtool() -> Path:
    """The program by which Prometheus checks rules and queries."""
    return obtain_peer("promtool")


@pytest.fixture(scope="session")
def kustomize_controller() -> Path:
    """Flux's controller that applies folders."""
    return obtain_peer("kustomize-controller")


@pytest.fixture(scope="session")
def source_controller() -> Path:
    """Flux's controller that fetches repositories."""
    return obtain_peer("source-controller")


@pytest.fixture(scope="session")
def argocd() -> Path:
    """All programs of Argo CD, in one."""
    return obtain_peer("argocd")


@pytest.fixture(scope="session")
def miniredis() -> Path:
    """A server that speaks as Redis does."""
    return obtain_peer("miniredis")


@pytest.fixture(scope="session")
def chromium() -> Path:
    """A real browser, with what drives it and what judges its pages."""
    from .browser import obtain_axe, obtain_browser

    obtain_axe()
    return obtain_browser()[0]


@pytest.fixture(scope="session")
def members() -> Iterator[tuple[Member, ...]]:
    """Three member clusters with controllers, shared by the whole run: a test cleans up after itself."""
    with started(("member1", "member2", "member3"), controllers=True) as running:
        yield running


@pytest.fixture(scope="module")
def simulated() -> Iterator[tuple[Member, ...]]:
    """Three members that run pods on simulated nodes: three nodes, two and one."""
    with ExitStack() as stack:
        sizes = {"big": 3, "middle": 2, "small": 1}
        yield tuple(stack.enter_context(Member(name, nodes=nodes)) for name, nodes in sizes.items())


@pytest.fixture
def real_cluster(members: tuple[Member, ...]) -> Iterator[Cluster]:
    """A namespace of the test's own in a real member."""
    space = f"t{secrets.token_hex(4)}"
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}}
    assert members[0].request("POST", "/api/v1/namespaces", body)[0] == 201
    yield Cluster(server=members[0], space=space)
    members[0].request("DELETE", f"/api/v1/namespaces/{space}")


@pytest.fixture(scope="session")
def imitated(imitated_program: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ImitatedMember]:
    """A member that is imitated, with Kubernetes' own code over storage in memory."""
    assert imitated_program.is_file()
    with imitated_members(tmp_path_factory.mktemp("imitated"), 1, seconds=SESSION_SECONDS) as running:
        yield running.members[0]


CLUSTERS = [
    "in memory",
    pytest.param("real", marks=pytest.mark.cluster),
    pytest.param("imitated", marks=[pytest.mark.cluster, pytest.mark.imitated]),
]


@pytest.fixture(params=CLUSTERS)
def cluster(request: pytest.FixtureRequest) -> Cluster:
    """A cluster in memory, a real one, and an imitated one. What holds for one must hold for the others."""
    if request.param == "real":
        found = request.getfixturevalue("real_cluster")
        assert isinstance(found, Cluster)
        return found
    if request.param == "imitated":
        return _with_space(request.getfixturevalue("imitated"), f"t{secrets.token_hex(4)}")
    return _with_space(FakeCluster(), "shop")


def _with_space(server: Answering, space: str) -> Cluster:
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}}
    assert server.request("POST", "/api/v1/namespaces", body)[0] == 201
    return Cluster(server=server, space=space)
