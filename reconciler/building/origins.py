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
_LONGEST = 253
"""Characters that a name may have in Kubernetes."""


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
            for kind, name, line in self._manifests_of_file(file):
                by_kind.setdefault(kind, {}).setdefault(name, Origin(file.path, line))
        known = {kind: _Candidates.of(by_name) for kind, by_name in by_kind.items()}
        return tuple(_origin_of_built_object(value, known) or Origin(default) for value in built)

    def _manifests_of_file(self, file: SourceFile) -> list[_Written]:
        if file.id not in self._written:
            is_read = file.path.endswith((*SUFFIXES, "Kustomization"))
            documents = read_documents(self.read([file.id])[file.id])[0] if is_read else []
            self._written[file.id] = [
                written for document in documents for written in _written_objects_in(document.value, document.line)
            ]
        return self._written[file.id]


def _written_objects_in(value: Any, line: int) -> Iterable[_Written]:
    if not isinstance(value, dict):
        return
    for item in value["items"] if isinstance(value.get("items"), list) else (value,):
        if isinstance(item, dict) and isinstance(item.get("metadata"), dict):
            yield _Written(str(item.get("kind")), str(item["metadata"].get("name")), line)
    for key, kind in _GENERATED.items():
        for item in value[key] if isinstance(value.get(key), list) else ():
            if isinstance(item, dict):
                yield _Written(kind, str(item.get("name")), 0)


class _Candidates(NamedTuple):
    """The manifests of a kind by their names, and the lengths of these, the longest first."""

    by_name: Mapping[str, Origin]
    lengths: Sequence[int]

    @classmethod
    def of(cls, by_name: Mapping[str, Origin]) -> "_Candidates":
        return cls(by_name, sorted({len(name) for name in by_name if len(name) <= _LONGEST}, reverse=True))

    def origin(self, name: str) -> Origin | None:
        """Return the origin of a built name: of parts of one length that which sorts last."""
        if name in self.by_name:
            return self.by_name[name]
        # To look each part of a name up takes as long for many manifests as for few.
        for length in self.lengths if len(name) <= _LONGEST else ():
            every = {name[start : start + length] for start in range(len(name) - length + 1)}
            parts = every & self.by_name.keys()
            if parts:
                return self.by_name[max(parts)]
        return None


def _origin_of_built_object(value: Any, known: Mapping[str, _Candidates]) -> Origin | None:
    if not isinstance(value, dict) or not isinstance(value.get("metadata"), dict):
        return None
    candidates = known.get(str(value.get("kind")))
    return candidates.origin(str(value["metadata"].get("name"))) if candidates else None
