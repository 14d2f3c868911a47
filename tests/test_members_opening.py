"""Kubeconfigs that stand in the source repository may name a cluster and a token, but nothing of this machine's."""

import json
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.members.client import KubeClient
from reconciler.members.exchange import Failure, FailureKind
from reconciler.members.opening import MemberAccess, Members


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
