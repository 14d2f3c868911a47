"""A Source as somebody wrote it, the same Source as it is locked, and the lock of a fleet."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct, field

from render.errors import ReconcileError
from render.model import Manifest

LOCK_FILE = "argosy.lock"
_USE = "manifests"
CREDENTIALS = "names and passwords come from the file that ARGOSY_CREDENTIALS names"
NOT_LOCKED, NOT_FETCHED, LOCKED_OTHERWISE = (
    "lock it: argosy lock",
    "fetch it: argosy lock --fetch",
    "lock it anew: argosy lock --update",
)
"""The hints for a Source that is well named, and whose content is not at hand all the same."""

NOT_AT_HAND = (NOT_LOCKED, NOT_FETCHED, LOCKED_OTHERWISE)
"""The beginnings of all of them."""


class SourceType(StrEnum):
    """The kinds of place that a Source may name; the text is the field of its spec."""

    GIT = "git"
    OCI = "oci"
    HELM = "helm"
    HTTP = "http"


class UnavailableSource(ReconcileError):
    """The files of a Source cannot be had: it is not locked, not in the cache, or not what the lock says.

    ``is_denied``: whoever has the files gave nothing, as it may for want of credentials.
    """

    exit_code = 3

    def __init__(self, message: str, *, hint: str = "", is_denied: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.is_denied = is_denied


def file_name_of_address(url: str) -> str:
    """Return the name of the one file that is the content of an address.

    >>> file_name_of_address("https://example.com/releases/v1/crds.yaml"), file_name_of_address("https://example.com/")
    ('crds.yaml', 'content')
    """
    return url.partition("://")[2].partition("/")[2].rpartition("/")[2] or "content"


class ExternalSource(Struct, frozen=True, kw_only=True):
    """A Source of the fleet: its name, its spec as it was admitted, and the place of its document.

    ``is_implied``: nobody wrote it; an object of another tool names the same place, and ``secret`` is the name of the
    Secret that this tool would log in with ("": none).
    """

    name: str
    spec: Mapping[str, Any]
    path: str = ""
    document: int = 0
    includes_manifests: bool = False
    is_implied: bool = False
    secret: str = ""

    @classmethod
    def of(cls, manifest: Manifest, *, path: str = "", document: int = 0) -> "ExternalSource":
        """Return the Source of an admitted manifest; what is done with its content is no part of what is locked."""
        spec = {key: value for key, value in manifest["spec"].items() if key != _USE}
        includes = manifest["spec"].get(_USE) == "Include"
        name = manifest["metadata"]["name"]
        return cls(name=name, spec=spec, path=path, document=document, includes_manifests=includes)

    @property
    def type(self) -> SourceType:
        """The kind of place it names."""
        return next(each for each in SourceType if each.value in self.spec)

    @property
    def place(self) -> Mapping[str, Any]:
        """The fields of that place: its address, and the version asked for."""
        return self.spec[self.type.value]  # type: ignore[no-any-return]  # admitted as an object

    @property
    def title(self) -> str:
        """The way people are told of it: by its name, or by its place where nobody gave it one.

        >>> ExternalSource(name="web", spec={}).title
        "Source 'web'"
        >>> spec = {"helm": {"url": "https://charts.example.com", "chart": "web"}}
        >>> ExternalSource(name="web-1a2b3c4d", spec=spec, is_implied=True).title
        "chart 'web' of https://charts.example.com"
        """
        if not self.is_implied:
            return f"Source {self.name!r}"
        chart, url = self.place.get("chart"), str(self.place["url"])
        return f"chart {chart!r} of {url}" if chart else url

    def explained_error(self, error: UnavailableSource) -> UnavailableSource:
        """Return why nothing of it was fetched; where credentials may be missing, with those that are not read."""
        if not (error.is_denied and self.secret):
            return error
        keys = ", or from git itself" if self.type is SourceType.GIT else ""
        return UnavailableSource(error.message, hint=f"Secret {self.secret} is not read: {CREDENTIALS}{keys}")

    @property
    def folder(self) -> str:
        """The folder of the content that is meant; empty for all of it."""
        return str(self.spec.get("path") or "").removeprefix("./").strip("/")


class LockedSource(Struct, frozen=True, kw_only=True):
    """A Source as it was resolved: what its spec was then, the exact version, and the digest of its files.

    ``resolved`` has the fields by which exactly this version is fetched again, such as ``commit`` or ``digest``.
    ``vendored`` is the folder of the repository that holds the files, relative to argosy.lock ("": none does).
    """

    name: str
    spec: Mapping[str, Any]
    resolved: Mapping[str, str]
    content: str
    vendored: str = ""

    @property
    def version(self) -> str:
        """The resolved version for people: a version, a tag, or else the beginning of a commit or digest."""
        named = self.resolved.get("version") or self.resolved.get("tag")
        exact = self.resolved.get("commit") or self.resolved.get("digest", "")
        return named or exact.removeprefix("sha256:")[:12]


class Lock(Struct, frozen=True, kw_only=True):
    """The locked Sources of a fleet by name, and the path of the file they stand in."""

    path: str = LOCK_FILE
    sources: Mapping[str, LockedSource] = field(default_factory=dict)
