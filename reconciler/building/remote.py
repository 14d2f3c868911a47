"""Bases of other repositories, built from the locked content of a Source, which each implies where nobody wrote it.

The content is put beside the files of the tree, and the kustomization names it there, in the private copy alone. What
is not locked stays an address, which a build refuses.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from reconciler.locked.model import SourceType, UnavailableSource, file_name_of_address
from reconciler.source.external import named_place
from reconciler.source.files import FILE_MODE, SUFFIXES, SourceFile
from reconciler.source.uncommitted import UncommittedFile
from render.documents import emit, read_documents
from render.expressions import lazy_expression
from render.gitobjects import git_object_id

from .kustomization import ELSEWHERE, Reference, Role
from .source_trees import LockedContent, LockedTrees, comparable_repository_address
from .tree import MOUNT, Kustomizations, StandIn, path_joined_to

_NO_ARTIFACTS = "it is an artifact of a registry, which kustomize does not read"
_WEB = lazy_expression(r"https?://")
_REPOSITORY = lazy_expression(
    r"""(?P<url>
        (?:https?://|ssh://|file://|(?=github\.com/)|(?=[\w.-]+@[\w.-]+:))
        (?:.+?(?=//)|.+?\.git(?=/|$)|.+?/_git/[^/]+|(?:[^/:]+@[^/:]+:|[^/]*/)[^/]+/[^/]+)
    )(?P<path>.*)""",
    re.VERBOSE,
)
_RAW = lazy_expression(r"^raw\.githubusercontent\.com/([^/]+/[^/]+)/(?:refs/(?:tags|heads)/)?([^/]+)/(.+)$")


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
        bare = comparable_repository_address(
            (f"{scheme}://" if found else "") + rest.replace("//", "/").replace(".git/", "/")
        )
        version = _version_of_query(query)
        raw = _RAW.match(bare)
        return cls(f"github.com/{raw[1]}/{raw[3]}", raw[2]) if raw else cls(bare, version)


def place_of_remote_base(text: str, role: Role) -> tuple[SourceType, dict[str, str], str] | None:
    """Return the place that kustomize would fetch for a text, and the path in it; None where it would fetch nothing.

    A path is told from an address as kustomize does it: by ``//``, by ``.git``, or after two names below the host.

    >>> place_of_remote_base("https://github.com/org/repo//deploy?ref=v1", Role.RESOURCE)[1:]
    ({'url': 'https://github.com/org/repo', 'ref': 'v1'}, 'deploy')
    >>> place_of_remote_base("git@example.com:team/org/repo.git/deploy", Role.RESOURCE)[1:]
    ({'url': 'git@example.com:team/org/repo.git'}, 'deploy')
    >>> place_of_remote_base("github.com/org/repo/deploy/base?ref=v1", Role.RESOURCE)[1:]
    ({'url': 'https://github.com/org/repo', 'ref': 'v1'}, 'deploy/base')
    >>> place_of_remote_base("https://github.com/org/repo/releases/download/v1/install.yaml", Role.RESOURCE)[1:]
    ({'url': 'https://github.com/org/repo/releases/download/v1/install.yaml'}, 'install.yaml')
    """
    place, _, query = text.removeprefix("git::").partition("?")
    if place.startswith("oci://"):
        raise UnavailableSource(_NO_ARTIFACTS, hint="write a Source of it, with manifests: Include")
    version, rest = _version_of_query(query), place.partition("://")[2] or place
    is_path_marked = "//" in rest or ".git" in rest
    if _WEB.match(text) and not version and (_RAW.match(rest) or (place.endswith(SUFFIXES) and not is_path_marked)):
        return SourceType.HTTP, {"url": text}, file_name_of_address(text)
    found = _REPOSITORY.match(place)
    if role is Role.FILE or found is None:
        return None
    url = f"https://{found['url']}" if place.startswith("github.com/") else found["url"]
    return SourceType.GIT, named_place(url, version), found["path"].strip("/")


def _version_of_query(query: str) -> str:
    asked = parse_qs(query)
    return next(iter(asked.get("ref") or asked.get("version") or ()), "")


def kustomizations_with_locked_content(
    known: Kustomizations, locked: LockedTrees, folders: Iterable[str]
) -> Kustomizations:
    """Return kustomizations in which what these folders build upon of other repositories is content of Sources."""
    if locked.locked is None:
        return known
    unseen = sorted(each for each in folders if each in known.folders)
    seen, is_own = set(unseen), False
    while unseen:
        folder = unseen.pop()
        for file, parsed in known.kustomizations_at(folder):
            found = list(_contents_of_references(known, folder, parsed.references, locked))
            if found and not is_own:
                known, is_own = known.copy(), True
            if found:
                _mount_found_content(known, file, found)
        fresh = {*known.bases_of(folder)} - seen
        seen |= fresh
        unseen += sorted(fresh)
    return known


class _Found(NamedTuple):
    """A reference to the content of a Source: the field and text, the content, and the path in it."""

    reference: Reference
    content: LockedContent
    path: str


def _contents_of_references(
    known: Kustomizations, folder: str, references: Iterable[Reference], locked: LockedTrees
) -> Iterator[_Found]:
    for reference in references:
        if reference.text in known.unavailable or not ELSEWHERE.search(reference.text):
            continue
        here = path_joined_to(folder, reference.text)
        if here in known.files or here in known.folders:
            continue
        try:
            found = _locked_content_of_reference(reference, locked)
        except UnavailableSource as error:
            known.unavailable[reference.text] = error
            continue
        if found is not None:
            yield _Found(reference, *found)


def _locked_content_of_reference(reference: Reference, locked: LockedTrees) -> tuple[LockedContent, str] | None:
    """Return the content that a text means: that of a Source somebody wrote, or else the one that it implies."""
    base = RemoteBase.of(reference.text)
    written = locked.content_and_path_of_file(reference.text) or locked.content_and_path_of_version(
        base.address, base.version
    )
    place = None if written else place_of_remote_base(reference.text, reference.role)
    if place is None:
        return written
    type_, fields, path = place
    tree = locked.tree_without_source(type_, fields)
    return (LockedContent(tree.name, "", tree), path) if tree else None


def _mount_found_content(known: Kustomizations, file: SourceFile, found: Iterable[_Found]) -> None:
    """Put the content of Sources into a tree, and a kustomization that names it there."""
    folder = file.path.rpartition("/")[0]
    places = {}
    for each in found:
        _mount_content(known, each.content)
        path = (
            posixpath.join(_mount_path_of_content(each.content), each.path)
            if each.path
            else _mount_path_of_content(each.content)
        )
        places[each.reference.text] = posixpath.relpath(path, folder or ".")
    documents, _ = read_documents(known.read([file.id])[file.id])
    document = _value_with_places(documents[0].value, places)
    content = emit(document)
    before = known.stand_ins.get(file.path) or StandIn(((file.path, file.id),), file.path)
    other = UncommittedFile(file.path, FILE_MODE, git_object_id("blob", content), len(content))
    known.edit(other, document, content, before)


def _value_with_places(value: Any, places: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _value_with_places(inner, places) for key, inner in value.items()}
    if isinstance(value, list):
        return [_value_with_places(inner, places) for inner in value]
    return places.get(value, value) if isinstance(value, str) else value


def _mount_path_of_content(content: LockedContent) -> str:
    return posixpath.join(MOUNT, content.name, content.folder).rstrip("/")


def _mount_content(known: Kustomizations, content: LockedContent) -> None:
    """Put the content of a Source into a folder of its own, where it is not there yet."""
    base, files = _mount_path_of_content(content), content.tree.files
    if any(f"{base}/{file.path}" in known.stand_ins for file in files[:1]):
        return
    moved = [UncommittedFile(f"{base}/{file.path}", file.mode, file.id, file.size) for file in files]
    stand_ins = {
        file.path: StandIn(content.tree.inputs, f"{content.name}:{before.path}")
        for file, before in zip(moved, files, strict=True)
    }
    known.add(moved, content.tree.read, stand_ins)
