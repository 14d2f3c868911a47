"""Rendered commits as clusters must hold them: objects with their bindings' rules, and the removals allowed since."""

from collections.abc import Collection, Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.branches.reading import read_previous
from reconciler.guards.allowances import RemovalAllowance
from reconciler.guards.source_trailers import allowed_between, evictions_between
from reconciler.ledger.inventory import HeldObject, HistoryPlace
from reconciler.pipeline.binding_files import BindingReader
from reconciler.pipeline.karmada_works import conflict_resolution, is_suspended
from reconciler.pipeline.previous import Previous, changed_files, parse_binding_file
from reconciler.pipeline.renames import previous_by_new_names
from reconciler.pipeline.rendered_condition import REMOVAL_HELD, RENDERED
from reconciler.plans.cluster import held_object_of_desired
from reconciler.plans.model import ClusterDesired, DesiredObject
from reconciler.plans.rendered_object import object_of_rendered_file
from reconciler.repository import Repository
from reconciler.repository.cache import Cache
from reconciler.repository.trailers import SOURCE, commit_written_by_argosy, engine_version
from reconciler.source.manifests import may_be_secret
from render.binding import Binding, Condition
from render.cluster import Cluster
from render.errors import GitError
from render.layout import object_path
from render.model import Manifest, ObjectRef, is_encrypted_by_sops
from render.policy import ConflictResolution

if TYPE_CHECKING:
    from reconciler.repository.history import RemovedFile


class RemovalTrailers(Struct):
    """The allowances between a rendered commit a cluster converged at and the one it is given, each pair read once.

    They are those of source commits, and what left clusters by a rule of failover, as rendered commits record it.
    """

    repository: Repository
    commit: str
    _known: dict[str, tuple[RemovalAllowance, ...]] = field(default_factory=dict)

    def allowed_removals(self, cluster: str, converged: str) -> int | None:
        """Return how many objects may leave a cluster at once; None where nothing says so."""
        if converged and converged not in self._known:
            self._known[converged] = self._removals_allowed_since(converged)
        allowances = self._known.get(converged, ())
        return max((each.count for each in allowances if each.cluster in {cluster, "*"}), default=None)

    def _removals_allowed_since(self, converged: str) -> tuple[RemovalAllowance, ...]:
        return (
            *self._removals_allowed_by_source(converged),
            *evictions_between(self.repository, converged, self.commit),
        )

    def _removals_allowed_by_source(self, converged: str) -> tuple[RemovalAllowance, ...]:
        try:
            named = (commit_written_by_argosy(self.repository, commit) for commit in (converged, self.commit))
            old, new = (info.trailer(SOURCE)[0] for info in named)
            return allowed_between(self.repository, old, new).removals if old != new else ()
        except (GitError, IndexError):  # a source that is not here allows nothing
            return ()


class _Exceptions(Struct, frozen=True, kw_only=True):
    """The bindings of a commit that do not say the same of all their clusters, which few do.

    ``failing`` could not be built for some, ``suspending`` are not dispatched to some.
    """

    failing: tuple[Binding, ...]
    suspending: tuple[tuple[ObjectRef, Binding], ...]

    @classmethod
    def of_bindings(cls, bindings: Mapping[ObjectRef, Binding]) -> "_Exceptions":
        return cls(
            failing=tuple(each for each in bindings.values() if _conditions_of_failure(each)),
            suspending=tuple((ref, each) for ref, each in bindings.items() if each.suspension is not None),
        )


