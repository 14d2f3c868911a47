"""Names for shell completion, collected from a repository by a quick scan.

A person who presses Tab waits for the answer, so the scan ends after a fixed time with the names collected so far. It
parses no YAML: regular expressions find names in the files of the work tree, and paths of rendered branches are names.
"""

import os
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from msgspec import Struct, field

from render.expressions import lazy_expression

if TYPE_CHECKING:
    from reconciler.repository import Repository

SECONDS = 0.12
"""The time a scan may take; a longer wait for Tab would be felt."""
_LONGEST = 64 * 1024
_RENDERED = lazy_expression(r"refs/(?:heads|remotes/[^/]+)/argosy(?:-[^/]+)?/rendered")
_PREFIX = lazy_expression(r"^refs/(?:heads|tags|remotes)/")
_DOCUMENT = lazy_expression(r"^---.*$", re.MULTILINE)
_KIND = lazy_expression(r"^kind: *[\"']?(\w+)", re.MULTILINE)
_GROUP = lazy_expression(r"^apiVersion: *[\"']?([\w.-]+)/", re.MULTILINE)
_METADATA = lazy_expression(r"^metadata:.*(?:\n(?: .*)?)*", re.MULTILINE)
_NAME = lazy_expression(r"(?:^  |[{,] *)name: *[\"']?([\w.-]+)", re.MULTILINE)
_NAMESPACE = lazy_expression(r"(?:^  |[{,] *)namespace: *[\"']?([\w.-]+)", re.MULTILINE)


class _TimeIsUp(BaseException):
    """The time of the scan is over; no handler of ordinary exceptions may catch this."""


class ScannedNames(Struct):
    """The names collected: objects and policies (kind with group, namespace, name), clusters, branches and tags.

    ``members`` are the clusters that have a file; the others have left, and the rendered branch knows them.
    """

    objects: set[tuple[str, str, str]] = field(default_factory=set)
    clusters: set[str] = field(default_factory=set)
    members: set[str] = field(default_factory=set)
    revisions: set[str] = field(default_factory=set)


Scan = Callable[["Repository", ScannedNames], None]
"""Add names of a repository to those collected."""


def collect_names_in_time(location: str, scan: Scan) -> ScannedNames:
    """Return the names a scan collects in time; none where anything is wrong, or of a remote repository."""
    names = ScannedNames()
    with suppress(Exception):
        # Outside of the time limit: a busy machine would spend all of it on these and find nothing.
        from reconciler.repository import open_repository
        from reconciler.repository.location import is_address

        if not is_address(location):
            with _time_limit(), open_repository(location) as repository:
                scan(repository, names)
    return names


@contextmanager
def _time_limit() -> Iterator[None]:
    """End the block when the time of a scan is over."""

    def raise_timeout(_signal: int, _frame: FrameType | None) -> None:
        raise _TimeIsUp

    before = signal.signal(signal.SIGALRM, raise_timeout)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        with suppress(_TimeIsUp):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def collect_objects(repository: "Repository", names: ScannedNames) -> None:
    """Collect objects, policies and clusters: of the files first, which takes no process, then of rendered branches."""
    for path in _short_manifest_files(repository.folder.work_tree):
        for text in _DOCUMENT.split(path.read_text(encoding="utf-8", errors="replace")):
            _add_names_in_document(text, names)
    for tip in {commit for ref, commit in repository.refs("refs/").items() if _RENDERED.fullmatch(ref)}:
        for file in repository.snapshot(tip).files:
            _add_name_in_rendered_path(file.path, names)


def collect_revisions(repository: "Repository", names: ScannedNames) -> None:
    """Collect branches and tags."""
    names.revisions |= {"HEAD", *(_PREFIX.sub("", ref) for ref in repository.refs("refs/"))}


def _short_manifest_files(root: Path | None) -> Iterator[Path]:
    """Yield the files of a work tree that may hold manifests and are short, those of clusters first.

    The time of a scan may end before a large fleet is read, and clusters are what most options name.
    """
    for folder, below, files in os.walk(root) if root else ():
        below[:] = sorted((name for name in below if not name.startswith(".")), key=_sort_key_of_folder)
        paths = (Path(folder, name) for name in sorted(files) if name.endswith((".yaml", ".yml")))
        yield from (path for path in paths if not path.is_symlink() and path.stat().st_size <= _LONGEST)


def _sort_key_of_folder(folder: str) -> tuple[bool, str]:
    return folder != "clusters", folder


def _add_names_in_document(text: str, names: ScannedNames) -> None:
    kind, group, metadata = _KIND.search(text), _GROUP.search(text), _METADATA.search(text)
    name = _NAME.search(metadata[0]) if metadata else None
    if not (kind and metadata and name):
        return
    place = _NAMESPACE.search(metadata[0])
    if kind[1] == "Cluster":
        names.clusters.add(name[1])
        names.members.add(name[1])
    else:
        names.objects.add((f"{kind[1]}.{group[1]}" if group else kind[1], place[1] if place else "", name[1]))


def _add_name_in_rendered_path(path: str, names: ScannedNames) -> None:
    from render.layout import ref_of_object_path

    folder, _, rest = path.partition("/")
    if folder == "clusters":
        names.clusters.add(rest.partition("/")[0])
    elif folder == "bindings":
        ref = ref_of_object_path(rest)
        names.objects.add((ref.group_kind, ref.namespace, ref.name))
