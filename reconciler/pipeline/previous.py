"""The previous rendered commit as a value: its bindings and trees, each read when it is asked for."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct, field

from reconciler.ledger.branch_file import FileFault
from render.binding import Binding
from render.bits import Mask
from render.errors import GitError
from render.gitobjects import TREE_MODE, TreeEntry
from render.layout import object_path
from render.model import ObjectRef
from render.tree import Base, Variant, variants_with_equal_ids_joined

from .binding_files import BindingCache, BindingReader, PlainBinding

ReadTrees = Callable[[Iterable[bytes]], Mapping[bytes, tuple[TreeEntry, ...]]]
"""Read the entries of tree objects by raw id."""

ReadBlobs = Callable[[Iterable[bytes]], Mapping[bytes, bytes]]
"""Read the contents of blobs by raw id."""

Path = tuple[str, ...]

_Read = TypeVar("_Read")
_Value = TypeVar("_Value")

_FEW = 32
"""So many bindings are read sooner than all that earlier passes read."""
_FIRST_BATCH, _BATCH = 256, 32 << 20
"""The files that are read at once at first, and the bytes of those that are then: of many, they fill the memory."""
RESTORE_HINT = "the rendered branch is Argosy's to write; restore its last good commit"


class StoredTrees(Struct):
    """Trees of the repository by id, each read once."""

    read: ReadTrees
    known: dict[bytes, Mapping[str, TreeEntry]] = field(default_factory=dict)

    def load(self, tree_ids: Iterable[bytes]) -> None:
        """Read many trees in one go."""
        missing = {tree_id for tree_id in tree_ids if tree_id not in self.known}
        if missing:
            for tree_id, entries in self.read(missing).items():
                self.known[tree_id] = {entry.text: entry for entry in entries}

    def entries(self, tree_id: bytes) -> Mapping[str, TreeEntry]:
        """Return a tree's entries by name."""
        self.load((tree_id,))
        return self.known[tree_id]

    def load_below(self, tree_ids: Iterable[bytes], paths: Iterable[Path]) -> None:
        """Read the folders on the paths below some trees, a level in one go."""
        level = {tree_id: set(paths) for tree_id in tree_ids} if (paths := set(paths)) else {}
        while level:
            self.load(level)
            deeper: dict[bytes, set[Path]] = {}
            for tree_id, below in level.items():
                entries = self.known[tree_id]
                for name, *rest in below:
                    entry = entries.get(name) if rest else None
                    if entry is not None and entry.mode == TREE_MODE:
                        deeper.setdefault(entry.id, set()).add(tuple(rest))
            level = deeper

    def entry(self, tree_id: bytes, path: Path) -> TreeEntry | None:
        """Return what stands at a path below a tree."""
        for name in path[:-1]:
            folder = self.entries(tree_id).get(name)
            if folder is None or folder.mode != TREE_MODE:
                return None
            tree_id = folder.id
        return self.entries(tree_id).get(path[-1])

    def files(self, tree_id: bytes) -> Iterator[tuple[Path, bytes]]:
        """Yield every file below a tree, its path and blob id, the nearest first; a level is read in one go."""
        level: list[tuple[Path, bytes]] = [((), tree_id)]
        while level:
            self.load(folder for _, folder in level)
            deeper = []
            for above, folder in level:
                for name, entry in self.known[folder].items():
                    if entry.mode == TREE_MODE:
                        deeper.append(((*above, name), entry.id))
                    else:
                        yield (*above, name), entry.id
            level = deeper


def changed_files(
    trees: StoredTrees, before: bytes | None, after: bytes | None
) -> Iterator[tuple[bytes | None, bytes | None]]:
    """Yield the blob ids of every file that differs below two trees, None where there is no such file."""
    if before == after:
        return
    trees.load(tree_id for tree_id in (before, after) if tree_id is not None)
    old, new = (trees.entries(tree_id) if tree_id is not None else {} for tree_id in (before, after))
    for name in old.keys() | new.keys():
        one, other = old.get(name), new.get(name)
        if one == other:
            continue
        yield from changed_files(trees, _folder_id(one), _folder_id(other))
        files = _file_id(one), _file_id(other)
        if files[0] != files[1]:
            yield files


def _folder_id(entry: TreeEntry | None) -> bytes | None:
    return entry.id if entry is not None and entry.mode == TREE_MODE else None


def _file_id(entry: TreeEntry | None) -> bytes | None:
    return entry.id if entry is not None and entry.mode != TREE_MODE else None


