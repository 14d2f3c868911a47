"""The custom resources Karmada bundles rules for, one or more rows for each operation of each."""

from typing import Any, NamedTuple

import pytest

from render.interpretation.operations import FUNCTION_BY_OPERATION
from render.interpreter import Interpreter, InterpreterError, Layer, Operation
from render.interpreter.answers import plain_component, plain_requirements
from render.interpreter.thirdparty import FAMILY_BY_KIND, third_party_interpretation

from .tables import each_row

INTERPRETER = Interpreter()
VERSIONS = {kind: api_version for api_version, kind in FAMILY_BY_KIND}
GENERATION = "resourcetemplate.karmada.io/generation"


def an(kind: str, *, generation: int | None = None, status: Any = None, **spec: Any) -> dict[str, Any]:
    metadata = {"name": "x", "namespace": "shop"} | ({} if generation is None else {"generation": generation})
    manifest = {"apiVersion": VERSIONS[kind], "kind": kind, "metadata": metadata, "spec": spec}
    return manifest if status is None else {**manifest, "status": status}


def items(*statuses: Any) -> list[dict[str, Any]]:
    return [{"clusterName": f"m{index}", "status": status} for index, status in enumerate(statuses, 1)]


def pods(cpu: str = "1", **spec: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"resources": {"requests": {"cpu": cpu}}}], **spec}}


def condition(kind: str, status: str = "True", reason: str = "", **more: str) -> dict[str, str]:
    return {"type": kind, "status": status, **({"reason": reason} if reason else {}), **more}


OPERATIONS = {
    "AdvancedCronJob": "Agg Dep",
    "BroadcastJob": "Rep Rev Ret Agg Ref Hea Dep",
    "CloneSet": "Rep Rev Agg Ref Hea Dep",
    "DaemonSet": "Agg Ref Hea Dep",
    "SidecarSet": "Rep Ret Agg Ref Hea Dep",
    "UnitedDeployment": "Rep Rev Agg Ref Hea Dep",
    "StatefulSet": "Rep Rev Agg Ref Hea Dep",
    "Workflow": "Rep Rev Ret Hea Dep",
    "Job": "Comp Agg Ref Hea",
    "FlinkDeployment": "Rep Comp Agg Ref Hea",
    "HelmRelease": "Ret Agg Ref Hea Dep",
    "Notebook": "Rep Agg Ref Hea",
    "PyTorchJob": "Comp Agg Hea Dep",
    "TFJob": "Comp Agg Hea Dep",
    "MPIJob": "Comp Agg Ref Hea",
    "Kustomization": "Ret Agg Ref Hea Dep",
    "ClusterPolicy": "Agg Ref Hea",
    "Policy": "Agg Ref Hea",
    "RayCluster": "Comp Agg Hea",
    "RayJob": "Comp Agg Hea Dep",
    "RayService": "Rep Rev Agg Hea Dep",
    "GitRepository": "Ret Agg Ref Hea Dep",
    "Bucket": "Ret Agg Ref Hea Dep",
    "HelmChart": "Ret Agg Ref Hea Dep",
    "HelmRepository": "Ret Agg Ref Hea Dep",
    "OCIRepository": "Ret Agg Ref Hea Dep",
    "SparkApplication": "Comp Agg Ref Hea",
}
NAMES = {
    "Rep": "replicas",
    "Comp": "components",
    "Rev": "revise",
    "Ret": "retain",
    "Agg": "aggregate",
    "Ref": "reflect",
    "Hea": "health",
    "Dep": "dependencies",
}


@each_row("kind", OPERATIONS)
def test_the_operations_are_karmadas(kind: str) -> None:
    known = third_party_interpretation(VERSIONS[kind], kind)
    have = {function for function in FUNCTION_BY_OPERATION.values() if getattr(known, function)}
    assert have == {NAMES[name] for name in OPERATIONS[kind].split()}


def test_there_are_27_and_no_version_but_theirs() -> None:
    assert len(FAMILY_BY_KIND) == 27
    assert INTERPRETER.answering_layer(Operation.INTERPRET_HEALTH, an("CloneSet")) is Layer.THIRD_PARTY
    assert INTERPRETER.answering_layer(Operation.INTERPRET_HEALTH, {**an("CloneSet"), "apiVersion": "v1"}) is Layer.NONE


class Wish(NamedTuple):
    why: str
    manifest: dict[str, Any]
    replicas: int
    needs: dict[str, Any] | None


