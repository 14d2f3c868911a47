"""Federation v1's plain objects with annotations as units, and its Clusters as members."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from render.federations.conversion import Documents, FrontEnd
from render.federations.decoding import WrongShape, decode_integer, decode_object, decode_text
from render.federations.ingresses import upgraded_ingress
from render.federations.manifests import (
    SKIP_NAMESPACE,
    manifest_with_label,
    member_cluster,
    without_server_fields,
)
from render.federations.planner import static_weights_giving_replicas
from render.federations.requirements import COMPARISONS
from render.federations.shapes import read_texts, reader_of_fields, reader_of_list, reader_of_map, shape_of_document
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
    approximate_remark,
    exact_remark,
    refused_remark,
    remark_exact_for_now,
    units_and_left_documents,
)
from render.kinds.workloads import RETAIN_REPLICAS
from render.model import Manifest
from render.selectors import LabelSelector

from . import ANNOTATIONS
from .annotations import (
    PREFERENCES,
    allocation_preferences_of,
    annotations_of,
    cluster_requirements_of,
    clusters_chosen_by_autoscaler,
)
from .scheduling import (
    autoscaler_bounds_by_cluster,
    divided_as_federation_v1,
    effective_preferences,
    job_shares,
    selected_clusters,
)

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


def _convert_federation_v1_documents(documents: Documents, known_clusters: Labels) -> Conversion:
    """Convert every object of a kind that Federation v1 serves, annotated or not."""
    own = documents.own
    members = {each.key[1]: each for each in own if _is_federation_v1_cluster(each)}
    labels = {**known_clusters, **{name: each.metadata.get("labels") or {} for name, each in members.items()}}
    scaled = _Scaled(own, labels)
    units, left = units_and_left_documents(
        each.left_unconverted(_remark_on_credentials(each))
        if _is_federation_v1_cluster(each)
        else _unit_of_document(each, labels, scaled)
        for each in own
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
                self._clusters[place] = tuple(
                    autoscaler_bounds_by_cluster(each.manifest, _selected_names(each.manifest, labels))
                )

    def clusters_of(self, document: Placed) -> tuple[str, ...] | None:
        """Return the clusters of the autoscaler of a workload, None if it has none."""
        listed = clusters_chosen_by_autoscaler(annotations_of(document.manifest))
        return listed if listed is not None else self._clusters.get((document.kind, *document.key))


def _unit_of_document(document: Placed, labels: Labels, scaled: _Scaled) -> Unit | Left:
    try:
        reach, remarks = _reach_of_manifest(document.manifest, labels)
    except WrongShape as error:
        return document.left_unconverted(
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
        return document.left_unconverted(refused_remark("unreadable", str(error)))


def _unit_with_division(unit: Unit, document: Placed, labels: Labels, scaled: _Scaled) -> Unit:
    if document.kind in _DIVIDED:
        listed = scaled.clusters_of(document)
        return (
            _workload_of_unit(unit, document, labels)
            if listed is None
            else _unit_with_autoscalers(unit, document, labels, listed)
        )
    if document.kind == "Job":
        return _unit_of_job(unit, document, labels)
    if document.kind == "HorizontalPodAutoscaler":
        bounds = autoscaler_bounds_by_cluster(document.manifest, _selected_names(document.manifest, labels))
        fields = {
            name: {"/spec/minReplicas": each.min_replicas, "/spec/maxReplicas": each.max_replicas}
            for name, each in bounds.items()
        }
        what = "the bounds of each cluster are those Federation v1 begins with; it moves them as load changes"
        return _unit_with_pinned_fields(unit, fields, remark_exact_for_now("hpa-divided", what), labels)
    return unit


def _workload_of_unit(unit: Unit, document: Placed, labels: Labels) -> Unit:
    doubts = _remarks_on_doubtful_fields(document)
    shares = divided_as_federation_v1(document.manifest, labels, {}).replicas
    preferences = effective_preferences(document.manifest).clusters
    if not labels:
        weights = tuple(
            _weight_with_guessed_bounds(name, each.weight, preferences)
            for name, each in preferences.items()
            if each.weight > 0
        )
        what = "no cluster is known, so that Karmada divides it by the same weights; its rounding differs"
        return _unit_with_remarks(unit, (*doubts, approximate_remark("clusters-unknown", what)), weights=weights)
    weights = static_weights_giving_replicas(sum(shares.values()), preferences, shares)
    if weights and all(isinstance(each, Weight) for each in weights):
        return _unit_with_remarks(unit, doubts, weights=weights)
    what = "the replicas of each cluster are those Federation v1 gives it now; they are not divided anew"
    fields = {name: {"/spec/replicas": count} for name, count in shares.items()}
    return _unit_with_pinned_fields(
        _unit_with_remarks(unit, doubts), fields, remark_exact_for_now("replicas-pinned", what), labels
    )


def _weight_with_guessed_bounds(name: str, weight: int, preferences: Mapping[str, Any]) -> Weight:
    if name != "*":
        return Weight(weight=weight, names=(name,))
    return Weight(weight=weight, excluded=tuple(sorted(preferences.keys() - {"*"})))


def _unit_with_autoscalers(unit: Unit, document: Placed, labels: Labels, listed: Sequence[str]) -> Unit:
    """Return a workload that autoscalers scale: only where they are, each with the replicas that it has."""
    selected = [name for name in _selected_names(document.manifest, labels) if name in listed]
    what = "an autoscaler scales it in each cluster, so members keep their replicas; other clusters lose it"
    reach = Reach(names=tuple(selected)) if selected else Reach(is_nowhere=True)
    found = _unit_with_remarks(unit, (approximate_remark("hpa-controlled", what),), reach=reach)
    return _unit_with_remarks(found, (), manifest=manifest_with_label(found.manifest, RETAIN_REPLICAS))


def _unit_of_job(unit: Unit, document: Placed, labels: Labels) -> Unit:
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
    found = _unit_with_remarks(unit, _remarks_on_doubtful_fields(document), manifest=manifest, reach=Reach())
    return _unit_with_pinned_fields(found, fields, remark_exact_for_now("job-pinned", what), labels)


def _unit_with_pinned_fields(
    unit: Unit, fields: Mapping[str, Mapping[str, int]], remark: Remark, labels: Labels
) -> Unit:
    """Return a unit with fields of its own in each cluster; without a known cluster it stays as it is."""
    if not labels:
        what = "no cluster is known, so that every cluster gets it as it stands: add the Clusters"
        return _unit_with_remarks(unit, (approximate_remark("clusters-unknown", what),))
    if not fields:
        return _unit_with_remarks(
            unit, (exact_remark("nowhere", "Federation v1 sends it nowhere, so it gets no policy"),), reach=_NOWHERE
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
    return _unit_with_remarks(unit, (remark,), rules=rules, reach=Reach(names=tuple(sorted(fields))))


_NOWHERE = Reach(is_nowhere=True)


def _unit_with_remarks(unit: Unit, remarks: Sequence[Remark], **changes: Any) -> Unit:
    return replace(unit, remarks=(*unit.remarks, *remarks), **changes)


def _reach_of_manifest(manifest: Manifest, labels: Labels) -> tuple[Reach, list[Remark]]:
    requirements = cluster_requirements_of(annotations_of(manifest))
    if not requirements:
        return Reach(), []
    if not any(each.operator in COMPARISONS for each in requirements):
        return Reach(selector=LabelSelector(match_expressions=requirements)), []
    what = "Karmada's selectors compare no numbers: the clusters are those that meet them now"
    names = _selected_names(manifest, labels)
    return (Reach(names=names) if names else _NOWHERE), [remark_exact_for_now("gt-lt-frozen", what)]


def _selected_names(manifest: Manifest, labels: Labels) -> tuple[str, ...]:
    return selected_clusters(manifest, labels)[0]


def _remarks_on_doubtful_fields(document: Placed) -> tuple[Remark, ...]:
    name = PREFERENCES[document.kind]
    try:
        found = allocation_preferences_of(annotations_of(document.manifest), name)
    except WrongShape as error:
        what = f"Federation v1 divides it evenly, as it cannot read the preferences: {error}"
        return (exact_remark("preferences-unparsable-default-used", what),)
    if found is not None and not found.has_clusters:
        what = f"the annotation {name} names no clusters, so that none gets a replica"
        return (exact_remark("preferences-without-clusters-schedule-nothing", what),)
    return ()


def _remarks_on_unserved(document: Placed) -> list[Remark]:
    """Return what nothing here does: names in DNS, and the one address of an Ingress in all of Google's clusters."""
    if document.kind == "Service" and document.spec.get("type") == "LoadBalancer":
        what = "Federation v1 wrote its addresses into DNS; external-dns in the members can do that"
        return [approximate_remark("service-dns", what)]
    if document.kind == "Ingress" and _GLOBAL_IP in annotations_of(document.manifest):
        return [refused_remark("gce-global-ip", "one address for the Ingresses of all clusters has no counterpart")]
    return []


