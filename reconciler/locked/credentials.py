"""Names and passwords for hosts, from one file in the form that registry clients share.

``{"auths": {"registry.example.com": {"username": "me", "password": "..."}}}``, or ``auth`` with both in base64. They
are sent to that host alone: a redirect to another one drops them.
"""

from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct, field

from reconciler.repository.location import content_of_plain_file
from render.errors import ConfigError
from render.json_values import value_of_json_text
from render.values import DiscreetStruct

VARIABLE = "ARGOSY_CREDENTIALS"
_LARGEST = 1 << 20


class _Entry(DiscreetStruct, frozen=True):
    UNSHOWN = ("auth", "password")

    auth: str | None = None
    username: str | None = None
    password: str | None = None


class _CredentialsFile(Struct, frozen=True):
    auths: dict[str, _Entry]


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
        content = content_of_plain_file(Path(named).expanduser())
    except OSError as error:
        raise ConfigError(f"{named} cannot be read: {error.strerror}", hint=f"{VARIABLE} names it") from error
    try:
        return Credentials(dict(_headers_of_file(value_of_json_text(content[:_LARGEST], _CredentialsFile))))
    except ValueError as error:
        hint = 'write {"auths": {"HOST": {"username": "...", "password": "..."}}}'
        raise ConfigError(f"{named} is no file of credentials", hint=hint) from error


def _headers_of_file(file: _CredentialsFile | None) -> Iterator[tuple[str, str]]:
    """Yield the header for each host in a file; a ValueError where there are none."""
    if file is None:
        raise ValueError("it has no credentials")
    for place, entry in file.auths.items():
        # Clients that keep passwords elsewhere leave the entry empty.
        if entry.auth or entry.username:
            yield _host_of_place(place), _header_of_entry(entry)


def _host_of_place(place: str) -> str:
    return (urlsplit(place).netloc if "://" in place else place.partition("/")[0]).lower()


def _header_of_entry(entry: _Entry) -> str:
    pair = b64decode(entry.auth, validate=True) if entry.auth else b""
    if not pair and entry.username is None:
        raise ValueError("it has neither a user nor what stands for one")
    pair = pair or f"{entry.username}:{entry.password or ''}".encode()
    return f"Basic {b64encode(pair).decode()}"
