"""Passes over custom kinds that only a scale subresource interprets, and over those that nothing does."""

from pathlib import Path
from typing import Any

import pytest

from tests.build import a_policy, argosy, on_clusters, weighted
from tests.stories import a_fleet, settings
from tests.test_render_interpreter_scale import a_definition, a_widget

ONE_TO_ONE = on_clusters("member1", "member2", replicaScheduling=weighted(member1=1, member2=1))
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
