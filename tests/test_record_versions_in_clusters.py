"""The status branch says at which version of a rollout an object stands, and since when it is healthy there."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace

from reconciler.deliver.results import ClusterReport, ClusterResult
from reconciler.ledger.health import HealthFile, ReportedHealth
from reconciler.ledger.inventory import ApplyOutcome
from reconciler.plans.model import Action, DesiredObject, Plan, PlannedObject
from reconciler.record.recorded_status import RecordedStatus
from reconciler.record.status_changes import StatusInputs, status_files
from render.binding import Binding, Condition, KeptTargets
from render.model import ObjectRef, TargetCluster
from render.object_rollout import ClustersAtVersion, ObjectRollout

from .build import a_config_map
from .tables import each_row

COMMIT = "c" * 40
CONFIG = a_config_map("web", namespace="shop")
REF = ObjectRef.of(CONFIG)
ROLLOUT = ObjectRollout(
    policy="RolloutPolicy shop/web",
    target="v2",
    completed="v1",
    clusters=(ClustersAtVersion(version="v2", names=("oslo",)),),
)
BINDING = Binding(
    ref=REF, api_version="v1", targets=(TargetCluster("oslo"), TargetCluster("rome")), rollout=ROLLOUT, policy="p"
)


def a_report(
    cluster: str, commit: str = COMMIT, action: Action = Action.UNCHANGED, live: dict[str, Any] = CONFIG
) -> ClusterReport:
    desired = DesiredObject(ref=REF, manifest=CONFIG)
    item = PlannedObject(ref=REF, action=action, desired=desired, live=live)
    return ClusterReport(
        cluster=cluster,
        plan=Plan(cluster=cluster, commit=commit, objects=(item,)),
        applied=ClusterResult(cluster=cluster, commit=commit, outcome=ApplyOutcome.CONVERGED),
    )


def recorded_health(
    files: Mapping[str, bytes], binding: Binding, now: str, *reports: ClusterReport
) -> tuple[Mapping[str, bytes], tuple[ReportedHealth, ...]]:
    """Return the files of the status branch after a pass, and the health that it records of the object."""
    inputs = StatusInputs(now=now, members=frozenset({"oslo", "rome"}), commit=COMMIT, bindings={REF: binding})
    changed = status_files(RecordedStatus(files=files), inputs, reports)
    after = {path: content for path, content in {**files, **changed}.items() if content is not None}
    file = after.get(HealthFile.PATH)
    return after, HealthFile.read(HealthFile.PATH, file).health.workloads[REF] if file else ()


FIRST, SECOND, THIRD = (f"2026-11-27T10:0{minute}:00Z" for minute in (0, 1, 2))


def test_each_cluster_stands_at_the_version_that_it_was_given_since_it_was_seen_there() -> None:
    files, first = recorded_health({}, BINDING, FIRST, a_report("oslo"), a_report("rome"))
    assert first == (
        ReportedHealth(cluster="oslo", health="Healthy", since=FIRST, version="v2"),
        ReportedHealth(cluster="rome", health="Healthy", since=FIRST, version="v1"),
    )
    given = replace(
        BINDING, rollout=replace(ROLLOUT, clusters=(ClustersAtVersion(version="v2", names=("oslo", "rome")),))
    )
    files, second = recorded_health(files, given, SECOND, a_report("oslo"), a_report("rome"))
    assert second == (first[0], ReportedHealth(cluster="rome", health="Healthy", since=SECOND, version="v2"))
    assert recorded_health(files, given, THIRD, a_report("oslo"), a_report("rome")) == (files, second)


def test_what_was_not_given_or_could_not_be_applied_stands_at_no_version() -> None:
    files, before = recorded_health({}, BINDING, FIRST, a_report("oslo"))
    assert [each.version for each in before] == ["v2"]
    for report in (a_report("oslo", commit="d" * 40), a_report("oslo", action=Action.BLOCKED)):
        _, found = recorded_health(files, BINDING, SECOND, report)
        assert [(each.cluster, each.version, each.since) for each in found] == [("oslo", "", SECOND)]
    failed = Condition(type="Rendered", status="False", reason="OverrideFailed", clusters=("oslo",))
    kept = KeptTargets(clusters=("oslo",), replicas=0)
    for binding in (replace(BINDING, conditions=(failed,)), replace(BINDING, kept=(kept,))):
        _, found = recorded_health(files, binding, SECOND, a_report("oslo"))
        assert [each.version for each in found] == [""]


def test_of_what_no_rollout_asks_for_no_version_is_recorded() -> None:
    files, found = recorded_health({}, replace(BINDING, rollout=None), FIRST, a_report("oslo"), a_report("rome"))
    assert found == ()
    assert not any(b"rolledOut" in content for content in files.values())


class Look(NamedTuple):
    why: str
    status: Any
    action: Action
    version: str
    generation: int | None = 2


READY = {"type": "Ready", "status": "True"}
LOOKS = [
    Look("nothing is told of it", {}, Action.CONFIGURED, "v2"),
    Look("nothing but empty lists", {"loadBalancer": {"ingress": []}}, Action.CONFIGURED, "v2"),
    Look("as it was before the write", {"conditions": [READY]}, Action.CONFIGURED, ""),
    Look("as it was before it was taken over", {"conditions": [READY]}, Action.ADOPTED, ""),
    Look("as it is later", {"conditions": [READY]}, Action.UNCHANGED, "v2"),
    Look("of an object without generations", {"phase": "Bound"}, Action.CONFIGURED, "", None),
    Look("of an older generation", {"observedGeneration": 1}, Action.UNCHANGED, ""),
    Look("of the written generation, which the write left", {"observedGeneration": 2}, Action.CONFIGURED, "v2"),
    Look(
        "each condition of an older generation",
        {"conditions": [{**READY, "observedGeneration": 1}]},
        Action.UNCHANGED,
        "",
    ),
    Look(
        "one condition is of the newest",
        {"conditions": [{**READY, "observedGeneration": 1}, {"type": "Issuing", "observedGeneration": 2}]},
        Action.UNCHANGED,
        "v2",
    ),
    Look("nonsense", {"conditions": "none", "observedGeneration": "two"}, Action.UNCHANGED, "v2"),
    Look("no status at all", None, Action.CONFIGURED, "v2"),
]


@each_row("look", LOOKS)
def test_the_health_of_the_version_before_is_not_that_of_the_new_one(look: Look) -> None:
    metadata = {**CONFIG["metadata"], **({"generation": look.generation} if look.generation else {})}
    live = {**CONFIG, "metadata": metadata, **({"status": look.status} if look.status is not None else {})}
    _, found = recorded_health({}, BINDING, FIRST, a_report("oslo", action=look.action, live=live))
    assert [each.version for each in found] == [look.version]
