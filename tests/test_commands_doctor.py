"""``argosy doctor``: the repository without a push, and members on real API servers."""

import json
import os
import re
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reconciler.building.confinement import SystemBounds
from reconciler.check import prerequisites
from reconciler.cli import run
from render.documents import parse_documents

from .build import Ended, Repository, a_cluster, a_config_map, a_policy, argosy, on_clusters
from .clusters import Member, remove_namespaces
from .test_building_kustomize import a_script
from .waiting import eventually

RBAC = "/apis/rbac.authorization.k8s.io/v1"
FLEET = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}}
GRANT = "grant the user of this context what is missing: argosy rbac --cluster NAME prints all that a pass needs"
REJOIN = (
    "       hint: correct the context; if the cluster was built anew, take it in again:"
    " argosy cluster rejoin member1 --accept-uid UID"
)
UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
PLACED = on_clusters("member1", "member2")


def lines(ended: Ended) -> list[str]:
    """The lines about members with their hints, without versions and UIDs that differ from run to run."""
    text = re.sub(r"Kubernetes v[\w.+-]+", "Kubernetes VERSION", UID.sub("UID", ended.out))
    found: list[str] = []
    for line in text.splitlines():
        is_hint = line.startswith("       hint: ") and bool(found)
        if is_hint or "member" in line.split(":")[0]:
            found.append(line)
    return found


def test_nothing_is_pushed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Once a scratch branch was pushed and deleted, which starts pipelines and hooks."""
    hub, repository = Repository.create(tmp_path / "hub.git", bare=True), Repository.create(tmp_path / "fleet")
    repository.commit({"clusters/eu.yaml": a_cluster("eu")})
    repository.git("remote", "add", "origin", str(hub.path))
    repository.git("push", "-q", "-u", "origin", "main")
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    hook, before = hub.path / "hooks" / "pre-receive", hub.git("for-each-ref")
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/received\n")
    hook.chmod(0o755)
    ended = argosy(repository, capsys, "doctor")
    said = "ok   push: allowed (nothing was pushed; rules that protect branches show at the first push)\n"
    assert (ended.code, said in ended.out, (tmp_path / "received").exists()) == (0, True, False), ended.out
    assert hub.git("for-each-ref") == before
    assert "ok   members: not reached: argosy.yaml says of none how it is reached, and no pass has applied" in ended.out


def test_a_system_that_does_not_confine_builds_is_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({"clusters/eu.yaml": a_cluster("eu")})
    lines_of = {
        SystemBounds(
            files=True, network=True
        ): "ok   builds: kustomize and helm open their own files alone, and no network",
        SystemBounds(files=False, network=True): (
            "warn builds: this system does not keep kustomize and helm from files: their copy alone does"
        ),
        SystemBounds(): (
            "warn builds: this system does not keep kustomize and helm from files and the network: their copy "
            "alone does"
        ),
    }
    for bounds, line in lines_of.items():
        monkeypatch.setattr(prerequisites, "system_bounds", lambda bounds=bounds: bounds)
        ended = argosy(repository, capsys, "doctor", "--offline")
        assert (ended.code, line in ended.out.splitlines()) == (0, True), ended.out
    path = a_script(tmp_path / "bin", "helm", "exit 1")
    monkeypatch.setenv("PATH", f"{path}:{os.environ['PATH']}")
    monkeypatch.setattr(prerequisites, "system_bounds", lambda: SystemBounds(files=True, network=True))
    ended = argosy(repository, capsys, "doctor", "--offline")
    assert "warn builds: helm is a script, kept from the network alone" in ended.out.splitlines()


def test_a_remote_that_is_away_is_one_check_among_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It ended the whole command with one line, where somebody asked what is wrong."""
    hub, repository = tmp_path / "hub.git", Repository.create(tmp_path / "fleet")
    repository.commit(
        {"clusters/eu.yaml": a_cluster("eu"), "argosy.yaml": {**FLEET, "spec": {"clusters": [{"name": "eu"}]}}}
    )
    repository.git("remote", "add", "origin", str(hub))
    ended = argosy(repository, capsys, "doctor")
    failed = [line.split(": ")[0] for line in ended.out.splitlines() if line.startswith("FAIL")]
    assert (ended.code, failed, ended.err) == (
        1,
        ["FAIL remote", "FAIL push", "FAIL rendered branch", "FAIL members"],
        "",
    )