CPU = {"resourceRequest": {"cpu": "1"}}
RAY: dict[str, Any] = {
    "headGroupSpec": {"template": pods("2", nodeSelector={"disk": "ssd"})},
    "workerGroupSpecs": [{"replicas": 2, "template": pods("4")}, {"template": pods("1")}],
}
WISHES = [
    Wish("a clone set", an("CloneSet", replicas=3, template=pods()), 3, CPU),
    Wish("a stateful set", an("StatefulSet", replicas=0), 0, None),
    Wish("a united deployment", an("UnitedDeployment", replicas=2), 2, None),
    Wish("a broadcast job in parallel", an("BroadcastJob", parallelism=4, template=pods()), 4, CPU),
    Wish("a broadcast job that does not say", an("BroadcastJob"), 1, None),
    Wish("sidecars ride along", an("SidecarSet"), 0, None),
    Wish(
        "a workflow, by where it may land",
        an("Workflow", nodeSelector={"a": "b"}),
        1,
        {"nodeClaim": {"nodeSelector": {"a": "b"}}},
    ),
    Wish("a workflow in parallel", an("Workflow", parallelism=2), 2, None),
    Wish("a notebook", an("Notebook", template=pods()), 1, CPU),
    Wish(
        "flink: managers together, slots filled, the larger of each",
        an(
            "FlinkDeployment",
            job={"parallelism": 5},
            flinkConfiguration={"taskmanager.numberOfTaskSlots": "2"},
            jobManager={"resource": {"cpu": 2, "memory": "1Gi"}},
            taskManager={"resource": {"cpu": 0.5, "memory": "2Gi"}},
            podTemplate={"spec": {"priorityClassName": "high"}},
        ),
        4,
        {"resourceRequest": {"cpu": "2", "memory": "2Gi"}, "namespace": "shop", "priorityClassName": "high"},
    ),
    Wish(
        "flink: slots that are no number",
        an("FlinkDeployment", job={"parallelism": 5}, flinkConfiguration={"taskmanager.numberOfTaskSlots": "0"}),
        2,
        {"namespace": "shop"},
    ),
    Wish(
        "a Ray service whose head needs nothing",
        an("RayService", rayClusterConfig={**RAY, "headGroupSpec": {"template": {}}}),
        3,
        None,
    ),
    Wish(
        "a Ray service without a head",
        an("RayService", rayClusterConfig={"workerGroupSpecs": [{"replicas": 2, "template": pods()}]}),
        0,
        None,
    ),
    Wish(
        "a Ray service: head and workers, the largest of all",
        an("RayService", rayClusterConfig=RAY),
        3,
        {"nodeClaim": {"nodeSelector": {"disk": "ssd"}}, "resourceRequest": {"cpu": "4"}},
    ),
]


@each_row("case", WISHES, ids=lambda case: case.why)
def test_replicas(case: Wish) -> None:
    answer = INTERPRETER.replicas(case.manifest)
    assert answer is not None
    assert (answer.replicas, plain_requirements(answer.requirements)) == (case.replicas, case.needs)


class Parts(NamedTuple):
    why: str
    manifest: dict[str, Any]
    want: list[tuple[str, int, str]]


def a_role(replicas: Any = None, cpu: str = "1") -> dict[str, Any]:
    return {"template": pods(cpu)} | ({} if replicas is None else {"replicas": replicas})


PARTS = [
    Parts(
        "volcano: by name or place",
        an("Job", tasks=[{"name": "a", "minAvailable": 2, "template": pods()}, {"template": pods()}]),
        [("a", 2, "1"), ("task-1", 1, "1")],
    ),
    Parts(
        "pytorch: master, then workers",
        an("PyTorchJob", pytorchReplicaSpecs={"Worker": a_role("2"), "Master": a_role("")}),
        [("master", 1, "1"), ("worker", 2, "1")],
    ),
    Parts(
        "tensorflow",
        an("TFJob", tfReplicaSpecs={"Chief": a_role(), "PS": a_role(2)}),
        [("ps", 2, "1"), ("chief", 1, "1")],
    ),
    Parts(
        "mpi: workers are none unless they say",
        an("MPIJob", mpiReplicaSpecs={"Worker": a_role(), "Launcher": a_role()}),
        [("Launcher", 1, "1"), ("Worker", 0, "1")],
    ),
    Parts("a Ray cluster", an("RayCluster", **RAY), [("ray-head", 1, "2"), ("worker-1", 2, "4"), ("worker-2", 0, "1")]),
    Parts("a Ray cluster without a head", an("RayCluster", workerGroupSpecs=[a_role(1)]), [("worker-1", 1, "1")]),
    Parts("a Ray job", an("RayJob", rayClusterSpec={**RAY, "workerGroupSpecs": []}), [("ray-head", 1, "2")]),
    Parts(
        "flink",
        an("FlinkDeployment", taskManager={"replicas": 3, "resource": {"cpu": 1}}, jobManager={"resource": {"cpu": 2}}),
        [("jobmanager", 1, "2"), ("taskmanager", 3, "1")],
    ),
    Parts(
        "spark: executors as they start",
        an(
            "SparkApplication",
            type="Java",
            driver={"cores": 2},
            executor={"instances": 1},
            dynamicAllocation={"enabled": True, "minExecutors": 3},
        ),
        [("driver", 1, "2"), ("executor", 3, "1")],
    ),
    Parts(
        "spark: no dynamic allocation",
        an("SparkApplication", type="Java", dynamicAllocation={"enabled": False, "minExecutors": 3}),
        [("driver", 1, "1"), ("executor", 1, "1")],
    ),
]


@each_row("case", PARTS, ids=lambda case: case.why)
def test_components(case: Parts) -> None:
    components = INTERPRETER.components(case.manifest)
    assert components is not None
    plain = [plain_component(component) for component in components]
    assert [
        (each["name"], each["replicas"], each["replicaRequirements"]["resourceRequest"]["cpu"]) for each in plain
    ] == case.want


class Memory(NamedTuple):
    why: str
    spec: dict[str, Any]
    want: str


