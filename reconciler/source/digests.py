"""The digest of a source: equal ones have equal policies, settings and whatever else decides on ordinary templates."""

import hashlib
from collections.abc import Iterable

from reconciler.locked.reading import StoredFile
from render.model import Template

from .manifests import Contents, LocatedManifest

_READ_BY_OTHERS = frozenset(
    {
        "Namespace",
        "CustomResourceDefinition.apiextensions.k8s.io",
        "PriorityClass.scheduling.k8s.io",
    }
)
"""Templates that decide how others are read and scheduled."""


def source_digest_of(
    files: Iterable[StoredFile],
    contents: Contents,
    templates: Iterable[tuple[Template, LocatedManifest]],
    fleet_path: str,
) -> str:
    """Return a digest of everything but ordinary templates, and of the files that it stands in.

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
    lines = {f"{each.file.path}\0{each.digest}\n" for each in deciding}
    lines.update(f"{file.path}\0{file.id.hex()}\n" for file in files if file.path not in left)
    return hashlib.sha256("".join(sorted(lines)).encode("utf-8", "surrogateescape")).hexdigest()


def is_ordinary_template(template: Template) -> bool:
    """Say whether no other object is read or scheduled otherwise for a template."""
    return template.ref.group_kind not in _READ_BY_OTHERS
