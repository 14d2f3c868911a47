"""Templates that no policy selects: ``validate``, ``diff``, ``status`` and ``explain`` say that they go nowhere."""

import json
from html import unescape
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from render.matching import near_misses
from render.matching.near_misses import NearMisses
from render.model import ObjectRef, Template
from render.parsing.policies import parse_propagation_policy

from .build import (
    NGINX,
    Repository,
    a_cluster,
    a_cluster_policy,
    a_config_map,
    a_deployment,
    a_policy,
    argosy,
    on_clusters,
)
from .tables import each_row

PLACED = on_clusters("member1")
FLEET = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}}
IDLE = "argosy.yaml: no template is of this kind, or in this folder"
STAYS = "select it, or name its kind or folder in notPropagated of argosy.yaml"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A fleet with one object that goes to a cluster."""
    made = Repository.create(tmp_path / "fleet")
    policy = a_policy(placement=PLACED)
    made.commit({"member1.yaml": a_cluster("member1"), "apps/nginx.yaml": a_deployment(), "policy.yaml": policy})
    return made


def warnings(repository: Repository, capsys: pytest.CaptureFixture[str]) -> list[str]:
    found = json.loads(argosy(repository, capsys, "validate", "-o", "json").out)["warnings"]
    told = [f"{each['path']}: {each['message']}" for each in found]
    return [each for each in told if "nowhere" in each or each.endswith("in this folder")]


def settings(**spec: Any) -> dict[str, Any]:
    return {**FLEET, "spec": spec}


def test_validate_warns_and_is_strict(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert argosy(repository, capsys, "validate", "--strict").code == 0
    repository.write({"apps/web.yaml": a_deployment("web")})
    ended = argosy(repository, capsys, "validate", "--strict")
    assert (ended.code, ended.out.splitlines()[:2]) == (
        1,
        [
            "error: apps/web.yaml:1: no policy selects Deployment.apps default/web, so that it goes nowhere",
            f"  hint: {STAYS}; the nearest policy is PropagationPolicy default/nginx, which asks for the name 'nginx'",
        ],
    )


def test_objects_of_a_kind_are_told_together(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.write({f"apps/{name}.yaml": a_config_map(name) for name in ("one", "two")})
    assert warnings(repository, capsys) == [
        "apps/one.yaml: no policy selects ConfigMap default/one, ConfigMap default/two, so that they go nowhere"
    ]
    assert "  hint: select them, or name their kind or folder in" in argosy(repository, capsys, "validate").out


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        (["ConfigMap"], []),
        (["hub/"], []),
        (["./hub"], []),
        (["hub/one.yaml"], []),
        (["hu/"], [IDLE, "hub/one.yaml: no policy"]),
        (["ConfigMap.apps"], [IDLE, "hub/one.yaml: no policy"]),
    ],
)
@pytest.mark.parametrize("base", ["", "fleet/"])
def test_what_is_meant_to_stay_is_not_told(
    base: str, entries: list[str], said: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository.create(tmp_path / "fleet")
    fleet = settings(notPropagated=entries)
    repository.commit({f"{base}argosy.yaml": fleet, f"{base}hub/one.yaml": a_config_map("one")})
    found = warnings(repository, capsys)
    assert [each.partition(" selects")[0] for each in found] == [f"{base}{each}" for each in said]


def test_an_entry_that_names_nothing_is_refused(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.write({"argosy.yaml": settings(notPropagated=["./"])})
    ended = argosy(repository, capsys, "validate")
    assert (ended.code, "spec.notPropagated[0]: names neither a kind nor a folder" in ended.out) == (3, True)


def test_what_goes_along_is_not_told(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """A namespace, what a workload depends on, and what is never propagated."""
    web, selected = a_deployment("web"), [{**NGINX, "name": "web"}]
    web["spec"]["template"]["spec"]["volumes"] = [{"name": "one", "configMap": {"name": "one"}}]
    repository.commit(
        {
            "namespace.yaml": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}},
            "web.yaml": web,
            "web-policy.yaml": a_policy("web", selectors=selected, propagateDeps=True, placement=PLACED),
            "one.yaml": a_config_map("one"),
            "system.yaml": a_config_map("system", namespace="kube-system"),
        }
    )
    assert warnings(repository, capsys) == []
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    assert "nowhere" not in argosy(repository, capsys, "status").out
    repository.commit({"web-policy.yaml": a_policy("web", selectors=selected, placement=PLACED)})
    assert [each.partition(":")[0] for each in warnings(repository, capsys)] == ["one.yaml"]


def test_what_may_go_along_is_not_told(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """A script that does not tell what a workload depends on leaves that open in its namespace, and nowhere else."""
    script = 'function GetDependencies(o) error("no") end'
    customization = {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": "deployments"},
        "spec": {
            "target": {"apiVersion": "apps/v1", "kind": "Deployment"},
            "customizations": {"dependencyInterpretation": {"luaScript": script}},
        },
    }
    policy = a_policy(placement=PLACED, propagateDeps=True)
    maps = {"one.yaml": a_config_map("one"), "two.yaml": a_config_map("two", namespace="shop")}
    repository.write({**maps, "policy.yaml": policy, "script.yaml": customization})
    assert [each.partition(":")[0] for each in warnings(repository, capsys)] == ["two.yaml"]


def test_what_clusters_keep_is_told_as_released_alone(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    repository.commit({"policy.yaml": None})
    assert warnings(repository, capsys) == []
    assert "is released: no policy selects it" in argosy(repository, capsys, "validate").out


def test_diff_says_what_goes_nowhere(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """It was "no difference", in every form and on the pull request."""
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    repository.commit({"apps/web.yaml": a_deployment("web")})
    words = "no difference in any cluster, 1 new template goes nowhere"
    nearest = "PropagationPolicy default/nginx, which asks for the name 'nginx'"
    line = f"Deployment.apps default/web; nearest policy: {nearest}"
    text = argosy(repository, capsys, "diff", "HEAD~1", "HEAD")
    assert (text.code, text.out.partition(": ")[2]) == (0, f"{words}\n\nGO NOWHERE\n  ! {line}\n")
    assert argosy(repository, capsys, "diff", "--stat", "HEAD~1", "HEAD").out == f"{words}\n"
    markdown = argosy(repository, capsys, "diff", "-o", "markdown", "HEAD~1", "HEAD").out
    assert markdown.startswith("### No difference in any cluster, 1 new template goes nowhere\n")
    told = unescape(markdown)
    assert f"**Go nowhere: no policy selects them (1)**\n\n- {line}\n" in told
    document = json.loads(argosy(repository, capsys, "diff", "-o", "json", "HEAD~1", "HEAD").out)
    assert (document["different"], document["unselected"]) == (
        False,
        [
            {
                "object": {"group": "apps", "kind": "Deployment", "namespace": "default", "name": "web"},
                "path": "apps/web.yaml",
                "nearest": nearest,
            }
        ],
    )
    repository.commit({"apps/nginx.yaml": a_deployment(replicas=3)})
    again = argosy(repository, capsys, "diff", "HEAD~1", "HEAD").out
    assert "nowhere" not in again.lower()
    both = argosy(repository, capsys, "diff", "HEAD~2", "HEAD").out
    assert "1 object changed" in both
    assert ", 1 new template goes nowhere" in both


def test_status_says_what_goes_nowhere(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    assert "nowhere" not in argosy(repository, capsys, "status").out
    repository.commit({"apps/web.yaml": a_deployment("web")})
    line = "1 template goes nowhere, as no policy selects it: Deployment.apps default/web (argosy validate says more)"
    assert line in argosy(repository, capsys, "status").out.splitlines()
    assert json.loads(argosy(repository, capsys, "status", "-o", "json").out)["unselected"] == [
        "Deployment.apps default/web"
    ]


def test_explain_names_the_nearest_policy(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.commit({"apps/web.yaml": a_deployment("web")})
    assert argosy(repository, capsys, "explain", "deploy/web").out.splitlines()[1] == (
        "  No policy selects it; nearest policy: PropagationPolicy default/nginx, which asks for the name 'nginx'."
    )


def nearest_of(*policies: dict[str, Any], labels: dict[str, str] | None = None) -> str:
    manifest = {**a_deployment("web", namespace="shop")}
    manifest["metadata"] = {"name": "web", "namespace": "shop", "labels": labels or {}}
    template = Template(ref=ObjectRef("apps", "Deployment", "shop", "web"), manifest=manifest)
    return str(NearMisses([parse_propagation_policy(each) for each in policies]).nearest(template) or "")


def selector(**more: Any) -> dict[str, Any]:
    return {"apiVersion": "apps/v1", "kind": "Deployment", **more}


@each_row(
    ("selectors", "want"),
    [
        ([selector(name="wbe")], "asks for the name 'wbe'"),
        ([selector(namespace="sohp")], "asks for namespace 'sohp'"),
        ([selector(apiVersion="apps/v1beta1")], "asks for apiVersion 'apps/v1beta1'"),
        ([selector(labelSelector={"matchLabels": {"tier": "web"}})], "asks for the label tier=web"),
        (
            [selector(labelSelector={"matchExpressions": [{"key": "tier", "operator": "Exists"}]})],
            "asks for labels where tier Exists",
        ),
        ([selector(kind="Deploymnet")], "asks for kind 'Deploymnet'"),
        ([selector(name="database", namespace="x"), selector(name="wbe")], "asks for the name 'wbe'"),
        ([selector(name="database"), selector(name="wbe")], "asks for the name 'wbe'"),
        ([{"apiVersion": "v1", "kind": "Secret"}], ""),
    ],
)
def test_the_nearest_selector_is_told_by_what_it_asks_for(selectors: list[dict[str, Any]], want: str) -> None:
    found = nearest_of(a_cluster_policy("apps", selectors=selectors))
    assert found == (f"ClusterPropagationPolicy apps, which {want}" if want else "")


def test_a_policy_of_another_namespace_is_near_if_nothing_else_keeps_it() -> None:
    near = a_policy("web", selectors=[selector(name="web")], namespace="other")
    assert nearest_of(near) == "PropagationPolicy other/web, which selects in namespace 'other' alone"
    assert nearest_of(a_policy("web", selectors=[selector()], namespace="other")) == ""
    assert nearest_of(a_policy("web", selectors=[selector(name="x")], namespace="other")) == ""


def test_the_labels_of_an_object_are_not_told() -> None:
    wanted = a_cluster_policy("apps", selectors=[selector(labelSelector={"matchLabels": {"key": "wanted"}})])
    assert "hunter2" not in nearest_of(wanted, labels={"key": "hunter2"})


def test_names_are_compared_where_little_else_is_in_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    compare = Mock(return_value="")
    monkeypatch.setattr(near_misses, "most_similar_word", compare)
    others = [selector(name=f"web-{number}", namespace="other") for number in range(100)]
    near = nearest_of(a_cluster_policy("apps", selectors=[*others, selector(name="wbe", namespace="shop")]))
    assert near == "ClusterPropagationPolicy apps, which asks for the name 'wbe'"
    compare.assert_called_once_with("wbe", ["web"])
