"""An apply that takes long says what is done and what is under way: on a terminal at once, elsewhere now and then."""

import io

from reconciler.console.log import Log
from reconciler.deliver.results import ClusterReport
from reconciler.members.exchange import Failure, FailureKind
from reconciler.passes.apply_progress import ApplyProgress

CLUSTERS = ["m1", "m2", "m3", "m4", "m5"]


class Clock:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def an_apply(*, is_terminal: bool) -> tuple[ApplyProgress, Clock, io.StringIO]:
    stream, clock = io.StringIO(), Clock()
    return ApplyProgress(Log(stream=stream, is_terminal=is_terminal), CLUSTERS, clock), clock, stream


def a_failure(name: str) -> ClusterReport:
    return ClusterReport(cluster=name, failure=Failure(kind=FailureKind.UNREACHABLE, message="no answer"))


def test_in_a_pipe_there_is_a_line_every_five_seconds_with_what_ended_meanwhile() -> None:
    progress, clock, stream = an_apply(is_terminal=False)
    for seconds, done in enumerate(("m1", "m2", "", "m3", "", "", "", "", "", "", "m4", "m5"), 1):
        clock.now = float(seconds)
        if done:
            progress.add(a_failure(done))
        progress.tell([name for name in CLUSTERS if name > (done or "m3")])
    assert stream.getvalue().splitlines() == [
        "5 s: 3 of 5 clusters done; under way: m4, m5; Unreachable: m1, m2, m3",
        "10 s: 3 of 5 clusters done; under way: m4, m5",
    ]


def test_one_that_is_over_within_moments_says_nothing_in_a_pipe() -> None:
    progress, clock, stream = an_apply(is_terminal=False)
    for name in CLUSTERS:
        clock.now += 0.9
        progress.add(a_failure(name))
        progress.tell(())
    assert stream.getvalue() == ""


def test_on_a_terminal_one_line_tells_of_the_beginning_and_of_each_second() -> None:
    progress, clock, stream = an_apply(is_terminal=True)
    clock.now = 1.0
    progress.tell(CLUSTERS)
    progress.add(a_failure("m1"))
    assert [each for each in stream.getvalue().split("\r\x1b[2K") if each] == [
        "applying to 5 clusters: m1, m2, m3 and 2 more",
        "1 s: 0 of 5 clusters done; under way: m1, m2, m3 and 2 more",
        "1 s: 1 of 5 clusters done; Unreachable: m1",
    ]