def _is_federation_v1_cluster(document: Placed) -> bool:
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


def _remark_on_credentials(document: Placed) -> Remark:
    secret = (document.spec.get("secretRef") or {}).get("name", "")
    what = f"its credentials (Secret {secret}) are not copied; give the cluster a context in a kubeconfig"
    return exact_remark("credentials-left-out", what)


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
        remarks.append(approximate_remark("selector-derived", what))
    return {**manifest, "apiVersion": "apps/v1", "spec": spec}, remarks


_WORKLOAD = shape_of_document(
    reader_of_fields(
        replicas=decode_integer,
        selector=decode_object,
        template=reader_of_fields(metadata=reader_of_fields(labels=reader_of_map(decode_text))),
    ),
)
FRONT_END = FrontEnd(
    kinds={
        "Cluster": shape_of_document(
            reader_of_fields(
                serverAddressByClientCIDRs=reader_of_list(reader_of_fields(serverAddress=decode_text)),
                secretRef=reader_of_fields(name=decode_text),
            ),
            status=reader_of_fields(region=decode_text, zones=read_texts),
        ),
        "DaemonSet": _WORKLOAD,
        "Deployment": _WORKLOAD,
        "ReplicaSet": _WORKLOAD,
        "Job": shape_of_document(
            reader_of_fields(parallelism=decode_integer, completions=decode_integer, selector=decode_object)
        ),
        "HorizontalPodAutoscaler": shape_of_document(
            reader_of_fields(
                minReplicas=decode_integer,
                maxReplicas=decode_integer,
                scaleTargetRef=reader_of_fields(kind=decode_text, name=decode_text),
            )
        ),
        "Ingress": shape_of_document(
            reader_of_fields(
                backend=decode_object,
                rules=reader_of_list(
                    reader_of_fields(
                        http=reader_of_fields(paths=reader_of_list(reader_of_fields(backend=decode_object)))
                    )
                ),
            ),
        ),
        "Service": shape_of_document(reader_of_fields(type=decode_text)),
    },
    other=shape_of_document(),
    takes=lambda each: _is_federation_v1_cluster(each) or each.kind in _KINDS,
    convert=_convert_federation_v1_documents,
)
