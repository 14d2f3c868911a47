"""Documents of SOPS that name a key service at their author's address: nobody is asked, and nobody waits for it."""

import base64
import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.building.confinement import Confinement, SystemBounds, confined_command, system_bounds
from reconciler.building.sandbox import RunLimits
from reconciler.deliver import decryption
from reconciler.deliver.decryption import SopsDecryption
from reconciler.deliver.key_services import NamedKeys, key_services_named_in
from reconciler.plans.model import ClusterDesired, DesiredObject
from render.documents import emit, parse_documents
from render.model import ObjectRef
from render.settings.decryption import SecretName
from tests.fakes import FakeCluster
from tests.sops import KEY, PROGRAM, encrypted
from tests.waiting import eventually, joined

SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "login", "namespace": "default"},
    "stringData": {"password": "x"},
}
ENC = {"created_at": "2024-01-01T00:00:00Z", "enc": "dmF1bHQ6djE6YWFhYQ=="}
PLUGIN = "AGE-PLUGIN-EVIL-1V93XXEQ67KPTW"
ARN = "arn:aws:kms:eu-west-1:111122223333:key/0000"


class Service(NamedTuple):
    """A key service of this machine that the author of a document points at, and what it was asked."""

    address: str
    asked: list[str]


@pytest.fixture
def service() -> Iterator[Service]:
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            asked.append(self.path)
            self.send_response(403)
            self.end_headers()

        def log_message(self, *_args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield Service(f"http://127.0.0.1:{server.server_address[1]}", asked)
        server.shutdown()
        joined(thread)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "keys.txt").write_text(f"{KEY.text}\n")
    path = f"{PROGRAM.parent}{os.pathsep}/usr/bin{os.pathsep}/bin"
    return {"PATH": path, "HOME": str(tmp_path / "home"), "SOPS_AGE_KEY_FILE": str(tmp_path / "keys.txt")}


def an_object(text: str | bytes, name: str = "login") -> DesiredObject:
    data = text.encode() if isinstance(text, str) else text
    ref = ObjectRef("", "Secret", "default", name)
    return DesiredObject(ref=ref, manifest={"sops": {}}, encrypted=data)


def decrypted(found: SopsDecryption, *items: DesiredObject) -> tuple[DesiredObject, ...]:
    return found.desired_decrypted(FakeCluster(), ClusterDesired(cluster="m1", objects=items)).objects


def document(tmp_path: Path, change: Mapping[str, Any], *, without: tuple[str, ...] = ("age",)) -> dict[str, Any]:
    """A document that SOPS encrypted, whose author has changed which keys it names."""
    value = dict(parse_documents(encrypted(SECRET, tmp_path / "s").encode())[0].value)
    metadata = {key: found for key, found in value["sops"].items() if key not in without}
    return {**value, "sops": {**metadata, **change}}


def hidden(tmp_path: Path, address: str) -> dict[str, bytes]:
    """Every way to name a service that one of two readers may not see."""
    vault = {"vault_address": address, "engine_path": "sops", "key_name": "k", **ENC}
    flat = document(tmp_path, {"hc_vault": [vault]})
    anchor = (
        emit(document(tmp_path, {})).decode().replace("sops:\n", f"x: &x\n  hc_vault: [{vault}]\nsops:\n  <<: *x\n")
    )
    twice = emit(flat).decode() + f"sops:\n  hc_vault: [{vault}]\n"
    plain = emit(document(tmp_path, {})).decode()
    return {
        "a service": emit(flat),
        "a service beside a key of age": emit(document(tmp_path, {"hc_vault": [vault]}, without=())),
        "a service in a group": emit(document(tmp_path, {"key_groups": [{"age": [], "hc_vault": [vault]}]})),
        "a service in the second group": emit(
            document(tmp_path, {"key_groups": [{"age": [{"recipient": KEY.recipient}]}, {"hc_vault": [vault]}]})
        ),
        "a service in another case": emit(document(tmp_path, {"HC_Vault": [vault]})),
        "groups in another case": emit(document(tmp_path, {"Key_Groups": [{"hc_vault": [vault]}]})),
        "a service of tomorrow": emit(document(tmp_path, {"quantum_kv": [{"url": address}]})),
        "a service as an object": emit(document(tmp_path, {"hc_vault": {"0": vault}})),
        "a service in JSON": json.dumps(flat).encode(),
        "a service by an alias": anchor.encode(),
        "metadata that stand there twice": twice.encode(),
        "a second document": (plain + "---\n" + emit(flat).decode()).encode(),
        "a document before it": (emit(flat).decode() + "---\n" + plain).encode(),
        "a key of AWS": emit(document(tmp_path, {"kms": [{"arn": ARN, **ENC}]})),
        "a key of AWS with a role": emit(
            document(tmp_path, {"kms": [{"arn": ARN, "role": "arn:aws:iam::1:role/x", **ENC}]})
        ),
        "a key of Google": emit(document(tmp_path, {"gcp_kms": [{"resource_id": "projects/p/x", **ENC}]})),
        "a key of Azure": emit(
            document(tmp_path, {"azure_kv": [{"vault_url": address, "name": "k", "version": "1", **ENC}]})
        ),
    }


