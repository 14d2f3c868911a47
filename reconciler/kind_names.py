"""What people call a kind on the command line: ``deploy``, ``deployments``, ``Deployment.v1.apps``.

Kubernetes' kinds have the short names kubectl knows; a custom resource those of its CustomResourceDefinition.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from render.model import ObjectRef, Template
from render.suggestions import nearest

_SHORT = {
    ("", "ConfigMap"): ("cm",),
    ("", "Endpoints"): ("ep",),
    ("", "LimitRange"): ("limits",),
    ("", "Namespace"): ("ns",),
    ("", "PersistentVolume"): ("pv",),
    ("", "PersistentVolumeClaim"): ("pvc",),
    ("", "Pod"): ("po",),
    ("", "ReplicationController"): ("rc",),
    ("", "ResourceQuota"): ("quota",),
    ("", "Service"): ("svc",),
    ("", "ServiceAccount"): ("sa",),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): ("crd", "crds"),
    ("apps", "DaemonSet"): ("ds",),
    ("apps", "Deployment"): ("deploy",),
    ("apps", "ReplicaSet"): ("rs",),
    ("apps", "StatefulSet"): ("sts",),
    ("autoscaling", "HorizontalPodAutoscaler"): ("hpa",),
    ("batch", "CronJob"): ("cj",),
    ("networking.k8s.io", "Ingress"): ("ing",),
    ("networking.k8s.io", "NetworkPolicy"): ("netpol",),
    ("policy", "PodDisruptionBudget"): ("pdb",),
    ("scheduling.k8s.io", "PriorityClass"): ("pc",),
    ("storage.k8s.io", "StorageClass"): ("sc",),
}


class UnknownObjectError(LookupError):
    """Nothing, or more than one thing, is called so; the message says what there is."""


def spellings(ref: ObjectRef, version: str, names: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a kind may be called, in lower case; ``names`` are those of its definition, if it has one.

    >>> sorted(spellings(ObjectRef("", "ConfigMap", "", "x"), "v1", {}))
    ['cm', 'configmap', 'configmaps']
    """
    known = [ref.kind, _plural(ref.kind), *_SHORT.get((ref.group, ref.kind), ())]
    known += [name for name in (names.get("plural"), names.get("singular")) if isinstance(name, str)]
    known += [name for name in names.get("shortNames") or () if isinstance(name, str)]
    for name in dict.fromkeys(each.lower() for each in known):
        yield name
        if ref.group:
            yield f"{name}.{ref.group}"
            yield f"{name}.{version}.{ref.group}"


def _plural(kind: str) -> str:
    if kind.endswith(("s", "x", "ch", "sh")):
        return kind if kind == "Endpoints" else f"{kind}es"
    return f"{kind[:-1]}ies" if kind.endswith("y") and kind[-2:-1] not in "aeiou" else f"{kind}s"


def found_object(noun: str, name: str, namespace: str, templates: Iterable[Template]) -> ObjectRef:
    """Return the one object that is meant; without a namespace, whichever namespace it is in."""
    known = tuple(templates)
    refs = _of_kind(noun, known)
    named = [ref for ref in refs if ref.name == name and namespace in {"", ref.namespace}]
    if len(named) == 1:
        return named[0]
    if named:
        choices = ", ".join(sorted(map(str, named)))
        raise UnknownObjectError(f"{noun}/{name} may be {choices}: say which with -n or a longer kind")
    where = f" in namespace {namespace}" if namespace else ""
    near = nearest(name, {ref.name for ref in refs if namespace in {"", ref.namespace}})
    hint = f"; did you mean {near!r}?" if near else ""
    raise UnknownObjectError(f"the source has no {noun} called {name!r}{where}{hint}")


def _of_kind(noun: str, templates: tuple[Template, ...]) -> list[ObjectRef]:
    definitions = {
        (spec["group"], spec["names"]["kind"]): spec["names"] for spec in map(_definition, templates) if spec
    }
    words: dict[tuple[str, str, str], frozenset[str]] = {}
    refs = []
    for template in templates:
        ref, version = template.ref, template.api_version.rpartition("/")[2]
        key = (ref.group, ref.kind, version)
        if key not in words:
            words[key] = frozenset(spellings(ref, version, definitions.get((ref.group, ref.kind), {})))
        if noun.lower() in words[key]:
            refs.append(ref)
    if not refs:
        near = nearest(noun, {word for each in words.values() for word in each})
        hint = f"; did you mean {near!r}?" if near else ""
        raise UnknownObjectError(f"the source has no objects of kind {noun!r}{hint}")
    return refs


def _definition(template: Template) -> Mapping[str, Any] | None:
    """Return the spec of a CustomResourceDefinition that can be used."""
    spec = template.manifest.get("spec")
    if template.ref.kind != "CustomResourceDefinition" or not isinstance(spec, dict):
        return None
    names = spec.get("names")
    return spec if isinstance(names, dict) and "kind" in names and "group" in spec else None
