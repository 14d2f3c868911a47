"""Several controllers over one fleet: one leads by a Lease, any may be killed, and Git keeps all of them from harm."""

import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from reconciler.members.exchange import Answer, Failure, FailureKind, Request
from reconciler.run.leader import LeaderState, LeaseName, release_lease, take_or_renew_lease

from .build import Repository
from .controllers import a_fleet, controller, is_rendered, pushed, rendered_source
from .fakes import FakeCluster
from .served import serving_members
from .waiting import eventually

pytestmark = pytest.mark.waits

LEASE = LeaseName(cluster="member1", namespace="default")
PATH = "/apis/coordination.k8s.io/v1/namespaces/default/leases/argosy-run"
A, B = LeaderState(holder="a"), LeaderState(holder="b")


def holder(cluster: FakeCluster) -> str:
    return str(cluster.read(PATH)["spec"]["holderIdentity"])


def test_the_first_one_leads_for_as_long_as_it_renews() -> None:
    cluster = FakeCluster()
    a, b = take_or_renew_lease(A, cluster, LEASE, 0.0), B
    for now in range(2, 60, 2):
        a, b = take_or_renew_lease(a, cluster, LEASE, now), take_or_renew_lease(b, cluster, LEASE, now + 0.5)
        assert (a.is_leading(now), b.is_leading(now)) == (True, False)
    assert cluster.read(PATH)["spec"]["leaseTransitions"] == 0


def test_one_that_does_not_renew_is_followed_after_its_time_on_the_clock_of_who_waits() -> None:
    cluster = FakeCluster()
    take_or_renew_lease(A, cluster, LEASE, 0.0)
    b = take_or_renew_lease(B, cluster, LEASE, 1000.0)
    assert not take_or_renew_lease(b, cluster, LEASE, 1014.9).is_leading(1014.9)
    b = take_or_renew_lease(b, cluster, LEASE, 1015.0)
    assert b.is_leading(1015.0)
    assert (holder(cluster), cluster.read(PATH)["spec"]["leaseTransitions"]) == ("b", 1)


def test_one_that_cannot_renew_stops_leading_before_anybody_else_begins() -> None:
    cluster = FakeCluster()
    a, b = take_or_renew_lease(A, cluster, LEASE, 0.0), take_or_renew_lease(B, cluster, LEASE, 0.1)
    lost = Failure(kind=FailureKind.UNREACHABLE, message="nobody answers")

    def cut_off(_request: Request) -> Answer | Failure | None:
        return lost

    for now in range(2, 40):
        cluster.faults.append(cut_off)
        a = take_or_renew_lease(a, cluster, LEASE, now)
        cluster.faults.clear()
        b = take_or_renew_lease(b, cluster, LEASE, now)
        assert not (a.is_leading(now) and b.is_leading(now))
    assert (a.fault, a.is_leading(39), b.is_leading(39)) == ("nobody answers", False, True)
    assert not take_or_renew_lease(a, cluster, LEASE, 40.0).is_leading(40.0)


def test_of_two_that_take_it_at_once_one_leads() -> None:
    cluster = FakeCluster()
    take_or_renew_lease(LeaderState(holder="gone"), cluster, LEASE, 0.0)
    a, b = take_or_renew_lease(A, cluster, LEASE, 0.0), take_or_renew_lease(B, cluster, LEASE, 0.0)
    taken: list[LeaderState] = []

    def faster(request: Request) -> Answer | Failure | None:
        if request.method == "PUT" and not taken:
            taken.append(b)
            taken[0] = take_or_renew_lease(b, cluster, LEASE, 20.0)
        return None

    cluster.faults.append(faster)
    a = take_or_renew_lease(a, cluster, LEASE, 20.0)
    assert (a.is_leading(20.0), taken[0].is_leading(20.0), holder(cluster)) == (False, True, "b")


def test_one_that_ends_leaves_it_to_the_next_at_once() -> None:
    cluster = FakeCluster()
    a, b = take_or_renew_lease(A, cluster, LEASE, 0.0), take_or_renew_lease(B, cluster, LEASE, 0.0)
    release_lease(b, cluster, LEASE)
    assert holder(cluster) == "a"
    release_lease(a, cluster, LEASE)
    assert take_or_renew_lease(b, cluster, LEASE, 1.0).is_leading(1.0)


