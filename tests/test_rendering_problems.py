"""A pass that renders nothing of something says why and is a no; a fleet that is really empty says what it is."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from .build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters

MAPS = [{"apiVersion": "v1", "kind": "ConfigMap"}]
EVERYWHERE = a_policy("all", selectors=MAPS, placement=on_clusters("rome"))
MAP, ROME = {"a.yaml": a_config_map("a")}, {"rome.yaml": a_cluster("rome")}
NOTHING = "warning: nothing is rendered of 1 template: "
EXPLAINED = "\n  hint: argosy explain KIND/NAME says why"
UNBUILT = f"{NOTHING}what policies select of them waits, or could not be built{EXPLAINED}"
WRONG = {
    "apiVersion": "policy.karmada.io/v1alpha1",
    "kind": "OverridePolicy",
    "metadata": {"name": "tuned", "namespace": "default"},
    "spec": {"overrideRules": [{"overriders": {"plaintext": [{"path": "/data/none", "operator": "remove"}]}}]},
}
FAILING = {
    "apiVersion": "config.karmada.io/v1alpha1",
    "kind": "ResourceInterpreterCustomization",
    "metadata": {"name": "failing"},
    "spec": {
        "target": {"apiVersion": "apps/v1", "kind": "Deployment"},
        "customizations": {"replicaResource": {"luaScript": "function GetReplicas(obj) return obj.none.none end"}},
    },
}


class Empty(NamedTuple):
    why: str
    files: dict[str, Any]
    code: int
    contents: str
    said: str = ""


def a_fleet(**spec: Any) -> dict[str, Any]:
    fleet = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}, "spec": spec}
    return {"argosy.yaml": fleet}


EMPTY = [
    Empty(
        "a fleet that is just begun", {**ROME, "p.yaml": EVERYWHERE}, 0, "0 templates, 1 propagation policy, 1 cluster"
    ),
    Empty("nothing at all", a_fleet(), 0, "0 templates, 0 propagation policies, 0 clusters"),
    Empty(
        "no cluster",
        {**MAP, "p.yaml": EVERYWHERE},
        1,
        "1 template, 1 propagation policy, 0 clusters",
        f"{NOTHING}the source has no cluster\n  hint: argosy cluster join NAME declares a cluster",
    ),
    Empty(
        "no policy",
        {**MAP, **ROME},
        1,
        "1 template, 0 propagation policies, 1 cluster",
        f"{NOTHING}the source has no policy that selects them\n  hint: argosy init writes a first one",
    ),
    Empty(
        "no policy that selects it",
        {**MAP, **ROME, "p.yaml": a_policy("p", selectors=[{"apiVersion": "v1", "kind": "Secret"}])},
        1,
        "1 template, 1 propagation policy, 1 cluster",
        f"{NOTHING}no policy selects any of them\n  hint: argosy validate names the nearest policy of each",
    ),
    Empty(
        "no cluster that takes it",
        {**MAP, **ROME, "p.yaml": a_policy("p", selectors=MAPS, placement=on_clusters("oslo"))},
        1,
        "1 template, 1 propagation policy, 1 cluster",
        f"{NOTHING}no cluster takes any of them{EXPLAINED}",
    ),
    Empty(
        "a policy that waits for its overrides",
        {**MAP, **ROME, "p.yaml": {**EVERYWHERE, "spec": {**EVERYWHERE["spec"], "dependentOverrides": ["tuned"]}}},
        1,
        "1 template, 1 propagation policy, 1 cluster",
        UNBUILT,
    ),
    Empty(
        "an override that fails in every cluster",
        {**MAP, **ROME, "p.yaml": EVERYWHERE, "o.yaml": WRONG},
        1,
        "1 template, 1 propagation policy, 1 cluster",
        UNBUILT,
    ),
    Empty(
        "a rule that fails for every one that is selected",
        {"w.yaml": a_deployment(), **ROME, "p.yaml": a_policy(placement=on_clusters("rome")), "r.yaml": FAILING},
        1,
        "1 template, 1 propagation policy, 1 cluster",
        UNBUILT,
    ),
    Empty(
        "no policy, of one beside a template that is meant to stay",
        {**MAP, **ROME, **a_fleet(notPropagated=["Secret"]), "s.yaml": {**a_config_map("s"), "kind": "Secret"}},
        1,
        "2 templates, 0 propagation policies, 1 cluster",
        f"{NOTHING}the source has no policy that selects them\n  hint: argosy init writes a first one",
    ),
    Empty(
        "a template that is meant to stay",
        {**MAP, **ROME, **a_fleet(notPropagated=["ConfigMap"])},
        0,
        "1 template, 0 propagation policies, 1 cluster",
    ),
    Empty(
        "one that somebody suspended",
        {**MAP, **ROME, "p.yaml": {**EVERYWHERE, "spec": {**EVERYWHERE["spec"], "suspension": {"dispatching": True}}}},
        0,
        "1 template, 1 propagation policy, 1 cluster",
    ),
]


@pytest.mark.parametrize("case", EMPTY, ids=lambda case: case.why)
def test_a_pass_that_renders_nothing_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str], case: Empty) -> None:
    repository = Repository.create(tmp_path / "fleet")
    repository.commit(case.files)
    for words in (["--bootstrap", "--dry-run"], ["--bootstrap"], []):
        ended = argosy(repository, capsys, "reconcile", *words)
        assert (ended.code, case.said in ended.err) == (case.code, True), ended
        assert case.said or "nothing is rendered" not in ended.err
        assert (f" for no cluster ({case.contents})" in ended.out) is bool(words), ended.out
