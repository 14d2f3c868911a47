"""Karmada's Work objects of a pass: what a Karmada control plane would hold for every object and cluster.

Unlike the rendered tree they include what suspension holds back, say how conflicts are resolved and which overrides
applied, and carry the bookkeeping by which a control plane and its members find each other. What only a control plane
can make - random permanent ids - is there as far as it is given.
"""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from overrides.record import AppliedRule, applied_annotations
from render.binding import Binding
from render.documents import parse_documents
from render.gitobjects import content_of_blob
from render.model import WORK_API_VERSION, Manifest, ObjectRef, Template
from render.policy import ConflictResolution
from render.template_annotations import CONFLICT_RESOLUTION
from render.works import Works

from .dependencies import binding_name
from .pass_values import Rendered

MANAGED = "karmada.io/managed"
MANAGED_ANNOTATIONS = "resourcetemplate.karmada.io/managed-annotations"
MANAGED_LABELS = "resourcetemplate.karmada.io/managed-labels"
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_OFFSET, _PRIME = 0x811C9DC5, 0x01000193


def work_objects(rendered: Rendered) -> Iterator[Manifest]:
    """Yield a Work for every object in every cluster it could be built for: cluster by cluster, by name."""
    built = rendered.built
    for index, cluster in enumerate(built.index.names):
        for binding in built.bindings:
            works = built.works.get(binding.ref)
            if works is not None:
                yield from works_for_cluster(works, index, cluster, binding)
        for _, works in rendered.namespaces:
            manifest = manifest_for_cluster(works, index)
            if manifest is not None:
                yield _work_of_cluster(cluster, manifest, dict(applied_annotations(_rules_applied_in(works, index))))


def works_for_cluster(
    works: Works, index: int, cluster: str, binding: Binding, template: Template | None = None
) -> Iterator[Manifest]:
    """Yield the Work of a binding in one cluster, if its object could be built there.

    With the ``template`` the object also says which generation of what it was made from.
    """
    built = manifest_for_cluster(works, index)
    if built is None:
        return
    word = conflict_resolution(built, binding)
    identity = {
        "work.karmada.io/namespace": f"karmada-es-{cluster}",
        "work.karmada.io/name": work_name(ObjectRef.of(built)),
        CONFLICT_RESOLUTION: word,
    }
    kept = {**binding_reference(binding.ref), **identity, **_provenance_of_template(template)}
    annotations = {**binding_reference(binding.ref), CONFLICT_RESOLUTION: word}
    annotations |= applied_annotations(_rules_applied_in(works, index))
    work = _work_of_cluster(cluster, manifest_with_bookkeeping(built, kept), annotations)
    work["spec"]["suspendDispatching"] = is_suspended(binding, cluster)
    work["spec"]["preserveResourcesOnDeletion"] = binding.preserve_resources_on_deletion
    yield work


def _provenance_of_template(template: Template | None) -> dict[str, str]:
    if template is None:
        return {}
    generation = template.manifest["metadata"].get("generation") or 0
    found = {"resourcetemplate.karmada.io/uid": template.uid}
    return {**found, "resourcetemplate.karmada.io/generation": str(generation)} if generation > 0 else found


def manifest_with_bookkeeping(manifest: Manifest, annotations: Mapping[str, str]) -> Manifest:
    """Return an object with what a member must know of it: who manages it, and which keys came from there."""
    metadata = manifest["metadata"]
    labels = {**(metadata.get("labels") or {}), MANAGED: "true"}
    noted = {**(metadata.get("annotations") or {}), **annotations}
    noted[MANAGED_ANNOTATIONS] = ",".join(sorted({*noted, MANAGED_ANNOTATIONS, MANAGED_LABELS}))
    noted[MANAGED_LABELS] = ",".join(sorted(labels))
    return {**manifest, "metadata": {**metadata, "labels": labels, "annotations": noted}}


def _work_of_cluster(cluster: str, manifest: Manifest, annotations: dict[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": WORK_API_VERSION,
        "kind": "Work",
        "metadata": {
            "name": work_name(ObjectRef.of(manifest)),
            "namespace": f"karmada-es-{cluster}",
            **({"annotations": annotations} if annotations else {}),
        },
        "spec": {"workload": {"manifests": [manifest]}},
    }


def manifest_for_cluster(works: Works, index: int) -> Manifest | None:
    """Return the manifest built for one cluster, None when there is none."""
    for clusters, blob_id in works.variants:
        if clusters >> index & 1:
            return cast("Manifest", parse_documents(content_of_blob(works.blobs[blob_id]))[0].value)
    return None


def _rules_applied_in(works: Works, index: int) -> tuple[AppliedRule, ...]:
    for content in works.contents:
        if content.clusters >> index & 1:
            return cast("tuple[AppliedRule, ...]", content.applied)
    return ()


def is_suspended(binding: Binding, cluster: str) -> bool:
    """Return whether a cluster keeps what it has while the Work changes."""
    suspension = binding.suspension
    return suspension is not None and (suspension.dispatching or cluster in suspension.dispatching_on_clusters)


def conflict_resolution(manifest: Manifest, binding: Binding) -> str:
    """Return ``overwrite`` or ``abort``: the object's own annotation if it is one of them, else the policy's word."""
    own = (manifest["metadata"].get("annotations") or {}).get(CONFLICT_RESOLUTION)
    if own in {"overwrite", "abort"}:
        return str(own)
    return "overwrite" if binding.conflict_resolution is ConflictResolution.OVERWRITE else "abort"


def binding_reference(ref: ObjectRef) -> dict[str, str]:
    """Return the annotations that lead from a Work, or its object, to the binding."""
    if not ref.namespace:
        return {"clusterresourcebinding.karmada.io/name": binding_name(ref)}
    return {
        "resourcebinding.karmada.io/namespace": ref.namespace,
        "resourcebinding.karmada.io/name": binding_name(ref),
    }


def work_name(ref: ObjectRef) -> str:
    """Return Karmada's name of an object's Work: the name and a hash of namespace, name and kind.

    >>> work_name(ObjectRef("apps", "Deployment", "default", "nginx"))
    'nginx-687f7fb96f'
    """
    name = ref.name.replace(":", ".").lower()
    text = "-".join(part for part in (ref.namespace, name, ref.kind) if part).lower()
    value = _OFFSET
    for byte in text.encode():
        value = (value ^ byte) * _PRIME & 0xFFFFFFFF
    return f"{name}-{''.join(_ALPHABET[ord(digit) % 27] for digit in str(value))}"
