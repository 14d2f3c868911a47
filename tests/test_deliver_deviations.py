"""Deviations: all that is not as the commit says has a line and a reason, in tables, JSON and the status branch."""

import json
import re
from typing import Any

import pytest
from msgspec.structs import replace

from reconciler.console.json_values import as_json
from reconciler.deliver.deviations import cluster_deviations, recorded_deviations, unconfirmed_removals, unused_managers
from reconciler.deliver.recreation import hint_for_immutable_field, is_recreation_allowed
from reconciler.deliver.reports import exit_code_of_reports, report_lines, report_text
from reconciler.deliver.results import ClusterReport, ClusterResult, ObjectResult
from reconciler.ledger.cluster import ClusterRecord, ClusterState, Deviation
from reconciler.ledger.inventory import ApplyOutcome
from reconciler.members.exchange import Failure, FailureKind
from reconciler.outputs.apply_reports import report_parts
from reconciler.outputs.cluster_status import recorded_cluster
from reconciler.outputs.document import plain_document
from reconciler.plans.model import Action, FieldChange, Plan, PlannedObject
from reconciler.record.recorded_status import RecordedStatus
from reconciler.reference.topics import load_topic
from reconciler.status.objects import cluster_text
from reconciler.status.staleness import MemberProgress
from render.model import ObjectRef

from .applying import QUICK, Cluster
from .build import a_config_map
from .fakes import FakeCluster

WEB = ObjectRef("apps", "Deployment", "shop", "web")
SHOP = ObjectRef("", "Namespace", "", "shop")
OLD = ObjectRef("", "ConfigMap", "shop", "old")
SCALED = FieldChange(path=".spec.replicas", change="Lost", live="5", want="3", manager="kube-controller-manager")
ADDED = FieldChange(path=".data.debug", change="Foreign", live="on", manager="kubectl-edit")
RESULTS = (
    ObjectResult(ref=WEB, action=Action.UNCHANGED, reason="UpToDate", yielded=(SCALED,), foreign=(ADDED,)),
    ObjectResult(
        ref=OLD, action=Action.DELETED, reason="Finalizing", message="it goes once its finalizers are done: x"
    ),
    ObjectResult(
        ref=SHOP,
        action=Action.KEPT,
        reason="NeedsConfirmation",
        message="deleting it may delete much more",
        hint="confirm it: --confirm Namespace/shop",
    ),
)


def a_report(*results: ObjectResult, **fields: Any) -> ClusterReport:
    plan = Plan(
        cluster="eu",
        objects=(PlannedObject(ref=WEB, action=Action.UNCHANGED),),
        deletions=tuple(PlannedObject(ref=ref, action=Action.PRUNE) for ref in (OLD, SHOP)),
    )
    applied = ClusterResult(cluster="eu", results=results, **{"outcome": ApplyOutcome.INCOMPLETE, **fields})
    return ClusterReport(cluster="eu", plan=plan, applied=applied)


def test_the_table_has_a_line_for_everything_that_is_not_as_committed() -> None:
    assert "".join(report_text([a_report(*RESULTS)])) == (
        "CLUSTER   UNCHANGED   WRITTEN   DELETED   KEPT   FAILED   STATE\n"
        "eu        1           0         0         2      0        Incomplete\n"
        "\n"
        "OBJECT                     CLUSTER   ACTION       REASON              MESSAGE\n"
        "Deployment.apps shop/web   eu        kept         Yielded             "
        "field manager 'kube-controller-manager' decides .spec.replicas\n"
        "Deployment.apps shop/web   eu        kept         Foreign             "
        "field manager 'kubectl-edit' added .data.debug\n"
        "Namespace shop             eu        kept         NeedsConfirmation   deleting it may delete much more\n"
        "ConfigMap shop/old         eu        finalizing   Finalizing          "
        "it goes once its finalizers are done: x\n"
        "\n"
        "hint for Foreign: if what it added is to go: argosy apply --migrate-from kubectl-edit\n"
        "hint for NeedsConfirmation: confirm it: --confirm Namespace/shop\n"
    )


def test_fields_that_one_manager_added_to_an_object_are_one_row() -> None:
    """Each pass had a row for each default of each Deployment that somebody once made with kubectl."""
    names = ("a", "b", "c", "d", "e")
    fields = tuple(FieldChange(path=f".spec.{name}", change="Foreign", manager="kubectl-edit") for name in names)
    others = (FieldChange(path=".spec.f", change="Foreign", manager="helm"),)
    web = ObjectResult(ref=WEB, action=Action.UNCHANGED, foreign=(*fields, *others))
    rows = [" ".join(line.split()) for line in "".join(report_text([a_report(web)])).splitlines()[4:]]
    shown = "Deployment.apps shop/web eu kept Foreign field manager"
    assert rows == [
        f"{shown} 'kubectl-edit' added .spec.a, .spec.b, .spec.c and 2 more",
        f"{shown} 'helm' states .spec.f, which the manifest does not",
        "",
        "hint for Foreign: if what it added is to go: argosy apply --migrate-from kubectl-edit",
        "hint for Foreign: if what it added is to go: argosy apply --migrate-from helm",
    ]


