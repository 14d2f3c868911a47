"""Many clusters at once: what one of them does costs it alone."""

import os
import threading
import time
from typing import Any

import pytest
from msgspec.structs import replace

from reconciler.deliver.fleet import ClusterJob, FleetOptions, apply_fleet
from reconciler.deliver.results import ClusterReport
from reconciler.ledger.inventory import ApplyOutcome, Inventory
from reconciler.members.exchange import Answer, Client, Failure, FailureKind, Request
from reconciler.members.parallel import results_in_parallel
from reconciler.members.visits import MemberReach
from reconciler.observe.cluster_status import MemberObservation
from reconciler.observe.objects import observe_cluster
from reconciler.plans.model import ClusterDesired, Plan
from render.errors import GitError

from .applying import desired_objects
from .build import a_config_map
from .fakes import FakeCluster
from .waiting import SECONDS, happened


def jobs(*names: str, commit: str = "c0ffee") -> list[ClusterJob]:
    wanted = desired_objects([a_config_map("settings", a="1")])
    return [
        ClusterJob(
            desired=ClusterDesired(cluster=name, commit=commit, objects=wanted), inventory=Inventory(cluster=name)
        )
        for name in names
    ]


def fleet(*names: str) -> dict[str, FakeCluster]:
    return {name: FakeCluster(name=name) for name in names}


def opening(clusters: dict[str, Any], **limits: Any) -> MemberReach:
    return MemberReach(open_client=lambda name, _deadline: clusters[name], **limits)


def outcomes(reports: list[ClusterReport]) -> dict[str, str]:
    return {
        report.cluster: report.failure.kind if report.failure else str(report.applied and report.applied.outcome)
        for report in reports
    }


def test_every_cluster_is_applied_and_reported() -> None:
    clusters = fleet("a", "b", "c")
    reports = list(apply_fleet(jobs("a", "b", "c"), opening(clusters)))
    assert outcomes(reports) == dict.fromkeys("abc", ApplyOutcome.CONVERGED)
    assert all(cluster.read("/api/v1/namespaces/default/configmaps/settings") for cluster in clusters.values())


def test_a_cluster_without_a_way_to_it_costs_itself_alone() -> None:
    clusters: dict[str, Any] = fleet("a", "c")
    clusters["b"] = Failure(kind=FailureKind.CREDENTIALS, message="no context named 'b'")
    assert outcomes(list(apply_fleet(jobs("a", "b", "c"), opening(clusters)))) == {
        "a": ApplyOutcome.CONVERGED,
        "b": FailureKind.CREDENTIALS,
        "c": ApplyOutcome.CONVERGED,
    }


@pytest.mark.waits
@pytest.mark.parametrize("max_parallel", [1, 3])
def test_a_cluster_that_hangs_is_given_up_and_the_others_are_done(max_parallel: int) -> None:
    """The thread that hangs - in a name lookup, say - is left behind."""
    clusters, over = fleet("a", "b", "c"), threading.Event()

    def hanging(_request: Request) -> Answer | None:
        happened(over, "the end of the test")
        return None

    clusters["b"].faults.append(hanging)
    reach = opening(clusters, max_parallel=max_parallel, timeout=1.0)
    began = time.monotonic()
    reports = list(apply_fleet(jobs("b", "a", "c"), reach, FleetOptions(grace=0.0)))
    over.set()
    assert outcomes(reports)["b"] == FailureKind.DEADLINE
    assert {name: outcomes(reports)[name] for name in "ac"} == dict.fromkeys("ac", ApplyOutcome.CONVERGED)
    assert time.monotonic() - began < 10


def test_the_time_that_a_cluster_has_had_already_is_part_of_its_time() -> None:
    """The observation and the apply of a cluster had a deadline each, so that one that hangs in both cost the sum."""
    clusters, over = fleet("a", "b"), threading.Event()
    given = dict[str, float]()

    def opened(name: str, deadline: float) -> Any:
        given[name] = deadline - time.monotonic()
        return clusters[name]

    def hanging(_request: Request) -> Answer | None:
        happened(over, "the end of the test")
        return None

    clusters["b"].faults.append(hanging)
    options = FleetOptions(grace=0.0, spent={"a": 40.0, "b": 99.9})
    reports = list(apply_fleet(jobs("a", "b"), MemberReach(open_client=opened, timeout=100.0), options))
    over.set()
    assert 50.0 < given["a"] <= 60.0
    assert given["b"] <= 0.1
    assert outcomes(reports) == {"a": ApplyOutcome.CONVERGED, "b": FailureKind.DEADLINE}


