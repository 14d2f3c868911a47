"""Exec plugins: programs of others that answer with a credential.

A plugin runs with a time limit, without a terminal, in a process group of its own that ends with it. Its output is
never repeated, for it prints credentials.
"""

import json
import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from msgspec import Struct, field

from render.json_values import value_of_json_text
from render.values import DiscreetStruct

from .exchange import Failure
from .identity import FOREVER, Credential
from .kubeconfig import Context, failure_of_unusable_context

_BY_HAND = "run it by hand to see what it says"


def credential_of_exec_plugin(context: Context, environment: Mapping[str, str], seconds: float) -> Credential | Failure:
    """Return the credential that the exec plugin of a context's user answers with."""
    plugin = context.user["exec"]
    version = str(plugin.get("apiVersion") or "client.authentication.k8s.io/v1")
    spec: dict[str, Any] = {"interactive": False}
    if plugin.get("provideClusterInfo"):
        spec["cluster"] = cluster_for_exec_plugin(context)
    request = {"apiVersion": version, "kind": "ExecCredential", "spec": spec}
    added = {str(item["name"]): str(item["value"]) for item in plugin.get("env") or ()}
    command = str(plugin.get("command") or "")
    # As for kubectl: a path is relative to the kubeconfig, a bare name is looked up in PATH.
    if "/" in command:
        command = str(context.user_folder / command)
    output = _output_of_command(
        [command, *map(str, plugin.get("args") or ())],
        {**environment, **added, "KUBERNETES_EXEC_INFO": json.dumps(request)},
        context,
        seconds,
    )
    return output if isinstance(output, Failure) else _parse_credential(output, command, version)


def cluster_for_exec_plugin(context: Context) -> dict[str, Any]:
    """Return the cluster as ``provideClusterInfo`` hands it to a plugin."""
    keys = ("server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority-data", "proxy-url")
    described = {key: context.cluster[key] for key in keys if key in context.cluster}
    for extension in context.cluster.get("extensions") or ():
        if extension.get("name") == "client.authentication.k8s.io/exec":
            described["config"] = extension.get("extension")
    return described


def _output_of_command(
    command: list[str], environment: dict[str, str], context: Context, seconds: float
) -> bytes | Failure:
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
        return failure_of_unusable_context(
            f"the exec plugin {command[0]!r} of context {context.name!r} cannot be run ({error.strerror})",
            "install it, or use another context",
        )
    with process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            return failure_of_unusable_context(
                f"the exec plugin {command[0]!r} gave no answer in {seconds:g} s", _BY_HAND
            )
    if process.returncode:
        return failure_of_unusable_context(
            f"the exec plugin {command[0]!r} ended with exit code {process.returncode}", _BY_HAND
        )
    return output


class _Status(DiscreetStruct, frozen=True, kw_only=True):
    UNSHOWN = ("token", "key")

    token: str | None = None
    certificate: str | None = field(name="clientCertificateData", default=None)
    key: str | None = field(name="clientKeyData", default=None)
    expires: str | None = field(name="expirationTimestamp", default=None)


class _ExecCredential(Struct, frozen=True, kw_only=True):
    api_version: str | None = field(name="apiVersion", default=None)
    status: _Status


def _expiry_time(text: str | None) -> float | None:
    """Return the time at which a credential expires, which may be never; None where the text is no time."""
    with suppress(ValueError):
        return datetime.fromisoformat(text).timestamp() if text else FOREVER
    return None


def _parse_credential(output: bytes, command: str, version: str) -> Credential | Failure:
    """Return the credential of an ExecCredential document."""
    answer = value_of_json_text(output, _ExecCredential)
    expires = None if answer is None else _expiry_time(answer.status.expires)
    if answer is None or expires is None:
        return failure_of_unusable_context(f"the exec plugin {command!r} answered with no ExecCredential", _BY_HAND)
    status = answer.status
    credential = Credential(
        token=status.token or "", certificate=status.certificate or "", key=status.key or "", expires=expires
    )
    if answer.api_version != version:
        return failure_of_unusable_context(
            f"the exec plugin {command!r} does not speak {version}", "correct exec.apiVersion of the user"
        )
    if not credential.token and not (credential.certificate and credential.key):
        return failure_of_unusable_context(
            f"the exec plugin {command!r} answered without a token or a client certificate", _BY_HAND
        )
    return credential
