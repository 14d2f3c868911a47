"""A kubeconfig read by us and by ``kubernetes.config``: the same server, way and credential."""

import base64
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from reconciler.members.connection import open_connection
from reconciler.members.credentials import AuthPlugins, CredentialSource
from reconciler.members.endpoint import Endpoint, api_endpoint_of_context
from reconciler.members.exchange import Failure
from reconciler.members.identity import Credential
from reconciler.members.kubeconfig import Context, Contexts
from tests.tables import each_row
from tests.waiting import SECONDS

PEM = {name: f"-----BEGIN CERTIFICATE-----\n{name}\n-----END CERTIFICATE-----\n" for name in ("ca", "crt", "key")}
DATA = {name: base64.b64encode(text.encode()).decode() for name, text in PEM.items()}


class Written(NamedTuple):
    why: str
    cluster: dict[str, Any]
    user: dict[str, Any]
    environment: Mapping[str, str] = MappingProxyType({})


SERVER = {"server": "https://api.example.com:6443"}
WRITTEN = [
    Written("a token", SERVER, {"token": "t0ken"}),
    Written("a slash at the end of the address", {"server": "https://api.example.com/k8s/c-1/"}, {"token": "t"}),
    Written("a token in a file", SERVER, {"tokenFile": "token"}),
    Written("a token beats the file it is in", SERVER, {"token": "t0ken", "tokenFile": "token"}),
    Written("a password", SERVER, {"username": "ada", "password": "secret: with a colon"}),
    Written("a token beats a password", SERVER, {"token": "t", "username": "ada", "password": "secret"}),
    Written("a name without a password is nobody's", SERVER, {"username": "ada"}),
    Written("nobody", SERVER, {}),
    Written(
        "certificates in the file", SERVER, {"client-certificate-data": DATA["crt"], "client-key-data": DATA["key"]}
    ),
    Written("certificates beside the file", SERVER, {"client-certificate": "client.crt", "client-key": "client.key"}),
    Written(
        "a certificate in the file beats one beside it",
        SERVER,
        {"client-certificate-data": DATA["ca"], "client-certificate": "client.crt", "client-key": "client.key"},
    ),
    Written(
        "a token and a certificate are both shown",
        SERVER,
        {"token": "t", "client-certificate": "client.crt", "client-key": "client.key"},
    ),
    Written("an authority in the file", {**SERVER, "certificate-authority-data": DATA["ca"]}, {"token": "t"}),
    Written("an authority beside the file", {**SERVER, "certificate-authority": "ca.crt"}, {"token": "t"}),
    Written("any server is believed", {**SERVER, "insecure-skip-tls-verify": True}, {"token": "t"}),
    Written("the certificate shows another name", {**SERVER, "tls-server-name": "kubernetes"}, {"token": "t"}),
    Written("no TLS, no certificates", {"server": "http://localhost:8001", "certificate-authority": "missing"}, {}),
    Written("a proxy of its own", {**SERVER, "proxy-url": "http://proxy.example.com:3128"}, {"token": "t"}),
    Written("a proxy of the environment", SERVER, {"token": "t"}, {"HTTPS_PROXY": "http://proxy.example.com:3128"}),
    Written("a proxy for another scheme", SERVER, {"token": "t"}, {"HTTP_PROXY": "http://proxy.example.com:3128"}),
    Written("a proxy for all", SERVER, {"token": "t"}, {"all_proxy": "http://proxy.example.com:3128"}),
    Written(
        "its own proxy beats the environment's",
        {**SERVER, "proxy-url": "http://own.example.com:3128"},
        {"token": "t"},
        {"https_proxy": "http://proxy.example.com:3128"},
    ),
]

