"""Builds of a source, with the parts that each was made of, so that a difference can say which of them changed."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec import Struct

from render.model import ObjectRef, Template

from .built_files import BuildPart, BuiltFile, is_made_by_chart
from .manifests import LocatedManifest


class SourceBuild(Struct, frozen=True, kw_only=True):
    """One build: the file that asks for it, the object there that does ("": the file itself), and the objects made."""

    path: str
    maker: str = ""
    parts: tuple[BuildPart, ...] = ()
    refs: frozenset[ObjectRef] = frozenset()

    @property
    def name(self) -> str:
        """The name for messages, by which a build is the same one in another commit."""
        return self.maker or self.path


class _PartsFound(NamedTuple):
    """The parts of a build, and its objects, as they are found file by file."""

    path: str
    parts: dict[BuildPart, None]
    refs: set[ObjectRef]


def builds_of(placed: Iterable[tuple[Template, LocatedManifest]]) -> tuple[SourceBuild, ...]:
    """Return the builds that templates come from, sorted by name."""
    found: dict[str, _PartsFound] = {}
    seen: set[int] = set()
    for template, place in placed:
        if isinstance(place.file, BuiltFile):
            build = found.setdefault(place.file.maker or place.file.path, _PartsFound(place.file.path, {}, set()))
            build.refs.add(template.ref)
            if id(place.file) not in seen:
                seen.add(id(place.file))
                build.parts.update(dict.fromkeys(place.file.made_of))
    return tuple(
        SourceBuild(
            path=each.path, maker=name if name != each.path else "", parts=tuple(each.parts), refs=frozenset(each.refs)
        )
        for name, each in sorted(found.items())
    )


def digest_of_texts(*texts: bytes) -> str:
    """Return a digest of some texts, for parts that are compared and never read."""
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


def files_as_build_parts(role: str, files: Mapping[str, bytes]) -> tuple[BuildPart, ...]:
    """Return files, by their names and ids, as parts."""
    return tuple(BuildPart(role, name, "", id_.hex()) for name, id_ in sorted(files.items()))


def name_of_builder(place: LocatedManifest, default_namespace: str) -> str:
    """Return the name of an object that asks for a build, with what made it where that was a chart."""
    metadata = place.manifest["metadata"]
    name = f"{place.manifest['kind']} {metadata.get('namespace') or default_namespace}/{metadata['name']}"
    made = (
        f" (made by {place.file.maker})" if isinstance(place.file, BuiltFile) and is_made_by_chart(place.file) else ""
    )
    return f"{name}{made}"
