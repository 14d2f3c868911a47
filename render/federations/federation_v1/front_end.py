"""Federation v1's plain objects with annotations as units, and its Clusters as members."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from render.federations.conversion import Documents, FrontEnd
from render.federations.decoding import WrongShape, integer, struct, text
from render.federations.ingresses import upgraded_ingress
from render.federations.manifests import (
    SKIP_NAMESPACE,
    manifest_with_label,
    member_cluster,
    without_server_fields,
)
from render.federations.planner import static_weights
from render.federations.requirements import COMPARISONS
from render.federations.shapes import document, fields, list_of, map_of, texts
from render.federations.units import (
    Conversion,
    Labels,
    Left,
    Placed,
    Reach,
    Remark,
    Rule,
    Unit,
    Weight,
    approximate,
    exact,
    exact_for_now,
    refused_remark,
    units_and_left,
)
from render.kinds.workloads import RETAIN_REPLICAS
from render.model import Manifest
from render.selectors import LabelSelector

from . import ANNOTATIONS
from .annotations import PREFERENCES, annotations_of, hpa_clusters_of, preferences_of, requirements_of
from .scheduling import divided_as_federation_v1, divided_bounds, effective_preferences, job_shares, selected_clusters

_GLOBAL_IP = "kubernetes.io/ingress.global-static-ip-name"
_KINDS = frozenset(
    {
        "ConfigMap",
        "DaemonSet",
        "Deployment",
        "HorizontalPodAutoscaler",
        "Ingress",
        "Job",
        "Namespace",
        "ReplicaSet",
        "Secret",
        "Service",
    }
)
_DIVIDED = frozenset({"Deployment", "ReplicaSet"})
_WORKLOADS = frozenset({"Deployment", "ReplicaSet", "DaemonSet"})


def _convert_documents(documents: Documents, known_clusters: Labels) -> Conversion:
    """Convert every object of a kind that Federation v1 serves, annotated or not."""
    own = documents.own
    members = {each.key[1]: each for each in own if _is_member(each)}
    labels = {**known_clusters, **{name: each.metadata.get("labels") or {} for name, each in members.items()}}
    scaled = _Scaled(own, labels)
    units, left = units_and_left(
        each.left(_credentials(each)) if _is_member(each) else _unit_of_document(each, labels, scaled) for each in own
    )
    return Conversion(
        units=tuple(units),
        members=tuple((each.origin, _member_of_document(each)) for each in members.values()),
        left=tuple(left),
    )


class _Scaled:
    """The workloads that federated autoscalers scale, and the clusters where these are."""

    def __init__(self, documents: Sequence[Placed], labels: Labels) -> None:
        self._clusters: dict[tuple[str, str, str], tuple[str, ...]] = {}
        for each in documents:
            if each.kind == "HorizontalPodAutoscaler":
                target = each.spec.get("scaleTargetRef") or {}
                place = str(target.get("kind")), each.key[0], str(target.get("name"))
                self._clusters[place] = tuple(divided_bounds(each.manifest, _selected_names(each.manifest, labels)))

    def clusters_of(self, document: Placed) -> tuple[str, ...] | None:
        """Return the clusters of the autoscaler of a workload, None if it has none."""
        listed = hpa_clusters_of(annotations_of(document.manifest))
        return listed if listed is not None else self._clusters.get((document.kind, *document.key))


def _unit_of_document(document: Placed, labels: Labels, scaled: _Scaled) -> Unit | Left:
    try:
        reach, remarks = _reach_of_manifest(document.manifest, labels)
    except WrongShape as error:
        return document.left(
            refused_remark("cluster-selector-unreadable", f"Federation v1 syncs nothing of it: {error}")
        )
    manifest, changes = manifest_of_current_version(document.manifest)
    if document.kind == "Namespace":
        manifest["metadata"].pop("namespace", None)
        manifest = manifest_with_label(manifest, SKIP_NAMESPACE)
    unit = Unit(
        manifest=manifest,
        reach=reach,
        origin=document.origin,
        subject=document.subject,
        is_kept="orphan" in (document.metadata.get("finalizers") or ()),
        remarks=(*remarks, *changes, *_remarks_on_unserved(document)),
    )
    try:
        return _unit_with_division(unit, document, labels, scaled)
    except WrongShape as error:
        return document.left(refused_remark("unreadable", str(error)))


def _unit_with_division(unit: Unit, document: Placed, labels: Labels, scaled: _Scaled) -> Unit:
    if document.kind in _DIVIDED:
        listed = scaled.clusters_of(document)
        return (
            _workload_of_unit(unit, document, labels)
            if listed is None
            else _unit_with_autoscalers(unit, document, labels, listed)
        )
    if document.kind == "Job":
        return _job(unit, document, labels)
    if document.kind == "HorizontalPodAutoscaler":
        bounds = divided_bounds(document.manifest, _selected_names(document.manifest, labels))
        fields = {
            name: {"/spec/minReplicas": each.min_replicas, "/spec/maxReplicas": each.max_replicas}
            for name, each in bounds.items()
        }
        what = "the bounds of each cluster are those Federation v1 begins with; it moves them as load changes"
        return _unit_with_pinned_fields(unit, fields, exact_for_now("hpa-divided", what), labels)
    return unit


def _workload_of_unit(unit: Unit, document: Placed, labels: Labels) -> Unit:
    doubts = _doubts(document)
    shares = divided_as_federation_v1(document.manifest, labels, {}).replicas
    preferences = effective_preferences(document.manifest).clusters
    if not labels:
        weights = tuple(
            _guessed_weight(name, each.weight, preferences) for name, each in preferences.items() if each.weight > 0
        )
        what = "no cluster is known, so that Karmada divides it by the same weights; its rounding differs"
        return _unit_with(unit, (*doubts, approximate("clusters-unknown", what)), weights=weights)
    weights = static_weights(sum(shares.values()), preferences, shares)
    if weights and all(isinstance(each, Weight) for each in weights):
        return _unit_with(unit, doubts, weights=weights)
    what = "the replicas of each cluster are those Federation v1 gives it now; they are not divided anew"
    fields = {name: {"/spec/replicas": count} for name, count in shares.items()}
    return _unit_with_pinned_fields(_unit_with(unit, doubts), fields, exact_for_now("replicas-pinned", what), labels)


def _guessed_weight(name: str, weight: int, preferences: Mapping[str, Any]) -> Weight:
    if name != "*":
        return Weight(weight=weight, names=(name,))
    return Weight(weight=weight, excluded=tuple(sorted(preferences.keys() - {"*"})))


def _unit_with_autoscalers(unit: Unit, document: Placed, labels: Labels, listed: Sequence[str]) -> Unit:
    """Return a workload that autoscalers scale: only where they are, each with the replicas that it has."""
    selected = [name for name in _selected_names(document.manifest, labels) if name in listed]
    what = "an autoscaler scales it in each cluster, so members keep their replicas; other clusters lose it"
    reach = Reach(names=tuple(selected)) if selected else Reach(is_nowhere=True)
    found = _unit_with(unit, (approximate("hpa-controlled", what),), reach=reach)
    return _unit_with(found, (), manifest=manifest_with_label(found.manifest, RETAIN_REPLICAS))


def _job(unit: Unit, document: Placed, labels: Labels) -> Unit:
    """Return a Job with the parallelism and completions of each cluster; it takes no notice of cluster selectors."""
    shares = {name: each for name, each in job_shares(document.manifest, tuple(labels)).items() if each.parallelism > 0}
    fields = {
        name: {"/spec/parallelism": each.parallelism}
        | ({} if each.completions is None else {"/spec/completions": each.completions})
        for name, each in shares.items()
    }
    what = "parallelism and completions of each cluster are those Federation v1 gives it now"
    manifest = unit.manifest
    if (manifest.get("spec") or {}).get("selector"):
        manifest = {**manifest, "spec": {**manifest["spec"], "manualSelector": True}}
    found = _unit_with(unit, _doubts(document), manifest=manifest, reach=Reach())
    return _unit_with_pinned_fields(found, fields, exact_for_now("job-pinned", what), labels)


def _unit_with_pinned_fields(
    unit: Unit, fields: Mapping[str, Mapping[str, int]], remark: Remark, labels: Labels
) -> Unit:
    """Return a unit with fields of its own in each cluster; without a known cluster it stays as it is."""
    if not labels:
        what = "no cluster is known, so that every cluster gets it as it stands: add the Clusters"
        return _unit_with(unit, (approximate("clusters-unknown", what),))
    if not fields:
        return _unit_with(
            unit, (exact("nowhere", "Federation v1 sends it nowhere, so it gets no policy"),), reach=_NOWHERE
        )
    rules = tuple(
        Rule(
            names=(name,),
            operations=tuple(
                {"operator": "add", "path": path, "value": value} for path, value in sorted(values.items())
            ),
        )
        for name, values in sorted(fields.items())
    )
    return _unit_with(unit, (remark,), rules=rules, reach=Reach(names=tuple(sorted(fields))))


_NOWHERE = Reach(is_nowhere=True)


def _unit_with(unit: Unit, remarks: Sequence[Remark], **changes: Any) -> Unit:
    return replace(unit, remarks=(*unit.remarks, *remarks), **changes)


def _reach_of_manifest(manifest: Manifest, labels: Labels) -> tuple[Reach, list[Remark]]:
    requirements = requirements_of(annotations_of(manifest))
    if not requirements:
        return Reach(), []
    if not any(each.operator in COMPARISONS for each in requirements):
        return Reach(selector=LabelSelector(match_expressions=requirements)), []
    what = "Karmada's selectors compare no numbers: the clusters are those that meet them now"
    names = _selected_names(manifest, labels)
    return (Reach(names=names) if names else _NOWHERE), [exact_for_now("gt-lt-frozen", what)]


def _selected_names(manifest: Manifest, labels: Labels) -> tuple[str, ...]:
    return selected_clusters(manifest, labels)[0]


def _doubts(document: Placed) -> tuple[Remark, ...]:
    name = PREFERENCES[document.kind]
    try:
        found = preferences_of(annotations_of(document.manifest), name)
    except WrongShape as error:
        what = f"Federation v1 divides it evenly, as it cannot read the preferences: {error}"
        return (exact("preferences-unparsable-default-used", what),)
    if found is not None and not found.has_clusters:
        what = f"the annotation {name} names no clusters, so that none gets a replica"
        return (exact("preferences-without-clusters-schedule-nothing", what),)
    return ()


def _remarks_on_unserved(document: Placed) -> list[Remark]:
    """Return what nothing here does: names in DNS, and the one address of an Ingress in all of Google's clusters."""
    if document.kind == "Service" and document.spec.get("type") == "LoadBalancer":
        what = "Federation v1 wrote its addresses into DNS; external-dns in the members can do that"
        return [approximate("service-dns", what)]
    if document.kind == "Ingress" and _GLOBAL_IP in annotations_of(document.manifest):
        return [refused_remark("gce-global-ip", "one address for the Ingresses of all clusters has no counterpart")]
    return []


