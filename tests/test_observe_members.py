"""The observation of a fleet's members: who is asked what, for how long, and who comes late."""

import threading
import time
from typing import Any

import pytest

from reconciler.members.exchange import Answer, Client, Failure, FailureKind, Request
from reconciler.members.visits import MemberReach
from reconciler.observe.cluster_status import MemberObservation
from reconciler.observe.members import RETRY_SECONDS, ObserveOptions, clock_error, observe_fleet

from .fakes import FakeCluster
from .tables import each_row
from .waiting import happened

UNHEALTHY = Failure(kind=FailureKind.UNREACHABLE, message="it did not answer in time")


class Opened:
    """Members by name, and the seconds each of their clients was given."""

    def __init__(self, **members: FakeCluster) -> None:
        self.members = members
        self.seconds: dict[str, list[float]] = {name: [] for name in members}

    def __call__(self, name: str, deadline: float) -> Client | Failure:
        self.seconds[name].append(deadline)
        return self.members[name]

    def options(self, **chosen: Any) -> ObserveOptions:
        """Options of a clock that stands still."""
        return ObserveOptions(reach=MemberReach(open_client=self, timeout=60.0, clock=lambda: 0.0), **chosen)


def asked(member: FakeCluster, path: str) -> int:
    return sum(1 for request in member.requests if request.path == path)


def test_a_member_that_failed_has_little_time_to_be_healthy_and_then_as_much_as_any() -> None:
    opened = Opened(back=FakeCluster(), dead=FakeCluster(faults=[lambda _: UNHEALTHY]), fine=FakeCluster())
    options = opened.options(failed=frozenset({"back", "dead"}))
    observed = observe_fleet(["back", "dead", "fine"], options)
    assert opened.seconds == {"back": [RETRY_SECONDS, 60.0], "dead": [RETRY_SECONDS], "fine": [60.0]}
    assert {each.cluster: each.failure for each in observed.in_time} == {"back": None, "dead": UNHEALTHY, "fine": None}
    assert asked(opened.members["back"], "/readyz") == 1


def test_only_members_that_are_not_identified_are_asked_for_their_uid() -> None:
    opened = Opened(known=FakeCluster(), new=FakeCluster())
    observed = observe_fleet(["known", "new"], opened.options(identified=frozenset({"known"})))
    uid = opened.members["new"].objects["namespaces.", "", "kube-system"]["metadata"]["uid"]
    assert {each.cluster: each.uid for each in observed.in_time} == {"known": "", "new": uid}
    assert asked(opened.members["known"], "/api/v1/namespaces/kube-system") == 0


@pytest.mark.waits
def test_a_member_that_hangs_comes_late_and_is_known_when_it_answers() -> None:
    over = threading.Event()

    def hanging(_request: Request) -> Answer | None:
        happened(over, "the observation of the other")
        return None

    opened = Opened(hanging=FakeCluster(faults=[hanging]), quick=FakeCluster())
    observed = observe_fleet(["hanging", "quick"], ObserveOptions(reach=MemberReach(open_client=opened, timeout=60.0)))
    assert ([each.cluster for each in observed.in_time], list(observed.late)) == (["quick"], ["hanging"])
    late = observed.late["hanging"]
    assert not late.is_over
    over.set()
    assert (late.wait_for_observation().cluster, late.failure(), late.is_over) == ("hanging", None, True)


def test_a_fleet_of_which_nobody_answers_is_waited_for() -> None:
    opened = Opened(a=FakeCluster(faults=[lambda _: UNHEALTHY]), b=FakeCluster(faults=[lambda _: UNHEALTHY]))
    observed = observe_fleet(["a", "b"], opened.options())
    assert ([each.failure for each in observed.in_time], observed.late) == ([UNHEALTHY, UNHEALTHY], {})


@each_row(
    ("ahead", "error"),
    [
        ([], 0.0),
        ([3600.0], 0.0),
        ([None, 3600.0], 0.0),
        ([60.0, 61.0], 0.0),
        ([61.0, 3600.0], 61.0),
        ([-3600.0, -61.0, None], -61.0),
        ([0.0, 3600.0], 0.0),
        ([0.0, 3600.0, 3601.0], 3600.0),
        ([-3600.0, 3600.0], 0.0),
        ([-3600.0, -3600.0, 3600.0], -3600.0),
    ],
)
def test_the_clock_here_is_wrong_where_most_members_are_away_from_it_to_one_side(
    ahead: list[float | None], error: float
) -> None:
    assert clock_error(MemberObservation(cluster=str(at), ahead=each) for at, each in enumerate(ahead)) == error


def test_an_observation_has_how_far_the_clock_of_a_member_is_ahead() -> None:
    opened = Opened(a=FakeCluster(now=time.time() - 7200), b=FakeCluster())
    ahead = {each.cluster: each.ahead for each in observe_fleet(["a", "b"], opened.options()).in_time}
    assert ahead["b"] is None
    assert ahead["a"] == pytest.approx(-7200, abs=60)