class RenderedCommits(Struct):
    """Rendered commits as clusters must hold them; every commit, folder and manifest is read once.

    ``clusters`` are the members: a commit that knows one by a former name is read as if it had its name of now.
    ``known`` is a commit that was read before, ``known_manifests`` are objects by the blobs they would be read from.
    """

    repository: Repository
    clusters: tuple[Cluster, ...] = ()
    known: Previous | None = None
    known_manifests: Mapping[bytes, Manifest] = field(default_factory=dict)
    _commits: dict[str, Previous] = field(default_factory=dict)
    _manifests: dict[bytes, Manifest] = field(default_factory=dict)
    _bindings: dict[bytes, Binding] = field(default_factory=dict)
    _encrypted: dict[int, bytes] = field(default_factory=dict)
    _before: dict[tuple[str, str], bool] = field(default_factory=dict)
    _exceptions: dict[str, _Exceptions] = field(default_factory=dict)
    _objects: dict[tuple[str, bytes, frozenset[ObjectRef]], tuple[DesiredObject, ...]] = field(default_factory=dict)
    _changed: dict[tuple[str, str], tuple[tuple[Binding | None, Binding | None], ...]] = field(default_factory=dict)
    _files: dict[bytes, dict[tuple[str, ...], bytes]] = field(default_factory=dict)
    _held_objects: dict[tuple[tuple[str, bytes], ...], tuple[HeldObject, ...]] = field(default_factory=dict)
    _holders: dict[tuple[str, ObjectRef], tuple[str, ...]] = field(default_factory=dict)
    _is_first: dict[str, bool] = field(default_factory=dict)
    _trailers: dict[str, RemovalTrailers] = field(default_factory=dict)

    def commit_contents(self, commit: str) -> Previous:
        """Return a rendered commit."""
        if commit not in self._commits:
            known = self.known if self.known and self.known.commit == commit else None
            self._commits[commit] = previous_by_new_names(known or self._read_commit(commit), self.clusters)
        return self._commits[commit]

    def _read_commit(self, commit: str) -> Previous:
        return read_previous(self.repository, commit, self._bindings)

    def first_commit_of_branch(self, commit: str) -> str:
        """Return the commit that a rendered branch began with, by which its fleet is known."""
        return self.repository.first_commit(commit)

    def allowed_removals(self, cluster: str, converged: str, commit: str) -> int | None:
        """Return how many objects may leave a cluster at once since it converged; None where nothing says so."""
        if commit not in self._trailers:
            self._trailers[commit] = RemovalTrailers(self.repository, commit)
        return self._trailers[commit].allowed_removals(cluster, converged)

    def is_elsewhere(self, cluster: str, commit: str, ref: ObjectRef) -> bool:
        """Say whether a commit has another cluster hold an object."""
        key = commit, ref
        if key not in self._holders:
            tree, path = self.commit_contents(commit).tree, object_path(ref)
            holders = (name for name, id_ in tree.clusters.items() if tree.trees.entry(id_, path) is not None)
            self._holders[key] = tuple(islice(holders, 2))  # of two, one at least is another cluster
        return any(name != cluster for name in self._holders[key])

    def desired(self, cluster: str, commit: str) -> ClusterDesired:
        """Return everything a cluster must hold at a commit."""
        rendered = self.commit_contents(commit)
        failing = any(_may_keep_older_manifest(each, cluster) for each in self._exceptions_of(commit).failing)
        tree_id = rendered.tree.clusters.get(cluster)
        objects = () if tree_id is None else self._desired_objects_in_tree(cluster, commit, tree_id)
        return ClusterDesired(cluster=cluster, commit=commit, objects=objects, is_complete=not failing)

    def _exceptions_of(self, commit: str) -> _Exceptions:
        """Return the bindings that have to be asked about each cluster."""
        if commit not in self._exceptions:
            self._exceptions[commit] = _Exceptions.of_bindings(self.commit_contents(commit).bindings)
        return self._exceptions[commit]

    def _desired_objects_in_tree(self, cluster: str, commit: str, tree_id: bytes) -> tuple[DesiredObject, ...]:
        bindings = self.commit_contents(commit).bindings
        suspending = self._exceptions_of(commit).suspending
        suspended = frozenset(ref for ref, binding in suspending if is_suspended(binding, cluster))
        key = commit, tree_id, suspended
        if key not in self._objects:
            manifests = self._manifests_of(commit, tree_id)
            found = ((_desired_object(each, bindings, suspended), each) for each in manifests)
            self._objects[key] = tuple(
                replace(item, encrypted=self._encrypted[id(each)]) if id(each) in self._encrypted else item
                for item, each in found
            )
        return self._objects[key]

    def objects_that_leave(self, cluster: str, before: str, after: str) -> dict[ObjectRef, Manifest]:
        """Return the objects that a cluster has at one commit and not at another."""
        kept = self._blob_ids_by_path(cluster, after)
        gone = {id_: path for path, id_ in self._blob_ids_by_path(cluster, before).items() if path not in kept}
        self._load_manifests({id_: "/".join(path) for id_, path in gone.items()})
        return {ObjectRef.of(self._manifests[id_]): self._manifests[id_] for id_ in gone}

    def ask_the_same(self, cluster: str, before: str, after: str) -> bool:
        """Return whether two commits ask the same of a cluster: equal objects, by the same rules of their bindings."""
        if before == after:
            return True
        try:
            old, new = self.commit_contents(before), self.commit_contents(after)
        except GitError:  # the rendered branch may have been squashed since
            return False
        if old.tree.clusters.get(cluster) != new.tree.clusters.get(cluster):
            return False
        return all(
            _delivery_rules_in_binding(one, cluster) == _delivery_rules_in_binding(other, cluster)
            for one, other in self._changed_bindings(old, new)
        )

    def _changed_bindings(self, old: Previous, new: Previous) -> tuple[tuple[Binding | None, Binding | None], ...]:
        """Return the bindings that differ in two commits, None where a commit has none of the object."""
        key = old.commit, new.commit
        if key not in self._changed:
            folders = (each.tree.trees.entries(each.tree.root).get("bindings") for each in (old, new))
            pairs = list(changed_files(new.tree.trees, *(entry and entry.id for entry in folders)))
            contents = self.repository.read_blobs({id_ for pair in pairs for id_ in pair if id_ is not None})
            reader = BindingReader()
            name = f"a binding that rendered commit {new.commit[:12]} changes"
            bindings = {id_: parse_binding_file(name, reader.parse, content) for id_, content in contents.items()}
            self._changed[key] = tuple((bindings.get(one or b""), bindings.get(other or b"")) for one, other in pairs)
        return self._changed[key]

    def is_ancestor_of(self, commit: str, other: str) -> bool:
        """Return whether a commit is another one's ancestor."""
        if (commit, other) not in self._before:
            self._before[commit, other] = commit != other and self.repository.is_ancestor(commit, other)
        return self._before[commit, other]

    def history_place(self, given: str, commit: str) -> HistoryPlace:
        """Return the place of a commit that a cluster was given in the history of another one."""
        try:
            if given == commit or self.is_ancestor_of(given, commit):
                return HistoryPlace.BEFORE
            return HistoryPlace.AFTER if self.is_ancestor_of(commit, given) else HistoryPlace.ELSEWHERE
        except GitError:  # it is not here
            return HistoryPlace.ELSEWHERE

    def held_objects(self, cluster: str, commits: Iterable[str]) -> tuple[HeldObject, ...]:
        """Return the objects that any of the commits puts into a cluster, each as the newest commit describes it."""
        folders = ((commit, self.commit_contents(commit).tree.clusters.get(cluster)) for commit in commits)
        known = tuple((commit, tree_id) for commit, tree_id in folders if tree_id is not None)
        if known not in self._held_objects:
            self._held_objects[known] = self._held_objects_of(known)
        return self._held_objects[known]

    def _held_objects_of(self, folders: Iterable[tuple[str, bytes]]) -> tuple[HeldObject, ...]:
        held_objects: dict[ObjectRef, HeldObject] = {}
        for commit, tree_id in folders:
            bindings = dict(self.commit_contents(commit).bindings)
            for manifest in self._manifests_of(commit, tree_id):
                item = DesiredObject(ref=ObjectRef.of(manifest), manifest=manifest)
                binding = bindings.get(item.ref)
                preserve = binding is not None and binding.preserve_resources_on_deletion
                held_objects[item.ref] = held_object_of_desired(item, preserve=preserve)
        return tuple(held_objects[ref] for ref in sorted(held_objects))

    def changed_objects(self, cluster: str, commits: Iterable[str], commit: str) -> frozenset[ObjectRef]:
        """Return the objects of a commit whose manifests are others in any of these commits, or are not there."""
        trees = {self.commit_contents(each).tree.clusters.get(cluster): each for each in commits}
        trees.pop(self.commit_contents(commit).tree.clusters.get(cluster), None)
        if not trees:
            return frozenset()
        wanted, changed = self._blob_ids_by_path(cluster, commit), set[bytes]()
        for each in trees.values():
            known = self._blob_ids_by_path(cluster, each)
            changed |= {blob_id for path, blob_id in wanted.items() if known.get(path) != blob_id}
        self._load_manifests({blob_id: "/".join(path) for path, blob_id in wanted.items() if blob_id in changed})
        return frozenset(ObjectRef.of(self._manifests[blob_id]) for blob_id in changed)

    def _blob_ids_by_path(self, cluster: str, commit: str) -> dict[tuple[str, ...], bytes]:
        """Return the files of a cluster at a commit by their paths."""
        tree = self.commit_contents(commit).tree
        tree_id = tree.clusters.get(cluster)
        if tree_id is None:
            return {}
        if tree_id not in self._files:
            self._files[tree_id] = {tuple(path): blob_id for path, blob_id in tree.files(tree_id)}
        return self._files[tree_id]

    def departed_objects(self, cluster: str, commits: Iterable[str]) -> tuple[HeldObject, ...]:
        """Return the objects that commits, or any before them, stopped asking of a cluster, each as last asked."""
        removed = self._removed_files(cluster, commits)
        self._load_manifests({file.id: file.path for file in removed})
        held_objects: dict[ObjectRef, HeldObject] = {}
        for file in removed:
            manifest = self._manifests[file.id]
            item = DesiredObject(ref=ObjectRef.of(manifest), manifest=manifest)
            binding = self.commit_contents(file.commit).bindings.get(item.ref)
            preserve = binding is not None and binding.preserve_resources_on_deletion
            held_objects[item.ref] = held_object_of_desired(item, preserve=preserve)
        return tuple(held_objects[ref] for ref in sorted(held_objects))

    def _is_first_of_branch(self, commit: str) -> bool:
        """Say whether nothing was before a commit, which can have removed nothing then."""
        if commit not in self._is_first:
            self._is_first[commit] = self.first_commit_of_branch(commit) == commit
        return self._is_first[commit]

    def _removed_files(self, cluster: str, commits: Iterable[str]) -> "list[RemovedFile]":
        commits = [each for each in commits if not self._is_first_of_branch(each)]
        if not commits:
            return []
        names = (cluster, *(name for each in self.clusters if each.name == cluster for name in each.former_names))
        found = (self.repository.removed_files(commits, f"clusters/{name}/") for name in names)
        return [file for files in found for file in files]

    def _manifests_of(self, commit: str, tree_id: bytes) -> tuple[Manifest, ...]:
        files = list(self.commit_contents(commit).tree.files(tree_id))
        self._load_manifests({blob_id: "/".join(path) for path, blob_id in files})
        return tuple(self._manifests[blob_id] for _, blob_id in files)

    def _load_manifests(self, path_by_id: Mapping[bytes, str]) -> None:
        wanted = {blob_id for blob_id in path_by_id if blob_id not in self._manifests}
        known = ((id_, self.known_manifests[id_]) for id_ in wanted & self.known_manifests.keys())
        self._manifests |= {id_: manifest for id_, manifest in known if not is_encrypted_by_sops(manifest)}
        missing = wanted - self._manifests.keys()
        if missing:
            with Cache(self.repository.cache_dir, "rendered", version=engine_version()) as cache:
                self._manifests |= cache.get_many(missing)
                cache.put_many(self._manifest_by_blob(missing - self._manifests.keys(), path_by_id))

    def _manifest_by_blob(self, blob_ids: Collection[bytes], path_by_id: Mapping[bytes, str]) -> dict[bytes, Manifest]:
        """Read objects that no pass has read before, and return those that may be kept for the next one."""
        fresh = {}
        for blob_id, content in self.repository.read_blobs(blob_ids).items() if blob_ids else ():
            manifest = self._manifests[blob_id] = object_of_rendered_file(content, path_by_id[blob_id])
            if is_encrypted_by_sops(manifest):
                self._encrypted[id(manifest)] = content
            elif not may_be_secret(content, [manifest]):
                fresh[blob_id] = manifest
        return fresh


