"""Overriding of Clusternet: what a cluster is sent of an object or a chart."""

from typing import Any

from render.federations.clusternet.overriding import (
    CHART_KIND,
    chart_after_overrides,
    object_after_overrides,
    selected_overrides,
)
from render.federations.clusternet.scheduling import managed_cluster
from render.federations.decoding import WrongShape
from render.federations.patches import PatchFailed

from . import Case


def check(case: Case) -> str | None:
    given, expected = case["input"], case["expected"]
    want = {"error": True} if expected["error"] else expected
    got = sent(given)
    return None if got == want else f"{got}, want {expected}"


def sent(given: dict[str, Any]) -> dict[str, Any]:
    manifest, cluster = given["object"], managed_cluster(given["cluster"])
    overriding = [
        *(_kept(each, "Globalization") for each in given["globalizations"]),
        *(_kept(each, "Localization") for each in given["localizations"]),
    ]
    try:
        overrides = selected_overrides(manifest, cluster, overriding)
        if manifest["kind"] == CHART_KIND:
            made = chart_after_overrides(manifest, overrides)
            return {"error": None, "chart": made.chart, "values": made.values}
        return {"error": None, "object": object_after_overrides(manifest, overrides)}
    except (WrongShape, PatchFailed):
        return {"error": True}


def _kept(manifest: dict[str, Any], kind: str) -> dict[str, Any]:
    metadata = dict(manifest["metadata"])
    if (metadata.get("annotations") or {}).get("rec/deleting") == "true":
        metadata["deletionTimestamp"] = "2024-01-01T00:00:00Z"
    return {**manifest, "kind": kind, "metadata": metadata}
