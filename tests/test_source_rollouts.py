"""RolloutPolicies and RolloutControls in a source: what is refused where, what is read, and what they select."""

from typing import Any

from msgspec.structs import replace

from overrides.admission import admit
from reconciler.source.loading import Loaded, load_source
from reconciler.source.reading import SourceReading
from render.documents import emit, parse_documents
from render.limits import Limit
from render.model import ObjectRef, Template
from render.rollouts.parsing import parse_rollout_policy, plain_rollout_spec
from render.rollouts.policy import Gate
from render.rollouts.selection import RolloutIndex
from tests.build import a_cluster, a_deployment, as_bytes
from tests.sources import source_of
from tests.tables import each_row

DEPLOYMENTS = {"apiVersion": "apps/v1", "kind": "Deployment"}
CANARY = {"name": "canary", "clusterAffinity": {"labelSelector": {"matchLabels": {"tier": "canary"}}}}


def a_rollout(name: str = "web", *, namespace: str = "shop", selector: Any = None, **spec: Any) -> dict[str, Any]:
    is_namespaced = bool(namespace)
    return {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "RolloutPolicy" if is_namespaced else "ClusterRolloutPolicy",
        "metadata": {"name": name, **({"namespace": namespace} if is_namespaced else {})},
        "spec": {"resourceSelectors": [selector or DEPLOYMENTS], **spec},
    }


def a_control(verb: str = "Pause", **spec: Any) -> dict[str, Any]:
    rollout = {"kind": "RolloutPolicy", "namespace": "shop", "name": "web"}
    return {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "RolloutControl",
        "metadata": {"name": "stop"},
        "spec": {"rollout": rollout, "change": "abc", "verb": verb, "at": "2026-03-01T08:00:00Z", **spec},
    }


def loaded(*documents: Any) -> Loaded:
    source = source_of({"all.yaml": as_bytes(list(documents))})
    return load_source(source.files, SourceReading(source.read))


