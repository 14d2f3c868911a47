"""The objects that stay for the sake of others: bytes that a cluster keeps go on to find what they name.

An object can stay in a cluster as it was, or where it would leave: it is suspended, released, failed, evicted
gracefully, held back by a rollout, or has no other place. Meanwhile a change of the source takes away what it names,
such as the ConfigMap of an earlier version, and who prunes by the rendered tree would delete that under running pods.

1. ``lost`` are the objects of the previous commit that a pass would leave out of a cluster they stand in;
2. the manifests that stay there are read, if there are any, and what they name of the lost stays, with its old bytes;
3. so does what serves them and is lost to no edit, such as a Service or an autoscaler (``companions``);
4. that may name others itself, so this is repeated until nothing more is found.

What is lost to a deliberate edit stays for bytes that are kept, never for new ones, which are what somebody wrote.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct

from render.binding import Binding
from render.bits import Mask
from render.documents import DocumentErrors, parse_documents
from render.gitobjects import Blob, content_of_blob
from render.interpreter import Interpreter, InterpreterError
from render.interpreter.needs import NamedObject, named_objects
from render.model import Manifest, ObjectRef, TargetCluster, group_of, mapping_or_empty
from render.parsing.selectors import parse_label_selector
from render.resources import DependentObject
from render.selectors import matches_labels
from render.tree import Variant, clusters_of_variants, variants_with_equal_ids_joined
from render.works import Works

from .assembly import (
    TreeContext,
    clusters_an_object_goes_to,
    clusters_at_former_versions,
    clusters_left_gracefully,
    clusters_left_step_by_step,
    clusters_that_keep_what_they_have,
)
from .companions import NEVER_COMPANIONS, CompanionIndex
from .dependencies import NOT_SCHEDULED, binding_name
from .eviction_notes import EVICTED
from .namespaces import namespace_ref
from .need_notes import REMOVED, NeededObject, Variants, with_needed_bindings
from .rendered_condition import RENDERED

_KEEPING = frozenset({RENDERED, REMOVED, EVICTED})
"""The types of conditions that name clusters which have an object, though these may be no target of it."""
_DEFINITIONS = ("apiextensions.k8s.io", "CustomResourceDefinition", "")


class StayingObject(Struct, frozen=True, kw_only=True):
    """An object that stays in clusters: with older bytes, or with new ones where it would leave (``is_older`` no).

    ``is_moving``: it leaves when its successors elsewhere are ready, and what serves it until then leaves with it, even
    if the edit that moves the one takes the other away.
    """

    ref: ObjectRef
    variants: Variants
    is_older: bool
    is_moving: bool = False


class PassedTree(Struct, frozen=True, kw_only=True):
    """The outcome of a pass before needs are looked at: bindings, their works, and who holds which bytes of each.

    ``before`` are the previous bindings, ``among`` the objects that the pass looks at (None: all of them).
    """

    fleet: TreeContext
    bindings: Sequence[Binding]
    works: Mapping[ObjectRef, Works]
    placed: Mapping[ObjectRef, Variants]
    before: Mapping[ObjectRef, Binding]
    among: Collection[ObjectRef] | None = None

    def lost_variants(self) -> dict[ObjectRef, Variants]:
        """Return what the pass would leave out of clusters that hold it, with the bytes that they hold."""
        if self.fleet.previous is None:
            return {}
        refs = self.before if self.among is None else self.among
        found: dict[ObjectRef, Variants] = {}
        masks = _TargetMasks(self.fleet)
        for ref in refs:
            if (binding := self.before.get(ref)) is None:
                continue
            missing = masks.targets_before_pass(binding) & ~clusters_of_variants(self.placed.get(ref, ()))
            if missing and (variants := self.fleet.variants_of(ref, missing)):
                found[ref] = variants
        return found

    def staying_objects(self) -> Iterator[StayingObject]:
        """Yield the objects that stay where they are, as they are or not."""
        for binding in self.bindings:
            works = self.works.get(binding.ref)
            kept = clusters_that_keep_what_they_have(binding, works, self.fleet)
            if kept and (variants := self.fleet.variants_of(binding.ref, kept)):
                yield StayingObject(ref=binding.ref, variants=variants, is_older=True)
            former = clusters_at_former_versions(binding, self.fleet) & ~kept
            if former and (variants := _variants_in_clusters(self.placed.get(binding.ref, ()), former)):
                yield StayingObject(ref=binding.ref, variants=variants, is_older=True)
            moving = clusters_left_step_by_step(binding, self.fleet) & ~kept
            if moving and (variants := _variants_in_clusters(self.placed.get(binding.ref, ()), moving)):
                yield StayingObject(ref=binding.ref, variants=variants, is_older=True, is_moving=True)
            stays = _staying_mask(binding, self.fleet) & ~kept & ~former & ~moving
            if stays and (variants := _variants_in_clusters(self.placed.get(binding.ref, ()), stays)):
                yield StayingObject(ref=binding.ref, variants=variants, is_older=False)


class _TargetMasks:
    """The clusters of former bindings; many of these share one list of targets, which is looked up once."""

    def __init__(self, fleet: TreeContext) -> None:
        self._fleet = fleet
        self._known: dict[int, tuple[tuple[TargetCluster, ...], Mask]] = {}

    def targets_before_pass(self, binding: Binding) -> Mask:
        """Return the clusters that may hold an object of the previous commit, by its binding."""
        index, targets = self._fleet.index, binding.targets
        if id(targets) not in self._known:
            self._known[id(targets)] = targets, index.clusters_named(target.name for target in targets)
        required = index.clusters_named(target.name for snapshot in binding.required_by for target in snapshot.clusters)
        kept = (name for each in binding.conditions if each.type in _KEEPING for name in each.clusters)
        placed = self._known[id(targets)][1] | required
        return placed | clusters_left_gracefully(binding, self._fleet) | index.clusters_named(kept)


def _staying_mask(binding: Binding, fleet: TreeContext) -> Mask:
    """Return the clusters that have an object with new bytes, though it cannot be placed as it asks, or would leave."""
    stays: Mask = 0
    for each in binding.conditions:
        if each.status == "False" and each.type not in {RENDERED, REMOVED} and each.reason != NOT_SCHEDULED.reason:
            stays |= (
                fleet.index.clusters_named(each.clusters)
                if each.clusters
                else clusters_an_object_goes_to(binding, fleet)
            )
    return stays


def _variants_in_clusters(variants: Iterable[Variant], mask: Mask) -> Variants:
    return tuple(Variant(clusters & mask, blob_id) for clusters, blob_id in variants if clusters & mask)


def bindings_with_needed_objects(
    passed: PassedTree, interpreter: Interpreter, unknown: Collection[ObjectRef], source: str
) -> tuple[tuple[Binding, ...], Mapping[ObjectRef, Variants]]:
    """Return the bindings of a pass and who holds which bytes of each object, with what is needed by what stays.

    ``unknown`` are objects of which nobody can say what they need; what they required before counts.
    """
    needed = needed_objects(passed, interpreter, unknown)
    more = {
        each.ref: variants_with_equal_ids_joined([*passed.placed.get(each.ref, ()), *each.variants]) for each in needed
    }
    return with_needed_bindings(passed.bindings, needed, passed.before, passed.fleet.index.names, source), {
        **passed.placed,
        **more,
    }


def needed_objects(
    passed: PassedTree, interpreter: Interpreter, unknown: Collection[ObjectRef]
) -> tuple[NeededObject, ...]:
    """Return what a pass would leave out of clusters, though something that stays there needs it."""
    lost = passed.lost_variants()
    if not lost:
        return ()
    search = _NeedSearch(passed, interpreter, lost)
    search.add_required(unknown)
    search.follow_needs(passed.staying_objects())
    return search.needed_objects()


class _NeedSearch:
    """The search for what objects need, among what would be lost."""

    def __init__(self, passed: PassedTree, interpreter: Interpreter, lost: Mapping[ObjectRef, Variants]) -> None:
        self._passed, self._interpreter, self._lost = passed, interpreter, lost
        self._bindings = {binding.ref: binding for binding in passed.bindings}
        self._mask = {ref: clusters_of_variants(variants) for ref, variants in lost.items()}
        self._every = clusters_of_variants(variant for variants in lost.values() for variant in variants)
        self._names: dict[tuple[str, str], list[ObjectRef]] = {}
        self._refs_by_kind: dict[tuple[str, str, str], list[ObjectRef]] = {}
        for ref in lost:
            self._names.setdefault((ref.kind, ref.name), []).append(ref)
            self._refs_by_kind.setdefault((ref.group, ref.kind, ref.namespace), []).append(ref)
        self._manifests: dict[bytes, Manifest | None] = {}
        self._needed: dict[ObjectRef, Mask] = {}
        self._owners: dict[ObjectRef, dict[ObjectRef, Mask]] = {}

    def add_required(self, owners: Collection[ObjectRef]) -> None:
        """Count as needed what bindings of the previous commit say that some objects require."""
        ref_by_name = {(each.namespace, binding_name(each)): each for each in owners}
        for ref in self._lost if ref_by_name else ():
            for snapshot in self._passed.before[ref].required_by:
                owner = ref_by_name.get((snapshot.namespace, snapshot.name))
                if owner is not None:
                    clusters = self._passed.fleet.index.clusters_named(target.name for target in snapshot.clusters)
                    self._add(owner, ref, clusters & clusters_of_variants(self._passed.placed.get(owner, ())))

    def follow_needs(self, staying: Iterable[StayingObject]) -> None:
        """Add what objects need, and what that needs, until there is nothing more."""
        level = [each for each in staying if clusters_of_variants(each.variants) & self._every]
        while level:
            self._read_level(level)
            found: list[StayingObject] = []
            for each in level:
                for clusters, blob_id in each.variants:
                    manifest = self._manifests[blob_id]
                    for ref in self._refs_bound_to(each, manifest) if manifest is not None else ():
                        if fresh := self._add(each.ref, ref, clusters):
                            variants = _variants_in_clusters(self._lost[ref], fresh)
                            found.append(StayingObject(ref=ref, variants=variants, is_older=True))
            level = found

    def _refs_bound_to(self, staying: StayingObject, manifest: Manifest) -> Iterator[ObjectRef]:
        """Yield what an object that stays needs, and what serves it, of what would be lost."""
        for ref in self._refs_named_by(staying.ref, manifest):
            if ref != staying.ref and (staying.is_older or not self._is_edited(ref)):
                yield ref
        for ref in self._companions.companions(staying.ref, manifest):
            is_moved_along = staying.is_moving and ref in self._bindings
            if ref != staying.ref and (is_moved_along or not self._is_edited(ref)):
                yield ref

    @cached_property
    def _companions(self) -> CompanionIndex:
        """The objects that would be lost, by what they serve."""
        refs = [ref for ref in self._lost if ref.group_kind not in NEVER_COMPANIONS]
        self._read_blobs(self._lost[ref][0].id for ref in refs)
        return CompanionIndex.of((ref, self._manifests[self._lost[ref][0].id] or {}) for ref in refs)

    def needed_objects(self) -> tuple[NeededObject, ...]:
        """Return what was found, by object."""
        self._read_blobs(blob_id for ref in self._needed for _, blob_id in self._lost[ref])
        return tuple(
            NeededObject(ref=ref, manifest=manifest, variants=variants, owners=self._owners[ref])
            for ref, mask in sorted(self._needed.items())
            if (variants := _variants_in_clusters(self._lost[ref], mask))
            and (manifest := self._manifests[variants[0].id]) is not None
        )

    def _add(self, owner: ObjectRef, ref: ObjectRef, clusters: Mask) -> Mask:
        """Count an object as needed in those of some clusters that lose it; return those that are new."""
        hit, known = clusters & self._mask[ref], self._needed.get(ref, 0)
        if hit:
            self._needed[ref] = known | hit
            owners = self._owners.setdefault(ref, {})
            owners[owner] = owners.get(owner, 0) | hit
        return hit & ~known

    def _is_edited(self, ref: ObjectRef) -> bool:
        """Say whether an edit of the source took an object out of clusters: of its template, or of its policy."""
        now, before = self._bindings.get(ref), self._passed.before[ref]
        return now is None or (bool(now.policy) and now.placement != before.applied_placement)

    def _read_level(self, level: Iterable[StayingObject]) -> None:
        self._read_blobs(blob_id for each in level for _, blob_id in each.variants)

    def _read_blobs(self, blob_ids: Iterable[bytes]) -> None:
        """Read manifests; one of this pass is not in the repository yet."""
        missing = {blob_id for blob_id in blob_ids if blob_id not in self._manifests}
        made: dict[bytes, Blob] = {}
        for works in self._passed.works.values() if missing else ():
            made |= {blob_id: works.blobs[blob_id] for blob_id in missing & works.blobs.keys()}
        fresh = {id_: content_of_blob(blob) for id_, blob in made.items()}
        previous = self._passed.fleet.previous
        kept = previous.contents(missing - fresh.keys()) if previous and missing - fresh.keys() else {}
        for blob_id, content in {**fresh, **kept}.items():
            self._manifests[blob_id] = _manifest_of_content(content)

    def _refs_named_by(self, ref: ObjectRef, manifest: Manifest) -> Iterator[ObjectRef]:
        """Yield what a manifest names, of what would be lost: once or several times."""
        if (namespace := namespace_ref(ref.namespace)) in self._lost:
            yield namespace
        for named in named_objects(manifest):
            yield from self._refs_of_name(named)
        for dependency in self._dependencies(manifest):
            if dependency.name:
                group = group_of(dependency.api_version)
                yield from self._refs_of_name(
                    NamedObject(dependency.kind, dependency.namespace, dependency.name, group)
                )
            else:
                yield from self._refs_selected(dependency)
        yield from self._definitions(ref)

    def _dependencies(self, manifest: Manifest) -> Sequence[DependentObject]:
        try:
            return self._interpreter.dependencies(manifest)
        except InterpreterError:  # what the manifest names by itself is found all the same
            return ()

    def _refs_of_name(self, named: NamedObject) -> Iterator[ObjectRef]:
        for ref in self._names.get((named.kind, named.name), ()):
            if ref.namespace in {"", named.namespace} and named.group in {None, ref.group}:
                yield ref

    def _refs_selected(self, dependency: DependentObject) -> Iterator[ObjectRef]:
        """Yield what a dependency selects by labels, going by those that clusters hold."""
        selector, kind = parse_label_selector(dependency.label_selector), dependency.kind
        key = (group_of(dependency.api_version), kind, dependency.namespace)
        for ref, manifest in self._lost_of_kind(key) if selector else ():
            if selector and matches_labels(
                selector, mapping_or_empty(mapping_or_empty(manifest.get("metadata")).get("labels"))
            ):
                yield ref

    def _definitions(self, ref: ObjectRef) -> Iterator[ObjectRef]:
        """Yield the CustomResourceDefinition of an object's kind."""
        for each, manifest in self._lost_of_kind(_DEFINITIONS) if ref.group else ():
            if each.name.endswith(f".{ref.group}"):
                names = mapping_or_empty(mapping_or_empty(manifest.get("spec")).get("names"))
                if names.get("kind") == ref.kind:
                    yield each

    def _lost_of_kind(self, key: tuple[str, str, str]) -> Iterator[tuple[ObjectRef, Manifest]]:
        """Yield what would be lost of a group, kind and namespace, with the manifest that clusters hold."""
        found = {ref: self._lost[ref][0].id for ref in self._refs_by_kind.get(key, ())}
        self._read_blobs(found.values())
        for ref, blob_id in found.items():
            yield ref, self._manifests[blob_id] or {}


def _manifest_of_content(content: bytes) -> dict[str, Any] | None:
    """Return the object of a file; None for what is none, which then names nothing."""
    try:
        value = parse_documents(content)[0].value
    except (DocumentErrors, IndexError):
        return None
    return value if isinstance(value, dict) else None
