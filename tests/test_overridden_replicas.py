"""Replicas that an override sets are those that a cluster gets: they are counted, shown and marked everywhere."""

import json
from pathlib import Path
from typing import Any

import pytest

from .build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters, weighted
from .memory_fleet import MemoryFleet

ROOM = (1, {"cpu": "8", "memory": "16Gi", "pods": "110"})
BINDING = "bindings/default/Deployment.apps/nginx.yaml"
NOTE = "* other replicas than the policy assigns: an override sets them, or nothing writes a share"


def setting(replicas: Any, *names: str, path: str = "/spec/replicas", kind: str = "Deployment") -> dict[str, Any]:
    """An override policy that sets a number in some clusters."""
    version = "apps/v1" if kind == "Deployment" else "batch/v1"
    operation = {"path": path, "operator": "replace", "value": replicas}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy",
        "metadata": {"name": "fewer", "namespace": "default"},
        "spec": {
            "resourceSelectors": [{"apiVersion": version, "kind": kind}],
            "overrideRules": [
                {"targetCluster": {"clusterNames": list(names)}, "overriders": {"plaintext": [operation]}}
            ],
        },
    }


def a_source(**files: Any) -> dict[str, Any]:
    placement = on_clusters("oslo", "rome")
    return {
        "oslo.yaml": a_cluster("oslo"),
        "rome.yaml": a_cluster("rome"),
        "nginx.yaml": a_deployment(replicas=3),
        "policy.yaml": a_policy(placement=placement),
        **files,
    }


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository.create(tmp_path / "fleet")


