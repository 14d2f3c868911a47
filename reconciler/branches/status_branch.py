"""The status branch: what was seen and what every cluster may hold, written by the pass alone.

A commit changes only the files it names; everything else keeps its tree. It moves by compare-and-swap like every
branch, and whoever was slower reads again and puts its own files on top.
"""

from collections.abc import Callable, Container, Iterable, Mapping
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from reconciler.ledger.branch_file import FileFault, object_of_content
from reconciler.ledger.holds import HOLD_KEY, ClusterHold, HoldRules
from reconciler.ledger.inventory import Inventory
from reconciler.ledger.table import check_written_here, checked_path
from reconciler.pipeline.previous import StoredTrees
from reconciler.pipeline.renames import NewNames, new_names_of_clusters
from reconciler.repository import Repository
from reconciler.repository.trailers import VERSION, engine_version
from render.cluster import Cluster
from render.documents import DocumentErrors, emit, parse_documents
from render.errors import GitError, SourceMoved
from render.expressions import lazy_expression
from render.gitobjects import BLOB_MODE, TREE_MODE, Blob, TreeEntry, encode_tree, git_object_id
from render.tree import TreeStore

from .publication import Publication
from .transport import AtOnce, Transport

_TRIES = 8
_MOST_INVENTORIES = 1 << 14
"""So many inventories are remembered as they were read: an apply reads those of all clusters four times."""
_COMMIT = lazy_expression("[0-9a-f]{40}(?:[0-9a-f]{24})?")
_BY_CLUSTER = frozenset({"clusters", "facts", "inventory", "schemas", "works"})
"""The folders whose files are each about one cluster."""

Files = Mapping[str, bytes | None]
"""Files to write by path; None removes one."""


