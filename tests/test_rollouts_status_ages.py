"""Gates that ask how old the status of a cluster may be: each row is what passes see, and the commits they make of it.

A commit is told by the version of oslo, paris and rome, and by the phase of the rollout.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest
from msgspec import Struct, field

from render.rollouts.status_ages import StatusAge, StatusLooks
from render.timing import Flip, Timed, instant_text

from .rolling import BEGIN, RollingFleet, a_control, a_wave, web
from .tables import each_row

CLUSTERS = ("oslo", "paris", "rome")
GATE = {"healthyFor": "10m", "maxStatusAge": "5m"}
NEW = {"web": web(2)}
WAVES = [a_wave("canary", "oslo"), a_wave("rest")]
WELL_AGAIN = "to be well again with the version before"
LOOK = "waits for a look at {}: the last one is too old for the gate"


class Step(Struct, kw_only=True):
    """Something that happens, and the commits of it.

    No pass looks at clusters that are ``unseen`` from then on, until they are ``seen`` again; whatever becomes of them
    begins after the last look.
    """

    commits: Sequence[str]
    files: Mapping[str, Any] = field(default_factory=dict)
    unseen: Collection[str] = ()
    seen: Collection[str] = ()
    unwell: Collection[str] | None = None
    down: Collection[str] | None = None
    seconds: int = 0
    control: str = ""
    next: str = ""


class Situation(Struct, kw_only=True):
    """A fleet whose gates ask for the age of what is known, and what happens to it."""

    why: str
    policy: Mapping[str, Any]
    steps: Sequence[Step]


BEGINS = Step(files=NEW, commits=["211 Progressing"])

SITUATIONS = (
    Situation(
        why="while every pass looks, a rollout goes on as without the field",
        policy={"waves": WAVES, "gate": GATE},
        steps=[
            BEGINS,
            Step(seconds=599, commits=[]),
            Step(seconds=1, commits=["222 Progressing"]),
            Step(seconds=600, commits=["222 Completed"]),
        ],
    ),
    Situation(
        why="a cluster that broke after the last look does not open its gate",
        policy={"waves": WAVES, "gate": GATE},
        steps=[
            BEGINS,
            Step(unseen=["oslo"], unwell=["oslo"], seconds=1800, commits=["211 Waiting"], next=LOOK.format("oslo")),
            Step(seconds=1800, commits=[]),
            Step(seen=["oslo"], commits=["211 Progressing"], next="waits for oslo to come through the gate"),
            Step(unwell=[], seconds=60, commits=[]),
            Step(seconds=600, commits=["222 Progressing"]),
        ],
    ),
    Situation(
        why="one that is still well at the next look opens it at once: nobody saw it otherwise",
        policy={"waves": WAVES, "gate": GATE},
        steps=[
            BEGINS,
            Step(unseen=["oslo"], seconds=1800, commits=["211 Waiting"], next=LOOK.format("oslo")),
            Step(seen=["oslo"], commits=["222 Progressing"]),
        ],
    ),
    Situation(
        why="a look that is not older than the gate allows opens it",
        policy={"waves": WAVES, "gate": {"healthyFor": "4m", "maxStatusAge": "5m"}},
        steps=[BEGINS, Step(unseen=["oslo"], seconds=300, commits=["222 Progressing"])],
    ),
    Situation(
        why="a second more is too old",
        policy={"waves": WAVES, "gate": {"healthyFor": "4m", "maxStatusAge": "5m"}},
        steps=[BEGINS, Step(unseen=["oslo"], seconds=301, commits=["211 Waiting"])],
    ),
    Situation(
        why="without the field a gate opens by whatever was seen last",
        policy={"waves": WAVES, "gate": {"healthyFor": "10m"}},
        steps=[BEGINS, Step(unseen=["oslo"], unwell=["oslo"], seconds=1800, commits=["222 Progressing"])],
    ),
    Situation(
        why="a cluster that was through is not, and is again with the next look, without a new beginning",
        policy={"waves": WAVES, "gate": GATE},
        steps=[
            BEGINS,
            Step(seconds=600, commits=["222 Progressing"]),
            Step(
                unseen=["oslo"],
                seconds=301,
                commits=["222 Progressing"],
                next="waits for oslo, paris, rome to come through the gate, and for a look at oslo, as the last one is"
                " too old for it",
            ),
            Step(seconds=299, commits=["222 Waiting"], next=LOOK.format("oslo")),
            Step(seen=["oslo"], commits=["222 Completed"]),
        ],
    ),
    Situation(
        why="one that was seen well has not failed by a deadline that passes while nobody looks",
        policy={"waves": WAVES, "gate": {**GATE, "deadline": "20m"}},
        steps=[
            BEGINS,
            Step(unseen=["oslo"], seconds=1800, commits=["211 Waiting"], next=LOOK.format("oslo")),
            Step(seen=["oslo"], commits=["222 Progressing"]),
        ],
    ),
    Situation(
        why="one that was never seen well has",
        policy={"waves": WAVES, "gate": {**GATE, "deadline": "20m"}},
        steps=[
            Step(files=NEW, unwell=["oslo"], commits=["211 Progressing"]),
            Step(unseen=["oslo"], unwell=[], seconds=1800, commits=["211 Failed"]),
        ],
    ),
    Situation(
        why="a share of a wave is of those whose status is known",
        policy={"waves": [a_wave("canary", "oslo", "paris", gate={**GATE, "share": "50%"}), a_wave("rest")]},
        steps=[
            Step(files=NEW, commits=["221 Progressing"]),
            Step(unseen=["oslo"], seconds=600, commits=["222 Progressing", "222 Waiting"], next=LOOK.format("oslo")),
        ],
    ),
    Situation(
        why="and not of others",
        policy={"waves": [a_wave("canary", "oslo", "paris", gate={**GATE, "share": "50%"}), a_wave("rest")]},
        steps=[
            Step(files=NEW, commits=["221 Progressing"]),
            Step(unseen=["oslo", "paris"], seconds=600, commits=["221 Waiting"], next=LOOK.format("oslo, paris")),
        ],
    ),
    Situation(
        why="each wave may ask for another age",
        policy={"waves": [a_wave("canary", "oslo", gate={"maxStatusAge": "1h"}), a_wave("rest")], "gate": GATE},
        steps=[
            BEGINS,
            Step(unseen=CLUSTERS, seconds=1800, commits=["222 Progressing"]),
            Step(seen=["paris", "rome"], seconds=600, commits=["222 Completed"]),
        ],
    ),
    Situation(
        why="one with a status that is too old is under way, and takes its room",
        policy={"waves": [a_wave("all")], "gate": GATE, "maxConcurrent": 1},
        steps=[
            Step(files=NEW, commits=["211 Progressing"]),
            Step(unseen=["oslo"], seconds=1800, commits=["211 Waiting"], next=LOOK.format("oslo")),
        ],
    ),
    Situation(
        why="a cluster that does not answer is passed over as always, whenever it was looked at",
        policy={"waves": WAVES, "gate": GATE},
        steps=[
            BEGINS,
            Step(seconds=600, commits=["222 Progressing"]),
            Step(down=["rome"], unseen=["rome"], seconds=600, commits=["222 Completed"]),
        ],
    ),
    Situation(
        why="a rollout that goes back by waves waits for a look, too",
        policy={
            "waves": WAVES,
            "gate": {**GATE, "healthyFor": "1m"},
            "onFailure": "Rollback",
            "rollback": "ReverseWaves",
        },
        steps=[
            BEGINS,
            Step(seconds=60, commits=["222 Progressing"]),
            Step(
                control="Abort",
                unwell=["paris"],
                commits=["211 Held", "211 Held"],
                next=f"waits for paris {WELL_AGAIN}",
            ),
            Step(
                unseen=["rome"],
                unwell=[],
                seconds=301,
                commits=["211 Held"],
                next=f"waits for rome {WELL_AGAIN}",
            ),
            Step(seen=["rome"], commits=["111 Held", "111 Held"]),
        ],
    ),
    Situation(
        why="what is paused is paused, whatever is known",
        policy={"waves": WAVES, "gate": GATE},
        steps=[
            BEGINS,
            Step(control="Pause", commits=["211 Paused"]),
            Step(unseen=["oslo"], seconds=1800, commits=["211 Paused"]),
            Step(control="Resume", commits=["211 Waiting"], next=LOOK.format("oslo")),
            Step(seen=["oslo"], commits=["222 Progressing"]),
        ],
    ),
)


@pytest.mark.parametrize("case", SITUATIONS, ids=lambda case: case.why)
def test_a_gate_goes_by_no_status_that_is_too_old(case: Situation) -> None:
    fleet = RollingFleet.of(CLUSTERS, {}, **case.policy)
    for number, step in enumerate(case.steps):
        fleet.settle()
        fleet.look_no_more(*step.unseen)
        fleet.look_again(*step.seen)
        fleet.unwell = fleet.unwell if step.unwell is None else set(step.unwell)
        fleet.down = fleet.down if step.down is None else set(step.down)
        if step.control:
            control = a_control(f"{number}", fleet.change, step.control, at=instant_text(fleet.now))
            fleet.commit(**{f"control-{number}": control})
        fleet.commit(**step.files)
        assert (number, fleet.run(step.seconds)) == (number, list(step.commits))
        if step.next:
            assert (number, fleet.state().next_step) == (number, step.next)


def test_a_pass_comes_when_a_status_that_counts_is_too_old() -> None:
    fleet = RollingFleet.of(CLUSTERS, {}, waves=WAVES, gate=GATE)
    fleet.commit(**NEW).run()
    fleet.look_no_more("oslo")
    fleet.run(60)
    assert fleet.latest is not None
    want = Flip(BEGIN + timedelta(seconds=301), "the last look at oslo is more than 300 s ago")
    assert fleet.latest.built.flip == want


def test_a_rollout_that_waits_for_a_person_asks_for_no_look() -> None:
    fleet = RollingFleet.of(CLUSTERS, {}, waves=WAVES, gate=GATE)
    fleet.commit(**NEW).run()
    fleet.commit(control=a_control("stop", fleet.change, "Pause")).run(600)
    assert fleet.latest is not None
    assert fleet.latest.built.flip is None


class Look(Struct, kw_only=True):
    """A look at a cluster, and the answer whether its status is older than a minute."""

    why: str
    ago: int | None
    too_old: bool
    recorded: bool | None = None
    flips: int | None = None


LOOKS = (
    Look(why="a look just now is new", ago=0, too_old=False, flips=61),
    Look(why="one as old as is asked for is new enough", ago=60, too_old=False, flips=1),
    Look(why="an older one is not", ago=61, too_old=True),
    Look(why="nobody knows of any", ago=None, too_old=True),
    Look(why="one of the future was seen by a clock that was wrong", ago=-1, too_old=True),
    Look(why="what a commit records counts, whenever the look was", ago=600, recorded=False, too_old=False),
    Look(why="also where it was too old then", ago=None, recorded=True, too_old=True),
)


@each_row("row", LOOKS, ids=lambda row: row.why)
def test_the_age_of_a_status(row: Look) -> None:
    times = {} if row.ago is None else {"oslo": BEGIN - timedelta(seconds=row.ago)}
    known = () if row.recorded is None else (StatusAge(cluster="oslo", seconds=60, is_too_old=row.recorded),)
    words = "the last look at oslo is more than 60 s ago"
    flip = None if row.flips is None else Flip(BEGIN + timedelta(seconds=row.flips), words)
    want = Timed(StatusAge(cluster="oslo", seconds=60, is_too_old=row.too_old), flip)
    found = StatusLooks.of(times if row.recorded is None else {}, known).age_of("oslo", 60, BEGIN)
    assert found == want