def test_what_failed_for_one_reason_is_one_row_and_stands_first() -> None:
    """A namespace that could not be made blocked forty objects in each cluster, and each of them had a row."""

    def failing(cluster: str) -> ClusterReport:
        refs = [ObjectRef("", "ConfigMap", "shop", f"c{number}") for number in range(40)]
        without: dict[str, Any] = {"action": Action.BLOCKED, "reason": "NoNamespace", "message": "no shop"}
        blocked = [ObjectResult(ref=ref, **without) for ref in refs]
        failed = ObjectResult(
            ref=SHOP, action=Action.FAILED, reason="Forbidden", message="may not create it", hint="ask for the right"
        )
        return replace(a_report(*RESULTS[1:], *blocked, failed), cluster=cluster)

    _, table, hints = "".join(report_text([failing(name) for name in ("eu", "rome", "us", "za")])).split("\n\n")
    assert [re.split(r" {3,}", line) for line in table.splitlines()] == [
        ["OBJECT", "CLUSTER", "ACTION", "REASON", "MESSAGE"],
        ["Namespace shop", "eu, rome, us and 1 more", "failed", "Forbidden", "may not create it"],
        ["ConfigMap shop/c0 and 39 more", "eu, rome, us and 1 more", "blocked", "NoNamespace", "no shop"],
        ["Namespace shop", "eu, rome, us and 1 more", "kept", "NeedsConfirmation", "deleting it may delete much more"],
        [
            "ConfigMap shop/old",
            "eu, rome, us and 1 more",
            "finalizing",
            "Finalizing",
            "it goes once its finalizers are done: x",
        ],
    ]
    assert hints == (
        "hint for Forbidden: ask for the right\nhint for NeedsConfirmation: confirm it: --confirm Namespace/shop\n"
    )


def test_a_deletion_that_a_guard_holds_has_its_reason_in_the_table() -> None:
    guarded = "30 of 40 objects would go (more than 10)"
    held = ObjectResult(ref=OLD, action=Action.KEPT, reason="Held", message=guarded)
    assert "".join(report_text([a_report(held, prune_hold=guarded)])).splitlines()[3:] == [
        "OBJECT               CLUSTER   ACTION   REASON   MESSAGE",
        "ConfigMap shop/old   eu        kept     Held     30 of 40 objects would go (more than 10)",
    ]


def test_the_log_tells_each_of_them() -> None:
    assert report_lines(a_report(*RESULTS)) == [
        "eu: ConfigMap shop/old: deleted (Finalizing): it goes once its finalizers are done: x",
        (
            "eu: Namespace shop: kept (NeedsConfirmation): deleting it may delete much more\n"
            "  hint: confirm it: --confirm Namespace/shop"
        ),
        "eu: Deployment.apps shop/web: field manager 'kube-controller-manager' decides .spec.replicas (Yielded)",
        "eu: Deployment.apps shop/web: field manager 'kubectl-edit' added .data.debug (Foreign)",
    ]


def test_json_has_an_object_for_each_of_them() -> None:
    plain = json.loads(as_json(report_parts([a_report(*RESULTS)])["eu"]))["objects"]
    field = {"path": ".spec.replicas", "live": "5", "want": "3", "manager": "kube-controller-manager"}
    added = {"path": ".data.debug", "live": "on", "want": "", "manager": "kubectl-edit"}
    assert plain[0] == {
        "object": "Deployment.apps shop/web",
        "action": "unchanged",
        "reason": "UpToDate",
        "message": "",
        "warnings": [],
        "yielded": [field],
        "foreign": [added],
    }
    assert [(each["object"], each["reason"]) for each in plain[1:]] == [
        ("ConfigMap shop/old", "Finalizing"),
        ("Namespace shop", "NeedsConfirmation"),
    ]
    assert plain[2]["hint"] == "confirm it: --confirm Namespace/shop"


