"""Schemas of custom kinds that members were observed to have, by digest.

A member publishes the schemas of its CustomResourceDefinitions. A run keeps those of the kinds that the source uses and
neither Kubernetes nor a definition of the source defines: each schema once, by the digest of its content, and for each
member the digests of its kinds, beside the hash by which the member tells whether it publishes the same still.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec import field

from reconciler.ledger.member_schemas import KindVersion, MemberSchemas
from render.values import SelectiveStruct

if TYPE_CHECKING:  # only who reads a schema needs to know how
    from render.schemas import Schema

MOST_BYTES = 256 << 10
"""The size that a schema may have, so that no member makes the status branch large."""


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
        from render.schemas.published import checked_parts_of_published_schema

        try:
            return checked_parts_of_published_schema(json.loads(self.content(digest)))
        except (ValueError, RecursionError):
            return None


def schema_file_content(schema: "Schema") -> bytes:
    """Return a schema as its file."""
    return (json.dumps(schema, sort_keys=True, indent=1) + "\n").encode("utf-8", "surrogatepass")


def digest_of_schema(content: bytes) -> str:
    """Return the digest that names a schema."""
    return hashlib.sha256(content).hexdigest()
