"""The digests of a source: equal ones have equal policies, settings and whatever else decides on ordinary templates."""

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

from reconciler.locked.reading import StoredFile
from render.model import Template, group_of, mapping_or_empty

from .built_files import BuiltFile
from .manifests import Contents, LocatedManifest

_READ_BY_OTHERS = frozenset(
    {
        "Namespace",
        "CustomResourceDefinition.apiextensions.k8s.io",
        "PriorityClass.scheduling.k8s.io",
    }
)
"""Templates that decide how others are read and scheduled."""


_PARTS = frozenset(
    {
        *("PropagationPolicy", "ClusterPropagationPolicy", "OverridePolicy", "ClusterOverridePolicy"),
        *("ResourceInterpreterCustomization", "Cluster"),
    }
)
"""Kinds of Karmada of which each object decides on objects that it names, that its selectors find, or that see it."""


class SourcePart(NamedTuple):
    """An object of a source that decides on some others alone: its kind and name, its file, and its digest."""

    kind: str
    namespace: str
    name: str
    path: str
    digest: str


class SourceDigests(NamedTuple):
    """The digest of everything but ordinary templates: of its ``parts``, and of the ``rest``."""

    rest: str
    parts: tuple[SourcePart, ...]

    @property
    def whole(self) -> str:
        """The digest of both."""
        return _digest_of_lines([self.rest, *("\0".join(part) for part in self.parts)])

    def with_rest(self, text: str) -> "SourceDigests":
        """Return this with something else that decides on templates."""
        return self._replace(rest=_digest_of_lines([self.rest, text]))


NO_DIGESTS = SourceDigests("", ())
"""The digests of a source that was not read from files."""


def source_digests_of(
    files: Iterable[StoredFile],
    contents: Contents,
    templates: Iterable[tuple[Template, LocatedManifest]],
    fleet_path: str,
) -> SourceDigests:
    """Return the digests of everything but ordinary templates, and of the files that it stands in.

    A file counts by its manifests, so that one of a policy and a template stays the same while the policy does. A file
    that has none counts as a whole, unless it is skipped. An equal copy of an ordinary template is none more.
    """
    ordinary = [each for each in templates if is_ordinary_template(each[0])]
    plain = {(place.file.path, place.number) for _, place in ordinary}
    others = [each for each in contents.all_manifests if (each.file.path, each.number) not in plain]
    known = {template.digest for template, _ in ordinary} if others else set()
    deciding = [each for each in others if each.digest not in known]
    read = {path for path, _ in plain}.union(each.file.path for each in others)
    left = read.union(each.path for each in contents.skipped) - {fleet_path}
    parts = {id(each): part for each in deciding if (part := part_at(each)) is not None}
    lines = {f"{each.file.path}\0{each.digest}" for each in deciding if id(each) not in parts}
    lines.update(f"{file.path}\0{file.id.hex()}" for file in files if file.path not in left)
    return SourceDigests(_digest_of_lines(sorted(lines)), tuple(sorted(set(parts.values()))))


def _digest_of_lines(lines: Iterable[str]) -> str:
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")).hexdigest()


def part_at(place: LocatedManifest) -> SourcePart | None:
    """Return a manifest as a part of the source, if it is one that stands in a file."""
    manifest, metadata = place.manifest, mapping_or_empty(place.manifest.get("metadata"))
    if manifest["kind"] not in _PARTS or not group_of(manifest["apiVersion"]).endswith("karmada.io"):
        return None
    name, namespace = metadata.get("name"), metadata.get("namespace") or ""
    is_named = isinstance(name, str) and isinstance(namespace, str)
    if not is_named or isinstance(place.file, BuiltFile):
        return None
    return SourcePart(manifest["kind"], namespace, str(name), place.file.path, place.digest)


def is_ordinary_template(template: Template) -> bool:
    """Say whether no other object is read or scheduled otherwise for a template."""
    return template.ref.group_kind not in _READ_BY_OTHERS
