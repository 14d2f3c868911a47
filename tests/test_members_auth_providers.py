"""Auth providers (oidc, gcp) that answer, refuse, hang and lie; and the cluster a process runs in."""

import base64
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs

import pytest

from reconciler.members.auth_providers import in_cluster_context, provider_credential
from reconciler.members.credentials import AuthPlugins
from reconciler.members.exchange import Failure
from reconciler.members.identity import Credential
from reconciler.members.kubeconfig import Context

from .waiting import SECONDS, eventually, happened
from .wires import Asked, Reply, Wire, a_certificate, answering

CANARY = "canary-4711"
LATER, EARLIER = 4102444800, 946684800
DISCOVERY = "/.well-known/openid-configuration"


def a_token(expires: int, name: str = "ada") -> str:
    """A JWT as far as anybody here looks at it."""
    parts = [{"alg": "none"}, {"sub": name, "exp": expires}]
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join([*encoded, CANARY])


class Issuer:
    """An identity provider that renews tokens; ``replies`` says otherwise by path."""

    def __init__(self, **replies: Reply) -> None:
        self.replies = replies
        self.refreshed: list[dict[str, list[str]]] = []
        self.host = ""

    def __call__(self, asked: Asked) -> Reply:
        what = "discovery" if asked.path == DISCOVERY else "token"
        if what in self.replies:
            return self.replies[what]
        if what == "discovery":
            return Reply(body={"token_endpoint": f"{self.host}/token"})
        self.refreshed.append(parse_qs(asked.content.decode()))
        renewed = {"id_token": a_token(LATER, "renewed"), "refresh_token": "next", "access_token": "a"}
        return Reply(body={**renewed, "token_type": "Bearer"}, headers={"Content-Type": "application/json"})


@contextmanager
def running(issuer: Issuer, folder: Path) -> Iterator[Wire]:
    with answering(choose=issuer, certificate=a_certificate(folder)) as wire:
        issuer.host = wire.host
        yield wire


def an_oidc_context(folder: Path, issuer: str, token: str, **more: Any) -> Context:
    config: dict[str, Any] = {
        "idp-issuer-url": issuer,
        "client-id": "kubernetes",
        "client-secret": CANARY,
        "refresh-token": CANARY,
    }
    config |= {"id-token": token, "idp-certificate-authority": "server.crt", **more}
    provider = {"name": "oidc", "config": {key: value for key, value in config.items() if value is not None}}
    return Context(name="it", cluster={"server": "https://api"}, user={"auth-provider": provider}, user_folder=folder)


def test_a_token_that_is_good_is_used_as_it_is(tmp_path: Path) -> None:
    token = a_token(LATER)
    context = an_oidc_context(tmp_path, "https://127.0.0.1:1", token)
    assert provider_credential(context, 10) == Credential(token=token, expires=LATER)


def test_an_expired_token_is_renewed_and_the_kubeconfig_left_alone(tmp_path: Path) -> None:
    issuer = Issuer()
    with running(issuer, tmp_path) as wire:
        context = an_oidc_context(tmp_path, wire.host, a_token(EARLIER))
        before = json.dumps(context.user)
        credential = provider_credential(context, 10)
    assert credential == Credential(token=a_token(LATER, "renewed"), expires=LATER)
    who = {"client_id": ["kubernetes"], "client_secret": [CANARY]}
    assert issuer.refreshed == [{"grant_type": ["refresh_token"], "refresh_token": [CANARY], **who}]
    assert json.dumps(context.user) == before


def test_clusters_that_share_a_provider_ask_it_once(tmp_path: Path) -> None:
    issuer = Issuer()
    with running(issuer, tmp_path) as wire:
        plugins = AuthPlugins(environment={})
        contexts = [an_oidc_context(tmp_path, wire.host, a_token(EARLIER)) for _ in range(3)]
        found = {plugins.credential(context) for context in contexts}
    assert found == {Credential(token=a_token(LATER, "renewed"), expires=LATER)}
    assert len(issuer.refreshed) == 1


class Bad(NamedTuple):
    why: str
    issuer: Issuer
    changes: dict[str, Any]
    told: str


def refusal(error: str) -> Reply:
    return Reply(400, {"error": error, "error_description": CANARY}, {"Content-Type": "application/json"})


BAD = [
    Bad("nobody trusts the issuer", Issuer(), {"idp-certificate-authority": None}, "gave no token (MaxRetryError)"),
    Bad("it refuses", Issuer(token=refusal("invalid_grant")), {}, "gave no token (InvalidGrantError)"),
    Bad("it does not know us", Issuer(token=refusal("invalid_client")), {}, "gave no token (InvalidClientError)"),
    Bad("it is no issuer", Issuer(discovery=Reply(404, CANARY)), {}, "did not renew its token, which has expired"),
    Bad("it says something else", Issuer(discovery=Reply(200, CANARY)), {}, "gave no token (JSONDecodeError)"),
    Bad("there is no token to begin with", Issuer(), {"id-token": None}, "gave no token (ConfigException)"),
    Bad("what there is is no token", Issuer(), {"id-token": CANARY}, "gave no token"),
    Bad("nothing to renew it with", Issuer(), {"refresh-token": None}, "gave no token (ConfigException)"),
]


