"""Warnings about ``propagateDeps`` over kinds of which nothing tells what they depend on."""

from typing import Any, NamedTuple

from reconciler.check.dependencies import warnings_of_missing_dependencies
from reconciler.pipeline.claims import claims_of
from reconciler.source.loading import load_source
from reconciler.source.reading import SourceReading
from tests.build import a_cluster, a_config_map, a_policy, as_bytes, on_clusters
from tests.sources import source_of
from tests.tables import each_row

ENV = {"name": "main", "image": "main:1", "envFrom": [{"configMapRef": {"name": "settings"}}]}
ROLLOUT = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout"}
ANY_CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}


def a_workload(kind: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {**kind, "metadata": {"name": "it", "namespace": "default"}, "spec": spec}


def with_pods(kind: dict[str, Any], **container: Any) -> dict[str, Any]:
    return a_workload(kind, template={"spec": {"containers": [{**ENV, **container}]}})


class Dependency(NamedTuple):
    """A workload under a policy that propagates dependencies, and whether what its pods need is left behind."""

    why: str
    workload: dict[str, Any]
    is_left: bool
    selectors: tuple[dict[str, str], ...] = (ROLLOUT,)
    propagates: bool = True
    beside: tuple[Any, ...] = ()


CLONES = {"apiVersion": "apps.kruise.io/v1alpha1", "kind": "CloneSet"}
SCRIPT = "function GetDependencies(obj) return {} end"
CUSTOMIZATION = {
    "apiVersion": "config.karmada.io/v1alpha1",
    "kind": "ResourceInterpreterCustomization",
    "metadata": {"name": "rollouts"},
    "spec": {"target": ROLLOUT, "customizations": {"dependencyInterpretation": {"luaScript": SCRIPT}}},
}
JOBS = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet"}
NESTED = a_workload(JOBS, replicatedJobs=[{"template": {"spec": {"template": {"spec": {"containers": [ENV]}}}}}])
DEPENDENCIES = [
    Dependency("a Rollout's settings", with_pods(ROLLOUT), is_left=True),
    Dependency("those of a pod template in a list", NESTED, is_left=True, selectors=(JOBS,)),
    Dependency("settings that are selected", with_pods(ROLLOUT), is_left=False, selectors=(ROLLOUT, ANY_CONFIG_MAP)),
    Dependency("a policy that propagates nothing else", with_pods(ROLLOUT), is_left=False, propagates=False),
    Dependency("settings that are not in the source", with_pods(ROLLOUT, envFrom=[]), is_left=False),
    Dependency("a kind that is known", with_pods(CLONES), is_left=False, selectors=(CLONES,)),
    Dependency("a kind that a customization knows", with_pods(ROLLOUT), is_left=False, beside=(CUSTOMIZATION,)),
    Dependency("pods of the wrong shape", with_pods(ROLLOUT, envFrom=3), is_left=False),
]


@each_row("case", DEPENDENCIES, ids=lambda case: case.why)
def test_what_is_left_behind(case: Dependency) -> None:
    policy = a_policy("all", selectors=case.selectors, placement=on_clusters("member1"), propagateDeps=case.propagates)
    objects = [a_cluster("member1"), a_config_map("settings"), case.workload, *case.beside]
    source = source_of({"objects.yaml": as_bytes(objects), "policy.yaml": as_bytes(policy)})
    loaded = load_source(source.files, SourceReading(source.read))
    assert (loaded.problems, loaded.lines is None) == ((), False)
    line_of = loaded.lines.line_of if loaded.lines else None
    found = warnings_of_missing_dependencies(loaded.desired, claims_of(loaded.desired, {}), line_of)
    kind, api_version = case.workload["kind"], case.workload["apiVersion"]
    want = (
        f"spec.propagateDeps: nothing tells what objects of kind {kind} depend on: ConfigMap default/settings, which"
        " their pods need, go nowhere\n"
        f"  hint: write a ResourceInterpreterCustomization for {api_version} {kind} with dependencyInterpretation,"
        " or select these objects"
    )
    assert [str(each).partition(": ")[2] for each in found] == ([want] if case.is_left else [])
