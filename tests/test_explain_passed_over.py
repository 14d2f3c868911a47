"""Every "not chosen" has the rule that did it, and a cluster younger than a decision is told so."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from render.binding import Binding
from render.cluster_index import ClusterIndex
from render.scheduling.batch import explanations_of_decisions
from render.scheduling.explanation import Explanation

from .build import Repository, a_cluster, a_deployment, a_policy, argosy
from .schedulable import AGGREGATED, DUPLICATED, DYNAMIC, a_binding, a_placement, targets
from .schedulable import a_cluster as a_candidate
from .tables import each_row
from .test_failover import a_fleet


def explained(binding: Binding, index: ClusterIndex) -> Explanation:
    (found,) = explanations_of_decisions([binding], index, among={binding.ref})
    return found


def by(**limits: tuple[int, int]) -> dict[str, Any]:
    constraints = [
        {"spreadByField": field, "minGroups": least, "maxGroups": most} for field, (least, most) in limits.items()
    ]
    return {"spreadConstraints": constraints}


class Case(NamedTuple):
    why: str
    replicas: int
    rules: dict[str, Any]
    room: dict[str, int]
    want: dict[str, str]
    held: dict[str, int] = {}  # noqa: RUF012  # a NamedTuple's default, never changed
    scheduling: dict[str, Any] = DYNAMIC
    regions: dict[str, str] = {}  # noqa: RUF012  # as above


ONE, TWO = by(cluster=(1, 1)), by(cluster=(2, 2))
CASES = [
    Case("room", 2, ONE, {"a": 3, "b": 5}, {"a": "maxGroups 1 by cluster: others have more room"}),
    Case("name", 2, ONE, {"a": 3, "b": 3}, {"b": "maxGroups 1 by cluster: others come first by name"}),
    Case(
        "what others hold",
        3,
        ONE,
        {"a": 3, "b": 9},
        {"b": "maxGroups 1 by cluster: others hold it already (score 100)"},
        {"a": 2},
    ),
    Case(
        "room for all",
        9,
        ONE,
        {"a": 1, "b": 9},
        {"a": "maxGroups 1 by cluster: a roomier cluster takes its place, so that all replicas fit"},
        {"a": 2},
    ),
    Case(
        "a refusal",
        2,
        by(cluster=(3, 3)),
        {"a": 3, "b": 3},
        dict.fromkeys(
            "ab",
            "no cluster is chosen: failed to select clusters: the number of feasible clusters is less than"
            " spreadConstraint.MinGroups",
        ),
    ),
    Case(
        "its region",
        2,
        by(region=(1, 1), cluster=(1, 9)),
        {"a": 1, "b": 5},
        {"a": "its region is not chosen"},
        regions={"ra": "minGroups and maxGroups ask for 1 by region: others score more together"},
    ),
    Case(
        "a refusal by regions",
        2,
        by(region=(3, 4), cluster=(1, 9)),
        {"a": 3, "b": 3},
        dict.fromkeys(
            "ab",
            "no cluster is chosen: failed to select clusters: the number of feasible region is less than"
            " spreadConstraint.MinGroups",
        ),
        regions=dict.fromkeys(("ra", "rb"), "no region is chosen"),
    ),
    Case(
        "what stays",
        2,
        TWO,
        {"a": 3, "b": 3, "c": 9},
        {"c": "maxGroups 2 by cluster: others hold it already, or have more room"},
        {"a": 2, "b": 2},
        DUPLICATED,
    ),
]


@each_row("case", CASES, ids=lambda case: case.why)
def test_the_rule_that_passed_a_cluster_over_is_named(case: Case) -> None:
    index = ClusterIndex(a_candidate(name, room, region=f"r{name}") for name, room in case.room.items())
    rules = a_placement(case.scheduling, **case.rules)
    binding = a_binding(case.replicas, rules, targets(**case.held))
    (attempt,) = explained(binding, index).attempts
    assert {each.cluster: each.why for each in attempt.candidates if not each.is_selected} == case.want
    assert not any(each.why for each in attempt.candidates if each.is_selected)
    assert {each.name: each.why for each in attempt.regions if not each.is_chosen} == case.regions
    assert not any(each.why for each in attempt.regions if each.is_chosen)


@pytest.mark.parametrize("scheduling", [DYNAMIC, AGGREGATED], ids=["dynamic", "aggregated"])
def test_what_a_request_would_give_is_what_the_next_pass_gives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], scheduling: dict[str, Any]
) -> None:
    """Before, a cluster that joined later was not in the explanation at all."""
    fleet = Repository.create(tmp_path / "fleet")

    def member(name: str, pods: int) -> dict[str, Any]:
        return {**a_cluster(name), "status": {"resourceSummary": {"allocatable": {"pods": str(pods)}}}}

    fleet.commit(
        {
            "argosy.yaml": a_fleet(),
            "oslo.yaml": member("oslo", 6),
            "web.yaml": a_deployment(replicas=6),
            "policy.yaml": a_policy(placement={"replicaScheduling": scheduling}),
        }
    )
    argosy(fleet, capsys, "reconcile", "--bootstrap")
    fleet.commit({"tokyo.yaml": member("tokyo", 12)})
    argosy(fleet, capsys, "reconcile")
    said = argosy(fleet, capsys, "explain", "deploy/nginx", "--cluster", "tokyo").out
    command = "argosy rebalance deployment/nginx -n default"
    assert f"tokyo joined after this was decided; {command} would give it " in said
    replicas = json.loads(argosy(fleet, capsys, "explain", "deploy/nginx", "-o", "json").out)["joinedLater"]
    gives = int(replicas[0].rpartition(" ")[2])
    assert f"{command} would give it {gives}" in argosy(fleet, capsys, "explain", "cluster/tokyo").out
    argosy(fleet, capsys, *command.split()[1:], "--commit")
    argosy(fleet, capsys, "reconcile")
    assert f"replicas: {gives}\n" in fleet.show("clusters/tokyo/default/Deployment.apps/nginx.yaml")
    assert "joined after" not in argosy(fleet, capsys, "explain", "deploy/nginx").out