class RenderedTree(Struct, frozen=True, kw_only=True):
    """A rendered commit's tree. ``clusters`` maps a cluster to the id of its folder.

    ``read_blobs`` reads its files; who has no use for these leaves it out.
    """

    root: bytes
    trees: StoredTrees
    clusters: Mapping[str, bytes]
    read_blobs: ReadBlobs | None = None

    @classmethod
    def of(cls, root: bytes, read: ReadTrees, read_blobs: ReadBlobs | None = None) -> "RenderedTree":
        """Open the tree with this root id; only its top is read."""
        trees = StoredTrees(read)
        folder = trees.entries(root).get("clusters")
        clusters = {name: entry.id for name, entry in trees.entries(folder.id).items()} if folder else {}
        return cls(root=root, trees=trees, clusters=clusters, read_blobs=read_blobs)

    def contents(self, blob_ids: Iterable[bytes]) -> Mapping[bytes, bytes]:
        """Return the contents of files by their blob ids."""
        assert self.read_blobs is not None, "a pass reads files of the commit that it starts from"
        return self.read_blobs(blob_ids)

    def base(self, index_by_cluster: Mapping[str, int]) -> Base:
        """Return the folders of the clusters of an index, to be built on."""
        masks: dict[bytes, Mask] = {}
        for name, tree_id in self.clusters.items():
            if name in index_by_cluster:
                masks[tree_id] = masks.get(tree_id, 0) | 1 << index_by_cluster[name]
        return Base(
            variants_with_equal_ids_joined(Variant(clusters, tree_id) for tree_id, clusters in masks.items()),
            self.trees.entries,
        )

    def load(self, refs: Iterable[ObjectRef]) -> None:
        """Read the folders that clusters hold some objects in, a level in one go."""
        self.trees.load_below(self.clusters.values(), map(object_path, refs))

    def variants(self, path: Path, index_by_cluster: Mapping[str, int], among: Mask) -> tuple[Variant, ...]:
        """Return who among the given clusters holds which blob at a path below the clusters' folders."""
        masks = {
            tree_id: clusters & among for clusters, tree_id in self.base(index_by_cluster).variants if clusters & among
        }
        for folder in path[:-1]:
            masks = self._folders_below(masks, folder)
        return tuple(Variant(clusters, blob_id) for blob_id, clusters in self._folders_below(masks, path[-1]).items())

    def files(self, tree_id: bytes) -> Iterator[tuple[Path, bytes]]:
        """Yield every file below a tree: its path and blob id."""
        return self.trees.files(tree_id)

    def _folders_below(self, masks: Mapping[bytes, Mask], name: str) -> dict[bytes, Mask]:
        self.trees.load(masks)
        found: dict[bytes, Mask] = {}
        for tree_id, clusters in masks.items():
            entry = self.trees.entries(tree_id).get(name)
            if entry is not None:
                found[entry.id] = found.get(entry.id, 0) | clusters
        return found


