"""``-o json``: one value a run, with apiVersion and kind first, whatever the command; the README lists its fields."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.build import Repository, a_cluster, a_config_map, a_policy, argosy, on_clusters
from tests.docs import README

CONFIG_MAPS = {"apiVersion": "v1", "kind": "ConfigMap"}
TEST = {
    "apiVersion": "argosy.dev/v1alpha1",
    "kind": "PolicyTest",
    "metadata": {"name": "one"},
    "spec": {"expect": [{"kind": "ConfigMap", "name": "one", "clusters": ["member1"]}]},
}
KINDS = {
    "render": "Rendering",
    "diff": "Difference",
    "diff --live": "LiveDifference",
    "explain cm/one": "ObjectExplanation",
    "explain cluster/member1": "ClusterExplanation",
    "explain policy/all": "PolicyExplanation",
    "validate": "Validation",
    "test": "PolicyTestResults",
    "reconcile": "Reconciliation",
    "reconcile --kubeconfig nowhere": "Reconciliation",
    "apply": "Application",
    "apply --dry-run server": "LiveDifference",
    "status": "FleetStatus",
    "status cluster/member1": "ClusterStatus",
    "status cm/one": "ObjectStatus",
    "verify": "Verification",
    "doctor": "Diagnosis",
}


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "nowhere"))
    made = Repository.create(tmp_path / "fleet")
    policy = a_policy("all", selectors=[CONFIG_MAPS], placement=on_clusters("member1"))
    made.commit({"fleet.yaml": [a_cluster("member1"), a_config_map("one"), policy], "one_test.yaml": TEST})
    return made


def value_of(repository: Repository, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    value = json.loads(argosy(repository, capsys, *words, "-o", "json").out)
    assert isinstance(value, dict)
    return value


def seen(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """A fleet that is rendered, and whose member was looked at."""
    ended = argosy(repository, capsys, "reconcile", "--bootstrap", "--kubeconfig", "nowhere")
    assert ended.err.endswith(
        "argosy: no cluster could be used\n  hint: argosy doctor; the lines above say what each answered\n"
    )


@pytest.mark.parametrize("line", KINDS)
def test_every_command_says_what_it_prints(
    line: str, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    seen(repository, capsys)
    value = value_of(repository, capsys, *line.split())
    assert (list(value)[:2], value["apiVersion"], value["kind"]) == (
        ["apiVersion", "kind"],
        "argosy.dev/v1alpha1",
        KINDS[line],
    )


@pytest.mark.parametrize("line", KINDS)
def test_every_field_is_in_the_readme(line: str, repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    seen(repository, capsys)
    text = README.read_text(encoding="utf-8")
    row = next(row for row in text.splitlines() if f"| `{KINDS[line]}` |" in row)
    value = value_of(repository, capsys, *line.split())
    assert [name for name in list(value)[2:] if f"`{name}`" not in row] == []


def test_a_pass_tells_what_could_not_be_placed_and_what_it_applied(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = a_policy("two", selectors=[{**CONFIG_MAPS, "name": "two"}], placement=on_clusters("member9"))
    repository.commit({"two.yaml": [a_config_map("two"), nowhere]})
    value = value_of(repository, capsys, "reconcile", "--bootstrap", "--kubeconfig", "nowhere")
    (problem,) = value["problems"]
    assert (problem["object"], problem["clusters"], problem["reason"]) == ("ConfigMap default/two", [], "NoClusterFit")
    assert {name: each["state"] for name, each in value["clusters"].items()} == {"member1": "NoCredentials"}
    assert value["rendered"] == repository.git("rev-parse", "argosy/rendered")
