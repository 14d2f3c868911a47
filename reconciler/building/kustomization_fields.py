"""The fields of kustomize's own types, at every level, in their exact case.

kustomize takes a field in any case: ``Files`` is ``files`` to it. A reader that knows one spelling alone would see
nothing there and kustomize a file to read. So whatever is no field as it is written here is refused before kustomize
runs, in a kustomization and in the configuration of generators and transformers alike.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from render.words import most_similar_word

Shape = Mapping[str, "Shape | None"]
"""The fields of an object, or of each object of a list, and the shape of what they hold: None where any key may be."""


class UnknownKey(NamedTuple):
    """A key that is no field: where it stands, and what to write instead."""

    field: str
    hint: str


def _shape_of_fields(*names: str, **nested: Shape) -> Shape:
    return {**dict.fromkeys(names), **nested}


_KIND = ("group", "version", "kind")
_FIELD_SPEC = _shape_of_fields(*_KIND, "path", "create")
_SELECTOR = _shape_of_fields(*_KIND, "name", "namespace", "annotationSelector", "labelSelector")
_METADATA = _shape_of_fields("name", "namespace", "labels", "annotations")
_GENERATOR_OPTIONS = _shape_of_fields("labels", "annotations", "disableNameSuffixHash", "immutable")
_CONFIG_MAP = _shape_of_fields(
    *("namespace", "name", "behavior", "literals", "files", "envs", "env"), options=_GENERATOR_OPTIONS
)
_SECRET = {**_CONFIG_MAP, "type": None}
_PATCH = _shape_of_fields(
    "path", "patch", target=_SELECTOR, options=_shape_of_fields("allowNameChange", "allowKindChange")
)
_IMAGE = _shape_of_fields("name", "newName", "tagSuffix", "newTag", "digest")
_REPLICA = _shape_of_fields("name", "count")
_FIELD_OPTIONS = _shape_of_fields("delimiter", "index", "encoding", "create")
_SOURCE = _shape_of_fields(*_KIND, "name", "namespace", "fieldPath", options=_FIELD_OPTIONS)
_TARGET = _shape_of_fields("fieldPaths", select=_SELECTOR, reject=_SELECTOR, options=_FIELD_OPTIONS)
_REPLACEMENT = _shape_of_fields("path", "sourceValue", source=_SOURCE, targets=_TARGET)
_SORT_OPTIONS = _shape_of_fields("order", legacySortOptions=_shape_of_fields("orderFirst", "orderLast"))
_OBJECT_REFERENCE = _shape_of_fields("apiVersion", *_KIND, "name", "namespace")
_VARIABLE = _shape_of_fields("name", objref=_OBJECT_REFERENCE, fieldref=_shape_of_fields("fieldPath"))
_LABEL = _shape_of_fields("pairs", "includeSelectors", "includeTemplates", fields=_FIELD_SPEC)

KUSTOMIZATION: Shape = {
    **dict.fromkeys(("apiVersion", "kind", "namePrefix", "nameSuffix", "namespace", "commonLabels")),
    **dict.fromkeys(("commonAnnotations", "patchesStrategicMerge", "resources", "components", "crds", "bases")),
    **dict.fromkeys(("configurations", "generators", "transformers", "validators", "buildMetadata")),
    **dict.fromkeys(("helmGlobals", "helmCharts", "helmChartInflationGenerator")),
    "metadata": _METADATA,
    "openapi": _shape_of_fields("version", "path"),
    "labels": _LABEL,
    "patchesJson6902": _PATCH,
    "patches": _PATCH,
    "images": _IMAGE,
    "imageTags": _IMAGE,
    "replacements": _REPLACEMENT,
    "replicas": _REPLICA,
    "vars": _VARIABLE,
    "sortOptions": _SORT_OPTIONS,
    "configMapGenerator": _CONFIG_MAP,
    "secretGenerator": _SECRET,
    "generatorOptions": _GENERATOR_OPTIONS,
}
"""A kustomization, and a component of one. What has charts is refused as a whole."""

_HEAD = _shape_of_fields("apiVersion", "kind", metadata=_METADATA)
_WITH_FIELD_SPECS = {**_HEAD, "fieldSpecs": _FIELD_SPEC}
_ACCOUNT = _shape_of_fields("name", "namespace", "projectId")
PLUGINS: Mapping[str, Shape] = {
    "AnnotationsTransformer": {**_WITH_FIELD_SPECS, "annotations": None},
    "ConfigMapGenerator": {**_HEAD, **_CONFIG_MAP},
    "HashTransformer": _HEAD,
    "IAMPolicyGenerator": {**_HEAD, "cloud": None, "kubernetesService": _ACCOUNT, "serviceAccount": _ACCOUNT},
    "ImageTagTransformer": {**_WITH_FIELD_SPECS, "imageTag": _IMAGE},
    "LabelTransformer": {**_WITH_FIELD_SPECS, "labels": None},
    "NamespaceTransformer": {**_WITH_FIELD_SPECS, "unsetOnly": None, "setRoleBindingSubjects": None},
    "PatchJson6902Transformer": {**_HEAD, "target": _SELECTOR, "path": None, "jsonOp": None},
    "PatchStrategicMergeTransformer": {**_HEAD, "paths": None, "patches": None},
    "PatchTransformer": {**_HEAD, **_PATCH},
    "PrefixSuffixTransformer": {**_WITH_FIELD_SPECS, "prefix": None, "suffix": None},
    "PrefixTransformer": {**_WITH_FIELD_SPECS, "prefix": None},
    "ReplacementTransformer": {**_HEAD, "replacements": _REPLACEMENT},
    "ReplicaCountTransformer": {**_WITH_FIELD_SPECS, "replica": _REPLICA},
    "SecretGenerator": {**_HEAD, **_SECRET},
    "SortOrderTransformer": {**_HEAD, "sortOptions": _SORT_OPTIONS},
    "SuffixTransformer": {**_WITH_FIELD_SPECS, "suffix": None},
    "ValueAddTransformer": {
        **_HEAD,
        "value": None,
        "targets": _shape_of_fields("fieldPath", "filePathPosition", selector=_SELECTOR),
        "targetFilePath": None,
    },
}
"""The generators and transformers that kustomize has inside; it runs no others without being allowed to."""

CONFIGURATION: Shape = {
    **dict.fromkeys(
        ("namePrefix", "nameSuffix", "namespace", "commonLabels", "labels", "templateLabels", "commonAnnotations"),
        _FIELD_SPEC,
    ),
    **dict.fromkeys(("varReference", "images", "replicas"), _FIELD_SPEC),
    "nameReference": _shape_of_fields(*_KIND, fieldSpecs=_FIELD_SPEC),
}
"""A file that ``configurations`` lists: which fields of which kinds transformers change."""


def unknown_keys(value: Any, shape: Shape) -> Iterator[UnknownKey]:
    """Yield the keys of a value that are no fields of its shape, in order."""
    return _unknown_keys_below(value, shape, "")


def _unknown_keys_below(value: Any, shape: Shape, path: str) -> Iterator[UnknownKey]:
    if isinstance(value, list):
        for place, inner in enumerate(value):
            if isinstance(inner, dict):
                yield from _unknown_keys_below(inner, shape, f"{path}[{place}]")
    elif isinstance(value, dict):
        base = f"{path}." if path else ""
        for key, inner in value.items():
            if key not in shape:
                yield UnknownKey(f"{base}{key}", _hint_of_nearest_field(str(key), shape))
            elif (nested := shape[key]) is not None:
                yield from _unknown_keys_below(inner, nested, f"{base}{key}")


def _hint_of_nearest_field(key: str, shape: Shape) -> str:
    folded = {name.casefold(): name for name in shape}
    same = folded.get(key.casefold())
    if same:
        return f"write {same!r}: a field has one spelling here, whatever kustomize takes for it"
    near = most_similar_word(key, shape)
    return f"did you mean {near!r}?" if near else ""
