"""The files of the rendered branch that passes read back: what was written is read, and all else is refused by name."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.ledger.branch_file import FileFault
from reconciler.pipeline.binding_files import BindingReader, BindingWriter
from reconciler.pipeline.previous import parse_binding_file, parse_file_at_root
from reconciler.pipeline.reserves import parse_reserves, reserves_file
from reconciler.pipeline.rollouts.attributes import parse_attributes
from reconciler.pipeline.taints import parse_taints, taints_file
from render.binding import Binding
from render.documents import emit
from render.errors import GitError
from render.model import ObjectRef
from render.parsing import binding_manifest

from .build import Repository, a_cluster, a_deployment, a_policy, argosy
from .tables import each_row

WRITTEN = sorted(Path(__file__).parents[1].glob("examples/*/rendered/bindings/**/*.yaml"))
SOUND = binding_manifest(Binding(ref=ObjectRef("apps", "Deployment", "shop", "web"), api_version="apps/v1"))


def parse_binding(content: bytes) -> Binding:
    return BindingReader().parse(content)


def a_binding(status: dict[str, Any] | None = None, **spec: Any) -> bytes:
    return emit({**SOUND, "spec": {**SOUND["spec"], **spec}, **({"status": status} if status else {})})


class Damage(NamedTuple):
    why: str
    parse: Callable[[bytes], Any]
    content: bytes
    want: str


DAMAGES = [
    Damage("a binding that is empty", parse_binding, b"", "it holds no object"),
    Damage("a binding that is a list", parse_binding, b"[]", "it holds no object"),
    Damage("a binding that is no YAML", parse_binding, b"a: [", "it holds no object"),
    Damage("a binding of nothing", parse_binding, b"metadata: {}\n", "spec is missing"),
    Damage("replicas in words", parse_binding, a_binding(replicas="many"), "spec.replicas is no whole number"),
    Damage(
        "a cluster without a name",
        parse_binding,
        a_binding(clusters=[{"replicas": 1}]),
        "spec.clusters[0].name is missing",
    ),
    Damage(
        "a placement of words",
        parse_binding,
        a_binding(placement={"clusterAffinity": {"clusterNames": "eu"}}),
        "spec.placement.clusterAffinity.clusterNames is no list",
    ),
    Damage(
        "a kind of division that there is not",
        parse_binding,
        a_binding(placement={"replicaScheduling": {"replicaSchedulingType": "Dividedd"}}),
        "spec.placement.replicaScheduling.replicaSchedulingType has a value of no use",
    ),
    Damage(
        "a condition that is a word",
        parse_binding,
        a_binding(status={"conditions": ["x"]}),
        "status.conditions[0] is no object",
    ),
    Damage(
        "a rule of cron without a schedule",
        parse_binding,
        a_binding(status={"cron": [{"name": "c", "rules": [{"name": "r", "inForce": {}}]}]}),
        "status.cron[0].rules[0].inForce.schedule is missing",
    ),
    Damage(
        "a record of overrides that is no text",
        parse_binding,
        a_binding() + b"status:\n  appliedOverrides:\n  - \xff\n",
        "what overrides changed is no text",
    ),
    Damage("taints that are a list", parse_taints, b"clusters: []\n", "clusters is no object"),
    Damage(
        "a taint without a key",
        parse_taints,
        b"clusters: {eu: [{effect: NoExecute}]}\n",
        "clusters[...][0].key is missing",
    ),
    Damage("taints of nobody", parse_taints, b"kind: ClusterTaints\n", "clusters is missing"),
    Damage("attributes of nobody", parse_attributes, b"kind: ClusterAttributes\n", "clusters is missing"),
    Damage(
        "a label that is a number",
        parse_attributes,
        b"clusters: {eu: {labels: {a: 1}}}\n",
        "clusters[...].labels[...] is no text",
    ),
    Damage(
        "a reserve that is no quantity",
        parse_reserves,
        b"clusters: {eu: {facts: a, reserved: {cpu: lots}}}\n",
        "clusters.eu.reserved.cpu is no quantity",
    ),
    Damage(
        "a reserve since no facts",
        parse_reserves,
        b"clusters: {eu: {facts: 1, reserved: {}}}\n",
        "clusters[...].facts is no text",
    ),
]


@each_row("row", DAMAGES, ids=lambda row: row.why)
def test_a_file_with_another_value_is_refused_by_the_field(row: Damage) -> None:
    with pytest.raises(FileFault) as caught:
        row.parse(row.content)
    assert caught.value.fault == row.want


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: "/".join(path.parts[-3:]))
def test_a_binding_of_any_example_is_written_as_it_was_read(path: Path) -> None:
    content = path.read_bytes()
    assert BindingWriter().file_of(parse_binding(content)).data() == content


def test_taints_and_reserves_come_back() -> None:
    taints = b"""\
