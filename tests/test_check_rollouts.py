"""Warnings about rollouts: policies that hold nothing back, waves that are not as they seem, controls nobody hears."""

from collections.abc import Container, Iterable
from typing import Any

from reconciler.check.rollouts import rollout_problems, rollout_warnings
from reconciler.source.desired import Desired
from reconciler.source.loading import load_source
from reconciler.source.reading import SourceReading
from render.errors import Problem
from tests.build import a_cluster, a_deployment, as_bytes
from tests.living_fleet import START
from tests.sources import source_of
from tests.tables import each_row
from tests.test_failover import a_fleet
from tests.test_source_rollouts import CANARY, a_control, a_rollout

WEB = a_deployment("web", namespace="shop")
PARIS, ROME = a_cluster("paris", labels={"tier": "canary"}), a_cluster("rome", labels={"tier": "prod"})
REST = {"name": "rest", "rest": True}
ROLLOUT = {"kind": "RolloutPolicy", "namespace": "shop", "name": "web"}
HPA = {
    "apiVersion": "autoscaling/v2",
    "kind": "HorizontalPodAutoscaler",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}},
}
JOB = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "migrate", "namespace": "shop"},
    "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "it", "image": "it:1"}]}}},
}

WARNINGS: tuple[tuple[str, list[Any], list[str]], ...] = (
    ("nothing to say", [PARIS, ROME, WEB, a_rollout(waves=[CANARY, REST])], []),
    ("a policy without waves", [PARIS, WEB, a_rollout()], []),
    ("clusters that pull", [PARIS, a_cluster("rome", syncMode="Pull"), WEB, a_rollout()], []),
    ("no object", [PARIS, ROME, a_rollout(waves=[CANARY, REST])], [
        ("spec.resourceSelectors: no change goes out by this policy: it selects no object, or another one comes before"
        " it for all of them"),
    ]),
    ("another policy comes first", [PARIS, WEB, a_rollout(), a_rollout("a")], [
        ("spec.resourceSelectors: no change goes out by this policy: it selects no object, or another one comes before"
        " it for all of them"),
    ]),
    ("an autoscaler", [PARIS, HPA, a_rollout(selector={"apiVersion": "autoscaling/v2",
                                                      "kind": "HorizontalPodAutoscaler"})], [
        ("spec.resourceSelectors: HorizontalPodAutoscaler.autoscaling shop/web only scales others, which no rollout"
        " holds back"),
    ]),
    ("an empty wave", [ROME, WEB, a_rollout(waves=[CANARY, REST])], [
        "spec.waves[0]: no cluster is in wave canary, so nobody gets a change after it"
    ]),
    ("an empty wave that may be", [ROME, WEB, a_rollout(waves=[{**CANARY, "allowEmpty": True}, REST])], []),
    ("nobody is left", [PARIS, WEB, a_rollout(waves=[CANARY, REST])], []),
    ("two waves", [PARIS, ROME, WEB, a_rollout(
        waves=[CANARY, {"name": "all", "clusterAffinity": {"clusterNames": ["paris", "rome"]}}])], [
        "spec.waves[1]: paris would be in wave all, too, but an earlier wave takes it"
    ]),
    ("no wave", [PARIS, ROME, WEB, a_rollout(waves=[CANARY])], [
        "spec.waves: no wave takes rome: what none takes comes last, as wave others"
    ]),
    ("a freeze that is over", [PARIS, WEB, a_rollout(freezes=[
        {"until": "2026-03-01T08:00:00Z", "reason": "holidays"},
        {"until": "2026-03-01T08:00:01Z", "reason": "more"}])], [
        "spec.freezes[0]: is over, and holds nothing back"
    ]),
    ("a rollback of a Job", [PARIS, JOB, a_rollout(selector={"apiVersion": "batch/v1", "kind": "Job"},
                                                   onFailure="Rollback")], [
        "spec.onFailure: what Job.batch shop/migrate did does not go back: a Job that has run is not undone"
    ]),
    ("a rollback of a Deployment", [PARIS, WEB, a_rollout(onFailure="Rollback")], []),
    ("a control of nobody", [PARIS, ROME, WEB, a_control()], [
        "spec.rollout: there is no RolloutPolicy shop/web in the source, so only a rollout that it left hears of this"
    ]),
    ("a hurry that is not allowed", [PARIS, WEB, a_rollout(), a_control("Expedite", reason="on fire")], [
        "spec.verb: RolloutPolicy shop/web lets nobody expedite a change, so no rollout hears of this"
    ]),
    ("a control", [PARIS, ROME, WEB, a_rollout(waves=[CANARY, REST]), a_control("Approve", wave="canary")], []),
    ("an unknown wave", [PARIS, ROME, WEB, a_rollout(waves=[CANARY, REST]), a_control("Approve", wave="prod")], [
        "spec.wave: RolloutPolicy shop/web has no wave 'prod', so nothing is approved"
    ]),
    ("a control of no group", [PARIS, WEB, a_rollout(group={"by": "Object"}), a_control()], [
        "spec.rollout.group: RolloutPolicy shop/web makes groups, so no rollout hears of this"
    ]),
    ("a control of a group", [PARIS, WEB, a_rollout(), a_control(rollout={**ROLLOUT, "group": "team"})], [
        "spec.rollout.group: RolloutPolicy shop/web makes no groups, so no rollout hears of this"
    ]),
)  # fmt: skip


