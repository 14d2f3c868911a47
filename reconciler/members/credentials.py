"""Credentials of a kubeconfig user: a token, a file, a password, a certificate, or the answer of a plugin.

Plugins - programs that answer with credentials, and the providers of identity ``kubernetes.config`` knows - are asked
one at a time, with a time limit, and their answers are kept until shortly before they expire.
"""

import json
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from .endpoint import is_tls_address, pem_of_kubeconfig_entry
from .exchange import Failure
from .exec_plugins import cluster_for_exec_plugin, credential_of_exec_plugin
from .identity import Credential
from .kubeconfig import Context, failure_of_faulty_context, failure_of_unusable_context

PLUGIN_SECONDS = 20.0
_EARLY_SECONDS = 60.0
_TOKEN_FILE_SECONDS = 60.0


class CredentialSource:
    """The credential of one context, renewed when it is about to expire or when it was refused."""

    def __init__(self, context: Context, plugins: "AuthPlugins", *, clock: Callable[[], float] = time.time) -> None:
        self._context = context
        self._plugins = plugins
        self._clock = clock
        self._kept: Credential | None = None
        self._lock = threading.Lock()

    def current(self, *, renew: bool = False) -> Credential | Failure:
        """Return the credential; ``renew`` asks for another one than the last, which was refused."""
        with self._lock:
            if renew or self._kept is None or self._kept.expires - _EARLY_SECONDS <= self._clock():
                fresh = self._new_credential(renew=renew)
                if isinstance(fresh, Failure):
                    return fresh
                self._kept = fresh
            return self._kept

    def _new_credential(self, *, renew: bool) -> Credential | Failure:
        proof = self._credential_beside_certificate(renew=renew)
        if (
            isinstance(proof, Failure)
            or proof.certificate
            or not is_tls_address(str(self._context.cluster.get("server")))
        ):
            return proof
        user, folder = self._context.user, self._context.user_folder
        try:
            pair = [pem_of_kubeconfig_entry(user, name, folder) for name in ("client-certificate", "client-key")]
        except (OSError, ValueError) as error:
            return failure_of_faulty_context(self._context.name, error)
        return replace(proof, certificate=pair[0], key=pair[1])

    def _credential_beside_certificate(self, *, renew: bool) -> Credential | Failure:
        """Return the user's proof beside a certificate, looked for in the order of ``kubernetes.config``."""
        user = self._context.user
        if user.get("auth-provider"):
            return self._plugins.credential(self._context, renew=renew)
        if user.get("token"):
            return Credential(token=str(user["token"]))
        if user.get("tokenFile"):
            return self._credential_in_token_file(self._context.user_folder / str(user["tokenFile"]))
        if user.get("exec"):
            return self._plugins.credential(self._context, renew=renew)
        if "username" in user and "password" in user:
            return Credential(password=f"{user['username']}:{user['password']}")
        return Credential()

    def _credential_in_token_file(self, path: Path) -> Credential | Failure:
        try:
            token = path.read_text(encoding="utf-8").strip()
        except (OSError, ValueError):
            return failure_of_unusable_context(
                f"the token file {path} cannot be read", "see whether it exists and is readable"
            )
        # A token file is renewed from outside (a service account's about hourly), and nothing in it says when.
        return Credential(token=token, expires=self._clock() + _TOKEN_FILE_SECONDS + _EARLY_SECONDS)


class AuthPlugins:
    """The exec plugins and auth providers of a fleet's contexts, asked one at a time, and their answers."""

    def __init__(
        self,
        *,
        environment: Mapping[str, str],
        seconds: float = PLUGIN_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.environment = environment
        self._seconds = seconds
        self._clock = clock
        self._kept: dict[str, Credential] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def credential(self, context: Context, *, renew: bool = False) -> Credential | Failure:
        """Return the answer of the plugin of a context's user, from memory while that is still good."""
        plugin: Mapping[str, Any] = context.user.get("auth-provider") or context.user["exec"]
        if plugin.get("interactiveMode") == "Always":
            message = f"the exec plugin of context {context.name!r} needs a terminal"
            return failure_of_unusable_context(message, "use one that works without")
        cluster = cluster_for_exec_plugin(context) if plugin.get("provideClusterInfo") else None
        key = json.dumps([plugin, cluster, str(context.user_folder)], sort_keys=True, default=str)
        # Many contexts share one program, and some (cloud tools) break when they refresh one token file twice at once.
        with self._lock_of_context(str(plugin.get("command") or key)):
            kept = self._kept.get(key)
            if kept and not renew and kept.expires - _EARLY_SECONDS > self._clock():
                return kept
            answer = self._provider_credential(context)
            if isinstance(answer, Credential):
                self._kept[key] = answer
            return answer

    def _lock_of_context(self, name: str) -> threading.Lock:
        with self._lock:
            return self._locks.setdefault(name, threading.Lock())

    def _provider_credential(self, context: Context) -> Credential | Failure:
        if not context.user.get("auth-provider"):
            return credential_of_exec_plugin(context, self.environment, self._seconds)
        from .auth_providers import provider_credential

        return provider_credential(context, self._seconds)
