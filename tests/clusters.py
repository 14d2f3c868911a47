"""Real member clusters for tests: an etcd and a kube-apiserver each, on loopback; controllers and nodes on request.

A member's servers end with the test run, however it ends (see ``tests.kubernetes.supervisor``). The client here is
deliberately not the one under test: it is ``http.client`` with the administrator's token.
"""

import base64
import http.client
import json
import os
import secrets
import select
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

from .kubernetes.programs import obtain
from .waiting import SECONDS

JSON = "application/json"
START_SECONDS = 60
KUBECTL_SECONDS = 180
ATTEMPTS = 3
STAGES = Path(__file__).parent / "kubernetes" / "stages.yaml"


class Server:
    """An API server on loopback that a test asks as its administrator; ``folder`` has its CA."""

    def __init__(self, name: str, *, folder: Path, kubeconfig: Path, token: str, port: int = 0) -> None:
        self.name = name
        self.folder = folder
        self.kubeconfig = kubeconfig
        self.token = token
        self.port = port
        self._kinds: dict[str, dict[str, Any]] = {}

    @property
    def host(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    @property
    def ca_file(self) -> Path:
        return self.folder / "ca.crt"

    def request(
        self, method: str, path: str, body: Any = None, *, content_type: str = JSON, token: str = ""
    ) -> tuple[int, Any]:
        """Send one request as the administrator and return the status and the decoded answer."""
        context = ssl.create_default_context(cafile=str(self.ca_file))
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=30, context=context)
        headers = {"Authorization": f"Bearer {token or self.token}", "Content-Type": content_type, "Accept": JSON}
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        return answer.status, json.loads(text) if text.startswith(b"{") else text.decode()

    def dry_run(self, manifest: Any) -> tuple[int, Any]:
        """Ask the server to check an object strictly, without storing it."""
        return self.request("POST", f"{self.path_of(manifest)}?dryRun=All&fieldValidation=Strict", manifest)

    def dry_apply(self, manifest: Any) -> tuple[int, Any]:
        """Ask the server for a strict server-side apply of an object, without storing it."""
        query = "fieldManager=test&force=true&dryRun=All&fieldValidation=Strict"
        path = f"{self.path_of(manifest)}/{manifest['metadata']['name']}?{query}"
        return self.request("PATCH", path, manifest, content_type="application/apply-patch+yaml")

    def path_of(self, manifest: Any) -> str:
        """Return the path under which the objects of a manifest's kind and namespace are."""
        version, group = manifest["apiVersion"], "apis" if "/" in manifest["apiVersion"] else "api"
        kinds = self._kinds.setdefault(version, {})
        if manifest["kind"] not in kinds:
            listed = self.request("GET", f"/{group}/{version}")[1]["resources"]
            kinds |= {each["kind"]: each for each in listed if "/" not in each["name"]}
        kind = kinds[manifest["kind"]]
        place = f"/namespaces/{manifest['metadata']['namespace']}" if kind["namespaced"] else ""
        return f"/{group}/{version}{place}/{kind['name']}"

    def read(self, path: str) -> Any:
        """Return an object, or None when there is none."""
        status, answer = self.request("GET", path)
        if status == http.HTTPStatus.NOT_FOUND:
            return None
        assert status == http.HTTPStatus.OK, answer
        return answer

    def kubectl(self, *arguments: str, stdin: str = "") -> str:
        """Run the real kubectl as the administrator and return what it printed."""
        beside = Path(sys.executable).with_name("kubectl")
        run = subprocess.run(
            [str(beside) if beside.exists() else "kubectl", "--kubeconfig", str(self.kubeconfig), *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=KUBECTL_SECONDS,
        )
        assert run.returncode == 0, f"kubectl {' '.join(arguments)}: {run.stderr}"
        return run.stdout


class Member(Server):
    """A control plane of its own; ``with Member("member1") as member`` starts it and ends it.

    ``beside`` is a member whose etcd it uses, under a prefix of its own, as long as that one runs.
    """

    def __init__(self, name: str, *, nodes: int = 0, controllers: bool = False, beside: "Member | None" = None) -> None:
        folder = Path(tempfile.mkdtemp(prefix=f"argosy-{name}-"))
        super().__init__(name, folder=folder, kubeconfig=folder / "kubeconfig", token=secrets.token_hex(16))
        self.beside = beside
        self.nodes = nodes
        self.controllers = controllers or nodes > 0
        self.pids: dict[str, int] = {}
        self._reserved = ExitStack()
        self._supervisor = subprocess.Popen(
            [sys.executable, "-m", "tests.kubernetes.supervisor", str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parent.parent,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def etcd_port(self) -> int:
        return self._etcd_port

    def close(self) -> None:
        """End the servers and remove the folder."""
        if self._supervisor.stdin and not self._supervisor.stdin.closed:
            self._supervisor.stdin.close()
        if self._supervisor.stdout:
            self._supervisor.stdout.close()
        self._supervisor.wait(timeout=SECONDS)
        self._reserved.close()

    def stop_server(self) -> None:
        """Kill the API server; what it stored stays, and nobody else gets its port meanwhile."""
        self._ask({"stop": "kube-apiserver"})

    def start_server(self) -> None:
        """Start the API server again on the port it had."""
        self._launch("kube-apiserver", self._server_command())
        self._wait_ready()

    @contextmanager
    def stopped_program(self, name: str) -> Iterator[None]:
        """Let one of its programs do nothing for a while, and go on afterwards where it was."""
        os.kill(self.pids[name], signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.pids[name], signal.SIGCONT)

    def _start(self) -> None:
        self._programs = obtain(
            ["etcd", "kube-apiserver"]
            + (["kube-controller-manager"] if self.controllers else [])
            + (["kube-scheduler", "kwok"] if self.nodes else [])
        )
        self._make_keys()
        for attempt in range(ATTEMPTS):
            try:
                self._start_servers()
                break
            except TimeoutError:
                # Another process took a port between our asking for a free one and the server's using it.
                if attempt == ATTEMPTS - 1:
                    raise
                for name in tuple(self.pids):
                    self._ask({"stop": self._forget(name)})
                self._reserved.close()
        self._start_rest()

    def _forget(self, name: str) -> str:
        del self.pids[name]
        return name

    def _start_servers(self) -> None:
        if self.beside is None:
            self._start_etcd()
        else:
            self._etcd_port = self.beside.etcd_port
        (self.port,) = self._reserved.enter_context(reserved_ports(1))
        self._write_kubeconfig()
        self._launch("kube-apiserver", self._server_command())
        self._wait_ready()

    def _start_etcd(self) -> None:
        self._etcd_port, peer_port = self._reserved.enter_context(reserved_ports(2))
        etcd, peer = f"http://127.0.0.1:{self._etcd_port}", f"http://127.0.0.1:{peer_port}"
        data = self.folder / f"etcd-{self._etcd_port}"
        flags = ["--unsafe-no-fsync", "--log-level=error", f"--data-dir={data}", f"--initial-cluster=default={peer}"]
        urls = [f"--listen-client-urls={etcd}", f"--advertise-client-urls={etcd}"]
        peers = [f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}"]
        self._launch("etcd", [str(self._programs["etcd"]), *flags, *urls, *peers])

    def _server_command(self) -> list[str]:
        key, signing = self.folder / "server.key", self.folder / "accounts.key"
        return [
            str(self._programs["kube-apiserver"]),
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            "--endpoint-reconciler-type=none",
            f"--secure-port={self.port}",
            f"--etcd-servers=http://127.0.0.1:{self._etcd_port}",
            f"--etcd-prefix=/{self.name}",
            f"--tls-cert-file={self.folder / 'server.crt'}",
            f"--tls-private-key-file={key}",
            f"--client-ca-file={self.ca_file}",
            f"--token-auth-file={self.folder / 'tokens.csv'}",
            "--authorization-mode=RBAC",
            "--disable-admission-plugins=ServiceAccount",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={signing}",
            f"--service-account-signing-key-file={signing}",
            "--service-cluster-ip-range=10.0.0.0/16",
            "--allow-privileged",
            "--profiling=false",
        ]

    def _start_rest(self) -> None:
        access = f"--kubeconfig={self.kubeconfig}"
        single = [access, "--leader-elect=false", "--secure-port=0"]
        if self.controllers:
            key = f"--service-account-private-key-file={self.folder / 'accounts.key'}"
            program = str(self._programs["kube-controller-manager"])
            self._launch("kube-controller-manager", [program, *single, key, "--use-service-account-credentials=false"])
        if self.nodes:
            self._launch("kube-scheduler", [str(self._programs["kube-scheduler"]), *single])
            kwok = [str(self._programs["kwok"]), access, "--manage-all-nodes=true", f"--config={STAGES}"]
            self._launch("kwok", [*kwok, "--node-lease-duration-seconds=0", "--server-address="])
        for number in range(self.nodes):
            node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{number}"}}
            assert self.request("POST", "/api/v1/nodes", node)[0] == http.HTTPStatus.CREATED

    def _make_keys(self) -> None:
        """Make a certificate authority, the server's certificate, an administrator's and the signing key."""
        folder = self.folder
        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3650"]
        _openssl("req", "-x509", *curve, "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=tests", folder=folder)
        signed = ["-x509", "-CA", "ca.crt", "-CAkey", "ca.key", *curve]
        names = ["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
        server = ["-keyout", "server.key", "-out", "server.crt", "-subj", "/CN=server"]
        _openssl("req", *signed, *names, *server, folder=folder)
        admin = ["-keyout", "admin.key", "-out", "admin.crt", "-subj", "/O=system:masters/CN=certificate-admin"]
        _openssl("req", *signed, "-addext", "extendedKeyUsage=clientAuth", *admin, folder=folder)
        _openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "accounts.key", folder=folder)
        (folder / "tokens.csv").write_text(
            f'{self.token},admin,admin,"system:masters"\n{self.token}-nobody,nobody,nobody,""\n'
        )

    def _write_kubeconfig(self) -> None:
        """Write a kubeconfig whose one context is named like the member."""
        authority = base64.b64encode(self.ca_file.read_bytes()).decode()
        cluster = {"server": self.host, "certificate-authority-data": authority}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": self.name, "cluster": cluster}],
            "users": [{"name": self.name, "user": {"token": self.token}}],
            "contexts": [{"name": self.name, "context": {"cluster": self.name, "user": self.name}}],
            "current-context": self.name,
        }
        self.kubeconfig.write_text(json.dumps(config))
        self.kubeconfig.chmod(0o600)

    def _launch(self, name: str, command: list[str]) -> None:
        self.pids[name] = self._ask({"start": name, "command": command})["pid"]

    def _ask(self, request: dict[str, Any]) -> Any:
        assert self._supervisor.stdin
        assert self._supervisor.stdout
        self._supervisor.stdin.write(json.dumps(request) + "\n")
        self._supervisor.stdin.flush()
        answered = select.select([self._supervisor.stdout], [], [], SECONDS)[0]
        assert answered, f"not within {SECONDS:g} s: the supervisor's answer to {request}"
        return json.loads(self._supervisor.stdout.readline())

    def _wait_ready(self) -> None:
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            try:
                ready = self.request("GET", "/readyz")[0] == http.HTTPStatus.OK
            except OSError:
                ready = False
            if ready and self.read("/api/v1/namespaces/kube-system") and self.read("/api/v1/namespaces/default"):
                return
            os.kill(self.pids["kube-apiserver"], 0)
            time.sleep(0.05)
        log = (self.folder / "kube-apiserver.log").read_text(errors="replace")
        raise TimeoutError(f"{self.name} did not start:\n{log[-2000:]}")


@contextmanager
def started(names: tuple[str, ...], *, nodes: int = 0, controllers: bool = False) -> Iterator[tuple[Member, ...]]:
    """Run several members."""
    members: list[Member] = []
    try:
        for name in names:
            members.append(Member(name, nodes=nodes, controllers=controllers))
            members[-1].__enter__()
        yield tuple(members)
    finally:
        for member in members:
            member.close()


@contextmanager
def members_of_a_fleet(names: Iterable[str]) -> Iterator[tuple[list[Member], Path]]:
    """Start members that share one etcd; yield them, and a folder that has ``kubeconfigs`` with one of each."""
    with ExitStack() as stack:
        members: list[Member] = []
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "kubeconfigs").mkdir()
        for name in names:
            members.append(stack.enter_context(Member(name, beside=members[0] if members else None)))
            (folder / "kubeconfigs" / f"{name}.yaml").write_text(members[-1].kubeconfig.read_text())
        yield members, folder


def remove_namespaces(members: Iterable[Member], *names: str) -> None:
    """Delete namespaces in several members at once, and wait until they are gone."""
    words = ("delete", "namespace", *names, "--ignore-not-found", "--wait=true")
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda member: member.kubectl(*words), members))


@contextmanager
def reserved_ports(count: int) -> Iterator[list[int]]:
    """Yield ports that no other process is given, so that only servers which are told of them listen there.

    A socket that is bound and does not listen keeps each: Linux gives it to nobody who asks for any port, neither for a
    server nor for a connection, and lets servers use it that name it and set SO_REUSEADDR, as all of Go do. While none
    does, connections to it are refused.
    """
    with ExitStack() as stack:
        holders = [stack.enter_context(socket.socket()) for _ in range(count)]
        for holder in holders:
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            holder.bind(("127.0.0.1", 0))
        yield [holder.getsockname()[1] for holder in holders]


def _openssl(*arguments: str, folder: Path) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True, timeout=SECONDS)