def _is_member(document: Placed) -> bool:
    return document.kind == "Cluster" and document.manifest.get("apiVersion") == "federation/v1beta1"


def _member_of_document(document: Placed) -> Manifest:
    status = document.manifest.get("status") or {}
    addresses = document.spec.get("serverAddressByClientCIDRs") or [{}]
    fields = {
        "apiEndpoint": addresses[0].get("serverAddress"),
        "region": status.get("region"),
        "zones": list(status.get("zones") or ()),
    }
    return member_cluster(document.key[1], document.metadata.get("labels") or {}, fields)


def _credentials(document: Placed) -> Remark:
    secret = (document.spec.get("secretRef") or {}).get("name", "")
    what = f"its credentials (Secret {secret}) are not copied; give the cluster a context in a kubeconfig"
    return exact("credentials-left-out", what)


def manifest_of_current_version(manifest: Manifest) -> tuple[dict[str, Any], list[Remark]]:
    """Return an object of today without annotations and finalizers of Federation v1, and what had to be made up."""
    clean = without_server_fields(manifest)
    metadata = dict(clean["metadata"])
    annotations = {
        key: value
        for key, value in (metadata.pop("annotations", None) or {}).items()
        if not key.startswith(ANNOTATIONS)
    }
    finalizers = [
        each
        for each in metadata.pop("finalizers", None) or ()
        if each != "orphan" and not str(each).startswith(ANNOTATIONS)
    ]
    metadata |= {"annotations": annotations} if annotations else {}
    metadata |= {"finalizers": finalizers} if finalizers else {}
    clean["metadata"] = metadata
    if clean["kind"] in _WORKLOADS and str(clean["apiVersion"]).startswith(("extensions/", "apps/v1beta")):
        return _upgraded_workload(clean)
    if clean["kind"] == "Ingress" and str(clean["apiVersion"]).startswith(("extensions/", "networking.k8s.io/v1beta1")):
        return upgraded_ingress(clean)
    return clean, []