class StoredBindings(Mapping[ObjectRef, Binding]):
    """The bindings of a rendered commit, all read when the first is asked for that was not loaded before.

    Equal target lists and placements are one value each. A file that is no binding is a ``GitError``. ``parsed`` are
    bindings by blob id, which several commits may share: most are the same in one commit and the next. ``cache`` has
    those that earlier passes read.
    """

    __slots__ = ("_by_blob", "_cache", "_commit", "_is_complete", "_known", "_read", "_reader", "_tree")

    def __init__(
        self,
        commit: str,
        tree: RenderedTree,
        read: ReadBlobs,
        *,
        parsed: dict[bytes, Binding] | None = None,
        cache: BindingCache | None = None,
    ) -> None:
        self._commit, self._tree, self._read = commit, tree, read
        self._by_blob = {} if parsed is None else parsed
        self._cache = cache
        self._reader = BindingReader()
        self._known: dict[ObjectRef, Binding | None] = {}
        self._is_complete = False

    @property
    def parsed(self) -> Mapping[bytes, Binding]:
        """The bindings that were read by now, of this commit and of others, by blob id."""
        return self._by_blob

    def __getitem__(self, ref: ObjectRef) -> Binding:
        if ref not in self._known:
            self._read_all_bindings()
        found = self._known.get(ref)
        if found is None:
            raise KeyError(ref)
        return found

    def __iter__(self) -> Iterator[ObjectRef]:
        self._read_all_bindings()
        return (ref for ref, binding in self._known.items() if binding is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def load(self, refs: Iterable[ObjectRef]) -> None:
        """Read the bindings of some objects in one go; those that have none are known to have none."""
        if self._is_complete:
            return
        path_by_ref = {ref: ("bindings", *object_path(ref)) for ref in refs if ref not in self._known}
        if not path_by_ref:
            return
        trees, root = self._tree.trees, self._tree.root
        trees.load_below((root,), path_by_ref.values())
        entries = {ref: trees.entry(root, path) for ref, path in path_by_ref.items()}
        found = self._bindings((path_by_ref[ref], entry.id) for ref, entry in entries.items() if entry is not None)
        for ref, entry in entries.items():
            self._known[ref] = None if entry is None else found[entry.id]

    def _read_all_bindings(self) -> None:
        if self._is_complete:
            return
        self._is_complete = True
        folder = self._tree.trees.entries(self._tree.root).get("bindings")
        files = list(self._tree.files(folder.id)) if folder else []
        found = self._bindings((("bindings", *path), blob_id) for path, blob_id in files)
        self._known = {found[blob_id].ref: found[blob_id] for _, blob_id in files}

    def _bindings(self, files: Iterable[tuple[Path, bytes]]) -> Mapping[bytes, Binding]:
        """Return the bindings of some files by blob id, reading those that are not known yet."""
        missing = {blob_id: path for path, blob_id in files if blob_id not in self._by_blob}
        cache = self._cache if len(missing) > _FEW else None
        known = cache.get_many(missing) if cache is not None else {}
        fresh: dict[bytes, PlainBinding] = {}
        for contents in contents_in_batches(self._read, [blob_id for blob_id in missing if blob_id not in known]):
            for blob_id, content in contents.items():
                fresh[blob_id] = self._read_binding(missing[blob_id], self._reader.plain, content)
        for blob_id, path in missing.items():
            plain = known.get(blob_id) or fresh[blob_id]
            self._by_blob[blob_id] = self._read_binding(path, self._reader.binding, plain)
        if cache is not None and fresh:
            cache.put_many(fresh)
        return self._by_blob

    def _read_binding(self, path: Path, read: Callable[[_Read], _Value], content: _Read) -> _Value:
        """Return what is read of a file; GitError where it is no binding."""
        return parse_binding_file(f"{'/'.join(path)} in rendered commit {self._commit[:12]}", read, content)


def contents_in_batches(read: ReadBlobs, ids: Sequence[bytes]) -> Iterator[Mapping[bytes, bytes]]:
    """Yield the contents of files by blob id, so many at once as come to ``_BATCH`` bytes by those before them."""
    start, count = 0, _FIRST_BATCH
    while start < len(ids):
        contents = read(ids[start : start + count])
        yield contents
        start += count
        size = sum(map(len, contents.values()))
        count = max(1, count * _BATCH // max(size, 1))


_MOST_PARSED = 2
"""So many times as many bindings as a commit has may be known of earlier commits; with more, they are read anew."""


def bindings_parsed_before(bindings: Mapping[ObjectRef, Binding]) -> dict[bytes, Binding]:
    """Return the bindings of a commit by blob id, as far as they were read, for another commit that shares most."""
    if not isinstance(bindings, StoredBindings):
        return {}
    parsed = bindings.parsed
    return dict(parsed) if len(parsed) <= _MOST_PARSED * len(bindings) + _FEW else {}


def parse_binding_file(name: str, read: Callable[[_Read], _Value], content: _Read) -> _Value:
    """Return what is read of the file of a binding, which ``name`` names; GitError where it is none."""
    try:
        return read(content)
    except FileFault as fault:
        raise GitError(f"{name} is no binding", hint=RESTORE_HINT) from fault


def parse_file_at_root(name: str, content: bytes, parse: Callable[[bytes], _Value]) -> _Value:
    """Return what stands in a file at the root of a rendered commit; GitError where it is not as it was written."""
    try:
        return parse(content)
    except FileFault as fault:
        raise GitError(f"{name} on the rendered branch is not as Argosy writes it", hint=RESTORE_HINT) from fault


class Previous(Struct, frozen=True, kw_only=True):
    """The last rendered commit: the state that the next decision starts from.

    ``tools`` are the programs that built some of its source, by name and version. ``branch`` is the one that source
    commits have to be of ("": none is remembered yet). ``record`` is what the pass wrote into the commit for the next
    one ("": nothing).
    """

    commit: str
    source: str
    version: str
    bindings: Mapping[ObjectRef, Binding]
    tree: RenderedTree
    tools: tuple[str, ...] = ()
    branch: str = ""
    record: str = ""