@pytest.mark.parametrize("case", BAD, ids=lambda case: case.why)
def test_a_provider_that_does_not_work_is_told_without_its_words(case: Bad, tmp_path: Path) -> None:
    with running(case.issuer, tmp_path) as wire:
        context = an_oidc_context(tmp_path, wire.host, a_token(EARLIER), **case.changes)
        failure = provider_credential(context, 10)
    assert isinstance(failure, Failure)
    assert failure.message == f"the auth provider 'oidc' of context 'it' {case.told}"
    assert CANARY not in str(failure)


def test_a_provider_that_hangs_costs_its_time_limit(tmp_path: Path) -> None:
    """The question itself goes on in a thread nobody waits for; here it gets its answer in the end."""
    issuer, over = Issuer(), threading.Event()

    def hanging(asked: Asked) -> Reply:
        happened(over, "the end of the test")
        return issuer(asked)

    with answering(choose=hanging, certificate=a_certificate(tmp_path)) as wire:
        issuer.host = wire.host
        failure = provider_credential(an_oidc_context(tmp_path, wire.host, a_token(EARLIER)), 0.5)
        over.set()
        eventually(lambda: issuer.refreshed, "the answer nobody waits for")
    assert str(failure) == (
        "the auth provider 'oidc' of context 'it' gave no answer in 0.5 s\n"
        "  hint: log in again as kubectl's users do, or use an exec plugin"
    )


def test_a_provider_nobody_knows_is_told() -> None:
    user = {"auth-provider": {"name": "azure", "config": {"access-token": CANARY}}}
    failure = provider_credential(Context(name="it", cluster={"server": "https://api"}, user=user), 10)
    assert str(failure) == (
        "the auth provider 'azure' of context 'it' is not known here\n  hint: use the exec plugin that replaces it"
    )


def a_gcp_context(**config: Any) -> Context:
    user = {"auth-provider": {"name": "gcp", "config": config}}
    return Context(name="it", cluster={"server": "https://api"}, user=user)


def test_gcp_with_a_token_that_is_good() -> None:
    context = a_gcp_context(**{"access-token": "t0ken", "expiry": "2100-01-01T00:00:00Z"})
    assert provider_credential(context, 10) == Credential(token="t0ken", expires=LATER)


def test_gcp_with_a_program_that_renews_it(tmp_path: Path) -> None:
    program = tmp_path / "gcloud"
    said = {"credential": {"access_token": "renewed", "token_expiry": "2100-01-01T00:00:00Z"}}
    program.write_text(f"#!/bin/sh\necho '{json.dumps(said)}'\n")
    program.chmod(0o755)
    context = a_gcp_context(**{"access-token": "old", "expiry": "2000-01-01T00:00:00Z", "cmd-path": str(program)})
    assert provider_credential(context, 10) == Credential(token="renewed", expires=LATER)


def test_where_no_cluster_is_around_that_is_told() -> None:
    assert "KUBERNETES_SERVICE_HOST" not in os.environ
    assert str(in_cluster_context()) == (
        "this process runs in no cluster it could use (ConfigException)\n"
        "  hint: see whether kubectl reaches the cluster with this context"
    )


IN_CLUSTER = """
import sys, time
from kubernetes.config import incluster_config
from reconciler.members.exchange import Request
from reconciler.members.opening import MemberAccess, Members
incluster_config.SERVICE_TOKEN_FILENAME, incluster_config.SERVICE_CERT_FILENAME = sys.argv[1:]
client = Members(MemberAccess(in_cluster="here", untrusted=(".",))).open("here", time.monotonic() + 20)
for _ in range(2):
    print(client.send(Request(method="GET", path="/version")).status)
    open(sys.argv[1], "w").write("renewed")
"""


def test_a_process_in_a_cluster_is_its_service_account(tmp_path: Path) -> None:
    """In a process of its own, run in a checkout, the account's files elsewhere; a refused token is read again."""
    token = tmp_path / "token"
    token.write_text("t0ken")
    shown: list[list[str]] = []

    def api_server(_asked: Asked) -> Reply:
        shown.append(wire.asked[-1][2]["authorization"])
        is_good = shown[-1] == ["Bearer t0ken" if len(shown) == 1 else "Bearer renewed"]
        return Reply(200 if is_good else 401, {"gitVersion": "v1"})

    with answering(choose=api_server, certificate=a_certificate(tmp_path)) as wire:
        host, port = wire.host.removeprefix("https://").split(":")
        environment = {**os.environ, "KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
        command = [sys.executable, "-c", IN_CLUSTER, str(token), str(tmp_path / "server.crt")]
        run = subprocess.run(command, env=environment, check=True, capture_output=True, text=True, timeout=SECONDS)
    assert run.stdout == "200\n200\n"
    assert shown == [["Bearer t0ken"], ["Bearer t0ken"], ["Bearer renewed"]]
