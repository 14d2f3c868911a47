"""The objects in which two rendered trees differ, and their fields; every equal part is looked at once."""

import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from msgspec import Struct, field

from overrides.changes import ChangedField, changes_of
from overrides.jsontext import json_text
from overrides.pointer import escaped_pointer
from reconciler.plans.rendered_object import mapping_of_rendered_file
from render.expressions import lazy_expression
from render.gitobjects import TREE_MODE, Blob, Spliced, TreeEntry, content_of_blob
from render.layout import ref_of_object_path
from render.model import Manifest, ObjectRef

from .difference import ChangeAction, ObjectChange

_NAMED = "\0"
_WORD = lazy_expression(r"[A-Za-z_][A-Za-z0-9_-]*")


ReadTree = Callable[[bytes], Iterable[TreeEntry]]
Text = tuple[bytes, ...]


def field_changes(before: Manifest, after: Manifest) -> tuple[ChangedField, ...]:
    """Return the fields in which two manifests differ, by path; nothing for manifests that say the same."""
    changes = changes_of(_lists_as_mappings(before), _lists_as_mappings(after)) or changes_of(before, after)
    return tuple(
        ChangedField(
            path=dotted_path(change.path),
            operator=change.operator,
            before=_mappings_as_lists(change.before),
            after=_mappings_as_lists(change.after),
        )
        for change in changes
    )


class Leaf(NamedTuple):
    """A value of a manifest that is no mapping or list, or is an empty one: its path, its JSON pointer and the value.

    ``names`` are the parts of the pointer with the names of list items in place of their numbers, where they have some.
    """

    path: str
    pointer: str
    names: tuple[str, ...]
    value: Any


def leaves_of_manifest(manifest: Manifest) -> Iterator[Leaf]:
    """Yield the leaves of a manifest, in its order.

    >>> leaf = list(leaves_of_manifest({"spec": {"containers": [{"name": "web", "env": []}]}}))[1]
    >>> leaf.path, leaf.pointer, leaf.value
    ('spec.containers[web].env', '/spec/containers/0/env', [])
    """
    yield from _leaves_below(manifest, _lists_as_mappings(manifest), (), ())


def _leaves_below(value: Any, named: Any, keys: tuple[str, ...], names: tuple[str, ...]) -> Iterator[Leaf]:
    """Yield the leaves below a value; ``named`` is the same one with its lists as ``_lists_as_mappings`` has them."""
    if not isinstance(value, dict | list) or not value:
        yield Leaf(path_of_names(names), escaped_pointer(keys), names, value)
        return
    below = list(value) if isinstance(value, dict) else list(range(len(value)))
    known = list(named) if isinstance(named, dict) else below
    for key, name in zip(below, known, strict=True):
        yield from _leaves_below(value[key], named[name], (*keys, str(key)), (*names, str(name)))


def path_of_names(names: Iterable[str]) -> str:
    """Return the path of a part of a manifest by the names that lead to it, as ``Leaf.names`` has them."""
    return dotted_path(escaped_pointer(tuple(names)))


