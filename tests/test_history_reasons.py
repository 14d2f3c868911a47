"""The reasons of changes: each is what bindings or commits record, and nothing is guessed."""

from datetime import UTC, datetime
from typing import Any, NamedTuple

from msgspec.structs import replace

from reconciler.history.reasons import WavesByRollout, reasons_of_change
from reconciler.history.steps import RenderedStep
from reconciler.repository import CommitInfo
from render.binding import Binding, BindingSnapshot, DescheduledReplicas, GracefulEvictionTask, LastMove, Moving
from render.cron.rules import ScaledReplicas
from render.model import ObjectRef, TargetCluster
from render.object_rollout import ClustersAtVersion, ObjectRollout
from render.placement import Placement
from render.policy import Suspension
from render.selectors import ClusterAffinity

from .tables import each_row

POLICY = "PropagationPolicy shop/web"
BINDING = Binding(
    ref=ObjectRef("apps", "Deployment", "shop", "web"),
    api_version="apps/v1",
    policy=POLICY,
    replicas=4,
    targets=(TargetCluster("oslo", 2), TargetCluster("paris", 2)),
)
ROLLOUT = ObjectRollout(policy="RolloutPolicy shop/web", target="new", completed="old")
PARIS = ClustersAtVersion(version="new", names=("paris",))
RULE = ScaledReplicas(replicas=9, template=4, autoscaler="night", rule="up", due=datetime(2026, 3, 1, tzinfo=UTC))


MOVING = Moving(asked=(TargetCluster("paris", 4),))
OVERRIDES = """\
- policy: OverridePolicy shop/registry
  rule: spec.overrideRules[0]
  clusters: [paris]
  changes:
  - {path: /spec/image, operator: replace, before: "web:1", after: "eu.example.com/web:1"}
"""


def a_commit(id_: str, **trailers: str) -> CommitInfo:
    return CommitInfo(
        id=id_ * 40, tree=b"", parents=(), author="Ada", time=0, message="Render", trailers=tuple(trailers.items())
    )


STEP = RenderedStep(
    commit=a_commit("b"),
    before=a_commit("a"),
    source="new",
    source_before="old",
    members=frozenset({"oslo", "paris"}),
    members_before=frozenset({"oslo", "paris"}),
)


class Row(NamedTuple):
    """Fields of the binding before and after, and the reasons that are told."""

    why: str
    after: dict[str, Any]
    told: list[str]
    before: dict[str, Any] = {}  # noqa: RUF012 - nobody changes it
    step: RenderedStep = STEP
    waves: WavesByRollout = {}  # noqa: RUF012 - nobody changes it


def a_task(cluster: str, **more: Any) -> GracefulEvictionTask:
    return GracefulEvictionTask(from_cluster=cluster, **more)


