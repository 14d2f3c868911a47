"""Objects read in bulk: the files of a commit, the contents of blobs and trees, with at most one process each."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import NamedTuple

from msgspec import field

from render.errors import GitError
from render.expressions import lazy_expression
from render.gitobjects import BLOB_MODE, TREE_MODE, TreeEntry, git_object_id, parse_tree
from render.values import DiscreetStruct
from render.words import counted_noun

from .command import GitCommand
from .commits import parse_commit
from .stored_objects import FEW, StoredObjects

_FILE = lazy_expression(rb"([0-7]+) [a-z]+ ([0-9a-f]+) +(-|[0-9]+|BAD)\t([^\0]+)\0")
_PLAIN_FILE = lazy_expression(rb"([0-7]+) [a-z]+ ([0-9a-f]+)(\t)([^\0]+)\0")
_NAMED = 3

WHOLE_ID = lazy_expression(r"[0-9a-f]{40}|[0-9a-f]{64}")
"""An id that is written in full, as text."""

FEW_ENTRIES = 96
"""So many files and folders of a commit are listed sooner than a process starts."""
_LARGE = 8192
"""The bytes of a folder that has more entries than that."""
_BLOBS = frozenset({0o100644, 0o100755, 0o120000})
LISTED = _BLOBS | {0o160000}
"""The modes that git writes today; it is asked about a tree with others, which it reads as one of these."""

_READ_AT_ONCE = 1 << 16
"""The bytes that are taken of git's answer together: three calls for each of thousands of trees take longer."""

ABSENT = -1
"""The size of a file whose content a partial clone does not have."""


class File(NamedTuple):
    """A file of a snapshot: path from the repository's root, mode as git writes it, raw blob id, size in bytes.

    Symlinks (mode ``0o120000``) and submodules (``0o160000``, size 0) are listed for the reader to pass over. A path
    that is not UTF-8 keeps its bytes as surrogates.
    """

    path: str
    mode: int
    id: bytes
    size: int


class Snapshot(DiscreetStruct, frozen=True, kw_only=True):
    """The files of one commit, sorted as git sorts them; ``commit`` is "" for a work tree as it stands."""

    UNSHOWN = ("contents",)

    commit: str
    files: tuple[File, ...]
    contents: Mapping[bytes, bytes] = field(default_factory=dict)

    def with_contents(self, contents: Mapping[str, bytes | None], algorithm: str) -> "Snapshot":
        """Return a work tree that has other contents of some files (None: gone), and the rest as it is here."""
        kept = [each for each in self.files if each.path not in contents]
        new = [
            File(path, BLOB_MODE, git_object_id("blob", content, algorithm), len(content))
            for path, content in contents.items()
            if content is not None
        ]
        return Snapshot(commit="", files=tuple(sorted([*kept, *new])))


def list_files_of_tree(git: GitCommand, stored: StoredObjects, treeish: str, *, partial: bool) -> tuple[File, ...]:
    """Return every file of a commit or tree; a few are listed here, and for more of them git is asked."""
    few = None if partial else _files_of_small_commit(stored, treeish)
    if few is not None:
        return few
    try:
        return _files_listed_by_git(git, treeish, partial=partial)
    except GitError:
        if WHOLE_ID.fullmatch(treeish) and not partial:
            _read_top_folder(git, stored, treeish)  # git does not say which object it lacks
        raise


def _read_top_folder(git: GitCommand, stored: StoredObjects, commit: str) -> None:
    """Read the folder at the top of a commit; GitError that names it where the repository lacks it."""
    id_ = bytes.fromhex(commit)
    content = read_objects(git, stored, [id_], "commit", partial=False)[id_]
    read_objects(git, stored, [parse_commit(commit, content).tree], "tree", partial=False)


def _files_of_small_commit(stored: StoredObjects, treeish: str) -> tuple[File, ...] | None:
    """Return the files of a small commit without a process; None where that is not easy."""
    entries = _file_entries_if_few(stored, treeish) if WHOLE_ID.fullmatch(treeish) else None
    if entries is None or any(mode not in LISTED for _, mode, _ in entries):
        return None
    sizes = stored.sizes({id_ for _, mode, id_ in entries if mode in _BLOBS})
    if any(mode in _BLOBS and id_ not in sizes for _, mode, id_ in entries):
        return None
    return tuple([File(entry.text, entry.mode, entry.id, sizes.get(entry.id, 0)) for entry in entries])


