"""Karmada's documents as people would keep them in Git: the same objects without what a control plane adds."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from render.admission import admit_as_kind
from render.admission.kinds import render_kinds
from render.federations.conversion import Documents, FrontEnd
from render.federations.decoding import decode_integer, decode_object, decode_text
from render.federations.manifests import member_cluster, without_server_fields, words_of_access_to_member
from render.federations.shapes import reader_of_fields, reader_of_list, shape_of_document
from render.federations.units import Conversion, Labels, Left, Placed, Remark, approximate_remark, exact_remark
from render.matching.match import PolicyIndex
from render.model import Manifest, ObjectRef, Template, mapping_or_empty
from render.parsing import parse_binding, parse_propagation_policy
from render.rebalancers.finished import unfinished_workloads
from render.timing import parse_instant
from render.words import counted_noun

from . import KARMADA

_BINDINGS = frozenset({"ClusterResourceBinding", "ResourceBinding"})
_REBALANCER = "WorkloadRebalancer"
_CONTROLLER_WRITTEN = _BINDINGS | {"Work"}
_MADE_BY_SERVERS = frozenset({"APIService", "ControllerRevision", "Endpoints", "EndpointSlice", "Event", "Lease"})
_SYSTEM_NAMESPACES = ("karmada-", "kube-")
_SYSTEM_NAMES = frozenset({("ServiceAccount", "default"), ("ConfigMap", "kube-root-ca.crt"), ("Namespace", "default")})
_OF_CONTROLLERS = (
    "propagationpolicy.karmada.io/",
    "clusterpropagationpolicy.karmada.io/",
    "policy.karmada.io/applied-",
    "resourcebinding.karmada.io/",
    "clusterresourcebinding.karmada.io/",
    "work.karmada.io/",
    "resourcetemplate.karmada.io/uid",
    "resourcetemplate.karmada.io/managed-",
    "kubernetes.io/metadata.name",
)
_CLAIMS = frozenset(
    {
        "propagationpolicy.karmada.io/name",
        "propagationpolicy.karmada.io/namespace",
        "clusterpropagationpolicy.karmada.io/name",
    }
)
_TRIGGERED, _DECIDED = "rescheduleTriggeredAt", "lastScheduledTime"
_AFFINITY = "schedulerObservingAffinityName"
_TAINTS_OF_CONTROLLERS = (
    "cluster.karmada.io/not-ready",
    "cluster.karmada.io/unreachable",
    "cluster.karmada.io/terminating",
)
_POLICY_DEFAULTS: Mapping[str, Any] = {
    "conflictResolution": "Abort",
    "preemption": "Never",
    "priority": 0,
    "schedulerName": "default-scheduler",
}
_DEFAULT_TOLERATIONS = frozenset({"cluster.karmada.io/not-ready", "cluster.karmada.io/unreachable"})
_DEFAULT_SECONDS = 300
POLICIES = frozenset({"PropagationPolicy", "ClusterPropagationPolicy"})
_MARKS = (
    "propagationpolicy.karmada.io/name",
    "propagationpolicy.karmada.io/permanent-id",
    "clusterpropagationpolicy.karmada.io/name",
    "clusterpropagationpolicy.karmada.io/permanent-id",
)


def _convert_karmada_documents(documents: Documents, _known: Labels) -> Conversion:
    """Convert documents: policies, clusters and every template, as they are but for what Karmada wrote."""
    kept: list[Placed] = []
    members: list[tuple[str, Manifest]] = []
    left: list[Left] = []
    for each in documents.own:
        if each.kind in _BINDINGS and KARMADA.is_its(each.manifest) and each.spec.get("clusters"):
            kept.append(Placed(manifest=_starting_binding(each), origin=each.origin))
            left += [each.left_unconverted(remark) for remark in _remarks_on_binding(each)]
        elif reason := _reason_to_leave_out(each):
            left.append(each.left_unconverted(reason))
        elif _is_rebalancer(each):
            kept += _rebalancer_yet_to_answer(each)
            left.append(each.left_unconverted(_remark_on_rebalancer(each)))
        elif each.group == "cluster.karmada.io" and each.kind == "Cluster":
            members.append((each.origin, _cluster_as_person_writes_it(each)))
            way = words_of_access_to_member(each.key[1], is_pulling=each.spec.get("syncMode") == "Pull")
            left.append(
                each.left_unconverted(exact_remark("credentials-left-out", f"its Secrets are not copied; {way}"))
            )
        else:
            manifest = _without_server_fields(each.manifest)
            gone = sorted(_removed_fields(each.manifest, manifest))
            what = f"left out: {', '.join(gone)}" if gone else "as it is"
            left.append(each.left_unconverted(exact_remark("cleaned" if gone else "kept", what)))
            kept.append(Placed(manifest=manifest, origin=each.origin))
    return Conversion(members=tuple(members), kept=tuple(kept), left=tuple(left))


def _starting_binding(document: Placed) -> dict[str, Any]:
    """Return a binding with what says where its object is, for the first pass to begin with."""
    annotations = document.metadata.get("annotations")
    claim = {key: value for key, value in (annotations or {}).items() if key in _CLAIMS}
    metadata = {key: document.metadata[key] for key in ("name", "namespace") if key in document.metadata}
    resource = document.spec.get("resource") or {}
    spec = {
        "resource": {key: resource[key] for key in ("apiVersion", "kind", "namespace", "name") if resource.get(key)},
        **{key: document.spec[key] for key in ("replicas", "clusters") if document.spec.get(key)},
    }
    status = document.manifest.get("status")
    group = status.get(_AFFINITY) if isinstance(status, dict) else None
    return {
        "apiVersion": document.manifest["apiVersion"],
        "kind": document.kind,
        "metadata": metadata | ({"annotations": claim} if claim else {}),
        "spec": spec,
        **({"status": {_AFFINITY: group}} if group else {}),
    }


def _remarks_on_binding(document: Placed) -> Iterator[Remark]:
    yield exact_remark("starting-binding", "its clusters and replicas are those that the first pass begins with")
    leaving = sorted(str(each.get("fromCluster")) for each in document.spec.get("gracefulEvictionTasks") or ())
    if leaving:
        message = f"it was leaving {', '.join(leaving)}; the copy there stays until somebody deletes it"
        yield approximate_remark("leaving", message)
    triggered, decided = (
        parse_instant(str(mapping_or_empty(part).get(name) or ""))
        for part, name in ((document.spec, _TRIGGERED), (document.manifest.get("status"), _DECIDED))
    )
    if triggered is not None and (decided is None or decided < triggered):
        message = "it was about to be rescheduled: ask for it again with argosy rebalance"
        yield approximate_remark("rescheduling", message)


def _is_rebalancer(document: Placed) -> bool:
    return document.kind == _REBALANCER and KARMADA.is_its(document.manifest)


def _rebalancer_yet_to_answer(document: Placed) -> Iterator[Placed]:
    """Yield a rebalancer with the workloads that Karmada is not done with, if there are any."""
    if workloads := unfinished_workloads(document.manifest):
        clean = _without_server_fields(document.manifest)
        yield Placed(manifest={**clean, "spec": {**clean["spec"], "workloads": workloads}}, origin=document.origin)


def _remark_on_rebalancer(document: Placed) -> Remark:
    asked, named = len(unfinished_workloads(document.manifest)), len(document.spec.get("workloads") or ())
    if not asked:
        return exact_remark("rebalancer-finished", "Karmada has answered it, and a request is answered once")
    if asked < named:
        message = f"left out: {counted_noun(named - asked, 'workload')} of it that Karmada is done with"
        return exact_remark("rebalancer-begun", message)
    return exact_remark("rebalancer-waiting", "Karmada has not answered it yet: the first pass does")


def _reason_to_leave_out(document: Placed) -> Any:
    """Return the reason for which an object is left out; None for one that is kept."""
    namespace, name = document.key
    if document.kind in _CONTROLLER_WRITTEN and KARMADA.is_its(document.manifest):
        return exact_remark("controller-written", "a controller of Karmada wrote it")
    place = name if document.kind == "Namespace" else namespace
    if place.startswith(_SYSTEM_NAMESPACES) or (document.kind, name) in _SYSTEM_NAMES:
        return exact_remark("of-the-system", "it belongs to a control plane, which does not propagate it")
    if document.kind in _MADE_BY_SERVERS or document.metadata.get("ownerReferences"):
        return exact_remark("controller-made", "a controller makes it of another object")
    return None


def _without_server_fields(manifest: Manifest) -> dict[str, Any]:
    clean = without_server_fields(manifest)
    metadata = dict(clean["metadata"])
    for part in ("labels", "annotations"):
        said = {
            key: value for key, value in (metadata.pop(part, None) or {}).items() if not _is_label_of_controllers(key)
        }
        metadata |= {part: said} if said else {}
    finalizers = [each for each in metadata.pop("finalizers", None) or () if ".karmada.io/" not in str(each)]
    clean["metadata"] = metadata | ({"finalizers": finalizers} if finalizers else {})
    if str(clean["apiVersion"]).startswith("policy.karmada.io/") and isinstance(clean.get("spec"), dict):
        clean["spec"] = _policy_spec(clean["spec"])
    if clean["kind"] == "Namespace":
        clean.pop("spec", None)
    return clean


def _policy_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a policy's spec without what Karmada's webhooks fill in."""
    said = {key: value for key, value in spec.items() if key not in _POLICY_DEFAULTS or value != _POLICY_DEFAULTS[key]}
    placement = said.get("placement")
    if isinstance(placement, dict) and "clusterTolerations" in placement:
        tolerations = [each for each in placement["clusterTolerations"] or () if not _is_default_toleration(each)]
        rest = {key: value for key, value in placement.items() if key != "clusterTolerations"}
        said["placement"] = rest | ({"clusterTolerations": tolerations} if tolerations else {})
    return said


