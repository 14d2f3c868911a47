"""Units as files a person would write: templates, one policy where many objects go the same way, and overrides."""

from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from render.documents import emit
from render.expressions import lazy_expression
from render.model import POLICY_API_VERSION, Manifest, ObjectRef
from render.placement import Toleration
from render.selectors import LabelSelector

from .units import ByRoom, Conversion, Reach, Rule, Unit, Weight

_NO_NAME = lazy_expression(r"[^a-z0-9.-]+")
_LONGEST_NAME = 50


class _Route(NamedTuple):
    """The properties that objects of one policy have in common."""

    namespace: str
    reach: Reach
    weights: tuple[Any, ...]
    by_room: ByRoom | None
    tolerations: tuple[Toleration, ...]
    is_kept: bool
    is_suspended: bool

    @classmethod
    def of(cls, unit: Unit) -> "_Route":
        """Return the route of a unit."""
        shared = unit.weights, unit.by_room, unit.tolerations, unit.is_kept, unit.is_suspended
        return cls(unit.namespace, unit.reach, *shared)


class WrittenObject(NamedTuple):
    """One object to write: the file that it belongs into, what it is made of, and itself."""

    path: str
    sources: tuple[tuple[str, str], ...]
    """The origin of each document that it is made of, and its subject; an object that stays as it is has none."""

    manifest: Manifest


def files_of_written_objects(written: Iterable[WrittenObject]) -> dict[str, bytes]:
    """Return files by path, in which objects stand in the order that they are given in, each as one document."""
    files: dict[str, list[bytes]] = {}
    for each in written:
        heading = f"# from {_text_of_sources(each)}\n".encode(errors="backslashreplace")
        files.setdefault(each.path, []).append(heading + emit(each.manifest))
    return {path: b"---\n".join(documents) for path, documents in sorted(files.items())}


def _text_of_sources(written: WrittenObject) -> str:
    """Return what an object is made of: each document, or only where all of them are from if that is one place."""
    origins = dict.fromkeys(origin for origin, _ in written.sources)
    if len(written.sources) > len(origins) == 1:
        return next(iter(origins))
    return ", ".join(": ".join(filter(None, source)) for source in written.sources)


def objects_written_for(conversion: Conversion, prefix: str = "") -> list[WrittenObject]:
    """Return the objects that a conversion makes: one policy where many objects go the same way.

    Names of policies begin with a prefix where those of people may stand beside them.
    """
    found: list[WrittenObject] = []
    taken: set[str] = set()
    ways: dict[_Route, list[Unit]] = {}
    for unit in conversion.units:
        path = _free_path_for_object(f"templates/{unit.namespace or 'cluster-scoped'}", unit.manifest, taken)
        found.append(WrittenObject(path, (_path_and_place_of_unit(unit),), unit.manifest))
        if not unit.reach.is_nowhere:
            ways.setdefault(_Route.of(unit), []).append(unit)
    found += _policies_of_routes(ways, prefix)
    found += _override_policies_of_units(conversion.units, prefix)
    for document in conversion.kept:
        folder = "/".join(filter(None, (_folder_of_manifest(document.manifest), document.key[0])))
        path = _free_path_for_object(folder, document.manifest, taken)
        found.append(WrittenObject(path, ((document.origin, ""),), document.manifest))
    for origin, member in conversion.members:
        found.append(WrittenObject(f"clusters/{member['metadata']['name']}.yaml", ((origin, ""),), member))
    return found


def _path_and_place_of_unit(unit: Unit) -> tuple[str, str]:
    return unit.origin, unit.subject


def _free_path_for_object(folder: str, manifest: Manifest, taken: set[str]) -> str:
    """Return a path of its own for an object below a folder, and take it."""
    name = _name_of_allowed_characters(f"{manifest['kind']}-{manifest['metadata']['name']}")
    ends = ("", str(manifest["apiVersion"]), f"{manifest['apiVersion']} {manifest['metadata']['name']}")
    paths = [f"{folder}/{name}{f'-{_short_digest_of_text(end)}' if end else ''}.yaml" for end in ends]
    path = next((each for each in paths if each not in taken), paths[-1])
    taken.add(path)
    return path


def _folder_of_manifest(manifest: Manifest) -> str:
    """Return the folder of an object that stays as it is."""
    if str(manifest["apiVersion"]).startswith("work.karmada.io/"):
        return "bindings"
    if not str(manifest["apiVersion"]).startswith("policy.karmada.io/"):
        return "templates"
    return "overrides" if str(manifest["kind"]).endswith("OverridePolicy") else "policies"


def _policies_of_routes(ways: Mapping[_Route, list[Unit]], prefix: str) -> Iterator[WrittenObject]:
    taken: set[tuple[str, str]] = set()
    for way, units in sorted(ways.items(), key=lambda pair: (pair[0].namespace, _route_name(pair[0]))):
        name = _route_name(way)
        if (way.namespace, name) in taken:
            name = f"{name}-{_short_digest_of_text(repr(way))}"
        taken.add((way.namespace, name))
        path = f"policies/{way.namespace or 'cluster-scoped'}.yaml"
        yield WrittenObject(
            path, tuple(dict.fromkeys(map(_path_and_place_of_unit, units))), _policy_of_route(way, prefix + name, units)
        )


