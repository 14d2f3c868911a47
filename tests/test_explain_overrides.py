"""Overrides explained: by the object they change, with the numbers its clusters get, and by their policy."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.build import (
    Repository,
    a_cluster,
    a_config_map,
    a_deployment,
    a_policy,
    argosy,
    on_clusters,
    weighted,
)

REPLICAS = [{"path": "/spec/replicas", "operator": "replace", "value": 5}]
PAUSED = [{"path": "/spec/paused", "operator": "add", "value": True}]
LABEL = [{"operator": "add", "value": {"tier": "web"}}]


def an_override(name: str, *rules: dict[str, Any], namespace: str = "", **spec: Any) -> dict[str, Any]:
    kind = "OverridePolicy" if namespace else "ClusterOverridePolicy"
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": kind,
        "metadata": metadata,
        "spec": {"overrideRules": list(rules), **spec},
    }


def a_rule(*clusters: str, **overriders: Any) -> dict[str, Any]:
    target = {"targetCluster": {"clusterNames": list(clusters)}} if clusters else {}
    return {**target, "overriders": overriders}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Four replicas at two to one to one over three of four members, and a ConfigMap that nobody places."""
    made = Repository.create(tmp_path / "fleet")
    names = ("member1", "member2", "member3")
    split = on_clusters(*names, replicaScheduling=weighted(member1=2, member2=1, member3=1))
    fleet = [*map(a_cluster, (*names, "member4")), a_deployment(replicas=4), a_policy(placement=split)]
    made.commit({"fleet.yaml": [*fleet, a_config_map("lonely")]})
    return made


def test_a_number_that_clusters_share_out_is_told_for_each(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit(
        {"override.yaml": an_override("five", a_rule("member1", "member2", "member3", plaintext=REPLICAS))}
    )
    out = argosy(repository, capsys, "explain", "deploy/nginx").out
    assert out[out.index("Overrides") :].splitlines() == [
        "Overrides, in the order they apply",
        "  CLUSTERS          RULE                                               CHANGE",
        "  member1           ClusterOverridePolicy five spec.overrideRules[0]   /spec/replicas: 2 -> 5",
        "  member2 member3   ClusterOverridePolicy five spec.overrideRules[0]   /spec/replicas: 1 -> 5",
    ]
    shown = json.loads(argosy(repository, capsys, "explain", "deploy/nginx", "-o", "json").out)["overrides"]
    assert [each["steps"][0]["changes"][0]["before"] for each in shown] == [2, 1]


def test_what_leaves_numbers_alone_is_told_once(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.commit({"override.yaml": an_override("pause", a_rule(plaintext=PAUSED))})
    out = argosy(repository, capsys, "explain", "deploy/nginx").out
    assert out.splitlines()[-1] == (
        "  member1 member2 member3   ClusterOverridePolicy pause spec.overrideRules[0]   /spec/paused: added true"
    )


def test_an_override_that_fails_is_told_once(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    failing = [{"path": "/spec/nothing", "operator": "remove"}]
    repository.commit({"override.yaml": an_override("bad", a_rule(plaintext=failing))})
    out = argosy(repository, capsys, "explain", "deploy/nginx").out
    assert out.count("could not be applied") == 1


EXPLAINED = """\
ClusterOverridePolicy web (override.yaml)
  It selects 2 objects and is applied to 1.

Its selectors
  SELECTOR             OBJECTS
  apps/v1 Deployment   1
  v1 ConfigMap         1

Its rules
  RULE                    CLUSTERS
  spec.overrideRules[0]   member1 member2 member3 member4
  spec.overrideRules[1]   member4

It is applied to
  OBJECT                          CLUSTERS          RULE                    CHANGE
  Deployment.apps default/nginx   member1           spec.overrideRules[0]   /spec/replicas: 2 -> 5
                                  member2 member3   spec.overrideRules[0]   /spec/replicas: 1 -> 5

It selects, but is not applied to
  OBJECT                     WHY
  ConfigMap default/lonely   no policy selects it
"""
NOUNS = ["cop/web", "policy/web", "ClusterOverridePolicy/web", "clusteroverridepolicies.policy.karmada.io/web"]


@pytest.mark.parametrize("noun", NOUNS)
def test_a_policy_tells_what_it_selects_and_changes(
    noun: str, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    selectors = [{"apiVersion": "apps/v1", "kind": "Deployment"}, {"apiVersion": "v1", "kind": "ConfigMap"}]
    rules = (a_rule(plaintext=REPLICAS), a_rule("member4", plaintext=PAUSED))
    repository.commit({"override.yaml": an_override("web", *rules, resourceSelectors=selectors)})
    assert argosy(repository, capsys, "explain", noun) == (0, EXPLAINED, "")


def test_a_policy_without_selectors_whose_rules_reach_nobody(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({"override.yaml": an_override("all", a_rule("member4", plaintext=PAUSED), namespace="default")})
    out = argosy(repository, capsys, "explain", "op", "all", "-n", "default").out
    assert out.splitlines() == [
        "OverridePolicy default/all (override.yaml)",
        "  It selects 2 objects and is applied to 0.",
        "",
        "Its selectors",
        "  It has none, and so selects every object in its scope.",
        "",
        "Its rules",
        "  RULE                    CLUSTERS",
        "  spec.overrideRules[0]   member4",
        "",
        "It selects, but is not applied to",
        "  OBJECT                          WHY",
        "  ConfigMap default/lonely        no policy selects it",
        "  Deployment.apps default/nginx   it goes to none of the clusters that the rules are for",
    ]


def test_policies_of_a_name_are_all_explained(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.commit({"override.yaml": an_override("nginx", a_rule(labelsOverrider=LABEL))})
    shown = json.loads(argosy(repository, capsys, "explain", "policy", "nginx", "-o", "json").out)
    named = [[each["policy"] for each in shown[key]] for key in ("policies", "overridePolicies")]
    assert (shown["kind"], named) == (
        "PolicyExplanation",
        [["PropagationPolicy default/nginx"], ["ClusterOverridePolicy nginx"]],
    )
