"""Works of an object whose clusters stand at several versions of it: each cluster has the bytes of its own.

Numbers are those of now: the binding's targets and replicas, whichever version a cluster stands at. So scaling,
failover and rebalancing go on while a change is held back.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

from overrides.engine import OverrideEngine
from render.binding import Binding
from render.bits import Mask
from render.cluster_index import ClusterIndex
from render.documents import emit, parse_documents
from render.gitobjects import Blob, content_of_blob, git_object_id
from render.interpretation.fields import value_at
from render.interpreter import Interpreter, InterpreterError
from render.model import Manifest, Template
from render.revisions import WorkFailure
from render.tree import Variant, variants_with_equal_ids_joined
from render.works import Content, Override, WorkContext, Works, render_works

from .versions import ObjectVersion, index_with_attributes, manifest_with_number


class VersionContexts(Struct):
    """The contexts in which versions are built: that of the pass, but for overrides and customizations of a version."""

    newest: WorkContext
    index: ClusterIndex
    webhooks: Sequence[Manifest] = ()
    build: Callable[[Template, Binding, WorkContext], Works] = render_works
    _overrides: dict[bytes, Override] = field(default_factory=dict)
    _interpreters: dict[bytes, Interpreter] = field(default_factory=dict)

    def works_of_version(self, version: ObjectVersion, newest: ObjectVersion, binding: Binding) -> Works:
        """Return the works of a version of an object for all its target clusters, with the numbers of the newest."""
        interpreter = self._interpreter_of_version(version, newest)
        path = interpreter.replica_field(version.template.manifest) or ()
        manifest = manifest_with_number_of(version.template.manifest, newest.template.manifest, path)
        template = version.template if version.template.text else replace(version.template, manifest=manifest)
        override = self._override_of_version(version, newest)
        works = self.build(template, binding, replace(self.newest, interpreter=interpreter, override=override))
        return works_with_kept_manifests(works, version, interpreter, self.index) if version.kept else works

    def _interpreter_of_version(self, version: ObjectVersion, newest: ObjectVersion) -> Interpreter:
        """Return an interpreter with the customizations of a version; the rest of it is that of the pass."""
        known = self.newest.interpreter
        if version.customizations == newest.customizations:
            return known
        key = emit({"customizations": list(version.customizations)})
        if key not in self._interpreters:
            extensions = (*version.customizations, *self.webhooks)
            self._interpreters[key] = Interpreter.of(extensions, send=known.send, scales=known.scales)
        return self._interpreters[key]

    def _override_of_version(self, version: ObjectVersion, newest: ObjectVersion) -> Override:
        """Return what overrides a version: its own policies, which often are those of the newest."""
        if version.override_policies == newest.override_policies and not version.clusters:
            return self.newest.override
        clusters = {name: to_builtins(each) for name, each in sorted(version.clusters.items())}
        policies = [[str(each), each.spec] for each in version.override_policies]
        key = emit({"policies": policies, "clusters": clusters})
        if key not in self._overrides:
            index = index_with_attributes(self.index, version.clusters) if version.clusters else self.index
            self._overrides[key] = OverrideEngine(version.override_policies, index).override
        return self._overrides[key]


NO_WORKS = Works(variants=(), blobs={}, contents=(), failures=())
"""The works of an object that is in no cluster."""


def works_with_kept_manifests(
    works: Works, version: ObjectVersion, interpreter: Interpreter, index: ClusterIndex
) -> Works:
    """Return works that are the manifests a version keeps, in their clusters, with the numbers that they had."""
    path = interpreter.replica_field(version.template.manifest) or ()
    parts: list[tuple[Works, Mask]] = []
    left = clusters_of_works(works)
    for kept in version.kept:
        for made in works.variants:
            clusters = made.clusters & index.clusters_named(kept.clusters) & left
            if clusters:
                manifest = manifest_with_number_of(kept.manifest, manifest_of_blob(works.blobs[made.id]), path)
                parts.append((_works_of_manifest(manifest, clusters), clusters))
                left &= ~clusters
    return combined_works([(works, left), *parts])


def _works_of_manifest(manifest: Manifest, clusters: Mask) -> Works:
    content = emit(manifest)
    blob_id = git_object_id("blob", content)
    return Works(
        variants=(Variant(clusters, blob_id),),
        blobs={blob_id: content},
        contents=(Content(clusters, manifest, ()),),
        failures=(),
    )


def manifest_of_blob(blob: Blob) -> Manifest:
    """Return the object in a file of a cluster."""
    manifest: Manifest = parse_documents(content_of_blob(blob))[0].value
    return manifest


def manifest_with_number_of(manifest: Manifest, other: Manifest, path: tuple[str, ...]) -> Manifest:
    """Return a manifest with the number that another one has at a path, where both have one there."""
    if not path:
        return manifest
    try:
        number, before = value_at(other, *path), value_at(manifest, *path)
    except InterpreterError:
        return manifest
    if type(number) is not int or type(before) is not int or number == before:
        return manifest
    changed: Manifest = manifest_with_number(manifest, path, number)
    return changed


def clusters_with_equal_bytes(one: Works, other: Works) -> Mask:
    """Return the clusters in which two works of an object are the same bytes."""
    masks = {variant.id: variant.clusters for variant in one.variants}
    equal: Mask = 0
    for clusters, blob_id in other.variants:
        equal |= masks.get(blob_id, 0) & clusters
    return equal


def clusters_of_works(works: Works) -> Mask:
    """Return the clusters that works are for, also where they could not be built."""
    every: Mask = 0
    for clusters, _ in works.variants:
        every |= clusters
    for failure in works.failures:
        every |= failure.clusters
    return every


def combined_works(parts: Iterable[tuple[Works, Mask]]) -> Works:
    """Return works that have in each cluster what one of several has; no cluster is in two of the masks."""
    variants: list[Variant] = []
    contents: list[Content] = []
    failures: list[WorkFailure] = []
    blobs: dict[bytes, Blob] = {}
    is_carried = False
    for works, clusters in parts:
        found = [Variant(each.clusters & clusters, each.id) for each in works.variants if each.clusters & clusters]
        variants += found
        blobs |= {each.id: works.blobs[each.id] for each in found}
        contents += _contents_in_clusters(works, clusters)
        failures += (
            replace(each, clusters=each.clusters & clusters) for each in works.failures if each.clusters & clusters
        )
        is_carried = is_carried or works.is_carried
    return Works(
        variants=variants_with_equal_ids_joined(variants),
        blobs=blobs,
        contents=tuple(contents),
        failures=tuple(failures),
        is_carried=is_carried,
    )


def _contents_in_clusters(works: Works, clusters: Mask) -> Iterator[Content]:
    for content in works.contents:
        if content.clusters & clusters:
            yield content._replace(clusters=content.clusters & clusters)


def template_without_place(template: Template) -> Template:
    """Return a template as a version has it: without what says where it stands in the source."""
    return replace(template, path="", document=0, digest="", origin="")
