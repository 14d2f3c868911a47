"""The kinds Kubernetes defines: replicas, revision, retention, statuses, health and dependencies of each."""

from typing import Any, NamedTuple

import pytest

from render.interpreter import Interpreter, InterpreterError, Replicas

from .tables import each_row

GENERATION = "resourcetemplate.karmada.io/generation"
INTERPRETER = Interpreter()


def an(api_version: str, kind: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x", "namespace": "shop"}, **fields}


def a_workload(kind: str = "Deployment", *, generation: int = 3, status: Any = None, **spec: Any) -> dict[str, Any]:
    manifest = an("apps/v1", kind, spec=spec)
    manifest["metadata"]["generation"] = generation
    return manifest if status is None else {**manifest, "status": status}


def a_job(**spec: Any) -> dict[str, Any]:
    return an("batch/v1", "Job", spec=spec)


def items(*statuses: Any) -> list[dict[str, Any]]:
    names = [f"member{index}" for index in range(1, len(statuses) + 1)]
    return [{"clusterName": name, "status": status} for name, status in zip(names, statuses, strict=True)]


class Count(NamedTuple):
    why: str
    manifest: dict[str, Any]
    want: int | None


COUNTS = [
    Count("a deployment's replicas", a_workload(replicas=3), 3),
    Count("none declared are none: defaults are written out before", a_workload(), 0),
    Count("a stateful set's", a_workload("StatefulSet", replicas=2), 2),
    Count("a replica set's", a_workload("ReplicaSet", replicas=2), 2),
    Count("a daemon set has none", a_workload("DaemonSet"), None),
    Count("a job runs no more than it completes", a_job(parallelism=3, completions=2), 2),
    Count("a job without completions runs in parallel", a_job(parallelism=3), 3),
    Count("a job without both has none", a_job(), 0),
    Count("a pod is one", an("v1", "Pod", spec={}), 1),
    Count("another version of a kind is another kind", {**a_workload(replicas=3), "apiVersion": "apps/v1beta1"}, None),
]


@each_row("case", COUNTS, ids=lambda case: case.why)
def test_replicas(case: Count) -> None:
    assert INTERPRETER.replicas(case.manifest) == (None if case.want is None else Replicas(replicas=case.want))


class Revision(NamedTuple):
    why: str
    manifest: dict[str, Any]
    want: dict[str, Any]
    field: tuple[str, ...] | None


REVISIONS = [
    Revision(
        "a deployment", a_workload(replicas=3, paused=True), a_workload(replicas=7, paused=True), ("spec", "replicas")
    ),
    Revision("without the field nothing is set", a_workload(paused=True), a_workload(paused=True), None),
    Revision(
        "a job", a_job(parallelism=3, completions=9), a_job(parallelism=7, completions=9), ("spec", "parallelism")
    ),
    Revision("a job without parallelism", a_job(completions=9), a_job(completions=9), None),
    Revision("a pod is never revised", an("v1", "Pod", spec={}), an("v1", "Pod", spec={}), None),
]


@each_row("case", REVISIONS, ids=lambda case: case.why)
def test_revision(case: Revision) -> None:
    assert INTERPRETER.revise_replica(case.manifest, 7) == case.want
    assert INTERPRETER.replica_field(case.manifest) == case.field


def test_replicas_that_are_no_number_are_an_error_and_no_field() -> None:
    manifest = a_workload(replicas="three")
    assert INTERPRETER.replica_field(manifest) is None
    for ask in (
        INTERPRETER.replicas,
        INTERPRETER.dependencies,
        INTERPRETER.is_healthy,
        lambda m: INTERPRETER.revise_replica(m, 1),
    ):
        with pytest.raises(InterpreterError) as raised:
            ask(manifest)
        assert str(raised.value).endswith("spec.replicas is a string, not an integer")


class Retention(NamedTuple):
    why: str
    desired: dict[str, Any]
    observed: dict[str, Any]
    want: dict[str, Any]


def labelled(value: str, **spec: Any) -> dict[str, Any]:
    manifest = a_workload(**spec)
    manifest["metadata"]["labels"] = {"resourcetemplate.karmada.io/retain-replicas": value}
    return manifest


def a_service(**spec: Any) -> dict[str, Any]:
    return an("v1", "Service", spec=spec)


def a_secret(kind: str, **data: str) -> dict[str, Any]:
    return an("v1", "Secret", type=kind, data=data)


def an_account(*secrets: str, pull: tuple[str, ...] = ()) -> dict[str, Any]:
    return an(
        "v1",
        "ServiceAccount",
        secrets=[{"name": name} for name in secrets],
        imagePullSecrets=[{"name": name} for name in pull],
    )


TOKEN = "kubernetes.io/service-account-token"
MOUNT = {"name": "token", "mountPath": "/var/run"}
RETENTIONS = [
    Retention(
        "replicas an autoscaler holds",
        labelled("true", replicas=2),
        a_workload(replicas=4),
        labelled("true", replicas=4),
    ),
    Retention(
        "replicas nobody holds", labelled("false", replicas=2), a_workload(replicas=4), labelled("false", replicas=2)
    ),
    Retention(
        "a service's address",
        a_service(),
        a_service(clusterIP="10.0.0.9", healthCheckNodePort=0),
        a_service(clusterIP="10.0.0.9"),
    ),
    Retention(
        "a service's health check port",
        a_service(),
        a_service(healthCheckNodePort=31000),
        a_service(healthCheckNodePort=31000),
    ),
    Retention(
        "not its node ports",
        a_service(ports=[{"nodePort": 1}]),
        a_service(ports=[{"nodePort": 2}]),
        a_service(ports=[{"nodePort": 1}]),
    ),
    Retention(
        "an account's secrets, after its own",
        an_account("a", "b"),
        an_account("b", "c", pull=("p",)),
        an_account("a", "b", "c", pull=("p",)),
    ),
    Retention("a token", a_secret(TOKEN), a_secret(TOKEN, token="x"), a_secret(TOKEN, token="x")),
    Retention("no other secret", a_secret("Opaque", a="1"), a_secret("Opaque", a="2"), a_secret("Opaque", a="1")),
    Retention(
        "a job's selector and pod labels",
        a_job(template={"metadata": {"labels": {"app": "x"}}}),
        a_job(selector={"matchLabels": {"controller-uid": "1"}}, template={"metadata": {"labels": {"job-name": "x"}}}),
        a_job(selector={"matchLabels": {"controller-uid": "1"}}, template={"metadata": {"labels": {"job-name": "x"}}}),
    ),
    Retention("a job nobody changed", a_job(parallelism=1), a_job(parallelism=2), a_job(parallelism=1)),
    Retention(
        "a claim's volume",
        an("v1", "PersistentVolumeClaim", spec={}),
        an("v1", "PersistentVolumeClaim", spec={"volumeName": "pv"}),
        an("v1", "PersistentVolumeClaim", spec={"volumeName": "pv"}),
    ),
    Retention(
        "a volume's claim",
        an("v1", "PersistentVolume", spec={}),
        an("v1", "PersistentVolume", spec={"claimRef": {"name": "c"}}),
        an("v1", "PersistentVolume", spec={"claimRef": {"name": "c"}}),
    ),
    Retention(
        "a pod's place, account, volumes and mounts",
        an(
            "v1",
            "Pod",
            spec={"volumes": [{"name": "own"}], "containers": [{"name": "a", "volumeMounts": []}, {"name": "b"}]},
        ),
        an(
            "v1",
            "Pod",
            spec={"nodeName": "n", "serviceAccountName": "sa", "containers": [{"name": "a", "volumeMounts": [MOUNT]}]},
        ),
        an(
            "v1",
            "Pod",
            spec={
                "nodeName": "n",
                "serviceAccountName": "sa",
                "containers": [{"name": "a", "volumeMounts": [MOUNT]}, {"name": "b"}],
            },
        ),
    ),
]


@each_row("case", RETENTIONS, ids=lambda case: case.why)
def test_retention(case: Retention) -> None:
    assert INTERPRETER.retain(case.desired, case.observed) == case.want


def test_retaining_replicas_a_member_has_not_is_an_error() -> None:
    with pytest.raises(InterpreterError) as raised:
        INTERPRETER.retain(labelled("true", replicas=2), a_workload())
    assert str(raised.value) == (
        "Deployment shop/x: Retain: label resourcetemplate.karmada.io/retain-replicas asks to keep the member's "
        "spec.replicas, which is no integer"
    )


class Sum(NamedTuple):
    why: str
    template: dict[str, Any]
    items: list[dict[str, Any]] | None
    want: Any


def ready(own: int, template: int, count: int = 1) -> dict[str, int]:
    counters = dict.fromkeys(("replicas", "readyReplicas", "updatedReplicas", "availableReplicas"), count)
    return {**counters, "generation": own, "observedGeneration": own, "resourceTemplateGeneration": template}


def a_claim(**fields: Any) -> dict[str, Any]:
    return an("v1", "PersistentVolumeClaim", **fields)


def a_balancer(**fields: Any) -> dict[str, Any]:
    return an("v1", "Service", spec={"type": "LoadBalancer"}, **fields)


def balanced(*addresses: dict[str, Any]) -> dict[str, Any]:
    return {"loadBalancer": {"ingress": list(addresses)}}


TWO = {"replicas": 2, "readyReplicas": 2, "updatedReplicas": 2, "availableReplicas": 2}
AT = "2025-01-01T00:00:00Z"
LATER = "2025-01-02T00:00:00Z"
COMPLETE = {"type": "Complete", "status": "True", "lastTransitionTime": AT}
FAILED = {"type": "Failed", "status": "True", "lastTransitionTime": LATER}
SUMS = [
    Sum("a deployment adds up", a_workload(), items(ready(1, 3), ready(1, 2)), TWO),
    Sum(
        "and is observed once every member has",
        a_workload(),
        items(ready(1, 3), ready(1, 4)),
        {**TWO, "observedGeneration": 3},
    ),
    Sum("a member that says nothing has not", a_workload(), items(ready(1, 3, 2), None), TWO),
    Sum(
        "without members it is observed",
        a_workload(status={"conditions": [1]}),
        [],
        {"conditions": [1], "observedGeneration": 3},
    ),
    Sum(
        "what has not changed stays as written",
        a_workload(status={"replicas": 0, "note": 1}),
        items(None),
        {"replicas": 0, "note": 1},
    ),
    Sum(
        "a stateful set compares with the member's own generation",
        a_workload("StatefulSet"),
        items({"replicas": 2, "generation": 5, "observedGeneration": 5, "resourceTemplateGeneration": 3}),
        {"replicas": 2, "availableReplicas": 0},
    ),
    Sum(
        "the worst phase of a pod, unreported is pending",
        an("v1", "Pod"),
        items({"phase": "Running"}, None),
        {"phase": "Pending"},
    ),
    Sum("failed beats all", an("v1", "Pod"), items({"phase": "Running"}, {"phase": "Failed"}), {"phase": "Failed"}),
    Sum("nothing asked yet changes no pod", an("v1", "Pod", status={"phase": "Running"}), None, {"phase": "Running"}),
    Sum(
        "a claim not bound everywhere", a_claim(), items({"phase": "Bound"}, {"phase": "Pending"}), {"phase": "Pending"}
    ),
    Sum("a claim lost anywhere", a_claim(), items({"phase": "Lost"}, {"phase": "Pending"}), {"phase": "Lost"}),
    Sum("a claim nobody reports", a_claim(), items(None), {"phase": "Bound"}),
    Sum(
        "volumes",
        an("v1", "PersistentVolume"),
        items({"phase": "Bound"}, {"phase": "Available"}),
        {"phase": "Available"},
    ),
    Sum(
        "volumes that are all released",
        an("v1", "PersistentVolume"),
        items({"phase": "Released"}),
        {"phase": "Released"},
    ),
    Sum(
        "a budget names the member of a disrupted pod",
        an("policy/v1", "PodDisruptionBudget"),
        items({"currentHealthy": 1, "disruptedPods": {"p": AT}}, {"currentHealthy": 2}),
        {
            "disruptionsAllowed": 0,
            "expectedPods": 0,
            "desiredHealthy": 0,
            "currentHealthy": 3,
            "disruptedPods": {"member1/p": AT},
        },
    ),
    Sum(
        "an autoscaler's replicas",
        an("autoscaling/v2", "HorizontalPodAutoscaler"),
        items({"currentReplicas": 1, "desiredReplicas": 2}, {"currentReplicas": 3, "desiredReplicas": 4}),
        {"currentReplicas": 4, "desiredReplicas": 6},
    ),
    Sum(
        "an autoscaler of which no member reports anything keeps no status",
        an("autoscaling/v2", "HorizontalPodAutoscaler"),
        items(None, {"currentReplicas": 0}),
        None,
    ),
    Sum(
        "addresses: names first, each once, ports together",
        a_balancer(),
        items(
            balanced({"ip": "2.2.2.2", "ports": [{"port": 80, "protocol": "TCP"}]}),
            balanced(
                {"hostname": "a"},
                {"ip": "2.2.2.2", "ports": [{"port": 79, "protocol": "TCP"}, {"port": 80, "protocol": "TCP"}]},
            ),
        ),
        balanced(
            {"hostname": "a"},
            {"ip": "2.2.2.2", "ports": [{"port": 79, "protocol": "TCP"}, {"port": 80, "protocol": "TCP"}]},
        ),
    ),
    Sum(
        "a service that is no balancer",
        an("v1", "Service", spec={"type": "ClusterIP"}),
        items(balanced({"ip": "1.1.1.1"})),
        None,
    ),
    Sum(
        "an ingress",
        an("networking.k8s.io/v1", "Ingress"),
        items(balanced({"ip": "1.1.1.1"}), balanced({"ip": "1.1.1.1"})),
        balanced({"ip": "1.1.1.1"}),
    ),
    Sum(
        "a cron job's active jobs and latest times",
        an("batch/v1", "CronJob"),
        items(
            {"active": [{"name": "a"}], "lastScheduleTime": AT}, {"active": [{"name": "b"}], "lastScheduleTime": LATER}
        ),
        {"active": [{"name": "a"}, {"name": "b"}], "lastScheduleTime": LATER},
    ),
    Sum(
        "a finished job is final",
        {**a_job(), "status": {"conditions": [COMPLETE]}},
        items({"failed": 1}),
        {"conditions": [COMPLETE]},
    ),
    Sum(
        "one failed job fails all, since the last member finished",
        a_job(),
        items({"succeeded": 1, "startTime": AT, "conditions": [COMPLETE]}, {"failed": 2, "conditions": [FAILED]}),
        {
            "succeeded": 1,
            "failed": 2,
            "conditions": [
                {
                    "type": "Failed",
                    "status": "True",
                    "reason": "JobFailed",
                    "message": "the job failed in member2",
                    "lastProbeTime": LATER,
                    "lastTransitionTime": LATER,
                }
            ],
        },
    ),
    Sum(
        "all complete jobs complete it, with the earliest start and the latest end",
        a_job(),
        items(
            {"succeeded": 1, "startTime": AT, "completionTime": LATER, "conditions": [COMPLETE]},
            {"succeeded": 2, "startTime": LATER, "completionTime": AT, "conditions": [COMPLETE]},
        ),
        {
            "succeeded": 3,
            "startTime": AT,
            "completionTime": LATER,
            "conditions": [
                {
                    "type": "Complete",
                    "status": "True",
                    "reason": "Completed",
                    "message": "the job is complete in every cluster",
                    "lastProbeTime": LATER,
                    "lastTransitionTime": LATER,
                }
            ],
        },
    ),
    Sum(
        "a job still running somewhere is neither",
        a_job(),
        items({"succeeded": 1, "conditions": [COMPLETE]}, {"active": 1}),
        {"succeeded": 1, "active": 1},
    ),
]


@each_row("case", SUMS, ids=lambda case: case.why)
def test_aggregation(case: Sum) -> None:
    wanted = {key: value for key, value in case.template.items() if key != "status"}
    assert INTERPRETER.aggregate_status(case.template, case.items) == (
        wanted if case.want is None else {**wanted, "status": case.want}
    )


class Report(NamedTuple):
    why: str
    observed: dict[str, Any]
    want: Any


def observed(kind: str, status: Any, generation: str = "7") -> dict[str, Any]:
    manifest = a_workload(kind, status=status)
    manifest["metadata"]["annotations"] = {GENERATION: generation}
    return manifest


OWN = {"generation": 3, "resourceTemplateGeneration": 7}
REPORTS = [
    Report(
        "a deployment's counters", observed("Deployment", {"replicas": 2, "conditions": [1]}), {**OWN, "replicas": 2}
    ),
    Report(
        "a stateful set's, without observedGeneration",
        observed("StatefulSet", {"observedGeneration": 3}),
        {**OWN, "replicas": 0, "availableReplicas": 0},
    ),
    Report("nothing without a status", a_workload(), None),
    Report("a balancer's addresses", a_balancer(status=balanced({"ip": "1.1.1.1"})), balanced({"ip": "1.1.1.1"})),
    Report("no other service's", an("v1", "Service", spec={"type": "NodePort"}, status=balanced()), None),
    Report("a job's progress", {**a_job(), "status": {"active": 1, "ready": 1}}, {"active": 1}),
    Report("any other kind's whole status", an("v1", "Pod", status={"phase": "Running"}), {"phase": "Running"}),
]


@each_row("case", REPORTS, ids=lambda case: case.why)
def test_reflection(case: Report) -> None:
    assert INTERPRETER.reflect_status(case.observed) == case.want


def test_a_status_without_the_templates_generation_is_an_error() -> None:
    with pytest.raises(InterpreterError) as raised:
        INTERPRETER.reflect_status(observed("Deployment", {"replicas": 1}, generation="new"))
    assert str(raised.value) == f"Deployment shop/x: InterpretStatus: annotation {GENERATION} is not an integer"


class Health(NamedTuple):
    why: str
    observed: dict[str, Any]
    want: bool


def rolled(updated: int, available: int, seen: int = 3) -> dict[str, Any]:
    status = {"observedGeneration": seen, "updatedReplicas": updated, "availableReplicas": available}
    return a_workload(replicas=2, status=status)


def daemon(wanted: int, updated: int, available: int) -> dict[str, Any]:
    status = {"observedGeneration": 3, "desiredNumberScheduled": wanted, "updatedNumberScheduled": updated}
    return a_workload("DaemonSet", status={**status, "numberAvailable": available})


HEALTHS = [
    Health("rolled out", rolled(2, 2), True),
    Health("not seen by its controller", rolled(2, 2, seen=2), False),
    Health("not all updated", rolled(1, 2), False),
    Health("not all available", rolled(2, 1), False),
    Health(
        "a replica set with all available",
        a_workload("ReplicaSet", replicas=2, status={"observedGeneration": 3, "availableReplicas": 2}),
        True,
    ),
    Health("a replica set with fewer", a_workload("ReplicaSet", replicas=2, status={"observedGeneration": 3}), False),
    Health("daemons everywhere", daemon(2, 2, 2), True),
    Health("daemons not updated everywhere", daemon(2, 1, 2), False),
    Health("daemons not available everywhere", daemon(2, 2, 1), False),
    Health("a balancer with an address", a_balancer(status=balanced({"hostname": "a"})), True),
    Health("a balancer without one", a_balancer(status=balanced()), False),
    Health("a service that needs none", an("v1", "Service", spec={"type": "ClusterIP"}), True),
    Health("an ingress without an address", an("networking.k8s.io/v1", "Ingress"), False),
    Health("a bound claim", a_claim(status={"phase": "Bound"}), True),
    Health("a pending claim", a_claim(status={"phase": "Pending"}), False),
    Health("a pod that is done", an("v1", "Pod", status={"phase": "Succeeded"}), True),
    Health(
        "a pod that runs",
        an("v1", "Pod", status={"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}),
        True,
    ),
    Health(
        "a pod not ready",
        an("v1", "Pod", status={"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}),
        False,
    ),
    Health(
        "a budget kept", an("policy/v1", "PodDisruptionBudget", status={"currentHealthy": 2, "desiredHealthy": 2}), True
    ),
    Health(
        "a budget broken",
        an("policy/v1", "PodDisruptionBudget", status={"currentHealthy": 1, "desiredHealthy": 2}),
        False,
    ),
    Health("what has no health", an("v1", "ConfigMap"), True),
]


@each_row("case", HEALTHS, ids=lambda case: case.why)
def test_health(case: Health) -> None:
    assert INTERPRETER.is_healthy(case.observed) is case.want


class Needed(NamedTuple):
    why: str
    manifest: dict[str, Any]
    want: list[str]


def claiming(*claims: str) -> dict[str, Any]:
    volumes = [{"persistentVolumeClaim": {"claimName": claim}} for claim in claims]
    return {"spec": {"volumes": volumes, "serviceAccountName": "default"}}


NEEDED = [
    Needed(
        "a workload's pods, sorted, each once",
        a_workload(template=claiming("b", "a", "b")),
        ["PersistentVolumeClaim a", "PersistentVolumeClaim b"],
    ),
    Needed(
        "not the claims a stateful set makes",
        a_workload(
            "StatefulSet", template=claiming("data", "other"), volumeClaimTemplates=[{"metadata": {"name": "data"}}]
        ),
        ["PersistentVolumeClaim other"],
    ),
    Needed(
        "a cron job's pods",
        an("batch/v1", "CronJob", spec={"jobTemplate": {"spec": {"template": claiming("a")}}}),
        ["PersistentVolumeClaim a"],
    ),
    Needed("a pod", an("v1", "Pod", **claiming("a")), ["PersistentVolumeClaim a"]),
    Needed(
        "an ingress' secrets", an("networking.k8s.io/v1", "Ingress", spec={"tls": [{"secretName": "s"}]}), ["Secret s"]
    ),
    Needed(
        "an imported service",
        an("multicluster.x-k8s.io/v1alpha1", "ServiceImport"),
        ["EndpointSlice ", "Service derived-x"],
    ),
    Needed("what refers to nothing", an("v1", "ConfigMap"), []),
]


@each_row("case", NEEDED, ids=lambda case: case.why)
def test_dependencies(case: Needed) -> None:
    found = INTERPRETER.dependencies(case.manifest)
    assert sorted(f"{dependency.kind} {dependency.name}" for dependency in found) == case.want
    assert {dependency.namespace for dependency in found} <= {"shop"}


def test_a_dependency_without_a_name_is_an_error() -> None:
    ingress = an("networking.k8s.io/v1", "Ingress", spec={"tls": [{"secretName": "s"}, {"hosts": ["a"]}]})
    with pytest.raises(InterpreterError) as raised:
        INTERPRETER.dependencies(ingress)
    assert (
        str(raised.value)
        == "Ingress shop/x: InterpretDependency: Secret it depends on has no name and no labelSelector"
    )
