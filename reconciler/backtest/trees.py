"""The files that differ between two trees of a repository."""

from collections.abc import Iterator

from reconciler.repository import Repository
from render.gitobjects import TREE_MODE, TreeEntry


def changed_paths(
    repository: Repository, before: bytes | None, after: bytes | None, above: str = ""
) -> Iterator[tuple[str, bytes | None, bytes | None]]:
    """Yield the paths of the files that are others below two trees, with their ids before and after (None: not there).

    Nothing below folders that are equal is read.
    """
    if before == after:
        return
    found = repository.read_trees({id_ for id_ in (before, after) if id_ is not None})
    old, new = (_entries_by_name(found[id_]) if id_ is not None else {} for id_ in (before, after))
    for name in sorted(old.keys() | new.keys()):
        one, other = old.get(name), new.get(name)
        if one == other:
            continue
        yield from changed_paths(repository, _folder(one), _folder(other), f"{above}{name}/")
        if _file(one) != _file(other):
            yield above + name, _file(one), _file(other)


def _entries_by_name(entries: tuple[TreeEntry, ...]) -> dict[str, TreeEntry]:
    return {entry.text: entry for entry in entries}


def _folder(entry: TreeEntry | None) -> bytes | None:
    return entry.id if entry is not None and entry.mode == TREE_MODE else None


def _file(entry: TreeEntry | None) -> bytes | None:
    return entry.id if entry is not None and entry.mode != TREE_MODE else None
