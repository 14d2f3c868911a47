"""Karmada's own kinds in the source: policies, overrides, clusters and interpreter customizations."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from overrides.parsing import override_policy
from overrides.policy import OverridePolicy
from render.admission.findings import Findings
from render.cluster import Cluster
from render.model import Manifest, Template, group_of
from render.parsing import Placements, cluster, propagation_policy
from render.policy import PropagationPolicy

from .desired_documents import Found, Placed
from .desired_identity import check_identity
from .desired_templates import template_of, with_namespace

POLICY, CLUSTER, CONFIG = "policy.karmada.io", "cluster.karmada.io", "config.karmada.io"
IS_NAMESPACED = {
    (POLICY, "PropagationPolicy"): True,
    (POLICY, "ClusterPropagationPolicy"): False,
    (POLICY, "OverridePolicy"): True,
    (POLICY, "ClusterOverridePolicy"): False,
    (CLUSTER, "Cluster"): False,
    (CONFIG, "ResourceInterpreterCustomization"): False,
    (CONFIG, "ResourceInterpreterWebhookConfiguration"): False,
}
"""The kinds read here, and whether they live in namespaces."""


@dataclass(slots=True)
class KarmadaObjects:
    """What policies, overrides, clusters and customizations the source has, and what is wrong with others."""

    policies: list[PropagationPolicy] = field(default_factory=list)
    override_policies: list[OverridePolicy] = field(default_factory=list)
    clusters: list[Cluster] = field(default_factory=list)
    customizations: list[Template] = field(default_factory=list)
    webhooks: list[Template] = field(default_factory=list)
    problems: list[Found] = field(default_factory=list)
    warnings: list[Found] = field(default_factory=list)


def karmada_objects(places: Iterable[Placed], *, default_namespace: str) -> KarmadaObjects:
    """Admit each object and return the values of those that are."""
    objects, placements = KarmadaObjects(), Placements()
    for place in places:
        findings = Findings()
        check_identity(place.manifest, findings)
        objects.problems += (Found(place, problem) for problem in findings.problems)
        if findings.problems:
            continue
        is_namespaced = IS_NAMESPACED[group_of(place.manifest["apiVersion"]), place.manifest["kind"]]
        manifest = with_namespace(place.manifest, is_namespaced=is_namespaced, default=default_namespace)
        _add(objects, place, manifest, placements)
    return objects


def _add(objects: KarmadaObjects, place: Placed, manifest: Manifest, placements: Placements) -> None:
    path, document = place.file.path, place.number
    match manifest["kind"]:
        case "PropagationPolicy" | "ClusterPropagationPolicy":
            value = propagation_policy(manifest, path=path, document=document, placements=placements)
            objects.policies.append(value)
        case "OverridePolicy" | "ClusterOverridePolicy":
            objects.override_policies.append(override_policy(manifest, path=path, document=document))
        case "Cluster":
            objects.clusters.append(cluster(manifest, path=path, document=document))
        case "ResourceInterpreterCustomization":
            objects.customizations.append(template_of(place, manifest))
        case _:
            objects.webhooks.append(template_of(place, manifest))