def _lists_as_mappings(value: Any) -> Any:
    """Return a copy in which a list of items with distinct names is a mapping by name."""
    if isinstance(value, dict):
        return {key: _lists_as_mappings(item) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    items = [_lists_as_mappings(item) for item in value]
    names = [item.get("name") if isinstance(item, dict) else None for item in items]
    if items and all(isinstance(name, str) for name in names) and len(set(names)) == len(names):
        return {f"{_NAMED}{name}": item for name, item in zip(names, items, strict=True)}
    return items


def _mappings_as_lists(value: Any) -> Any:
    """Undo ``_lists_as_mappings``."""
    if isinstance(value, list):
        return [_mappings_as_lists(item) for item in value]
    if not isinstance(value, dict):
        return value
    if any(isinstance(key, str) and key.startswith(_NAMED) for key in value):
        return [_mappings_as_lists(item) for item in value.values()]
    return {key: _mappings_as_lists(item) for key, item in value.items()}


def dotted_path(pointer: str) -> str:
    r"""Return a JSON pointer as people write paths.

    >>> dotted_path("/spec/containers/\0web/env/0"), dotted_path("/metadata/labels/example.com~1team")
    ('spec.containers[web].env[0]', 'metadata.labels["example.com/team"]')
    """
    path = ""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if key.startswith(_NAMED):
            name = key.removeprefix(_NAMED)
            path += f"[{name if name.isprintable() else json.dumps(name)}]"
        elif key.isdigit():
            path += f"[{key}]"
        elif _WORD.fullmatch(key):
            path += f".{key}" if path else key
        else:
            path += f"[{json.dumps(key, ensure_ascii=not key.isprintable())}]"
    return path


class FileChange(NamedTuple):
    """A file below a cluster's folder with the blob it was and is; None where there is none."""

    path: str
    before: bytes | None
    after: bytes | None


def changed_files(
    before: Mapping[str, bytes], after: Mapping[str, bytes], read_tree: ReadTree
) -> dict[FileChange, list[str]]:
    """Return the files that differ, each with the clusters in which it does so; arguments map clusters to folders."""
    compared: dict[tuple[bytes | None, bytes | None], list[FileChange]] = {}
    clusters_by_change: dict[FileChange, list[str]] = {}
    for name in sorted(before.keys() | after.keys()):
        for change in _changed_files_below(before.get(name), after.get(name), read_tree, compared):
            clusters_by_change.setdefault(change, []).append(name)
    return clusters_by_change


def _changed_files_below(
    before: bytes | None,
    after: bytes | None,
    read_tree: ReadTree,
    compared: dict[tuple[bytes | None, bytes | None], list[FileChange]],
) -> list[FileChange]:
    if before == after:
        return []
    if (before, after) not in compared:
        compared[before, after] = list(_file_changes_between(before, after, read_tree, compared))
    return compared[before, after]


def _file_changes_between(
    before: bytes | None,
    after: bytes | None,
    read_tree: ReadTree,
    compared: dict[tuple[bytes | None, bytes | None], list[FileChange]],
) -> Iterator[FileChange]:
    old = {entry.name: entry for entry in read_tree(before)} if before else {}
    new = {entry.name: entry for entry in read_tree(after)} if after else {}
    for name in sorted(old.keys() | new.keys()):
        first, second = old.get(name), new.get(name)
        if first == second:
            continue
        text = (first or new[name]).text
        ids = first.id if first else None, second.id if second else None
        if TREE_MODE in (first.mode if first else 0, second.mode if second else 0):
            for change in _changed_files_below(*ids, read_tree, compared):
                yield change._replace(path=f"{text}/{change.path}")
        else:
            yield FileChange(text, *ids)


class Texts(Struct):
    """Blobs as texts to compare; each text is read and each pair compared once."""

    blobs: Mapping[bytes, Blob]
    _manifests: dict[Text, Manifest] = field(default_factory=dict)
    _changes: dict[tuple[Text, Text], tuple[ChangedField, ...]] = field(default_factory=dict)

    def fields_and_has_numbers(self, before: bytes, after: bytes, kind: str) -> tuple[tuple[ChangedField, ...], bool]:
        """Return the fields in which two blobs differ, but for divided replicas, and whether those differ as well.

        What a Job divides are completions too, which no movement tells: its numbers are fields like others.
        """
        old, new = self.blobs[before], self.blobs[after]
        are_spliced = kind != "Job" and len(_numbers_of_blob(old)) == len(_numbers_of_blob(new)) == 1
        texts = (
            (_segments_of_blob(old), _segments_of_blob(new))
            if are_spliced
            else ((content_of_blob(old),), (content_of_blob(new),))
        )
        if texts[0] == texts[1]:
            return (), True
        if texts not in self._changes:
            self._changes[texts] = field_changes(self._manifest(texts[0]), self._manifest(texts[1]))
        return self._changes[texts], are_spliced and _numbers_of_blob(old) != _numbers_of_blob(new)

    def changed_fields(self, before: bytes, after: bytes) -> tuple[ChangedField, ...]:
        """Return all fields in which two blobs differ, divided numbers too."""
        return field_changes(*self.manifests(before, after))

    def manifests(self, before: bytes, after: bytes) -> tuple[Manifest, Manifest]:
        """Return two blobs as manifests."""
        old, new = (self._manifest((content_of_blob(self.blobs[each]),)) for each in (before, after))
        return old, new

    def _manifest(self, text: Text) -> Manifest:
        if text not in self._manifests:
            self._manifests[text] = mapping_of_rendered_file(b"0".join(text))
        return self._manifests[text]


def _segments_of_blob(blob: Blob) -> Text:
    return blob.segments if isinstance(blob, Spliced) else (content_of_blob(blob),)


def _numbers_of_blob(blob: Blob) -> tuple[int, ...]:
    return blob.values if isinstance(blob, Spliced) else ()


def object_changes(
    files: Mapping[FileChange, list[str]], ref_by_path: Mapping[str, ObjectRef], texts: Texts
) -> tuple[ObjectChange, ...]:
    """Return what happens to objects, the same change in several clusters told once.

    A blob that differs in its bytes but says the same is no change.
    """
    grouped: dict[tuple[ObjectRef, ChangeAction, str], tuple[tuple[ChangedField, ...], list[str]]] = {}
    for change, clusters in files.items():
        ref = ref_by_path.get(change.path) or ref_of_object_path(change.path)
        if change.before is None or change.after is None:
            action, fields = (
                (ChangeAction.ADDED if change.before is None else ChangeAction.REMOVED),
                tuple[ChangedField, ...](),
            )
        else:
            action = ChangeAction.CHANGED
            fields, has_numbers = texts.fields_and_has_numbers(change.before, change.after, ref.kind)
            if not fields and not has_numbers:
                continue
        grouped.setdefault((ref, action, _comparable_text_of_fields(fields)), (fields, []))[1].extend(clusters)
    changes = (
        ObjectChange(ref=ref, action=action, clusters=tuple(sorted(clusters)), fields=fields)
        for (ref, action, _), (fields, clusters) in grouped.items()
    )
    return tuple(sorted(changes, key=lambda change: (change.ref, change.action, change.clusters)))


def changed_manifests(
    files: Iterable[FileChange], ref_by_path: Mapping[str, ObjectRef], texts: Texts, group_kinds: Container[str]
) -> Iterator[tuple[ObjectRef, Manifest, Manifest]]:
    """Yield the manifests before and after of objects of some kinds that are others in some cluster."""
    both = {(each.path, each.before, each.after) for each in files if each.before and each.after}
    for path, before, after in sorted(both):
        ref = ref_by_path.get(path) or ref_of_object_path(path)
        if ref.group_kind in group_kinds:
            yield ref, *texts.manifests(before, after)


def _comparable_text_of_fields(fields: Iterable[ChangedField]) -> str:
    """Return a text that is equal for equal changes."""
    return json_text([[each.path, each.operator, each.before, each.after] for each in fields])