@each_row("why, documents, warnings", WARNINGS, ids=lambda row: row[0])
def test_what_does_not_do_what_it_seems_to_is_said(why: str, documents: list[Any], warnings: list[str]) -> None:
    assert warnings_about({"kubeconfigs": "kubeconfigs"}, *documents) == warnings, why


STUCK = "no change goes out to wave canary or after it: no pass learns whether paris is well"
FREE = "spec: keeps no gate: no pass learns whether any cluster is well"
WAVES = [CANARY, REST]
MAY_BE_EMPTY = [{**CANARY, "allowEmpty": True}, REST]
PULLING = a_cluster("paris", labels={"tier": "canary"}, syncMode="Pull")
GATED = {"gate": {"healthyFor": "1m"}}
UNKNOWN: tuple[tuple[str, dict[str, Any], Any, dict[str, Any], list[str], list[str]], ...] = (
    ("only rendered", {}, PARIS, {"waves": WAVES}, [f"spec.waves[0]: {STUCK}"], []),
    ("only rendered, without waves", {}, PARIS, {}, [], [FREE]),
    ("only rendered, with a gate", {}, PARIS, GATED, [FREE], []),
    ("only rendered, and not waited for", {}, PARIS, {"waves": MAY_BE_EMPTY}, [], [FREE]),
    ("only rendered, with a gate of a wave", {}, PARIS, {"waves": [{**MAY_BE_EMPTY[0], **GATED}, REST]}, [FREE], []),
    ("only others are reached", {"clusters": [{"name": "rome"}]}, PARIS, {"waves": WAVES},
     [f"spec.waves[0]: {STUCK}"], []),
    ("the first wave is reached", {"clusters": [{"name": "paris"}]}, PARIS, {"waves": WAVES}, [], []),
    ("an agent reports", {}, PULLING, {"waves": WAVES}, [], []),
    ("all are reached", {"kubeconfigs": "kubeconfigs"}, PARIS, {"waves": WAVES}, [], []),
)  # fmt: skip


@each_row("why, settings, paris, rollout, problems, warnings", UNKNOWN)
def test_a_gate_among_clusters_that_nobody_knows_of_is_a_problem(
    why: str, settings: dict[str, Any], paris: Any, rollout: dict[str, Any], problems: list[str], warnings: list[str]
) -> None:
    """It waits for ever, or it is not kept; where none is asked for, it is only said that there could be none."""
    documents = (paris, ROME, WEB, a_rollout(**rollout))
    assert problems_about(settings, *documents) == problems, why
    assert warnings_about(settings, *documents) == warnings, why


READY = {"apiVersion": "v1", "kind": "Node", "name": "a", "jsonPath": "{.status.phase}", "equals": "Ready"}
LIVE = {"gate": {"checks": [{"name": "ready", "object": READY}]}}
UNREACHED: tuple[tuple[str, dict[str, Any], Any, dict[str, Any], list[str]], ...] = (
    ("a cluster that an agent applies to", {"kubeconfigs": "kubeconfigs"}, PULLING, {"waves": WAVES, **LIVE}, [
        "spec.waves[0]: check ready asks paris, where no pass can look"
    ]),
    ("in the other wave", {"kubeconfigs": "kubeconfigs"}, PULLING, {"waves": [CANARY, {**REST, **LIVE}]}, []),
    ("without waves", {"kubeconfigs": "kubeconfigs"}, PULLING, LIVE, [
        "spec.gate.checks: check ready asks paris, where no pass can look"
    ]),
    ("all are reached", {"kubeconfigs": "kubeconfigs"}, PARIS, {"waves": WAVES, **LIVE}, []),
)  # fmt: skip


@each_row("why, settings, paris, rollout, problems", UNREACHED)
def test_a_check_of_what_is_in_clusters_that_no_pass_reaches_is_a_problem(
    why: str, settings: dict[str, Any], paris: Any, rollout: dict[str, Any], problems: list[str]
) -> None:
    assert problems_about(settings, paris, ROME, WEB, a_rollout(**rollout)) == problems, why


def test_a_cluster_that_passes_have_seen_is_reached_in_some_way() -> None:
    documents = (PARIS, ROME, WEB, a_rollout(waves=WAVES))
    assert problems_about({}, *documents, seen={"rome"}) == [f"spec.waves[0]: {STUCK}"]
    assert problems_about({}, *documents, seen={"paris"}) == []