def test_members_are_asked_or_nobody_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({"clusters/eu.yaml": a_cluster("eu")})
    missing = str(tmp_path / "nowhere")
    ended = argosy(repository, capsys, "doctor", "--kubeconfig", missing)
    assert (ended.code, "FAIL member eu: credentials: NoCredentials: " in ended.out) == (1, True)
    ended = argosy(repository, capsys, "doctor", "--offline", "--kubeconfig", missing)
    assert (ended.code, "--kubeconfig goes without --offline, which asks no member" in ended.err) == (2, True)
    ended = argosy(repository, capsys, "doctor", "--offline")
    assert (ended.code, lines(ended)) == (0, [])
    repository.commit({"argosy.yaml": {**FLEET, "spec": {"clusters": [{"name": "eu", "kubeconfig": missing}]}}})
    value = json.loads(argosy(repository, capsys, "doctor", "-o", "json").out)
    (check,) = [each for each in value["checks"] if each.get("member")]
    assert {key: check[key] for key in ("name", "member", "ok")} == {"name": "credentials", "member": "eu", "ok": False}


@pytest.fixture
def space(members: tuple[Member, ...]) -> Iterator[str]:
    name = f"t{secrets.token_hex(4)}"
    yield name
    remove_namespaces(members, name, "argosy-system")


@pytest.fixture
def kubeconfigs(members: tuple[Member, ...], tmp_path: Path) -> Path:
    folder = tmp_path / "kubeconfigs"
    folder.mkdir()
    for member in members:
        (folder / f"{member.name}.yaml").write_text(member.kubeconfig.read_text())
    return folder


@pytest.fixture
def doctor(kubeconfigs: Path, space: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """The doctor of a fleet of two members, which has been applied once."""
    repository = Repository.create(tmp_path / "fleet")
    policy = a_policy(
        namespace=space,
        selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}, {"apiVersion": "example.io/v1", "kind": "Widget"}],
        placement=PLACED,
    )
    scopes = [{"group": "example.io", "kind": "Widget", "scope": "Namespaced"}]
    files: dict[str, Any] = {f"clusters/{name}.yaml": a_cluster(name) for name in ("member1", "member2")}
    files |= {"one.yaml": a_config_map("one", namespace=space), "policy.yaml": policy}
    repository.commit({**files, "argosy.yaml": {**FLEET, "spec": {"kinds": scopes}}})
    reached = ("--kubeconfigs", str(kubeconfigs))
    assert argosy(repository, capsys, "reconcile", "--bootstrap", *reached).code == 0

    def diagnosed(*words: str, **changed: Any) -> Ended:
        if changed:
            repository.commit({f"{name}.yaml": content for name, content in changed.items()})
            argosy(repository, capsys, "reconcile", *reached)
        return argosy(repository, capsys, "doctor", *reached, *words)

    return diagnosed


def well(name: str, objects: str = "2 objects of 2 kinds") -> str:
    return (
        f"ok   member {name}: UID UID as recorded, Kubernetes VERSION, clock like here, {objects},"
        " may read, apply and delete them"
    )


@pytest.mark.cluster
def test_members_that_are_well_have_a_line_each(doctor: Callable[..., Ended]) -> None:
    ended = doctor()
    assert (ended.code, lines(ended)) == (0, [well("member1"), well("member2")]), ended.out


@pytest.mark.cluster
def test_each_member_is_told_by_itself(
    doctor: Callable[..., Ended], members: tuple[Member, ...], kubeconfigs: Path
) -> None:
    """The context of one leads to another cluster, and the token of the other has expired."""
    (kubeconfigs / "member1.yaml").write_text(members[2].kubeconfig.read_text().replace("member3", "member1"))
    usual = members[1].kubeconfig.read_text()
    (kubeconfigs / "member2.yaml").write_text(usual.replace(members[1].token, "expired"))
    ended = doctor()
    assert (ended.code, lines(ended)) == (
        1,
        [
            "FAIL member member1: identity: its context leads to another cluster: the UID is UID, not UID",
            REJOIN,
            "FAIL member member2: credentials: Unauthorized: the cluster does not accept these credentials",
            "       hint: renew the credentials of this cluster's context",
        ],
    ), ended.out
    (kubeconfigs / "member2.yaml").unlink()
    (kubeconfigs / "member1.yaml").write_text(members[0].kubeconfig.read_text())
    ended = doctor()
    assert lines(ended)[0] == well("member1")
    assert lines(ended)[1].startswith("FAIL member member2: credentials: NoCredentials: ")


