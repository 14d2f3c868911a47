"""Federation v1: annotations on plain objects say where they go, and every workload is divided."""

from render.federations.federation import Federation
from render.model import Manifest

ANNOTATIONS = ("federation.kubernetes.io/", "federation.alpha.kubernetes.io/", "ingress.federation.kubernetes.io/")
"""The beginnings of its annotations and finalizers."""


def _is_cluster_or_annotated(manifest: Manifest) -> bool:
    """Say whether a document is its Cluster, or an object with an annotation of its."""
    metadata = manifest.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    has_its = isinstance(annotations, dict) and any(str(key).startswith(ANNOTATIONS) for key in annotations)
    return has_its or manifest.get("apiVersion") == "federation/v1beta1"


FEDERATION_V1 = Federation(
    name="federation-v1",
    title="Federation v1",
    about="plain objects, annotated or not: each is divided or copied",
    setting="FederationV1",
    is_of_type=lambda _group, _kind: False,
    is_marked=_is_cluster_or_annotated,
    rules={
        "gt-lt-frozen": "F1-07",
        "cluster-selector-unreadable": "F1-09",
        "replicas-pinned": "F1-10",
        "preferences-unparsable-default-used": "F1-11",
        "preferences-without-clusters-schedule-nothing": "F1-12",
        "job-pinned": "F1-13",
        "hpa-divided": "F1-15",
        "hpa-controlled": "F1-15",
        "selector-derived": "F1-16",
    },
)
