"""Argo CD's objects: Applications that apply the parts of each cluster's folder, alone or from one ApplicationSet.

Nothing of the tree changes: where Argo CD wants an annotation on an object, a part of the folder is an Application of
its own instead. What is never pruned is one that does not prune; what intercepts writes is one in a later wave.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from render.layout import CLUSTER_SCOPED, kind_folder, object_path
from render.model import Manifest, ObjectRef
from render.settings.emission import Grouping, Placing

from .model import (
    ClusterTree,
    Emission,
    EmissionOptions,
    IgnoredField,
    RenderedPlace,
    Stage,
    name_fit_for_label,
)

_API_VERSION = "argoproj.io/v1alpha1"
_NAMESPACE = "argocd"
_HERE = "https://kubernetes.default.svc"
_WAVES = {Stage.KEPT: "-1", Stage.OBJECTS: "0", Stage.INTERCEPTORS: "1"}
_OPTIONS = ("ServerSideApply=true", "RespectIgnoreDifferences=true", "FailOnSharedResource=true")
_WAVE = "argocd.argoproj.io/sync-wave"
_STAGE = "argosy.dev/stage"
_CLUSTER = "argosy.dev/cluster"
_PATCH = """\
spec:
  source:
    directory:
      recurse: true
      include: '{{ .include }}'
      exclude: '{{ .exclude }}'
  syncPolicy:
    automated:
      prune: {{ .prune }}
      selfHeal: true
"""
_NO_KEYS = "SOPS encrypted some of its objects, which Argo CD does not decrypt without a plugin"


def argocd_objects(trees: Iterable[ClusterTree], options: EmissionOptions) -> Emission:
    """Return Argo CD's objects for clusters."""
    listed = sorted(trees, key=lambda tree: tree.cluster)
    notes = tuple(f"{tree.cluster}: {_NO_KEYS}" for tree in listed if tree.is_encrypted)
    if options.placing is Placing.MEMBER or options.grouping is Grouping.APPLICATIONS:
        files = tuple((f"{tree.cluster}.yaml", tuple(_applications_of_tree(tree, options))) for tree in listed)
        return Emission(files=files, notes=notes)
    if not listed:
        return Emission(files=(), notes=notes)
    return Emission(
        files=(("applicationset.yaml", (_application_set(listed, options),)),),
        notes=(*notes, *_notes_on_shared_ignore_rules(listed)),
    )


def _applications_of_tree(tree: ClusterTree, options: EmissionOptions) -> Iterator[Manifest]:
    patterns = _patterns_of_trees([tree])
    for stage in _stages_of_patterns(patterns):
        is_here = options.placing is Placing.MEMBER
        spec = _common_application_spec(tree.place, _ignored_differences(tree.ignored), options)
        spec["source"] |= {"path": tree.place.folder or ".", "directory": _directory_of_stage(stage, patterns)}
        spec["destination"] = {"server": _HERE} if is_here else {"name": tree.cluster}
        spec["syncPolicy"] |= {"automated": {"prune": stage is not Stage.KEPT, "selfHeal": True}}
        metadata = _application_metadata(_application_name(options.prefix, tree.cluster, stage), options)
        metadata["labels"] = {_CLUSTER: tree.cluster, _STAGE: stage.value}
        metadata["annotations"] = {_WAVE: _WAVES[stage]}
        yield {"apiVersion": _API_VERSION, "kind": "Application", "metadata": metadata, "spec": spec}


def _application_set(trees: list[ClusterTree], options: EmissionOptions) -> Manifest:
    """Return one ApplicationSet, which makes Applications also for clusters that are there only later.

    Its name for one is not shortened: who has so long names of clusters takes Applications.
    """
    patterns, place = _patterns_of_trees(trees), trees[0].place
    elements = [_element_of_stage(stage, patterns) for stage in _stages_of_patterns(patterns)]
    folders = [{"path": "clusters/*"}]
    git = {"repoURL": place.address, "revision": place.branch, "directories": folders}
    spec = _common_application_spec(
        place, _ignored_differences(sorted({field for tree in trees for field in tree.ignored})), options
    )
    spec["source"]["path"] = "{{ .path.path }}"
    spec["destination"] = {"name": "{{ .path.basename }}"}
    metadata = {
        "name": f"{options.prefix}-{{{{ .path.basename }}}}{{{{ .suffix }}}}",
        "labels": {_CLUSTER: "{{ .path.basename }}", _STAGE: "{{ .stage }}"},
        "annotations": {_WAVE: "{{ .wave }}"},
    }
    return {
        "apiVersion": _API_VERSION,
        "kind": "ApplicationSet",
        "metadata": _application_metadata(options.prefix, options),
        "spec": {
            "goTemplate": True,
            "goTemplateOptions": ["missingkey=error"],
            "generators": [{"matrix": {"generators": [{"git": git}, {"list": {"elements": elements}}]}}],
            # Applications that are gone from it leave what they applied where it is.
            "syncPolicy": {"preserveResourcesOnDeletion": True},
            "template": {"metadata": metadata, "spec": spec},
            "templatePatch": _PATCH,
        },
    }


