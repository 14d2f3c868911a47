"""The origins of built objects: the file and line of the manifest that each was made from.

A build may rename, and gives no names of files. The manifest of the same kind and name, or else the one whose name is
the longest part of the new name, is taken to be the origin.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct, field

from reconciler.source.built_files import Origin
from reconciler.source.files import SUFFIXES, SourceFile
from reconciler.source.manifests import ReadBlobs
from render.documents import read_documents

_GENERATED = {"configMapGenerator": "ConfigMap", "secretGenerator": "Secret"}


class _Written(NamedTuple):
    """A manifest as it is written: its kind, its name and its line."""

    kind: str
    name: str
    line: int


class Origins(Struct):
    """The manifests of files that builds read, each file looked at once."""

    read: ReadBlobs
    _written: dict[bytes, list[_Written]] = field(default_factory=dict)

    def of(self, built: Iterable[Any], files: Sequence[SourceFile], default: str) -> tuple[Origin, ...]:
        """Return the origin of each built object, among the manifests of these files."""
        by_kind: dict[str, dict[str, Origin]] = {}
        for file in files:
            for kind, name, line in self._manifests(file):
                by_kind.setdefault(kind, {}).setdefault(name, Origin(file.path, line))
        return tuple(_origin(value, by_kind) or Origin(default) for value in built)

    def _manifests(self, file: SourceFile) -> list[_Written]:
        if file.id not in self._written:
            is_read = file.path.endswith((*SUFFIXES, "Kustomization"))
            documents = read_documents(self.read([file.id])[file.id])[0] if is_read else []
            self._written[file.id] = [
                written for document in documents for written in _written_in(document.value, document.line)
            ]
        return self._written[file.id]


def _written_in(value: Any, line: int) -> Iterable[_Written]:
    if not isinstance(value, dict):
        return
    for item in value["items"] if isinstance(value.get("items"), list) else (value,):
        if isinstance(item, dict) and isinstance(item.get("metadata"), dict):
            yield _Written(str(item.get("kind")), str(item["metadata"].get("name")), line)
    for key, kind in _GENERATED.items():
        for item in value[key] if isinstance(value.get(key), list) else ():
            if isinstance(item, dict):
                yield _Written(kind, str(item.get("name")), 0)


def _origin(value: Any, by_kind: Mapping[str, Mapping[str, Origin]]) -> Origin | None:
    if not isinstance(value, dict) or not isinstance(value.get("metadata"), dict):
        return None
    candidates, name = by_kind.get(str(value.get("kind")), {}), str(value["metadata"].get("name"))
    if name in candidates:
        return candidates[name]
    parts = [each for each in candidates if each in name]
    return candidates[max(parts, key=lambda each: (len(each), each))] if parts else None
