"""Bases of other repositories, built from the locked content of a Source with the same address.

The content is put beside the files of the tree, and the kustomization names it there, in the private copy alone. What
is not locked stays an address, which a build refuses.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from reconciler.locked.model import UnavailableSource
from reconciler.source.deployers.trees import LockedContent, LockedTrees, UncommittedFile, address_of
from reconciler.source.files import FILE_MODE, SourceFile
from render.documents import emit, read_documents
from render.gitobjects import object_id

from .kustomization import ELSEWHERE, Reference
from .tree import MOUNT, Kustomizations, StandIn

_RAW = re.compile(r"^raw\.githubusercontent\.com/([^/]+/[^/]+)/(?:refs/(?:tags|heads)/)?([^/]+)/(.+)$")


class RemoteBase(NamedTuple):
    """A base of another repository: the address with the path in it, and the version ("": any)."""

    address: str
    version: str = ""

    @classmethod
    def of(cls, text: str) -> "RemoteBase":
        """Return the base that a text names.

        >>> RemoteBase.of("https://github.com/org/repo.git//deploy/base?ref=v1&timeout=90s")
        RemoteBase(address='github.com/org/repo/deploy/base', version='v1')
        >>> RemoteBase.of("https://raw.githubusercontent.com/org/repo/v1/crds.yaml")
        RemoteBase(address='github.com/org/repo/crds.yaml', version='v1')
        """
        place, _, query = text.removeprefix("git::").partition("?")
        scheme, found, rest = place.partition("://")
        rest = rest if found else place
        bare = address_of((f"{scheme}://" if found else "") + rest.replace("//", "/").replace(".git/", "/"))
        asked = parse_qs(query)
        version = next(iter(asked.get("ref") or asked.get("version") or ()), "")
        raw = _RAW.match(bare)
        return cls(f"github.com/{raw[1]}/{raw[3]}", raw[2]) if raw else cls(bare, version)


def with_locked(known: Kustomizations, locked: LockedTrees) -> Kustomizations:
    """Return kustomizations whose bases of other repositories are those of locked Sources, as far as there are any."""
    if not locked.sources:
        return known
    unseen = sorted(known.folders)
    while unseen:
        folder = unseen.pop()
        for file, parsed in known.at(folder):
            found = list(_contents(parsed.references, locked, known.unavailable))
            if found:
                before = known.folders
                known = _edited(known, file, found)
                unseen += sorted(known.folders - before)
    return known


class _Found(NamedTuple):
    """A reference to the content of a Source: the field and text, the content, and the path in it."""

    reference: Reference
    content: LockedContent
    path: str


def _contents(
    references: Iterable[Reference], locked: LockedTrees, unavailable: dict[str, UnavailableSource]
) -> Iterator[_Found]:
    for reference in references:
        if reference.text in unavailable or not ELSEWHERE.search(reference.text):
            continue
        base = RemoteBase.of(reference.text)
        try:
            found = locked.containing(base.address, base.version)
        except UnavailableSource as error:
            unavailable[reference.text] = error
            continue
        if found is not None:
            yield _Found(reference, *found)


def _edited(known: Kustomizations, file: SourceFile, found: Iterable[_Found]) -> Kustomizations:
    """Return the same tree with the content of Sources in it, and a kustomization that names it there."""
    folder = file.path.rpartition("/")[0]
    places = {}
    for each in found:
        known = _mounted(known, each.content)
        path = posixpath.join(_mount(each.content), each.path) if each.path else _mount(each.content)
        places[each.reference.text] = posixpath.relpath(path, folder or ".")
    documents, _ = read_documents(known.read([file.id])[file.id])
    document = _renamed(documents[0].value, places)
    content = emit(document)
    before = known.stand_ins.get(file.path) or StandIn(((file.path, file.id),), file.path)
    other = UncommittedFile(file.path, FILE_MODE, object_id("blob", content), len(content))
    return known.with_edited(other, document, content, before)


def _renamed(value: Any, places: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _renamed(inner, places) for key, inner in value.items()}
    if isinstance(value, list):
        return [_renamed(inner, places) for inner in value]
    return places.get(value, value) if isinstance(value, str) else value


def _mount(content: LockedContent) -> str:
    return posixpath.join(MOUNT, content.name, content.folder).rstrip("/")


def _mounted(known: Kustomizations, content: LockedContent) -> Kustomizations:
    """Return the same tree with the content of a Source in a folder of its own."""
    base = _mount(content)
    if any(path.startswith(f"{base}/") for path in known.stand_ins):
        return known
    files = content.tree.files
    moved = [UncommittedFile(f"{base}/{file.path}", file.mode, file.id, file.size) for file in files]
    stand_ins = {
        file.path: StandIn(content.tree.inputs, f"{content.name}:{before.path}")
        for file, before in zip(moved, files, strict=True)
    }
    return known.with_files(moved, content.tree.read, stand_ins)
