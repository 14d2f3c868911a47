"""The addresses that entries of argosy.lock lead to, as the only ones at which a pass asks for content.

An entry has the address of its Source and, for a chart, that of its archive, which the index of a repository may have
at another host: of that one the host counts, for each version has an address of its own. A vendored entry leads
nowhere, for its content is in the repository.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from msgspec import Struct

from .model import LockedSource, SourceType

ARCHIVE = "resolved.url"
"""The field of a chart's archive."""


class LockedAddress(NamedTuple):
    """An address of an entry: the field it stands in, and the address; of an archive its host."""

    field: str
    text: str


class KnownAddresses(Struct, frozen=True):
    """Addresses that may be asked, each with its field, and the hosts among them, from which archives may come."""

    addresses: frozenset[LockedAddress] = frozenset()
    hosts: frozenset[str] = frozenset()

    @classmethod
    def of(cls, locked: Iterable[LockedSource]) -> "KnownAddresses":
        """Return the addresses of all entries."""
        found = frozenset(address for each in locked for address in addresses_of(each))
        return cls(found, frozenset(host_of(each.text) for each in found))

    def unknown_addresses(self, locked: LockedSource) -> Iterator[LockedAddress]:
        """Yield the addresses of an entry that are not among these."""
        own = frozenset(host_of(each.text) for each in addresses_of(locked) if each in self.addresses)
        for each in addresses_of(locked):
            if each not in self.addresses and not (each.field == ARCHIVE and each.text in self.hosts | own):
                yield each


def addresses_of(locked: LockedSource) -> tuple[LockedAddress, ...]:
    """Return the addresses that an entry leads to; none where its content is vendored.

    >>> chart = {"helm": {"url": "https://charts.example.com", "chart": "web"}}
    >>> resolved = {"url": "https://files.example.com/web-1.0.0.tgz", "digest": "sha256:..."}
    >>> [each.text for each in addresses_of(LockedSource(name="web", spec=chart, resolved=resolved, content=""))]
    ['https://charts.example.com', 'https://files.example.com']
    """
    if locked.vendored:
        return ()
    found = []
    for type_ in SourceType:
        place = locked.spec.get(type_.value)
        if isinstance(place, Mapping) and isinstance(place.get("url"), str):
            found.append(LockedAddress(f"{type_.value}.url", place["url"]))
    archive = locked.resolved.get("url")
    return (*found, LockedAddress(ARCHIVE, host_of(archive))) if archive else tuple(found)


def host_of(url: str) -> str:
    """Return the scheme and the host of an address, with its port; the address itself where it has none.

    >>> host_of("https://me@charts.example.com:8443/web.tgz"), host_of("git@example.com:web.git")
    ('https://charts.example.com:8443', 'git@example.com:web.git')
    """
    try:
        parts = urlsplit(url)
    except ValueError:  # half a host in brackets, which nobody is asked at
        return url
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}" if parts.netloc else url