def test_what_a_look_said_of_the_whole_cluster_is_believed_for_a_while() -> None:
    """It says which cluster it is and what that serves; before a pass writes, or says that all is well, it asks."""
    clusters = fleet("a")
    (job,) = jobs("a")
    look = looked_at(clusters["a"], job)
    for seconds, questions in ((0.0, []), (60.0, ["/version", "/api", "/apis"])):
        asked = list[str]()
        clusters["a"].faults[:] = [lambda request, asked=asked: asked.append(request.path)]  # type: ignore[misc]
        options = FleetOptions(looks={"a": replace(look, at=time.monotonic() - seconds)})
        assert outcomes(list(apply_fleet([job], opening(clusters), options))) == {"a": ApplyOutcome.CONVERGED}
        assert [path for path in asked if path in {"/version", "/api", "/apis"}] == questions
        assert "/api/v1/namespaces/kube-system" in asked


@pytest.mark.parametrize("state", ["nothing is to be written", "something is"])
def test_a_cluster_that_was_exchanged_after_a_look_is_not_taken_for_the_other(state: str) -> None:
    clusters = fleet("a")
    (job,) = jobs("a")
    look = replace(looked_at(clusters["a"], job), identity="of another", at=time.monotonic())
    if state.startswith("nothing"):
        assert outcomes(list(apply_fleet([job], opening(clusters)))) == {"a": ApplyOutcome.CONVERGED}
    reports = list(apply_fleet([job], opening(clusters), FleetOptions(looks={"a": look})))
    assert outcomes(reports) == {"a": FailureKind.WRONG_CLUSTER}


def looked_at(cluster: FakeCluster, job: ClusterJob) -> MemberObservation:
    """The observation of a cluster that serves all that is wanted."""
    observed = observe_cluster(cluster, job.desired, job.inventory)
    assert observed.failure is None
    return MemberObservation(cluster=job.cluster, discovery=observed.discovery, identity=observed.uid)


def test_reports_come_as_clusters_finish() -> None:
    clusters, over = fleet("slow", "quick"), threading.Event()

    def waiting(_request: Request) -> Answer | None:
        happened(over, "the first report")
        return None

    clusters["slow"].faults.append(waiting)
    names = []
    for report in apply_fleet(jobs("slow", "quick"), opening(clusters)):
        names.append(report.cluster)
        over.set()
    assert names == ["quick", "slow"]


def test_no_more_clusters_than_allowed_are_visited_at_once() -> None:
    under_way, most, lock = 0, 0, threading.Lock()

    def open_(name: str, _deadline: float) -> Client | Failure:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        os.sched_yield()
        with lock:
            under_way -= 1
        return FakeCluster(name=name)

    names = [f"c{number}" for number in range(20)]
    list(apply_fleet(jobs(*names), MemberReach(open_client=open_, max_parallel=3)))
    assert most <= 3


def test_the_attempt_is_written_down_before_the_first_write_and_only_then() -> None:
    clusters = fleet("a", "b")
    told: list[tuple[str, int]] = []

    def write_down(plan: Plan) -> None:
        told.append((plan.cluster, len(clusters[plan.cluster].writes)))

    options = FleetOptions(before_writing=write_down)
    list(apply_fleet(jobs("a", "b"), opening(clusters), options))
    list(apply_fleet(jobs("a", "b"), opening(clusters), options))
    assert sorted(told) == [("a", 0), ("b", 0)]


def test_looking_only_plans_and_writes_nothing() -> None:
    clusters = fleet("a")
    (report,) = apply_fleet(jobs("a"), opening(clusters), FleetOptions(is_observing=True))
    assert report.plan
    assert [(item.ref.name, item.action) for item in report.plan.objects] == [("settings", "created")]
    assert (report.applied, clusters["a"].writes) == (None, [])


def test_a_bug_in_one_thread_is_the_failure_of_its_cluster_alone() -> None:
    def broken(name: str, _deadline: float) -> Client:
        if name == "b":
            raise ZeroDivisionError("a bug")
        return FakeCluster(name=name)

    reports = list(apply_fleet(jobs("a", "b"), MemberReach(open_client=broken)))
    assert outcomes(reports) == {"a": ApplyOutcome.CONVERGED, "b": FailureKind.UNEXPECTED}


def test_a_run_that_is_stopped_on_purpose_in_one_thread_is_stopped() -> None:
    """An attempt that cannot be recorded in Git must not be followed by writes anywhere."""

    def refuse(_plan: Plan) -> None:
        raise GitError("the status branch could not be pushed")

    clusters = fleet("a")
    with pytest.raises(GitError, match="could not be pushed"):
        list(apply_fleet(jobs("a"), opening(clusters), FleetOptions(before_writing=refuse)))
    assert clusters["a"].writes == []