class StatusBranch(Struct, frozen=True, kw_only=True):
    """The status branch of a fleet where it is published.

    What it records of a member under a former name is read as recorded under the name that ``clusters`` give it, and
    written so by the next commit. ``way`` is an agent's (None: that of a pass).
    """

    publication: Publication
    branch: str
    clusters: tuple[Cluster, ...] = ()
    way: Transport | None = None

    @property
    def transport(self) -> Transport:
        """The way by which it is read and written: that of a pass, unless another one is given."""
        return self.way or AtOnce(self.publication, self.branch)

    @property
    def repository(self) -> Repository:
        """The repository it is read in."""
        return self.publication.repository

    def tip(self) -> str | None:
        """Return where the branch stands now."""
        return self.transport.tip()

    def ask_remote_again(self) -> None:
        """Have the remote asked once more where the branch stands; one that does not answer tells nothing new."""
        self.transport.ask_remote_again()

    def read(self, folder: str, commit: str | None) -> dict[str, bytes]:
        """Return the files below a folder of a commit of the branch, by path from the folder."""
        files = self.files(commit, {folder})
        return {path.removeprefix(f"{folder}/"): content for path, content in files.items()}

    def files(self, commit: str | None, wanted: Container[str]) -> dict[str, bytes]:
        """Return the files of a commit of the branch in the ``wanted`` entries of its root."""
        if commit is None:
            return {}
        ids = self._blob_ids(commit, wanted)
        contents = self.repository.read_blobs(set(ids.values()))
        return renamed_files({path: contents[id_] for path, id_ in ids.items()}, self._new_names(commit))

    def _blob_ids(self, commit: str, wanted: Container[str]) -> dict[str, bytes]:
        """Return the blob ids of the files in some entries of the root, by path."""
        trees = StoredTrees(self.repository.read_trees)
        found: dict[str, bytes] = {}
        for name, entry in trees.entries(self.repository.commit_info(commit).tree).items():
            if name in wanted:
                below = trees.files(entry.id) if entry.mode == TREE_MODE else [((), entry.id)]
                found |= {"/".join((name, *path)): blob_id for path, blob_id in below}
        return found

    def folders(self, folder: str, commit: str | None) -> dict[str, str]:
        """Return the ids of the folders and files in a folder of a commit of the branch, by name."""
        entries = self.entries(commit) if commit is not None else ()
        found = next((entry.id for entry in entries if entry.name == folder.encode()), None)
        below = self.repository.read_trees([found])[found] if found is not None else ()
        return {entry.text: entry.id.hex() for entry in below}

    def object_folders(self, commit: str | None) -> dict[str, str]:
        """Return the ids of the folders of a commit of the branch that record objects, by name."""
        entries = self.entries(commit) if commit is not None else ()
        return {name: entry.id.hex() for entry in entries if (name := entry.text) in {"bindings", "works"}}

    def contents(self, folder: bytes) -> Iterable[bytes]:
        """Return the distinct contents of all files below a folder with this id."""
        level, blobs = {folder}, set[bytes]()
        while level:
            entries = [entry for tree in self.repository.read_trees(level).values() for entry in tree]
            blobs |= {entry.id for entry in entries if entry.mode != TREE_MODE}
            level = {entry.id for entry in entries if entry.mode == TREE_MODE}
        return self.repository.read_blobs(blobs).values()

    def _new_names(self, commit: str) -> NewNames:
        """Return the new names of the members that a commit records under former names."""
        if not any(cluster.former_names for cluster in self.clusters):
            return {}
        trees = [entry.id for entry in self.entries(commit) if entry.name in {b"clusters", b"inventory"}]
        found = self.repository.read_trees(trees)
        known = {entry.text.removesuffix(".yaml") for tree in trees for entry in found[tree]}
        return {old: new for old, new in new_names_of_clusters(self.clusters, known).items() if old in known}

    def _files_under_new_names(self, commit: str) -> Files:
        """Return the files that record members under former names, as they are recorded under their names of now."""
        names = self._new_names(commit)
        if not names:
            return {}
        paths = self._blob_ids(commit, _BY_CLUSTER)
        moved = {path: id_ for path, id_ in paths.items() if renamed_path(path, names) != path}
        contents = self.repository.read_blobs(set(moved.values()))
        files = renamed_files({path: contents[id_] for path, id_ in moved.items()}, names)
        return {**dict.fromkeys(moved), **files}

    def commit(
        self, made: Callable[[str | None], Files], message: str | Callable[[Files], str], *, time: int
    ) -> str | None:
        """Commit the files that ``made`` returns for the tip as it is; None when they change nothing.

        Files that its transport does not carry are left out; ``message`` may be told of the others.
        """
        for attempt in range(_TRIES):
            tip = self.tip()
            files = {path: content for path, content in made(tip).items() if self.transport.is_carried(path)}
            said = message if isinstance(message, str) else message(files)
            try:
                return self._commit_files(files, tip, said, time)
            except SourceMoved:
                if attempt == _TRIES - 1:
                    raise
        return None

    def _commit_files(self, files: Files, tip: str | None, message: str, time: int) -> str | None:
        changed = {**self._files_under_new_names(tip), **files} if tip else files
        store, blobs = TreeStore(), dict[bytes, Blob]()
        before = self.repository.commit_info(tip).tree if tip else None
        changes: dict[tuple[str, ...], bytes | None] = {}
        for path, content in changed.items():
            blob_id = None if content is None else git_object_id("blob", content)
            changes[tuple(path.split("/"))] = blob_id
            if content is not None and blob_id is not None:
                blobs[blob_id] = content
        root = self._changed_tree(before, changes, store) or store.add(b"")
        if root == before or (tip is None and not blobs):
            return None
        commit = self.repository.commit_tree(
            root, [tip] if tip else [], message, {VERSION: engine_version()}, time=time
        )
        self.repository.store(blobs=blobs, trees=store.trees, commits=[commit])
        self.transport.move_branch(commit.id, tip, files)
        return commit.id

    def entries(self, commit: str) -> tuple[TreeEntry, ...]:
        """Return the entries at the root of a commit of the branch."""
        tree = self.repository.commit_info(commit).tree
        return self.repository.read_trees([tree])[tree]

    def _changed_tree(
        self, tree: bytes | None, changes: Mapping[tuple[str, ...], bytes | None], store: TreeStore
    ) -> bytes | None:
        """Return a tree with changes put into it, None when nothing is left in it; untouched folders are not read."""
        entries = {entry.text: entry for entry in self.repository.read_trees([tree])[tree]} if tree else {}
        deeper: dict[str, dict[tuple[str, ...], bytes | None]] = {}
        for path, blob_id in changes.items():
            if len(path) > 1:
                deeper.setdefault(path[0], {})[path[1:]] = blob_id
            elif blob_id is None:
                entries.pop(path[0], None)
            else:
                entries[path[0]] = TreeEntry(_bytes_of_tree_name(path[0]), BLOB_MODE, blob_id)
        for name, inside in deeper.items():
            old = entries.pop(name, None)
            below = self._changed_tree(old.id if old and old.mode == TREE_MODE else None, inside, store)
            if below is not None:
                entries[name] = TreeEntry(_bytes_of_tree_name(name), TREE_MODE, below)
        return store.add(encode_tree(tuple(entries.values()))) if entries else None


def _bytes_of_tree_name(name: str) -> bytes:
    """Return the bytes of a name in a tree, also of one that is no UTF-8."""
    return name.encode("utf-8", "surrogateescape")


def renamed_path(path: str, names: NewNames) -> str:
    """Return the path of a file under the new names of clusters.

    >>> renamed_path("works/paris/shop/Deployment.apps/web.yaml", {"paris": "lyon"})
    'works/lyon/shop/Deployment.apps/web.yaml'
    """
    name = cluster_of_path(path)
    if name not in names:
        return path
    folder, _, rest = path.partition("/")
    return f"{folder}/{names[name]}{rest.removeprefix(name)}"