@pytest.fixture
def kubeconfigs(tmp_path: Path) -> Iterator[str]:
    """A folder with the kubeconfig of a served cluster, member1, that has Leases."""
    with serving_members([FakeCluster()], tmp_path / "kubeconfigs") as served:
        yield str(served.kubeconfigs)


def test_the_next_one_goes_on_where_the_leader_ended(tmp_path: Path, kubeconfigs: str) -> None:
    work, bare = a_fleet(tmp_path / "fleet.git"), tmp_path / "fleet.git"
    options = (str(bare), "--bootstrap", "--lease", "member1/default", "--kubeconfig", f"{kubeconfigs}/member1.yaml")
    with controller(tmp_path, *options) as first:
        first.says("leading")
        is_rendered(bare, work.git("rev-parse", "HEAD"))
        with controller(tmp_path, *options) as second:
            second.says("running 1 fleet")
            assert first.ended() == 0
            second.says("leading")
            is_rendered(bare, pushed(work, "two"))
            assert second.ended() == 0
        assert second.said.index("leading") < second.said.index("committed ")


def kill_one_while_pushing(folder: Path, work: Repository, clones: list[Repository], number: int) -> None:
    """Start both runners, push, kill one of them in the middle of a pass, and have the other finish."""
    options = ("--bootstrap", "--poll", "100ms", "--drift", "2s")
    with ExitStack() as stack:
        runners = [stack.enter_context(controller(folder, str(clone.path), *options)) for clone in clones]
        eventually(lambda: any("pass cause=" in each.said for each in runners), "a first pass")
        commits = [pushed(work, f"{number}.{count}") for count in range(3)]
        victim = runners[number % 2]
        eventually(lambda: victim.said.count("pass cause=") > 1, "a pass to interrupt")
        assert victim.ended(signal.SIGKILL) == -signal.SIGKILL
        is_rendered(folder / "fleet.git", commits[-1])


@pytest.mark.parametrize("rounds", [2])
def test_nothing_is_lost_while_runners_are_killed_and_somebody_pushes(tmp_path: Path, rounds: int) -> None:
    """Two runners without a Lease, each on a clone of its own: Git's compare-and-swap alone keeps them apart."""
    work, bare = a_fleet(tmp_path / "fleet.git"), tmp_path / "fleet.git"
    clones = [Repository(tmp_path / name) for name in ("one", "two")]
    for clone in clones:
        work.git("clone", "-q", str(bare), str(clone.path))
    for number in range(rounds):
        kill_one_while_pushing(tmp_path, work, clones, number)
    repository = Repository(bare)
    form = "--format=%(trailers:key=Argosy-Source,valueonly,separator=%x2C)"
    sources = repository.git("log", form, "argosy/rendered").split()
    assert [source for source, times in Counter(sources).items() if times > 1] == []
    order = repository.git("rev-list", "main").split()
    assert [order.index(source) for source in sources] == sorted(order.index(source) for source in sources)
    assert repository.git("log", "--merges", "--format=%h", "argosy/rendered") == ""
    assert "error" not in repository.git("fsck", "--no-dangling", "--no-progress")
    assert rendered_source(bare) == order[0]


def test_a_leader_that_slept_cannot_write_an_older_commit(tmp_path: Path) -> None:
    """It is stopped with a pass under way, and goes on when a newer source is rendered long since."""
    work, bare = a_fleet(tmp_path / "fleet.git"), tmp_path / "fleet.git"
    options = ("--bootstrap", "--poll", "100ms")
    with controller(tmp_path, f"file://{bare}", *options) as sleeper:
        is_rendered(bare, work.git("rev-parse", "HEAD"))
        sleeper.says("committed ")
        sleeper.signal(signal.SIGSTOP)
        first = pushed(work, "two")
        with controller(tmp_path, f"file://{bare}", *options, environment={"XDG_CACHE_HOME": f"{tmp_path}/b"}) as other:
            other.says("committed ")
            is_rendered(bare, first)
            last = pushed(work, "three")
            is_rendered(bare, last)
            sleeper.signal(signal.SIGCONT)
            sleeper.says("pass cause=change")
            time_of_passes = time.monotonic() + 2
            eventually(lambda: time.monotonic() > time_of_passes, "the time of some passes")
            assert sleeper.ended() == 0
        assert other.process.poll() is not None
    assert rendered_source(bare) == last
    assert len(Repository(bare).git("rev-list", "argosy/rendered").split()) == 3
