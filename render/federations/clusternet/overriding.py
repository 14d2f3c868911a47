"""The object that a cluster is sent: Globalizations and Localizations applied in Clusternet's order.

1. Globalizations whose affinity selects the cluster, then Localizations of the cluster's namespace.
2. Each by rising priority, then by the second of the minute in which it was made, then by name.
3. Of each the overrides in their order; last ``managedFields``, ``uid`` and ``status`` are removed.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from render.documents import DocumentErrors, parse_documents
from render.federations.decoding import checked_selector, decode_label_selector
from render.federations.patches import JsonPatch, PatchFailed, value_after_merge_patch
from render.model import Manifest
from render.selectors import matches_labels

from .fields import object_with_changed_field, value_with_numbers_as_floats
from .scheduling import ManagedCluster

CHART_KIND = "HelmChart"
_MOST_OPERATIONS = 10_000
_REMOVED = (("metadata", "managedFields"), ("metadata", "uid"), ("status",))
_CHART_IDENTITY = (("spec", "chart"), ("spec", "targetNamespace"))


class _Blank:
    """The type of what is overridden before there is anything."""


BLANK: Any = _Blank()


class ChartForCluster(Struct, frozen=True, kw_only=True):
    """A HelmChart as a cluster installs it; values of None are the chart's own."""

    chart: Mapping[str, Any]
    values: Any


def selected_overrides(
    manifest: Manifest, cluster: ManagedCluster, overriding: Iterable[Manifest]
) -> list[Mapping[str, Any]]:
    """Return the Globalizations and Localizations of an object in a cluster; WrongShape for a selector of no meaning.

    Those being deleted are not among them, but their selectors count.
    """
    namespace = cluster.key.partition("/")[0]
    found = []
    for each in overriding:
        spec, metadata = each.get("spec") or {}, each["metadata"]
        is_global = each["kind"] == "Globalization"
        if not is_of_feed(manifest, spec.get("feed") or {}):
            continue
        if is_global and not _selects_cluster(spec, cluster):
            continue
        if is_global or metadata.get("namespace", "") == namespace:
            found.append(each)
    return sorted((each for each in found if not _is_being_deleted(each)), key=sort_key_of_override)


def is_of_feed(manifest: Manifest, feed: Mapping[str, Any]) -> bool:
    """Say whether a feed means an object; a HelmChart is known by kind, namespace and name."""
    metadata = manifest["metadata"]
    if (feed.get("kind"), feed.get("name")) != (manifest["kind"], metadata["name"]):
        return False
    namespace = feed.get("namespace") or ""
    if manifest["kind"] == CHART_KIND:
        return bool(namespace == metadata.get("namespace", ""))
    return feed.get("apiVersion") == manifest["apiVersion"] and namespace in {"", metadata.get("namespace", "")}


def object_after_overrides(manifest: Manifest, overriding: Sequence[Manifest]) -> Any:
    """Return an object with overrides in their order; PatchFailed where Clusternet sends nothing."""
    result, _ = _object_and_chart_patch_after(dict(manifest), BLANK, _override_configs_of(overriding))
    return result


def chart_after_overrides(manifest: Manifest, overriding: Sequence[Manifest]) -> ChartForCluster:
    """Return a HelmChart and its values with overrides in their order; PatchFailed as above."""
    values, chart_patch = _object_and_chart_patch_after(BLANK, BLANK, _override_configs_of(overriding))
    chart: Any = manifest
    if chart_patch is not BLANK:
        chart = value_after_merge_patch(manifest, _value_without(chart_patch, (*_CHART_IDENTITY, *_REMOVED)))
    return ChartForCluster(chart=_value_without(chart, _REMOVED), values=None if values is BLANK else values)


def value_after_override(current: Any, config: Mapping[str, Any]) -> Any:
    """Return a value with one override that is not of a chart itself; PatchFailed where it cannot be applied."""
    value, kind = value_of_override(config), config.get("type") or ""
    if value is BLANK:
        return current
    if current is BLANK and kind != "JSONPatch":
        return value
    return _value_after_override_by_type(current, config, value)


def _value_after_override_by_type(current: Any, config: Mapping[str, Any], value: Any) -> Any:
    match kind := config.get("type") or "":
        case "Helm":
            return value_with_numbers_as_floats(_merged_values(_values_as_object(value), _values_as_object(current)))
        case "JSONPatch":
            return value_after_json_patch(current, value)
        case "MergePatch":
            return value_after_merge_patch(current, value)
        case "FieldJSONPatch":
            return object_with_changed_field(current, config, lambda text: value_after_json_patch(text, value))
        case "FieldMergePatch":
            return object_with_changed_field(current, config, lambda text: value_after_merge_patch(text, value))
    raise PatchFailed(f"the type {kind!r} is not known")


