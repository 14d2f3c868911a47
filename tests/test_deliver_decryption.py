"""Documents that SOPS encrypted, decrypted in memory to be applied: by the real sops, and shown nowhere."""

import base64
import json
import os
import stat
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.deliver.decryption import SopsDecryption
from reconciler.plans.model import ClusterDesired, DesiredObject
from render.documents import parse_documents
from render.model import ObjectRef
from render.settings.decryption import SecretName
from tests.build import Ended, Repository, a_cluster, a_cluster_policy, a_config_map, argosy, on_clusters
from tests.fakes import FakeCluster
from tests.served import serving_members
from tests.sops import KEY, OTHER, PROGRAM, encrypted

CANARY = "canary-3b1c77e0"
ENCODED = base64.b64encode(CANARY.encode()).decode()
SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "login", "namespace": "default"},
    "stringData": {"password": CANARY},
}
PATH = "/api/v1/namespaces/default/secrets/login"


def an_object(text: str) -> DesiredObject:
    manifest = parse_documents(text.encode())[0].value
    return DesiredObject(ref=ObjectRef.of(manifest), manifest=manifest, encrypted=text.encode())


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "keys.txt").write_text(f"# for tests\n{KEY.text}\n")
    path = f"{PROGRAM.parent}{os.pathsep}/usr/bin{os.pathsep}/bin"
    return {"PATH": path, "HOME": str(tmp_path / "home"), "SOPS_AGE_KEY_FILE": str(tmp_path / "keys.txt")}


def decrypted(
    text: str, environment: dict[str, str], *, secret: SecretName | None = None, member: FakeCluster | None = None
) -> DesiredObject:
    desired = ClusterDesired(cluster="m1", objects=(an_object(text),))
    (found,) = SopsDecryption(secret, environment).desired_decrypted(member or FakeCluster(), desired).objects
    return found


def test_a_secret_is_decrypted_with_the_keys_of_a_file(environment: dict[str, str], tmp_path: Path) -> None:
    found = decrypted(encrypted(SECRET, tmp_path / "s"), environment)
    assert (found.manifest, found.fault, found.encrypted) == (SECRET, "", b"")


def test_a_comment_and_the_order_of_fields_are_as_signed(environment: dict[str, str], tmp_path: Path) -> None:
    head = "kind: Secret\napiVersion: v1\n"
    text = f"{head}stringData:\n  # why\n  b: '1'\n  a: x\nmetadata:\n  name: login\n  namespace: default\n"
    assert decrypted(encrypted(text, tmp_path / "s"), environment).manifest["stringData"] == {"b": "1", "a": "x"}


class Refusal(NamedTuple):
    why: str
    recipient: str
    change: tuple[str, str]
    environment: dict[str, str]
    want: str


REFUSALS = [
    Refusal("another's key", OTHER.recipient, ("", ""), {}, "no key here decrypts it"),
    Refusal(
        "another name", KEY.recipient, ("name: login", "name: other"), {}, "it was changed after SOPS encrypted it"
    ),
    Refusal(
        "no sops", KEY.recipient, ("", ""), {"PATH": "/nonexistent"}, "SOPS encrypted it, and sops is not installed"
    ),
    Refusal("no metadata of sops", KEY.recipient, ("version: ", "#version: "), {}, "sops ended with exit code "),
]


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case.why)
def test_an_object_that_cannot_be_decrypted_says_why(
    case: Refusal, environment: dict[str, str], tmp_path: Path
) -> None:
    text = encrypted(SECRET, tmp_path / "s", recipient=case.recipient).replace(*case.change)
    found = decrypted(text, {**environment, **case.environment})
    assert found.fault.startswith(case.want)
    assert found.fault_hint
    assert found.encrypted