def test_the_record_of_a_cluster_keeps_them_without_failures_of_works() -> None:
    failed = ObjectResult(ref=WEB, action=Action.CONFLICT, reason="NotOurs", message="it is not ours")
    kept = recorded_deviations(a_report(failed, RESULTS[2]))
    want = Deviation(ref=SHOP, action="kept", reason="NeedsConfirmation", message="deleting it may delete much more")
    assert kept == (want,)
    record = ClusterRecord(
        state=ClusterState(name="eu"), outcome="Incomplete", deviations=cluster_deviations(a_report(*RESULTS))
    )
    content = record.content()
    assert ClusterRecord.read("", content) == record
    recorded = RecordedStatus(files={"clusters/eu.yaml": content})
    assert "".join(cluster_text("eu", recorded, MemberProgress(), now=0.0)).splitlines()[3:] == [
        "",
        "NOT AS COMMITTED           ACTION       REASON              MESSAGE",
        (
            "Deployment.apps shop/web   kept         Yielded             "
            "field manager 'kube-controller-manager' decides .spec.replicas"
        ),
        "Deployment.apps shop/web   kept         Foreign             field manager 'kubectl-edit' added .data.debug",
        "Namespace shop             kept         NeedsConfirmation   deleting it may delete much more",
        "ConfigMap shop/old         finalizing   Finalizing          it goes once its finalizers are done: x",
        "hint for Foreign: if what it added is to go: argosy apply --migrate-from kubectl-edit",
    ]
    assert plain_document(recorded_cluster("eu", recorded, MemberProgress()))["deviations"][0] == {
        "object": "Deployment.apps shop/web",
        "action": "kept",
        "reason": "Yielded",
        "message": "field manager 'kube-controller-manager' decides .spec.replicas",
        "field": ".spec.replicas",
        "manager": "kube-controller-manager",
    }


def test_a_refused_confirmation_says_so() -> None:
    occupied = ObjectResult(ref=SHOP, action=Action.KEPT, reason="NotEmpty", message="ConfigMap shop/theirs is in it")
    report = a_report(occupied)
    assert unconfirmed_removals(["Namespace/shop", "Namespace/shap", "Deployment/web", "ConfigMap/old"], [report]) == (
        "--confirm Namespace/shop: eu keeps Namespace shop (NotEmpty): ConfigMap shop/theirs is in it",
        "--confirm Namespace/shap: no chosen cluster has such an object to delete",
        "--confirm Deployment/web: eu must hold Deployment.apps shop/web, so it is not deleted",
    )
    down = Failure(kind=FailureKind.UNREACHABLE, message="refuses connections")
    for unseen in (None, Plan(cluster="us", refusal=down)):
        blind = ClusterReport(cluster="us", plan=unseen, failure=down)
        assert unconfirmed_removals(["Namespace/shap"], [report, blind]) == (
            "--confirm Namespace/shap: no chosen cluster that was looked at has such an object to delete",
        )


def test_a_manager_of_nothing_says_so_where_everything_was_looked_at() -> None:
    """--migrate-from took any word, took over nothing, and said nothing."""
    live = {"metadata": {"managedFields": [{"manager": "kubectl-edit"}, {"manager": "argosy"}]}}
    planned = PlannedObject(ref=WEB, action=Action.UNCHANGED, live=live)
    looked_at = ClusterReport(cluster="eu", plan=Plan(cluster="eu", objects=(planned,)))
    unused = "--migrate-from nonsense: no object of the chosen clusters has fields of such a manager"
    assert unused_managers(["kubectl-edit", "nonsense", "nonsense"], [looked_at]) == (
        f"{unused}\n  hint: known here: argosy, kubectl-edit",
    )
    assert unused_managers(["nonsense"], [ClusterReport(cluster="eu", plan=Plan(cluster="eu"))]) == (unused,)
    refused = Plan(cluster="us", refusal=Failure(kind=FailureKind.UNREACHABLE, message="refuses connections"))
    for unseen in (None, refused):
        assert unused_managers(["nonsense"], [looked_at, ClusterReport(cluster="us", plan=unseen)]) == ()
    assert unused_managers([], [looked_at]) == ()


def test_a_manager_that_wrote_through_a_subresource_alone_keeps_its_fields_and_the_option_says_so() -> None:
    fields = [{"manager": "kubectl", "operation": "Update", "subresource": "scale", "fieldsV1": {}}]
    item = PlannedObject(ref=WEB, action=Action.UNCHANGED, live={"metadata": {"managedFields": fields}})
    report = ClusterReport(cluster="eu", plan=Plan(cluster="eu", objects=(item,)))
    assert unused_managers(["kubectl"], [report]) == (
        "--migrate-from kubectl: it wrote through subresources alone, such as scale, and keeps what it wrote",
    )


