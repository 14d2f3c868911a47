"""The scopes of kinds that CustomResourceDefinitions tell, also those in files that are not rendered.

A folder that something else installs - a chart, a kustomization, an ignored one - delivers nothing through Argosy, yet
its definitions still say what the objects of the source are. Such files are only looked at when a kind is in use that
nothing better knows, and what was found in one is remembered by the id of its blob.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from reconciler.source.files import MAX_FILE_SIZE, SUFFIXES, SYMLINK, SourceFile
from reconciler.source.manifests import ParseCache, ParsedBlob, ReadBlobs
from render.documents import read_documents
from render.expressions import lazy_expression
from render.kinds import GroupKind

_DEFINITION = "CustomResourceDefinition"
_MENTIONED = lazy_expression(_DEFINITION.encode())
_SUBMODULE = 0o160000
_BATCH = 500


def scopes_by_defined_kind(manifests: Iterable[Any]) -> dict[GroupKind, bool]:
    """Return the kinds that definitions among manifests define; True is namespaced."""
    return dict(filter(None, map(_kind_and_scope_of_definition, manifests)))


def _kind_and_scope_of_definition(manifest: Any) -> tuple[GroupKind, bool] | None:
    """Return the kind and scope that a definition defines; None for another object, or a broken one."""
    if not isinstance(manifest, dict) or manifest.get("kind") != _DEFINITION:
        return None
    spec = manifest.get("spec")
    names = spec.get("names") if isinstance(spec, dict) else None
    if not isinstance(spec, dict) or not isinstance(names, dict):
        return None
    group, kind, scope = spec.get("group"), names.get("kind"), spec.get("scope")
    if not isinstance(group, str) or not isinstance(kind, str) or scope not in ("Namespaced", "Cluster"):
        return None
    return (group, kind), scope == "Namespaced"


def scopes_in_unselected_files(
    files: Sequence[SourceFile], selected: Iterable[SourceFile], *, read: ReadBlobs, cache: ParseCache | None
) -> Mapping[GroupKind, bool]:
    """Return the scopes that files beside the selected ones define; where two disagree, a scope is not known."""
    taken = {file.path for file in selected}
    ids = {
        file.id: _cache_key_of_definitions(file.id)
        for file in files
        if file.path not in taken and _may_hold_definitions(file)
    }
    known = dict(cache.get_many(ids.values())) if cache is not None else {}
    fresh = dict(_read_scopes({id_: key for id_, key in ids.items() if key not in known}, read))
    if cache is not None and fresh:
        cache.put_many(fresh)
    found: dict[GroupKind, set[bool]] = {}
    for documents in (*known.values(), *fresh.values()):
        for _, (group, kind, is_namespaced) in documents:
            found.setdefault((group, kind), set()).add(is_namespaced)
    return {kind: scopes.pop() for kind, scopes in found.items() if len(scopes) == 1}


def _may_hold_definitions(file: SourceFile) -> bool:
    is_file = file.mode not in {SYMLINK, _SUBMODULE} and bool(file.id)
    return is_file and file.path.endswith(SUFFIXES) and 0 <= file.size <= MAX_FILE_SIZE


def _cache_key_of_definitions(id_: bytes) -> bytes:
    """Return the key of a blob's definitions, another one than that of its documents."""
    return hashlib.sha256(b"definitions\0" + id_).digest()


def _read_scopes(key_by_id: Mapping[bytes, bytes], read: ReadBlobs) -> Iterator[tuple[bytes, ParsedBlob]]:
    ids = sorted(key_by_id)
    for start in range(0, len(ids), _BATCH):
        for id_, content in read(ids[start : start + _BATCH]).items():
            yield key_by_id[id_], tuple((0, (*kind, scope)) for kind, scope in _scopes_defined_in(content).items())


def _scopes_defined_in(content: bytes) -> dict[GroupKind, bool]:
    """Return what the readable documents of a file define."""
    if not _MENTIONED.search(content):
        return {}
    documents, _ = read_documents(content)
    return scopes_by_defined_kind(_with_items_of_lists(document.value for document in documents))


def _with_items_of_lists(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        items = value.get("items") if isinstance(value, dict) else None
        if isinstance(items, list):
            yield from items
        else:
            yield value