def test_render_shows_what_a_cluster_gets(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.commit(a_source(**{"fewer.yaml": setting(1, "rome")}))
    shown = argosy(repository, capsys, "render", "--bootstrap").out
    assert shown.splitlines()[1].split()[2:4] == ["oslo:3", "rome:1*"]
    assert NOTE in shown.splitlines()
    wide = argosy(repository, capsys, "render", "--bootstrap", "-o", "wide").out
    assert wide.splitlines()[1].split()[2:5] == ["3", "oslo:3", "rome:1*"]
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    page = repository.show("README.md", "argosy/rendered").splitlines()
    assert [line for line in page if "](clusters/" in line] == [
        "| [oslo](clusters/oslo) | 1 | 3 |  |",
        "| [rome](clusters/rome) | 1 | 1 | replicas of 1 object by overrides |",
    ]
    status = json.loads(argosy(repository, capsys, "status", "-o", "json").out)
    assert {name: each["replicas"] for name, each in status["clusters"].items()} == {"oslo": 3, "rome": 1}
    (bound,) = [each for each in status["bindings"] if each["object"].startswith("Deployment")]
    assert (bound["clusters"], bound["overridden"]) == ({"oslo": 3, "rome": 1}, ["rome"])
    assert argosy(repository, capsys, "verify").code == 0


def test_status_shows_what_a_cluster_gets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {
        "nginx.yaml": a_deployment(replicas=3),
        "policy.yaml": a_policy(placement=on_clusters("oslo", "rome")),
        "fewer.yaml": setting(1, "rome"),
    }
    fleet = MemoryFleet.create(tmp_path / "fleet", {"oslo": ROOM, "rome": ROOM}, files)
    fleet.run()
    rows = [line.split()[:2] for line in fleet.status(capsys, "deployment/nginx").out.splitlines()]
    assert ["oslo", "3"] in rows
    assert ["rome", "1*"] in rows
    assert NOTE in fleet.status(capsys, "deployment/nginx").out
    fleet.repository.commit({"fewer.yaml": setting(0, "rome")})
    fleet.run()
    rows = [line.split()[:2] for line in fleet.status(capsys, "deployment/nginx").out.splitlines()]
    assert ["rome", "0*"] in rows
    (_, rome) = json.loads(fleet.status(capsys, "deployment/nginx", output="json").out)["clusters"]
    assert (rome["replicas"], rome["overridden"]) == (0, True)


def test_a_bindings_spec_stays_karmadas(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """The numbers in its spec are what the policy assigns, and an override that sets just these is no other number."""
    repository.commit(a_source(**{"fewer.yaml": setting(3, "rome")}))
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    before = repository.show(BINDING)
    assert "overriddenReplicas" not in before
    repository.commit({"fewer.yaml": setting(0, "rome")})
    assert argosy(repository, capsys, "reconcile").code == 0
    after = repository.show(BINDING)
    assert "  overriddenReplicas:\n  - clusters:\n    - rome\n    replicas: 0" in after
    assert "- {name: rome, replicas: 3}" in after
    assert "rome:0*" in argosy(repository, capsys, "render").out


def test_what_a_division_assigns_is_not_what_overridden_clusters_get(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing moves by an override: the guard against movements and `diff` go by what policies assign."""
    placement = on_clusters("oslo", "rome", replicaScheduling=weighted(oslo=1, rome=2))
    repository.commit(a_source(**{"policy.yaml": a_policy(placement=placement)}))
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    repository.commit({"fewer.yaml": setting(9, "rome")})
    difference = json.loads(argosy(repository, capsys, "diff", "HEAD~1", "-o", "json").out)
    assert difference["movements"] == []
    assert [each["replicas"] for each in difference["clusters"]] == [{"before": 2, "after": 9}]
    assert argosy(repository, capsys, "reconcile").code == 0
    assert "oslo:1 rome:9*" in argosy(repository, capsys, "render").out
    repository.commit({"more.yaml": a_deployment("other", replicas=1)})
    assert argosy(repository, capsys, "reconcile").code == 0
    assert "| [rome](clusters/rome) | 1 | 9 | replicas of 1 object by overrides |" in repository.show("README.md")


def test_the_parallelism_of_a_job_counts_likewise(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    pod = {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a:1"}]}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "sums", "namespace": "default"},
        "spec": {"parallelism": 2, "template": {"spec": pod}},
    }
    selectors = [{"apiVersion": "batch/v1", "kind": "Job"}]
    files = {
        "nginx.yaml": job,
        "policy.yaml": a_policy(selectors=selectors, placement=on_clusters("oslo", "rome")),
        "fewer.yaml": setting(1, "oslo", path="/spec/parallelism", kind="Job"),
    }
    repository.commit(a_source(**files))
    assert "oslo:1* rome:2" in argosy(repository, capsys, "render", "--bootstrap").out


SCRIPTS = {
    "replicaResource": "function GetReplicas(desiredObj) return desiredObj.spec.replicas end",
    "replicaRevision": "function ReviseReplica(desiredObj, desiredReplica)"
    " desiredObj.spec.replicas = desiredReplica return desiredObj end",
}


@pytest.mark.parametrize(("number", "shown"), [(1, "oslo:3 rome:1*"), (0, "oslo:3 rome:0*"), (3, "oslo:3 rome:3 ")])
def test_the_replicas_that_a_script_reads_count_likewise(
    repository: Repository, capsys: pytest.CaptureFixture[str], number: int, shown: str
) -> None:
    customization = {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": "deployments"},
        "spec": {
            "target": {"apiVersion": "apps/v1", "kind": "Deployment"},
            "customizations": {name: {"luaScript": script} for name, script in SCRIPTS.items()},
        },
    }
    repository.commit(a_source(**{"fewer.yaml": setting(number, "rome"), "scripts.yaml": customization}))
    assert shown in argosy(repository, capsys, "render", "--bootstrap").out


def test_a_cluster_whose_override_fails_has_the_replicas_it_had(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """The others get new ones, and count as such."""
    policy, web = setting(0, "rome"), a_deployment(replicas=3)
    removal = {"path": "/metadata/annotations/once", "operator": "remove"}
    policy["spec"]["overrideRules"][0]["overriders"]["plaintext"] = [removal]
    web["metadata"]["annotations"] = {"once": "yes"}
    repository.commit(a_source(**{"nginx.yaml": web, "fails.yaml": policy}))
    assert "oslo:3 rome:3 " in argosy(repository, capsys, "render", "--bootstrap").out
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    repository.commit({"nginx.yaml": a_deployment(replicas=5)})
    assert "oslo:5 rome:3*" in argosy(repository, capsys, "render").out
    assert argosy(repository, capsys, "reconcile").code == 1
    status = json.loads(argosy(repository, capsys, "status", "-o", "json").out)
    assert {name: each["replicas"] for name, each in status["clusters"].items()} == {"oslo": 5, "rome": 3}


@pytest.mark.parametrize("number", [9, 0])
def test_explain_tells_what_a_cluster_gets(
    repository: Repository, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    """An object's page said what the policy assigns; those of a cluster and a policy left out the mark, and a 0."""
    repository.commit(a_source(**{"fewer.yaml": setting(number, "rome")}))

    def told(*subject: str) -> tuple[str, Any]:
        shown = argosy(repository, capsys, "explain", *subject).out
        return shown, json.loads(argosy(repository, capsys, "explain", *subject, "-o", "json").out)

    targets = [{"name": "oslo", "replicas": 3}, {"name": "rome", "replicas": number}]
    text, about = told("deploy/nginx")
    assert f"It asks for 3 replicas and goes to oslo 3, rome {number}*." in text
    assert f"{NOTE}." in text
    assert (about["targets"], about["overridden"]) == (targets, ["rome"])
    assert NOTE not in argosy(repository, capsys, "explain", "deploy/nginx", "--cluster", "oslo").out
    text, about = told("cluster/rome")
    assert next(line.split()[2] for line in text.splitlines() if "default/nginx" in line) == f"{number}*"
    assert f"{NOTE}." in text
    assert [(each["replicas"], each["overridden"]) for each in about["held"]] == [(number, True)]
    text, about = told("cluster/oslo")
    assert NOTE not in text
    assert "overridden" not in about["held"][0]
    text, about = told("pp/nginx")
    assert f"oslo:3 rome:{number}*" in text
    assert f"{NOTE}." in text
    (selected,) = about["policies"][0]["objects"]
    assert (selected["targets"], selected["overridden"]) == (targets, ["rome"])


@pytest.mark.parametrize(
    "removal",
    [
        {"path": "/spec/replicas", "operator": "remove"},
        {"path": "/spec/replicas", "operator": "replace", "value": None},
    ],
)
def test_replicas_that_an_override_removes_are_those_an_api_server_sets(
    repository: Repository, capsys: pytest.CaptureFixture[str], removal: dict[str, Any]
) -> None:
    """They were said to be three, as the policy assigns; an API server gives such a Deployment one."""
    policy = setting(0, "rome")
    policy["spec"]["overrideRules"][0]["overriders"]["plaintext"] = [removal]
    repository.commit(a_source(**{"fewer.yaml": policy}))
    assert "oslo:3 rome:1*" in argosy(repository, capsys, "render", "--bootstrap").out
    repository.commit({"nginx.yaml": a_deployment(replicas=1)})
    assert "oslo:1 rome:1 " in argosy(repository, capsys, "render", "--bootstrap").out