def problems_about(settings: dict[str, Any], *documents: Any, seen: Container[str] = ()) -> list[str]:
    return _first_lines(rollout_problems(_desired(settings, documents), seen, None))


def warnings_about(settings: dict[str, Any], *documents: Any) -> list[str]:
    return _first_lines(rollout_warnings(_desired(settings, documents), None, START))


def _desired(settings: dict[str, Any], documents: Iterable[Any]) -> Desired:
    source = source_of({"all.yaml": as_bytes(list(documents)), "argosy.yaml": as_bytes([a_fleet(**settings)])})
    return load_source(source.files, SourceReading(source.read)).desired


def _first_lines(found: Iterable[Problem]) -> list[str]:
    return [str(each).split("\n")[0].removeprefix("all.yaml: ") for each in found]


ENTRIES: tuple[tuple[str, dict[str, Any], list[str]], ...] = (
    ("a freeze to come", {"freezes": [{"until": "2126-01-01T00:00:00Z", "reason": "audit"}]}, []),
    ("a freeze that is over", {"freezes": [{"until": "2020-01-01T00:00:00Z", "reason": "audit"}]}, [
        "spec.rollouts.freezes[0]: is over, and holds nothing back",
    ]),
    ("no such cluster", {"windows": [{"from": "09:00", "to": "10:00", "clusters": ["oslo"]}]}, [
        "spec.rollouts.windows[0]: is about no cluster of the fleet, and holds nothing back",
    ]),
    ("no such kind", {"windows": [{"from": "09:00", "to": "10:00", "kinds": ["Deployment"]}]}, [
        "spec.rollouts.windows[0]: is about no object of the source, and holds nothing back",
    ]),
)  # fmt: skip


@each_row("why, calendar, warnings", ENTRIES)
def test_a_calendar_that_holds_nothing_back_is_told(why: str, calendar: dict[str, Any], warnings: list[str]) -> None:
    found = warnings_about({"rollouts": calendar}, PARIS, ROME, WEB)
    assert [each.removeprefix("argosy.yaml: ") for each in found] == warnings, why


KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKy0"
NO_TWO = (
    "spec.waves[0]: no change gets past wave canary: 2 persons would have to approve it whose signatures are known,"
    " and there {}"
)
APPROVALS: tuple[tuple[str, dict[str, Any], dict[str, Any], list[str]], ...] = (
    ("enough", {"signers": [f"a {KEY}", f"b {KEY}b"]}, {"waves": [{**CANARY, "approvals": 2}, REST]}, []),
    ("nobody is known", {}, {"waves": [{**CANARY, "approvals": 2}, REST]}, [NO_TWO.format("are 0")]),
    ("one is known", {"signers": [f"a {KEY}"]}, {"waves": [{**CANARY, "approvals": 2}, REST]}, [
        NO_TWO.format("is 1"),
    ]),
    ("an approver is unknown", {"signers": [f"a {KEY}"]}, {"waves": [CANARY, REST], "approvers": ["a", "b"]}, [
        "spec.approvers: nobody knows the signature of b",
    ]),
    ("text is enough", {}, {"waves": [{**CANARY, "approval": True}, REST]}, []),
)  # fmt: skip


@each_row("why, settings, policy, warnings", APPROVALS)
def test_a_wave_that_nobody_can_approve_is_told(
    why: str, settings: dict[str, Any], policy: dict[str, Any], warnings: list[str]
) -> None:
    found = warnings_about({"kubeconfigs": "kubeconfigs", "rollouts": settings}, PARIS, ROME, WEB, a_rollout(**policy))
    assert found == warnings, why


def an_emergency(fleet: str) -> dict[str, Any]:
    rollout = {"kind": "Fleet", "name": fleet}
    return a_control(rollout=rollout, verb="Emergency", reason="orders are lost", wave=None)


EMERGENCIES: tuple[tuple[str, list[str], str, list[str]], ...] = (
    ("two persons are known", [f"a {KEY}", f"b {KEY}b"], "default", []),
    ("nobody is known", [], "default", [
        "spec.verb: nobody can confirm this: the signatures of 0 persons are known",
    ]),
    ("another fleet", [f"a {KEY}", f"b {KEY}b"], "other", [
        "spec.rollout: there is no Fleet other in the source, so only a rollout that it left hears of this",
    ]),
)  # fmt: skip


@each_row("why, signers, fleet, warnings", EMERGENCIES)
def test_an_emergency_that_nobody_hears_of_or_can_confirm_is_told(
    why: str, signers: list[str], fleet: str, warnings: list[str]
) -> None:
    assert warnings_about({"rollouts": {"signers": signers}}, PARIS, WEB, an_emergency(fleet)) == warnings, why
