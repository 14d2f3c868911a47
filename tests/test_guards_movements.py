"""The movement guard: what breaks a limit, what lets it pass, and how a refusal reads."""

from typing import NamedTuple

import pytest

from reconciler.guards.allowances import MovementAllowance
from reconciler.guards.movement_guard import Breach, Placements, breaches_of_limits, check_movements
from render.binding import Binding
from render.errors import GuardRefused
from render.model import ObjectRef, TargetCluster
from render.settings.movement_guard import MovementBudget, MovementGuard, PinnedObject

from .stories import movement_hint
from .tables import each_row

WEB = ObjectRef("apps", "Deployment", "shop", "web")
API = ObjectRef("apps", "Deployment", "shop", "api")
SETTINGS = ObjectRef("", "ConfigMap", "shop", "settings")
REGIONS = {"berlin": "eu", "paris": "eu", "oregon": "us"}


def bound(ref: ObjectRef, **replicas: int) -> Binding:
    targets = tuple(TargetCluster(name, number) for name, number in replicas.items())
    return Binding(ref=ref, api_version="v1", replicas=sum(replicas.values()), targets=targets)


def change(before: list[Binding], after: list[Binding]) -> Placements:
    return Placements(
        before={binding.ref: binding for binding in before},
        after={binding.ref: binding for binding in after},
        region_by_cluster=REGIONS,
    )


class Change(NamedTuple):
    why: str
    guard: MovementGuard
    before: list[Binding]
    after: list[Binding]
    broken: list[str]


FOUR = MovementGuard(fleet=MovementBudget(replicas=4))
HALF = MovementGuard(workload=MovementBudget(percent=50))
TWO_CLUSTERS = MovementGuard(minimum_clusters=2)
TWO_REGIONS = MovementGuard(minimum_regions=2)
PINNED = MovementGuard(pinned=(PinnedObject(kind="Deployment", namespace="shop", clusters=("berlin",)),))
ANYWHERE = MovementGuard(pinned=(PinnedObject(name="settings"),))

CHANGES = [
    Change(
        "without limits everything may move",
        MovementGuard(),
        [bound(WEB, berlin=9)],
        [bound(WEB, paris=9)],
        [],
    ),
    Change("as many as the budget move", FOUR, [bound(WEB, berlin=9)], [bound(WEB, berlin=5, paris=4)], []),
    Change(
        "one more than the budget",
        FOUR,
        [bound(WEB, berlin=9)],
        [bound(WEB, berlin=4, paris=5)],
        ["the fleet: 5 of 9 replicas move (more than 4)"],
    ),
    Change(
        "the fleet's budget is for all workloads together",
        FOUR,
        [bound(WEB, berlin=3), bound(API, berlin=3)],
        [bound(WEB, paris=3), bound(API, berlin=1, paris=2)],
        ["the fleet: 5 of 6 replicas move (more than 4)"],
    ),
    Change("scaling down moves nothing", FOUR, [bound(WEB, berlin=9)], [bound(WEB, berlin=1)], []),
    Change("scaling up moves nothing", FOUR, [bound(WEB, berlin=1)], [bound(WEB, berlin=9, paris=9)], []),
    Change(
        "while scaling up, what leaves a cluster moves",
        FOUR,
        [bound(WEB, berlin=6, paris=0)],
        [bound(WEB, berlin=1, paris=20)],
        ["the fleet: 5 of 6 replicas move (more than 4)"],
    ),
    Change("half of a workload may move", HALF, [bound(WEB, berlin=4)], [bound(WEB, berlin=2, paris=2)], []),
    Change(
        "more than half of a workload",
        HALF,
        [bound(WEB, berlin=4), bound(API, berlin=100)],
        [bound(WEB, berlin=1, paris=3), bound(API, berlin=100)],
        ["Deployment.apps shop/web: 3 of 4 replicas move (more than 50 %): berlin 4 -> 1, paris 0 -> 3"],
    ),
    Change(
        "both limits of a budget are named",
        MovementGuard(workload=MovementBudget(replicas=0, percent=0)),
        [bound(WEB, berlin=2)],
        [bound(WEB, berlin=1, paris=1)],
        [("Deployment.apps shop/web: 1 of 2 replicas moves (more than 0, more than 0 %): berlin 2 -> 1, paris 0 -> 1")],
    ),
    Change(
        "a workload is left in too few clusters",
        TWO_CLUSTERS,
        [bound(WEB, berlin=1, paris=1)],
        [bound(WEB, berlin=2)],
        ["Deployment.apps shop/web: in 1 cluster, at least 2 are asked for"],
    ),
    Change("one that never had enough may stay", TWO_CLUSTERS, [bound(WEB, berlin=1)], [bound(WEB, paris=1)], []),
    Change("one that is deleted loses no cluster", TWO_CLUSTERS, [bound(WEB, berlin=1, paris=1)], [], []),
    Change(
        "one that fits nowhere any more has too few",
        TWO_CLUSTERS,
        [bound(WEB, berlin=1, paris=1)],
        [bound(WEB)],
        ["Deployment.apps shop/web: in 0 clusters, at least 2 are asked for"],
    ),
    Change(
        "two clusters of one region are one region",
        TWO_REGIONS,
        [bound(WEB, berlin=1, oregon=1)],
        [bound(WEB, berlin=1, paris=1)],
        ["Deployment.apps shop/web: in 1 region, at least 2 are asked for"],
    ),
    Change(
        "a pinned object leaves its cluster",
        PINNED,
        [bound(WEB, berlin=1, paris=1)],
        [bound(WEB, paris=2)],
        ["Deployment.apps shop/web: leaves berlin, where it is pinned"],
    ),
    Change("a pin holds in the clusters it names", PINNED, [bound(WEB, berlin=1, paris=1)], [bound(WEB, berlin=2)], []),
    Change("a pin asks for no number", PINNED, [bound(WEB, berlin=5)], [bound(WEB, berlin=1, paris=4)], []),
    Change(
        "a pin without clusters holds wherever the object is, replicas or none",
        ANYWHERE,
        [bound(SETTINGS, berlin=0, paris=0)],
        [],
        ["ConfigMap shop/settings: leaves berlin, paris, where it is pinned"],
    ),
    Change(
        "nothing leaves a cluster that is disconnected",
        ANYWHERE,
        [bound(SETTINGS, berlin=0, tokyo=0)],
        [bound(SETTINGS, berlin=0)],
        [],
    ),
    Change("a pin is for what it names", ANYWHERE, [bound(WEB, berlin=1)], [], []),
]


