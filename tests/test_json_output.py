"""``-o json``: one value a run, with apiVersion and kind first, of exactly the shape that ``argosy schema`` prints."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reconciler.cli import run
from reconciler.outputs.documents import DOCUMENTS
from tests.build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, copied, on_clusters
from tests.fakes import FakeCluster
from tests.schemas import closed, faults
from tests.served import serving_members

pytestmark = pytest.mark.xdist_group("json output")  # one process makes the shared fleet for all of them

DEPLOYMENTS = {"apiVersion": "apps/v1", "kind": "Deployment"}
CONFIG_MAPS = {"apiVersion": "v1", "kind": "ConfigMap"}
TEST = {
    "apiVersion": "argosy.dev/v1alpha1",
    "kind": "PolicyTest",
    "metadata": {"name": "one"},
    "spec": {"expect": [{"kind": "ConfigMap", "name": "one", "clusters": ["member1"]}]},
}
FOREIGN = Path(__file__).parent / "vectors" / "foreign.yaml"
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
    "wait --timeout 0s": "Waiting",
    "verify": "Verification",
    "doctor": "Diagnosis",
    f"import {FOREIGN}": "ImportReport",
    "rebalance cm/one": "SourceEdit",
    "rollback --to HEAD": "Rollback",
    "cluster drain member1": "SourceEdit",
    "cluster unjoin member1 --drain": "SourceEdit",
    "cluster rename member1 member2": "SourceEdit",
    "rollout status": "Rollouts",
    "history cm/one": "History",
    "overview": "Overview",
    "history --commits": "Timeline",
    "status policy/all": "PolicyStatus",
    "list objects": "ObjectList",
    "list clusters": "ClusterList",
    "list policies": "PolicyList",
    "list namespaces": "NamespaceList",
    "matrix --rows object --columns cluster": "Matrix",
    "search one": "Search",
    "blame cm/one": "Blame",
    "bisect cm/one --unplaced": "Bisection",
    "simulate --cordon member1": "Simulation",
    "simulate --n-minus 1": "Losses",
    "simulate --headroom deploy/one": "Headroom",
    "simulate --without-cluster member1 --explain cm/one": "ObjectExplanation",
    "backtest --since 90d": "Backtest",
}


def a_fleet(folder: Path) -> Repository:
    made = Repository.create(folder / "fleet")
    policy = a_policy("all", selectors=[CONFIG_MAPS, DEPLOYMENTS], placement=on_clusters("member1"))
    objects = [a_cluster("member1"), a_config_map("one"), a_deployment("one"), policy]
    made.commit({"fleet.yaml": objects, "one_test.yaml": TEST})
    return made


@pytest.fixture(autouse=True)
def nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "nowhere"))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return a_fleet(tmp_path)


@pytest.fixture(scope="module")
def looked_at(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A fleet that is rendered, and whose member was looked at, to be copied."""
    made = a_fleet(tmp_path_factory.mktemp("looked_at"))
    assert run(["-q", "-C", str(made.path), "reconcile", "--bootstrap", "--kubeconfig", "nowhere"]) == 5
    return made


@pytest.fixture
def seen(looked_at: Repository, tmp_path: Path) -> Repository:
    return copied(tmp_path, looked_at)[0]


