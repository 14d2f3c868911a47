"""Objects with equal statuses in many clusters are interpreted once; all others are interpreted by themselves."""

from copy import deepcopy
from itertools import product
from typing import Any, NamedTuple

from reconciler.deliver.results import ObjectResult
from reconciler.observe.findings import Finding
from reconciler.plans.allocated_fields import ALLOCATED
from reconciler.plans.model import Action, PlannedObject
from reconciler.record.work_changes import WorkStatuses
from reconciler.record.work_status import (
    CONDITION_TIMES,
    Health,
    WorkInputs,
    have_equal_work_status,
    health_and_progress,
    work_status_of,
)
from render.documents import parse_documents
from render.interpreter import Interpreter
from render.kinds import KUBERNETES, BuiltInKind
from render.model import ObjectRef

from .build import a_deployment
from .tables import each_row

REF = ObjectRef("apps", "Deployment", "default", "web")
NOW = "2027-01-15T08:00:00Z"


def live(**metadata: Any) -> dict[str, Any]:
    """A Deployment as a member has it."""
    made = a_deployment("web", replicas=1)
    own = {"uid": "uid-1", "resourceVersion": "1", "managedFields": [{"time": NOW}], "creationTimestamp": NOW}
    made["metadata"] |= {**own, "generation": 1, **metadata}
    counters = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
    return {**made, "status": {**dict.fromkeys(counters, 1), "observedGeneration": 1}}


def subject(manifest: dict[str, Any] | None = None, **known: Any) -> WorkInputs:
    item = PlannedObject(ref=REF, action=Action.UNCHANGED, reason=known.pop("reason", ""))
    return WorkInputs(item, known.pop("result", None), live() if manifest is None else manifest, **known)


def with_status(**status: Any) -> dict[str, Any]:
    changed = deepcopy(live())
    changed["status"] |= status
    return changed


class Alike(NamedTuple):
    why: str
    other: WorkInputs
    want: bool


OWN = {"uid": "uid-2", "resourceVersion": "7", "managedFields": [], "creationTimestamp": "2026-01-01T00:00:00Z"}
ILL = Finding(about="Pod web-1", reason="CrashLoopBackOff")
CASES = [
    Alike("what is any object's own does not count", subject(live(**OWN)), True),
    Alike("labels could be read by a rule", subject(live(labels={"tier": "front"})), False),
    Alike("a status of its own", subject(with_status(readyReplicas=0)), False),
    Alike("a field the other has not", subject({**live(), "extra": 1}), False),
    Alike("an object being deleted", subject(live(deletionTimestamp=NOW)), False),
    Alike("one that failed", subject(result=ObjectResult(ref=REF, action=Action.FAILED, message="no")), False),
    Alike("one that is suspended", subject(reason="SuspendDispatching"), False),
    Alike("what ails its pods", subject(findings=(ILL,)), False),
    Alike("one that is not there", WorkInputs(PlannedObject(ref=REF, action=Action.UNCHANGED), None, None), False),
]


@each_row("case", CASES, ids=lambda case: case.why)
def test_are_alike(case: Alike) -> None:
    assert have_equal_work_status(subject(), case.other) is have_equal_work_status(case.other, subject()) is case.want