def _file_entries_if_few(stored: StoredObjects, commit: str) -> list[TreeEntry] | None:
    """Return the entries of a commit that are no folders, named by their paths; None if there are many."""
    id_ = bytes.fromhex(commit)
    content = stored.read((id_,), "commit").get(id_)
    if content is None:
        return None
    found: list[TreeEntry] = []
    # The next to be looked at is the last: git lists the files of a folder in the place of the folder.
    waiting = [TreeEntry(b"", TREE_MODE, parse_commit(commit, content).tree)]
    for _ in range(FEW_ENTRIES):
        if not waiting:
            return found
        entry = waiting.pop()
        if entry.mode != TREE_MODE:
            found.append(entry)
            continue
        tree = stored.read((entry.id,), "tree").get(entry.id)
        if tree is None or len(tree) > _LARGE:
            return None
        prefix = entry.name + b"/" if entry.name else b""
        try:
            below = parse_tree(tree, stored.algorithm)
        except ValueError:
            return None
        waiting += [TreeEntry(prefix + name, mode, id_) for name, mode, id_ in reversed(below)]
    return None


def _files_listed_by_git(git: GitCommand, treeish: str, *, partial: bool) -> tuple[File, ...]:
    """Return the files of a commit or tree as git lists them."""
    sizes = _sizes_of_present_objects(git) if partial else None
    option = ["-l"] if sizes is None else []
    listing = git.run("ls-tree", "-r", *option, "-z", "--full-tree", "--end-of-options", treeish).stdout
    entries = (_FILE if sizes is None else _PLAIN_FILE).findall(listing)
    return tuple(
        [
            File(
                path.decode("utf-8", "surrogateescape"),
                int(mode, 8),
                bytes.fromhex(id_.decode()),
                _parse_object_size(size) if sizes is None else sizes.get(id_, ABSENT),
            )
            for mode, id_, size, path in entries
        ]
    )


def _parse_object_size(text: bytes) -> int:
    return int(text) if text.isdigit() else 0


def _sizes_of_present_objects(git: GitCommand) -> dict[bytes, int]:
    """Return the sizes of all objects this clone has, by id as git prints it, without fetching any."""
    every = ("cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname) %(objectsize)")
    lines = git.run(*every).stdout.split()
    return dict(zip(lines[::2], map(int, lines[1::2]), strict=True))


def read_objects(
    git: GitCommand, stored: StoredObjects, ids: Iterable[bytes], kind: str, *, partial: bool
) -> dict[bytes, bytes]:
    """Return the contents of objects, all of one kind; objects the repository lacks are a ``GitError`` naming them."""
    wanted = list(dict.fromkeys(ids))
    found = stored.read(wanted, kind) if len(wanted) <= FEW else {}
    rest = [id_ for id_ in wanted if id_ not in found]
    return {**found, **_objects_read_by_git(git, rest, kind, partial=partial)} if rest else found


def _objects_read_by_git(git: GitCommand, wanted: list[bytes], kind: str, *, partial: bool) -> dict[bytes, bytes]:
    """Return the contents of objects as git reads them."""
    try:
        contents = _contents_of_present_objects(git, wanted, kind)
    except GitError:
        # A partial clone's git gives up at the first object it lacks instead of going on.
        present = _sizes_of_present_objects(git) if partial else {id_.hex().encode(): 0 for id_ in wanted}
        _raise_for_missing_objects([id_ for id_ in wanted if id_.hex().encode() not in present], partial=True)
        raise
    _raise_for_missing_objects([id_ for id_ in wanted if id_ not in contents], partial=partial)
    return contents


def _contents_of_present_objects(git: GitCommand, ids: Iterable[bytes], kind: str) -> dict[bytes, bytes]:
    """Return the contents of those objects that are there."""
    names = "".join([f"{id_.hex()}\n" for id_ in ids]).encode()
    contents: dict[bytes, bytes] = {}
    with git.stream("cat-file", "--batch", "--buffer", stdin=names) as output:
        answer, place = b"", 0
        for id_ in ids:
            if (end := answer.find(b"\n", place)) < 0:
                answer, place = answer[place:] + output.read(_READ_AT_ONCE), 0
                end = answer.find(b"\n")
            header, place = answer[place:end].split(), end + 1
            if len(header) != 3:
                continue
            if header[1].decode() != kind:
                raise GitError(f"object {id_.hex()[:12]} is a {header[1].decode()}, not a {kind}")
            if (end := place + int(header[2])) >= len(answer):
                missing = end + 1 - len(answer)
                answer, place, end = answer[place:] + output.read(max(missing, _READ_AT_ONCE)), 0, end - place
            contents[id_] = answer[place:end]
            place = end + 1
    return contents


def _raise_for_missing_objects(ids: list[bytes], *, partial: bool) -> None:
    if not ids:
        return
    named = ", ".join(id_.hex()[:12] for id_ in islice(sorted(ids), _NAMED)) + (" ..." if len(ids) > _NAMED else "")
    count = counted_noun(len(ids), "object is", "objects are")
    if partial:
        raise GitError(
            f"{count} not in this partial clone: {named}",
            hint="Argosy never fetches behind your back; complete the clone: git fetch --refetch --no-filter",
        )
    raise GitError(f"{count} missing from the repository: {named}", hint="run git fsck")
