"""Numbers of documents that SOPS encrypted: written where the signature allows it, and never said to be there else."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from render.documents import parse_documents
from tests import sops

from .build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters, weighted
from .waiting import SECONDS

APIS = [
    {"groupVersion": "apps/v1", "resources": [{"kind": "Deployment", "name": "x"}]},
    {"groupVersion": "batch/v1", "resources": [{"kind": "Job", "name": "x"}]},
]
SPEC = {"containers": [{"name": "a", "image": "a", "env": [{"name": "TOKEN", "value": "hidden"}]}]}
JOB = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "nginx", "namespace": "default"},
    "spec": {"parallelism": 4, "completions": 6, "template": {"spec": {**SPEC, "restartPolicy": "Never"}}},
}
SELECTORS = [{"apiVersion": "apps/v1", "kind": "Deployment"}, {"apiVersion": "batch/v1", "kind": "Job"}]
EQUAL = on_clusters("m1", "m2", replicaScheduling=weighted(m1=1, m2=1))
COUNTS = ("replicas", "parallelism", "completions")
FAILED = "SOPS signed all of it, so that {} cannot be written: encrypt it with mac_only_encrypted: true"


def a_workload(replicas: int | None) -> dict[str, Any]:
    made = a_deployment(replicas=replicas)
    made["spec"]["template"]["spec"] = SPEC
    return made


class Case(NamedTuple):
    why: str
    workload: dict[str, Any]
    is_mac_only: bool
    placement: dict[str, Any]
    numbers: dict[str, dict[str, int]]
    failed: str = ""


TWO_EACH = {"m1": {"replicas": 2}, "m2": {"replicas": 2}}
CASES = [
    Case("readable fields that are not signed are written", a_workload(4), True, EQUAL, TWO_EACH),
    Case("one replica needs no writing where nobody wrote a number", a_workload(None), True,
         on_clusters("m1", "m2", replicaScheduling=weighted(m1=1)), {"m1": {}}),
    Case("signed ones are not", a_workload(4), False, EQUAL, {}, FAILED.format("2 replicas")),
    Case("a cluster that gets all of it has it", a_workload(4), False,
         on_clusters("m1", "m2", replicaScheduling=weighted(m2=1)), {"m2": {"replicas": 4}}),
    Case("so has each one where nothing is divided", a_workload(4), False, on_clusters("m1", "m2"),
         {"m1": {"replicas": 4}, "m2": {"replicas": 4}}),
    Case("a Job is divided by both of its numbers", JOB, True, EQUAL,
         {"m1": {"parallelism": 2, "completions": 3}, "m2": {"parallelism": 2, "completions": 3}}),
    Case("or by none", JOB, False, EQUAL, {}, FAILED.format("2 replicas and 3 completions")),
]  # fmt: skip


@pytest.fixture
def fleet(tmp_path: Path) -> Repository:
    repository = Repository.create(tmp_path / "fleet")
    repository.commit(
        {f"{name}.yaml": {**a_cluster(name), "status": {"apiEnablements": APIS}} for name in ("m1", "m2")}
    )
    return repository


def document_of(repository: Repository, cluster: str, kind: str) -> str:
    path = f"clusters/{cluster}/default/{kind}/nginx.yaml"
    found = repository.git("ls-tree", "-r", "--name-only", "argosy/rendered", "--", path)
    return repository.show(path) if found else ""


def decrypted(text: str, folder: Path) -> dict[str, Any]:
    path = folder / "delivered.json"
    path.write_text(text)
    environment = {"SOPS_AGE_KEY": sops.KEY.text, "PATH": os.defpath, "HOME": str(folder)}
    command = [str(sops.PROGRAM), "decrypt", "--input-type", "yaml", "--output-type", "yaml", str(path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    return dict(parse_documents(done.stdout.encode())[0].value)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.why)
def test_a_tree_has_the_numbers_of_the_binding_or_says_that_it_has_not(
    case: Case, fleet: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = sops.encrypted(case.workload, tmp_path / "sops", regex="^env$", mac_only=case.is_mac_only)
    policy = a_policy(selectors=SELECTORS, placement=case.placement)
    fleet.commit({"workload.yaml": text, "policy.yaml": policy})
    ended = argosy(fleet, capsys, "reconcile", "--bootstrap")
    kind = f"{case.workload['kind']}.{case.workload['apiVersion'].partition('/')[0]}"
    numbers = {}
    for cluster in ("m1", "m2"):
        if text := document_of(fleet, cluster, kind):
            found = decrypted(text, tmp_path)
            assert found["spec"]["template"]["spec"]["containers"][0]["env"] == [{"name": "TOKEN", "value": "hidden"}]
            numbers[cluster] = {key: found["spec"][key] for key in COUNTS if key in found["spec"]}
    binding = fleet.show(f"bindings/default/{kind}/nginx.yaml")
    assert (numbers, ended.code) == (case.numbers, 1 if case.failed else 0)
    assert f"m1, m2: {case.failed}" in binding if case.failed else "Rendered" not in binding, binding


def test_clusters_whose_number_is_not_written_keep_what_they_have(
    fleet: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = a_policy(selectors=SELECTORS, placement=on_clusters("m1", "m2"))
    text = sops.encrypted(a_workload(4), tmp_path / "sops", regex="^env$")
    fleet.commit({"workload.yaml": text, "policy.yaml": policy})
    assert argosy(fleet, capsys, "reconcile", "--bootstrap").code == 0
    before = [document_of(fleet, name, "Deployment.apps") for name in ("m1", "m2")]
    fleet.commit({"policy.yaml": a_policy(selectors=SELECTORS, placement=EQUAL)})
    ended = argosy(fleet, capsys, "reconcile")
    assert ended.code == 1
    assert [document_of(fleet, name, "Deployment.apps") for name in ("m1", "m2")] == before == [text.strip()] * 2
    assert FAILED.format("2 replicas") in fleet.show("bindings/default/Deployment.apps/nginx.yaml")
    assert counted_in(fleet) == {"m1": ("1", "4"), "m2": ("1", "4")}
    assert "m1:4* m2:4*" in argosy(fleet, capsys, "render").out
    assert argosy(fleet, capsys, "verify").code == 0


def test_a_script_that_changes_ciphertext_writes_no_number(
    fleet: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """SOPS signs what it encrypts whatever else it signs: nobody could decrypt what such a script makes."""
    script = (
        "function ReviseReplica(desiredObj, desiredReplica) desiredObj.spec.replicas = desiredReplica"
        " desiredObj.spec.template.spec.containers[1].env = nil return desiredObj end"
    )
    customization = {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": "deployments"},
        "spec": {
            "target": {"apiVersion": "apps/v1", "kind": "Deployment"},
            "customizations": {"replicaRevision": {"luaScript": script}},
        },
    }
    text = sops.encrypted(a_workload(4), tmp_path / "sops", regex="^env$", mac_only=True)
    policy = a_policy(selectors=SELECTORS, placement=EQUAL)
    fleet.commit({"workload.yaml": text, "policy.yaml": policy, "scripts.yaml": customization})
    assert argosy(fleet, capsys, "reconcile", "--bootstrap").code == 1
    assert [document_of(fleet, name, "Deployment.apps") for name in ("m1", "m2")] == ["", ""]
    said = "m1, m2: 2 replicas cannot be written without a change of what SOPS encrypted"
    assert said in fleet.show("bindings/default/Deployment.apps/nginx.yaml")


def counted_in(repository: Repository) -> dict[str, tuple[str, str]]:
    """Return the objects and replicas of each cluster by the page of the rendered branch."""
    rows = (line.split("|") for line in repository.show("README.md").splitlines() if line.startswith(("| m", "| [m")))
    return {each[1].strip(" []").partition("]")[0]: (each[2].strip(), each[3].strip()) for each in rows}


def test_replicas_of_what_was_never_built_are_not_counted(
    fleet: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two of an object that was in no cluster were counted beside the one of another that was there."""
    text = sops.encrypted(a_workload(4), tmp_path / "sops", regex="^env$")
    whole = on_clusters("m1", "m2")
    other = a_policy("other", selectors=[{**SELECTORS[0], "name": "other"}], placement=whole)
    files = {"workload.yaml": text, "other.yaml": a_deployment("other", replicas=1), "policy2.yaml": other}
    fleet.commit({**files, "policy.yaml": a_policy(selectors=SELECTORS, placement=EQUAL)})
    assert argosy(fleet, capsys, "reconcile", "--bootstrap").code == 1
    assert counted_in(fleet) == {"m1": ("1", "1"), "m2": ("1", "1")}
    status = json.loads(argosy(fleet, capsys, "status", "-o", "json").out)
    assert {name: (each["objects"], each["replicas"]) for name, each in status["clusters"].items()} == {
        "m1": (1, 1),
        "m2": (1, 1),
    }
    fleet.commit({"more.yaml": a_cluster("m3")})
    assert argosy(fleet, capsys, "reconcile").code == 1
    assert "m1:0* m2:0*" in argosy(fleet, capsys, "render").out
    assert argosy(fleet, capsys, "verify").code == 0
    fleet.commit({"policy.yaml": a_policy(selectors=SELECTORS, placement=whole)})
    assert argosy(fleet, capsys, "reconcile").code == 0
    assert counted_in(fleet) == {"m1": ("2", "5"), "m2": ("2", "5"), "m3": ("0", "0")}