@pytest.mark.cluster
def test_a_kind_that_is_not_served_any_more_is_named(
    doctor: Callable[..., Ended], members: tuple[Member, ...], space: str
) -> None:
    crds, member = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", members[0]
    schema = {"openAPIV3Schema": {"type": "object"}}
    spec = {
        "group": "example.io",
        "names": {"kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList"},
        "scope": "Namespaced",
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
    }
    assert member.request("POST", crds, {"metadata": {"name": "widgets.example.io"}, "spec": spec})[0] == 201
    eventually(lambda: member.request("GET", "/apis/example.io/v1")[0] == 200, "the kind is served")
    widget = {"apiVersion": "example.io/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": space}}
    ended = doctor("--cluster", "member1", widget=widget)
    assert (ended.code, lines(ended)) == (0, [well("member1", "3 objects of 3 kinds")]), ended.out
    assert member.request("DELETE", f"{crds}/widgets.example.io")[0] == 200
    eventually(lambda: member.request("GET", "/apis/example.io/v1")[0] == 404, "the kind is gone")
    ended = doctor("--cluster", "member1")
    assert (ended.code, lines(ended)) == (
        1,
        [
            "FAIL member member1: kinds: it does not serve Widget of example.io/v1",
            "       hint: propagate the CustomResourceDefinition, or install what serves the kind",
        ],
    ), ended.out


@pytest.mark.cluster
def test_verbs_that_are_missing_are_named(
    doctor: Callable[..., Ended], members: tuple[Member, ...], space: str
) -> None:
    """The limited user may read everything that it needs, and change ConfigMaps, in the namespace of the tree alone."""
    user = f"limited-{space}"
    subjects = [{"kind": "User", "name": user}]
    everywhere = [{"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get", "list"]}]
    here = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "create", "patch"]}]

    def made(kind: str, folder: str, rules: list[dict[str, Any]]) -> list[str]:
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": user}
        bodies = {
            f"{folder}/{kind.lower()}s": {"metadata": {"name": user}, "rules": rules},
            f"{folder}/{kind.lower()}bindings": {
                "metadata": {"name": user},
                "roleRef": reference,
                "subjects": subjects,
            },
        }
        for path, body in bodies.items():
            assert members[0].request("POST", path, body)[0] == 201
        return [f"{path}/{user}" for path in bodies]

    paths = [*made("ClusterRole", RBAC, everywhere), *made("Role", f"{RBAC}/namespaces/{space}", here)]
    ended = doctor("--cluster", "member1", "--as", user)
    missing = (
        f"delete configmaps in {space}; get, create, patch, delete configmaps in argosy-system; get, create, update"
        " leases.coordination.k8s.io in argosy-system; create, patch namespaces"
    )
    for path in paths:
        members[0].request("DELETE", path)
    (parent,) = re.findall(r"argosy-default-[0-9a-f]{12}", ended.out)
    assert (ended.code, lines(ended)) == (
        1,
        [
            f"FAIL member member1: permissions: may not {missing}",
            f"       hint: {GRANT}",
            (
                "FAIL member member1: objects: it cannot be looked at as passes do: Forbidden: configmaps"
                f' "{parent}" is forbidden: User "{user}" cannot get resource "configmaps" in API group "" in the'
                ' namespace "argosy-system"'
            ),
            "       hint: grant what is missing: argosy rbac --cluster member1 | kubectl --context member1 apply -f -",
        ],
    ), ended.out


@pytest.mark.cluster
def test_the_role_of_the_guide_is_enough(
    doctor: Callable[..., Ended], members: tuple[Member, ...], kubeconfigs: Path, tmp_path: Path
) -> None:
    guide = Path(__file__).parent.parent / "examples" / "members-and-credentials" / "README.md"
    block = re.search(r"```yaml\n(apiVersion: rbac.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    role, name = parse_documents(block[1].encode())[0].value, f"guide-{secrets.token_hex(4)}"
    subjects = [{"kind": "User", "name": name}]
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
    bodies = {
        f"{RBAC}/clusterroles": {**role, "metadata": {"name": name}},
        f"{RBAC}/clusterrolebindings": {"metadata": {"name": name}, "roleRef": reference, "subjects": subjects},
    }
    for path, body in bodies.items():
        assert members[0].request("POST", path, body)[0] == 201
    ended = doctor("--cluster", "member1", "--as", name)
    assert (ended.code, lines(ended)) == (0, [well("member1")]), ended.out
    words = ["-C", str(tmp_path / "fleet"), "apply", "--kubeconfigs", str(kubeconfigs), "--cluster", "member1"]
    assert run([*words, "--as", name]) == 0
    for path in bodies:
        members[0].request("DELETE", f"{path}/{name}")
