"""Kustomizations of Flux as requests for a folder: the path, its tree, and what is added to the kustomization there.

The meaning of each field is that of kustomize-controller. What decides when or by whom Flux applies is not read, and
said once for all objects.
"""

import json
import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from reconciler.building.requests import FolderRequest, UnusableRequest
from reconciler.building.source_trees import LockedTrees, SourceTree, comparable_repository_address
from reconciler.gitops.tool_kind import ToolKind, is_any_object, is_no_object
from reconciler.locked.model import SourceType, UnavailableSource
from reconciler.source.external import artifact_place, login_secret_name, repository_place
from reconciler.source.files import SourceFile
from reconciler.source.manifests import LocatedManifest
from reconciler.source.uncommitted import UncommittedFile
from render.documents import emit
from render.model import group_of, list_or_empty, mapping_or_empty
from render.settings.source import RenderedRelease

REPOSITORIES, ARTIFACTS = "source.toolkit.fluxcd.io", "source.extensions.fluxcd.io"
INSTALLED = "flux-system"
"""The name that Flux gives to the repository that it was installed from."""
Copy = tuple[str, str]
"""A pattern of files of the repository, and the folder of an artifact that they are copied to."""

IGNORED = {
    "dependsOn": "objects are applied by kind, definitions and namespaces first",
    "kubeConfig": "policies say which clusters objects go to",
    "serviceAccountName": "objects are applied as whoever runs Argosy",
    "force": "objects are never made anew",
}
"""Fields that are not read, and the reason that people are told."""

_FETCHED = frozenset({"GitRepository", "OCIRepository"})
_READ = frozenset(
    [
        "path",
        "targetNamespace",
        "namePrefix",
        "nameSuffix",
        "commonMetadata",
        "patches",
        "patchesStrategicMerge",
        "patchesJson6902",
        "images",
        "components",
        "ignoreMissingComponents",
        "postBuild",
        "sourceRef",
        "suspend",
        "prune",
    ]
)
_TIMING = frozenset(
    [
        "interval",
        "retryInterval",
        "timeout",
        "wait",
        "healthChecks",
        "healthCheckExprs",
        "decryption",
        "deletionPolicy",
        "validation",
        "buildMetadata",
    ]
)
SourceKey = tuple[str, str, str]
"""A source of Flux: its kind, namespace and name."""
NO_SOURCE: SourceKey = ("", "", "")


