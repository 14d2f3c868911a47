"""Resilience policies in validate: which loss breaks which object, how much is left, and what nobody can tell."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from reconciler.check.resilience import resilience_findings
from reconciler.pipeline.decisions import decisions_of_pass
from reconciler.pipeline.pass_values import Inputs
from tests.build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters, weighted
from tests.random_placements import desired_of
from tests.tables import each_row
from tests.test_source_resilience import ANY_CLUSTER, a_resilience

WEB = {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"}
AGGREGATED = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}
BY_ROOM = {
    "replicaSchedulingType": "Divided",
    "replicaDivisionPreference": "Weighted",
    "weightPreference": {"dynamicWeight": "AvailableReplicas"},
}
FAILOVER = {"failover": {"cluster": {"purgeMode": "Directly"}}}
FLEET = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": {"featureGates": {"Failover": True}}}
UNREADY = {
    "apiVersion": "policy.karmada.io/v1alpha1",
    "kind": "ClusterTaintPolicy",
    "metadata": {"name": "unready"},
    "spec": {
        "addOnConditions": [{"conditionType": "Ready", "operator": "In", "statusValues": ["False"]}],
        "removeOnConditions": [{"conditionType": "Ready", "operator": "In", "statusValues": ["True"]}],
        "taints": [{"key": "argosy.dev/unready", "effect": "NoExecute"}],
    },
}


def a_member(name: str, room: int, *, region: str = "", **spec: Any) -> dict[str, Any]:
    """Return a cluster in which so many replicas of web fit."""
    made = a_cluster(name, region=region, **spec)
    return {**made, "status": {"resourceSummary": {"allocatable": {"cpu": str(room), "pods": "99"}}}}


def web(replicas: int = 6, *, placed: dict[str, Any] | None = None, cpu: str = "1") -> list[dict[str, Any]]:
    """Return the Deployment shop/web, each replica of which needs a CPU, and its policy."""
    template = a_deployment("web", replicas=replicas, namespace="shop")
    template["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
    placement = {"replicaScheduling": BY_ROOM, **(placed or {})}
    return [template, a_policy("web", namespace="shop", selectors=[WEB], placement=placement, **FAILOVER)]


def web_of(name: str, replicas: int) -> list[dict[str, Any]]:
    """Return another Deployment like web."""
    template, policy = web(replicas)
    for each in (template, policy):
        each["metadata"] = {**each["metadata"], "name": name}
    policy["spec"]["resourceSelectors"] = [{**WEB, "name": name}]
    return [template, policy]


SETTINGS = {"apiVersion": "v1", "kind": "ConfigMap"}


def with_config(replicas: int) -> list[dict[str, Any]]:
    """Return web with a ConfigMap that goes where it goes."""
    template, policy = web(replicas)
    container = template["spec"]["template"]["spec"]["containers"][0]
    container["envFrom"] = [{"configMapRef": {"name": "settings"}}]
    policy["spec"]["propagateDeps"] = True
    return [template, policy, a_config_map("settings", namespace="shop", colour="blue")]


def problems_of(*documents: Any) -> list[str]:
    return [f"{each.field}: {each.message}" for each in findings_of(documents).problems]


def warnings_of(*documents: Any) -> list[str]:
    return [f"{each.field}: {each.message}" for each in findings_of(documents).warnings]


def findings_of(documents: Sequence[Any]) -> Any:
    desired = desired_of(documents)
    inputs = Inputs(desired=desired, facts={}, previous=None, source="a" * 40)
    return resilience_findings(desired, decisions_of_pass(inputs), None)


"""Three clusters of room for four replicas each: web, which has six, gets two in each."""
THREE = [a_member("eu-1", 4, region="eu"), a_member("eu-2", 4, region="eu"), a_member("us-1", 4, region="us")]
NOWHERE_KNOWN = [{key: each[key] for key in each if key != "status"} for each in THREE]
STATIC = {"replicaScheduling": weighted(**{"eu-1": 1, "eu-2": 1, "us-1": 1})}
AT_ONCE = {**ANY_CLUSTER, "when": "AtOnce"}
DUPLICATED = {"replicaScheduling": {"replicaSchedulingType": "Duplicated"}}

BROKEN: tuple[tuple[str, list[Any], list[str]], ...] = (
    ("two clusters have room for all", [*THREE, *web(6), a_resilience()], []),
    ("one region has not", [*THREE, *web(6), a_resilience({"loss": "region"})], [
        ("spec.survive[0]: Deployment.apps shop/web does not survive the loss of region eu"
         " (2 of 6 replicas would be left): 6 are needed")
    ]),
    ("what is left is enough", [*THREE, *web(6), a_resilience({"loss": "region", "minReplicas": "33%"})], []),
    ("a share is rounded up", [*THREE, *web(6), a_resilience({"loss": "region", "minReplicas": "34%"})], [
        ("spec.survive[0]: Deployment.apps shop/web does not survive the loss of region eu"
         " (2 of 6 replicas would be left): 3 are needed")
    ]),
    ("no room anywhere", [*THREE, *web(12), a_resilience()], [
        ("spec.survive[0]: Deployment.apps shop/web does not survive the loss of cluster eu-1"
         " (8 of 12 replicas would be left), cluster eu-2 (8) or cluster us-1 (8): 12 are needed")
    ]),
    ("at once, nothing is placed anew", [*THREE, *web(6), a_resilience(AT_ONCE)], [
        ("spec.survive[0]: Deployment.apps shop/web does not survive the loss of cluster eu-1"
         " (4 of 6 replicas would be left), cluster eu-2 (4) or cluster us-1 (4): 6 are needed")
    ]),
    ("at once, a share is left", [*THREE, *web(6), a_resilience({**AT_ONCE, "minReplicas": 4})], []),
    ("any two clusters", [*THREE, *web(6), a_resilience({**ANY_CLUSTER, "count": 2, "minReplicas": "50%"})], [
        ("spec.survive[0]: Deployment.apps shop/web does not survive the loss of clusters eu-1 and eu-2"
         " (2 of 6 replicas would be left), clusters eu-1 and us-1 (2) or clusters eu-2 and us-1 (2): 3 are needed")
    ]),
    ("two clusters hold four", [*THREE, *web(3), a_resilience({**ANY_CLUSTER, "count": 2})], []),
    ("a number of more than it asks for", [*THREE, *web(3), a_resilience({**ANY_CLUSTER, "minReplicas": 4})], [
        ("spec.survive[0]: Deployment.apps shop/web does not survive the loss of cluster eu-1"
         " (3 of 3 replicas would be left), cluster eu-2 (3) or cluster us-1 (3): 4 are needed")
    ]),
    ("scaled to nothing", [*THREE, *web(0), a_resilience({**ANY_CLUSTER, "minReplicas": 4})], []),
    ("a copy is left", [*THREE, *web(placed=DUPLICATED, cpu="0.1"), a_resilience({"loss": "region"})], []),
    ("too few copies are left", [*THREE, *web(placed=DUPLICATED, cpu="0.1"),
                                 a_resilience({"loss": "region", "minCopies": 2})], [
        ("spec.survive[0]: Deployment.apps shop/web does not survive the loss of region eu"
         " (1 of 3 copies would be left): 2 are needed")
    ]),
    ("the only copy", [THREE[0], *web(placed=DUPLICATED), a_resilience()], [
        ("spec.survive[0]: Deployment.apps shop/web does not survive the loss of cluster eu-1"
         " (0 of 1 copy would be left): 1 is needed")
    ]),
    ("pinned to one cluster", [*THREE, *web(2, placed=on_clusters("us-1")), a_resilience()], [
        ("spec.survive[0]: Deployment.apps shop/web does not survive the loss of cluster us-1"
         " (0 of 2 replicas would be left): 2 are needed")
    ]),
    ("static weights ask nobody for room", [*THREE, *web(9, placed=STATIC), a_resilience()], [
        ("spec.survive[0]: Deployment.apps shop/web does not survive the loss of cluster eu-1"
         " (8 of 9 replicas would be left), cluster eu-2 (8) or cluster us-1 (8): 9 are needed")
    ]),
    ("static weights, and room for all", [*THREE, *web(6, placed=STATIC), a_resilience()], []),
    ("static weights, and no room is known", [*NOWHERE_KNOWN, *web(9, placed=STATIC), a_resilience()], []),
    ("the only region that its policy takes", [*THREE, *web(2, placed={
        "clusterAffinity": {"fieldSelector": {"matchExpressions": [
            {"key": "region", "operator": "In", "values": ["us"]}]}}}), a_resilience({"loss": "region"})], [
        ("spec.survive[0]: Deployment.apps shop/web does not survive the loss of region us"
         " (0 of 2 replicas would be left): 2 are needed")
    ]),
    ("spread over two regions at least", [*THREE, *web(3, placed={
        "spreadConstraints": [{"spreadByField": "region", "minGroups": 2, "maxGroups": 2},
                              {"spreadByField": "cluster", "minGroups": 2, "maxGroups": 3}]}),
        a_resilience({"loss": "region", "minReplicas": 1})], []),
    ("two that are named want the same room", [*THREE, *web(4), *web_of("api", 5), a_resilience()], [
        ("spec.survive[0]: Deployment.apps shop/web does not survive the loss of cluster eu-1"
         " (2 of 4 replicas would be left), cluster eu-2 (3) or cluster us-1 (3): 4 are needed")
    ]),
    ("the other one is not named", [*THREE, *web(4), *web_of("api", 5), a_resilience(selector=WEB)], []),
    ("what it requires goes with it", [*THREE, *with_config(6), a_resilience(selector=SETTINGS)], []),
    ("what it requires stays away with it", [*THREE, *with_config(6), a_resilience({"loss": "region", "minCopies": 2},
                                                                                  selector=SETTINGS)], [
        ("spec.survive[0]: ConfigMap shop/settings does not survive the loss of region eu"
         " (1 of 3 copies would be left): 2 are needed")
    ]),
    ("objects of another namespace", [*THREE, *web(12), a_resilience(namespace="team")], []),
)  # fmt: skip


@each_row("why, documents, problems", BROKEN)
def test_a_loss_that_leaves_too_little_is_a_problem(why: str, documents: list[Any], problems: list[str]) -> None:
    assert problems_of(*documents) == problems, why


MOVING = [FLEET, UNREADY]
BY_HAND = web(6)
BY_HAND[1] = {**BY_HAND[1], "spec": {key: each for key, each in BY_HAND[1]["spec"].items() if key != "failover"}}

WARNINGS: tuple[tuple[str, list[Any], list[str]], ...] = (
    ("a fleet that fails over", [*MOVING, *THREE, *web(6), a_resilience()], []),
    ("nothing moves, and nobody counts on it", [*THREE, *web(6), a_resilience({**AT_ONCE, "minReplicas": 4})], []),
    ("failover is off", [*THREE, *web(6), a_resilience()], [
        "spec.survive[0]: a loss is survived as if all were placed anew, but no pass does that: failover is off"
    ]),
    ("no taint evicts", [FLEET, *THREE, *web(6), a_resilience()], [
        ("spec.survive[0]: a loss is survived as if all were placed anew, but no pass does that: no ClusterTaintPolicy"
         " gives clusters a NoExecute taint")
    ]),
    ("the policy that propagates it says nothing", [*MOVING, *THREE, *BY_HAND, a_resilience()], [
        ("spec.survive[0]: a loss is survived as if all were placed anew, but no pass does that for Deployment.apps"
         " shop/web: the policy that propagates it has no failover.cluster")
    ]),
    ("no object", [*MOVING, *THREE, *web(6), a_resilience(namespace="team")], [
        "spec.resourceSelectors: nothing has to survive by this policy: it names no object that is propagated"
    ]),
    ("an object in no cluster", [*MOVING, *THREE, *web(99), a_resilience()], [
        ("spec.resourceSelectors: Deployment.apps shop/web is in no cluster, so nobody can tell what it survives")
    ]),
    ("a cluster without a region", [*MOVING, *THREE[:2], a_member("us-1", 4), *web(6),
                                    a_resilience({"loss": "region", "minReplicas": 2})], [
        "spec.survive[0].loss: no region is known of us-1, so no loss of a region takes what is there"
    ]),
    ("clusters of which no capacity is known", [*MOVING, *NOWHERE_KNOWN, *web(9, placed=STATIC), a_resilience()], [
        ("spec.survive[0]: no capacity is known of eu-1, eu-2, us-1, where Deployment.apps shop/web would go: nobody"
         " can tell whether there is room")
    ]),
)  # fmt: skip


@each_row("why, documents, warnings", WARNINGS)
def test_what_nobody_can_tell_or_nothing_does_is_said(why: str, documents: list[Any], warnings: list[str]) -> None:
    assert warnings_of(*documents) == warnings, why


def test_the_reason_why_no_more_is_placed_is_the_hint() -> None:
    (short,) = findings_of([*THREE, *web(6), a_resilience({"loss": "region"})]).problems
    assert short.hint == (
        "no more of it is placed anew: failed to assign replicas: failed to scale up: Clusters available replicas 2 are"
        " not enough to schedule."
    )
    (full, *_) = findings_of([*THREE, *web(9, placed=STATIC), a_resilience()]).problems
    assert full.hint == "no more of it is placed anew: there is no room for what would go to us-1"


FILES = {
    "clusters.yaml": THREE,
    "web.yaml": web(6),
    "resilience.yaml": [a_resilience(ANY_CLUSTER, {"loss": "region", "minReplicas": "80%"})],
}


def test_validate_names_the_line_of_the_loss(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = Repository.create(tmp_path)
    repository.commit(FILES)
    ended = argosy(repository, capsys, "validate")
    assert ended.code == 3
    assert ended.out.splitlines()[:2] == [
        (
            "resilience.yaml:12: spec.survive[1]: Deployment.apps shop/web does not survive the loss of region eu"
            " (2 of 6 replicas would be left): 5 are needed"
        ),
        (
            "  hint: no more of it is placed anew: failed to assign replicas: failed to scale up: Clusters available"
            " replicas 2 are not enough to schedule."
        ),
    ]


def test_a_pass_delivers_what_does_not_survive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Resilience is asked of changes: a fleet whose clusters filled up goes on to be repaired."""
    repository = Repository.create(tmp_path)
    repository.commit(FILES)
    assert argosy(repository, capsys, "render", "--commit", "--bootstrap").code == 0


def test_what_was_placed_by_the_last_pass_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Replicas that stay where they are, though a first pass would divide them otherwise."""
    repository = Repository.create(tmp_path)
    asked = [a_resilience({**AT_ONCE, "minReplicas": 1})]
    repository.commit({**FILES, "web.yaml": web(4), "clusters.yaml": [THREE[2]], "resilience.yaml": []})
    assert argosy(repository, capsys, "render", "--commit", "--bootstrap").code == 0
    repository.commit({"clusters.yaml": THREE, "resilience.yaml": asked})
    ended = argosy(repository, capsys, "validate")
    assert ended.code == 3
    assert "the loss of cluster us-1 (0 of 4 replicas would be left): 1 is needed" in ended.out
