"""Flux's objects: a GitRepository of the rendered branch, and Kustomizations that apply each cluster's folder.

1. A cluster has one Kustomization. Flux itself applies Namespaces and CustomResourceDefinitions first and waits for
   them, and orders what follows by kind, so that our first stages need no object of their own.
2. What intercepts writes has a Kustomization for each kind, whose folder is its path. It depends on the first one,
   which leaves these kinds out and is ready when all it applied is healthy.
3. Nothing of the tree changes: annotations that Flux asks for are patched in when it builds the folder.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from render.documents import emit
from render.layout import CLUSTER_SCOPED, kind_folder
from render.model import Manifest, ObjectRef
from render.settings.emission import Placing

from .model import ClusterTree, Emission, EmissionOptions, RenderedPlace, name_fit_for_label

_SOURCE = "source.toolkit.fluxcd.io/v1"
_KUSTOMIZE = "kustomize.toolkit.fluxcd.io/v1"
_NAMESPACE = "flux-system"
_KEPT = {"kustomize.toolkit.fluxcd.io/prune": "disabled"}
_ONLY_TREES = "/*\n!/clusters/\n"
_EVERYTHING = "# everything is read\n"
_TIMEOUT = "5m"


def flux_objects(trees: Iterable[ClusterTree], options: EmissionOptions) -> Emission:
    """Return Flux's objects for clusters: in a hub one source for all, in members one for each."""
    files: list[tuple[str, tuple[Manifest, ...]]] = []
    notes: list[str] = []
    for tree in sorted(trees, key=lambda tree: tree.cluster):
        source = _git_repository_of_place(tree.place, options)
        kustomizations = tuple(_kustomizations_of_tree(tree, options))
        if options.placing is Placing.MEMBER:
            files.append((f"{tree.cluster}.yaml", (source, *kustomizations)))
        else:
            files += [] if files else [("source.yaml", (source,))]
            files.append((f"{tree.cluster}.yaml", kustomizations))
        notes += _notes_of_tree(tree, options)
    return Emission(files=tuple(files), notes=tuple(notes))


def _git_repository_of_place(place: RenderedPlace, options: EmissionOptions) -> Manifest:
    """Return the source. Flux leaves out files with names such as ``cloudbuild.yaml`` unless it is told otherwise."""
    spec: dict[str, Any] = {"interval": options.interval, "url": place.address, "ref": {"branch": place.branch}}
    if options.git_secret:
        spec["secretRef"] = {"name": options.git_secret}
    spec["ignore"] = _ONLY_TREES if place.folder else _EVERYTHING
    return {
        "apiVersion": _SOURCE,
        "kind": "GitRepository",
        "metadata": _metadata_of_options(options, options.prefix),
        "spec": spec,
    }


def _kustomizations_of_tree(tree: ClusterTree, options: EmissionOptions) -> Iterator[Manifest]:
    name = name_fit_for_label(options.prefix, tree.cluster)
    patches = [*_patches_that_leave_out_objects(tree), *_patches_that_keep_objects(tree)]
    spec = _spec_of_tree(tree, tree.place.folder, options) | ({"patches": patches} if patches else {})
    yield _kustomization(name, tree, spec, options)
    for api_version, kind in tree.interceptors:
        folder = kind_folder(ObjectRef(api_version.rpartition("/")[0], kind, "", ""))
        path = "/".join(filter(None, (tree.place.folder, CLUSTER_SCOPED, folder)))
        later = {**_spec_of_tree(tree, path, options), "dependsOn": [{"name": name}]}
        yield _kustomization(name_fit_for_label(name, kind.lower()), tree, later, options)


def _kustomization(name: str, tree: ClusterTree, spec: Mapping[str, Any], options: EmissionOptions) -> Manifest:
    metadata = {**_metadata_of_options(options, name), "labels": {"argosy.dev/cluster": tree.cluster}}
    return {"apiVersion": _KUSTOMIZE, "kind": "Kustomization", "metadata": metadata, "spec": dict(spec)}


def _spec_of_tree(tree: ClusterTree, path: str, options: EmissionOptions) -> dict[str, Any]:
    """Return what all Kustomizations of a cluster have in common; deleting one leaves its objects where they are."""
    spec: dict[str, Any] = {
        "interval": "10m",
        "retryInterval": options.interval,
        "timeout": _TIMEOUT,
        "sourceRef": {"kind": "GitRepository", "name": options.prefix},
        "path": f"./{path}",
        "prune": True,
        "deletionPolicy": "Orphan",
        "force": False,
        "wait": True,
    }
    if options.placing is Placing.HUB:
        secret = options.kubeconfig_secret.replace("{cluster}", tree.cluster)
        spec["kubeConfig"] = {"secretRef": {"name": secret}}
    if tree.is_encrypted and options.decryption_secret:
        spec["decryption"] = {"provider": "sops", "secretRef": {"name": options.decryption_secret}}
    rules = list(_ignore_rules_of_tree(tree))
    return {**spec, "ignore": rules} if rules else spec


def _ignore_rules_of_tree(tree: ClusterTree) -> Iterator[dict[str, Any]]:
    paths: dict[ObjectRef, list[str]] = {}
    for field in tree.ignored:
        paths.setdefault(field.ref, []).append(field.pointer)
    for ref, pointers in paths.items():
        yield {"paths": pointers, "target": _selector_of_object(ref)}


def _selector_of_object(ref: ObjectRef) -> dict[str, str]:
    """Return a selector of one object; its parts are regular expressions."""
    named = {"group": ref.group, "kind": ref.kind, "namespace": ref.namespace, "name": ref.name}
    return {key: value.replace(".", r"\.") for key, value in named.items() if value}


def _patches_that_leave_out_objects(tree: ClusterTree) -> Iterator[dict[str, Any]]:
    for api_version, kind in tree.interceptors:
        yield _patch_of_kind(api_version, kind, {"$patch": "delete"}, {})


def _patches_that_keep_objects(tree: ClusterTree) -> Iterator[dict[str, Any]]:
    for api_version, kind in tree.kept_kinds:
        yield _patch_of_kind(api_version, kind, {}, _KEPT)
    for api_version, ref in tree.kept:
        yield {**_patch_of_kind(api_version, ref.kind, {}, _KEPT), "target": _selector_of_object(ref)}


def _patch_of_kind(
    api_version: str, kind: str, words: Mapping[str, Any], annotations: Mapping[str, str]
) -> dict[str, Any]:
    """Return a patch of all objects of a kind, which has to name one all the same."""
    metadata = {"name": "any", **({"annotations": dict(annotations)} if annotations else {})}
    text = emit({**words, "apiVersion": api_version, "kind": kind, "metadata": metadata}).decode()
    group = api_version.rpartition("/")[0]
    target = {"group": group.replace(".", r"\."), "kind": kind} if group else {"version": "v1", "kind": kind}
    return {"target": target, "patch": text}


def _metadata_of_options(options: EmissionOptions, name: str) -> dict[str, str]:
    return {"name": name, "namespace": options.namespace or _NAMESPACE}


def _notes_of_tree(tree: ClusterTree, options: EmissionOptions) -> Iterator[str]:
    for ref in tree.misread:
        yield f"{tree.cluster}: Flux takes the file of {ref} for a kustomization and applies nothing: rename it"
    if tree.is_encrypted and not options.decryption_secret:
        yield (
            f"{tree.cluster}: SOPS encrypted some of its objects, and Flux is not told where the keys are"
            " (spec.decryption in argosy.yaml)"
        )