def _policy_of_route(way: _Route, name: str, units: list[Unit]) -> Manifest:
    spec: dict[str, Any] = {
        "resourceSelectors": [_selector_fields(unit) for unit in units],
        "placement": {"clusterAffinity": _affinity_of_reach(way.reach), **_replica_scheduling_of_route(way)},
    }
    if way.tolerations:
        spec["placement"]["clusterTolerations"] = [_plain_toleration(each) for each in way.tolerations]
    if way.is_kept:
        spec["preserveResourcesOnDeletion"] = True
    if way.is_suspended:
        spec["suspension"] = {"dispatching": True}
    return _object_of_kind("PropagationPolicy", way.namespace, name, spec)


def _object_of_kind(kind: str, namespace: str, name: str, spec: Mapping[str, Any]) -> Manifest:
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {
        "apiVersion": POLICY_API_VERSION,
        "kind": kind if namespace else f"Cluster{kind}",
        "metadata": metadata,
        "spec": spec,
    }


def _selector_fields(unit: Unit) -> dict[str, str]:
    manifest = unit.manifest
    metadata = manifest["metadata"]
    selected = {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"], "name": metadata["name"]}
    return selected | ({"namespace": unit.namespace} if unit.namespace else {})


def _affinity_of_reach(reach: Reach) -> dict[str, Any]:
    """Return a cluster affinity; an empty one is every cluster, so what goes nowhere has no policy at all."""
    affinity: dict[str, Any] = {}
    if reach.names is not None:
        affinity["clusterNames"] = list(reach.names)
    if reach.selector is not None and reach.selector != LabelSelector():
        affinity["labelSelector"] = _plain_label_selector(reach.selector)
    return affinity


def _plain_label_selector(selector: LabelSelector) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    if selector.match_labels:
        plain["matchLabels"] = dict(selector.match_labels)
    if selector.match_expressions:
        plain["matchExpressions"] = [
            {"key": each.key, "operator": each.operator} | ({"values": list(each.values)} if each.values else {})
            for each in selector.match_expressions
        ]
    return plain


def _plain_toleration(toleration: Toleration) -> dict[str, Any]:
    fields = {
        "key": toleration.key,
        "operator": toleration.operator,
        "value": toleration.value,
        "effect": toleration.effect,
    }
    return {key: value for key, value in fields.items() if value}


def _replica_scheduling_of_route(way: _Route) -> dict[str, Any]:
    if way.by_room is ByRoom.AGGREGATED:
        return {"replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}}
    if way.by_room is None and not way.weights:
        return {}
    if way.by_room:
        preference: dict[str, Any] = {"dynamicWeight": "AvailableReplicas"}
    else:
        preference = {"staticWeightList": [_plain_static_weight(each) for each in way.weights]}
    return {
        "replicaScheduling": {
            "replicaSchedulingType": "Divided",
            "replicaDivisionPreference": "Weighted",
            "weightPreference": preference,
        }
    }


def _plain_static_weight(weight: Weight) -> dict[str, Any]:
    target: dict[str, Any] = {"clusterNames": list(weight.names)} if weight.names else {}
    target |= {"labelSelector": _plain_label_selector(weight.selector)} if weight.selector is not None else {}
    target |= {"exclude": list(weight.excluded)} if weight.excluded else {}
    return {"targetCluster": target, "weight": weight.weight}


def _override_policies_of_units(units: Iterable[Unit], prefix: str) -> Iterator[WrittenObject]:
    """Yield the override policies of units, those of different objects under different names.

    Kinds of several groups, and names that differ in what a policy's name cannot have, would share one.
    """
    object_by_name: dict[tuple[str, str], ObjectRef] = {}
    for unit in units:
        if not unit.rules or unit.reach.is_nowhere:
            continue
        ref = ObjectRef.of(unit.manifest)
        name = _name_within_limit(_name_of_allowed_characters(f"{ref.kind}-{ref.name}"))
        if object_by_name.setdefault((unit.namespace, name), ref) != ref:
            name = f"{name}-{_short_digest_of_text(str(ref))}"
        path = f"overrides/{unit.namespace or 'cluster-scoped'}.yaml"
        yield WrittenObject(path, (_path_and_place_of_unit(unit),), _override_policy_of_unit(unit, prefix + name))


def _override_policy_of_unit(unit: Unit, name: str) -> Manifest:
    spec = {
        "resourceSelectors": [_selector_fields(unit)],
        "overrideRules": [_plain_override_rule(each) for each in unit.rules],
    }
    return _object_of_kind("OverridePolicy", unit.namespace, name, spec)


def _plain_override_rule(rule: Rule) -> dict[str, Any]:
    target: dict[str, Any] = {}
    if rule.names:
        target["clusterNames"] = list(rule.names)
    if rule.selector is not None:
        target["labelSelector"] = _plain_label_selector(rule.selector)
    overriders = {"overriders": {"plaintext": [dict(each) for each in rule.operations]}}
    return {"targetCluster": target, **overriders} if target else overriders


def _route_name(way: _Route) -> str:
    """Return a name that says where a policy leads."""
    reach = way.reach
    words = list(reach.names) if reach.names is not None else []
    if reach.selector is not None:
        words += [f"{key}-{value}" for key, value in reach.selector.match_labels]
        words += [each.key for each in reach.selector.match_expressions]
    name = _name_within_limit(_name_of_allowed_characters("to-" + "-".join(words)) if words else "everywhere")
    return f"{name}-divided" if way.weights or way.by_room else name


def _name_within_limit(name: str) -> str:
    return (
        name
        if len(name) <= _LONGEST_NAME
        else f"{name[: _LONGEST_NAME - 9].rstrip('-.')}-{_short_digest_of_text(name)}"
    )


def _name_of_allowed_characters(text: str) -> str:
    return _NO_NAME.sub("-", text.lower()).strip("-.")


def _short_digest_of_text(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:8]