PROBLEMS: tuple[tuple[str, dict[str, Any], list[str]], ...] = (
    ("a policy of nothing but selectors", a_rollout(), []),
    ("every field", a_rollout(
        waves=[
            {**CANARY, "maxConcurrent": 1, "maxFailures": 0, "gate": {"deadline": "1h"}, "allowEmpty": True},
            {"name": "ten", "size": "10%", "approval": True},
            {"name": "all", "rest": True},
        ],
        priority=3, maxConcurrent="25%", maxFailures=1, maxUnreachable="10%",
        gate={"healthyFor": "10m"}, onDeadline="Wait", onFailure="Pause", onNewChange="Wait",
    ), []),
    ("an age of statuses", a_rollout(waves=[{**CANARY, "gate": {"maxStatusAge": "90s"}}], gate={"maxStatusAge": "5m"}),
     []),
    ("an age of no time", a_rollout(gate={"maxStatusAge": "0s"}), ["spec.gate.maxStatusAge: no status is ever so new"]),
    ("an age that is no time", a_rollout(waves=[{**CANARY, "gate": {"maxStatusAge": "new"}}]), [
        "spec.waves[0].gate.maxStatusAge: 'new' is no time in whole seconds"
    ]),
    ("a share", a_rollout(waves=[{**CANARY, "gate": {"share": 2}}], gate={"share": "80%"}), []),
    ("a share of nobody", a_rollout(gate={"share": 0}), ["spec.gate.share: must be between 1 and 2147483647, not 0"]),
    ("limits of each region", a_rollout(
        waves=[{**CANARY, "maxConcurrentPer": [{"field": "zone", "limit": "50%"}]}],
        maxConcurrentPer=[{"field": "region", "limit": 1}, {"field": "provider", "limit": 2}],
    ), []),
    ("a limit of each planet", a_rollout(maxConcurrentPer=[{"field": "planet", "limit": 1}]), [
        "spec.maxConcurrentPer[0].field: unknown value 'planet'"
    ]),
    ("windows and freezes", a_rollout(
        windows=[{"days": ["Mon", "Fri"], "from": "22:00", "to": "06:00", "timeZone": "Europe/Berlin"},
                 {"from": "12:00", "to": "13:00"}],
        freezes=[{"until": "2027-01-02T00:00:00Z", "reason": "holidays"},
                 {"from": "2027-03-01T00:00:00Z", "until": "2027-03-02T00:00:00Z", "reason": "a fair"}],
    ), []),
    ("groups by object", a_rollout(group={"by": "Object"}), []),
    ("groups by label", a_rollout(group={"by": "Label", "label": "example.com/team"}), []),
    ("groups by no label", a_rollout(group={"by": "Label"}), ["spec.group.label: required, but missing"]),
    ("a label of no groups", a_rollout(group={"label": "team"}), [
        "spec.group.label: means nothing unless objects are grouped by it"
    ]),
    ("groups by what is no label", a_rollout(group={"by": "Label", "label": "a b"}), [
        ("spec.group.label: 'a b' is no label key: use letters, digits, '-', '_' and '.' only, with a letter or digit"
         " at both ends")
    ]),
    ("moves step by step", a_rollout(moves="MakeBeforeBreak", surge="10%", maxUnavailable=1), []),
    ("moves at once", a_rollout(moves="AtOnce"), []),
    ("moves that nobody knows", a_rollout(moves="Slowly"), ["spec.moves: unknown value 'Slowly'"]),
    ("first deliveries as well", a_rollout(alsoFor=["FirstDeliveries", "Removals"]), []),
    ("placements as well", a_rollout(alsoFor=["Placements"]), []),
    (
        "placements as well, and moves of their own",
        a_rollout(alsoFor=["Placements"], moves="MakeBeforeBreak"),
        ["spec.moves: MakeBeforeBreak does not go together with alsoFor: Placements, by which waves free replicas"],
    ),
    ("scaling as well", a_rollout(alsoFor=["Scaling"]), ["spec.alsoFor[0]: unknown value 'Scaling'"]),
    ("groups by kind", a_rollout(group={"by": "Kind"}), ["spec.group.by: unknown value 'Kind'"]),
    ("a day of no week", a_rollout(windows=[{"days": ["Monday"], "from": "12:00", "to": "13:00"}]), [
        "spec.windows[0].days[0]: unknown value 'Monday'"
    ]),
    ("an hour of no day", a_rollout(windows=[{"from": "24:00", "to": "9"}]), [
        "spec.windows[0].from: '24:00' is no time of the day", "spec.windows[0].to: '9' is no time of the day"
    ]),
    ("a zone of nowhere", a_rollout(windows=[{"from": "12:00", "to": "13:00", "timeZone": "Mars"}]), [
        "spec.windows[0].timeZone: there is no time zone 'Mars'"
    ]),
    ("a freeze without an end", a_rollout(freezes=[{"reason": "x"}]), ["spec.freezes[0].until: required, but missing"]),
    ("a freeze that ends at no time", a_rollout(freezes=[{"until": "soon", "reason": "x"}]), [
        "spec.freezes[0].until: 'soon' is no time"
    ]),
    ("a freeze that ends before it begins", a_rollout(freezes=[
        {"from": "2027-01-02T00:00:00Z", "until": "2027-01-01T00:00:00Z", "reason": "x"}]), [
        "spec.freezes[0].until: is not after its beginning"
    ]),
    ("what no pass does is no field", a_rollout(traffic="10%"), ["spec.traffic: unknown field"]),
    ("a way past the waves for nobody", a_rollout(onNewChange="Expedite"), [
        "spec.approvers: required, but missing"
    ]),
    ("a way past the waves", a_rollout(onNewChange="Expedite", approvers=["ada@example.com"]), []),
    ("a way past the waves for no reason", a_control("Expedite"), ["spec.reason: required, but missing"]),
    ("a way past the waves for a reason", a_control("Expedite", reason="on fire"), []),
    ("a way back by waves", a_rollout(onFailure="Rollback", rollback="ReverseWaves"), []),
    ("a way back of nobody", a_rollout(rollback="ReverseWaves"), [
        "spec.rollback: means nothing where nothing goes back"
    ]),
    ("another namespace", a_rollout(selector={**DEPLOYMENTS, "namespace": "x"}), [
        "spec.resourceSelectors[0].namespace: 'x' is not the policy's own namespace, 'shop'"
    ]),
    ("a wave of nobody", a_rollout(waves=[{"name": "a"}]), ["spec.waves[0]: does not say which clusters it takes"]),
    ("the rest and more", a_rollout(waves=[{**CANARY, "rest": True}]), [
        "spec.waves[0].rest: means nothing beside clusterAffinity"
    ]),
    ("the rest is last", a_rollout(waves=[{"name": "a", "rest": True}, CANARY]), [
        "spec.waves[0].rest: leaves no cluster for the waves after it"
    ]),
    ("two waves of a name", a_rollout(waves=[CANARY, CANARY]), ["spec.waves[1].name: another wave is called 'canary'"]),
    ("the name of the implicit wave", a_rollout(waves=[{**CANARY, "name": "others"}]), [
        "spec.waves[0].name: 'others' is the wave of all clusters that no wave takes"
    ]),
    ("nobody at once", a_rollout(maxConcurrent=0), ["spec.maxConcurrent: must be between 1 and 2147483647, not 0"]),
    ("more than all", a_rollout(maxConcurrent="101%"), ["spec.maxConcurrent: must be at most 100%, not 101%"]),
    ("no number", a_rollout(maxFailures="some"), ["spec.maxFailures: must be a number or a percentage"]),
    ("a flag is no number", a_rollout(maxFailures=True), ["spec.maxFailures: must be a number or a percentage"]),
    ("no time", a_rollout(gate={"healthyFor": "soon"}), ["spec.gate.healthyFor: 'soon' is no time in whole seconds"]),
    ("half a second", a_rollout(gate={"healthyFor": "500ms"}), [
        "spec.gate.healthyFor: '500ms' is no time in whole seconds"
    ]),
    ("nobody is in time", a_rollout(gate={"healthyFor": "10m", "deadline": "5m"}), [
        "spec.gate.deadline: is over before any cluster can be through"
    ]),
    ("a field of a cluster", a_rollout(waves=[{"name": "a", "clusterAffinity": {
        "fieldSelector": {"matchExpressions": [{"key": "planet", "operator": "In", "values": ["x"]}]}}}]), [
        "spec.waves[0].clusterAffinity.fieldSelector: unknown key 'planet'"
    ]),
    ("a control", a_control(), []),
    ("an approval of no wave", a_control("Approve"), ["spec.wave: required, but missing"]),
    ("a wave of a pause", a_control(wave="canary"), ["spec.wave: means nothing to Pause, which is about all waves"]),
    ("a time that is none", a_control(at="now"), ["spec.at: 'now' is no time"]),
    ("a policy of no namespace", a_control(rollout={"kind": "RolloutPolicy", "name": "web"}), [
        "spec.rollout.namespace: required, but missing"
    ]),
    ("a policy of the fleet in a namespace", a_control(
        rollout={"kind": "ClusterRolloutPolicy", "name": "web", "namespace": "shop"}), [
        "spec.rollout.namespace: a ClusterRolloutPolicy is in no namespace"
    ]),
    ("an emergency for no reason", a_control("Emergency"), ["spec.reason: required, but missing"]),
    ("an emergency of the calendar", a_control(
        "Emergency", rollout={"kind": "Fleet", "name": "default"}, reason="on fire"), []),
    ("a pause of the calendar", a_control(rollout={"kind": "Fleet", "name": "default"}), [
        "spec.verb: Pause means nothing to what the calendar of argosy.yaml holds back"
    ]),
    ("approvals by nobody", a_rollout(waves=[{"name": "a", "rest": True, "approvals": 0}]), [
        "spec.waves[0].approvals: must be at least 1, not 0"
    ]),
    ("an unknown verb", a_control("Stop"), ["spec.verb: unknown value 'Stop'"]),
)  # fmt: skip