def test_no_service_that_a_document_names_is_asked(
    tmp_path: Path, environment: dict[str, str], service: Service
) -> None:
    """Every one is refused before sops runs, however it is written."""
    program = tmp_path / "bin/sops"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\ntouch {tmp_path}/ran\nexec {PROGRAM} "$@"\n')
    program.chmod(0o755)
    environment["PATH"] = f"{program.parent}{os.pathsep}{environment['PATH']}"
    for why, text in hidden(tmp_path, service.address).items():
        (found,) = decrypted(SopsDecryption(None, environment), an_object(text))
        assert (bool(found.fault), bool(found.fault_hint)) == (True, True), why
        assert service.address not in found.fault + found.fault_hint, why
        assert (service.asked, (tmp_path / "ran").exists()) == ([], False), why


@pytest.mark.skipif(not system_bounds().network, reason="this system closes no network")
def test_sops_has_no_network_even_for_what_nobody_has_seen(
    tmp_path: Path, environment: dict[str, str], service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decryption, "key_services_named_in", lambda _text, _allowed: NamedKeys())
    text = hidden(tmp_path, service.address)["a service"]
    (found,) = decrypted(SopsDecryption(None, environment), an_object(text))
    assert (found.fault, service.asked) == ("no key here decrypts it", [])


def test_a_service_that_the_fleet_names_is_asked_with_its_credentials_alone(
    tmp_path: Path, environment: dict[str, str], service: Service
) -> None:
    text = hidden(tmp_path, service.address)["a service"]
    program = tmp_path / "bin/sops"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nenv >{tmp_path}/environment\nexec {PROGRAM} "$@"\n')
    program.chmod(0o755)
    asked = {"VAULT_TOKEN": "t", "AWS_ACCESS_KEY_ID": "x", "PATH": f"{program.parent}{os.pathsep}{environment['PATH']}"}
    allowed = frozenset({service.address})
    (found,) = decrypted(SopsDecryption(None, {**environment, **asked}, services=allowed), an_object(text))
    assert found.fault == "no key here decrypts it"
    assert service.asked
    assert {each.rpartition("/")[0] for each in service.asked} == {"/v1/sops/decrypt"}
    names = {line.partition("=")[0] for line in (tmp_path / "environment").read_text().splitlines()}
    assert {"VAULT_TOKEN", "AWS_EC2_METADATA_DISABLED", "GCE_METADATA_HOST"} <= names
    assert "AWS_ACCESS_KEY_ID" not in names


def test_an_address_is_named_as_a_whole_and_no_document_chooses_an_identity() -> None:
    def fault(allowed: str, **key: str) -> str:
        value = {"kind": "Secret", "sops": {"mac": "x", "kms": [{**ENC, **key}], "age": [], "hc_vault": []}}
        return key_services_named_in(emit(value), frozenset({allowed})).fault

    assert fault(ARN, arn=ARN) == ""
    assert "that argosy.yaml does not name" in fault(ARN, arn=f"{ARN}1")
    assert "that argosy.yaml does not name" in fault(f"{ARN}1", arn=ARN)
    assert "chooses the identity to ask with: role" in fault(ARN, arn=ARN, role="arn:aws:iam::1:role/x")
    assert "chooses the identity to ask with: aws_profile" in fault(ARN, arn=ARN, aws_profile="admin")


PLACES = [
    {"key_name": "../../../sys/seal"},
    {"key_name": ".."},
    {"key_name": "k?x=y"},
    {"key_name": "%2e%2e"},
    {"engine_path": "../sys"},
    {"engine_path": "sops/./../.."},
    {"engine_path": "a//b"},
    {"engine_path": "a b"},
]


@pytest.mark.parametrize("change", PLACES, ids=str)
def test_a_key_leads_to_no_other_place_of_a_service_that_the_fleet_names(
    change: dict[str, str], tmp_path: Path, environment: dict[str, str], service: Service
) -> None:
    """A token that may do more than decrypt is not to be used for it by the author of a document."""
    vault = {"vault_address": service.address, "engine_path": "sops", "key_name": "k", **ENC, **change}
    found = SopsDecryption(None, {**environment, "VAULT_TOKEN": "t"}, services=frozenset({service.address}))
    (item,) = decrypted(found, an_object(emit(document(tmp_path, {"hc_vault": [vault]}))))
    assert service.asked == []
    assert item.fault == f"its key of hc_vault leads to another place of that address: {next(iter(change))}"


def test_usual_places_of_keys_are_taken() -> None:
    for path, name in (("transit", "sops-key"), ("/team-a/transit/", "k.1"), ("a_b", "k")):
        key = {"vault_address": "https://vault", "engine_path": path, "key_name": name, **ENC}
        value = {"kind": "Secret", "sops": {"mac": "x", "hc_vault": [key]}}
        assert key_services_named_in(emit(value), frozenset({"https://vault"})).services == {"hc_vault"}