def a_service(address: str) -> WorkInputs:
    """A Service in a member, with an address of its own."""
    wanted = {"type": "LoadBalancer", "ports": [{"port": 80}]}
    metadata = {"name": "front", "namespace": "default"}
    want = {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": wanted}
    spec = {**wanted, "clusterIP": address, "clusterIPs": [address], "ports": [{"port": 80, "nodePort": 30001}]}
    found = {**want, "spec": spec, "status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}}
    item = PlannedObject(ref=ObjectRef.of(want), action=Action.UNCHANGED, reason="", manifest=want)
    return WorkInputs(item, None, found)


def test_addresses_that_clusters_allocate_are_in_no_status() -> None:
    judgements = WorkStatuses(Interpreter(), NOW)
    first = judgements.file(a_service("10.0.0.1"), None)
    assert first is not None
    assert judgements.file(a_service("10.0.0.2"), None) is first


def a_deployment_with(condition: dict[str, Any]) -> WorkInputs:
    """A Deployment in a member, with another condition than a progressing one."""
    want = a_deployment("web", replicas=1)
    found = with_status(conditions=[{"type": "Available", "status": "True", **condition}])
    return WorkInputs(PlannedObject(ref=REF, action=Action.UNCHANGED, reason="", manifest=want), None, found)


CONDITIONS: tuple[dict[str, Any], ...] = (
    {},
    {"status": "False", "reason": "MinimumReplicasUnavailable", "message": "no"},
    {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "late"},
    {"type": "ReplicaFailure", "reason": "FailedCreate", "message": "quota"},
)


@each_row("condition", CONDITIONS)
def test_times_in_the_conditions_of_a_deployment_are_in_no_status(condition: dict[str, Any]) -> None:
    timed = [a_deployment_with({**condition, **dict.fromkeys(CONDITION_TIMES, time)}) for time in (NOW, "2026")]
    plain = a_deployment_with(condition)
    assert [work_status_of(each, Interpreter()) for each in timed] == [work_status_of(plain, Interpreter())] * 2
    judgements = WorkStatuses(Interpreter(), NOW)
    first = judgements.file(timed[0], None)
    assert first is not None
    assert judgements.file(timed[1], None) is first
    other = judgements.file(a_deployment_with({"type": "ReplicaFailure", "reason": "Other"}), None)
    assert other is not None
    assert other is not first


def test_a_deployment_of_a_version_without_rules_reports_its_times() -> None:
    """The whole status is reported of such a one, as of any kind that nobody has a rule for."""
    older = [a_deployment_with({"lastUpdateTime": time}) for time in (NOW, "2026-01-01T00:00:00Z")]
    judgements, times = WorkStatuses(Interpreter(), NOW), list[Any]()
    for each in older:
        assert each.live is not None
        found = judgements.file(each._replace(live={**each.live, "apiVersion": "apps/v1beta2"}), None)
        assert found is not None
        (entry,) = found.manifest["status"]["manifestStatuses"]
        times += [condition["lastUpdateTime"] for condition in entry["status"]["conditions"]]
    assert times == [NOW, "2026-01-01T00:00:00Z"]


FIELDS_OF_ODD_TYPES: tuple[dict[str, Any], ...] = (
    {"f:spec": 5},
    {"f:spec": "f:ports"},
    {"f:spec": ["f:clusterIP"]},
    {"f:spec": {"f:ports": 5, "f:replicas": 5}},
    {"f:spec": {"f:ports": ["k:"]}},
    {"f:spec": {"f:ports": {'k:{"port":80}': "f:nodePort"}}},
)


@each_row("inputs, fields", product((a_service("10.0.0.1"), a_deployment_with({})), FIELDS_OF_ODD_TYPES))
def test_managed_fields_of_odd_types_keep_no_status_from_being_recorded(
    inputs: WorkInputs, fields: dict[str, Any]
) -> None:
    """The statuses of all members are made in one go, so that those of one must not stop it."""
    odd = deepcopy(inputs)
    assert odd.live is not None
    odd.live["metadata"]["managedFields"] = [{"manager": "other", "operation": "Update", "fieldsV1": fields}]
    found, known = (WorkStatuses(Interpreter(), NOW).file(each, None) for each in (odd, inputs))
    assert found is not None
    assert known is not None
    assert found.manifest["status"] == known.manifest["status"]


def test_a_rule_of_the_source_sees_what_a_cluster_allocated() -> None:
    healthy = "function InterpretHealth(object) return object.spec.clusterIP == '10.0.0.1' end"
    customization = {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": "front"},
        "spec": {
            "target": {"apiVersion": "v1", "kind": "Service"},
            "customizations": {"healthInterpretation": {"luaScript": healthy}},
        },
    }
    interpreter = Interpreter.of([customization])
    judgements = WorkStatuses(interpreter, NOW)
    files = [judgements.file(a_service(address), None) for address in ("10.0.0.1", "10.0.0.2")]
    assert [each.manifest["status"]["manifestStatuses"][0]["health"] for each in files if each] == [
        "Healthy",
        "Unhealthy",
    ]


def sample_at(path: tuple[str, ...]) -> Any:
    """A value with a field at a path; one that is a text is no value of any type that a rule may look for."""
    if not path:
        return "allocated"
    return [sample_at(path[1:])] if path[0] == "*" else {path[0]: sample_at(path[1:])}


@each_row("kind", [kind for kind in KUBERNETES if (kind.group, kind.kind) in ALLOCATED and kind.version])
def test_no_rule_of_our_own_asks_about_what_clusters_allocate(kind: BuiltInKind) -> None:
    """So a status made without these fields is the status."""
    identity = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "x", "namespace": "default"}}
    plain = PlannedObject(ref=ObjectRef.of(identity), action=Action.UNCHANGED, reason="", manifest=identity)
    without = work_status_of(WorkInputs(plain, None, identity), Interpreter())
    for path in ALLOCATED[kind.group, kind.kind]:
        live = {**identity, **sample_at(path)}
        assert work_status_of(WorkInputs(plain, None, live), Interpreter()) == without, path


