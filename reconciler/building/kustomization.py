"""A kustomization as far as it names files and folders: everything that a build of it may read.

The fields are those of kustomize's own type; it refuses any other. Text of several lines is what it says itself, not
the name of a file.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from render.model import as_list

_LONGEST = 4096
ELSEWHERE = re.compile(
    r"^[a-z][a-z0-9+.-]*:(?:://|//)|^[\w.-]+@[\w.-]+:|^[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}/|[?&]ref=|^git::", re.IGNORECASE
)
"""Texts that name something which is no file of a tree."""


class Role(StrEnum):
    """The use that a kustomization makes of what it names."""

    RESOURCE = "resource"
    """A manifest, or the folder of another kustomization."""
    PLUGIN = "plugin"
    """The same, of configuration for a generator or transformer, which names further files in fields of its own."""
    FILE = "file"
    """A file alone."""


class Reference(NamedTuple):
    """Something that a kustomization names: the field that does, the text, and its use."""

    field: str
    text: str
    role: Role


class Kustomization(NamedTuple):
    """The references of a kustomization; ``refused`` are fields that would run or fetch something."""

    references: tuple[Reference, ...] = ()
    refused: tuple[str, ...] = ()
    inline: tuple[Any, ...] = ()
    is_component: bool = False


_RESOURCES = {
    "resources": Role.RESOURCE,
    "bases": Role.RESOURCE,
    "components": Role.RESOURCE,
    "generators": Role.PLUGIN,
    "transformers": Role.PLUGIN,
    "validators": Role.PLUGIN,
    "crds": Role.FILE,
    "configurations": Role.FILE,
    "patchesStrategicMerge": Role.FILE,
}
_WITH_PATHS = ("patches", "patchesJson6902", "replacements")
_GENERATORS = ("configMapGenerator", "secretGenerator")
_REFUSED = ("helmCharts", "helmChartInflationGenerator")


def parsed_kustomization(document: Any) -> Kustomization:
    """Return what a kustomization names; fields of a wrong type are left to kustomize, which says what is wrong."""
    if not isinstance(document, dict):
        return Kustomization()
    return Kustomization(
        references=tuple(_references(document)),
        refused=tuple(name for name in _REFUSED if document.get(name)),
        inline=tuple(_inline(document)),
        is_component=document.get("kind") == "Component",
    )


def _references(document: Mapping[str, Any]) -> Iterator[Reference]:
    for name, role in _RESOURCES.items():
        yield from _paths(name, document.get(name), role)
    openapi = document.get("openapi")
    if isinstance(openapi, dict) and is_path(openapi.get("path")):
        yield Reference("openapi.path", openapi["path"], Role.FILE)
    for name in (*_WITH_PATHS, *_GENERATORS):
        for place, item in enumerate(as_list(document.get(name))):
            if isinstance(item, dict):
                fields = _generator_files if name in _GENERATORS else _path_field
                yield from fields(f"{name}[{place}]", item)


def _paths(field: str, value: Any, role: Role) -> Iterator[Reference]:
    for place, text in enumerate(as_list(value)):
        if is_path(text):
            yield Reference(f"{field}[{place}]", text, role)


def _path_field(field: str, item: Mapping[str, Any]) -> Iterator[Reference]:
    if is_path(item.get("path")):
        yield Reference(f"{field}.path", item["path"], Role.FILE)


def _generator_files(field: str, item: Mapping[str, Any]) -> Iterator[Reference]:
    for place, text in enumerate(as_list(item.get("files"))):
        if is_path(text):
            yield Reference(f"{field}.files[{place}]", text.partition("=")[2] or text, Role.FILE)
    yield from _paths(f"{field}.envs", item.get("envs"), Role.FILE)
    if is_path(item.get("env")):
        yield Reference(f"{field}.env", item["env"], Role.FILE)


def _inline(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the configuration of generators and transformers that stands in the kustomization itself."""
    for name, role in _RESOURCES.items():
        if role is Role.PLUGIN:
            yield from (text for text in as_list(document.get(name)) if isinstance(text, str) and not is_path(text))


def named_texts(values: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Yield every text in configuration that may name a file, with the key that it stands under."""
    unseen: list[tuple[str, Any]] = [("", value) for value in values]
    while unseen:
        key, value = unseen.pop()
        if isinstance(value, dict):
            unseen += ((str(name), inner) for name, inner in value.items())
        elif isinstance(value, list):
            unseen += ((key, inner) for inner in value)
        elif is_path(value):
            yield key, value.partition("=")[2] or value if key == "files" else value


def is_path(value: Any) -> bool:
    """Say whether a value can be the name of a file: one line of text that is no object in braces."""
    return isinstance(value, str) and 0 < len(value) <= _LONGEST and "\n" not in value and not value.startswith("{")
