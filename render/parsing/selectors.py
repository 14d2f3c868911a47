"""Label selectors, cluster affinities and resource selectors from plain data."""

from collections.abc import Iterable, Mapping
from typing import Any

from render.model import Manifest
from render.selectors import ClusterAffinity, LabelSelector, Requirement, ResourceSelector


def parse_label_selector(plain: Manifest | None) -> LabelSelector | None:
    """Return a label selector; None stays None, ``{}`` matches everything."""
    if plain is None:
        return None
    labels = plain.get("matchLabels")
    return LabelSelector(
        match_labels=tuple(sorted(labels.items())) if labels else (),
        match_expressions=parse_requirements(plain.get("matchExpressions")),
    )


def parse_cluster_affinity(plain: Manifest) -> ClusterAffinity:
    """Return a cluster affinity, also from an object with other fields beside it."""
    fields = plain.get("fieldSelector")
    return ClusterAffinity(
        label_selector=parse_label_selector(plain.get("labelSelector")),
        field_selector=None if fields is None else parse_requirements(fields.get("matchExpressions")),
        cluster_names=tuple(plain.get("clusterNames") or ()),
        exclude=tuple(plain.get("exclude") or ()),
    )


def parse_resource_selectors(plain: Iterable[Manifest] | None) -> tuple[ResourceSelector, ...]:
    """Return the resource selectors of a policy in their order."""
    return tuple(
        ResourceSelector(
            api_version=selector["apiVersion"],
            kind=selector["kind"],
            namespace=selector.get("namespace") or "",
            name=selector.get("name") or "",
            label_selector=parse_label_selector(selector.get("labelSelector")),
        )
        for selector in plain or ()
    )


def parse_requirements(plain: Iterable[Mapping[str, Any]] | None) -> tuple[Requirement, ...]:
    """Return the expressions of a selector in their order."""
    return tuple(
        Requirement(key=each["key"], operator=each["operator"], values=tuple(each.get("values") or ()))
        for each in plain or ()
    )