MEMORIES = [
    Memory("a gibibyte and the least overhead", {"type": "Java"}, "1408Mi"),
    Memory("a tenth more for the JVM", {"type": "Scala", "driver": {"memory": "10g"}}, "11Gi"),
    Memory("two fifths more for others", {"type": "Python", "driver": {"memory": "1g"}}, "1503238553600m"),
    Memory("what it says itself", {"type": "Python", "driver": {"memory": "512m", "memoryOverhead": "512m"}}, "1Gi"),
]


@pytest.mark.parametrize("case", MEMORIES, ids=lambda case: case.why)
def test_a_spark_driver_needs_memory_beside_its_heap(case: Memory) -> None:
    components = INTERPRETER.components(an("SparkApplication", **case.spec))
    assert components is not None
    assert components[0].requirements is not None
    assert components[0].requirements.resource_request["memory"] == case.want


class Shares(NamedTuple):
    why: str
    groups: list[int]
    replicas: int
    want: list[int]


SHARES = [
    Shares("all but the head's", [3], 7, [6]),
    Shares("in proportion", [1, 2, 3], 13, [2, 4, 6]),
    Shares("halves round up, the last takes what is left", [1, 1], 4, [2, 1]),
    Shares("equally when all sleep", [0, 0], 7, [3, 3]),
    Shares("nothing at all", [5], 0, [0]),
]


@each_row("case", SHARES, ids=lambda case: case.why)
def test_a_ray_services_workers_are_divided(case: Shares) -> None:
    def service(groups: list[int]) -> dict[str, Any]:
        return an("RayService", rayClusterConfig={"workerGroupSpecs": [{"replicas": group} for group in groups]})

    assert INTERPRETER.revise_replica(service(case.groups), case.replicas) == service(case.want)


class Change(NamedTuple):
    why: str
    before: dict[str, Any]
    after: dict[str, Any]


CHANGES = [
    Change("a clone set, whether it said or not", an("CloneSet"), an("CloneSet", replicas=5)),
    Change("a broadcast job", an("BroadcastJob", parallelism=1), an("BroadcastJob", parallelism=5)),
    Change("a workflow", an("Workflow"), an("Workflow", parallelism=5)),
    Change("a Ray service without workers", an("RayService"), an("RayService")),
    Change("a daemon set is not revised", an("DaemonSet"), an("DaemonSet")),
]


@each_row("case", CHANGES, ids=lambda case: case.why)
def test_revision(case: Change) -> None:
    assert INTERPRETER.revise_replica(case.before, 5) == case.after


class Kept(NamedTuple):
    why: str
    desired: dict[str, Any]
    observed: dict[str, Any]
    want: dict[str, Any]


def labelled(label: str) -> dict[str, Any]:
    return an("BroadcastJob", template={"metadata": {"labels": {"app": label}}})


KEPT = [
    Kept("a broadcast job's pod labels", labelled("a"), labelled("b"), labelled("b")),
    Kept(
        "a workflow's progress",
        an("Workflow"),
        an("Workflow", suspend=True, status={"phase": "Running"}),
        an("Workflow", suspend=True, status={"phase": "Running"}),
    ),
    Kept(
        "that a source is suspended",
        an("Bucket", interval="1m"),
        an("Bucket", suspend=False),
        an("Bucket", interval="1m", suspend=False),
    ),
    Kept(
        "what a member does not say",
        an("HelmRelease", suspend=True),
        an("HelmRelease"),
        an("HelmRelease", suspend=True),
    ),
    Kept("nothing of sidecars", an("SidecarSet", a=1), an("SidecarSet", a=2), an("SidecarSet", a=1)),
]


@each_row("case", KEPT, ids=lambda case: case.why)
def test_retention(case: Kept) -> None:
    assert INTERPRETER.retain(case.desired, case.observed) == case.want


class Health(NamedTuple):
    why: str
    kind: str
    status: Any
    want: bool


def rolled(updated: int, available: int, seen: int = 1) -> dict[str, int]:
    return {"observedGeneration": seen, "updatedReplicas": updated, "availableReplicas": available}


