"""Documents of an earlier source put back into the present one: of what is asked for, and of nothing else.

1. A file in which everything is asked for, then and now, gets the bytes that it had.
2. In any other file a document is replaced by its former text, added at the end, or taken away.
3. What a tool built has no document of its own, and is named.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property

from msgspec import Struct

from reconciler.repository import File, Repository
from reconciler.source.built_files import BuiltFile
from reconciler.source.karmada_objects import admitted_kind
from reconciler.source.loading import Loaded
from reconciler.source.manifests import LocatedManifest
from render.documents import emit, parse_documents
from render.documents.editing import REMOVED, Edit, edit_file, without_document
from render.documents.editing.nodes import UneditableError
from render.documents.editing.whole import document_text, with_added_document, with_document
from render.model import ObjectRef

from .cluster_files import Contents, error_of_refused_edit, field_path_steps

IsAsked = Callable[[ObjectRef], bool]


class SourceSide(Struct, frozen=True, kw_only=True, dict=True):
    """A source that is compared with another one: its files, and what was loaded of them."""

    repository: Repository
    files: tuple[File, ...]
    loaded: Loaded

    @cached_property
    def file_by_path(self) -> Mapping[str, File]:
        """The files by their paths."""
        return {each.path: each for each in self.files}

    @cached_property
    def documents(self) -> Mapping[ObjectRef, tuple[LocatedManifest, ...]]:
        """The manifests of each object, with the namespace that it gets where it names none."""
        lines = self.loaded.lines
        ref_by_place = {(each.path, each.document): each.ref for each in self.loaded.desired.templates}
        found: dict[ObjectRef, list[LocatedManifest]] = {}
        for key, place in lines.places.items() if lines else ():
            ref = ref_by_place.get(key) or self._ref_of_manifest(place)
            found.setdefault(ref, []).append(place)
        return {ref: tuple(places) for ref, places in found.items()}

    @cached_property
    def refs_by_path(self) -> Mapping[str, frozenset[ObjectRef]]:
        """The objects whose manifests stand in each file."""
        found: dict[str, set[ObjectRef]] = {}
        for ref, places in self.documents.items():
            for place in places:
                if not isinstance(place.file, BuiltFile):
                    found.setdefault(place.file.path, set()).add(ref)
        return {path: frozenset(refs) for path, refs in found.items()}

    def content(self, path: str) -> bytes | None:
        """Return a file, None where there is none."""
        file = self.file_by_path.get(path)
        return None if file is None else self.repository.read_blobs([file.id])[file.id]

    def text_of(self, ref: ObjectRef) -> str | None:
        """Return the text of an object's document; None where it has none, or several."""
        places = [each for each in self.documents.get(ref, ()) if not isinstance(each.file, BuiltFile)]
        if len(places) != 1:
            return None
        if places[0].prefix:
            return emit(places[0].manifest).decode()
        return document_text(self.content(places[0].file.path) or b"", places[0].position)

    def _ref_of_manifest(self, place: LocatedManifest) -> ObjectRef:
        ref, kind = ObjectRef.of(place.manifest), admitted_kind(place.manifest)
        if isinstance(place.file, BuiltFile) and not ref.namespace:
            return ObjectRef(ref.group, ref.kind, place.file.namespace, ref.name)
        if kind is None or not kind.is_namespaced or ref.namespace:
            return ref
        return ObjectRef(ref.group, ref.kind, self.loaded.desired.fleet.default_namespace, ref.name)


class RestoredFiles(Struct, frozen=True, kw_only=True):
    """The contents that files get, and the objects whose documents are then what they were, or cannot be, with why."""

    contents: Contents
    refs: tuple[ObjectRef, ...] = ()
    unrestorable: Mapping[ObjectRef, str] = {}


def files_restored(now: SourceSide, then: SourceSide, is_asked: IsAsked, paths: Collection[str] = ()) -> RestoredFiles:
    """Return the files with the documents that an earlier source had of all that is asked for.

    ``paths`` are files without documents that are asked for as well.
    """
    asked = sorted(filter(is_asked, now.documents.keys() | then.documents.keys()))
    changed = [ref for ref in asked if _are_changed(now, then, ref)]
    unrestorable = {ref: reason for ref in changed if (reason := _reason_against(now, then, ref, paths))}
    built = {ref for ref in changed if _is_built(now, ref) or _is_built(then, ref)}
    refs = [ref for ref in changed if ref not in unrestorable and ref not in built]
    contents = dict[str, bytes | None]()
    for path in sorted(_whole_paths(now, then, refs, is_asked) | {*paths}):
        if (former := then.content(path)) != now.content(path):
            contents[path] = former
    whole = frozenset(contents)
    for ref in refs:
        contents |= _edits_of_document(now, then, ref, contents, whole)
    kept = {path: content for path, content in contents.items() if content != now.content(path)}
    return RestoredFiles(contents=kept, refs=tuple(refs), unrestorable=unrestorable)


