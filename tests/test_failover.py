"""Failover from the observation to the commit: taints, eviction, tasks and application failover over time."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from render.documents import parse_documents
from render.timing import instant_text

from .build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters, weighted
from .failing import observed

BINDING = "bindings/default/Deployment.apps/web.yaml"
WEB = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
DOWN = {
    "apiVersion": "policy.karmada.io/v1alpha1",
    "kind": "ClusterTaintPolicy",
    "metadata": {"name": "down"},
    "spec": {
        "addOnConditions": [{"conditionType": "Ready", "operator": "NotIn", "statusValues": ["True"]}],
        "removeOnConditions": [{"conditionType": "Ready", "operator": "In", "statusValues": ["True"]}],
        "taints": [{"key": "down", "effect": "NoExecute"}],
    },
}
TOLERATED = [{"key": "down", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}]
FIVE_MINUTES = {"decisionConditions": {"tolerationSeconds": 300}, "purgeMode": "Gracefully", "gracePeriodSeconds": 600}


def a_fleet(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}, "spec": spec}


@pytest.fixture
def fleet(tmp_path: Path) -> Repository:
    """Three clusters, two of which have two replicas each; what is down for five minutes is left."""
    repository = Repository.create(tmp_path / "fleet")
    placement = {
        "clusterTolerations": TOLERATED,
        "replicaScheduling": weighted(paris=1, rome=1, oslo=1),
        "spreadConstraints": [],
    }
    repository.commit(
        {
            "argosy.yaml": a_fleet(featureGates={"Failover": True}),
            **{f"{name}.yaml": a_cluster(name) for name in ("oslo", "paris", "rome")},
            "down.yaml": DOWN,
            "web.yaml": a_deployment("web", replicas=6),
            "policy.yaml": a_policy("web", selectors=[WEB], placement=placement, failover={"cluster": {}}),
        }
    )
    return repository


def binding(repository: Repository) -> dict[str, Any]:
    value: dict[str, Any] = parse_documents(repository.show(BINDING).encode())[0].value
    return value


def targets(repository: Repository) -> dict[str, int]:
    return {each["name"]: each.get("replicas", 0) for each in binding(repository)["spec"]["clusters"]}


UP = ("True", "2026-03-01T08:00:00Z")
ALL_UP = {"oslo": UP, "paris": UP, "rome": UP}
PARIS_DOWN = {**ALL_UP, "paris": ("False", "2026-03-01T09:00:00Z")}


def test_a_cluster_that_is_down_for_longer_than_tolerated_is_left_and_the_commit_replays(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    observed(fleet, ready=ALL_UP)
    assert argosy(fleet, capsys, "reconcile", "--bootstrap", "--now", "2026-03-01T08:00:00Z").code == 0
    assert targets(fleet) == {"oslo": 2, "paris": 2, "rome": 2}
    assert "Argosy-Now" not in fleet.git("log", "-1", "--format=%B", "argosy/rendered")

    observed(fleet, ready=PARIS_DOWN)
    ended = argosy(fleet, capsys, "reconcile", "--now", "2026-03-01T09:00:10Z", "-o", "json")
    assert parse_documents(ended.out.encode())[0].value["next"] == {
        "at": "2026-03-01T09:05:10Z",
        "what": "web leaves paris",
    }
    assert "Argosy-Now: 2026-03-01T09:00:10Z" in fleet.git("log", "-1", "--format=%B", "argosy/rendered")
    assert parse_documents(fleet.show("taints.yaml").encode())[0].value["clusters"] == {
        "paris": [{"key": "down", "effect": "NoExecute", "timeAdded": "2026-03-01T09:00:10Z"}]
    }
    assert targets(fleet) == {"oslo": 2, "paris": 2, "rome": 2}

    tainted = fleet.git("rev-parse", "argosy/rendered")
    assert argosy(fleet, capsys, "reconcile", "--now", "2026-03-01T09:05:09Z").code == 0
    assert fleet.git("rev-parse", "argosy/rendered") == tainted

    ended = argosy(fleet, capsys, "reconcile", "--now", "2026-03-01T09:05:10Z")
    assert ended.code == 0
    assert "Deployment.apps default/web is evicted from paris" in ended.err
    assert targets(fleet) == {"oslo": 3, "rome": 3}
    assert binding(fleet)["spec"]["gracefulEvictionTasks"] == [
        {
            "fromCluster": "paris",
            "purgeMode": "Gracefully",
            "reason": "TaintUntolerated",
            "producer": "TaintManager",
            "replicas": 2,
            "creationTimestamp": "2026-03-01T09:05:10Z",
        }
    ]
    assert "replicas: 2" in fleet.show("clusters/paris/default/Deployment.apps/web.yaml")
    ended = argosy(fleet, capsys, "verify", "-n", "3")
    assert (ended.code, ended.out.count("equal")) == (0, 3)


def test_what_was_left_goes_once_its_replacement_is_healthy(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    evict_paris(fleet, capsys)
    starting = {"oslo": ("Unhealthy", "2026-03-01T09:05:20Z"), "rome": ("Healthy", "2026-03-01T08:00:00Z")}
    observed(fleet, ready=PARIS_DOWN, health=starting)
    assert argosy(fleet, capsys, "reconcile", "--now", "2026-03-01T09:06:00Z").out.startswith("unchanged")
    observed(fleet, ready=PARIS_DOWN, health={**starting, "oslo": ("Healthy", "2026-03-01T09:06:10Z")})
    assert argosy(fleet, capsys, "reconcile", "--now", "2026-03-01T09:06:20Z").code == 0
    assert "gracefulEvictionTasks" not in binding(fleet)["spec"]
    assert not fleet.files(under="clusters/paris")
    assert targets(fleet) == {"oslo": 3, "rome": 3}


def test_what_was_left_goes_when_its_time_is_over_only_if_a_healthy_copy_is_elsewhere(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    evict_paris(fleet, capsys)
    failing = dict.fromkeys(("oslo", "rome"), ("Unhealthy", "2026-03-01T09:05:20Z"))
    observed(fleet, ready=PARIS_DOWN, health=failing)
    assert argosy(fleet, capsys, "reconcile", "--now", "2026-03-01T10:00:00Z").out.startswith("unchanged")
    observed(fleet, ready=PARIS_DOWN, health={**failing, "rome": ("Healthy", "2026-03-01T10:00:00Z")})
    assert argosy(fleet, capsys, "reconcile", "--now", "2026-03-01T10:00:01Z").code == 0
    assert not fleet.files(under="clusters/paris")


def test_a_policy_that_does_not_ask_for_it_is_not_evicted_by_taints_of_policies(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    placement = {"clusterTolerations": TOLERATED, "replicaScheduling": weighted(paris=1, rome=1, oslo=1)}
    fleet.commit({"policy.yaml": a_policy("web", selectors=[WEB], placement=placement)})
    evict_paris(fleet, capsys)
    assert targets(fleet) == {"oslo": 2, "paris": 2, "rome": 2}
    fleet.commit(
        {
            "argosy.yaml": a_fleet(
                featureGates={"Failover": True},
                failover={"noExecuteEviction": "Always", "purgeMode": "Directly"},
            )
        }
    )
    assert argosy(fleet, capsys, "reconcile", "--now", "2026-03-01T09:05:11Z").code == 0
    assert targets(fleet) == {"oslo": 3, "rome": 3}
    assert not fleet.files(under="clusters/paris")


def test_a_taint_in_a_file_counts_from_when_it_was_first_seen(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    observed(fleet, ready=ALL_UP)
    assert argosy(fleet, capsys, "reconcile", "--bootstrap", "--now", "2026-03-01T08:00:00Z").code == 0
    tainted = a_cluster("paris", taints=[{"key": "down", "effect": "NoExecute"}])
    fleet.commit({"paris.yaml": tainted, "down.yaml": None})
    assert argosy(fleet, capsys, "reconcile", "--now", "2026-03-01T08:10:00Z").code == 0
    fleet.commit({"rome.yaml": a_cluster("rome", labels={"tier": "gold"})})
    assert argosy(fleet, capsys, "reconcile", "--now", "2026-03-01T08:12:00Z").code == 0
    assert targets(fleet) == {"oslo": 2, "paris": 2, "rome": 2}
    assert argosy(fleet, capsys, "reconcile", "--now", "2026-03-01T08:15:00Z").code == 0
    assert targets(fleet) == {"oslo": 3, "rome": 3}


def test_many_clusters_that_are_down_at_once_evict_nothing(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    observed(fleet, ready=ALL_UP)
    assert argosy(fleet, capsys, "reconcile", "--bootstrap", "--now", "2026-03-01T08:00:00Z").code == 0
    observed(fleet, ready={**PARIS_DOWN, "rome": ("Unknown", "2026-03-01T09:00:00Z")})
    assert argosy(fleet, capsys, "reconcile", "--now", "2026-03-01T09:00:10Z").code == 0
    ended = argosy(fleet, capsys, "reconcile", "--now", "2026-03-01T09:10:00Z")
    assert "so many clusters are not ready at once that taints evict nothing" in ended.err
    assert targets(fleet) == {"oslo": 2, "paris": 2, "rome": 2}


def test_what_no_other_cluster_takes_stays_and_says_so(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    placement = on_clusters("paris", clusterTolerations=TOLERATED)
    fleet.commit({"policy.yaml": a_policy("web", selectors=[WEB], placement=placement, failover={"cluster": {}})})
    ended = evict_paris(fleet, capsys)
    told = [line for line in ended.splitlines() if "stays in paris" in line]
    said = "warning: Deployment.apps default/web: EvictionBlocked: stays in paris: no other cluster takes it"
    assert told == [said], "a problem is told once, and not as a warning beside it"
    assert targets(fleet) == {"paris": 6}
    notes = [each for each in binding(fleet)["status"]["conditions"] if each["type"] == "Evicted"]
    assert [(each["status"], each["reason"]) for each in notes] == [("False", "EvictionBlocked")]


def test_evictions_begin_one_after_another_where_that_is_limited(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = a_policy(
        "api",
        selectors=[{**WEB, "name": "api"}],
        placement={"clusterTolerations": TOLERATED, "replicaScheduling": weighted(paris=1, rome=1, oslo=1)},
        failover={"cluster": {}},
    )
    fleet.commit(
        {
            "argosy.yaml": a_fleet(featureGates={"Failover": True}, failover={"evictionsPerMinute": 1}),
            "api.yaml": a_deployment("api", replicas=6),
            "api-policy.yaml": policy,
        }
    )
    evict_paris(fleet, capsys)
    assert targets(fleet) == {"oslo": 2, "paris": 2, "rome": 2}
    ended = argosy(fleet, capsys, "reconcile", "--now", "2026-03-01T09:05:30Z", "-o", "json")
    assert parse_documents(ended.out.encode())[0].value["next"] == {
        "at": "2026-03-01T09:06:10Z",
        "what": "web may leave paris",
    }
    assert argosy(fleet, capsys, "reconcile", "--now", "2026-03-01T09:06:10Z").code == 0
    assert targets(fleet) == {"oslo": 3, "rome": 3}


def test_what_has_to_stay_takes_nobody_elses_turn_to_leave(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """The workload that comes first has no other cluster; before, it used up the one eviction of every minute."""
    placement = on_clusters("paris", clusterTolerations=TOLERATED)
    policy = a_policy("api", selectors=[{**WEB, "name": "api"}], placement=placement, failover={"cluster": {}})
    settings = a_fleet(featureGates={"Failover": True}, failover={"evictionsPerMinute": 1})
    fleet.commit({"argosy.yaml": settings, "api.yaml": a_deployment("api"), "api-policy.yaml": policy})
    said = evict_paris(fleet, capsys)
    assert "Deployment.apps default/api: EvictionBlocked: stays in paris: no other cluster takes it" in said
    assert targets(fleet) == {"oslo": 3, "rome": 3}


def test_what_is_replaced_already_goes_in_the_next_pass_and_is_not_said_to_leave_again(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing new is seen between the passes: the first one names the time of the second."""
    well = dict.fromkeys(("oslo", "rome"), ("Healthy", "2026-03-01T08:00:00Z"))
    observed(fleet, ready=ALL_UP, health=well)
    assert argosy(fleet, capsys, "reconcile", "--bootstrap", "--now", "2026-03-01T08:00:00Z").code == 0
    observed(fleet, ready=PARIS_DOWN, health=well)
    assert argosy(fleet, capsys, "reconcile", "--now", "2026-03-01T09:00:10Z").code == 0
    ended = argosy(fleet, capsys, "reconcile", "--now", "2026-03-01T09:05:10Z", "-o", "json")
    assert "is evicted from paris" in ended.err
    assert parse_documents(ended.out.encode())[0].value["next"] == {
        "at": "2026-03-01T09:05:11Z",
        "what": "web ends in paris",
    }
    ended = argosy(fleet, capsys, "reconcile", "--now", "2026-03-01T09:05:10Z")
    assert (ended.out.partition(":")[0], ended.err) == ("unchanged", "")
    assert argosy(fleet, capsys, "reconcile", "--now", "2026-03-01T09:05:11Z").code == 0
    assert "gracefulEvictionTasks" not in binding(fleet)["spec"]
    assert not fleet.files(under="clusters/paris")