@each_row("case", CHANGES, ids=lambda case: case.why)
def test_limits(case: Change) -> None:
    found = breaches_of_limits(change(case.before, case.after), case.guard)
    assert [breach.message for breach in found] == case.broken


class Allowed(NamedTuple):
    why: str
    allowance: str
    passes: bool


MOVED = Breach(subject="Deployment.apps shop/web", count=6, message="Deployment.apps shop/web: 6 of 8 replicas move")
ALLOWANCES = [
    Allowed("the very number", "Deployment.apps shop/web 6", True),
    Allowed("a larger number, as an option writes it", "Deployment.apps shop/web=9", True),
    Allowed("every workload", "* 6", True),
    Allowed("one too few", "* 5", False),
    Allowed("another workload", "Deployment.apps shop/api 6", False),
]


@each_row("case", ALLOWANCES, ids=lambda case: case.why)
def test_allowances(case: Allowed) -> None:
    try:
        check_movements([MOVED], [MovementAllowance.parse(case.allowance)])
    except GuardRefused:
        assert not case.passes
    else:
        assert case.passes


def test_a_pin_is_lifted_by_name_alone() -> None:
    pin = Breach(subject="ConfigMap shop/settings", count=1, message="it leaves", is_pin=True)
    with pytest.raises(GuardRefused):
        check_movements([pin], [MovementAllowance.parse("* 99")])
    check_movements([pin], [MovementAllowance.parse("ConfigMap shop/settings 1")])


def test_a_refusal_names_every_limit_and_the_trailers_that_allow_it() -> None:
    fleet = Breach(subject="*", count=12, message="the fleet: 12 of 40 replicas move (more than 10)")
    few = Breach(subject=MOVED.subject, count=1, message=f"{MOVED.subject}: in 1 cluster, at least 2 are asked for")
    with pytest.raises(GuardRefused) as refused:
        check_movements([fleet, MOVED, few], [])
    assert str(refused.value) == (
        "this change moves too much at once; nothing was committed\n"
        "  the fleet: 12 of 40 replicas move (more than 10)\n"
        "  Deployment.apps shop/web: 6 of 8 replicas move\n"
        "  Deployment.apps shop/web: in 1 cluster, at least 2 are asked for\n"
        + movement_hint("* 12", "Deployment.apps shop/web 6").rstrip("\n")
    )
    assert refused.value.exit_code == 6


@each_row("text", ["", "3", "=3", "* many", "Deployment.apps shop/web"])
def test_a_malformed_allowance_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        MovementAllowance.parse(text)
