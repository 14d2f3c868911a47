"""Clusters from admitted objects: labels, place, taints, and the capacity and APIs their ``status`` declares."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from render.cluster import DEFAULT_GRADES, Cluster, ResourceModel, ResourceModelRange, ResourceSummary, Taint
from render.model import Manifest

RENAMED_FROM = "argosy.dev/renamed-from"
"""The annotation of a Cluster with its former names, separated by commas, the last one last."""

_PLAIN_GRADES = [model.plain() for model in DEFAULT_GRADES]


def parse_cluster(manifest: Manifest, *, path: str = "", document: int = 0) -> Cluster:
    """Return the value of an admitted Cluster: a status without APIs records none (None), its capacity is declared."""
    metadata, spec, status = manifest["metadata"], manifest["spec"], manifest.get("status") or {}
    return Cluster(
        name=metadata["name"],
        labels=metadata.get("labels") or {},
        provider=spec.get("provider") or "",
        region=spec.get("region") or "",
        zones=tuple(spec.get("zones") or ()),
        taints=tuple(map(parse_taint, spec.get("taints") or ())),
        resource_models=_parse_resource_models(spec.get("resourceModels") or ()),
        api_enablements=parse_api_enablements(status.get("apiEnablements")),
        scales=recorded_scales(status),
        resource_summary=parse_resource_summary(status.get("resourceSummary")),
        is_terminating=bool(metadata.get("deletionTimestamp")),
        sync_mode=spec.get("syncMode") or "",
        former_names=former_names_of_cluster(metadata),
        kubernetes_version=status.get("kubernetesVersion") or "",
        path=path,
        document=document,
    )


def former_names_of_cluster(metadata: Manifest) -> tuple[str, ...]:
    """Return the names that a Cluster had before, by its metadata.

    >>> former_names_of_cluster({"name": "c", "annotations": {RENAMED_FROM: "a, b"}})
    ('a', 'b')
    """
    text = (metadata.get("annotations") or {}).get(RENAMED_FROM) or ""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def parse_taint(plain: Manifest) -> Taint:
    """Return a taint as the Cluster API writes it."""
    return Taint(
        key=plain["key"],
        value=plain.get("value") or "",
        effect=plain["effect"],
        time_added=str(plain.get("timeAdded") or ""),
    )


def _parse_resource_models(plain: Sequence[Manifest]) -> tuple[ResourceModel, ...]:
    # Nearly all clusters have the grades that admission fills in.
    return DEFAULT_GRADES if plain == _PLAIN_GRADES else tuple(map(_parse_resource_model, plain))


def _parse_resource_model(plain: Manifest) -> ResourceModel:
    ranges = (
        ResourceModelRange(name=each["name"], min=str(each["min"]), max=str(each["max"]))
        for each in plain.get("ranges") or ()
    )
    return ResourceModel(grade=plain["grade"], ranges=tuple(ranges))


def parse_api_enablements(plain: Iterable[Manifest] | None) -> frozenset[tuple[str, str]] | None:
    """Return the apiVersions and kinds that a cluster serves; None where it tells of none."""
    if not plain:
        return None
    return frozenset(
        (enablement["groupVersion"], resource["kind"])
        for enablement in plain
        for resource in enablement.get("resources") or ()
    )


def recorded_scales(status: Manifest) -> Mapping[tuple[str, str], Manifest]:
    """Return the scale subresources that are recorded in the status of a cluster, by apiVersion and kind."""
    return {
        (enablement["groupVersion"], resource["kind"]): resource["scale"]
        for enablement in status.get("apiEnablements") or ()
        for resource in enablement.get("resources") or ()
        if isinstance(resource.get("scale"), dict)
    }


def parse_resource_summary(plain: Manifest | None) -> ResourceSummary | None:
    """Return the capacity that a cluster declares; None where it declares none."""
    if plain is None:
        return None
    return ResourceSummary(
        allocatable=_parse_quantities(plain.get("allocatable")),
        allocating=_parse_quantities(plain.get("allocating")),
        allocated=_parse_quantities(plain.get("allocated")),
        modelings=tuple((each["grade"], each["count"]) for each in plain.get("allocatableModelings") or ()),
        is_declared=True,
    )


def _parse_quantities(plain: Mapping[str, Any] | None) -> dict[str, str]:
    return {name: str(quantity) for name, quantity in (plain or {}).items()}
