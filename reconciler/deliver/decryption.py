"""Objects that SOPS encrypted, decrypted in memory right before they are planned and applied, and nowhere else.

The real ``sops`` decrypts: what it reads comes by a pipe, and so does what it writes. Nothing of it is in a file, in an
argument or in a message. It runs with an environment of its own, so that an object cannot choose which of somebody's
credentials it is decrypted with: age keys and the keyring of PGP are all it gets, and no network where the system can
close it. A document that names other keys is not given to it, unless argosy.yaml names the service that has them.
"""

import base64
import hashlib
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reconciler.building.confinement import NOT_RUN, Confinement, confined_command
from reconciler.building.sandbox import RunLimits, limit_resources_of_process
from reconciler.members.discovery import Resource
from reconciler.members.exchange import Client, Failure
from reconciler.members.listing import read_object
from reconciler.members.masking import ConcealedManifest
from reconciler.plans.model import ClusterDesired, DesiredObject
from render.json_values import value_of_json_text
from render.model import ObjectRef, ref_of_plain_value
from render.settings.decryption import SecretName

from .key_services import METADATA_OFF, SERVICES, key_services_named_in

Decrypt = Callable[[Client, ClusterDesired], ClusterDesired]
"""Return what a cluster must hold with its encrypted objects decrypted; those that cannot be say why."""


def desired_left_encrypted(_client: Client, desired: ClusterDesired) -> ClusterDesired:
    """Decrypt nothing."""
    return desired


KEY_FILE, KEY = "SOPS_AGE_KEY_FILE", "SOPS_AGE_KEY"
_ARGUMENTS = ("--decrypt", "--input-type", "yaml", "--output-type", "json", "--decryption-order")
_ORDER = ("age", "pgp", *SERVICES)
_SECONDS, _FAIR_SECONDS, _ALL_SECONDS = 15.0, 3.0, 60.0
"""The time for one document, what one that is decrypted may take, and what all together may take beyond that."""
_LIMITS = RunLimits(seconds=_SECONDS)
"""The memory of sops and of what it starts: whoever encrypts for a key may have packed any amount of it small."""
_KEY_SIGN = "AGE-SECRET-KEY-"
_SECRETS = Resource(group="", version="v1", kind="Secret", plural="secrets", is_namespaced=True)
_KEY_HINT = f"{KEY_FILE} names a file of age keys, and spec.decryption.secret a Secret in the member that has some"
_REFUSALS = (
    ("MAC mismatch", "it was changed after SOPS encrypted it", "encrypt it anew: sops edit FILE"),
    ("Failed to get the data key", "no key here decrypts it", _KEY_HINT),
    ("no key could decrypt", "no key here decrypts it", _KEY_HINT),
)


class _Refusal(Struct, frozen=True):
    """The reason why an object was not decrypted, and what to do about it."""

    message: str
    hint: str


