"""A difference names what made an object another: review sees a power by its name, wherever it stands."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from .build import Repository, a_cluster, a_deployment, a_policy, argosy, weighted

DEPLOYMENTS = [{"apiVersion": "apps/v1", "kind": "Deployment"}]


def a_customization(image: str = "", *, kind: str = "Deployment") -> dict[str, Any]:
    """A customization of a kind that, beside the replicas, sets an image."""
    body = f'  obj.spec.template.spec.containers[1].image = "{image}"\n' if image else ""
    script = f"function ReviseReplica(obj, replicas)\n  obj.spec.replicas = replicas\n{body}  return obj\nend\n"
    return {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": "revision"},
        "spec": {
            "target": {"apiVersion": "apps/v1", "kind": kind},
            "customizations": {"replicaRevision": {"luaScript": script}},
        },
    }


def an_override(image: str) -> dict[str, Any]:
    overriders = {"imageOverrider": [{"component": "Registry", "operator": "replace", "value": image}]}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "ClusterOverridePolicy",
        "metadata": {"name": "registry"},
        "spec": {"resourceSelectors": DEPLOYMENTS, "overrideRules": [{"overriders": overriders}]},
    }


@pytest.fixture
def repository(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    made = Repository.create(tmp_path / "fleet")
    placement = {"replicaScheduling": weighted(one=1, two=1)}
    made.commit(
        {
            "clusters/one.yaml": a_cluster("one"),
            "clusters/two.yaml": a_cluster("two"),
            "team-a/web.yaml": a_deployment("web", replicas=4),
            "team-a/policy.yaml": a_policy("web", selectors=DEPLOYMENTS, placement=placement),
            "team-b/override.yaml": an_override("good.example.com"),
        }
    )
    assert argosy(made, capsys, "reconcile", "--bootstrap").code == 0
    return made


class Case(NamedTuple):
    why: str
    files: dict[str, Any]
    words: str
    causes: list[dict[str, str]]


REVISION = {"name": "ResourceInterpreterCustomization revision", "path": "team-b/revision.yaml", "action": "added"}
REGISTRY = {"name": "ClusterOverridePolicy registry", "path": "team-b/override.yaml"}
CASES = [
    Case(
        "a customization of its kind in another team's folder",
        {"team-b/revision.yaml": a_customization("evil.example.com/x")},
        "by ResourceInterpreterCustomization revision (team-b/revision.yaml, added)",
        [REVISION],
    ),
    Case(
        "an override policy that is changed",
        {"team-b/override.yaml": an_override("evil.example.com")},
        "by ClusterOverridePolicy registry (team-b/override.yaml, changed)",
        [{**REGISTRY, "action": "changed"}],
    ),
    Case(
        "an override policy that is gone",
        {"team-b/override.yaml": None},
        "by ClusterOverridePolicy registry (team-b/override.yaml, removed)",
        [{**REGISTRY, "action": "removed"}],
    ),
    Case(
        "its template beside a customization",
        {
            "team-a/web.yaml": a_deployment("web", replicas=4, image="nginx:2"),
            "team-b/revision.yaml": a_customization(),
        },
        "by ResourceInterpreterCustomization revision (team-b/revision.yaml, added)",
        [{"name": "its template", "path": "team-a/web.yaml", "action": "changed"}, REVISION],
    ),
    Case(
        "its template alone",
        {"team-a/web.yaml": a_deployment("web", replicas=4, image="nginx:2")},
        "",
        [{"name": "its template", "path": "team-a/web.yaml", "action": "changed"}],
    ),
    Case(
        "a customization of another kind",
        {
            "team-a/web.yaml": a_deployment("web", replicas=4, image="nginx:2"),
            "team-b/revision.yaml": a_customization(kind="StatefulSet"),
        },
        "",
        [{"name": "its template", "path": "team-a/web.yaml", "action": "changed"}],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.why)
def test_what_made_an_object_another_is_named(
    case: Case, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    base = repository.git("rev-parse", "HEAD")
    repository.commit(case.files)
    told = json.loads(argosy(repository, capsys, "diff", "-o", "json", base, "HEAD").out)
    assert [each["causes"] for each in told["objects"]] == [case.causes]
    for form in ("text", "markdown"):
        lines = argosy(repository, capsys, "diff", "-o", form, base, "HEAD").out.splitlines()
        assert [line.strip() for line in lines if line.strip().startswith("by ")] == (
            [case.words] if case.words else []
        )


def test_replicas_that_a_customization_moves_name_it(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    base = repository.git("rev-parse", "HEAD")
    script = "function GetReplicas(obj)\n  return 8, nil\nend\n"
    customization = a_customization()
    customization["spec"]["customizations"] = {"replicaResource": {"luaScript": script}}
    repository.commit({"team-b/revision.yaml": customization})
    said = argosy(repository, capsys, "diff", base, "HEAD").out
    assert "REPLICAS\n  Deployment.apps default/web: 4 -> 8 replicas" in said
    assert "      by ResourceInterpreterCustomization revision (team-b/revision.yaml, added)\n" in said
    assert (
        "by ResourceInterpreterCustomization revision"
        in argosy(repository, capsys, "diff", "-o", "markdown", base, "HEAD").out
    )


def test_explain_names_what_interprets_a_kind(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.commit({"team-b/revision.yaml": a_customization("x")})
    said = "ResourceInterpreterCustomization revision (team-b/revision.yaml) for replicaRevision"
    assert f"Its kind is interpreted by {said}.\n" in argosy(repository, capsys, "explain", "deploy/web").out
    told = json.loads(argosy(repository, capsys, "explain", "deploy/web", "-o", "json").out)
    assert told["interpreters"] == [said]
