"""The companions of an object: others that serve it, and are of no use to it once they stand in other clusters alone.

An object names what it needs. What serves it names the object, or selects its pods:

1. a target: ``scaleTargetRef`` of a HorizontalPodAutoscaler, ``targetRef`` and ``targetRefs`` of others;
2. pods: ``spec.selector`` of a Service or a PodDisruptionBudget, ``spec.podSelector`` of a NetworkPolicy;
3. a Service: the backends of an Ingress or a route, and what selects a Service by its labels;
4. a ServiceAccount: the subjects of RoleBindings and ClusterRoleBindings.

What runs pods itself is nobody's companion: it has a life of its own, and goes where it is placed.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from render.interpreter.needs import NamedObject, named_objects
from render.model import Manifest, ObjectRef, list_or_empty, mapping_or_empty
from render.parsing.selectors import parse_label_selector
from render.selectors import LabelSelector, matches_labels

NEVER_COMPANIONS = frozenset(
    {
        "ClusterRole.rbac.authorization.k8s.io",
        "ConfigMap",
        "CronJob.batch",
        "CustomResourceDefinition.apiextensions.k8s.io",
        "DaemonSet.apps",
        "Deployment.apps",
        "Job.batch",
        "Namespace",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "Pod",
        "ReplicaSet.apps",
        "Role.rbac.authorization.k8s.io",
        "Secret",
        "ServiceAccount",
        "StatefulSet.apps",
    }
)
"""The kinds that serve no other object by themselves, of which manifests need not be read."""

_NAMED_BY_ANY = frozenset({"Service", "ServiceAccount"})
_SELECTED_BY_LABELS = frozenset({"Service"})
_OF_PODS = frozenset({"Service", "PodDisruptionBudget.policy", "NetworkPolicy.networking.k8s.io"})
_PODS = (("spec", "template"), ("spec", "jobTemplate", "spec", "template"), ("spec", "podTemplate"))
_TARGETS = ("scaleTargetRef", "targetRef", "targetRefs", "workloadRef")

_Selected = tuple[ObjectRef, LabelSelector]


def pod_labels(ref: ObjectRef, manifest: Manifest) -> Mapping[str, Any] | None:
    """Return the labels of the pods that an object runs; None for one that runs none.

    >>> pod_labels(ObjectRef("", "Pod", "shop", "a"), {"metadata": {"labels": {"app": "a"}}})
    {'app': 'a'}
    """
    if ref.group_kind == "Pod":
        return mapping_or_empty(mapping_or_empty(manifest.get("metadata")).get("labels"))
    for path in _PODS:
        template = manifest
        for key in path:
            template = mapping_or_empty(template.get(key))
        if template:
            return mapping_or_empty(mapping_or_empty(template.get("metadata")).get("labels"))
    return None


class CompanionIndex(Struct):
    """Objects by what they serve: an object that they name, or the labels of pods or of Services, by namespace."""

    _by_target: dict[NamedObject, list[ObjectRef]] = field(default_factory=dict)
    _by_name: dict[NamedObject, list[ObjectRef]] = field(default_factory=dict)
    _by_label: dict[tuple[str, str, str], list[_Selected]] = field(default_factory=dict)
    _by_namespace: dict[str, list[_Selected]] = field(default_factory=dict)

    @classmethod
    def of(cls, objects: Iterable[tuple[ObjectRef, Manifest]]) -> "CompanionIndex":
        """Return the index of objects that may serve others."""
        index = cls()
        for ref, manifest in objects:
            if pod_labels(ref, manifest) is None:
                index._add(ref, manifest)
        return index

    def companions(self, ref: ObjectRef, manifest: Manifest) -> Iterator[ObjectRef]:
        """Yield the objects that serve one, once or several times."""
        yield from _refs_naming(ref, self._by_target)
        labels = pod_labels(ref, manifest)
        if ref.group_kind in _NAMED_BY_ANY or labels is not None:
            yield from _refs_naming(ref, self._by_name)
        if labels is not None:
            yield from self._refs_selecting(ref.namespace, labels)
        elif ref.group_kind in _SELECTED_BY_LABELS:
            own = mapping_or_empty(mapping_or_empty(manifest.get("metadata")).get("labels"))
            yield from (each for each in self._refs_selecting(ref.namespace, own) if each.group_kind not in _OF_PODS)

    def _add(self, ref: ObjectRef, manifest: Manifest) -> None:
        for named in named_objects(manifest):
            self._by_name.setdefault(_without_group(named), []).append(ref)
        targets = {"spec": {key: value for key, value in _spec_of(manifest).items() if key in _TARGETS}}
        for named in named_objects({"metadata": manifest.get("metadata"), **targets}):
            self._by_target.setdefault(_without_group(named), []).append(ref)
        selector = _selector_of(ref, manifest)
        if selector is None:
            return
        if selector.match_labels:
            key, value = selector.match_labels[0]
            self._by_label.setdefault((ref.namespace, key, value), []).append((ref, selector))
        else:
            self._by_namespace.setdefault(ref.namespace, []).append((ref, selector))

    def _refs_selecting(self, namespace: str, labels: Mapping[str, Any]) -> Iterator[ObjectRef]:
        found = list(self._by_namespace.get(namespace, ()))
        for key, value in labels.items():
            found += self._by_label.get((namespace, key, str(value)), ())
        yield from (ref for ref, selector in found if matches_labels(selector, labels))


def _refs_naming(ref: ObjectRef, named: Mapping[NamedObject, list[ObjectRef]]) -> Iterable[ObjectRef]:
    return named.get(NamedObject(ref.kind, ref.namespace, ref.name), ())


def _without_group(named: NamedObject) -> NamedObject:
    return NamedObject(named.kind, named.namespace, named.name)


def _spec_of(manifest: Manifest) -> Mapping[str, Any]:
    return mapping_or_empty(manifest.get("spec"))


def _selector_of(ref: ObjectRef, manifest: Manifest) -> LabelSelector | None:
    """Return the selector of pods or Services that an object has; that of a Service has labels alone, and needs some.

    What is malformed selects nothing.
    """
    spec = _spec_of(manifest)
    found = spec.get("selector", spec.get("podSelector"))
    if not isinstance(found, dict):
        return None
    if ref.group_kind == "Service":
        return _read_selector({"matchLabels": found}) if found else None
    if found and not found.keys() & {"matchLabels", "matchExpressions"}:
        return _read_selector({"matchLabels": found})
    return _read_selector(found)


def _read_selector(plain: Mapping[str, Any]) -> LabelSelector | None:
    labels, expressions = mapping_or_empty(plain.get("matchLabels")), list_or_empty(plain.get("matchExpressions"))
    if not all(isinstance(word, str) for pair in labels.items() for word in pair):
        return None
    if not all(isinstance(each, dict) and isinstance(each.get("values") or [], list) for each in expressions):
        return None
    if not all(isinstance(each.get(key), str) for each in expressions for key in ("key", "operator")):
        return None
    return parse_label_selector({"matchLabels": labels, "matchExpressions": expressions})