def test_a_confirmation_that_leaves_out_a_namespace_says_so() -> None:
    claim = ObjectRef("", "PersistentVolumeClaim", "shop", "disk")
    waiting = ObjectResult(ref=claim, action=Action.KEPT, reason="NeedsConfirmation", message="more goes")
    planned = PlannedObject(ref=claim, action=Action.KEPT, reason="NeedsConfirmation")
    report = replace(a_report(waiting), plan=Plan(cluster="eu", deletions=(planned,)))
    assert unconfirmed_removals(["PersistentVolumeClaim/disk"], [report]) == (
        "--confirm PersistentVolumeClaim/disk: eu keeps PersistentVolumeClaim shop/disk (NeedsConfirmation): more goes",
    )


def test_a_cluster_that_waits_is_not_converged_and_holds_its_commit() -> None:
    """An object that waits for its finalizers in the second run, as in the first, keeps the cluster from converging."""
    cluster = Cluster(server=FakeCluster(), space="default")
    kept, going = a_config_map("kept", a="1"), a_config_map("going", a="1")
    going["metadata"]["finalizers"] = ["example.com/hold"]
    cluster.apply(kept, going)
    inventory = cluster.inventory(kept, going)
    how = type(QUICK)(settle_seconds=0.0)
    for reason in ("Finalizing", "Terminating"):
        applied = cluster.apply(kept, inventory=inventory, how=how)
        assert applied.results[-1].reason == reason
        assert (applied.outcome, applied.recorded_outcome) == (ApplyOutcome.INCOMPLETE, ApplyOutcome.CONVERGED)
        assert exit_code_of_reports([ClusterReport(cluster="member1", applied=applied)]) == 1
    cluster.edit("configmaps", "going", {"metadata": {"finalizers": None}})
    cluster.server.request("DELETE", cluster.path("configmaps", "going"))
    assert cluster.apply(kept, inventory=inventory, how=how).outcome is ApplyOutcome.CONVERGED


@pytest.mark.parametrize(
    ("kind", "hint"),
    [
        (
            "ConfigMap",
            'undo the change, rename the object, or let it be recreated: annotate it with argosy.dev/recreate: "true"',
        ),
        ("Service", "undo the change, or rename the object"),
    ],
)
def test_what_cannot_change_names_the_annotation_where_the_kind_allows_it(kind: str, hint: str) -> None:
    assert hint_for_immutable_field(ObjectRef("", kind, "shop", "web")) == hint


RECREATED = (
    ("", "ConfigMap"),
    ("", "Secret"),
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("batch", "Job"),
    ("", "Pod"),
    ("rbac.authorization.k8s.io", "RoleBinding"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
)
NEVER_RECREATED = (
    ("", "Namespace"),
    ("", "PersistentVolume"),
    ("", "PersistentVolumeClaim"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
)


def test_the_kinds_that_may_be_recreated_are_those_that_the_reference_names() -> None:
    metadata = {"annotations": {"argosy.dev/recreate": "true"}}
    planned = {
        (group, kind): PlannedObject(
            ref=ObjectRef(group, kind, "shop", "web"),
            action=Action.CONFIGURED,
            uid="u",
            manifest={"metadata": metadata},
        )
        for group, kind in (*RECREATED, *NEVER_RECREATED)
    }
    assert tuple(kind for kind, each in planned.items() if is_recreation_allowed(each)) == RECREATED
    entries = (entry for section in load_topic("annotations").sections for entry in section.entries)
    about = next(entry.about for entry in entries if entry.name == "argosy.dev/recreate")
    names = [kind for _, kind in RECREATED]
    assert f" This is for {', '.join(names[:-1])} and {names[-1]};" in about


def test_a_change_of_what_cannot_change_tells_all_three_ways_out() -> None:
    cluster = Cluster(server=FakeCluster(), space="default")
    cluster.apply({**a_config_map("fixed", a="1"), "immutable": True})
    applied = cluster.apply({**a_config_map("fixed", a="2"), "immutable": True})
    assert str(applied.results[0]) == (
        "ConfigMap default/fixed: failed (Immutable): data: Forbidden: field is immutable when `immutable` is set\n"
        "  hint: undo the change, rename the object, or let it be recreated: "
        'annotate it with argosy.dev/recreate: "true"'
    )


def test_a_cluster_that_is_too_busy_for_ever_is_one_that_could_not_be_reached() -> None:
    busy = Failure(kind=FailureKind.THROTTLED, message="Too many requests")
    well = ClusterResult(cluster="us", outcome=ApplyOutcome.CONVERGED)
    reports = [ClusterReport(cluster="eu", failure=busy), ClusterReport(cluster="us", applied=well)]
    assert exit_code_of_reports(reports) == 7