def a_key_secret(**data: str) -> dict[str, Any]:
    encoded = {name.replace("_", "."): base64.b64encode(text.encode()).decode() for name, text in data.items()}
    metadata = {"name": "keys", "namespace": "argosy-system"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": encoded}


def member_with(*objects: dict[str, Any]) -> FakeCluster:
    member = FakeCluster()
    member.request(
        "POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "argosy-system"}}
    )
    for each in objects:
        status, answer = member.request("POST", f"/api/v1/namespaces/{each['metadata']['namespace']}/secrets", each)
        assert status == 201, answer
    return member


def test_a_member_has_keys_of_its_own(environment: dict[str, str], tmp_path: Path) -> None:
    text = encrypted(SECRET, tmp_path / "s", recipient=OTHER.recipient)
    member = member_with(a_key_secret(age_agekey=OTHER.text, readme="no key"))
    named = SecretName(name="keys")
    assert decrypted(text, environment, secret=named, member=member).manifest == SECRET


def test_a_member_without_the_secret_of_keys_says_so(environment: dict[str, str], tmp_path: Path) -> None:
    found = decrypted(encrypted(SECRET, tmp_path / "s"), environment, secret=SecretName(name="keys"))
    assert (found.fault, found.fault_hint) == (
        "Secret argosy-system/keys, which has the keys, is not there",
        "create it in the member",
    )


def test_sops_gets_no_credentials_but_keys(environment: dict[str, str], tmp_path: Path) -> None:
    """An object names the key service it is encrypted with, so it could ask for anybody's token."""
    program = tmp_path / "bin/sops"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\necho "$@" >{tmp_path}/arguments\nenv >{tmp_path}/environment\nexec {PROGRAM} "$@"\n'
    )
    program.chmod(0o755)
    asked = {
        "AWS_ACCESS_KEY_ID": "x",
        "VAULT_TOKEN": "x",
        "SOPS_AGE_KEY_CMD": "x",
        "GOOGLE_APPLICATION_CREDENTIALS": "x",
    }
    path = f"{program.parent}{os.pathsep}{environment['PATH']}"
    found = decrypted(encrypted(SECRET, tmp_path / "s"), {**environment, **asked, "PATH": path})
    assert found.fault == ""
    names = {line.partition("=")[0] for line in (tmp_path / "environment").read_text().splitlines()}
    assert names - {"PWD", "OLDPWD", "SHLVL", "_"} == {"PATH", "HOME", "LC_ALL", "SOPS_AGE_KEY_FILE"}
    assert KEY.text not in (tmp_path / "arguments").read_text()


# From the source to the member, with everything that is said on the way.


class Fleet(NamedTuple):
    repository: Repository
    member: FakeCluster
    kubeconfigs: Path
    folder: Path


FLEET = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}}
SELECTORS = [{"apiVersion": "v1", "kind": "Secret"}, {"apiVersion": "v1", "kind": "ConfigMap"}]


@pytest.fixture
def fleet(tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Fleet]:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    member = FakeCluster(name="m1")
    repository = Repository.create(tmp_path / "fleet")
    config = encrypted(a_config_map("settings", token=CANARY), tmp_path / "s")
    with serving_members([member], tmp_path / "kubeconfigs") as served:
        files = {
            "argosy.yaml": {**FLEET, "spec": {"kubeconfigs": str(served.kubeconfigs), "secrets": "Refuse"}},
            "clusters/m1.yaml": a_cluster("m1"),
            "policy.yaml": a_cluster_policy("all", selectors=SELECTORS, placement=on_clusters("m1")),
            "secret.yaml": encrypted(SECRET, tmp_path / "s"),
            "config.yaml": config,
        }
        repository.commit(files)
        yield Fleet(repository, member, served.kubeconfigs, tmp_path)


def everything_in(folder: Path) -> bytes:
    """The content of every file below a folder, unpacked where Git packed it."""
    contents = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    for git in folder.rglob(".git"):
        batch = ["git", "-C", str(git), "cat-file", "--batch", "--batch-all-objects"]
        contents.append(subprocess.run(batch, capture_output=True, check=True, timeout=60).stdout)
    return b"\n".join(contents)


def run(fleet: Fleet, capsys: pytest.CaptureFixture[str], *arguments: str) -> Ended:
    ended = argosy(fleet.repository, capsys, *arguments)
    for each in (CANARY, ENCODED, KEY.text):
        assert each not in ended.out + ended.err
    return ended


def live(fleet: Fleet, path: str = PATH) -> Any:
    return fleet.member.read(path)