READY = [condition("Ready", reason="Succeeded")]
HEALTHS = [
    Health("rolled out", "CloneSet", rolled(2, 2), True),
    Health("not seen", "StatefulSet", rolled(2, 2, seen=0), False),
    Health("not updated", "UnitedDeployment", rolled(1, 2), False),
    Health("not available", "CloneSet", rolled(2, 1), False),
    Health(
        "daemons",
        "DaemonSet",
        {"observedGeneration": 1, "updatedNumberScheduled": 1, "desiredNumberScheduled": 1, "numberAvailable": 1},
        True,
    ),
    Health(
        "too few daemons",
        "DaemonSet",
        {"observedGeneration": 1, "updatedNumberScheduled": 0, "desiredNumberScheduled": 1},
        False,
    ),
    Health("a broadcast underway", "BroadcastJob", {"desired": 1, "failed": 0, "succeeded": 0, "active": 1}, True),
    Health(
        "a broadcast that does nothing", "BroadcastJob", {"desired": 1, "failed": 0, "succeeded": 0, "active": 0}, False
    ),
    Health("sidecars updated", "SidecarSet", {"matchedPods": 2, "updatedPods": 2}, True),
    Health("sidecars not updated", "SidecarSet", {"matchedPods": 2, "updatedPods": 1}, False),
    Health("no sidecars", "SidecarSet", {"matchedPods": 0}, True),
    Health("a workflow begun", "Workflow", {"phase": "Running"}, True),
    Health("a workflow not begun", "Workflow", {}, False),
    Health("a workflow gone wrong", "Workflow", {"phase": "Error"}, False),
    Health("a batch aborted", "Job", {"state": {"phase": "Aborted"}}, True),
    Health("a batch failed", "Job", {"state": {"phase": "Failed"}}, False),
    Health(
        "flink settled", "FlinkDeployment", {"jobManagerDeploymentStatus": "READY", "lifecycleState": "STABLE"}, True
    ),
    Health("flink running", "FlinkDeployment", {"jobStatus": {"state": "RUNNING"}}, True),
    Health("flink starting", "FlinkDeployment", {"jobStatus": {"state": "CREATED"}, "error": "wait"}, False),
    Health(
        "flink without its image",
        "FlinkDeployment",
        {"jobStatus": {"state": "CREATED"}, "error": "x ErrImagePull"},
        True,
    ),
    Health("a source ready", "GitRepository", {"conditions": READY}, True),
    Health("a source ready otherwise", "Bucket", {"conditions": [condition("Ready", reason="Other")]}, False),
    Health("a chart pulled", "HelmChart", {"conditions": [condition("Ready", reason="ChartPullSucceeded")]}, True),
    Health("a release not reconciled", "HelmRelease", {"conditions": READY}, False),
    Health(
        "a release reconciled",
        "HelmRelease",
        {"conditions": [condition("Ready", reason="ReconciliationSucceeded")]},
        True,
    ),
    Health(
        "a kustomization reconciled",
        "Kustomization",
        {"conditions": [condition("Ready", reason="ReconciliationSucceeded")]},
        True,
    ),
    Health("an image not ready", "OCIRepository", {"conditions": [condition("Ready", "False", "Succeeded")]}, False),
    Health("a repository without conditions", "HelmRepository", {}, False),
    Health("a notebook running", "Notebook", {"containerState": {"running": {}}}, True),
    Health("a notebook being made", "Notebook", {"containerState": {"waiting": {"reason": "ContainerCreating"}}}, True),
    Health("a notebook stuck", "Notebook", {"containerState": {"waiting": {"reason": "ErrImagePull"}}}, False),
    Health("a notebook ended well", "Notebook", {"containerState": {"terminated": {"exitCode": 0}}}, True),
    Health(
        "a notebook killed",
        "Notebook",
        {"containerState": {"terminated": {"reason": "OOMKilled", "exitCode": 0}}},
        False,
    ),
    Health("a notebook in no state", "Notebook", {}, False),
    Health("training", "PyTorchJob", {"conditions": [condition("Running")]}, True),
    Health("training failed", "TFJob", {"conditions": [condition("Failed")]}, False),
    Health("training, no condition yet", "TFJob", {"conditions": []}, True),
    Health("mpi, no condition yet", "MPIJob", {"conditions": []}, False),
    Health("a policy that says so", "Policy", {"ready": True}, True),
    Health("a policy that says no", "ClusterPolicy", {"ready": False, "conditions": READY}, False),
    Health("a policy by its condition", "ClusterPolicy", {"conditions": READY}, True),
    Health(
        "a Ray cluster",
        "RayCluster",
        {"conditions": [condition("HeadPodReady"), condition("RayClusterProvisioned")]},
        True,
    ),
    Health(
        "a Ray cluster with a failed replica",
        "RayCluster",
        {
            "conditions": [
                condition("HeadPodReady"),
                condition("RayClusterProvisioned"),
                condition("RayClusterReplicaFailure"),
            ]
        },
        False,
    ),
    Health("a Ray job running", "RayJob", {"jobDeploymentStatus": "Running"}, True),
    Health(
        "a Ray job complete but failed", "RayJob", {"jobDeploymentStatus": "Complete", "jobStatus": "FAILED"}, False
    ),
    Health("a Ray service", "RayService", {"conditions": [condition("Ready")]}, True),
    Health("spark in any state", "SparkApplication", {"applicationState": {"state": ""}}, True),
    Health("spark failed", "SparkApplication", {"applicationState": {"state": "FAILED"}}, False),
    Health("spark in no state", "SparkApplication", {}, False),
]


@each_row("case", HEALTHS, ids=lambda case: case.why)
def test_health(case: Health) -> None:
    assert INTERPRETER.is_healthy(an(case.kind, generation=1, status=case.status, replicas=2)) is case.want


@pytest.mark.parametrize("kind", ["CloneSet", "StatefulSet", "DaemonSet"])
def test_a_kruise_workload_without_a_status_is_neither_healthy_nor_not(kind: str) -> None:
    with pytest.raises(InterpreterError) as raised:
        INTERPRETER.is_healthy(an(kind, generation=1))
    assert str(raised.value) == f"{kind} shop/x: InterpretHealth: status is missing"


def test_a_united_deployment_without_a_status_is_not_healthy() -> None:
    assert INTERPRETER.is_healthy(an("UnitedDeployment", generation=1)) is False


class Refers(NamedTuple):
    why: str
    manifest: dict[str, Any]
    want: set[str]


