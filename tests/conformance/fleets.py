"""Whole repositories against what Karmada makes of them, through the command line.

Every fleet becomes a real repository with ``compatibility: Karmada``; each revision is rendered with
``argosy render --as works -o json`` and then reconciled, so that the second starts from the state of the first.
"""

import contextlib
import io
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from reconciler.cli import run
from tests.build import Repository

from . import Tally

SETTINGS = """\
apiVersion: argosy.dev/v1alpha1
kind: Fleet
metadata:
  name: default
spec:
  compatibility: Karmada
  namespaces: Explicit
"""
IGNORED = {"message", "clustersIfScheduled", "scheduledIfScheduled"}
Answer = dict[str, Any]


def run_fleets(folder: Path) -> Tally:
    """Compare every fleet below a folder; a fleet passes when both revisions agree."""
    tally = Tally(kind="fleet")
    for path in sorted(each.parent for each in folder.glob("*/expected.json")):
        with tempfile.TemporaryDirectory() as scratch:
            difference = first_difference(path, Path(scratch))
        tally.count({"id": path.name, "kind": "fleet", "input": {}, "expected": {}}, difference)
    return tally


def first_difference(fleet: Path, scratch: Path) -> str | None:
    """Return the first difference of a fleet, None when there is none."""
    repository = Repository.create(scratch / "fleet")
    for step, (tree, wanted) in enumerate((("repo", "expected.json"), ("repo2", "expected2.json")), 1):
        if not (fleet / tree).is_dir():
            continue
        answer = rendered(repository, fleet / tree, bootstrap=step == 1)
        expected = json.loads((fleet / wanted).read_text())
        for difference in differences(answer, expected):
            return f"step {step}: {difference}"
    return None


def rendered(repository: Repository, tree: Path, *, bootstrap: bool) -> Answer:
    """Commit a revision, render it, and reconcile so that the next one starts from here."""
    for path in repository.path.iterdir():
        if path.name != ".git":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copytree(tree, repository.path, dirs_exist_ok=True, copy_function=shutil.copyfile)
    repository.commit({"argosy.yaml": SETTINGS})
    answer: Answer = json.loads(output_of(repository, "render", "--as", "works", "-o", "json"))
    output_of(repository, "reconcile", "--allow-removal", "*=1000000", *(["--bootstrap"] if bootstrap else []))
    return answer


def output_of(repository: Repository, *words: str) -> str:
    """Run the command line; 1 only says that something is unschedulable."""
    stdout, stderr = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        code = run(["-q", "-C", str(repository.path), *words])
    if code not in {0, 1}:
        raise LookupError(f"argosy {words[0]} exited with {code}: {stderr.getvalue()[:2000]}")
    return stdout.getvalue()


def differences(answer: Answer, expected: Answer) -> Iterator[str]:
    """Yield what differs, bindings first."""
    works = works_by_cluster(answer)
    yield from _binding_differences(answer, expected, works)
    unmatched = {key_of(each["object"]) for each in answer["unmatched"]}
    unmatched = {key for key in unmatched if not key.startswith("Namespace./")}
    yield from _unequal("unmatched", unmatched, set(expected["unmatched"]))
    yield from _unequal("errors", _errors(answer), {(c, key) for c, keys in expected["errors"].items() for key in keys})
    suspended = {
        (cluster, key)
        for cluster, found in works.items()
        for key, work in found.items()
        if work["spec"].get("suspendDispatching")
    }
    yield from _unequal("suspended", suspended, {(c, key) for c, keys in expected["suspended"].items() for key in keys})
    yield from _manifest_differences(works, expected)


def _binding_differences(answer: Answer, expected: Answer, works: Mapping[str, Mapping[str, Answer]]) -> Iterator[str]:
    bindings = {reference_key(each["spec"]["resource"]): each for each in answer["bindings"]}
    owners = {(each["metadata"].get("namespace", ""), each["metadata"]["name"]): key for key, each in bindings.items()}
    yield from _unequal("bindings", set(bindings), set(expected["bindings"]))
    for key, want in expected["bindings"].items():
        got = shown_binding(key, bindings[key], works)
        required = bindings[key]["spec"].get("requiredBy", ())
        got["requiredBy"] = sorted(owners[each["namespace"], each["name"]] for each in required)
        got["rescheduled"] = answer["decisions"].get(_object_of(key)) != "None"
        # Karmada leaves alone what no event concerns; looking at it all the same must come to the same outcome.
        ignored = IGNORED if want.get("rescheduled") else IGNORED | {"rescheduled"}
        for field, value in want.items():
            if field in ignored:
                continue
            yield from _unequal(f"{key} {field}", got.get(field), value)