def test_a_secret_reaches_its_member_and_is_seen_nowhere_else(fleet: Fleet, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(fleet, capsys, "-v", "reconcile", "--bootstrap").code == 0
    assert live(fleet)["data"] == {"password": ENCODED}
    assert live(fleet, "/api/v1/namespaces/default/configmaps/settings")["data"] == {"token": CANARY}
    assert "sops" not in live(fleet)
    again = run(fleet, capsys, "-v", "apply", "-o", "json")
    assert json.loads(again.out)["clusters"]["m1"]["counts"] == {"unchanged": 2}
    held = [each for each in (fleet.folder / "fleet").rglob("*") if each.is_file()]
    assert held
    found = everything_in(fleet.folder)
    assert (CANARY.encode() in found, ENCODED.encode() in found) == (False, False)
    assert fleet.repository.git("show", "argosy/rendered:clusters/m1/default/Secret/login.yaml").count("ENC[") > 1
    modes = {stat.S_IMODE(each.stat().st_mode) for each in (fleet.folder / "temporary").rglob("*")}
    assert modes == set()


def test_drift_of_what_was_encrypted_is_found_and_not_shown(fleet: Fleet, capsys: pytest.CaptureFixture[str]) -> None:
    run(fleet, capsys, "reconcile", "--bootstrap")
    changed = {**live(fleet), "data": {"password": base64.b64encode(b"drifted-canary").decode()}}
    fleet.member.request("PUT", PATH, changed)
    settings = "/api/v1/namespaces/default/configmaps/settings"
    fleet.member.request("PUT", settings, {**live(fleet, settings), "data": {"token": "drifted-canary"}})
    for arguments in (["diff", "--live"], ["diff", "--live", "-o", "json"], ["apply", "--dry-run", "server"]):
        shown = run(fleet, capsys, *arguments)
        assert shown.code == 1, shown
        assert "drifted" not in shown.out + shown.err
        assert "data.token" in shown.out
        assert "(hidden)" in shown.out
    assert run(fleet, capsys, "reconcile").code == 0
    assert (live(fleet)["data"], live(fleet, settings)["data"]) == ({"password": ENCODED}, {"token": CANARY})


def test_without_a_key_the_object_waits_and_the_rest_is_applied(
    fleet: Fleet, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet.repository.commit({"plain.yaml": a_config_map("plain", color="red")})
    monkeypatch.delenv("SOPS_AGE_KEY_FILE")
    ended = run(fleet, capsys, "reconcile", "--bootstrap")
    assert ended.code == 1
    assert "Secret default/login" in ended.out + ended.err
    assert "no key here decrypts it" in ended.out + ended.err
    assert live(fleet, "/api/v1/namespaces/default/configmaps/plain")["data"] == {"color": "red"}


def test_what_a_server_says_of_an_encrypted_object_is_not_repeated(
    fleet: Fleet, capsys: pytest.CaptureFixture[str]
) -> None:
    """Servers and webhooks quote values that they refuse."""
    body = {
        "kind": "Status",
        "status": "Failure",
        "reason": "Invalid",
        "code": 422,
        "message": f"token {CANARY} denied",
    }

    def refusing(handler: BaseHTTPRequestHandler) -> bool:
        if handler.command != "PATCH" or "configmaps/settings" not in handler.path:
            return False
        handler.rfile.read(int(handler.headers["Content-Length"]))
        said = json.dumps(body).encode()
        handler.send_response(422)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(said)))
        handler.end_headers()
        handler.wfile.write(said)
        return True

    member = FakeCluster(name="m1")
    with serving_members([member], fleet.folder / "refusing", {"m1": refusing}) as served:
        ended = run(fleet, capsys, "-v", "reconcile", "--bootstrap", "--kubeconfigs", str(served.kubeconfigs))
    assert ended.code == 1
    assert "ConfigMap default/settings" in ended.out + ended.err
    assert CANARY.encode() not in everything_in(fleet.folder / "fleet")


# Overrides of what SOPS encrypted


def an_override(**overriders: Any) -> dict[str, Any]:
    rule = {"targetCluster": {"clusterNames": ["m1"]}, "overriders": overriders}
    selectors = [{"apiVersion": "v1", "kind": "Secret"}]
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "ClusterOverridePolicy",
        "metadata": {"name": "tier"},
        "spec": {"resourceSelectors": selectors, "overrideRules": [rule]},
    }


LABELLED = an_override(labelsOverrider=[{"operator": "add", "value": {"tier": "gold"}}])


def test_readable_fields_are_overridden_where_ciphertext_alone_is_signed(
    fleet: Fleet, capsys: pytest.CaptureFixture[str]
) -> None:
    """The order of what is signed is kept: here, it is not the alphabet's."""
    plain = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: login\n  namespace: default\n"
    values = f"stringData:\n  zone: {CANARY}\n  password: {CANARY}\n"
    text = encrypted(plain + values, fleet.folder / "s", mac_only=True)
    fleet.repository.commit({"secret.yaml": text, "override.yaml": LABELLED})
    assert run(fleet, capsys, "reconcile", "--bootstrap").code == 0
    assert live(fleet)["metadata"]["labels"]["tier"] == "gold"
    assert live(fleet)["data"] == {"password": ENCODED, "zone": ENCODED}


def test_no_override_changes_what_is_signed_whole(fleet: Fleet, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.repository.commit({"override.yaml": LABELLED})
    assert run(fleet, capsys, "reconcile", "--bootstrap").code == 0
    assert "tier" not in live(fleet)["metadata"]["labels"]


def test_an_override_of_ciphertext_is_refused(fleet: Fleet, capsys: pytest.CaptureFixture[str]) -> None:
    replaced = an_override(plaintext=[{"path": "/stringData/password", "operator": "replace", "value": "plain"}])
    text = encrypted(SECRET, fleet.folder / "s", mac_only=True)
    fleet.repository.commit({"secret.yaml": text, "override.yaml": replaced})
    ended = run(fleet, capsys, "reconcile", "--bootstrap")
    assert ended.code == 1
    assert "changes what SOPS encrypted" in ended.out + ended.err
    assert fleet.member.request("GET", PATH)[0] == 404