CLAIM = {"spec": {"volumes": [{"persistentVolumeClaim": {"claimName": "p"}}]}}
SECRET = {"name": "s"}
REFERS = [
    *(
        Refers(f"the pods of a {kind}", an(kind, template=CLAIM), {"PersistentVolumeClaim p"})
        for kind in ("CloneSet", "StatefulSet", "DaemonSet", "UnitedDeployment", "BroadcastJob")
    ),
    Refers("pods that refer to nothing", an("CloneSet", template=pods()), set()),
    Refers(
        "a cron job's jobs",
        an("AdvancedCronJob", template={"jobTemplate": {"spec": {"template": CLAIM}}}),
        {"PersistentVolumeClaim p"},
    ),
    Refers(
        "a cron job's broadcasts",
        an("AdvancedCronJob", template={"broadcastJobTemplate": {"spec": {"template": CLAIM}}}),
        {"PersistentVolumeClaim p"},
    ),
    Refers("a cron job of neither", an("AdvancedCronJob"), set()),
    Refers(
        "sidecars, but not what runs before them",
        an(
            "SidecarSet",
            containers=[{"envFrom": [{"configMapRef": {"name": "c"}}]}],
            initContainers=[{"envFrom": [{"configMapRef": {"name": "no"}}]}],
            volumes=[{"projected": {"sources": [{"secret": SECRET}]}}],
        ),
        {"ConfigMap c", "Secret s"},
    ),
    Refers(
        "a workflow",
        an(
            "Workflow",
            executor={"serviceAccountName": "e"},
            serviceAccountName="a",
            volumeClaimTemplates=[{"metadata": {"name": "p"}}],
            imagePullSecrets=[SECRET],
        ),
        {"ServiceAccount e", "ServiceAccount a", "PersistentVolumeClaim p", "Secret s"},
    ),
    Refers(
        "a workflow's volumes",
        an("Workflow", volumes=[{"configMap": {"name": "c"}}, {"secret": {"secretName": "no"}}]),
        {"ConfigMap c"},
    ),
    Refers(
        "a release",
        an(
            "HelmRelease",
            valuesFrom=[{"kind": "ConfigMap", "name": "c"}, {"kind": "Bucket", "name": "no"}],
            kubeConfig={"secretRef": SECRET},
            serviceAccountName="a",
        ),
        {"ConfigMap c", "Secret s", "ServiceAccount a"},
    ),
    Refers("a kustomization", an("Kustomization", decryption={"secretRef": SECRET}), {"Secret s"}),
    Refers(
        "a git repository",
        an("GitRepository", secretRef=SECRET, verify={"secretRef": {"name": "v"}}),
        {"Secret s", "Secret v"},
    ),
    Refers("a bucket", an("Bucket", secretRef=SECRET), {"Secret s"}),
    Refers("a chart", an("HelmChart", verify={"secretRef": SECRET}), {"Secret s"}),
    Refers("a repository", an("HelmRepository", secretRef={"name": ""}), set()),
    Refers(
        "an image", an("OCIRepository", certSecretRef=SECRET, serviceAccountName="a"), {"Secret s", "ServiceAccount a"}
    ),
    Refers(
        "training",
        an("PyTorchJob", pytorchReplicaSpecs={"Master": {"template": CLAIM}, "Worker": {"template": CLAIM}}),
        {"PersistentVolumeClaim p"},
    ),
    Refers(
        "training with others", an("TFJob", tfReplicaSpecs={"PS": {"template": CLAIM}}), {"PersistentVolumeClaim p"}
    ),
    Refers(
        "a Ray job: head, workers, submitter",
        an(
            "RayJob",
            rayClusterSpec={
                "headGroupSpec": {"template": CLAIM},
                "workerGroupSpecs": [{"template": {"spec": {"serviceAccountName": "w"}}}],
            },
            submitterPodTemplate={"spec": {"serviceAccountName": "s"}},
        ),
        {"PersistentVolumeClaim p", "ServiceAccount w", "ServiceAccount s"},
    ),
    Refers(
        "a Ray service",
        an("RayService", rayClusterConfig={"headGroupSpec": {"template": CLAIM}}),
        {"PersistentVolumeClaim p"},
    ),
]


@each_row("case", REFERS, ids=lambda case: case.why)
def test_dependencies(case: Refers) -> None:
    assert {f"{each.kind} {each.name}" for each in INTERPRETER.dependencies(case.manifest)} == case.want


class Sum(NamedTuple):
    why: str
    template: dict[str, Any]
    items: list[dict[str, Any]]
    want: Any


def seen(own: int, template: int, **counters: Any) -> dict[str, Any]:
    return {"generation": own, "observedGeneration": own, "resourceTemplateGeneration": template, **counters}