def _is_default_toleration(toleration: Mapping[str, Any]) -> bool:
    return toleration == {
        "key": toleration.get("key"),
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": _DEFAULT_SECONDS,
    } and (str(toleration.get("key")) in _DEFAULT_TOLERATIONS)


def _is_label_of_controllers(key: str) -> bool:
    return key.startswith(_OF_CONTROLLERS)


def _removed_fields(before: Manifest, after: Manifest, path: str = "") -> Iterator[str]:
    """Yield the fields that are not there any more."""
    for key, value in before.items():
        place = f"{path}.{key}" if path else str(key)
        if key not in after:
            yield place
        elif isinstance(value, dict) and isinstance(after[key], dict):
            yield from _removed_fields(value, after[key], place)


def _cluster_as_person_writes_it(cluster: Placed) -> Manifest:
    spec = {
        key: value
        for key, value in cluster.spec.items()
        if key not in {"id", "secretRef", "impersonatorSecretRef", "resourceModels"}
    }
    if isinstance(spec.get("taints"), list):
        spec["taints"] = [_taint_without_time(each) for each in spec["taints"] if not _is_taint_of_controller(each)]
    return member_cluster(cluster.key[1], cluster.metadata.get("labels") or {}, spec)


def _is_taint_of_controller(taint: Any) -> bool:
    return isinstance(taint, dict) and taint.get("key") in _TAINTS_OF_CONTROLLERS