apiVersion: argosy.dev/v1alpha1
clusters:
  eu:
  - {effect: NoExecute, key: broken, timeAdded: "2026-03-01T08:00:00Z"}
  - {effect: NoSchedule, key: full, value: very}
kind: ClusterTaints
"""
    reserves = b"""\
apiVersion: argosy.dev/v1alpha1
clusters:
  eu:
    facts: "0123"
    reserved: {cpu: 500m, memory: 1Gi}
kind: Reserved
"""
    assert parse_taints(taints_file(parse_taints(taints))) == parse_taints(taints)
    assert parse_reserves(reserves_file(parse_reserves(reserves))) == parse_reserves(reserves)


def test_a_null_is_no_value() -> None:
    """Karmada writes one for a time that is not set."""
    task = {"fromCluster": "eu", "creationTimestamp": None}
    spec = {**SOUND["spec"], "gracefulEvictionTasks": [task]}
    read = parse_binding(json.dumps({**SOUND, "spec": spec}).encode())
    assert read.eviction_tasks[0].creation_timestamp == ""


def broken(_content: bytes) -> Any:
    raise LookupError("a mistake of ours")


def test_a_mistake_of_ours_is_not_taken_for_a_damaged_file() -> None:
    """Whoever is told to restore a file that is as it should be restores it in vain."""
    with pytest.raises(LookupError, match="a mistake of ours"):
        parse_binding_file("a file", broken, b"")
    with pytest.raises(LookupError, match="a mistake of ours"):
        parse_file_at_root("taints.yaml", b"", broken)


def test_a_damaged_file_is_named() -> None:
    with pytest.raises(GitError) as caught:
        parse_file_at_root("taints.yaml", b"clusters: 1", parse_taints)
    assert str(caught.value) == (
        "taints.yaml on the rendered branch is not as Argosy writes it\n"
        "  hint: the rendered branch is Argosy's to write; restore its last good commit"
    )


def damaged_commit(fleet: Repository, files: dict[str, str]) -> str:
    """The last rendered commit with other files, by which the branch goes on."""
    fleet.git("checkout", "-q", "argosy/rendered")
    for path, content in files.items():
        (fleet.path / path).parent.mkdir(exist_ok=True)
        (fleet.path / path).write_text(content, encoding="utf-8")
    fleet.git("add", "-A", "-f")
    fleet.git("commit", "-q", "--amend", "--no-edit")
    fleet.git("checkout", "-q", "main")
    return fleet.git("rev-parse", "argosy/rendered")


@pytest.mark.parametrize("path", ["facts/_health.yaml", "facts/_checks.yaml", "facts/oslo.yaml", "facts/strange.txt"])
def test_a_damaged_record_of_a_rendered_commit_is_told_as_its_own(
    path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its words were of the status branch, where nothing was wrong and nothing could be restored."""
    fleet = Repository.create(tmp_path / "fleet")
    names = {"oslo.yaml": a_cluster("oslo"), "web.yaml": a_deployment(), "policy.yaml": a_policy(placement={})}
    fleet.commit(names)
    assert argosy(fleet, capsys, "render", "--commit", "--bootstrap").code == 0
    commit = damaged_commit(fleet, {path: "kind: Strange\nversion: [1]\n"})
    ended = argosy(fleet, capsys, "verify", "argosy/rendered")
    assert (ended.code, "status branch" in ended.err) == (4, False)
    assert f"{path} on the rendered branch, in commit {commit[:12]}, is not as Argosy writes it" in ended.err
    assert "hint: the rendered branch is Argosy's to write; restore its last good commit" in ended.err