@pytest.fixture
def failing_workload(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> Repository:
    """A fleet in which the workload runs in one cluster, where it becomes unhealthy at nine."""
    fleet.commit({"argosy.yaml": a_fleet(), "policy.yaml": a_failing_policy(FIVE_MINUTES)})
    observed(fleet, health={"paris": ("Healthy", "2026-03-01T08:00:00Z")})
    assert argosy(fleet, capsys, "reconcile", "--bootstrap", "--now", "2026-03-01T08:00:00Z").code == 0
    assert targets(fleet) == {"paris": 6}
    observed(fleet, health={"paris": ("Unhealthy", "2026-03-01T09:00:00Z")})
    return fleet


def a_failing_policy(application: dict[str, Any]) -> dict[str, Any]:
    groups = [
        {"affinityName": "first", "clusterNames": ["paris"]},
        {"affinityName": "second", "clusterNames": ["rome"]},
    ]
    placement = {"clusterAffinities": groups}
    return a_policy(
        "web", selectors=[WEB], placement=placement, propagateDeps=True, failover={"application": application}
    )


def test_a_workload_that_is_unhealthy_for_too_long_fails_over(
    failing_workload: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(failing_workload, capsys, "reconcile", "--now", "2026-03-01T09:05:00Z", "-o", "json")
    assert parse_documents(ended.out.encode())[0].value["next"] == {
        "at": "2026-03-01T09:05:01Z",
        "what": "web leaves paris",
    }
    assert targets(failing_workload) == {"paris": 6}
    assert argosy(failing_workload, capsys, "reconcile", "--now", "2026-03-01T09:05:01Z").code == 0
    assert targets(failing_workload) == {"rome": 6}
    (task,) = binding(failing_workload)["spec"]["gracefulEvictionTasks"]
    assert (task["reason"], task["gracePeriodSeconds"]) == ("ApplicationFailure", 600)
    ended = argosy(failing_workload, capsys, "verify", "-n", "2")
    assert (ended.code, ended.out.count("equal")) == (0, 2)


def test_state_goes_along_with_a_workload_that_is_purged_directly(
    failing_workload: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = {"rules": [{"aliasLabelName": "was", "jsonPath": "{.phase}"}]}
    application = {
        "decisionConditions": {"tolerationSeconds": 30},
        "purgeMode": "Directly",
        "statePreservation": rules,
    }
    gates = {"StatefulFailoverInjection": True}
    failing_workload.commit({"argosy.yaml": a_fleet(featureGates=gates), "policy.yaml": a_failing_policy(application)})
    assert argosy(failing_workload, capsys, "reconcile", "--now", "2026-03-01T09:00:31Z").code == 0
    assert targets(failing_workload) == {"rome": 6}
    assert "was: Failed" in failing_workload.show("clusters/rome/default/Deployment.apps/web.yaml")
    assert not failing_workload.files(under="clusters/paris")


def test_a_time_that_is_none_is_a_usage_error(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    ended = argosy(fleet, capsys, "render", "--now", "noon")
    assert ended.code == 2
    assert "'noon' is no time; write it as 2026-03-01T14:05:00Z" in ended.err


def evict_paris(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> str:
    """Let paris be down for longer than tolerated; return what the last pass logged."""
    observed(fleet, ready=ALL_UP)
    assert argosy(fleet, capsys, "reconcile", "--bootstrap", "--now", "2026-03-01T08:00:00Z").code == 0
    observed(fleet, ready=PARIS_DOWN)
    assert argosy(fleet, capsys, "reconcile", "--now", "2026-03-01T09:00:10Z").code == 0
    ended = argosy(fleet, capsys, "reconcile", "--now", "2026-03-01T09:05:10Z")
    assert ended.code in {0, 1}
    return ended.err


def test_status_says_what_happens_next_by_itself(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    placement = {
        "clusterTolerations": [{**TOLERATED[0], "tolerationSeconds": 86400}],
        "replicaScheduling": weighted(paris=1, rome=1, oslo=1),
    }
    fleet.commit({"policy.yaml": a_policy("web", selectors=[WEB], placement=placement, failover={"cluster": {}})})
    for ready in (ALL_UP, PARIS_DOWN):
        observed(fleet, ready=ready)
        assert argosy(fleet, capsys, "reconcile", "--bootstrap", "--now", instant_text(now)).code == 0
    lines = argosy(fleet, capsys, "status").out.splitlines()
    assert lines[1] == f"next: {now + timedelta(days=1):%Y-%m-%d %H:%M:%S} UTC, web leaves paris"
    value = parse_documents(argosy(fleet, capsys, "status", "-o", "json").out.encode())[0].value
    assert value["next"] == {"at": instant_text(now + timedelta(days=1)), "what": "web leaves paris"}


def test_explain_says_until_when_a_workload_waits_and_what_stays_where_it_left(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    evict_paris(fleet, capsys)
    said = argosy(fleet, capsys, "explain", "deploy/web", "--rev", "argosy/rendered~1").out
    assert "By itself: web leaves paris at 2026-03-01T09:05:10Z." in said
    said = argosy(fleet, capsys, "explain", "deploy/web").out
    assert "By itself: web ends in paris at 2026-03-01T09:15:11Z." in said
    assert "left since 2026-03-01T09:05:10Z; what is there stays until healthy copies replace it" in said