def test_a_failure_before_the_first_write_is_that_of_the_cluster_alone() -> None:
    held = Failure(kind=FailureKind.HELD, message="somebody holds it")
    clusters = fleet("a", "b")
    options = FleetOptions(before_writing=lambda plan: held if plan.cluster == "a" else None)
    reports = {each.cluster: each for each in apply_fleet(jobs("a", "b"), opening(clusters), options)}
    assert (reports["a"].failure, reports["a"].applied, clusters["a"].writes) == (held, None, [])
    assert (reports["b"].failure, reports["b"].state) == (None, "Converged")


class TestInParallel:
    def test_answers_come_in_the_order_of_the_questions(self) -> None:
        assert results_in_parallel(lambda number: number * 2, range(50), limit=7) == [
            number * 2 for number in range(50)
        ]

    def test_a_thread_is_there_for_several_items(self) -> None:
        """A thread opens a connection of its own, which few small requests are not worth."""
        counts = []
        for items in (1, 4, 5, 100):
            threads = set[int]()
            barrier = threading.Barrier(min(3, -(-items // 4)))

            def work(number: int, threads: set[int] = threads, barrier: threading.Barrier = barrier) -> int:
                if threading.get_ident() not in threads:
                    threads.add(threading.get_ident())
                    barrier.wait(SECONDS)
                return number

            assert results_in_parallel(work, range(items), limit=3, each=4) == list(range(items))
            counts.append(len(threads))
        assert counts == [1, 1, 2, 3]

    def test_an_error_is_raised_where_it_was_asked_for(self) -> None:
        def failing(number: int) -> int:
            return 1 // number

        with pytest.raises(ZeroDivisionError):
            results_in_parallel(failing, [1, 0, 2], limit=2)


def attempted(job: ClusterJob, *commits: str) -> ClusterJob:
    return replace(job, inventory=replace(job.inventory, attempted=commits))


def test_who_missed_the_most_commits_comes_first() -> None:
    """So that nobody is left out again and again where each pass makes way for the next."""
    first, second, third = jobs("a", "b", "c")
    one_at_a_time = opening(fleet("a", "b", "c"), max_parallel=1)
    ordered = apply_fleet([first, attempted(second, "1"), attempted(third, "1", "2")], one_at_a_time)
    assert [report.cluster for report in ordered] == ["c", "b", "a"]


def test_a_run_that_makes_way_finishes_those_it_began_with() -> None:
    """Asked before anything has begun, it begins as many as are worked on at once, and no other."""
    clusters = fleet("a", "b", "c")
    options = FleetOptions(is_making_way=lambda: True)
    reports = list(apply_fleet(jobs("a", "b", "c"), opening(clusters, max_parallel=1), options))
    assert outcomes(reports) == {"a": ApplyOutcome.CONVERGED}
    assert not clusters["b"].writes


def test_a_run_that_makes_way_leaves_slow_clusters_once_the_others_are_recorded() -> None:
    clusters, over, told = fleet("slow", "quick"), threading.Event(), list[tuple[str, ...]]()

    def hanging(_request: Request) -> Answer | None:
        happened(over, "the end of the test")
        return None

    clusters["slow"].faults.append(hanging)
    options = FleetOptions(patience=0.1, on_slow=told.append, is_making_way=lambda: bool(told))
    began = time.monotonic()
    reports = list(apply_fleet(jobs("slow", "quick"), opening(clusters), options))
    over.set()
    assert (outcomes(reports), told) == ({"quick": ApplyOutcome.CONVERGED}, [("slow",)])
    assert time.monotonic() - began < 10


def test_it_says_which_clusters_are_under_way_while_one_is_slow() -> None:
    """With one cluster alone nobody else is done, so that nothing else would say that it is waited for."""
    clusters, told = fleet("slow"), threading.Event()
    under_way: list[tuple[str, ...]] = []

    def tell(names: tuple[str, ...]) -> None:
        under_way.append(names)
        told.set()

    def hanging(_request: Request) -> Answer | None:
        happened(told, "a word about the cluster that is under way")
        return None

    clusters["slow"].faults.append(hanging)
    reports = list(apply_fleet(jobs("slow"), opening(clusters), FleetOptions(on_waiting=tell)))
    assert (outcomes(reports), under_way[0]) == ({"slow": ApplyOutcome.CONVERGED}, ("slow",))
