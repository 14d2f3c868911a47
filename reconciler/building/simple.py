"""Kustomizations that only list resources and set a namespace, built without the tool, which would make the same.

Most kustomizations say no more, and to start a program for each takes far longer than the work. So this is done only
where the answer is beyond doubt: ordinary kinds in YAML that the tool and kubectl are known to read alike. Whatever
else there is - another field, a list, a kind with references to namespaces, a scalar that two readers of YAML may take
for two things - is left to the tool, whose reading then counts.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec import Struct, field

from reconciler.source.built_files import Origin
from render.documents import document_texts, emit, read_documents
from render.expressions import lazy_expression
from render.kinds import SCOPES
from render.model import group_of, is_encrypted_by_sops

from .closures import Closure
from .tree import path_joined_to

_FIELDS = frozenset({"apiVersion", "kind", "resources", "namespace"})
_APIS = ("kustomize.config.k8s.io/v1beta1", None)
_REFERRING = frozenset({"RoleBinding", "ControllerRevision", "Event", "Binding", "Endpoints", "EndpointSlice"})
_CLUSTER_WIDE = frozenset({"ClusterRole", "StorageClass", "IngressClass", "PriorityClass"})
"""Kinds without a namespace that no other field of the tool's concerns."""

_DOUBTFUL = lazy_expression(
    rb"""
      [\x00-\x09\x0b-\x1f\x7f] | \xc2[\x80-\x9f] | \xe2\x80[\xa8\xa9] | \xef\xbb\xbf   # breaks, tabs, marks
    | (?:^|[\s,\[{])(?:
          [&*!?|>%@`=]                              # anchors, aliases, tags, blocks, directives
        | [-+]?(?:0\d|\.\d|\d+[.:_eExXoO-]|\d{16})  # numbers of other forms, and times
        | (?:true|false)[\ ]*:                              # keys that are no text
        | \+\d | -0 | [-+]?\.(?i:inf|nan)
        | (?:y|Y|n|N|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|~|null|Null|NULL|True|TRUE|False|FALSE)
          [\ ]*(?:[,:\]}\#\n]|\Z)
    )
    """,
    re.VERBOSE | re.MULTILINE,
)
"""Text that two readers of YAML may not read alike."""
_MARKS = lazy_expression(rb"config\.kubernetes\.io|kustomize\.")
"""Annotations that the tool reads or takes away."""
_DEEPEST = 50
"""Kustomizations that build upon each other without the tool; few people write more than five."""


class _Listed(NamedTuple):
    """An object, its text and its origin."""

    value: Mapping[str, Any]
    text: bytes
    origin: Origin


class SimpleOutput(NamedTuple):
    """The objects of a build, one document each, with their origins and values."""

    output: bytes
    origins: tuple[Origin, ...]
    values: tuple[Mapping[str, Any], ...]


class _NotSimpleError(Exception):
    """The tool has to build it."""