AT, LATER = "2025-01-01T00:00:00Z", "2025-01-02T00:00:00Z"
SUMS = [
    Sum(
        "a united deployment; of each type of condition the last",
        an("UnitedDeployment", generation=2),
        items(
            seen(1, 2, replicas=1, conditions=[condition("A")]),
            seen(3, 2, replicas=2, conditions=[condition("A", "False")]),
        ),
        {"replicas": 3, "readyReplicas": 0, "updatedReplicas": 0, "availableReplicas": 0, "unavailableReplicas": 0}
        | {"observedGeneration": 2, "conditions": [condition("A", "False")]},
    ),
    Sum(
        "a member that observed a newer template has not observed this one",
        an("DaemonSet", generation=2),
        items(seen(1, 3, numberReady=1, daemonSetHash="h")),
        dict.fromkeys(
            (
                "currentNumberScheduled",
                "numberMisscheduled",
                "desiredNumberScheduled",
                "updatedNumberScheduled",
                "numberAvailable",
                "numberUnavailable",
            ),
            0,
        )
        | {"numberReady": 1, "daemonSetHash": "h", "observedGeneration": 0},
    ),
    Sum(
        "a broadcast that fails somewhere",
        an("BroadcastJob"),
        items({"failed": 1, "phase": "failed", "conditions": [condition("Failed")]}, {"succeeded": 1}),
        {"active": 0, "succeeded": 1, "failed": 1, "desired": 0, "phase": "failed"}
        | {"conditions": [condition("Failed", reason="JobFailed", message="the job failed in m1, m2")]},
    ),
    Sum(
        "sidecars",
        an("SidecarSet"),
        items({"matchedPods": 1}, {"matchedPods": 2}),
        {"matchedPods": 3, "updatedPods": 0, "readyPods": 0},
    ),
    Sum(
        "a cron job",
        an("AdvancedCronJob"),
        items({"active": [{"name": "a"}], "type": "Job"}, {"active": [{"name": "b"}]}),
        {"active": [{"name": "a"}, {"name": "b"}], "type": "Job"},
    ),
    Sum(
        "conditions of a source, with who says them",
        an("Bucket", generation=1),
        items(
            seen(1, 1, url="u", artifact={"r": 1}, conditions=[condition("Ready", message="ok")]),
            seen(
                1,
                1,
                url="",
                artifact={"r": 2},
                conditions=[condition("Ready", message="fine"), condition("Ready", "False", message="no")],
            ),
        ),
        {
            "url": "u",
            "artifact": {"r": 2},
            "conditions": [condition("Ready", message="m1=ok, m2=fine"), condition("Ready", "False", message="m2=no")],
            "observedGeneration": 1,
        },
    ),
    Sum(
        "a release's failures on top of what it counts",
        an("HelmRelease", status={"failures": 1}),
        items({"failures": 2, "upgradeFailures": 3}),
        {"failures": 3, "observedGeneration": 0},
    ),
    Sum(
        "batches: what is not zero, the newest version, the longest run",
        an("Job"),
        items(
            {
                "running": 1,
                "pending": 0,
                "version": 2,
                "runningDuration": "1m30s",
                "taskStatusCount": {"t": {"phase": {"Running": 1}}},
            },
            {
                "running": 2,
                "version": 1,
                "runningDuration": "80s",
                "taskStatusCount": {"t": {"phase": {"Running": 2, "Failed": 0}}},
            },
        ),
        {"running": 3, "version": 2, "runningDuration": "1m30s", "taskStatusCount": {"t": {"phase": {"Running": 3}}}},
    ),
    Sum("a lone batch as it is", an("Job"), items({"pending": 0}), {"pending": 0}),
    Sum(
        "flink: the last member's word",
        an("FlinkDeployment"),
        items({"error": "x", "lifecycleState": "A"}, {"lifecycleState": "B"}),
        {"lifecycleState": "B"},
    ),
    Sum(
        "notebooks that all run: the latest start",
        an("Notebook"),
        items(
            {"readyReplicas": 1, "containerState": {"running": {"startedAt": LATER}}},
            {"containerState": {"running": {"startedAt": AT}}},
        ),
        {
            "readyReplicas": 1,
            "containerState": {"running": {"startedAt": LATER}},
            "conditions": [condition("Ready", reason="Ready", message="every notebook runs")],
        },
    ),
    Sum(
        "notebooks of which one says nothing yet are not ready",
        an("Notebook"),
        [*items({"containerState": {"running": {"startedAt": AT}}}), {"clusterName": "m2"}],
        {"readyReplicas": 0, "containerState": {"running": {"startedAt": AT}}},
    ),
    Sum(
        "notebooks of which one has no place",
        an("Notebook"),
        items({"containerState": {"running": {"startedAt": LATER}}}, {}),
        {
            "readyReplicas": 0,
            "containerState": {"waiting": {"reason": "Unschedulable"}},
            "conditions": [condition("Failed", reason="NotebookFailed", message="the notebook failed in m2")],
        },
    ),
    Sum(
        "training that succeeds everywhere",
        an("PyTorchJob"),
        items(
            {
                "startTime": AT,
                "completionTime": AT,
                "conditions": [condition("Created"), condition("Succeeded")],
                "replicaStatuses": {"Worker": {"succeeded": 1}},
            },
            {
                "startTime": LATER,
                "completionTime": LATER,
                "conditions": [condition("Succeeded")],
                "replicaStatuses": {"Worker": {"succeeded": 2}},
            },
        ),
        {
            "startTime": AT,
            "completionTime": LATER,
            "replicaStatuses": {"Worker": {"succeeded": 3}},
            "conditions": [
                condition(
                    "Created",
                    reason="PyTorchJobCreated",
                    message="the job is created",
                    lastTransitionTime=AT,
                    lastUpdateTime=AT,
                ),
                condition(
                    "Succeeded",
                    reason="PyTorchJobSucceeded",
                    message="the job succeeded in every cluster",
                    lastTransitionTime=LATER,
                    lastUpdateTime=LATER,
                ),
            ],
        },
    ),
    Sum(
        "training that ran and failed: it runs no more, since the time the last member names",
        an("PyTorchJob"),
        items(
            {"conditions": [condition("Running", lastUpdateTime=LATER, lastTransitionTime=LATER)]},
            {
                "completionTime": LATER,
                "lastReconcileTime": AT,
                "conditions": [condition("Running", "False", lastTransitionTime=AT), condition("Failed")],
            },
        ),
        {
            "lastReconcileTime": AT,
            "conditions": [
                condition(
                    "Running",
                    "False",
                    reason="PyTorchJobRunning",
                    message="the job is running",
                    lastTransitionTime=AT,
                ),
                condition(
                    "Failed",
                    reason="PyTorchJobFailed",
                    message="the job failed in m2",
                    lastTransitionTime=LATER,
                    lastUpdateTime=LATER,
                ),
            ],
        },
    ),
    Sum(
        "training in one cluster is counted as in several",
        an("TFJob"),
        items(
            {
                "conditions": [condition("Created"), condition("Succeeded")],
                "completionTime": AT,
                "replicaStatuses": {"PS": {"succeeded": 1, "failed": 0}},
            }
        ),
        {
            "completionTime": AT,
            "conditions": [
                condition("Succeeded", reason="Completed", message="the job succeeded in every cluster"),
            ],
            "replicaStatuses": {"PS": {"succeeded": 1}},
        },
    ),
    Sum(
        "training that fails somewhere",
        an("TFJob"),
        items({"conditions": [condition("Succeeded")]}, {"conditions": [condition("Failed")]}),
        {"conditions": [condition("Failed", reason="TFJobFailed", message="the job failed in m2")]},
    ),
    Sum(
        "mpi: of each type of condition the newest, of equally new ones the first",
        an("MPIJob"),
        items(
            {
                "conditions": [
                    condition("Running", lastTransitionTime=AT),
                    condition("Created", lastTransitionTime=AT),
                ],
                "replicaStatuses": {"Worker": {"active": 1}},
            },
            {
                "conditions": [
                    condition("Running", "False", lastTransitionTime=LATER),
                    condition("Created", "False", lastTransitionTime=AT),
                ]
            },
        ),
        {
            "conditions": [
                condition("Running", "False", lastTransitionTime=LATER),
                condition("Created", lastTransitionTime=AT),
            ],
            "replicaStatuses": {"Worker": {"active": 1, "succeeded": 0, "failed": 0}},
        },
    ),
    Sum(
        "mpi: a condition is as new as its last update",
        an("MPIJob"),
        items(
            {"conditions": [condition("Running", lastTransitionTime=AT, lastUpdateTime=AT)]},
            {"conditions": [condition("Running", "False", lastTransitionTime=AT, lastUpdateTime=LATER), {"type": "X"}]},
        ),
        {"conditions": [condition("Running", "False", lastTransitionTime=AT, lastUpdateTime=LATER)]},
    ),
    Sum(
        "policies count their rules",
        an("Policy"),
        items(
            {"ready": True, "rulecount": {"validate": 1}}, {"ready": False, "rulecount": {"validate": 2, "mutate": 1}}
        ),
        {"ready": False, "rulecount": {"validate": 3, "generate": 0, "mutate": 1, "verifyimages": 0}},
    ),
    Sum(
        "Ray clusters: a sum is written anew before the next is added",
        an("RayCluster"),
        items({"desiredMemory": "1Ki"}, {"desiredMemory": "24"}, {"desiredMemory": "1k"}),
        dict.fromkeys(
            (f"{word}WorkerReplicas" for word in ("ready", "available", "desired", "min", "max")),
            0,
        )
        | {"desiredCPU": "0", "desiredMemory": "2048", "desiredGPU": "0", "desiredTPU": "0"},
    ),
    Sum(
        "Ray clusters add up, resources exactly",
        an("RayCluster"),
        items(
            {"desiredCPU": "500m", "desiredMemory": "1Gi", "readyWorkerReplicas": 1, "head": {"ip": "1"}},
            {"desiredCPU": "1", "state": "ready", "lastUpdateTime": AT},
        ),
        {
            "readyWorkerReplicas": 1,
            "availableWorkerReplicas": 0,
            "desiredWorkerReplicas": 0,
            "minWorkerReplicas": 0,
            "maxWorkerReplicas": 0,
        }
        | {"desiredCPU": "1500m", "desiredMemory": "1Gi", "desiredGPU": "0", "desiredTPU": "0"}
        | {"head": {"ip": "1"}, "state": "ready", "lastUpdateTime": AT},
    ),
    Sum(
        "Ray jobs: the state that is furthest on, and the reason of the deployment that is",
        an("RayJob"),
        items(
            {"jobStatus": "FAILED", "jobDeploymentStatus": "Retrying", "reason": "again"},
            {"jobStatus": "RUNNING", "jobDeploymentStatus": "Running", "reason": "fine"},
            {"jobStatus": "", "jobDeploymentStatus": "New", "reason": "new"},
        ),
        {"jobStatus": "FAILED", "jobDeploymentStatus": "Running", "reason": "fine"},
    ),
    Sum(
        "Ray jobs: one that is done counts more than one that begins or waits",
        an("RayJob"),
        items(
            {"jobStatus": "PENDING", "jobDeploymentStatus": "Suspended", "reason": "a"},
            {"jobStatus": "RUNNING", "jobDeploymentStatus": "Suspending", "reason": "b"},
            {"jobStatus": "SUCCEEDED", "jobDeploymentStatus": "Initializing"},
        ),
        {"jobStatus": "SUCCEEDED", "jobDeploymentStatus": "Suspended", "reason": "a"},
    ),
    Sum(
        "Ray services: one that is not up counts, the pending one is the first, an application deploys more than waits",
        an("RayService"),
        items(
            {
                "serviceStatus": "Running",
                "pendingServiceStatus": {"rayClusterName": "c"},
                "activeServiceStatus": {"applicationStatuses": {"x": {"status": "NOT_STARTED"}}},
            },
            {
                "serviceStatus": "",
                "pendingServiceStatus": {"applicationStatuses": {"x": {"status": "UNHEALTHY"}}},
                "activeServiceStatus": {"applicationStatuses": {"x": {"status": "DEPLOYING"}}},
            },
        ),
        {
            "numServeEndpoints": 0,
            "observedGeneration": 0,
            "serviceStatus": "",
            "pendingServiceStatus": {"rayClusterName": "c"},
            "activeServiceStatus": {"applicationStatuses": {"x": {"status": "DEPLOYING"}}},
        },
    ),
    Sum(
        "Ray services: the worst of each application",
        an("RayService"),
        items(
            {
                "numServeEndpoints": 1,
                "observedGeneration": 2,
                "activeServiceStatus": {"rayClusterName": "a", "applicationStatuses": {"x": {"status": "RUNNING"}}},
            },
            {
                "numServeEndpoints": 2,
                "activeServiceStatus": {"rayClusterName": "b", "applicationStatuses": {"x": {"status": "UNHEALTHY"}}},
            },
        ),
        {
            "numServeEndpoints": 3,
            "observedGeneration": 2,
            "serviceStatus": "Running",
            "activeServiceStatus": {"rayClusterName": "a", "applicationStatuses": {"x": {"status": "UNHEALTHY"}}},
        },
    ),
    Sum(
        "spark: the worst state, every executor",
        an("SparkApplication"),
        items(
            {"applicationState": {"state": "RUNNING"}, "executorState": {"a": "RUNNING"}},
            {"applicationState": {"state": "COMPLETED"}, "executionAttempts": 2},
        ),
        {
            "applicationState": {"state": "RUNNING"},
            "executorState": {"a": "RUNNING"},
            "executionAttempts": 2,
            "submissionAttempts": 0,
        }
        | {"lastSubmissionAttemptTime": "", "terminationTime": ""},
    ),
]