THEIRS = """
import json, os, sys
from pathlib import Path
from kubernetes.client import Configuration
from kubernetes.config import load_kube_config

def text(path):
    return Path(path).read_text() if path else ""

def read(path, environment):
    os.environ.update(environment)
    configuration = Configuration()
    load_kube_config(path, client_configuration=configuration)
    for name in environment:
        del os.environ[name]
    return {
        "server": configuration.host,
        "proxy": configuration.proxy or "",
        "server_name": configuration.tls_server_name or "",
        "is_verified": configuration.verify_ssl,
        "authority": text(configuration.ssl_ca_cert),
        "authorization": (configuration.auth_settings().get("BearerToken") or {}).get("value", ""),
        "certificate": text(configuration.cert_file),
        "key": text(configuration.key_file),
    }

print(json.dumps([read(path, environment) for path, environment in json.loads(sys.argv[1])]))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("kubeconfigs")
    for name, file in {"ca": "ca.crt", "crt": "client.crt", "key": "client.key"}.items():
        (made / file).write_text(PEM[name])
    (made / "token").write_text("t0ken-of-a-file")
    return made


@pytest.fixture(scope="module")
def theirs(folder: Path) -> dict[str, Any]:
    """Return the reading of each file by ``kubernetes.config``, by the row's why: one process, for it sets globals."""
    asked = [(str(a_kubeconfig(folder, case)), dict(case.environment)) for case in WRITTEN]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    command = [sys.executable, "-c", THEIRS, json.dumps(asked)]
    run = subprocess.run(command, env=environment, check=True, capture_output=True, timeout=SECONDS)
    return dict(zip([case.why for case in WRITTEN], json.loads(run.stdout), strict=True))