class SimpleBuilds(Struct):
    """Builds without the tool; each file is looked at once."""

    contents: Mapping[bytes, bytes]
    _objects: dict[bytes, list[tuple[Mapping[str, Any], bytes, int]] | None] = field(default_factory=dict)

    def of(self, closure: Closure) -> SimpleOutput | None:
        """Return the output of a build; None where the tool has to build it."""
        try:
            objects = list(self._objects_of_folder(_Folders.of(closure), closure.folder, ()))
        except _NotSimpleError:
            return None
        texts = [b"---\n" + each.text.strip(b"\n").removeprefix(b"---\n") + b"\n" for each in objects]
        origins = tuple(each.origin for each in objects)
        return SimpleOutput(b"".join(texts), origins, tuple(each.value for each in objects))

    def _objects_of_folder(self, known: "_Folders", folder: str, above: tuple[str, ...]) -> list[_Listed]:
        if folder in above or folder not in known.ids or len(above) > _DEEPEST:
            raise _NotSimpleError
        document = self._parsed_kustomization(known.ids[folder])
        objects: list[_Listed] = []
        for text in document["resources"]:
            path = path_joined_to(folder, text)
            if path is None or path == folder:
                raise _NotSimpleError
            if path in known.files:
                objects += (
                    _Listed(value, own, Origin(path, line))
                    for value, own, line in self._read_documents_of(known.files[path])
                )
            else:
                objects += self._objects_of_folder(known, path, (*above, folder))
        namespace = document.get("namespace")
        if namespace:
            objects = [_object_in_namespace(each, namespace) for each in objects]
        names = {_identity_of_object(each.value) for each in objects}
        if len(names) != len(objects):
            raise _NotSimpleError
        return objects

    def _parsed_kustomization(self, id_: bytes) -> Mapping[str, Any]:
        content = self.contents[id_]
        documents, errors = read_documents(content)
        value = documents[0].value if len(documents) == 1 and not errors else None
        if not isinstance(value, dict) or value.keys() - _FIELDS or value.get("apiVersion") not in _APIS:
            raise _NotSimpleError
        resources, namespace = value.get("resources"), value.get("namespace", "")
        is_listing = (
            isinstance(resources, list) and bool(resources) and all(isinstance(each, str) for each in resources)
        )
        is_one = value.get("kind", "Kustomization") == "Kustomization"
        if not is_listing or not is_one or not isinstance(namespace, str) or _DOUBTFUL.search(content):
            raise _NotSimpleError
        return value

    def _read_documents_of(self, id_: bytes) -> list[tuple[Mapping[str, Any], bytes, int]]:
        """Return the objects of a file, with their texts and lines."""
        if id_ not in self._objects:
            self._objects[id_] = _objects_of_file(self.contents[id_])
        found = self._objects[id_]
        if found is None:
            raise _NotSimpleError
        return found


class _Folders(NamedTuple):
    """The kustomizations of a closure by folder, and its other files by path."""

    ids: Mapping[str, bytes]
    files: Mapping[str, bytes]

    @classmethod
    def of(cls, closure: Closure) -> "_Folders":
        files = {file.path: file.id for file in closure.files}
        folders = [path.rpartition("/")[0] for path in closure.kustomizations]
        if len({*folders}) != len(folders):
            raise _NotSimpleError
        ids = {path.rpartition("/")[0]: files[path] for path in closure.kustomizations}
        return cls(ids, files)


def _objects_of_file(content: bytes) -> list[tuple[Mapping[str, Any], bytes, int]] | None:
    if _DOUBTFUL.search(content) or _MARKS.search(content):
        return None
    documents, errors = read_documents(content)
    values = [document.value for document in documents]
    if errors or not values or not all(map(_is_left_unchanged_by_tool, values)):
        return None
    texts = document_texts(content)
    return [(each.value, text, each.line) for each, text in zip(documents, texts, strict=True)]


def _is_left_unchanged_by_tool(value: Any) -> bool:
    """Say whether a document is an object of an ordinary kind whose metadata the tool leaves as it is."""
    if not isinstance(value, dict) or not isinstance(value.get("apiVersion"), str):
        return False
    metadata, kind = value.get("metadata"), value.get("kind")
    if not isinstance(kind, str) or kind.endswith("List") or not isinstance(metadata, dict):
        return False
    names = (metadata.get("name"), metadata.get("namespace", "x"))
    parts = [metadata[key] for key in ("labels", "annotations") if key in metadata]
    texts = [text for part in parts for text in (part.values() if isinstance(part, dict) and part else [None])]
    return all(isinstance(each, str) and bool(each) for each in names) and all(isinstance(each, str) for each in texts)


def _object_in_namespace(each: _Listed, namespace: str) -> _Listed:
    """Return an object in the namespace of a kustomization."""
    group, kind = group_of(each.value["apiVersion"]), each.value["kind"]
    scope = SCOPES.get((group, kind))
    if scope is False and kind in _CLUSTER_WIDE:
        if "namespace" in each.value["metadata"]:
            raise _NotSimpleError
        return each
    if scope is not True or kind in _REFERRING or group.endswith("karmada.io"):
        raise _NotSimpleError
    if each.value["metadata"].get("namespace") == namespace:
        return each
    if is_encrypted_by_sops(each.value):
        raise _NotSimpleError
    value = {**each.value, "metadata": {**each.value["metadata"], "namespace": namespace}}
    return _Listed(value, emit(value), each.origin)


def _identity_of_object(value: Mapping[str, Any]) -> tuple[str, str, str, str]:
    metadata = value["metadata"]
    return group_of(value["apiVersion"]), value["kind"], metadata.get("namespace", "default"), metadata["name"]