def _upgraded_workload(manifest: dict[str, Any]) -> tuple[dict[str, Any], list[Remark]]:
    spec = {key: value for key, value in (manifest.get("spec") or {}).items() if key != "rollbackTo"}
    remarks = []
    if not spec.get("selector"):
        labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
        spec["selector"] = {"matchLabels": dict(labels)}
        what = f"{manifest['kind']} of apps/v1 needs a selector: it is made of the labels of the pods"
        remarks.append(approximate("selector-derived", what))
    return {**manifest, "apiVersion": "apps/v1", "spec": spec}, remarks


_WORKLOAD = document(
    fields(replicas=integer, selector=struct, template=fields(metadata=fields(labels=map_of(text)))),
)
FRONT_END = FrontEnd(
    kinds={
        "Cluster": document(
            fields(serverAddressByClientCIDRs=list_of(fields(serverAddress=text)), secretRef=fields(name=text)),
            status=fields(region=text, zones=texts),
        ),
        "DaemonSet": _WORKLOAD,
        "Deployment": _WORKLOAD,
        "ReplicaSet": _WORKLOAD,
        "Job": document(fields(parallelism=integer, completions=integer, selector=struct)),
        "HorizontalPodAutoscaler": document(
            fields(minReplicas=integer, maxReplicas=integer, scaleTargetRef=fields(kind=text, name=text))
        ),
        "Ingress": document(
            fields(backend=struct, rules=list_of(fields(http=fields(paths=list_of(fields(backend=struct)))))),
        ),
        "Service": document(fields(type=text)),
    },
    other=document(),
    takes=lambda each: _is_member(each) or each.kind in _KINDS,
    convert=_convert_documents,
)