def _delivery_rules_in_binding(binding: Binding | None, cluster: str) -> tuple[bool, ...]:
    """Return what a binding says of applying its object to a cluster, beside the object itself."""
    if binding is None:
        return False, False, False, False
    return (
        binding.conflict_resolution is ConflictResolution.OVERWRITE,
        binding.preserve_resources_on_deletion,
        is_suspended(binding, cluster),
        _may_keep_older_manifest(binding, cluster),
    )


def _may_keep_older_manifest(binding: Binding, cluster: str) -> bool:
    """Return whether a binding could not be built for a cluster, so that it may keep an older manifest.

    A condition that names no clusters is about all of the targets.
    """
    failed = _conditions_of_failure(binding)
    is_target = bool(failed) and any(target.name == cluster for target in binding.targets)
    return any(cluster in each.clusters if each.reason == REMOVAL_HELD else is_target for each in failed)


def _conditions_of_failure(binding: Binding) -> tuple[Condition, ...]:
    return tuple(each for each in binding.conditions if each.type == RENDERED and each.status == "False")


def _desired_object(
    manifest: Manifest, bindings: Mapping[ObjectRef, Binding], suspended: frozenset[ObjectRef]
) -> DesiredObject:
    ref = ObjectRef.of(manifest)
    binding = bindings.get(ref)
    if binding is None:
        return DesiredObject(ref=ref, manifest=manifest)
    word = conflict_resolution(manifest, binding)
    resolution = ConflictResolution.OVERWRITE if word == "overwrite" else ConflictResolution.ABORT
    is_held = ref in suspended
    return DesiredObject(ref=ref, manifest=manifest, conflict_resolution=resolution, is_suspended=is_held)