@each_row("why, document, problems", PROBLEMS, ids=lambda row: row[0])
def test_what_is_wrong_is_said_where_it_stands(why: str, document: dict[str, Any], problems: list[str]) -> None:
    assert [str(each).split("\n")[0] for each in admit(document).problems] == problems, why


def test_a_problem_names_its_file_and_its_line() -> None:
    assert [str(each).split("\n")[0] for each in loaded(a_rollout(maxConcurrent=0)).problems] == [
        "all.yaml:7: spec.maxConcurrent: must be between 1 and 2147483647, not 0"
    ]


def test_a_slip_in_the_kind_is_a_problem() -> None:
    slip = {**a_rollout(), "kind": "RolloutPolcy"}
    assert [str(each) for each in loaded(slip).problems] == [
        "all.yaml:2: kind: there is no 'RolloutPolcy' in argosy.dev\n  hint: did you mean 'RolloutPolicy'?"
    ]


def test_two_policies_of_one_name_are_a_problem() -> None:
    assert len(loaded(a_rollout(), a_rollout(priority=1)).problems) == 1


def test_what_is_said_for_all_waves_stands_in_each_that_says_nothing() -> None:
    waves = [{**CANARY, "gate": {"deadline": "1h"}, "maxConcurrent": 1}, {"name": "half", "size": "50%"}]
    gate = {"healthyFor": "10m", "maxStatusAge": "5m"}
    policies = loaded(a_rollout(waves=waves, gate=gate, maxConcurrent="25%")).desired.rollout_policies
    assert [(each.gate, each.max_concurrent, each.size) for each in policies[0].waves] == [
        (Gate(healthy_for=600, deadline=3600, max_status_age=300), Limit(1), None),
        (Gate(healthy_for=600, max_status_age=300), Limit(25, is_percentage=True), Limit(50, is_percentage=True)),
    ]


