"""The files of a work tree that a fleet reads and that no commit has: what has to be added before the first pass.

A pass reads commits. Whoever only adds what ``argosy init`` wrote would have a pass over nothing.
"""

import shlex
from collections.abc import Collection, Iterable, Iterator
from posixpath import relpath

from reconciler.source.files import IGNORE_FILE, Reason, may_start_build
from reconciler.source.loading import Loaded

from .cluster_files import MemberSource
from .offered_charts import folders_of_charts


def paths_to_add(source: MemberSource, after: Loaded, written: Collection[str]) -> Iterator[str]:
    """Yield the files and whole folders that are read and not committed, without those that ``argosy init`` wrote.

    A folder is named if everything in it that Git does not have yet is read, so that nothing else comes along: above
    all no credentials.
    """
    there = {file.path for file in source.files}
    dirty = {path for path in source.repository.dirty_paths() if path in there} - {*written}
    wanted = dirty & {*_files_that_are_read(source, after, dirty)}
    others = dirty - wanted
    base = source.base
    seen: set[str] = set()
    for path in sorted(wanted):
        folders = [path[:end] for end, letter in enumerate(path) if letter == "/" and end > len(base)]
        found = next((each for each in folders if not _is_any_below(each, others)), path)
        if found not in seen:
            seen.add(found)
            yield found


def _files_that_are_read(source: MemberSource, after: Loaded, among: Iterable[str]) -> Iterator[str]:
    """Yield the files that are manifests, that may be read by a build, or that say what is read."""
    base = source.base
    roots = {file.path.rpartition("/")[0] for file in source.files if may_start_build(file.path)}
    built = (*(f"{each}/" for each in roots if each), *folders_of_charts(after, base))
    secret = {each.path for each in after.desired.skipped if each.reason is Reason.CREDENTIALS}
    left_out = tuple(f"{each.path}/" for each in after.desired.skipped if each.reason is not Reason.UNLISTED)
    for path in among:
        is_built = path.startswith(built) and not path.startswith(left_out) and "/." not in path
        is_read = path in after.read_paths or path == f"{base}{IGNORE_FILE}"
        if (is_read or is_built) and path not in secret:
            yield path


def _is_any_below(folder: str, paths: Iterable[str]) -> bool:
    return any(path.startswith(f"{folder}/") for path in paths)


def arguments_of_paths(source: MemberSource, paths: Iterable[str]) -> str:
    """Return paths as arguments of a command, seen from the folder that somebody stands in."""
    under = source.repository.folder.under
    return " ".join(shlex.quote(relpath(path, under) if under else path) for path in paths)