@each_row("case", SUMS, ids=lambda case: case.why)
def test_aggregation(case: Sum) -> None:
    assert INTERPRETER.aggregate_status(case.template, case.items) == {**case.template, "status": case.want}


class Report(NamedTuple):
    why: str
    kind: str
    status: Any
    want: Any


BOTH = {"generation": 1, "resourceTemplateGeneration": 7}
REPORTS = [
    Report(
        "a clone set's, with both generations",
        "CloneSet",
        {"replicas": 0, "collisionCount": 1},
        {"replicas": 0, **BOTH},
    ),
    Report("nothing yet", "StatefulSet", None, {}),
    Report("a daemon set's", "DaemonSet", {"daemonSetHash": "h"}, {"daemonSetHash": "h", **BOTH}),
    Report("a united deployment's", "UnitedDeployment", {"conditions": [1]}, {"conditions": [1], **BOTH}),
    Report("a broadcast's", "BroadcastJob", {"active": 0, "other": 1}, {"active": 0}),
    Report("sidecars'", "SidecarSet", {"readyPods": 1}, {"matchedPods": 0, "updatedPods": 0, "readyPods": 1}),
    Report("a batch's, without what is empty", "Job", {"pending": 0, "conditions": [], "x": 1}, {"pending": 0}),
    Report("flink's", "FlinkDeployment", {"error": "", "jobStatus": {"a": {}}}, {"error": "", "jobStatus": {}}),
    Report("a release's", "HelmRelease", {"failures": 0, "history": 1}, {"failures": 0, **BOTH}),
    Report(
        "a kustomization's",
        "Kustomization",
        {"inventory": 1, "observedGeneration": 2},
        {"observedGeneration": 2, **BOTH},
    ),
    Report("a git repository's", "GitRepository", {"observedIgnore": "x"}, {"observedIgnore": "x", **BOTH}),
    Report(
        "a chart's, without what it observed", "HelmChart", {"url": "u", "observedGeneration": 2}, {"url": "u", **BOTH}
    ),
    Report("a bucket's", "Bucket", {"url": "u"}, {"url": "u", **BOTH}),
    Report("a notebook's", "Notebook", {"x": 1}, {"readyReplicas": 0}),
    Report("mpi's", "MPIJob", {"startTime": AT, "x": 1}, {"startTime": AT}),
    Report("a policy's", "Policy", {"ready": False, "x": 1}, {"ready": False}),
    Report("spark's", "SparkApplication", {"submissionID": "s", "x": 1}, {"submissionID": "s"}),
    Report("all of it where there is no rule", "RayJob", {"x": []}, {"x": []}),
]


@each_row("case", REPORTS, ids=lambda case: case.why)
def test_reflection(case: Report) -> None:
    observed = an(case.kind, generation=1, status=case.status)
    observed["metadata"]["annotations"] = {GENERATION: "7"}
    assert INTERPRETER.reflect_status(observed) == case.want
