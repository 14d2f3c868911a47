"""Who a kubeconfig user is: a token, a token file that is read again, or what an exec plugin answers.

Plugins are other people's programs: each runs with a time limit, without a terminal, in a process group of its own that
ends with it, one at a time per plugin, and its answer is kept until shortly before it expires. What a plugin prints is
never repeated, for it prints credentials.
"""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from .exchange import Failure, FailureKind
from .kubeconfig import Context

EXEC_SECONDS = 20.0
_EARLY_SECONDS = 60.0
_TOKEN_FILE_SECONDS = 60.0
_FOREVER = float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """What a user proves itself with: a bearer token, a client certificate with its key (PEM), or neither."""

    token: str = field(default="", repr=False)
    certificate: str = field(default="", repr=False)
    key: str = field(default="", repr=False)
    expires: float = _FOREVER


class CredentialSource:
    """The credential of one context, renewed when it is about to expire or when it was refused."""

    def __init__(self, context: Context, plugins: "ExecPlugins", *, clock: Callable[[], float] = time.time) -> None:
        self._context = context
        self._plugins = plugins
        self._clock = clock
        self._kept: Credential | None = None
        self._lock = threading.Lock()

    def current(self, *, renew: bool = False) -> Credential | Failure:
        """Return the credential; ``renew`` asks for another one than the last, which was refused."""
        with self._lock:
            if renew or self._kept is None or self._kept.expires - _EARLY_SECONDS <= self._clock():
                fresh = self._fresh(renew=renew)
                if isinstance(fresh, Failure):
                    return fresh
                self._kept = fresh
            return self._kept

    def _fresh(self, *, renew: bool) -> Credential | Failure:
        user = self._context.user
        if user.get("token"):
            return Credential(token=str(user["token"]))
        if user.get("tokenFile"):
            return self._from_file(self._context.user_folder / str(user["tokenFile"]))
        if user.get("exec"):
            return self._plugins.credential(self._context, renew=renew)
        return Credential()

    def _from_file(self, path: Path) -> Credential | Failure:
        try:
            token = path.read_text(encoding="utf-8").strip()
        except OSError:
            return _failed(f"the token file {path} cannot be read", "see whether it exists and is readable")
        return Credential(token=token, expires=self._clock() + _TOKEN_FILE_SECONDS + _EARLY_SECONDS)


class ExecPlugins:
    """Runs the exec plugins of a fleet's contexts and keeps what they answered."""

    def __init__(
        self,
        *,
        environment: Mapping[str, str],
        seconds: float = EXEC_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._environment = environment
        self._seconds = seconds
        self._clock = clock
        self._kept: dict[str, Credential] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def credential(self, context: Context, *, renew: bool = False) -> Credential | Failure:
        """Return what the context's plugin answers, from memory while that is still good."""
        plugin = context.user["exec"]
        if plugin.get("interactiveMode") == "Always":
            return _failed(
                f"the exec plugin of context {context.name!r} needs a terminal", "use one that works without"
            )
        cluster = _cluster_for_plugin(context) if plugin.get("provideClusterInfo") else None
        key = json.dumps([plugin, cluster, str(context.user_folder)], sort_keys=True, default=str)
        with self._lock_of(str(plugin.get("command"))):
            kept = self._kept.get(key)
            if kept and not renew and kept.expires - _EARLY_SECONDS > self._clock():
                return kept
            answer = self._run(plugin, cluster, context)
            if isinstance(answer, Credential):
                self._kept[key] = answer
            return answer

    def _lock_of(self, command: str) -> threading.Lock:
        with self._lock:
            return self._locks.setdefault(command, threading.Lock())

    def _run(self, plugin: Mapping[str, Any], cluster: Any, context: Context) -> Credential | Failure:
        version = str(plugin.get("apiVersion") or "client.authentication.k8s.io/v1")
        request = {"apiVersion": version, "kind": "ExecCredential", "spec": {"interactive": False}}
        if cluster is not None:
            request["spec"] = {"interactive": False, "cluster": cluster}
        added = {str(item["name"]): str(item["value"]) for item in plugin.get("env") or ()}
        environment = {**self._environment, **added, "KUBERNETES_EXEC_INFO": json.dumps(request)}
        command = str(plugin.get("command") or "")
        if "/" in command:
            command = str(context.user_folder / command)
        output = self._output([command, *map(str, plugin.get("args") or ())], environment, context)
        return output if isinstance(output, Failure) else _parsed(output, command, version)

    def _output(self, command: list[str], environment: dict[str, str], context: Context) -> bytes | Failure:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            return _failed(
                f"the exec plugin {command[0]!r} of context {context.name!r} cannot be run ({error.strerror})",
                "install it, or use another context",
            )
        with process:
            try:
                output, _ = process.communicate(timeout=self._seconds)
            except subprocess.TimeoutExpired:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                return _failed(f"the exec plugin {command[0]!r} gave no answer in {self._seconds:g} s", _BY_HAND)
        if process.returncode:
            return _failed(f"the exec plugin {command[0]!r} ended with exit code {process.returncode}", _BY_HAND)
        return output


_BY_HAND = "run it by hand to see what it says"


def _parsed(output: bytes, command: str, version: str) -> Credential | Failure:
    """Return the credential of an ExecCredential document."""
    try:
        answer = json.loads(output)
        status = answer["status"]
        expires = status.get("expirationTimestamp")
        credential = Credential(
            token=str(status.get("token") or ""),
            certificate=str(status.get("clientCertificateData") or ""),
            key=str(status.get("clientKeyData") or ""),
            expires=datetime.fromisoformat(expires).timestamp() if expires else _FOREVER,
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return _failed(f"the exec plugin {command!r} answered with no ExecCredential", _BY_HAND)
    if answer.get("apiVersion") != version:
        return _failed(f"the exec plugin {command!r} does not speak {version}", "correct exec.apiVersion of the user")
    if not credential.token and not (credential.certificate and credential.key):
        return _failed(f"the exec plugin {command!r} answered without a token or a client certificate", _BY_HAND)
    return credential


def _cluster_for_plugin(context: Context) -> dict[str, Any]:
    """Return the cluster as ``provideClusterInfo`` hands it to a plugin."""
    keys = ("server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority-data", "proxy-url")
    described = {key: context.cluster[key] for key in keys if key in context.cluster}
    for extension in context.cluster.get("extensions") or ():
        if extension.get("name") == "client.authentication.k8s.io/exec":
            described["config"] = extension.get("extension")
    return described


def _failed(message: str, hint: str) -> Failure:
    return Failure(kind=FailureKind.CREDENTIALS, message=message, hint=hint)