def _element_of_stage(stage: Stage, patterns: Mapping[Stage, tuple[str, ...]]) -> dict[str, Any]:
    directory = _directory_of_stage(stage, patterns)
    return {
        "stage": stage.value,
        "suffix": "" if stage is Stage.OBJECTS else f"-{stage.value}",
        "wave": _WAVES[stage],
        "include": directory.get("include", ""),
        "exclude": directory.get("exclude", ""),
        "prune": str(stage is not Stage.KEPT).lower(),
    }


def _patterns_of_trees(trees: Iterable[ClusterTree]) -> dict[Stage, tuple[str, ...]]:
    """Return the files of trees that do not belong to the common part, as patterns below a cluster's folder."""
    found: dict[Stage, set[str]] = {Stage.KEPT: set(), Stage.INTERCEPTORS: set()}
    for tree in trees:
        found[Stage.KEPT] |= {f"*/{_stage_folder_pattern(*each)}/*" for each in tree.kept_kinds}
        found[Stage.KEPT] |= {"/".join(object_path(ref)) for _, ref in tree.kept}
        found[Stage.INTERCEPTORS] |= {
            f"{CLUSTER_SCOPED}/{_stage_folder_pattern(*each)}/*" for each in tree.interceptors
        }
    return {stage: tuple(sorted(patterns)) for stage, patterns in found.items() if patterns}


def _stage_folder_pattern(api_version: str, kind: str) -> str:
    return kind_folder(ObjectRef(api_version.rpartition("/")[0], kind, "", ""))


def _stages_of_patterns(patterns: Mapping[Stage, tuple[str, ...]]) -> tuple[Stage, ...]:
    return tuple(stage for stage in Stage if stage is Stage.OBJECTS or stage in patterns)


def _directory_of_stage(stage: Stage, patterns: Mapping[Stage, tuple[str, ...]]) -> dict[str, Any]:
    """Return the files of one part: those that its patterns name, or all that no other part's do."""
    if stage is not Stage.OBJECTS:
        return {"recurse": True, "include": _glob_of_alternatives(patterns[stage])}
    others = sorted(pattern for each in patterns.values() for pattern in each)
    return {"recurse": True, **({"exclude": _glob_of_alternatives(others)} if others else {})}


def _glob_of_alternatives(patterns: Iterable[str]) -> str:
    return f"{{{','.join(patterns)}}}"


def _common_application_spec(
    place: RenderedPlace, ignored: list[dict[str, Any]], options: EmissionOptions
) -> dict[str, Any]:
    """Return what every Application has in common."""
    return {
        "project": options.project,
        "source": {"repoURL": place.address, "targetRevision": place.branch},
        **({"ignoreDifferences": ignored} if ignored else {}),
        "syncPolicy": {
            "retry": {"limit": -1, "backoff": {"duration": "5s", "factor": 2, "maxDuration": "3m"}},
            "syncOptions": list(_OPTIONS),
        },
    }


def _ignored_differences(fields: Iterable[IgnoredField]) -> list[dict[str, Any]]:
    pointers: dict[ObjectRef, list[str]] = {}
    for field in fields:
        pointers.setdefault(field.ref, []).append(field.pointer)
    return [_ignored_difference_of_object(ref, found) for ref, found in pointers.items()]


def _ignored_difference_of_object(ref: ObjectRef, pointers: list[str]) -> dict[str, Any]:
    named = {"group": ref.group, "kind": ref.kind, "namespace": ref.namespace, "name": ref.name}
    return {**{key: value for key, value in named.items() if value}, "jsonPointers": pointers}


def _notes_on_shared_ignore_rules(trees: list[ClusterTree]) -> Iterator[str]:
    """Yield a note for each field that one ApplicationSet leaves to others in clusters where nobody writes it."""
    clusters: dict[IgnoredField, list[str]] = {}
    for tree in trees:
        for field in tree.ignored:
            clusters.setdefault(field, []).append(tree.cluster)
    for field, names in sorted(clusters.items()):
        if len(names) < len(trees):
            yield (
                f"{field.ref}: {field.pointer} is left to others in {', '.join(names)} alone, and by one ApplicationSet"
                " everywhere (--as applications keeps them apart)"
            )


def _application_name(prefix: str, cluster: str, stage: Stage) -> str:
    return name_fit_for_label(prefix, cluster, "" if stage is Stage.OBJECTS else stage.value)


def _application_metadata(name: str, options: EmissionOptions) -> dict[str, Any]:
    return {"name": name, "namespace": options.namespace or _NAMESPACE}
