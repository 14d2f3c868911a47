"""The scope of a kind, through the commands: a CRD in the source, then facts, then argosy.yaml, else a problem."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.ledger.facts import ClusterFacts

from .build import Repository, a_cluster, a_cluster_policy, a_config_map, a_policy, argosy, on_clusters
from .memory_fleet import MemoryFleet, put

WIDGET: dict[str, Any] = {
    "apiVersion": "acme.example/v1",
    "kind": "Widget",
    "metadata": {"name": "w"},
    "spec": {"size": 1},
}
WIDGETS = [{key: WIDGET[key] for key in ("apiVersion", "kind")}]
INSIDE = "member1/default/Widget.acme.example/w.yaml"
OUTSIDE = "member1/_cluster/Widget.acme.example/w.yaml"
NODE = {"cpu": "8", "memory": "32Gi", "pods": "110"}


def a_definition(*, is_namespaced: bool) -> dict[str, Any]:
    names = {"kind": "Widget", "plural": "widgets"}
    spec: dict[str, Any] = {
        "group": "acme.example",
        "names": names,
        "scope": "Namespaced" if is_namespaced else "Cluster",
    }
    spec |= {"versions": [{"name": "v1", "served": True, "storage": True}]}
    metadata = {"name": "widgets.acme.example"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": spec,
    }


def a_fleet(*, is_namespaced: bool) -> dict[str, Any]:
    kinds = [{"group": "acme.example", "kind": "Widget", "scope": "Namespaced" if is_namespaced else "Cluster"}]
    return {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": {"kinds": kinds}}


def facts(*, is_namespaced: bool) -> bytes:
    resources = [{"name": "widgets", "kind": "Widget", "namespaced": is_namespaced}]
    return ClusterFacts(
        name="member1", status={"apiEnablements": [{"groupVersion": "acme.example/v1", "resources": resources}]}
    ).content()


class Step(NamedTuple):
    why: str
    want: str
    crd: bool | None = None
    facts: bool | None = None
    declared: bool | None = None


STEPS = [
    Step("a definition in the source wins over everything", INSIDE, crd=True, facts=False, declared=False),
    Step("what members serve wins over argosy.yaml", OUTSIDE, facts=False, declared=True),
    Step("facts alone", INSIDE, facts=True),
    Step("argosy.yaml says it where nobody else does", OUTSIDE, declared=False),
]


def a_repository(folder: Path, step: Step) -> Repository:
    repository = Repository.create(folder)
    if step.facts is not None:
        repository.git("checkout", "-q", "--orphan", "argosy/status")
        repository.commit({"facts/member1.yaml": facts(is_namespaced=step.facts)})
        repository.git("checkout", "-q", "--orphan", "main")
        repository.git("rm", "-rqf", ".")
    policy = a_policy("widgets", selectors=WIDGETS, placement=on_clusters("member1"))
    policy |= {"kind": "ClusterPropagationPolicy", "metadata": {"name": "widgets"}}
    files: dict[str, Any] = {"clusters/member1.yaml": a_cluster("member1"), "policy.yaml": policy, "w.yaml": WIDGET}
    files |= {"crd.yaml": a_definition(is_namespaced=step.crd)} if step.crd is not None else {}
    files |= {"argosy.yaml": a_fleet(is_namespaced=step.declared)} if step.declared is not None else {}
    repository.commit(files)
    return repository


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.why)
def test_every_command_goes_by_the_same_scope(step: Step, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = a_repository(tmp_path / "fleet", step)
    ref = "Widget.acme.example default/w" if step.want is INSIDE else "Widget.acme.example w"
    assert argosy(repository, capsys, "validate").code == 0
    rendered = argosy(repository, capsys, "render", "--bootstrap", "--output-dir", str(tmp_path / "out"))
    assert (rendered.code, (tmp_path / "out" / "clusters" / step.want).is_file()) == (0, True)
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    assert f"clusters/{step.want}" in repository.files("argosy/rendered")
    assert argosy(repository, capsys, "verify").code == 0
    namespace = ("-n", "default") if step.want is INSIDE else ()
    assert ref in argosy(repository, capsys, "explain", "widgets.acme.example/w", *namespace).out
    assert ref in argosy(repository, capsys, "status", "-o", "wide").out
    repository.commit({"w.yaml": {**WIDGET, "spec": {"size": 2}}})
    assert ref in argosy(repository, capsys, "diff", "HEAD~1").out


UNKNOWN = "kind: nothing says whether Widget.acme.example lives in namespaces"
LINES = """\
  hint: add CustomResourceDefinitions, or say it in argosy.yaml, once these guesses are checked:
    spec:
      kinds:
      - {group: acme.example, kind: ClusterWidget, scope: Cluster}
      - {group: acme.example, kind: Widget, scope: Namespaced}
