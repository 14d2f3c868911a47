"""Passes over custom kinds that only a scale subresource interprets, and over those that nothing does."""

import json
from pathlib import Path
from typing import Any

import pytest

from reconciler.pipeline import decisions
from render.documents import parse_documents
from render.interpreter import Interpreter
from tests.build import NGINX, Repository, a_deployment, a_policy, argosy, on_clusters, weighted
from tests.stories import a_fleet, settings
from tests.test_render_interpreter_scale import a_definition, a_widget

ONE_TO_ONE = on_clusters("member1", "member2", replicaScheduling=weighted(member1=1, member2=1))
TOGETHER = on_clusters("member1", "member2")
ANY_WIDGET = {"apiVersion": "example.io/v1", "kind": "Widget"}
IN_VAIN = (
    "warning: Widget.example.io default/w: its policy divides it, but nothing tells how many replicas Widget.example.io"
    " has: every cluster gets all of it\n"
    "  hint: write a ResourceInterpreterCustomization for example.io/v1 Widget with replicaResource and replicaRevision"
    " (see argosy interpret --show-doc){}; or let one cluster run it: replicaSchedulingType: Duplicated, and a spread"
    " constraint by cluster with maxGroups: 1\n"
)
MAY_BE_DEFINED = ", or add its CustomResourceDefinition if that has a scale subresource"


def rendered(tmp_path: Path, capsys: pytest.CaptureFixture[str], **files: Any) -> tuple[str, dict[str, int]]:
    """Return the warnings of a first pass, and the replicas of the Widget in each cluster."""
    fleet = a_fleet(tmp_path, members=2)
    widget = {**a_widget(replicas=9), "metadata": {"name": "w", "namespace": "default"}}
    policy = a_policy("widgets", selectors=[ANY_WIDGET], placement=ONE_TO_ONE)
    fleet.commit(
        {"widget.yaml": widget, "policy.yaml": policy, **{f"{name}.yaml": each for name, each in files.items()}}
    )
    ended = argosy(fleet, capsys, "reconcile", "--bootstrap")
    assert ended.code == 0, ended
    path = "clusters/{}/default/Widget.example.io/w.yaml"
    texts = {name: fleet.show(path.format(name)) for name in ("member1", "member2")}
    return ended.err, {name: int(text.rpartition("replicas: ")[2].split()[0]) for name, text in texts.items()}