class FluxSources(Struct, frozen=True, kw_only=True):
    """Everything that a Kustomization may take its folder from.

    ``repository`` is the tree of this one; ``objects`` are the sources of Flux among the manifests, by kind, namespace
    and name, of which ``own`` is this repository. ``locked`` are the Sources of the fleet.
    """

    repository: SourceTree
    objects: Mapping[SourceKey, Mapping[str, Any]] = field(default_factory=dict)
    artifacts: Mapping[tuple[str, str], tuple[Copy, ...]] = field(default_factory=dict)
    own: SourceKey = NO_SOURCE
    locked: LockedTrees

    def request(self, place: LocatedManifest, default_namespace: str) -> FolderRequest:
        """Return what a Kustomization deploys; UnusableRequest says why it cannot be read."""
        spec = place.manifest["spec"]
        namespace = str(place.manifest["metadata"].get("namespace") or default_namespace)
        if spec.get("suspend"):
            hint = "what Argosy delivers is suspended by its policy: spec.suspension"
            raise UnusableRequest("spec.suspend", "it is suspended, so that nothing is made of it", hint)
        unknown = sorted(spec.keys() - _READ - _TIMING - IGNORED.keys())
        if unknown:
            raise UnusableRequest(f"spec.{unknown[0]}", "no field that is known here, so that it might change anything")
        tree, inside = self._tree_and_path(spec, namespace)
        folder = _folder_of_path(spec.get("path"))
        if inside and folder != inside and not folder.startswith(f"{inside}/"):
            raise UnusableRequest("spec.path", f"the Source of its repository has the folder {inside!r} alone")
        folder = folder.removeprefix(inside).strip("/")
        return FolderRequest(
            place=place,
            tree=tree,
            folder=folder,
            additions=_additions_to_kustomization(spec, tree, folder),
            is_printed=bool(spec.get("postBuild")),
        )

    def _tree_and_path(self, spec: Mapping[str, Any], own: str) -> tuple[SourceTree, str]:
        """Return the tree of a Kustomization, and the folder of the repository that it begins at."""
        kind, namespace, name = _source_key_of_reference(spec, own)
        if kind == "ExternalArtifact":
            copies = self.artifacts.get((namespace, name))
            if copies is None:
                raise UnusableRequest("spec.sourceRef", f"no ArtifactGenerator makes {namespace}/{name}")
            return artifact_tree(f"ExternalArtifact {namespace}/{name}", self.repository, copies), ""
        found = self.objects.get((kind, namespace, name))
        if found is None:
            return self.repository, ""
        try:
            return self._locked_tree((kind, namespace, name), found) or (self.repository, "")
        except UnavailableSource as error:
            raise UnusableRequest("spec.sourceRef", error.message, error.hint) from error

    def _locked_tree(self, key: SourceKey, found: Mapping[str, Any]) -> tuple[SourceTree, str] | None:
        """Return the tree of another repository, and the folder that it begins at; None for this one."""
        type_ = SourceType.OCI if key[0] == "OCIRepository" else SourceType.GIT
        locked = self.locked.tree_and_path_of_address(type_, found.get("url"))
        if locked is not None or self._is_own(key, found):
            return locked
        kind, namespace, name = key
        if kind not in _FETCHED:
            message = f"{kind} {namespace}/{name} is another repository: {found.get('url')}"
            raise UnavailableSource(message, hint="write a Source of it, and run argosy lock")
        place = artifact_place(found) if type_ is SourceType.OCI else repository_place(found)
        tree = self.locked.tree_without_source(type_, place, login_secret_name(found, namespace))
        return (tree, "") if tree else None

    def _is_own(self, key: SourceKey, found: Mapping[str, Any]) -> bool:
        """Say whether a source of Flux is this repository: the one that most objects of its files are deployed from."""
        installed = next((each for each in sorted(self.objects) if each[2] == INSTALLED), self.own)
        if key == installed:
            return True
        own = self.objects.get(installed)
        return own is not None and (comparable_repository_address(own.get("url")), own.get("ref")) == (
            comparable_repository_address(found.get("url")),
            found.get("ref"),
        )


def source_that_is_this_repository(places: Iterable[LocatedManifest], default_namespace: str) -> SourceKey:
    """Return the source of Flux that is this repository: what it was installed from, or else what most objects name."""
    counts = Counter(
        _source_key_of_reference(
            place.manifest["spec"], str(place.manifest["metadata"].get("namespace") or default_namespace)
        )
        for place in places
    )
    return max(counts, key=lambda each: (each[2] == INSTALLED, counts[each], each), default=NO_SOURCE)


def _source_key_of_reference(spec: Mapping[str, Any], own: str) -> SourceKey:
    reference = mapping_or_empty(spec.get("sourceRef"))
    return str(reference.get("kind")), str(reference.get("namespace") or own), str(reference.get("name"))


def flux_objects(
    manifests: Iterable[LocatedManifest], default_namespace: str
) -> tuple[dict[SourceKey, Mapping[str, Any]], dict[tuple[str, str], tuple[Copy, ...]]]:
    """Return the sources of Flux among manifests, and the artifacts that are cut out of the repository."""
    objects: dict[SourceKey, Mapping[str, Any]] = {}
    artifacts: dict[tuple[str, str], tuple[Copy, ...]] = {}
    for place in manifests:
        group, metadata = group_of(place.manifest["apiVersion"]), mapping_or_empty(place.manifest.get("metadata"))
        namespace, spec = (
            str(metadata.get("namespace") or default_namespace),
            mapping_or_empty(place.manifest.get("spec")),
        )
        if group == REPOSITORIES:
            objects[place.manifest["kind"], namespace, str(metadata.get("name"))] = spec
        elif group == ARTIFACTS:
            for each in map(mapping_or_empty, list_or_empty(spec.get("artifacts"))):
                copies = tuple(_artifact_copy(mapping_or_empty(copy)) for copy in list_or_empty(each.get("copy")))
                artifacts[namespace, str(each.get("name"))] = copies
    return objects, artifacts