def test_a_member_gives_age_keys_and_no_identity_that_starts_a_program(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    """An identity ``AGE-PLUGIN-...`` names a program on PATH, which age runs."""
    program = tmp_path / "bin/age-plugin-evil"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n: >{tmp_path}/ran\n")
    program.chmod(0o755)
    text = f"# AGE-SECRET-KEY-1\n{PLUGIN}\n  {KEY.text}\nand more\n"
    data = {"keys": base64.b64encode(text.encode()).decode()}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys", "namespace": "default"}, "data": data}
    member = FakeCluster()
    assert member.request("POST", "/api/v1/namespaces/default/secrets", secret)[0] == 201
    path = f"{program.parent}{os.pathsep}{environment['PATH']}"
    found = SopsDecryption(SecretName(namespace="default", name="keys"), {"PATH": path, "HOME": str(tmp_path / "home")})
    desired = ClusterDesired(cluster="m1", objects=(an_object(encrypted(SECRET, tmp_path / "s")),))
    (item,) = found.desired_decrypted(member, desired).objects
    assert ((tmp_path / "ran").exists(), item.fault) == (False, "")


def test_what_a_document_packs_small_takes_no_more_memory_than_a_build(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    """gpg unpacks what is encrypted for a key that everybody may know, and sops keeps all of it."""
    program = tmp_path / "bin/sops"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n/bin/cat >/dev/null\nulimit -v >{tmp_path}/limit\n")
    program.chmod(0o755)
    environment["PATH"] = str(program.parent)
    decrypted(SopsDecryption(None, environment), an_object(encrypted(SECRET, tmp_path / "s")))
    has_limits = hasattr(resource, "prlimit")
    assert (tmp_path / "limit").read_text().strip() == (str(RunLimits().memory // 1024) if has_limits else "unlimited")


def with_hanging(tmp_path: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment with a sops that hangs for documents of which a comment says so."""
    program = tmp_path / "bin/sops"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\ntext=$(/bin/cat)\ncase "$text" in *hang*) : >{tmp_path}/hangs; exec /bin/sleep 600;; esac\n'
        f'printf "%s\\n" "$text" | {PROGRAM} "$@"\n'
    )
    program.chmod(0o755)
    return {**environment, "PATH": f"{program.parent}{os.pathsep}{environment['PATH']}"}


def test_documents_that_hang_take_one_limit_of_time_together_and_hold_up_nobody(
    tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decryption, "_SECONDS", 0.5)
    monkeypatch.setattr(decryption, "_ALL_SECONDS", 1.0)
    text = emit(document(tmp_path, {}, without=())).decode()
    found = SopsDecryption(None, with_hanging(tmp_path, environment))
    hanging = [an_object(text.replace("kind:", f"# hang {number}\nkind:")) for number in range(20)]
    begun, faults = time.monotonic(), [each.fault for each in decrypted(found, *hanging)]
    assert time.monotonic() - begun < 20 * 0.5
    assert faults[0] == "sops did not end within 0.5 s"
    assert faults[-1].startswith("no time is left to decrypt it")


def test_documents_that_take_long_and_are_decrypted_have_a_limit_together_too(
    tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever encrypts for a key can name a thousand others before it, which sops tries first."""
    monkeypatch.setattr(decryption, "_FAIR_SECONDS", 0.0)
    monkeypatch.setattr(decryption, "_ALL_SECONDS", 0.01)
    text = emit(document(tmp_path, {}, without=())).decode()
    found = SopsDecryption(None, environment)
    faults = [each.fault for each in decrypted(found, *(an_object(f"# {each}\n{text}") for each in range(2)))]
    assert faults == ["", "no time is left to decrypt it: other objects took it"]


def test_one_document_that_hangs_does_not_keep_others_of_other_clusters_waiting(
    tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decryption, "_SECONDS", 5.0)
    text = encrypted(SECRET, tmp_path / "s")
    found = SopsDecryption(None, with_hanging(tmp_path, environment))
    waiting = threading.Thread(target=decrypted, args=(found, an_object(f"# hang\n{text}")), daemon=True)
    waiting.start()
    eventually((tmp_path / "hangs").exists, "sops that hangs")
    (other,) = decrypted(found, an_object(text))
    assert (other.fault, waiting.is_alive()) == ("", True)
    joined(waiting)


def test_a_program_with_local_sockets_has_no_others() -> None:
    program = "import socket; socket.socket(socket.AF_UNIX); print('local'); socket.socket(); print('all')"
    command = confined_command((sys.executable, "-c", program), (), Confinement(has_local_sockets=True))
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    has_all = system_bounds() == SystemBounds()
    assert done.stdout.split() == ([b"local", b"all"] if has_all else [b"local"])
