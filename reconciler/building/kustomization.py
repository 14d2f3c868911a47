"""A kustomization as far as it names files and folders: everything that a build of it may read.

The fields are those of kustomize's own types, each in the one spelling of ``kustomization_fields``: a field that this
reader does not see is none that kustomize gets. Text of several lines is what it says itself, not the name of a file.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from render.documents import DocumentError, read_documents
from render.expressions import lazy_expression
from render.model import list_or_empty

from .kustomization_fields import CONFIGURATION, KUSTOMIZATION, PLUGINS, Shape, unknown_keys

_LONGEST = 4096
ELSEWHERE = lazy_expression(
    r"^[a-z][a-z0-9+.-]*:(?:://|//)|^[\w.-]+@[\w.-]+:|^[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}/|[?&]ref=|^git::", re.IGNORECASE
)
"""Texts that name something which is no file of a tree."""
FETCHED = lazy_expression(r"^(?:git::)*(?:https?|ssh|file):|^[^/:@]*@[^/:]*:|^github\.com[:/]", re.IGNORECASE)
"""Texts that kustomize would fetch, whether or not a file of the tree is called so."""


class Role(StrEnum):
    """The use that a kustomization makes of what it names."""

    RESOURCE = "resource"
    """A manifest, or the folder of another kustomization."""
    PLUGIN = "plugin"
    """The same, of configuration for a generator or transformer, which names further files in fields of its own."""
    CONFIGURATION = "configuration"
    """A file that says which fields transformers change."""
    ENVIRONMENT = "environment"
    """A file of variables, of which one without a value gets that of kustomize's own environment."""
    FILE = "file"
    """A file alone."""

    @property
    def may_be_folder(self) -> bool:
        """Say whether it may be the folder of a kustomization."""
        return self in {Role.RESOURCE, Role.PLUGIN}


class Reference(NamedTuple):
    """Something that a kustomization names: the field that does, the text, and its use."""

    field: str
    text: str
    role: Role


class Fault(NamedTuple):
    """Something for which a kustomization may not be built: its field or its line, and what to do about it."""

    field: str
    message: str
    hint: str = ""
    line: int = 0


class Inline(NamedTuple):
    """The configuration of a generator or transformer that stands in a kustomization: its field, and the text."""

    field: str
    text: str


class Slot(NamedTuple):
    """A place in a kustomization, or in configuration of a generator or transformer, for the name of a file.

    ``holder[key]`` is what stands there. ``may_be_inline``: it may also say itself what the file would;
    ``has_name``: a name and an equals sign may stand before the file.
    """

    field: str
    holder: Any
    key: Any
    role: Role = Role.FILE
    may_be_inline: bool = False
    has_name: bool = False

    @property
    def path(self) -> Any:
        """The name of the file, if that is what stands there."""
        value = self.holder[self.key]
        return value.partition("=")[2] or value if self.has_name and isinstance(value, str) else value

    @property
    def is_inline(self) -> bool:
        """Say whether what would be in a file stands here; kustomize takes nothing of that form for an address."""
        return self.may_be_inline and _is_inline_content(self.holder[self.key])

    def fill(self, path: str) -> None:
        """Put another file into the place; the name before it stays."""
        value = self.holder[self.key]
        name, found, _ = value.partition("=") if self.has_name else ("", "", "")
        self.holder[self.key] = f"{name}={path}" if found else path


class Kustomization(NamedTuple):
    """The references of a kustomization, and for what it may not be built.

    ``is_listing``: it does nothing but list resources.
    """

    references: tuple[Reference, ...] = ()
    faults: tuple[Fault, ...] = ()
    inline: tuple[Inline, ...] = ()
    is_component: bool = False
    is_listing: bool = False


