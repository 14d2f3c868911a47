"""Exec plugins that answer, hang, fail and lie; and how long their answers last."""

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.members.credentials import AuthPlugins, CredentialSource
from reconciler.members.exchange import Failure
from reconciler.members.identity import Credential
from reconciler.members.kubeconfig import Context
from tests.waiting import eventually

VERSION = "client.authentication.k8s.io/v1"
CANARY = "canary-4711"


def a_plugin(folder: Path, script: str, name: str = "plugin") -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def answering(**status: Any) -> str:
    answer = {"apiVersion": VERSION, "kind": "ExecCredential", "status": status}
    return f"echo x >> calls\necho '{json.dumps(answer)}'"


def a_context(folder: Path, **plugin: Any) -> Context:
    command = {"apiVersion": VERSION, "command": "./plugin", **plugin}
    cluster = {"server": "https://example.com", "certificate-authority-data": "Y2E="}
    return Context(name="member1", cluster=cluster, user={"exec": command}, user_folder=folder)


def plugins_for(folder: Path, *, seconds: float = 10.0, now: float = 0.0) -> AuthPlugins:
    return AuthPlugins(environment={"PATH": os.environ["PATH"], "PWD": str(folder)}, seconds=seconds, clock=lambda: now)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def in_folder(folder: Path, script: str) -> None:
    a_plugin(folder, f"cd {folder}\n{script}")


def calls(folder: Path) -> int:
    return len((folder / "calls").read_text().splitlines())


def test_a_plugin_answers_with_a_token(folder: Path) -> None:
    in_folder(folder, answering(token=CANARY))
    assert plugins_for(folder).credential(a_context(folder)) == Credential(token=CANARY)


def test_a_plugin_answers_with_a_certificate(folder: Path) -> None:
    in_folder(folder, answering(clientCertificateData="cert", clientKeyData="key"))
    assert plugins_for(folder).credential(a_context(folder)) == Credential(certificate="cert", key="key")


def test_a_credential_never_shows_itself() -> None:
    assert CANARY not in repr(Credential(token=CANARY, certificate=CANARY, key=CANARY))


def test_an_answer_is_kept_until_shortly_before_it_expires(folder: Path) -> None:
    in_folder(folder, answering(token="t", expirationTimestamp="1970-01-01T01:00:00Z"))
    now = 0.0
    plugins = AuthPlugins(environment=dict(os.environ), clock=lambda: now)
    counted = []
    for now in (0.0, 3500.0, 3541.0):  # noqa: B007 - the clock reads it
        plugins.credential(a_context(folder))
        counted.append(calls(folder))
    assert counted == [1, 1, 2]


def test_a_refused_answer_is_asked_for_again(folder: Path) -> None:
    in_folder(folder, answering(token="t"))
    source = CredentialSource(a_context(folder), plugins_for(folder))
    source.current()
    source.current()
    source.current(renew=True)
    assert calls(folder) == 2


def test_a_plugin_learns_of_the_cluster_when_it_asks(folder: Path) -> None:
    in_folder(folder, f'printf "%s" "$KUBERNETES_EXEC_INFO" > info\n{answering(token="t")}')
    plugins_for(folder).credential(a_context(folder, provideClusterInfo=True))
    assert json.loads((folder / "info").read_text()) == {
        "apiVersion": VERSION,
        "kind": "ExecCredential",
        "spec": {
            "interactive": False,
            "cluster": {"server": "https://example.com", "certificate-authority-data": "Y2E="},
        },
    }


def test_a_plugin_gets_its_arguments_and_variables(folder: Path) -> None:
    in_folder(folder, f'echo "$1 $REGION" > said\n{answering(token="t")}')
    plugin = {"args": ["get-token"], "env": [{"name": "REGION", "value": "eu"}]}
    plugins_for(folder).credential(a_context(folder, **plugin))
    assert (folder / "said").read_text() == "get-token eu\n"


class Bad(NamedTuple):
    why: str
    script: str
    told: str


BAD = [
    Bad("it fails", f"echo {CANARY} >&2; exit 3", "ended with exit code 3"),
    Bad("it says nothing", "true", "answered with no ExecCredential"),
    Bad("it says something else", f"echo '{CANARY}'", "answered with no ExecCredential"),
    Bad("it knows no user", answering(), "answered without a token or a client certificate"),
    Bad("its key is missing", answering(clientCertificateData="c"), "answered without a token or a client certificate"),
    Bad(
        "it speaks another version",
        answering(token=CANARY).replace(VERSION, "client.authentication.k8s.io/v1beta1"),
        f"does not speak {VERSION}",
    ),
    Bad(
        "its expiry is no time",
        answering(token=CANARY, expirationTimestamp="tomorrow"),
        "answered with no ExecCredential",
    ),
]


@pytest.mark.parametrize("case", BAD, ids=lambda case: case.why)
def test_a_plugin_that_does_not_work_is_told_without_its_words(case: Bad, folder: Path) -> None:
    in_folder(folder, case.script)
    failure = plugins_for(folder).credential(a_context(folder))
    assert isinstance(failure, Failure)
    assert failure.message == f"the exec plugin {str(folder / 'plugin')!r} {case.told}"
    assert CANARY not in str(failure)


def has_ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_a_plugin_that_hangs_ends_with_its_children(folder: Path) -> None:
    in_folder(folder, "sleep 60 &\necho $! > child\nsleep 60")
    failure = plugins_for(folder, seconds=0.3).credential(a_context(folder))
    assert isinstance(failure, Failure)
    assert failure.message == f"the exec plugin {str(folder / 'plugin')!r} gave no answer in 0.3 s"
    child = int((folder / "child").read_text())
    eventually(lambda: has_ended(child), "the end of the plugin's child")


def test_a_plugin_that_is_not_there_is_told(folder: Path) -> None:
    failure = plugins_for(folder).credential(a_context(folder))
    assert isinstance(failure, Failure)
    assert str(failure) == (
        f"the exec plugin {str(folder / 'plugin')!r} of context 'member1' cannot be run (No such file or directory)\n"
        "  hint: install it, or use another context"
    )


def test_a_plugin_that_needs_a_terminal_is_not_run(folder: Path) -> None:
    in_folder(folder, answering(token="t"))
    failure = plugins_for(folder).credential(a_context(folder, interactiveMode="Always"))
    assert isinstance(failure, Failure)
    assert not (folder / "calls").exists()
