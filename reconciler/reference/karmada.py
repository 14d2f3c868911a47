"""Karmada's kinds that people write: a sentence about each, and the schema that it is admitted by."""

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from overrides.admission import all_admitted_kinds
from render.admission.schema import Anything, MapOf, Node, Record, Text
from render.admission.webhooks import WEBHOOKS
from render.model import CONFIG_API_VERSION

from .karmada_fields import sentence_about_field

KARMADA_KINDS: Mapping[str, str] = {
    "PropagationPolicy": "The clusters that objects of one namespace go to.",
    "ClusterPropagationPolicy": "The clusters that objects of any namespace, or of none, go to.",
    "OverridePolicy": "How objects of one namespace differ from cluster to cluster.",
    "ClusterOverridePolicy": "How objects of any namespace, or of none, differ from cluster to cluster.",
    "Cluster": "A member cluster: its labels, its taints, where it is, and what it has room for.",
    "ClusterTaintPolicy": "The taints that clusters get by their conditions.",
    "CronFederatedHPA": "The replicas of a workload, or the bounds of a FederatedHPA, at certain times.",
    "FederatedHPA": "The bounds of the replicas of a workload in all clusters together.",
    "FederatedResourceQuota": "What the objects of a namespace may request in all clusters together.",
    "Remedy": "The actions for clusters in some conditions.",
    "ResourceBinding": "The clusters that an object of a namespace is in; a control plane, or a pass, writes it.",
    "ClusterResourceBinding": "The clusters that an object of no namespace is in, as a ResourceBinding of others.",
    "ResourceInterpreterCustomization": "Scripts that tell replicas, health and the like of a kind.",
    "ResourceInterpreterWebhookConfiguration": "Webhooks that tell replicas, health and the like of kinds.",
    "WorkloadRebalancer": "A request to schedule some workloads afresh, once.",
}
"""The kinds, each with a sentence."""


_WEBHOOKS = "ResourceInterpreterWebhookConfiguration"
_METADATA = Record(
    {"name!": Text(), "namespace": Text(), "labels": MapOf(Text()), "annotations": MapOf(Text()), "uid": Text()}
)
OF_ALL_KINDS: Mapping[str, str] = {
    "metadata": "The name of the object, its labels and its annotations.",
    "metadata.name": "The name of the object.",
    "metadata.namespace": "The namespace of the object; an object of no namespace has none.",
    "metadata.labels": "Labels, by which objects are selected.",
    "metadata.annotations": "Annotations: notes for people and programs.",
    "metadata.uid": "The identity that a server gave the object.",
    "spec": "What is asked for.",
    "webhooks": "The webhooks.",
    "status": "What a server, or a pass, says of the object.",
}
"""The sentences about fields that objects of all kinds have."""


class KarmadaKind(NamedTuple):
    """A kind of Karmada: its apiVersion, a sentence about it, and what stands below its root."""

    api_version: str
    kind: str
    about: str
    fields: Mapping[str, Node]

    @property
    def schema(self) -> Record:
        """The schema of the whole object, but for its apiVersion and its kind."""
        return Record({"metadata!": _METADATA, **self.fields, "status": Anything()})

    def sentence(self, path: str) -> str:
        """Return the sentence about a field."""
        return OF_ALL_KINDS.get(path) or sentence_about_field(path)


@cache
def karmada_kinds() -> Mapping[str, KarmadaKind]:
    """Return the kinds by name."""
    admitted, found = all_admitted_kinds(), dict[str, KarmadaKind]()
    for name, about in KARMADA_KINDS.items():
        if name == _WEBHOOKS:
            found[name] = KarmadaKind(CONFIG_API_VERSION, name, about, {"webhooks!": WEBHOOKS})
        else:
            found[name] = KarmadaKind(admitted[name].api_version, name, about, {"spec!": admitted[name].schema})
    return found
