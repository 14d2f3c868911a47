"""Schemas of custom kinds that members were observed to have, by digest.

A member publishes the schemas of its CustomResourceDefinitions. A run keeps those of the kinds that the source uses and
neither Kubernetes nor a definition of the source defines: each schema once, by the digest of its content, and for each
member the digests of its kinds, beside the hash by which the member tells whether it publishes the same still.
"""

import hashlib
import json
from collections.abc import Callable, Container, Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from render.documents import emit
from render.model import ARGOSY_API_VERSION, Manifest
from render.values import SelectiveStruct

if TYPE_CHECKING:  # only who reads a schema needs to know how
    from render.schemas import Schema

KindVersion = tuple[str, str]
"""The apiVersion and the kind of objects."""
MOST_BYTES = 256 << 10
"""The size that a schema may have, so that no member makes the status branch large."""
_KIND = "ObservedSchemas"


class VersionSchemas(Struct, frozen=True, kw_only=True):
    """The schemas of a version of a group: the hash that the member gave it, and the digest of each kind's schema.

    A digest is empty for a kind of which no schema is kept: it is too large, or no CustomResourceDefinition's.
    """

    hash: str
    digests: Mapping[str, str]


class MemberSchemas(Struct, frozen=True, kw_only=True):
    """The schemas of one member, by apiVersion."""

    versions: Mapping[str, VersionSchemas] = field(default_factory=dict)

    def digest(self, api_version: str, kind: str) -> str:
        """Return the digest of a kind's schema; empty where none is known."""
        version = self.versions.get(api_version)
        return version.digests.get(kind, "") if version else ""

    @property
    def kinds(self) -> frozenset[KindVersion]:
        """The kinds that were asked for and served."""
        versions = self.versions.items()
        return frozenset((api_version, kind) for api_version, version in versions for kind in version.digests)

    @property
    def digests(self) -> frozenset[str]:
        """The digests of all schemas."""
        return frozenset(filter(None, chain.from_iterable(each.digests.values() for each in self.versions.values())))

    def among(self, digests: Container[str]) -> "MemberSchemas":
        """Return those versions whose schemas are all among these."""
        kept = {
            name: each
            for name, each in self.versions.items()
            if all(digest in digests for digest in each.digests.values() if digest)
        }
        return MemberSchemas(versions=kept)

    def file(self) -> bytes:
        """Return these as the file that records them."""
        versions = [
            {
                "apiVersion": api_version,
                "hash": version.hash,
                "kinds": [_plain_kind(kind, digest) for kind, digest in sorted(version.digests.items())],
            }
            for api_version, version in sorted(self.versions.items())
        ]
        return emit({"apiVersion": ARGOSY_API_VERSION, "kind": _KIND, "versions": versions})

    @classmethod
    def parse(cls, manifest: Any) -> "MemberSchemas":
        """Read them back; ValueError with the fault of anything else, as the end of a sentence about the file."""
        versions = manifest.get("versions") if isinstance(manifest, dict) else None
        if not isinstance(versions, list) or not all(map(_is_version, versions)):
            raise ValueError("versions is no list of versions with their kinds")
        found = {}
        for each in versions:
            digests = {kind["kind"]: kind.get("schema", "") for kind in each["kinds"]}
            found[each["apiVersion"]] = VersionSchemas(hash=each["hash"], digests=digests)
        return cls(versions=found)


def _plain_kind(kind: str, digest: str) -> Manifest:
    return {"kind": kind, "schema": digest} if digest else {"kind": kind}


def _is_version(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("kinds"), list):
        return False
    words = [value.get("apiVersion"), value.get("hash")]
    for kind in value["kinds"]:
        words += [kind.get("kind"), kind.get("schema", "")] if isinstance(kind, dict) else [None]
    return all(isinstance(word, str) for word in words)


def _no_content(_digest: str) -> bytes:
    return b""


class ObservedSchemas(SelectiveStruct, frozen=True, kw_only=True):
    """The schemas of all members, by name.

    ``new`` are the contents that a run has just observed, by digest; ``recorded`` reads those of earlier ones.
    """

    UNSHOWN = ("new", "recorded")
    UNCOMPARED = ("recorded",)

    by_cluster: Mapping[str, MemberSchemas] = field(default_factory=dict)
    new: Mapping[str, bytes] = field(default_factory=dict)
    recorded: Callable[[str], bytes] = _no_content

    def digest(self, cluster: str, api_version: str, kind: str) -> str:
        """Return the digest of the schema that a kind has in a cluster; empty where none is known."""
        known = self.by_cluster.get(cluster)
        return known.digest(api_version, kind) if known else ""

    def has(self, kinds: Iterable[KindVersion]) -> bool:
        """Say whether any member has a schema of one of these kinds."""
        wanted = frozenset(kinds)
        return any(member.digest(*kind) for member in self.by_cluster.values() for kind in wanted)

    def content(self, digest: str) -> bytes:
        """Return the content of a schema; empty where it is not known here."""
        return self.new.get(digest) or self.recorded(digest)

    def schema(self, digest: str) -> "Schema | None":
        """Return a schema; None where it is not known here, or not of a shape that passes write."""
        from render.schemas.published import kept_schema

        try:
            return kept_schema(json.loads(self.content(digest)))
        except (ValueError, RecursionError):
            return None


def schema_content(schema: "Schema") -> bytes:
    """Return a schema as its file."""
    return (json.dumps(schema, sort_keys=True, indent=1) + "\n").encode("utf-8", "surrogatepass")


def digest_of(content: bytes) -> str:
    """Return the digest that names a schema."""
    return hashlib.sha256(content).hexdigest()