def value_of_override(config: Mapping[str, Any]) -> Any:
    """Return what an override says, BLANK for an empty one; PatchFailed for one that is no YAML."""
    text = config.get("value") or ""
    if not text.strip():
        return BLANK
    try:
        documents = parse_documents(text.encode())
    except DocumentErrors as error:
        raise PatchFailed("its value is no YAML") from error
    return documents[0].value if documents else None


def value_after_json_patch(current: Any, operations: Any) -> Any:
    """Return a value with a JSON patch, unchanged where a place that the patch needs is not there."""
    if current is BLANK:
        return current
    if operations is not None and not isinstance(operations, list):
        raise PatchFailed("a JSON patch is a list")
    checked = [_json_patch_operation(each) for each in operations or ()]
    if len(checked) > _MOST_OPERATIONS:
        raise PatchFailed(f"a JSON patch has at most {_MOST_OPERATIONS} operations")
    if current is not None and not isinstance(current, dict | list):
        raise PatchFailed("only an object can be patched")
    try:
        return JsonPatch.V5.apply(current, checked)
    except PatchFailed as error:
        if error.is_missing:
            return current
        raise


def _json_patch_operation(plain: Any) -> Mapping[str, Any]:
    if plain is not None and not isinstance(plain, dict):
        raise PatchFailed("an operation of a JSON patch is an object")
    operation = plain or {}
    return operation if isinstance(operation.get("op"), str) else {**operation, "op": ""}


def _object_and_chart_patch_after(
    current: Any, chart_patch: Any, configs: Iterable[Mapping[str, Any]]
) -> tuple[Any, Any]:
    """Return an object, or values, and the patch of the chart itself that overrides together make."""
    for config in configs:
        is_of_chart = bool(config.get("overrideChart"))
        value = value_of_override(config)
        if value is BLANK:
            continue
        if is_of_chart and chart_patch is BLANK:
            chart_patch = value
        elif is_of_chart and config.get("type") == "Helm":
            chart_patch = value_after_merge_patch(chart_patch, value)
        elif is_of_chart and current is BLANK and config.get("type") != "JSONPatch":
            raise PatchFailed(f"the override {config.get('name', '')} finds no values to change")
        else:
            current = value_after_override(current, config)
    return (current if current is BLANK else _value_without(current, _REMOVED)), chart_patch


def _override_configs_of(overriding: Sequence[Manifest]) -> list[Mapping[str, Any]]:
    return [config for each in overriding for config in (each.get("spec") or {}).get("overrides") or ()]


def _value_without(value: Any, paths: Iterable[tuple[str, ...]]) -> Any:
    """Return a value without these fields; a value that has no fields cannot be sent."""
    for path in paths:
        value = value_after_json_patch(value, [{"op": "remove", "path": "/" + "/".join(path)}])
    return value


def _values_as_object(plain: Any) -> dict[str, Any]:
    if plain is not None and not isinstance(plain, dict):
        raise PatchFailed("the values of a chart are an object")
    return plain or {}


def _merged_values(over: dict[str, Any], under: dict[str, Any]) -> dict[str, Any]:
    """Merge values, the first ones winning; null deletes a key that is there, and stays where none is."""
    merged = dict(over)
    for key, value in under.items():
        if key not in merged:
            merged[key] = value
        elif merged[key] is None:
            del merged[key]
        elif isinstance(value, dict) and isinstance(merged[key], dict):
            merged[key] = _merged_values(merged[key], value)
    return merged


def _selects_cluster(spec: Mapping[str, Any], cluster: ManagedCluster) -> bool:
    what = "spec.clusterAffinity"
    selector = decode_label_selector(spec.get("clusterAffinity"), what)
    return selector is None or matches_labels(checked_selector(selector, what), cluster.labels)


def _is_being_deleted(manifest: Manifest) -> bool:
    return bool(manifest["metadata"].get("deletionTimestamp"))


def sort_key_of_override(manifest: Manifest) -> tuple[bool, int, str, str]:
    """Return what Globalizations and Localizations are sorted by: those that come later win."""
    spec, metadata = manifest.get("spec") or {}, manifest["metadata"]
    made = str(metadata.get("creationTimestamp") or "")
    second = made[17:19] if len(made) > 18 else "00"
    return manifest["kind"] != "Globalization", spec.get("priority") or 0, second, metadata.get("name", "")
