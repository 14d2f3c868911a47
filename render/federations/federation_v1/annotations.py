"""The annotations of Federation v1, read as Go's encoding/json reads them: keys in any case, the last one wins."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from render.federations.decoding import WrongShape, decode_bool, decode_integer, decode_list, decode_text
from render.federations.planner import ANY_CLUSTER, Preference
from render.federations.requirements import checked_requirement, is_met
from render.model import Manifest
from render.selectors import Requirement

CLUSTER_SELECTOR = "federation.alpha.kubernetes.io/cluster-selector"
HPA_CLUSTERS = "federation.kubernetes.io/hpa-target-cluster-list"
PREFERENCES = {
    "Deployment": "federation.kubernetes.io/deployment-preferences",
    "ReplicaSet": "federation.kubernetes.io/replica-set-preferences",
    "Job": "federation.kubernetes.io/job-preferences",
}
_OPERATORS = {
    "!": "DoesNotExist",
    "DoesNotExist": "DoesNotExist",
    "=": "In",
    "==": "In",
    "in": "In",
    "In": "In",
    "!=": "NotIn",
    "notin": "NotIn",
    "NotIn": "NotIn",
    "exists": "Exists",
    "Exists": "Exists",
    "gt": "Gt",
    "Gt": "Gt",
    ">": "Gt",
    "lt": "Lt",
    "Lt": "Lt",
    "<": "Lt",
}
_OF_ONE_VALUE = frozenset({"=", "==", "!="})


class _Object(tuple[tuple[str, Any], ...]):
    """A JSON object as its pairs, keys that are given twice included."""

    __slots__ = ()


class AllocationPreferences(Struct, frozen=True, kw_only=True):
    """The preferences of a workload; an annotation without clusters leaves every cluster without replicas."""

    clusters: Mapping[str, Preference] = field(default_factory=dict)
    has_clusters: bool = True
    is_rebalanced: bool = False


DEFAULT_PREFERENCES = AllocationPreferences(clusters={ANY_CLUSTER: Preference(weight=1)})


def annotations_of(manifest: Manifest) -> Mapping[str, Any]:
    """Return the annotations of an object."""
    metadata = manifest.get("metadata") or {}
    return metadata.get("annotations") or {}


def cluster_requirements_of(annotations: Mapping[str, Any]) -> tuple[Requirement, ...] | None:
    """Return what the labels of a cluster must meet, None without the annotation; WrongShape for one of no meaning."""
    if CLUSTER_SELECTOR not in annotations:
        return None
    found = decode_list(
        _decode_json_text(annotations[CLUSTER_SELECTOR], CLUSTER_SELECTOR),
        CLUSTER_SELECTOR,
        _decode_cluster_requirement,
    )
    return tuple(checked_requirement(each, CLUSTER_SELECTOR) for each in found)


def is_sent_to(labels: Mapping[str, str], annotations: Mapping[str, Any]) -> bool:
    """Say whether an object goes to a cluster with these labels."""
    return all(is_met(each, labels) for each in cluster_requirements_of(annotations) or ())


def allocation_preferences_of(annotations: Mapping[str, Any], name: str) -> AllocationPreferences | None:
    """Return the preferences in an annotation, None where it is absent; WrongShape for one that cannot be read."""
    if name not in annotations:
        return None
    clusters: dict[str, Preference] | None = None
    is_rebalanced = False
    for key, value in _fields_in_lower_case(_decode_json_text(annotations[name], name), name):
        if key == "rebalance":
            is_rebalanced = is_rebalanced if value is None else decode_bool(value, f"{name}: rebalance")
        elif key == "clusters" and value is None:
            clusters = None
        elif key == "clusters":
            found = {
                cluster: _decode_preference(each, f"{name}: {cluster}")
                for cluster, each in _fields_as_written(value, name)
            }
            clusters = {**(clusters or {}), **found}
    return AllocationPreferences(
        clusters=clusters or {}, has_clusters=clusters is not None, is_rebalanced=is_rebalanced
    )


def clusters_chosen_by_autoscaler(annotations: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the clusters that an autoscaler chose, None where none has; WrongShape for a list that cannot be read."""
    if HPA_CLUSTERS not in annotations:
        return None
    names: list[str] = []
    for key, value in _fields_in_lower_case(_decode_json_text(annotations[HPA_CLUSTERS], HPA_CLUSTERS), HPA_CLUSTERS):
        if key == "names":
            names = decode_list(value, HPA_CLUSTERS, decode_text)
    return tuple(names)


def _decode_cluster_requirement(plain: Any, what: str) -> Requirement:
    fields = dict(_fields_in_lower_case(plain, what))
    operator = decode_text(fields.get("operator"), f"{what}.operator")
    values = tuple(decode_list(fields.get("values"), f"{what}.values", decode_text))
    if operator in _OF_ONE_VALUE and len(values) != 1:
        raise WrongShape(f"{what}: the operator {operator} needs one value")
    key = decode_text(fields.get("key"), f"{what}.key")
    return Requirement(key=key, operator=_OPERATORS.get(operator, operator and f"({operator})"), values=values)


def _decode_preference(plain: Any, what: str) -> Preference:
    fields: dict[str, int | None] = {"minreplicas": 0, "maxreplicas": None, "weight": 0}
    for key, value in _fields_in_lower_case(plain, what):
        if key == "maxreplicas":
            fields[key] = None if value is None else decode_integer(value, what)
        elif key in fields and value is not None:
            fields[key] = decode_integer(value, what)
    return Preference(
        min_replicas=fields["minreplicas"] or 0, max_replicas=fields["maxreplicas"], weight=fields["weight"] or 0
    )


def _decode_json_text(plain: Any, what: str) -> Any:
    if not isinstance(plain, str):
        raise WrongShape(f"the annotation {what} is not text")
    try:
        return json.loads(plain, object_pairs_hook=_Object, parse_constant=_refuse_json_constant)
    except ValueError as error:
        raise WrongShape(f"the annotation {what} is no JSON") from error
    except RecursionError as error:
        raise WrongShape(f"the annotation {what} is nested too deeply") from error


def _refuse_json_constant(name: str) -> None:
    raise ValueError(name)


def _fields_in_lower_case(plain: Any, what: str) -> Iterator[tuple[str, Any]]:
    """Yield the fields of an object with their names in lower case; none for null."""
    for key, value in _fields_as_written(plain, what):
        yield key.lower(), value


def _fields_as_written(plain: Any, what: str) -> Iterable[tuple[str, Any]]:
    if plain is None:
        return ()
    if not isinstance(plain, _Object):
        raise WrongShape(f"{what} is not an object")
    return plain