def value_of(repository: Repository, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    value = json.loads(argosy(repository, capsys, *words, "-o", "json").out)
    assert isinstance(value, dict)
    return value


def test_a_pass_that_can_use_no_cluster_says_so(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    ended = argosy(repository, capsys, "reconcile", "--bootstrap", "--kubeconfig", "nowhere")
    assert ended.err.endswith("argosy: no cluster could be used\n  hint: name one with --kubeconfig\n")


@pytest.mark.parametrize("line", KINDS)
def test_every_command_says_what_it_prints(line: str, seen: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    value = value_of(seen, capsys, *line.split())
    assert (list(value)[:2], value["apiVersion"], value["kind"]) == (
        ["apiVersion", "kind"],
        "argosy.dev/v1alpha1",
        KINDS[line],
    )


@pytest.mark.parametrize("line", KINDS)
def test_every_command_prints_what_its_schema_says(
    line: str, seen: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert faults(value_of(seen, capsys, *line.split()), KINDS[line]) == []


def test_every_kind_of_output_has_a_schema() -> None:
    assert {*KINDS.values(), *REACHED.values()} == {each.kind for each in DOCUMENTS}


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


EXAMPLES = Path(__file__).parent.parent / "examples"
QUICKSTART = {
    "validate": "Validation",
    "test": "PolicyTestResults",
    "render": "Rendering",
    "render --as works": "Rendering",
    "render --as bindings": "Rendering",
    "reconcile --bootstrap": "Reconciliation",
    "reconcile": "Reconciliation",
    "verify": "Verification",
    "diff HEAD": "Difference",
    "explain deploy/web -v": "ObjectExplanation",
    "explain ns/shop": "ObjectExplanation",
    "explain cluster/paris": "ClusterExplanation",
    "explain policy/web": "PolicyExplanation",
    "explain cop/registry": "PolicyExplanation",
    "status": "FleetStatus",
    "status cluster/paris": "ClusterStatus",
    "status deploy/web": "ObjectStatus",
    "status ns/shop": "ObjectStatus",
    "wait deploy/web --timeout 0s": "Waiting",
}
REACHED = {
    "diff --live": "LiveDifference",
    "apply --dry-run server": "LiveDifference",
    "reconcile": "Reconciliation",
    "apply": "Application",
    "cluster rejoin berlin": "Rejoining",
    "pods deploy/web -n shop": "Pods",
}
CHANGED = {
    "validate": "Validation",
    "render": "Rendering",
    "explain cm/two -v": "ObjectExplanation",
    "explain cluster/rome": "ClusterExplanation",
    "explain cluster/berlin": "ClusterExplanation",
    "explain deploy/web": "ObjectExplanation",
    "status": "FleetStatus",
    "status cluster/berlin": "ClusterStatus",
    "status cluster/paris": "ClusterStatus",
    "status deploy/web": "ObjectStatus",
    "status cm/two": "ObjectStatus",
}


def an_example(name: str, folder: Path) -> Repository:
    shutil.copytree(EXAMPLES / name, folder, ignore=shutil.ignore_patterns("rendered", "explained"))
    made = Repository.create(folder)
    made.commit({}, name)
    return made


def wrong(repository: Repository, capsys: pytest.CaptureFixture[str], kinds: dict[str, str], *more: str) -> list[str]:
    """Return the faults in the output of these commands, each with its command."""

    def found() -> Iterator[str]:
        for line, kind in kinds.items():
            value = value_of(repository, capsys, *line.split(), *more)
            yield from (f"{line}: {fault}" for fault in faults(value, kind))

    return list(found())


def a_change(repository: Repository) -> dict[str, Any]:
    """Edits that add, change, move, remove and refuse something."""
    weights = (repository.path / "policies/web.yaml").read_text(encoding="utf-8")
    web = (repository.path / "apps/shop/web.yaml").read_text(encoding="utf-8")
    nowhere = a_policy("two", selectors=[{**CONFIG_MAPS, "name": "two"}], placement=on_clusters("member9"))
    return {
        "policies/web.yaml": weights.replace("weight: 2", "weight: 5"),
        "apps/shop/web.yaml": web.replace(":1.4.2", ":1.5.0"),
        "apps/shop/settings.yaml": None,
        "clusters/rome.yaml": a_cluster("rome", region="eu"),
        "two.yaml": [a_config_map("two"), nowhere],
    }


def test_a_whole_story_is_as_the_schemas_say(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rendered, applied, drifted, changed; then a cluster leaves with the policy of what it holds."""
    fleet = an_example("quickstart", tmp_path / "fleet")
    assert wrong(fleet, capsys, QUICKSTART) == []
    members = [FakeCluster(name=name) for name in ("berlin", "oregon", "paris")]
    with serving_members(members, tmp_path / "kubeconfigs") as served:
        reached = ("--kubeconfigs", str(served.kubeconfigs))
        assert wrong(fleet, capsys, REACHED, *reached) == []
        members[0].objects["deployments.apps", "shop", "web"]["spec"]["replicas"] = 9
        assert wrong(fleet, capsys, {"diff --live": "LiveDifference"}, *reached) == []
        fleet.write(a_change(fleet))
        assert wrong(fleet, capsys, {"diff": "Difference"}) == []
        fleet.commit({})
        assert wrong(fleet, capsys, {"reconcile": "Reconciliation"}, *reached) == []
        fleet.write({"clusters/berlin.yaml": None, "policies/regions.yaml": None})
        assert wrong(fleet, capsys, {"diff": "Difference"}) == []
        fleet.commit({})
        assert wrong(fleet, capsys, {"reconcile": "Reconciliation"}, "--allow-removal", "*=99", *reached) == []
    assert wrong(fleet, capsys, CHANGED) == []


def test_an_explanation_of_every_strategy_is_as_its_schema_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = an_example("strategies", tmp_path / "fleet")
    names = sorted(path.stem for path in (EXAMPLES / "strategies" / "explained").glob("*.txt"))
    lines = {f"explain {'cm' if name == 'undivided' else 'deploy'}/{name} -v": "ObjectExplanation" for name in names}
    assert wrong(fleet, capsys, lines) == []


def test_a_field_that_no_schema_knows_is_a_fault(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    value = value_of(repository, capsys, "validate")
    assert faults({**value, "more": 1}, "Validation") == [
        ": Additional properties are not allowed ('more' was unexpected)"
    ]
    assert closed({"properties": {"a": {"properties": {}}}}) == {
        "additionalProperties": False,
        "properties": {"a": {"properties": {}, "additionalProperties": False}},
    }
