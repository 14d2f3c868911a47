"""The custom kinds that a member defines and the source does not, each with the digest of its schema."""

from collections.abc import Container, Mapping
from itertools import chain
from typing import Any, ClassVar, Self

from msgspec import Struct, field, to_builtins

from render.model import Manifest

from .branch_file import BranchFile, check_version, converted_to_struct

KindVersion = tuple[str, str]
"""The apiVersion and the kind of objects."""


class VersionSchemas(Struct, frozen=True, kw_only=True):
    """The schemas of a version of a group: the hash that the member gave it, and the digest of each kind's schema.

    A digest is empty for a kind of which no schema is kept: it is too large, or no CustomResourceDefinition's.
    """

    hash: str
    digests: Mapping[str, str]


class _KindSchema(Struct, frozen=True, kw_only=True, omit_defaults=True):
    kind: str
    schema: str = ""


class _RecordedVersion(Struct, frozen=True, kw_only=True, rename="camel"):
    api_version: str
    hash: str
    kinds: list[_KindSchema]


class _SchemasFields(Struct, frozen=True, kw_only=True):
    versions: list[_RecordedVersion]


class MemberSchemas(BranchFile, frozen=True, kw_only=True):
    """The schemas of one member, by apiVersion.

    Each schema is a file beside it, ``schemas/<digest>.json``, once for all members that have it. Such a file has no
    version, for its name is the digest of its content.
    """

    PATH: ClassVar[str] = "schemas/{cluster}.yaml"
    KIND: ClassVar[str] = "ObservedSchemas"
    ABOUT: ClassVar[str] = (
        "The custom kinds that a member defines and the source does not, each with the digest of its schema."
    )

    versions: Mapping[str, VersionSchemas] = field(default_factory=dict)

    @classmethod
    def of(cls, value: Any) -> Self:
        """Return the schemas in a plain object; FileFault where there are none."""
        check_version(value, cls.VERSION)
        found = converted_to_struct(value, _SchemasFields).versions
        digests = {each.api_version: {kind.kind: kind.schema for kind in each.kinds} for each in found}
        return cls(
            versions={
                each.api_version: VersionSchemas(hash=each.hash, digests=digests[each.api_version]) for each in found
            }
        )

    def plain(self) -> Manifest:
        """Return the object in the file, without its version."""
        versions = [
            _RecordedVersion(
                api_version=api_version,
                hash=version.hash,
                kinds=[_KindSchema(kind=kind, schema=digest) for kind, digest in sorted(version.digests.items())],
            )
            for api_version, version in sorted(self.versions.items())
        ]
        return {"apiVersion": self.API_VERSION, "kind": self.KIND, "versions": to_builtins(versions)}

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

    def schemas_with_digests(self, digests: Container[str]) -> "MemberSchemas":
        """Return those versions whose schemas are all among these."""
        kept = {
            name: each
            for name, each in self.versions.items()
            if all(digest in digests for digest in each.digests.values() if digest)
        }
        return MemberSchemas(versions=kept)