ROWS = (
    Row("scaled", {"replicas": 6}, ["Scaled: scaled 4 -> 6"]),
    Row("scaled by cron", {"replicas": 9, "scaled": RULE}, ["ScaledByCron: scaled 4 -> 9 by rule up of night"]),
    Row(
        "claimed by another policy",
        {"policy": "ClusterPropagationPolicy all"},
        [f"PolicyChanged: claimed by ClusterPropagationPolicy all, and by {POLICY} before"],
    ),
    Row(
        "the placement was edited",
        {"placement": Placement(cluster_affinity=ClusterAffinity(cluster_names=("oslo",)))},
        [f"PlacementEdited: the placement of {POLICY} was edited"],
    ),
    Row(
        "the next affinity group",
        {"observed_affinity": "second"},
        ["AffinityChanged: affinity group first -> second"],
        before={"observed_affinity": "first"},
    ),
    Row("suspended", {"suspension": Suspension(dispatching=True)}, ["Suspended: suspended"]),
    Row("resumed", {}, ["Suspended: no longer suspended"], before={"suspension": Suspension(dispatching=True)}),
    Row(
        "an eviction begins",
        {"eviction_tasks": (a_task("paris", reason="TaintUntolerated", message="taint dead"),)},
        ["Evicted: evicted from paris: taint dead"],
    ),
    Row(
        "an eviction ends",
        {},
        ["EvictionEnded: the eviction from paris ended"],
        before={"eviction_tasks": (a_task("paris"),)},
    ),
    Row(
        "evicted at once",
        {"moved": LastMove(at="2026-03-01T00:00:00Z", clusters=("paris",), reason="ApplicationFailure")},
        ["Evicted: evicted from paris: ApplicationFailure"],
    ),
    Row(
        "descheduled",
        {"descheduled": DescheduledReplicas(at="2026-03-01T00:00:00Z", clusters=(TargetCluster("paris", 2),))},
        ["Descheduled: descheduled: 2 from paris could not start there"],
    ),
    Row("rebalanced", {"answered_requests": ("tidy",)}, ["Rebalanced: rebalanced, as tidy asked"]),
    Row(
        "rolled back",
        {"answered_requests": ("RollbackRequest/rollback-1@0123456789ab",)},
        ["RolledBack: rolled back to rendered commit 0123456789ab, as rollback-1 asked"],
    ),
    Row(
        "rebalanced by hand",
        {"reschedule_triggered_at": "2026-03-01T00:00:00Z"},
        ["Rebalanced: rebalanced, as asked at 2026-03-01T00:00:00Z"],
    ),
    Row(
        "required",
        {"required_by": (BindingSnapshot(namespace="shop", name="web-deployment"),)},
        ["Required: required by shop/web-deployment now"],
    ),
    Row(
        "follows what requires it",
        {"required_by": (BindingSnapshot(namespace="shop", name="web-deployment"),)},
        ["Required: follows shop/web-deployment, which moved"],
        before={
            "required_by": (
                BindingSnapshot(namespace="shop", name="web-deployment", clusters=(TargetCluster("oslo", 0),)),
            )
        },
    ),
    Row(
        "a cluster left",
        {"targets": (TargetCluster("oslo", 4),)},
        ["ClusterLeft: paris leaves the fleet"],
        step=replace(STEP, members=frozenset({"oslo"})),
    ),
    Row(
        "a cluster joined",
        {"targets": (TargetCluster("oslo", 2), TargetCluster("paris", 1), TargetCluster("rome", 1))},
        ["ClusterJoined: rome joins the fleet"],
        step=replace(STEP, members=frozenset({"oslo", "paris", "rome"})),
    ),
    Row(
        "a wave",
        {"rollout": replace(ROLLOUT, clusters=(PARIS,))},
        ["Rollout: wave canary of RolloutPolicy shop/web: paris got version new"],
        before={"rollout": replace(ROLLOUT, target="old")},
        waves={"RolloutPolicy shop/web": {"paris": "canary"}},
    ),
    Row(
        "a rollback",
        {"rollout": ROLLOUT},
        ["Rollout: RolloutPolicy shop/web: paris went back to version old"],
        before={"rollout": replace(ROLLOUT, clusters=(PARIS,))},
    ),
    Row(
        "a rollout is completed",
        {"rollout": replace(ROLLOUT, completed="new")},
        ["Rollout: RolloutPolicy shop/web let version new out everywhere"],
        before={"rollout": replace(ROLLOUT, clusters=(PARIS,))},
    ),
    Row(
        "a step of a move",
        {"targets": (TargetCluster("oslo", 1), TargetCluster("paris", 3)), "moving": MOVING},
        ["MoveStep: a step of its move, as replicas elsewhere got ready"],
        before={"moving": MOVING},
    ),
    Row(
        "the last step of a move",
        {"targets": (TargetCluster("paris", 4),)},
        ["MoveStep: a step of its move, as replicas elsewhere got ready, and ends"],
        before={"moving": MOVING},
    ),
    Row(
        "an override",
        {"applied_overrides": OVERRIDES},
        ["OverridesChanged: OverridePolicy shop/registry overrides otherwise than before"],
    ),
    Row(
        "an override writes another value",
        {"applied_overrides": OVERRIDES.replace("eu.example.com", "us.example.com")},
        ["OverridesChanged: OverridePolicy shop/registry overrides otherwise than before"],
        before={"applied_overrides": OVERRIDES},
    ),
    Row(
        "the same override of another template",
        {"applied_overrides": OVERRIDES.replace("web:1", "web:2")},
        ["SourceEdited: the source was edited"],
        before={"applied_overrides": OVERRIDES},
    ),
    Row("nothing recorded, another source", {}, ["SourceEdited: the source was edited"]),
    Row(
        "nothing recorded, the same source",
        {},
        ["Observed: the source is the same: what was observed of clusters decided"],
        step=replace(STEP, source_before="new"),
    ),
    Row(
        "nothing recorded, another engine",
        {},
        ["EngineChanged: another version of the engine made it"],
        step=replace(STEP, source_before="new", commit=a_commit("b", **{"Argosy-Version": "2"})),
    ),
    Row(
        "another source and another engine",
        {},
        ["SourceEdited: the source was edited, and another engine made it"],
        step=replace(STEP, commit=a_commit("b", **{"Argosy-Version": "2"})),
    ),
    Row(
        "the first commit that is here",
        {},
        ["Unknown: the history that is here begins with it"],
        step=replace(STEP, before=None, source_before="new"),
    ),
)


@each_row("row", ROWS, ids=lambda row: row.why)
def test_reasons_are_those_that_are_recorded(row: Row) -> None:
    found = reasons_of_change(replace(BINDING, **row.before), replace(BINDING, **row.after), row.step, row.waves)

    assert [f"{each.cause}: {each.message}" for each in found] == row.told


def test_an_object_that_comes_or_goes_says_by_which_policy() -> None:
    assert [str(each) for each in reasons_of_change(None, BINDING, STEP, {})] == [
        f"first rendered, claimed by {POLICY}"
    ]
    assert [str(each) for each in reasons_of_change(BINDING, None, STEP, {})] == [
        f"no longer rendered: the source has no such object, or nothing claims it; {POLICY} claimed it"
    ]
