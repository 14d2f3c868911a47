"""The rules of bindings by which objects are applied to clusters, beside the objects: for who cannot read the bindings.

Bindings name every cluster and are read by passes alone. What an agent must know of them is little: which objects of
its cluster may be overwritten, stay when they leave, or are suspended, and that something there may be older.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from reconciler.ledger.branch_file import ObjectName
from reconciler.pipeline.binding_files import BindingReader
from reconciler.pipeline.previous import RenderedTree, StoredTrees, parse_binding_file
from reconciler.pipeline.rendered_condition import REMOVAL_HELD, RENDERED
from reconciler.repository import Repository
from reconciler.repository.cache import Cache
from reconciler.repository.trailers import engine_version
from render.binding import Binding, Condition
from render.layout import object_path
from render.model import ObjectRef
from render.policy import ConflictResolution, Suspension

_OVERWRITE, _PRESERVE, _SUSPENDED = "overwrite", "preserve", "suspended"


class RuleFields(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The rules for one cluster as a file has them; nothing for what no binding says."""

    overwrite: list[ObjectName] = field(default_factory=list)
    preserve: list[ObjectName] = field(default_factory=list)
    suspended: list[ObjectName] = field(default_factory=list)
    older: bool = False

    def rules(self) -> "DeliveryRules":
        """Return the rules that a file has."""
        return DeliveryRules(
            overwrite=frozenset(each.ref for each in self.overwrite),
            preserve=frozenset(each.ref for each in self.preserve),
            suspended=frozenset(each.ref for each in self.suspended),
            is_older=self.older,
        )


class DeliveryRules(Struct, frozen=True, kw_only=True):
    """The rules for one cluster: objects by what their bindings say of them; ``is_older``: some may be outdated."""

    overwrite: frozenset[ObjectRef] = frozenset()
    preserve: frozenset[ObjectRef] = frozenset()
    suspended: frozenset[ObjectRef] = frozenset()
    is_older: bool = False

    def fields(self) -> dict[str, Any]:
        """Return the fields of ``RuleFields`` that say the same."""
        return {
            "overwrite": _names_of_objects(self.overwrite),
            "preserve": _names_of_objects(self.preserve),
            "suspended": _names_of_objects(self.suspended),
            "older": self.is_older,
        }

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


def _names_of_objects(refs: Iterable[ObjectRef]) -> list[ObjectName]:
    return list(map(ObjectName.of_ref, sorted(refs)))


class RenderedRules(Struct, frozen=True, kw_only=True):
    """The rules of all bindings of a rendered commit that say anything, by which those of a cluster are found."""

    trees: StoredTrees
    words: tuple[Mapping[str, Any], ...] = ()
    _known: dict[tuple[bytes, str], frozenset[ObjectRef]] = field(default_factory=dict)

    def of(self, cluster: str, folder: bytes | None) -> DeliveryRules:
        """Return the rules for a cluster with this folder (None: it has none)."""
        suspended = frozenset(_ref_of_words(each) for each in self.words if each["all"] or cluster in each["suspended"])
        is_older = any(cluster in each["older"] for each in self.words)
        if folder is None:
            return DeliveryRules(is_older=is_older)
        there = {word: self._objects_with_word(folder, word) for word in (_OVERWRITE, _PRESERVE)}
        return DeliveryRules(**there, suspended=suspended & self._objects_with_word(folder, "ref"), is_older=is_older)

    def _objects_with_word(self, folder: bytes, word: str) -> frozenset[ObjectRef]:
        """Return the objects in a folder whose binding says this word; equal folders are looked through once."""
        key = folder, word
        if key not in self._known:
            refs = (_ref_of_words(each) for each in self.words if each[word])
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
            id_: _plain_rules_of_binding(
                parse_binding_file(
                    f"bindings/{'/'.join(paths[id_])} in rendered commit {commit[:12]}", reader.parse, text
                )
            )
            for id_, text in repository.read_blobs(missing).items()
        }
        cache.put_many(fresh)
    words = [each for each in {**known, **fresh}.values() if each]
    return RenderedRules(trees=tree.trees, words=tuple(sorted(words, key=lambda each: tuple(each["ref"]))))


def _plain_rules_of_binding(binding: Binding) -> dict[str, Any]:
    """Return what a binding says of applying its object, as plain data; nothing where it says nothing."""
    suspension = binding.suspension or Suspension()
    ref = binding.ref
    words = {
        _OVERWRITE: binding.conflict_resolution is ConflictResolution.OVERWRITE,
        _PRESERVE: binding.preserve_resources_on_deletion,
        "all": suspension.dispatching,
        _SUSPENDED: list(suspension.dispatching_on_clusters),
        "older": sorted(set(_clusters_with_older_object(binding))),
    }
    return {"ref": [ref.group, ref.kind, ref.namespace, ref.name], **words} if any(words.values()) else {}


def _clusters_with_older_object(binding: Binding) -> Iterator[str]:
    """Yield the clusters in which the object may be an older one than its template says."""
    for each in binding.conditions:
        if each.type == RENDERED and each.status == "False":
            if each.reason == REMOVAL_HELD:
                yield from each.clusters
            else:
                yield from (target.name for target in binding.targets)


def _ref_of_words(words: Mapping[str, Any]) -> ObjectRef:
    return ObjectRef(*words["ref"])