def _artifact_copy(copy: Mapping[str, Any]) -> Copy:
    """Return a copy of an artifact without the names of its two sides."""
    pattern, target = (str(copy.get(key) or "").partition("/")[2] for key in ("from", "to"))
    return pattern, target.strip("/")


def _ignored_fields_with_reasons(spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the fields of a Kustomization that are not read though they are set, with what people are told."""
    for name, reason in IGNORED.items():
        if spec.get(name):
            yield f"spec.{name}", reason
    if spec.get("prune") is False:
        yield "spec.prune", "objects that are gone from the source leave clusters, unless their policy preserves them"


KUSTOMIZATION = ToolKind(
    RenderedRelease.KUSTOMIZATION,
    "kustomize.toolkit.fluxcd.io",
    is_any_object,
    is_no_object,
    is_no_object,
    _ignored_fields_with_reasons,
)


def _additions_to_kustomization(spec: Mapping[str, Any], tree: SourceTree, folder: str) -> dict[str, Any]:
    """Return what a Kustomization adds to the kustomization of its folder."""
    additions = {
        "namespace": spec.get("targetNamespace"),
        "namePrefix": spec.get("namePrefix"),
        "nameSuffix": spec.get("nameSuffix"),
        "components": list(_paths_of_components(spec, tree, folder)),
        **patches_and_images(spec),
    }
    return {key: value for key, value in additions.items() if value}


def patches_and_images(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return patches and images as a kustomization has them; a patch is never read from a file."""
    patches = [
        {key: each[key] for key in ("patch", "target") if key in each}
        for each in map(mapping_or_empty, list_or_empty(spec.get("patches")))
    ]
    merges = [
        emit(each).decode() for each in list_or_empty(spec.get("patchesStrategicMerge")) if isinstance(each, dict)
    ]
    operations = [
        {"patch": json.dumps(each.get("patch")), "target": each.get("target")}
        for each in map(mapping_or_empty, list_or_empty(spec.get("patchesJson6902")))
    ]
    found = {
        "patches": patches,
        "patchesStrategicMerge": merges,
        "patchesJson6902": operations,
        "images": list_or_empty(spec.get("images")),
    }
    return {key: value for key, value in found.items() if value}


def _paths_of_components(spec: Mapping[str, Any], tree: SourceTree, folder: str) -> Iterator[str]:
    for text in map(str, list_or_empty(spec.get("components"))):
        if not spec.get("ignoreMissingComponents") or tree.has_folder(posixpath.join(folder, text)):
            yield text


def _folder_of_path(path: Any) -> str:
    """Return the folder that a path means, seen from the root of its tree."""
    text = str(path or "")
    folder = posixpath.normpath(text.removeprefix("/") or ".")
    if folder == ".." or folder.startswith("../"):
        raise UnusableRequest("spec.path", f"{text!r} leads out of the repository")
    return "" if folder == "." else folder


def artifact_tree(name: str, repository: SourceTree, copies: Iterable[Copy]) -> SourceTree:
    """Return the tree that Flux cuts out of the repository: files below folders, under other paths; later ones count.

    A pattern that ends in ``**`` means what is below a folder. One without is the folder itself, or a file, which
    keeps its name.
    """
    files: dict[str, SourceFile] = {}
    here: dict[str, str] = {}
    for pattern, target in copies:
        folder = pattern.removesuffix("**").strip("/")
        base = folder if pattern.endswith("**") else folder.rpartition("/")[0]
        for file in repository.files:
            if not folder or file.path == folder or file.path.startswith(f"{folder}/"):
                inner = file.path.removeprefix(f"{base}/") if base else file.path
                path = f"{target}/{inner}" if target else inner
                files[path] = UncommittedFile(path, file.mode, file.id, file.size)
                here[path] = file.path
    return SourceTree(name=name, files=[files[path] for path in sorted(files)], read=repository.read, here=here)
