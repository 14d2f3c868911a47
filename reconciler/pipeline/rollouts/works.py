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
from render.documents import emit
from render.gitobjects import Blob
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
        manifest = _manifest_with_replicas_of(version.template.manifest, newest.template.manifest, interpreter)
        template = version.template if version.template.text else replace(version.template, manifest=manifest)
        override = self._override_of_version(version, newest)
        return self.build(template, binding, replace(self.newest, interpreter=interpreter, override=override))

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


def _manifest_with_replicas_of(manifest: Manifest, newest: Manifest, interpreter: Interpreter) -> Manifest:
    """Return a manifest with the replicas that the newest one of the object has, where both have a number there."""
    path = interpreter.replica_field(manifest)
    if path is None:
        return manifest
    try:
        number = value_at(newest, *path)
    except InterpreterError:
        return manifest
    if type(number) is not int or number == value_at(manifest, *path):
        return manifest
    changed: Manifest = manifest_with_number(manifest, path, number)
    return changed


NO_WORKS = Works(variants=(), blobs={}, contents=(), failures=())
"""The works of an object that is in no cluster."""


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
