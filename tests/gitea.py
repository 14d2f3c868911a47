"""A real Gitea on loopback: its server over HTTPS, one account, and its API as the tests ask it."""

import json
import os
import socket
import ssl
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .build import Repository
from .clusters import reserved_ports
from .hooks import Authority
from .waiting import SECONDS, eventually, running

PERSON = "fleet"
PROJECT = f"{PERSON}/{PERSON}"


@dataclass(frozen=True)
class Gitea:
    """A running server; ``bundle`` is the authority of its certificate."""

    port: int
    bundle: Path
    token: str

    @property
    def api(self) -> str:
        return f"https://127.0.0.1:{self.port}/api/v1"

    @property
    def address(self) -> str:
        """The address of the project's repository, with the account that may push there."""
        return f"https://{PERSON}:{self.token}@127.0.0.1:{self.port}/{PROJECT}.git"

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which git, and the requests of Argosy, trust the server."""
        return {"GIT_SSL_CAINFO": str(self.bundle), "SSL_CERT_FILE": str(self.bundle)}

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Ask the API, and return its answer."""
        request = urllib.request.Request(
            f"{self.api}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {self.token}", "Content-Type": "application/json"},
        )
        trusted = ssl.create_default_context(cafile=str(self.bundle))
        with urllib.request.urlopen(request, timeout=SECONDS, context=trusted) as answer:
            return json.loads(answer.read() or b"null")

    def hook(self, url: str, secret: str) -> None:
        """Have every push told to an address."""
        config = {"url": url, "content_type": "json", "secret": secret}
        hook = {"type": "gitea", "active": True, "events": ["push"], "config": config}
        self.ask("POST", f"/repos/{PROJECT}/hooks", hook)

    def clone(self, folder: Path) -> Repository:
        """A clone of the project's repository, which may push there."""
        work = Repository.create(folder)
        work.git("remote", "add", "origin", self.address)
        work.git("config", "http.sslCAInfo", str(self.bundle))
        return work


@contextmanager
def serving_gitea(program: Path, folder: Path, authority: Authority) -> Iterator[Gitea]:
    """Run a server with an account and an empty project of its own."""
    folder.mkdir()
    with reserved_ports(1) as (port,):
        settings, bundle = folder / "app.ini", folder / "ca.crt"
        settings.write_text(_settings(program, folder, authority, port))
        bundle.write_bytes((authority.certificate.parent / "ca.crt").read_bytes())
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "GITEA_"))}
        environment = {**clean, "HOME": str(folder)}
        with (folder / "log").open("w") as log:
            command = [str(program), "--config", str(settings)]
            with running([*command, "web"], seconds=600, env=environment, stdout=log, stderr=log) as process:
                eventually(lambda: _answers(port), f"Gitea; its log is {folder}/log")
                user = ["--username", PERSON, "--password", "a-password-of-loopback-1", "--email", "fleet@example.com"]
                _said(
                    [*command, "admin", "user", "create", "--admin", "--must-change-password=false", *user], environment
                )
                made = ["admin", "user", "generate-access-token", "--username", PERSON, "--scopes", "all", "--raw"]
                gitea = Gitea(port, bundle, _said([*command, *made], environment).splitlines()[-1].strip())
                gitea.ask("POST", "/user/repos", {"name": PERSON, "default_branch": "main", "private": True})
                yield gitea
                process.terminate()


def _settings(program: Path, folder: Path, authority: Authority, port: int) -> str:
    return f"""\
RUN_USER = {os.environ.get("USER") or _user()}
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
WORK_PATH = {folder}
[server]
PROTOCOL = https
HTTP_ADDR = 127.0.0.1
HTTP_PORT = {port}
ROOT_URL = https://127.0.0.1:{port}/
CERT_FILE = {authority.certificate}
KEY_FILE = {authority.key}
STATIC_ROOT_PATH = {program.parent}
DISABLE_SSH = true
OFFLINE_MODE = true
[database]
DB_TYPE = sqlite3
PATH = {folder}/gitea.db
[security]
INSTALL_LOCK = true
[webhook]
ALLOWED_HOST_LIST = loopback
[cron.update_checker]
ENABLED = false
[log]
MODE = console
LEVEL = Warn
"""


def _user() -> str:
    return subprocess.run(["id", "-un"], capture_output=True, text=True, check=True, timeout=SECONDS).stdout.strip()


def _said(command: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=SECONDS)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    return done.stdout


def _answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5):
        return True
    return False