@dataclass(slots=True)
class SopsDecryption:
    """Decryption with the keys of this machine, and with those of a Secret in each member.

    What was decrypted once is remembered as long as this is, by text and keys. ``services`` are the addresses of those
    that may be asked for keys. Several clusters are decrypted for at once, each document once.
    """

    secret: SecretName | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    services: frozenset[str] = frozenset()
    _known: dict[bytes, Future[ConcealedManifest | _Refusal]] = field(default_factory=dict, repr=False)
    _turn: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _wasted: float = 0.0

    def desired_decrypted(self, client: Client, desired: ClusterDesired) -> ClusterDesired:
        """Return what a cluster must hold, decrypted; a cluster without encrypted objects is asked nothing."""
        if not any(item.encrypted for item in desired.objects):
            return desired
        keys = self._age_keys_of_member(client)
        objects = tuple(self._decrypt_object(item, keys) if item.encrypted else item for item in desired.objects)
        return replace(desired, objects=objects)

    def _age_keys_of_member(self, client: Client) -> str | _Refusal:
        """Return the age keys in the member's Secret; why there are none, where it was to have some."""
        if self.secret is None:
            return ""
        ref = ObjectRef("", "Secret", self.secret.namespace, self.secret.name)
        found = read_object(client, _SECRETS, ref)
        if isinstance(found, Failure):
            return _Refusal(f"{ref}, which has the keys, cannot be read: {found.message}", found.hint)
        if found is None:
            return _Refusal(f"{ref}, which has the keys, is not there", "create it in the member")
        return "\n".join(_age_keys(found))

    def _decrypt_object(self, item: DesiredObject, keys: str | _Refusal) -> DesiredObject:
        if isinstance(keys, _Refusal):
            return replace(item, fault=keys.message, fault_hint=keys.hint)
        known_as = hashlib.sha256(keys.encode() + b"\0" + item.encrypted).digest()
        with self._turn:
            is_first = known_as not in self._known
            outcome = self._known.setdefault(known_as, Future())
        if is_first:
            try:
                outcome.set_result(self._decrypt_within_time(item, keys))
            except BaseException as error:
                outcome.set_exception(error)
                raise
        found = outcome.result()
        if isinstance(found, _Refusal):
            return replace(item, fault=found.message, fault_hint=found.hint)
        return replace(item, manifest=found, encrypted=b"")

    def _decrypt_within_time(self, item: DesiredObject, keys: str) -> ConcealedManifest | _Refusal:
        """Decrypt one object, in the time that is left for all."""
        if self._wasted >= _ALL_SECONDS:
            hint = "see to the others: which keys they name, and how long sops takes for them by hand"
            return _Refusal("no time is left to decrypt it: other objects took it", hint)
        begun = time.monotonic()
        found = self._decrypt_by_sops(item, keys)
        fair = 0.0 if isinstance(found, _Refusal) else _FAIR_SECONDS
        with self._turn:
            self._wasted += max(0.0, time.monotonic() - begun - fair)
        return found

    def _decrypt_by_sops(self, item: DesiredObject, keys: str) -> ConcealedManifest | _Refusal:
        """Decrypt one object; what sops says is only looked at, for it may quote what it read."""
        named = key_services_named_in(item.encrypted, self.services)
        if named.fault:
            return _Refusal(named.fault, named.hint)
        program = shutil.which("sops", path=self.environment.get("PATH"))
        if program is None:
            return _Refusal("SOPS encrypted it, and sops is not installed", "install sops 3.9 or newer: put it on PATH")
        command = [program, *_ARGUMENTS, ",".join(_ORDER), "/dev/stdin"]
        if not named.services:
            command = confined_command(command, (), Confinement(has_local_sockets=True))
        environment = {**self._environment_of_sops(keys), **self._credentials_for_services(named.services)}
        try:
            code, output, complaints = _run_command(command, item.encrypted, environment)
        except subprocess.TimeoutExpired:
            return _Refusal(f"sops did not end within {_SECONDS:g} s", "see which keys the object names")
        except OSError as error:
            return _Refusal(f"sops could not be run: {error.strerror}", "see to the program on PATH")
        return _refusal_by_sops(code, complaints) if code else _manifest_of_output(output, item.ref)

    def _credentials_for_services(self, services: frozenset[str]) -> dict[str, str]:
        """Return what sops gets to log in with at services that argosy.yaml names, and never by a cloud's identity."""
        names = [name for service in services for name in SERVICES[service].credentials]
        found = {name: self.environment[name] for name in names if name in self.environment}
        return {**found, **METADATA_OFF} if services else {}

    def _environment_of_sops(self, keys: str) -> dict[str, str]:
        """Return the environment of sops: keys alone, and no home in which it could find more."""
        home = Path(self.environment.get("HOME") or "/nonexistent")
        config = Path(self.environment.get("XDG_CONFIG_HOME") or home / ".config")
        usual, keyring = config / "sops/age/keys.txt", Path(self.environment.get("GNUPGHOME") or home / ".gnupg")
        clean = {"PATH": self.environment.get("PATH", ""), "HOME": "/nonexistent", "LC_ALL": "C"}
        if named := self.environment.get(KEY_FILE) or (str(usual) if usual.is_file() else ""):
            clean[KEY_FILE] = named
        if texts := [text for text in (self.environment.get(KEY, ""), keys) if text]:
            clean[KEY] = "\n".join(texts)
        return {**clean, "GNUPGHOME": str(keyring)} if keyring.is_dir() else clean


def _refusal_by_sops(code: int, complaints: str) -> _Refusal:
    """Return why sops failed, by its exit code and by signs among what it says."""
    if code == NOT_RUN:
        return _Refusal("sops could not be run", "see to the program on PATH")
    found = next((rest for sign, *rest in _REFUSALS if sign in complaints), None)
    message, hint = found or (f"sops ended with exit code {code}", "try it by hand: sops decrypt FILE")
    return _Refusal(message, hint)


def _run_command(command: list[str], data: bytes, environment: Mapping[str, str]) -> tuple[int, bytes, str]:
    """Run a command in a session of its own, and leave nothing of it behind."""
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        cwd="/",
        start_new_session=True,
    ) as process:
        try:
            limit_resources_of_process(process.pid, _LIMITS)
            output, errors = process.communicate(data, timeout=_SECONDS)
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
    return process.returncode, output, errors.decode("utf-8", "replace")


def _manifest_of_output(output: bytes, ref: ObjectRef) -> ConcealedManifest | _Refusal:
    """Return a decrypted object, of the same identity as what was encrypted."""
    hint = "encrypt it anew, with its kind and metadata readable: --encrypted-regex '^(data|stringData)$'"
    value = value_of_json_text(output, dict[str, Any])
    if value is None or ref_of_plain_value(value) != ref:
        return _Refusal("what SOPS decrypted is another object", hint)
    return ConcealedManifest(value)


def _age_keys(secret: Mapping[str, Any]) -> list[str]:
    """Return the age keys in a Secret, in order of its fields' names.

    Whatever else an identity of age may be, it starts a program of this machine, which no member is to choose.
    """
    found = []
    data = secret.get("data") or {}
    for name in sorted(data):
        with suppress(ValueError):
            lines = base64.b64decode(str(data[name]), validate=True).decode().splitlines()
            found += [line.strip() for line in lines if line.strip().startswith(_KEY_SIGN)]
    return found