def cluster_of_path(path: str) -> str:
    """Return the cluster that a file tells of; empty for one that tells of no cluster alone.

    >>> cluster_of_path("works/paris/shop/Deployment.apps/web.yaml"), cluster_of_path("clusters/paris.yaml")
    ('paris', 'paris')
    """
    folder, _, rest = path.partition("/")
    if folder not in _BY_CLUSTER:
        return ""
    return rest.partition("/")[0] if folder == "works" and "/" in rest else rest.removesuffix(".yaml")


def renamed_files(files: Mapping[str, bytes], names: NewNames) -> dict[str, bytes]:
    """Return files with the new names of clusters in their paths, and in the contents that name their cluster."""
    if not names:
        return dict(files)
    path_by_file = {path: renamed_path(path, names) for path in files}
    return {
        new: content if new == path or path.startswith("works/") else _renamed_content(path, content, names)
        for path, new in path_by_file.items()
        for content in (files[path],)
    }


def _renamed_content(path: str, content: bytes, names: NewNames) -> bytes:
    """Return a file of one cluster with its new name; one that passes do not write is left to whoever reads it."""
    check_written_here(path, content)
    try:
        value = parse_documents(content)[0].value
    except (DocumentErrors, IndexError):
        return content
    if not isinstance(value, dict):
        return content
    metadata, cluster = value.get("metadata"), value.get("cluster")
    if isinstance(cluster, str) and cluster in names:
        return emit({**value, "cluster": names[cluster]})
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(metadata, dict) or not isinstance(name, str) or name not in names:
        return content
    return emit({**value, "metadata": {**metadata, "name": names[name]}})


def read_inventories(status: StatusBranch, commit: str | None) -> dict[str, Inventory]:
    """Return every cluster's inventory; GitError when one is damaged, for pruning must never guess."""
    found = {}
    for path, content in status.files(commit, {"inventory"}).items():
        try:
            inventory = _checked_inventory(path, content)
        except FileFault as fault:
            if fault.is_newer:
                raise fault.at(path) from fault
            raise GitError(
                f"{path} on branch {status.branch!r} is damaged: {fault.fault}",
                hint=f"restore the file from an earlier commit: git log {status.branch} -- {path}",
            ) from fault
        found[inventory.cluster] = inventory
    return found


@lru_cache(maxsize=_MOST_INVENTORIES)
def _checked_inventory(path: str, content: bytes) -> Inventory:
    """Return the inventory in a file; FileFault where it is another cluster's, or names what is no commit."""
    checked_path(path)
    inventory = Inventory.of(object_of_content(content))
    if not all(map(_COMMIT.fullmatch, inventory.commits)):
        raise FileFault("it names a commit that is none")
    if Inventory.at(inventory.cluster) != path:
        raise FileFault("it is another cluster's")
    return inventory


def files_that_record_attempts(
    status: StatusBranch, hold_rules: HoldRules, uid_by_cluster: Mapping[str, str]
) -> Callable[[str | None], Files]:
    """Return the files that record, before the first write, that clusters are about to get a commit.

    Holds that are set or over are written with it, so that no pass comes between the two.
    """

    def made(tip: str | None) -> Files:
        known = read_inventories(status, tip)
        files: dict[str, bytes | None] = {}
        over = {name for name in hold_rules.members if name in known and hold_rules.ended_hold(name, known[name].hold)}
        for cluster in sorted({*uid_by_cluster, *hold_rules.set_for, *over}):
            before = known.get(cluster, Inventory(cluster=cluster))
            after = replace(before, hold=hold_rules.hold_after(cluster, before.hold))
            if cluster in uid_by_cluster:
                after = after.with_attempt(hold_rules.commit_for(cluster, before.hold), uid_by_cluster[cluster])
            if after != before:
                files[Inventory.at(cluster)] = after.content()
        return files

    return made


def read_holds(status: StatusBranch, commit: str | None, source: str, now: str) -> dict[str, ClusterHold]:
    """Return the holds of a commit of the branch that keep out what is rendered of a source, at a time.

    Only the files with a hold are read, for in most fleets there is none.
    """
    found: dict[str, ClusterHold] = {}
    for path, content in status.files(commit, {"inventory"}).items():
        inventory = Inventory.read(path, content) if HOLD_KEY in content else None
        if inventory is not None and inventory.hold is not None and inventory.hold.keeps_out(source, now):
            found[inventory.cluster] = inventory.hold
    return found


def merged_files(parts: Iterable[Files]) -> dict[str, bytes | None]:
    """Return several sets of files as one; a later one wins."""
    return {path: content for files in parts for path, content in files.items()}
