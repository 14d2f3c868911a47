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
    """Return a digest of the files that hold anything but ordinary templates, and of where they stand."""
    plain = {(place.file.path, place.number) for template, place in templates if is_ordinary_template(template)}
    mixed = {place.file.path for place in contents.all_manifests if (place.file.path, place.number) not in plain}
    paths = {path for path, _ in plain} - mixed
    left = paths.union({each.path for each in contents.skipped} - mixed) - {fleet_path}
    lines = sorted(f"{file.path}\0{file.id.hex()}\n" for file in files if file.path not in left)
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def is_ordinary_template(template: Template) -> bool:
    """Say whether no other object is read or scheduled otherwise for a template."""
    return template.ref.group_kind not in _READ_BY_OTHERS