def _taint_without_time(taint: Any) -> Any:
    """Return a taint without the time at which it was seen."""
    return {key: value for key, value in taint.items() if key != "timeAdded"} if isinstance(taint, dict) else taint


def predicate_of_propagation(manifests: Sequence[Manifest]) -> Callable[[Manifest], bool]:
    """Return what says of an object whether it is propagated: by its binding, a mark of its policy, or a selector."""
    policies = PolicyIndex(parse_propagation_policy(each) for each in _objects_that_karmada_admits(manifests, POLICIES))
    bound = {parse_binding(each).ref for each in _objects_that_karmada_admits(manifests, _BINDINGS)}

    def is_propagated(manifest: Manifest) -> bool:
        metadata = manifest["metadata"]
        if any(mark in (metadata.get(part) or {}) for part in ("labels", "annotations") for mark in _MARKS):
            return True
        ref = ObjectRef.of(manifest)
        return ref in bound or policies.match(Template(ref=ref, manifest=manifest)).policy is not None

    return is_propagated


def _objects_that_karmada_admits(manifests: Iterable[Manifest], kinds: frozenset[str]) -> Iterable[Manifest]:
    """Yield the objects of some of Karmada's kinds, but for those that it would not take itself."""
    for manifest in manifests:
        kind = render_kinds().get(str(manifest["kind"])) if manifest["kind"] in kinds else None
        if kind is not None and manifest["apiVersion"] == kind.api_version:
            outcome = admit_as_kind(manifest, kind)
            if outcome.object is not None:
                yield outcome.object


_PLACEMENT = reader_of_fields(clusterTolerations=reader_of_list(decode_object))
_BINDING = reader_of_fields(
    placement=_PLACEMENT,
    resource=decode_object,
    clusters=reader_of_list(decode_object),
    gracefulEvictionTasks=reader_of_list(decode_object),
)
_WORKLOAD = reader_of_fields(apiVersion=decode_text, kind=decode_text, namespace=decode_text, name=decode_text)
_REBALANCER_SHAPE = shape_of_document(
    spec=reader_of_fields(workloads=reader_of_list(_WORKLOAD)),
    status=reader_of_fields(
        observedWorkloads=reader_of_list(reader_of_fields(workload=_WORKLOAD, result=decode_text, reason=decode_text)),
        observedGeneration=decode_integer,
        finishTime=decode_text,
    ),
)
FRONT_END = FrontEnd(
    kinds={**dict.fromkeys(_BINDINGS, shape_of_document(_BINDING)), _REBALANCER: _REBALANCER_SHAPE},
    other=shape_of_document(reader_of_fields(placement=_PLACEMENT)),
    takes=lambda _document: True,
    convert=_convert_karmada_documents,
)