_RESOURCES = {
    "resources": Role.RESOURCE,
    "bases": Role.RESOURCE,
    "components": Role.RESOURCE,
    "generators": Role.PLUGIN,
    "transformers": Role.PLUGIN,
    "validators": Role.PLUGIN,
    "crds": Role.FILE,
    "configurations": Role.CONFIGURATION,
}
_MERGES = "patchesStrategicMerge"
_WITH_PATHS = ("patches", "patchesJson6902", "replacements")
_GENERATORS = ("configMapGenerator", "secretGenerator")
_LISTING = frozenset({"apiVersion", "kind", "metadata", "resources", "bases"})
_CHARTS = ("helmCharts", "helmChartInflationGenerator")
_CHART_GENERATOR = "HelmChartInflationGenerator"
_NO_CHARTS = "charts in a kustomization are not built, as kustomize would run helm and fetch them"
_CHART_HINT = "write a HelmChart for argosy instead, or commit what the chart makes"
_BUILTIN = "builtin"


def read_kustomization(content: bytes) -> Kustomization:
    """Return what the text of a kustomization names; of several documents kustomize takes the first."""
    documents, errors = read_documents(content)
    if errors:
        return Kustomization(faults=(_fault_of_unreadable_text(errors),))
    return parsed_kustomization(documents[0].value if documents else None)


def parsed_kustomization(document: Any) -> Kustomization:
    """Return what a kustomization names; fields of a wrong type are left to kustomize, which says what is wrong."""
    if not isinstance(document, dict):
        return Kustomization()
    found = [*_references_of_slots(slots_of(document))]
    charts = (Fault(name, _NO_CHARTS, _CHART_HINT) for name in _CHARTS if document.get(name))
    return Kustomization(
        references=tuple(each for each in found if isinstance(each, Reference)),
        faults=(
            *_unknown_field_faults(document, KUSTOMIZATION, "a kustomization"),
            *charts,
            *(each for each in found if isinstance(each, Fault)),
        ),
        inline=tuple(each for each in found if isinstance(each, Inline)),
        is_component=document.get("kind") == "Component",
        is_listing=document.keys() <= _LISTING,
    )


def parsed_plugins(content: bytes) -> Kustomization:
    """Return what the configuration of generators and transformers names; kustomize runs those alone that it has."""
    documents, errors = read_documents(content)
    if errors:
        return Kustomization(faults=(_fault_of_unreadable_text(errors),))
    found = [each for document in documents for each in _references_of_slots(plugin_slots_of(document.value))]
    return Kustomization(
        references=tuple(each for each in found if isinstance(each, Reference)),
        faults=(
            *(fault for document in documents for fault in _faults_of_plugin(document.value)),
            *(each for each in found if isinstance(each, Fault)),
        ),
    )


def parsed_configuration(content: bytes) -> Kustomization:
    """Return for what a file that ``configurations`` lists may not be read; it names no files."""
    documents, errors = read_documents(content)
    if errors:
        return Kustomization(faults=(_fault_of_unreadable_text(errors),))
    found = (_unknown_field_faults(document.value, CONFIGURATION, "such configuration") for document in documents)
    return Kustomization(faults=tuple(each for faults in found for each in faults))


def slots_of(document: Mapping[str, Any]) -> Iterator[Slot]:
    """Yield every place in a kustomization for the name of a file or a folder."""
    for name, role in _RESOURCES.items():
        yield from _slots_of_list(name, document.get(name), role, may_be_inline=role is Role.PLUGIN)
    yield from _slots_of_list(_MERGES, document.get(_MERGES), may_be_inline=True)
    openapi = document.get("openapi")
    if isinstance(openapi, dict):
        yield from _slots_of_field("openapi.path", openapi, "path")
    for name in _WITH_PATHS:
        yield from _slots_in_list(name, document)
    for name in _GENERATORS:
        for place, item in enumerate(list_or_empty(document.get(name))):
            if isinstance(item, dict):
                yield from _slots_of_generator_files(f"{name}[{place}].", item)