def shown_binding(key: str, binding: Answer, works: Mapping[str, Mapping[str, Answer]]) -> Answer:
    """Return a binding as the expected files describe one."""
    spec, annotations = binding["spec"], binding["metadata"].get("annotations") or {}
    condition = next(each for each in binding["status"]["conditions"] if each["type"] == "Scheduled")
    mine = [found[key] for found in works.values() if key in found]
    resolutions = {work["metadata"]["annotations"]["work.karmada.io/conflict-resolution"] for work in mine}
    return {
        "policy": _policy(annotations),
        "clusters": {target["name"]: target.get("replicas", 0) for target in spec.get("clusters", ())},
        "replicas": spec.get("replicas", 0),
        "scheduled": condition["reason"],
        "conflictResolution": next(iter(resolutions), None),
        "preserveResourcesOnDeletion": spec.get("preserveResourcesOnDeletion", False),
        "overrides": sorted({name for work in mine for name in _overrides(work)}),
        "requiredByClusters": sorted(
            {target["name"] for each in spec.get("requiredBy", ()) for target in each.get("clusters", ())}
        ),
    }


def _policy(annotations: Mapping[str, str]) -> str | None:
    if name := annotations.get("propagationpolicy.karmada.io/name"):
        return f"PropagationPolicy/{annotations['propagationpolicy.karmada.io/namespace']}/{name}"
    name = annotations.get("clusterpropagationpolicy.karmada.io/name")
    return f"ClusterPropagationPolicy/{name}" if name else None


def _overrides(work: Answer) -> Iterator[str]:
    metadata = work["spec"]["workload"]["manifests"][0]["metadata"]
    kinds = {
        "policy.karmada.io/applied-cluster-overrides": "ClusterOverridePolicy/",
        "policy.karmada.io/applied-overrides": f"OverridePolicy/{metadata.get('namespace', '')}/",
    }
    for key, kind in kinds.items():
        for item in json.loads(work["metadata"]["annotations"].get(key, "[]")):
            yield kind + item["policyName"]


def works_by_cluster(answer: Answer) -> dict[str, dict[str, Answer]]:
    """Return the Works by cluster and object."""
    found: dict[str, dict[str, Answer]] = {}
    for work in answer["works"]:
        manifest = work["spec"]["workload"]["manifests"][0]
        metadata = manifest["metadata"]
        key = reference_key({**manifest, "namespace": metadata.get("namespace", ""), "name": metadata["name"]})
        found.setdefault(work["metadata"]["namespace"].removeprefix("karmada-es-"), {})[key] = work
    return found


def _manifest_differences(works: Mapping[str, Mapping[str, Answer]], expected: Answer) -> Iterator[str]:
    for cluster, references in expected["manifests"].items():
        mine = works.get(cluster, {})
        yield from _unequal(f"manifests of {cluster}", set(mine), set(references))
        for key, reference in references.items():
            got = without_bookkeeping(mine[key]["spec"]["workload"]["manifests"][0])
            yield from _unequal(f"{cluster} {key}", got, expected["objects"][reference])


def without_bookkeeping(manifest: Answer) -> Answer:
    """Return an object without labels and annotations of karmada.io, and without maps left empty."""
    metadata = dict(manifest["metadata"])
    for field in ("labels", "annotations"):
        kept = {key: value for key, value in (metadata.pop(field, None) or {}).items() if "karmada.io" not in key}
        if kept:
            metadata[field] = kept
    return {**manifest, "metadata": metadata}


def _errors(answer: Answer) -> set[tuple[str, str]]:
    return {(cluster, key_of(problem["object"])) for problem in answer["problems"] for cluster in problem["clusters"]}


def reference_key(reference: Mapping[str, Any]) -> str:
    """Return the key of an object reference: ``Kind.group/namespace/name``."""
    group, slash, _ = reference["apiVersion"].partition("/")
    return f"{reference['kind']}.{group if slash else ''}/{reference.get('namespace', '')}/{reference['name']}"


def key_of(text: str) -> str:
    """Return the key of an object as messages name it: ``Deployment.apps shop/web``."""
    kind, _, name = text.partition(" ")
    kind = kind if "." in kind else f"{kind}."
    return f"{kind}/{name}" if "/" in name else f"{kind}//{name}"


def _object_of(key: str) -> str:
    kind, namespace, name = key.split("/", 2)
    return f"{kind.removesuffix('.')} {namespace}/{name}" if namespace else f"{kind.removesuffix('.')} {name}"


def _unequal(what: str, got: Any, want: Any) -> Iterator[str]:
    if got != want:
        yield f"{what}: {_short(got, want)}"


def _short(got: Any, want: Any) -> str:
    if isinstance(got, set) and isinstance(want, set):
        return f"too many {sorted(got - want)[:4]}, missing {sorted(want - got)[:4]}"
    return f"got {json.dumps(got, default=str)[:300]}, want {json.dumps(want, default=str)[:300]}"
