"""Names and passwords for hosts, from one file in the form that registry clients share.

``{"auths": {"registry.example.com": {"username": "me", "password": "..."}}}``, or ``auth`` with both in base64. They
are sent to that host alone: a redirect to another one drops them.
"""

import json
from base64 import b64decode, b64encode
from binascii import Error as NoBase64
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from msgspec import field

from reconciler.repository.location import plain_content
from render.errors import ConfigError
from render.values import DiscreetStruct

VARIABLE = "ARGOSY_CREDENTIALS"
_LARGEST = 1 << 20


class Credentials(DiscreetStruct, frozen=True):
    """The value of the header ``Authorization`` by host, with its port where one is written."""

    UNSHOWN = ("headers",)

    headers: Mapping[str, str] = field(default_factory=dict)

    def of(self, url: str) -> str | None:
        """Return the header for an address; None where nothing is known for its host."""
        return self.headers.get(urlsplit(url).netloc.rpartition("@")[2].lower())


def read_credentials(environment: Mapping[str, str], path: str = "") -> Credentials:
    """Read the file that is named, or that ``ARGOSY_CREDENTIALS`` names; no credentials where neither is set."""
    named = path or environment.get(VARIABLE, "")
    if not named:
        return Credentials()
    try:
        content = plain_content(Path(named).expanduser())
    except OSError as error:
        raise ConfigError(f"{named} cannot be read: {error.strerror}", hint=f"{VARIABLE} names it") from error
    try:
        auths: Any = json.loads(content[:_LARGEST])["auths"]
        return Credentials({_host(place): _header(entry) for place, entry in auths.items() if _is_usable(entry)})
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, NoBase64) as error:
        hint = 'write {"auths": {"HOST": {"username": "...", "password": "..."}}}'
        raise ConfigError(f"{named} is no file of credentials", hint=hint) from error


def _is_usable(entry: Mapping[str, Any]) -> bool:
    """Say whether an entry has a password; clients that keep it elsewhere leave the entry empty."""
    return bool(entry.get("auth") or entry.get("username"))


def _host(place: str) -> str:
    return (urlsplit(place).netloc if "://" in place else place.partition("/")[0]).lower()


def _header(entry: Mapping[str, Any]) -> str:
    pair = b64decode(entry["auth"], validate=True) if entry.get("auth") else b""
    pair = pair or f"{entry['username']}:{entry.get('password', '')}".encode()
    return f"Basic {b64encode(pair).decode()}"
