"""Clients of members: what a kubeconfig of the source may do, and the connections that clients leave to the next.

A kubeconfig that stands in the source repository may name a cluster and a token, but nothing of this machine's.
"""

import json
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.members.client import KubeClient
from reconciler.members.exchange import Answer, Expected, Failure, FailureKind, Request
from reconciler.members.opening import MemberAccess, Members
from reconciler.observe.objects import read_uid

from .fakes import FakeCluster
from .served import serving_members
from .waiting import SECONDS, at_once


class Asked(NamedTuple):
    why: str
    user: dict[str, Any]
    is_outside: bool
    told: str


HINT = "keep kubeconfigs with exec plugins, auth providers or token files outside of the repository"
PLUGIN = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "./plugin"}}
PROVIDER = {"auth-provider": {"name": "gcp", "config": {"cmd-path": "/bin/true"}}}
ASKED = [
    Asked("a token is its own", {"token": "t"}, False, ""),
    Asked("a token file in the repository is its own", {"tokenFile": "token"}, False, ""),
    Asked("no program", PLUGIN, False, "run an exec plugin named in the source repository"),
    Asked(
        "no provider, which may run a program", PROVIDER, False, "run an auth provider named in the source repository"
    ),
    Asked(
        "no file of this machine, which the server would be sent",
        {"tokenFile": "../secret"},
        False,
        "send away a file from outside of the source repository",
    ),
    Asked("outside of the repository a file may be anywhere", {"tokenFile": "../secret"}, True, ""),
]


@pytest.mark.parametrize("case", ASKED, ids=lambda case: case.why)
def test_a_kubeconfig_of_the_source_gets_at_nothing_of_this_machine(case: Asked, tmp_path: Path) -> None:
    source, outside = tmp_path / "source", tmp_path / "outside"
    for folder in (source, outside):
        folder.mkdir()
        (folder / "token").write_text("t")
    (tmp_path / "secret").write_text("canary")
    path = (outside if case.is_outside else source) / "config"
    names = {"clusters": "cluster", "users": "user", "contexts": "context"}
    values = {
        "cluster": {"server": "http://127.0.0.1:1"},
        "user": case.user,
        "context": {"cluster": "it", "user": "it"},
    }
    config = {section: [{"name": "it", key: values[key]}] for section, key in names.items()}
    path.write_text(json.dumps(config))
    opened = Members(MemberAccess(kubeconfig=str(path), untrusted=(str(source),))).open("it", time.monotonic() + 1)
    if case.told:
        assert opened == Failure(kind=FailureKind.CREDENTIALS, message=f"the context 'it' would {case.told}", hint=HINT)
    else:
        assert isinstance(opened, KubeClient)


@pytest.fixture
def callers() -> set[Any]:
    """The connections that reached a member, by the port at this end."""
    return set()


@pytest.fixture
def members(callers: set[Any], tmp_path: Path) -> Iterator[Members]:
    def note(handler: BaseHTTPRequestHandler) -> bool:
        callers.add(handler.client_address)
        return False

    with serving_members([FakeCluster(name="it")], tmp_path / "kubeconfigs", {"it": note}) as served:
        yield Members(MemberAccess(folder=str(served.kubeconfigs)))


def opened(members: Members) -> KubeClient:
    client = members.open("it", time.monotonic() + SECONDS)
    assert isinstance(client, KubeClient)
    return client


def test_the_next_client_of_a_cluster_goes_on_over_the_connection_of_the_one_before(
    members: Members, callers: set[Any]
) -> None:
    """A pass visits each member twice, and connecting through TLS costs as much as ten requests."""
    for _ in range(3):
        assert read_uid(opened(members)) == "uid-of-it"
    assert len(callers) == 1


def test_clients_at_the_same_time_have_connections_of_their_own(members: Members, callers: set[Any]) -> None:
    first, second = opened(members), opened(members)
    assert (read_uid(first), read_uid(second), len(callers)) == ("uid-of-it", "uid-of-it", 2)


def test_a_kept_connection_writes_only_where_the_cluster_is_the_one_that_is_meant_now(members: Members) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}}
    write = Request(method="POST", path="/api/v1/namespaces/default/configmaps", expects=Expected.OBJECT, body=body)
    client = opened(members)
    client.require_cluster_uid("uid-of-it")
    assert isinstance(client.send(write), Answer)
    del client
    later = opened(members)
    later.require_cluster_uid("uid-of-another")
    refused = later.send(write)
    assert isinstance(refused, Failure)
    assert refused.kind is FailureKind.WRONG_CLUSTER


def asked_at_once(client: KubeClient, count: int) -> None:
    at_once(lambda _number: read_uid(client), count)


def test_of_the_connections_of_a_client_one_is_kept(members: Members, callers: set[Any]) -> None:
    asked_at_once(opened(members), 4)
    before = len(callers)
    later = opened(members)
    asked_at_once(later, 1)
    assert (len(later._connection._wires._idle), len(callers)) == (1, before)