@each_row("why, document, problems", [row for row in PROBLEMS if not row[2] and "waves" not in row[0]])
def test_a_plan_is_written_and_read_back_as_it_is(why: str, document: dict[str, Any], problems: list[str]) -> None:
    if document["kind"] == "RolloutControl":
        return
    admitted = admit(document).object
    assert admitted is not None, (why, problems)
    policy = parse_rollout_policy(admitted)
    written = {"metadata": document["metadata"], "spec": plain_rollout_spec(policy)}
    assert parse_rollout_policy(written) == policy
    again = admit({**document, "spec": written["spec"]})
    assert (again.problems, again.object and parse_rollout_policy(again.object)) == ((), policy)


def test_a_wave_that_began_without_limits_is_read_back_without_those_of_an_edit() -> None:
    """The plan of a rollout has waves as they began beside what was edited meanwhile."""
    limits: dict[str, Any] = {
        "maxConcurrent": 1,
        "maxConcurrentPer": [{"field": "region", "limit": 1}],
        "gate": {"healthyFor": "1m", "deadline": "1h", "share": 1},
    }
    first = loaded(a_rollout(waves=[CANARY])).desired.rollout_policies[0]
    edited = loaded(a_rollout(waves=[CANARY], **limits)).desired.rollout_policies[0]
    plan = replace(edited, waves=first.waves, path="", document=0)
    written = emit({"metadata": {"name": "web", "namespace": "shop"}, "spec": plain_rollout_spec(plan)})
    assert parse_rollout_policy(parse_documents(written)[0].value) == plan


def test_a_control_is_about_one_policy_and_its_time_is_in_utc() -> None:
    control = loaded(a_control(at="2026-03-01T09:00:00+01:00", reason="on fire", by="ada")).desired.rollout_controls[0]
    assert (control.rollout, control.at, control.by) == ("RolloutPolicy shop/web", "2026-03-01T08:00:00Z", "ada")


PRECEDENCE = (
    ("the namespace's own", [a_rollout("fleet", namespace="", priority=9), a_rollout("own")], "RolloutPolicy shop/own"),
    ("the priority", [a_rollout("a"), a_rollout("b", priority=1)], "RolloutPolicy shop/b"),
    ("the name before the kind", [a_rollout("a"), a_rollout("b", selector={**DEPLOYMENTS, "name": "web"})],
     "RolloutPolicy shop/b"),
    ("the smaller name", [a_rollout("b"), a_rollout("a")], "RolloutPolicy shop/a"),
    ("another namespace's", [a_rollout("a", namespace="other")], "None"),
    ("another kind's", [a_rollout("a", selector={"apiVersion": "v1", "kind": "ConfigMap"})], "None"),
)  # fmt: skip


@each_row("why, policies, chosen", PRECEDENCE, ids=lambda row: row[0])
def test_the_policy_of_an_object_is_found_as_that_of_its_propagation(
    why: str, policies: list[dict[str, Any]], chosen: str
) -> None:
    desired = loaded(a_cluster("paris"), a_deployment("web", namespace="shop"), *policies).desired
    index = RolloutIndex(desired.rollout_policies)
    assert str(index.policy_for_template(desired.templates[0])) == chosen, why


SCALING = (
    ("autoscaling/v2", "HorizontalPodAutoscaler", False),
    ("keda.sh/v1alpha1", "ScaledObject", False),
    ("keda.sh/v1alpha1", "ScaledJob", True),
    ("batch/v1", "CronJob", True),
)


@each_row("api_version, kind, is_rolled_out", SCALING)
def test_what_only_scales_others_is_not_held_back(api_version: str, kind: str, is_rolled_out: bool) -> None:
    document = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "web", "namespace": "shop"}, "spec": {}}
    policies = loaded(a_rollout(selector={"apiVersion": api_version, "kind": kind})).desired.rollout_policies
    found = RolloutIndex(policies).policy_for_template(Template(ref=ObjectRef.of(document), manifest=document))
    assert (found is not None) == is_rolled_out
