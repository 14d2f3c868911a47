"""Works: a template built for the clusters of a binding, through the names the pipeline uses.

Left out on purpose: random permanent ids and finalizers, which only a control plane makes, and labels or annotations
that an earlier version of a Work left behind - ours are made anew from Git every time.
"""

import json
from typing import Any

from overrides.engine import OverrideEngine
from overrides.parsing import parse_override_policy
from reconciler.pipeline.karmada_works import works_for_cluster
from render.cluster_index import ClusterIndex
from render.interpreter import Interpreter
from render.model import ObjectRef, Template
from render.parsing import parse_binding, parse_cluster
from render.works import TargetGroups, WorkContext, render_works

Plain = dict[str, Any]
_JSON = ("policy.karmada.io/applied-cluster-overrides", "policy.karmada.io/applied-overrides")
_LISTS = ("resourcetemplate.karmada.io/managed-annotations", "resourcetemplate.karmada.io/managed-labels")


def check(case: Plain) -> str | None:
    """Return the first difference of a case, None when there is none."""
    given, expected = case["input"], case["expected"]
    works, failed = built(given)
    if failed != (expected["error"] is not None):
        return f"failed: got {failed}, want {expected['error']}"
    got = {each["metadata"]["namespace"]: comparable(each) for each in works}
    want = {each["namespace"]: expected_work(each, given, got.get(each["namespace"], {})) for each in expected["works"]}
    if got.keys() != want.keys():
        return f"clusters: got {sorted(got)}, want {sorted(want)}"
    for name, work in want.items():
        for field, value in work.items():
            if got[name][field] != value:
                return f"{name} {field}: got {json.dumps(got[name][field])[:300]}, want {json.dumps(value)[:300]}"
    return None


def built(given: Plain) -> tuple[list[Plain], bool]:
    """Build the Works of a case; say whether any target could not be built."""
    index = ClusterIndex(map(parse_cluster, given["clusters"]))
    policies = [*given.get("overridePolicies", ()), *given.get("clusterOverridePolicies", ())]
    context = WorkContext(
        targets=TargetGroups(index.index_by_name),
        interpreter=Interpreter.of(given.get("customizations", ())),
        override=OverrideEngine(map(parse_override_policy, policies), index).override,
    )
    template = Template(ref=ObjectRef.of(given["template"]), manifest=given["template"])
    bound = parse_binding(given["binding"])
    works = render_works(template, bound, context)
    found = [
        dict(work)
        for position, name in enumerate(index.names)
        for work in works_for_cluster(works, position, name, bound, template)
    ]
    targets = {each.name for each in bound.targets}
    targets |= {each.name for snapshot in bound.required_by for each in snapshot.clusters}
    return found, bool(works.failures) or not targets <= set(index.names)


def comparable(work: Plain) -> Plain:
    """Return what is compared of one of our Works."""
    spec = work["spec"]
    return {
        "name": work["metadata"]["name"],
        "annotations": _read(work["metadata"]["annotations"]),
        "suspendDispatching": spec["suspendDispatching"],
        "preserveResourcesOnDeletion": spec["preserveResourcesOnDeletion"],
        "manifests": [_manifest(each) for each in spec["workload"]["manifests"]],
    }


def expected_work(work: Plain, given: Plain, got: Plain) -> Plain:
    """Return what is compared of a recorded Work: an annotation that an older version left behind is not."""
    stale = {
        key
        for each in given.get("existingWorks", ())
        for key in (each["metadata"].get("annotations") or {})
        if each["metadata"]["namespace"] == work["namespace"]
    }
    made = got.get("annotations", {})
    ours = {key: value for key, value in work["annotations"].items() if key not in stale or key in made}
    return {
        "name": work["name"],
        "annotations": _read(ours),
        "suspendDispatching": work["suspendDispatching"],
        "preserveResourcesOnDeletion": work["preserveResourcesOnDeletion"],
        "manifests": [_manifest(each) for each in work["manifests"]],
    }


def _read(annotations: Plain) -> Plain:
    return {key: json.loads(value) if key in _JSON else value for key, value in annotations.items()}


def _manifest(manifest: Plain) -> Plain:
    """Return an object without permanent ids, also where its lists of keys name them."""
    metadata = dict(manifest["metadata"])
    labels = {key: value for key, value in metadata["labels"].items() if not key.endswith("/permanent-id")}
    annotations = dict(metadata["annotations"])
    for key in _LISTS:
        names = annotations[key].split(",")
        annotations[key] = ",".join(name for name in names if not name.endswith("/permanent-id"))
    return {**manifest, "metadata": {**metadata, "labels": labels, "annotations": annotations}}
