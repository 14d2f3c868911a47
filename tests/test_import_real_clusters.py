"""Real clusters taken over: imported, proven and applied, while no object changes but for who owns it."""

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from reconciler.cli import run
from render.federations.operations import differences

from .build import Repository, argosy
from .clusters import Member, remove_namespaces
from .live_objects import SPACE, elsewhere, everyday_objects
from .waiting import eventually

pytestmark = pytest.mark.cluster
ADOPTED = "adopted (Equal): it was there already, as wanted"
LISTED = (
    "configmaps,secrets,serviceaccounts,services,persistentvolumeclaims,resourcequotas,limitranges,deployments,"
    "replicasets,statefulsets,daemonsets,jobs,cronjobs,pods,horizontalpodautoscalers,poddisruptionbudgets,ingresses,"
    "networkpolicies,roles,rolebindings"
)


@pytest.fixture
def shops(members: tuple[Member, ...], tmp_path: Path) -> Iterator[tuple[Member, ...]]:
    """Two members in which people applied a shop, a little different in each, with kubeconfigs beside."""
    both, objects = members[:2], everyday_objects()
    (tmp_path / "kubeconfigs").mkdir()
    for member, wanted in zip(both, (objects, elsewhere(objects)), strict=True):
        shutil.copy(member.kubeconfig, tmp_path / "kubeconfigs" / f"{member.name}.yaml")
        member.kubectl("create", "namespace", SPACE)
        documents = (json.dumps(each, ensure_ascii=False) for each in wanted)
        member.kubectl("apply", "-f", "-", stdin="\n---\n".join(documents))
    eventually(lambda: all(has_settled(each) for each in both), "controllers have made what they make")
    yield both
    remove_namespaces(both, SPACE, "argosy-system")


def has_settled(member: Member) -> bool:
    """Say whether a member's controllers have made the Pods of what was applied."""
    listed = json.loads(member.kubectl("-n", SPACE, "get", "pods", "-o", "json"))
    makers = {each["metadata"]["ownerReferences"][0]["kind"] for each in listed["items"]}
    return makers >= {"ReplicaSet", "StatefulSet", "Job"}


def contents(member: Member) -> dict[str, Any]:
    """Return what the objects of a member say: all but their status, and the notes of who owns them."""
    listed = json.loads(member.kubectl("-n", SPACE, "get", LISTED, "-o", "json"))["items"]
    return {f"{each['kind']}/{each['metadata']['name']}": _content(each) for each in listed}


def _content(manifest: dict[str, Any]) -> dict[str, Any]:
    gone = {"resourceVersion", "managedFields", "creationTimestamp"}
    metadata = {key: value for key, value in manifest["metadata"].items() if key not in gone}
    labels = dict(metadata.get("labels") or {})
    labels.pop("applyset.kubernetes.io/part-of", None)
    annotations = dict(metadata.get("annotations") or {})
    annotations.pop("kubectl.kubernetes.io/last-applied-configuration", None)
    kept = {key: value for key, value in manifest.items() if key not in {"status", "metadata"}}
    return {**kept, "metadata": {**metadata, "labels": labels, "annotations": annotations}}


def changed(before: Sequence[dict[str, Any]], members: Sequence[Member]) -> list[str]:
    """Return what is not as it was, each field by its path."""
    after = [contents(each) for each in members]
    return [f"{each['operator']} {each['path']}" for each in differences(list(before), after)]


def test_clusters_are_taken_over_without_a_change(
    shops: tuple[Member, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    access, fleet = ("--kubeconfigs", str(tmp_path / "kubeconfigs")), tmp_path / "fleet"
    before = [contents(each) for each in shops]
    named = [word for each in shops for word in ("--cluster", each.name)]
    code = run(["import", *access, *named, "-n", SPACE, "--output-dir", str(fleet)])
    said = capsys.readouterr().out
    assert (code, said.splitlines()[-2:]) == (
        0,
        ["member1: 22 objects taken over without a change", "member2: 20 objects taken over without a change"],
    ), said
    repository = Repository.create(fleet)
    repository.git("add", "-A")
    repository.git("commit", "-qm", "Import what runs")
    first = argosy(repository, capsys, "reconcile", "--bootstrap", *access)
    done = [line for line in first.err.splitlines() if not line.endswith(ADOPTED)]
    assert (first.code, done) == (0, []), first.err
    assert changed(before, shops) == []
    second = argosy(repository, capsys, "reconcile", *access)
    assert (second.code, repository.git("rev-list", "--count", "argosy/rendered").strip()) == (0, "1")
    migrated = argosy(
        repository,
        capsys,
        "apply",
        "--migrate-from",
        "kubectl-client-side-apply",
        "--migrate-from",
        "kubectl-create",
        *access,
    )
    # The generation of a Deployment counts changes of its annotations as well, and kubectl's copy is gone.
    rest = [line for line in changed(before, shops) if not line.endswith("/metadata/generation")]
    assert (migrated.code, rest) == (0, []), migrated
    assert argosy(repository, capsys, "diff", "--live", *access).code == 0
