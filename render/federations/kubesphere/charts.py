"""Releases and extensions of KubeSphere as Flux's HelmReleases, with values of their own in each cluster."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any

from render.documents import DocumentErrors, parse_documents
from render.federations.decoding import WrongShape, checked_selector, decode_label_selector
from render.federations.patches import operations_between
from render.federations.units import Left, Placed, Reach, Rule, Unit, approximate_remark, exact_remark, refused_remark
from render.model import merged_chart_values
from render.selectors import matches_labels

_CLUSTER = "kubesphere.io/cluster"
_EXTENSIONS = "kubesphere-extensions"
_INTERVAL = "10m"


def addresses_of_chart_repositories(documents: Sequence[Placed]) -> dict[str, str]:
    """Return the addresses of chart repositories by their names."""
    return {each.key[1]: str(each.spec.get("url") or "") for each in documents if each.kind == "HelmRepo"}


def units_of_release(document: Placed, repositories: Mapping[str, str]) -> list[Unit] | Left:
    """Return a HelmRelease and its HelmRepository for the cluster that a release names."""
    labels, spec = document.metadata.get("labels") or {}, document.spec
    url, cluster = repositories.get(str(spec.get("repoId"))), labels.get(_CLUSTER)
    if not url:
        return document.left_unconverted(
            refused_remark("repository-unknown", f"the HelmRepo {spec.get('repoId')} is not among them")
        )
    if not cluster:
        return document.left_unconverted(
            refused_remark("release-without-cluster", f"the label {_CLUSTER} does not say where it goes")
        )
    try:
        values = _values_in_yaml(base64.b64decode(spec.get("values") or "", validate=True))
    except (binascii.Error, WrongShape) as error:
        return document.left_unconverted(refused_remark("unreadable", f"its values cannot be read: {error}"))
    namespace, name = str(labels.get("kubesphere.io/namespace") or "default"), str(spec.get("name") or document.key[1])
    chart = {
        "chart": spec.get("chartName"),
        "version": spec.get("chartVersion"),
        "sourceRef": _reference_to_helm_repository(name),
    }
    repository = {
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": "HelmRepository",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"url": url, "interval": _INTERVAL} | ({"type": "oci"} if url.startswith("oci://") else {}),
    }
    reach = Reach(names=(str(cluster),))
    return [
        _unit_of_document(document, _helm_release(name, namespace, chart, values), reach),
        Unit(manifest=repository, reach=reach, origin=document.origin, subject=document.subject),
    ]


def units_of_extension(document: Placed, labels_by_cluster: Mapping[str, Mapping[str, str]]) -> list[Unit] | Left:
    """Return the HelmRelease of an extension, with the values of each cluster that overrides them."""
    extension, scheduling = document.spec.get("extension") or {}, document.spec.get("clusterScheduling") or {}
    if not scheduling:
        what = "it says of no members where it goes: it is installed in the host alone"
        return document.left_unconverted(exact_remark("host-only", what))
    name = str(extension.get("name") or document.key[1])
    chart = {
        "chart": name,
        "version": extension.get("version"),
        "sourceRef": _reference_to_helm_repository(_EXTENSIONS),
    }
    namespace = f"extension-{name}"
    try:
        reach = _reach_of_placement(scheduling.get("placement") or {})
        values = _values_in_yaml(str(document.spec.get("config") or "").encode())
        base = _helm_release(name, namespace, chart, values)
        rules = tuple(
            Rule(names=(cluster,), operations=operations)
            for cluster, text in sorted((scheduling.get("overrides") or {}).items())
            if _reaches_cluster(reach, cluster, labels_by_cluster)
            for other in (
                _helm_release(name, namespace, chart, merged_chart_values(values, _values_in_yaml(str(text).encode()))),
            )
            if (operations := tuple(operations_between(base, other)))
        )
    except WrongShape as error:
        return document.left_unconverted(refused_remark("unreadable", str(error)))
    if document.spec.get("enabled") is False:
        reach = Reach(is_nowhere=True)
    return [_unit_of_document(document, base, reach, rules)]


def _unit_of_document(document: Placed, manifest: dict[str, Any], reach: Reach, rules: tuple[Rule, ...] = ()) -> Unit:
    what = "it became a HelmRelease of Flux, which each member must run"
    remarks = [approximate_remark("release-by-flux", what)]
    if document.kind == "InstallPlan":
        where = f"charts of extensions have no address here: write a HelmRepository {_EXTENSIONS} beside it"
        remarks.append(approximate_remark("extension-repository", where))
    return Unit(
        manifest=manifest,
        reach=reach,
        origin=document.origin,
        subject=document.subject,
        rules=rules,
        remarks=tuple(remarks),
    )


def _helm_release(name: str, namespace: str, chart: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "helm.toolkit.fluxcd.io/v2",
        "kind": "HelmRelease",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "releaseName": name,
            "interval": _INTERVAL,
            "chart": {"spec": {key: value for key, value in chart.items() if value}},
        }
        | ({"values": dict(values)} if values else {}),
    }


def _reference_to_helm_repository(name: str) -> dict[str, str]:
    return {"kind": "HelmRepository", "name": name}


def _reach_of_placement(placement: Mapping[str, Any]) -> Reach:
    if placement.get("clusters"):
        return Reach(names=tuple(map(str, placement["clusters"])))
    what = "spec.clusterScheduling.placement.clusterSelector"
    selector = decode_label_selector(placement.get("clusterSelector"), what)
    return Reach(is_nowhere=True) if selector is None else Reach(selector=checked_selector(selector, what))


def _reaches_cluster(reach: Reach, cluster: str, labels_by_cluster: Mapping[str, Mapping[str, str]]) -> bool:
    if reach.names is not None:
        return cluster in reach.names
    return reach.selector is not None and matches_labels(reach.selector, labels_by_cluster.get(cluster, {}))


def _values_in_yaml(content: bytes) -> dict[str, Any]:
    try:
        documents = parse_documents(content)
    except DocumentErrors as error:
        raise WrongShape("values are no YAML") from error
    value = documents[0].value if documents else {}
    if not isinstance(value, dict):
        raise WrongShape("values are not an object")
    return value