def plugin_slots_of(value: Any) -> Iterator[Slot]:
    """Yield every place in the configuration of a generator or transformer for the name of a file."""
    kind = value.get("kind") if isinstance(value, dict) else None
    if kind in {"ConfigMapGenerator", "SecretGenerator"}:
        yield from _slots_of_generator_files("", value)
    elif kind == "PatchStrategicMergeTransformer":
        yield from _slots_of_list("paths", value.get("paths"), may_be_inline=True)
    elif kind == "ReplacementTransformer":
        yield from _slots_in_list("replacements", value)
    elif isinstance(value, dict):
        yield from _slots_of_field("path", value, "path")
        yield from _slots_of_field("targetFilePath", value, "targetFilePath")


def _fault_of_unreadable_text(errors: Sequence[DocumentError]) -> Fault:
    return Fault("", errors[0].message, errors[0].hint, errors[0].line)


def _unknown_field_faults(value: Any, shape: Shape, of: str) -> Iterator[Fault]:
    for key in unknown_keys(value, shape):
        name = key.field.rpartition(".")[2]
        yield Fault(key.field, f"{name!r} is no field of {of}", key.hint)


def _faults_of_plugin(value: Any) -> Iterator[Fault]:
    kind = value.get("kind") if isinstance(value, dict) else None
    shape = PLUGINS.get(kind) if isinstance(kind, str) else None
    if _is_plugin_of_others(value):
        return
    if kind == _CHART_GENERATOR:
        yield Fault("kind", _NO_CHARTS, _CHART_HINT)
    elif shape is None or value.get("apiVersion") != _BUILTIN:
        message = "it is none of the generators and transformers that kustomize has, of apiVersion 'builtin'"
        yield Fault("kind", message, "no others are run: commit what it makes")
    else:
        yield from _unknown_field_faults(value, shape, f"a {kind}")


def _is_plugin_of_others(value: Any) -> bool:
    """Say whether something is certainly configured that kustomize does not have itself, and refuses to run."""
    if not isinstance(value, dict) or "items" in value:
        return False
    version, kind = value.get("apiVersion"), value.get("kind")
    is_named = isinstance(version, str) and isinstance(kind, str) and not kind.endswith("List")
    return is_named and _BUILTIN not in str(version)


def _references_of_slots(slots: Iterable[Slot]) -> Iterator[Reference | Fault | Inline]:
    """Yield what stands in places for files; what is no path is not left to kustomize, which may take it for one."""
    for slot in slots:
        path = slot.path
        if slot.is_inline:
            if slot.role is Role.PLUGIN:
                yield Inline(slot.field, path)
        elif is_file_path(path):
            yield Reference(slot.field, path, slot.role)
        elif isinstance(path, str) and path:
            yield Fault(
                slot.field, "it is no path of a file", "write the path of a file of this repository, on one line"
            )


def _slots_in_list(name: str, value: Mapping[str, Any]) -> Iterator[Slot]:
    for place, item in enumerate(list_or_empty(value.get(name))):
        if isinstance(item, dict):
            yield from _slots_of_field(f"{name}[{place}].path", item, "path")


def _slots_of_list(
    field: str, value: Any, role: Role = Role.FILE, *, may_be_inline: bool = False, has_name: bool = False
) -> Iterator[Slot]:
    for place, _ in enumerate(list_or_empty(value)):
        yield Slot(f"{field}[{place}]", value, place, role, may_be_inline, has_name)


def _slots_of_field(field: str, holder: Mapping[str, Any], key: str, role: Role = Role.FILE) -> Iterator[Slot]:
    if key in holder:
        yield Slot(field, holder, key, role)


def _slots_of_generator_files(base: str, item: Mapping[str, Any]) -> Iterator[Slot]:
    yield from _slots_of_list(f"{base}files", item.get("files"), has_name=True)
    yield from _slots_of_list(f"{base}envs", item.get("envs"), Role.ENVIRONMENT)
    yield from _slots_of_field(f"{base}env", item, "env", Role.ENVIRONMENT)


def _is_inline_content(value: Any) -> bool:
    return isinstance(value, str) and ("\n" in value or value.startswith("{"))


def is_file_path(value: Any) -> bool:
    """Say whether a value can be the name of a file: one line of text that is no object in braces."""
    return isinstance(value, str) and 0 < len(value) <= _LONGEST and not _is_inline_content(value)