def a_kubeconfig(folder: Path, case: Written) -> Path:
    path = folder / case.why.replace(" ", "-")
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": case.cluster}],
        "users": [{"name": "u", "user": case.user}],
        "contexts": [{"name": "it", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "it",
    }
    path.write_text(json.dumps(config))
    return path


def ours(path: Path, environment: Mapping[str, str]) -> dict[str, Any]:
    context = Contexts(files=[path]).find("it")
    assert isinstance(context, Context)
    endpoint = api_endpoint_of_context(context, environment)
    credential = CredentialSource(context, AuthPlugins(environment=environment)).current()
    assert isinstance(credential, Credential)
    return {
        **{name: getattr(endpoint, name) for name in ("server", "proxy", "server_name", "is_verified", "authority")},
        "authorization": credential.authorization,
        "certificate": credential.certificate,
        "key": credential.key,
    }


@pytest.mark.parametrize("case", WRITTEN, ids=lambda case: case.why)
def test_kubernetes_config_reads_the_same(case: Written, folder: Path, theirs: dict[str, Any]) -> None:
    assert ours(a_kubeconfig(folder, case), case.environment) == theirs[case.why]


def test_a_plain_context_does_without_the_kubernetes_library(folder: Path) -> None:
    path = a_kubeconfig(folder, WRITTEN[0])
    script = (
        "import sys, time\n"
        "from reconciler.members.opening import MemberAccess, Members\n"
        "client = Members(MemberAccess(kubeconfig=sys.argv[1])).open('it', time.monotonic() + 1)\n"
        "print(type(client).__name__, 'kubernetes' in sys.modules)\n"
    )
    command = [sys.executable, "-c", script, str(path)]
    run = subprocess.run(command, check=True, capture_output=True, text=True, timeout=SECONDS)
    assert run.stdout == "KubeClient False\n"


class Way(NamedTuple):
    why: str
    server: str
    no_proxy: str
    is_straight: bool


WAYS = [
    Way("nothing is excepted", "https://api.example.com", "", False),
    Way("everything is", "https://api.example.com", "*", True),
    Way("the host itself", "https://api.example.com", "other, api.example.com", True),
    Way("its domain", "https://api.example.com", "example.com", True),
    Way("its domain, with a dot", "https://api.example.com", ".example.com", True),
    Way("a domain that only ends alike", "https://api.badexample.com", "example.com", False),
    Way("its port", "https://api.example.com:6443", "api.example.com:6443", True),
    Way("its port, unsaid", "https://api.example.com", "api.example.com:443", True),
    Way("another port", "https://api.example.com:6443", "api.example.com:443", False),
    Way("case does not matter", "https://API.example.com", "Api.Example.Com", True),
    Way("its address", "https://10.1.2.3:6443", "10.1.2.3", True),
    Way("its network", "https://10.1.2.3:6443", "10.0.0.0/8", True),
    Way("another network", "https://11.1.2.3:6443", "10.0.0.0/8, nonsense/8", False),
    Way("an address of six", "https://[fd00::1]:6443", "fd00::/8", True),
    Way("this machine by name", "https://localhost:6443", "", True),
    Way("this machine by address", "https://127.0.0.1:6443", "", True),
]


@each_row("case", WAYS, ids=lambda case: case.why)
def test_a_proxy_of_the_environment_is_for_what_it_does_not_except(case: Way) -> None:
    environment = {"HTTPS_PROXY": "http://proxy.example.com:3128", "NO_PROXY": case.no_proxy}
    context = Context(name="it", cluster={"server": case.server}, user={})
    assert api_endpoint_of_context(context, environment).proxy == (
        "" if case.is_straight else "http://proxy.example.com:3128"
    )


def test_a_proxy_of_the_environment_may_leave_its_scheme_out() -> None:
    context = Context(name="it", cluster=SERVER, user={})
    assert (
        api_endpoint_of_context(context, {"https_proxy": "proxy.example.com:3128"}).proxy
        == "http://proxy.example.com:3128"
    )


def test_a_proxy_of_its_own_counts_whatever_the_environment_excepts() -> None:
    context = Context(name="it", cluster={**SERVER, "proxy-url": "http://own.example.com"}, user={})
    assert api_endpoint_of_context(context, {"NO_PROXY": "*"}).proxy == "http://own.example.com"


def test_what_is_secret_of_an_endpoint_or_a_credential_never_shows() -> None:
    endpoint = Endpoint(server="https://api.example.com", proxy="http://user:canary@proxy", authority="canary")
    assert "canary" not in repr(endpoint)
    assert "canary" not in repr(Credential(token="canary", password="canary", certificate="canary", key="canary"))


class Faulty(NamedTuple):
    """A context of which something cannot be read, and what is said of it."""

    why: str
    cluster: dict[str, Any]
    user: dict[str, Any]
    words: str


GARBAGE = base64.b64encode(b"canary").decode()
FAULTY = [
    Faulty("a file that is missing", SERVER, {"client-certificate": "missing"}, "names a file that is not there"),
    Faulty("a folder for a file", SERVER, {"client-certificate": "."}, "names a file that cannot be read"),
    Faulty(
        "an authority that is no certificate",
        {**SERVER, "certificate-authority-data": GARBAGE},
        {},
        "has a certificate or a key that cannot be read",
    ),
    Faulty(
        "a certificate and a key that are none",
        SERVER,
        {"client-certificate-data": GARBAGE, "client-key-data": GARBAGE},
        "has a certificate or a key that cannot be read",
    ),
    Faulty(
        "a key that is not in base64",
        SERVER,
        {"client-certificate-data": GARBAGE, "client-key-data": "c"},
        "has an address, a certificate or a key that cannot be read",
    ),
    Faulty(
        "a port that is none",
        {"server": "https://api.example.com:port"},
        {},
        "has an address, a certificate or a key that cannot be read",
    ),
]


@pytest.mark.parametrize("case", FAULTY, ids=lambda case: case.why)
def test_what_cannot_be_read_of_a_context_is_told_in_words(case: Faulty, tmp_path: Path) -> None:
    context = Context(name="it", cluster=case.cluster, user=case.user, user_folder=tmp_path)
    failure = open_connection(context, AuthPlugins(environment={}))
    assert isinstance(failure, Failure)
    assert str(failure) == (
        f"the context 'it' {case.words}\n  hint: see whether kubectl reaches the cluster with this context"
    )