"""


def test_where_nothing_tells_it_is_left_out_and_the_rest_is_delivered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each object is named, and the first has the lines that tell the scopes of all kinds."""
    repository = Repository.create(tmp_path / "fleet")
    wide = {**WIDGET, "kind": "ClusterWidget", "metadata": {"name": "wide"}}
    selectors = [{"apiVersion": "acme.example/v1", "kind": kind} for kind in ("Widget", "ClusterWidget")]
    selectors.append({"apiVersion": "v1", "kind": "ConfigMap"})
    policy = a_cluster_policy("widgets", selectors=selectors, placement=on_clusters("member1"))
    objects = {"a.yaml": wide, "w.yaml": WIDGET, "x.yaml": a_config_map("x")}
    repository.commit({"c.yaml": a_cluster("member1"), "p.yaml": policy, **objects})
    other = UNKNOWN.replace("Widget", "ClusterWidget")
    for command in ("render --bootstrap", "reconcile --bootstrap", "render", "reconcile"):
        ended = argosy(repository, capsys, *command.split())
        said = f"warning: a.yaml:2: {other}\n{LINES}warning: w.yaml:2: {UNKNOWN}\n".replace(
            "kind: not", "kind: left out: not"
        )
        assert (ended.code, said in ended.err) == (1, True), (command, ended.err)
        assert argosy(repository, capsys, "validate").code == 3
    paths = repository.files("argosy/rendered")
    assert "clusters/member1/default/ConfigMap/x.yaml" in paths
    assert not [path for path in paths if "Widget" in path]
    repository.commit({"w.yaml": {**WIDGET, "spec": {"size": 3}}, "y.yaml": WIDGET | {"metadata": {"name": "y"}}})
    assert argosy(repository, capsys, "reconcile").code == 1
    kinds = [{"group": "acme.example", "kind": "Widget", "scope": "Namespaced"}]
    kinds.append({"group": "acme.example", "kind": "ClusterWidget", "scope": "Cluster"})
    fleet = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": {"kinds": kinds}}
    repository.commit({"argosy.yaml": fleet})
    assert argosy(repository, capsys, "reconcile").code == 0
    assert "clusters/member1/default/Widget.acme.example/w.yaml" in repository.files("argosy/rendered")
    assert "clusters/member1/_cluster/ClusterWidget.acme.example/wide.yaml" in repository.files("argosy/rendered")


@pytest.mark.parametrize("scope", ["Namespaced", "Cluster"])
def test_what_was_delivered_before_its_scope_was_forgotten_stops_a_pass(
    scope: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Members keep what they have: the object must not vanish because a line of argosy.yaml did."""
    repository = Repository.create(tmp_path / "fleet")
    policy = a_cluster_policy(
        "widgets", selectors=[{"apiVersion": "acme.example/v1", "kind": "Widget"}], placement=on_clusters("member1")
    )
    kinds = [{"group": "acme.example", "kind": "Widget", "scope": scope}]
    fleet = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": {"kinds": kinds}}
    repository.commit({"c.yaml": a_cluster("member1"), "p.yaml": policy, "w.yaml": WIDGET, "argosy.yaml": fleet})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    before = repository.files("argosy/rendered")
    repository.commit({"argosy.yaml": None})
    for command in ("validate", "render", "reconcile", "diff"):
        ended = argosy(repository, capsys, command)
        assert (ended.code, f"w.yaml:2: {UNKNOWN}" in ended.out + ended.err) == (3, True), command
    assert repository.files("argosy/rendered") == before


def test_verify_goes_by_the_facts_of_the_commit_and_not_by_those_of_today(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = a_repository(tmp_path / "fleet", Step("facts", INSIDE, facts=True))
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    repository.git("checkout", "-q", "argosy/status")
    repository.commit({"facts/member1.yaml": facts(is_namespaced=False)})
    repository.git("checkout", "-q", "main")
    assert argosy(repository, capsys, "verify").code == 0
    assert argosy(repository, capsys, "reconcile", "--allow-removal", "member1 1").code == 0
    assert f"clusters/{OUTSIDE}" in repository.files("argosy/rendered")
    codes = [argosy(repository, capsys, "verify", f"argosy/rendered~{back}").code for back in (0, 1)]
    assert codes == [0, 0]


def test_a_first_pass_asks_the_members_before_it_settles_namespaces(tmp_path: Path) -> None:
    policy = a_policy("widgets", selectors=WIDGETS, placement=on_clusters("member1"))
    fleet = MemoryFleet.create(tmp_path / "fleet", {"member1": (1, NODE)}, {"w.yaml": WIDGET, "policy.yaml": policy})
    put(
        fleet.members["member1"], "customresourcedefinitions.apiextensions.k8s.io", "", a_definition(is_namespaced=True)
    )
    fleet.run()
    assert f"clusters/{INSIDE}" in fleet.repository.files("argosy/rendered")