def _are_changed(now: SourceSide, then: SourceSide, ref: ObjectRef) -> bool:
    manifests = [sorted(emit(each.manifest) for each in side.documents.get(ref, ())) for side in (now, then)]
    return manifests[0] != manifests[1] or now.text_of(ref) != then.text_of(ref)


def _is_built(side: SourceSide, ref: ObjectRef) -> bool:
    return any(isinstance(each.file, BuiltFile) for each in side.documents.get(ref, ()))


def _reason_against(now: SourceSide, then: SourceSide, ref: ObjectRef, paths: Collection[str]) -> str:
    """Return why the document of an object cannot be put back; empty where it can, or what it is built from is."""
    for side in (then, now):
        places = side.documents.get(ref, ())
        built = [path for each in places if isinstance(each.file, BuiltFile) for path, _ in each.file.inputs]
        if built and not paths:
            return f"it has no document: {places[0].file.path} builds it"
        if len(places) > 1 and not built:
            return f"it stands in {len(places)} documents"
    return ""


def _whole_paths(now: SourceSide, then: SourceSide, refs: Iterable[ObjectRef], is_asked: IsAsked) -> frozenset[str]:
    """Return the files of changed documents in which there is nothing, on either side, that is not asked for."""
    paths = {place.file.path for ref in refs for side in (now, then) for place in side.documents.get(ref, ())}

    def is_whole(path: str) -> bool:
        others = (ref for side in (now, then) for ref in side.refs_by_path.get(path, ()))
        return all(map(is_asked, others)) and _is_known_on_both_sides(path)

    def _is_known_on_both_sides(path: str) -> bool:
        return all(path not in side.file_by_path or path in side.refs_by_path for side in (now, then))

    return frozenset(filter(is_whole, paths))


def _edits_of_document(
    now: SourceSide, then: SourceSide, ref: ObjectRef, contents: Contents, whole: frozenset[str]
) -> Contents:
    """Return the files that change so that an object has its former document, beside those that are restored whole."""
    here = [each for each in now.documents.get(ref, ()) if each.file.path not in whole]
    there = [each for each in then.documents.get(ref, ()) if each.file.path not in whole]
    edited: dict[str, bytes | None] = {}
    text = then.text_of(ref)
    if here and there and text is not None:
        path = here[0].file.path
        edited[path] = _content_with_text(path, _content_so_far(now, path, contents), here[0], text)
    elif here:
        path = here[0].file.path
        edited[path] = _content_without(path, _content_so_far(now, path, contents), ref, now)
    elif there and text is not None:
        path = there[0].file.path
        edited[path] = with_added_document(_content_so_far(now, path, contents), text)
    return edited


def _content_so_far(now: SourceSide, path: str, contents: Contents) -> bytes:
    content = contents[path] if path in contents else now.content(path)
    return content or b""


def _content_with_text(path: str, content: bytes, place: LocatedManifest, text: str) -> bytes:
    position = _position_now(content, place)
    try:
        if place.prefix:
            steps = _steps_of_item(content, position, place)
            return edit_file(content, position, [Edit(steps, parse_documents(text.encode())[0].value)])
        return with_document(content, position, text)
    except UneditableError as error:
        raise error_of_refused_edit(path, error) from error


def _content_without(path: str, content: bytes, ref: ObjectRef, side: SourceSide) -> bytes | None:
    place = next(each for each in side.documents[ref] if each.file.path == path)
    position = _position_now(content, place)
    try:
        if place.prefix and len(parse_documents(content)[position].value["items"]) > 1:
            return edit_file(content, position, [Edit(_steps_of_item(content, position, place), REMOVED)])
        return without_document(content, position) or None
    except UneditableError as error:
        raise error_of_refused_edit(path, error) from error


def _position_now(content: bytes, place: LocatedManifest) -> int:
    """Return where a document stands in a file that other edits may have changed."""
    for number, each in enumerate(parse_documents(content)):
        values = each.value.get("items") or () if place.prefix and isinstance(each.value, dict) else (each.value,)
        if any(value == place.manifest for value in values):
            return number
    return place.position


def _steps_of_item(content: bytes, position: int, place: LocatedManifest) -> tuple[str | int, ...]:
    """Return the path of an item of a list that other edits may have changed."""
    items = parse_documents(content)[position].value["items"]
    found = next((number for number, value in enumerate(items) if value == place.manifest), None)
    return field_path_steps(place.prefix) if found is None else ("items", found)


def paths_of_builds(side: SourceSide) -> Iterator[str]:
    """Yield the files that tools built objects of a source from."""
    for places in side.documents.values():
        for place in places:
            if isinstance(place.file, BuiltFile):
                yield from (path for path, _ in place.file.inputs)