def test_a_kind_with_a_scale_subresource_is_divided(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rendered(tmp_path, capsys, crd=a_definition()) == ("", {"member1": 5, "member2": 4})


@pytest.mark.parametrize(
    "switch", [{"interpretScale": False}, {"compatibility": "Karmada", "requireRecordedAPIs": False}]
)
def test_where_it_is_left_alone_every_cluster_gets_all(
    switch: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = rendered(tmp_path, capsys, crd=a_definition(), argosy=settings(**switch))
    assert found == (IN_VAIN.format(""), {"member1": 9, "member2": 9})


def test_a_kind_that_nothing_interprets_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rendered(tmp_path, capsys) == (IN_VAIN.format(MAY_BE_DEFINED), {"member1": 9, "member2": 9})


LAST_RESORT = "  Its replicas are read and written by the scale subresource of its kind.\n"


def test_explain_names_the_interpreter_that_decided(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = a_fleet(tmp_path, members=2)
    widget = {**a_widget(replicas=9), "metadata": {"name": "w", "namespace": "default"}}
    policy = a_policy("widgets", selectors=[ANY_WIDGET, NGINX], placement=ONE_TO_ONE)
    fleet.commit({"widget.yaml": [widget, a_deployment()], "policy.yaml": policy, "crd.yaml": a_definition()})
    argosy(fleet, capsys, "reconcile", "--bootstrap")
    assert LAST_RESORT in argosy(fleet, capsys, "explain", "widget.example.io/w").out
    told = json.loads(argosy(fleet, capsys, "explain", "widget.example.io/w", "-o", "json").out)
    assert told["layers"] == {"InterpretReplica": "scale", "ReviseReplica": "scale"}
    assert "Its replicas" not in argosy(fleet, capsys, "explain", "deploy/nginx").out
    told = json.loads(argosy(fleet, capsys, "explain", "deploy/nginx", "-o", "json").out)
    assert told["layers"] == {"InterpretReplica": "native", "ReviseReplica": "native"}


def test_diff_and_explain_say_what_a_change_divides_in_vain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = a_fleet(tmp_path, members=2)
    widget = {**a_widget(replicas=9), "metadata": {"name": "w", "namespace": "default"}}
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "most", "namespace": "default"},
        "spec": {"minAvailable": 4, "selector": {"matchLabels": {"app": "nginx"}}},
    }
    any_budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget"}
    selected = {"widgets": [ANY_WIDGET], "nginx": [NGINX, any_budget]}
    policies = [a_policy(name, selectors=selectors, placement=TOGETHER) for name, selectors in selected.items()]
    objects = [widget, a_deployment(replicas=6), budget]
    fleet.commit({"objects.yaml": objects, "policy.yaml": policies})
    argosy(fleet, capsys, "reconcile", "--bootstrap")
    assert "NOT DIVIDED" not in argosy(fleet, capsys, "diff", "HEAD", "HEAD").out
    divided = [{**each, "spec": {**each["spec"], "placement": ONE_TO_ONE}} for each in policies]
    fleet.commit({"policy.yaml": divided})
    widget_in_vain = IN_VAIN.format(MAY_BE_DEFINED).removeprefix("warning: ").replace("\n  hint", "\n      hint")
    budget_alone = (
        "PodDisruptionBudget.policy default/most: spec.minAvailable: Deployment.apps default/nginx is divided, and 4"
        " counts in each cluster: where that is the share of a cluster, no pod may be evicted\n"
        "      hint: write a percentage, such as '67%', or override it in each cluster\n"
    )
    said = argosy(fleet, capsys, "diff", "HEAD~1", "HEAD").out
    assert said.partition("NOT DIVIDED\n")[2] == f"  ! {widget_in_vain}  ! {budget_alone}"
    told = json.loads(argosy(fleet, capsys, "diff", "HEAD~1", "HEAD", "-o", "json").out)["undivided"]
    assert [(each["object"]["kind"], each.get("field")) for each in told] == [
        ("Widget", None),
        ("PodDisruptionBudget", "spec.minAvailable"),
    ]
    assert "**Not divided (2)**" in argosy(fleet, capsys, "diff", "HEAD~1", "HEAD", "-o", "markdown").out
    about_nginx = argosy(fleet, capsys, "explain", "deploy/nginx").out
    assert f"\nWhat is not divided\n  {budget_alone[:60]}" in about_nginx
    about_widget = json.loads(argosy(fleet, capsys, "explain", "widget.example.io/w", "-o", "json").out)
    assert [each["message"] for each in about_widget["undivided"]] == [
        "its policy divides it, but nothing tells how many replicas Widget.example.io has: every cluster gets all of it"
    ]
    assert "layers" not in about_widget


FLINK = ("flink.apache.org/v1beta1", "FlinkDeployment")


def test_where_nothing_writes_shares_all_replicas_are_counted_in_each_cluster(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They were said to be two in each cluster, which had four."""
    fleet = a_fleet(tmp_path, members=2)
    flink = {**a_widget(*FLINK, taskManager={"replicas": 3}), "metadata": {"name": "f", "namespace": "default"}}
    selector = {"apiVersion": FLINK[0], "kind": FLINK[1]}
    fleet.commit({"flink.yaml": flink, "policy.yaml": a_policy("flink", selectors=[selector], placement=ONE_TO_ONE)})
    argosy(fleet, capsys, "reconcile", "--bootstrap")
    table = argosy(fleet, capsys, "render").out
    assert "member1:4* member2:4*" in table
    (binding,) = parse_documents(fleet.show("bindings/default/FlinkDeployment.flink.apache.org/f.yaml").encode())
    assert [each["replicas"] for each in binding.value["spec"]["clusters"]] == [2, 2]
    assert binding.value["status"]["overriddenReplicas"] == [{"clusters": ["member1", "member2"], "replicas": 4}]
    assert argosy(fleet, capsys, "verify").code == 0


WIDGET = {**a_widget(replicas=9), "metadata": {"name": "w", "namespace": "default"}}
OTHER = {"other.yaml": a_deployment("other")}
TREE = "clusters/{}/default/Widget.example.io/w.yaml"
HELD = "it was placed before anything told how many replicas Widget.example.io has"


def numbers(fleet: Repository) -> list[int]:
    """The replicas of the Widget in each cluster."""
    texts = (fleet.show(TREE.format(name)) for name in ("member1", "member2"))
    return [int(text.rpartition("replicas: ")[2].split()[0]) for text in texts]


def rendered_by_an_older_engine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *files: Any
) -> Repository:
    """Return a fleet that was rendered by an engine which knew no scale subresources."""
    fleet = a_fleet(tmp_path, members=2)
    policy = a_policy("widgets", selectors=[ANY_WIDGET], placement=ONE_TO_ONE)
    fleet.commit({"widget.yaml": WIDGET, "policy.yaml": policy, "more.yaml": list(files) or a_deployment("more")})
    with monkeypatch.context() as patched:
        patched.setattr(decisions, "interpreter_of_source", lambda *_, **__: Interpreter.of(()))
        assert argosy(fleet, capsys, "reconcile", "--bootstrap").code == 0
    source, tip = (fleet.git("rev-parse", name) for name in ("HEAD", "argosy/rendered"))
    fleet.git("checkout", "-q", "argosy/rendered")
    trailers = f"Argosy-Source: {source}\nArgosy-Version: 0.0.1\nArgosy-Previous: {tip}"
    fleet.commit({"README.md": "as 0.0.1 wrote it\n"}, f"Render\n\n{trailers}\n")
    fleet.git("checkout", "-q", "main")
    assert numbers(fleet) == [9, 9]
    return fleet


@pytest.mark.parametrize("files", [{}, OTHER], ids=["the same source", "another source"])
def test_an_upgrade_divides_nothing_that_has_a_place(
    files: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = rendered_by_an_older_engine(tmp_path, capsys, monkeypatch, a_definition())
    if files:
        fleet.commit(files)
    ended = argosy(fleet, capsys, "reconcile")
    assert (ended.code, numbers(fleet)) == (0, [9, 9])
    assert HELD in ended.err
    assert argosy(fleet, capsys, "verify").code == 0
    assert argosy(fleet, capsys, "rebalance", "widget.example.io/w", "--commit").code == 0
    assert argosy(fleet, capsys, "reconcile").code == 0
    assert numbers(fleet) == [5, 4]
    assert argosy(fleet, capsys, "verify").code == 0
    assert HELD not in argosy(fleet, capsys, "render").err


def test_a_definition_that_is_added_to_the_source_divides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = rendered_by_an_older_engine(tmp_path, capsys, monkeypatch)
    assert argosy(fleet, capsys, "reconcile").code == 0
    fleet.commit({"crd.yaml": a_definition()})
    assert argosy(fleet, capsys, "reconcile").code == 0
    assert numbers(fleet) == [5, 4]