def test_equal_objects_share_one_file_and_are_told_apart_by_what_was_recorded() -> None:
    judgements = WorkStatuses(Interpreter(), NOW)
    first = judgements.file(subject(), None)
    assert first is not None
    assert judgements.file(subject(live(**OWN)), None) is first
    recorded = parse_documents(first.content)[0].value
    assert judgements.file(subject(), recorded) is None
    assert judgements.file(subject(live(**OWN)), None) is first


class Unwell(NamedTuple):
    why: str
    live: dict[str, Any]
    reason: str
    message: str


def unwell(api_version: str, kind: str, spec: dict[str, Any], **status: Any) -> dict[str, Any]:
    metadata = {"name": "web", "namespace": "shop", "generation": 1}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec, "status": status}


def with_annotations(manifest: dict[str, Any], annotations: dict[str, str]) -> dict[str, Any]:
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": annotations}}


RULE = "its health rule says that it is not"
NO_ADDRESS = "it has no address: the controller of the {} has not given it one"
CONSUMER = "one that waits for its first consumer is bound when a Pod mounts it"
ARGO, KRUISE, RAY = "argoproj.io/v1alpha1", "apps.kruise.io/v1alpha1", "ray.io/v1"
HEAD = {"type": "HeadPodReady", "status": "False", "reason": "ErrImagePull", "message": "no\nimage"}
PROVISIONED = {"type": "RayClusterProvisioned", "status": "True"}
FAILURE = {"type": "RayClusterReplicaFailure", "status": "True", "reason": "FailedCreate"}
UNWELL = [
    Unwell(
        "an Ingress of a class",
        unwell("networking.k8s.io/v1", "Ingress", {"ingressClassName": "nginx"}),
        "NoAddress",
        NO_ADDRESS.format("IngressClass nginx"),
    ),
    Unwell(
        "an Ingress of no class",
        unwell("networking.k8s.io/v1", "Ingress", {}, loadBalancer={}),
        "NoAddress",
        NO_ADDRESS.format("default IngressClass"),
    ),
    Unwell(
        "an Ingress whose class is in its annotation",
        with_annotations(unwell("networking.k8s.io/v1", "Ingress", {}), {"kubernetes.io/ingress.class": "nginx"}),
        "NoAddress",
        NO_ADDRESS.format("class nginx, by its annotation kubernetes.io/ingress.class,"),
    ),
    Unwell(
        "a Service of a load balancer",
        unwell("v1", "Service", {"type": "LoadBalancer"}),
        "NoAddress",
        "its load balancer has no address yet",
    ),
    Unwell(
        "a claim",
        unwell("v1", "PersistentVolumeClaim", {"storageClassName": "fast"}, phase="Pending"),
        "NotBound",
        f"its phase is Pending: no volume of the StorageClass fast is bound to it; {CONSUMER}",
    ),
    Unwell(
        "a claim of the default class",
        unwell("v1", "PersistentVolumeClaim", {}, phase="Pending"),
        "NotBound",
        f"its phase is Pending: no volume of the default StorageClass is bound to it; {CONSUMER}",
    ),
    Unwell(
        "a claim that asks for no class",
        unwell("v1", "PersistentVolumeClaim", {"storageClassName": ""}, phase="Pending"),
        "NotBound",
        "its phase is Pending: no volume without a StorageClass is bound to it, and Kubernetes makes none for it",
    ),
    Unwell(
        "a claim whose class is in its annotation",
        with_annotations(
            unwell("v1", "PersistentVolumeClaim", {}, phase="Pending"),
            {"volume.beta.kubernetes.io/storage-class": "fast"},
        ),
        "NotBound",
        f"its phase is Pending: no volume of the StorageClass fast is bound to it; {CONSUMER}",
    ),
    Unwell(
        "a claim whose volume is gone",
        unwell("v1", "PersistentVolumeClaim", {}, phase="Lost"),
        "ClaimLost",
        "the volume it was bound to is gone",
    ),
    Unwell(
        "a disruption budget",
        unwell("policy/v1", "PodDisruptionBudget", {}, currentHealthy=1, desiredHealthy=2),
        "TooFewHealthy",
        "1 of the 2 pods that must be healthy are",
    ),
    Unwell("a phase", unwell(ARGO, "Workflow", {}, phase="Failed"), "NotHealthy", f"{RULE}: phase is Failed"),
    Unwell(
        "a phase further down",
        unwell("batch.volcano.sh/v1alpha1", "Job", {}, state={"phase": "Failed"}),
        "NotHealthy",
        f"{RULE}: state.phase is Failed",
    ),
    Unwell(
        "conditions, good ones left out",
        unwell(RAY, "RayCluster", {}, conditions=[HEAD, PROVISIONED, FAILURE]),
        "NotHealthy",
        f"{RULE}: HeadPodReady is False (ErrImagePull: no image); RayClusterReplicaFailure is True (FailedCreate)",
    ),
    Unwell(
        "three of what it lacks",
        unwell(RAY, "RayCluster", {}, conditions=[HEAD, FAILURE], state="failed", phase="Stuck"),
        "NotHealthy",
        f"{RULE}: HeadPodReady is False (ErrImagePull: no image); RayClusterReplicaFailure is True (FailedCreate);"
        " state is failed",
    ),
    Unwell(
        "no status at all",
        unwell("batch.volcano.sh/v1alpha1", "Job", {}),
        "NoStatus",
        f"{RULE}: it has no status, so that no controller has told how it is",
    ),
    Unwell("a status that says nothing", unwell(ARGO, "Workflow", {}, nodes={}), "NotHealthy", RULE),
]


@each_row("case", UNWELL)
def test_what_is_not_healthy_says_what_it_lacks(case: Unwell) -> None:
    health, state = health_and_progress(case.live, Interpreter())
    assert (health, state.reason, state.message) == (Health.UNHEALTHY, case.reason, case.message)


def test_equal_objects_whose_replicas_others_set_have_files_of_their_own() -> None:
    """Managed fields are any object's own: with them alone the first would speak for the second."""
    entry = {"operation": "Update", "apiVersion": "apps/v1", "fieldsV1": {"f:spec": {"f:replicas": {}}}}
    scaled = [live(managedFields=[{**entry, "manager": name}]) for name in ("kubectl", "keda-operator")]
    judgements = WorkStatuses(Interpreter(), NOW)
    files = [judgements.file(subject(manifest), None) for manifest in scaled]
    assert [file and file.manifest["live"]["manager"] for file in files] == ["kubectl", "keda-operator"]
