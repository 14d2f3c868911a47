"""The rules of bindings by which objects are applied to clusters, beside the objects: for who cannot read the bindings.

Bindings name every cluster and are read by passes alone. What an agent must know of them is little: which objects of
its cluster may be overwritten, stay when they leave, or are suspended, and that something there may be older.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from reconciler.pipeline.binding_files import BindingReader
from reconciler.pipeline.previous import RenderedTree, StoredTrees, read_binding
from reconciler.pipeline.rendered_condition import REMOVAL_HELD, RENDERED
from reconciler.repository import Repository
from reconciler.repository.cache import Cache
from reconciler.repository.trailers import engine_version
from render.binding import Binding, Condition
from render.layout import object_path
from render.model import Manifest, ObjectRef
from render.policy import ConflictResolution, Suspension

_PARTS = ("group", "kind", "namespace", "name")
_OVERWRITE, _PRESERVE, _SUSPENDED = "overwrite", "preserve", "suspended"


class DeliveryRules(Struct, frozen=True, kw_only=True):
    """The rules for one cluster: objects by what their bindings say of them; ``is_older``: some may be outdated."""

    overwrite: frozenset[ObjectRef] = frozenset()
    preserve: frozenset[ObjectRef] = frozenset()
    suspended: frozenset[ObjectRef] = frozenset()
    is_older: bool = False

    def plain(self) -> Manifest:
        """Return the rules as plain data; nothing for what no binding says."""
        found = {
            _OVERWRITE: _plain(self.overwrite),
            _PRESERVE: _plain(self.preserve),
            _SUSPENDED: _plain(self.suspended),
            "older": self.is_older,
        }
        return {key: value for key, value in found.items() if value}

    @classmethod
    def parse(cls, plain: Manifest) -> "DeliveryRules":
        """Read rules back; AttributeError, KeyError or TypeError where they are none."""
        refs = {
            key: frozenset(ObjectRef(*(str(each.get(part, "")) for part in _PARTS)) for each in plain.get(key, ()))
            for key in (_OVERWRITE, _PRESERVE, _SUSPENDED)
        }
        return cls(**refs, is_older=plain.get("older") is True)

    def bindings(self, cluster: str) -> dict[ObjectRef, Binding]:
        """Return the rules as bindings of which nothing else is known."""
        found = {
            ref: Binding(
                ref=ref,
                api_version="",
                conflict_resolution=ConflictResolution.OVERWRITE if ref in self.overwrite else ConflictResolution.ABORT,
                preserve_resources_on_deletion=ref in self.preserve,
                suspension=Suspension(dispatching=True) if ref in self.suspended else None,
            )
            for ref in self.overwrite | self.preserve | self.suspended
        }
        if self.is_older:
            failed = Condition(type=RENDERED, status="False", reason=REMOVAL_HELD, clusters=(cluster,))
            nothing = ObjectRef("", "", "", "")
            found[nothing] = Binding(ref=nothing, api_version="", conditions=(failed,))
        return found


def _plain(refs: Iterable[ObjectRef]) -> list[dict[str, str]]:
    return [{part: getattr(ref, part) for part in _PARTS if getattr(ref, part)} for ref in sorted(refs)]


class RenderedRules(Struct, frozen=True, kw_only=True):
    """The rules of all bindings of a rendered commit that say anything, by which those of a cluster are found."""

    trees: StoredTrees
    words: tuple[Mapping[str, Any], ...] = ()
    _known: dict[tuple[bytes, str], frozenset[ObjectRef]] = field(default_factory=dict)

    def of(self, cluster: str, folder: bytes | None) -> DeliveryRules:
        """Return the rules for a cluster with this folder (None: it has none)."""
        suspended = frozenset(_ref(each) for each in self.words if each["all"] or cluster in each["suspended"])
        is_older = any(cluster in each["older"] for each in self.words)
        if folder is None:
            return DeliveryRules(is_older=is_older)
        there = {word: self._objects_with_word(folder, word) for word in (_OVERWRITE, _PRESERVE)}
        return DeliveryRules(**there, suspended=suspended & self._objects_with_word(folder, "ref"), is_older=is_older)

    def _objects_with_word(self, folder: bytes, word: str) -> frozenset[ObjectRef]:
        """Return the objects in a folder whose binding says this word; equal folders are looked through once."""
        key = folder, word
        if key not in self._known:
            refs = (_ref(each) for each in self.words if each[word])
            self._known[key] = frozenset(ref for ref in refs if self.trees.entry(folder, object_path(ref)) is not None)
        return self._known[key]


def rendered_rules(repository: Repository, commit: str) -> RenderedRules:
    """Return the rules of a rendered commit's bindings; each distinct binding is parsed once and remembered."""
    tree = RenderedTree.of(repository.commit_info(commit).tree, repository.read_trees)
    folder = tree.trees.entries(tree.root).get("bindings")
    paths = {blob_id: path for path, blob_id in tree.trees.files(folder.id)} if folder else {}
    reader = BindingReader()
    with Cache(repository.cache_dir, "rules", version=engine_version()) as cache:
        known = cache.get_many(paths)
        missing = paths.keys() - known.keys()
        fresh = {
            id_: _plain_rules(
                read_binding(f"bindings/{'/'.join(paths[id_])} in rendered commit {commit[:12]}", reader.parse, text)
            )
            for id_, text in repository.read_blobs(missing).items()
        }
        cache.put_many(fresh)
    words = [each for each in {**known, **fresh}.values() if each]
    return RenderedRules(trees=tree.trees, words=tuple(sorted(words, key=lambda each: tuple(each["ref"]))))


def _plain_rules(binding: Binding) -> dict[str, Any]:
    """Return what a binding says of applying its object, as plain data; nothing where it says nothing."""
    suspension = binding.suspension or Suspension()
    ref = binding.ref
    words = {
        _OVERWRITE: binding.conflict_resolution is ConflictResolution.OVERWRITE,
        _PRESERVE: binding.preserve_resources_on_deletion,
        "all": suspension.dispatching,
        _SUSPENDED: list(suspension.dispatching_on_clusters),
        "older": sorted(set(_older_in(binding))),
    }
    return {"ref": [ref.group, ref.kind, ref.namespace, ref.name], **words} if any(words.values()) else {}


def _older_in(binding: Binding) -> Iterator[str]:
    """Yield the clusters in which the object may be an older one than its template says."""
    for each in binding.conditions:
        if each.type == RENDERED and each.status == "False":
            if each.reason == REMOVAL_HELD:
                yield from each.clusters
            else:
                yield from (target.name for target in binding.targets)


def _ref(words: Mapping[str, Any]) -> ObjectRef:
    return ObjectRef(*words["ref"])
