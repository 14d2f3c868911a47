"""First contact with objects that are there already: adopted when equal, otherwise only when somebody said so."""

from copy import deepcopy
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from reconciler.deliver.cluster import apply_plan
from reconciler.deliver.fleet import ClusterJob, FleetOptions, apply_fleet
from reconciler.ledger.inventory import Inventory
from reconciler.members.exchange import JSON_PATCH
from reconciler.members.visits import MemberReach
from reconciler.plans.model import ClusterDesired, DesiredObject
from render.model import ObjectRef
from render.policy import ConflictResolution

from .applying import QUICK, Cluster, desired_objects, outcomes
from .build import a_config_map, a_deployment
from .fakes import FakeCluster

SAID = "work.karmada.io/conflict-resolution"


def settings(cluster: Cluster, **entries: str) -> dict[str, Any]:
    return a_config_map("settings", namespace=cluster.space, **entries)


def annotated(manifest: dict[str, Any], **annotations: str) -> dict[str, Any]:
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": annotations}}


def with_policy(manifest: dict[str, Any], resolution: ConflictResolution) -> Any:
    return DesiredObject(ref=ObjectRef.of(manifest), manifest=manifest, conflict_resolution=resolution)


def test_an_equal_object_is_adopted_without_changing_it(cluster: Cluster) -> None:
    cluster.create("configmaps", settings(cluster, a="1"))
    assert outcomes(cluster.apply(settings(cluster, a="1"))) == {"ConfigMap settings": "adopted Equal"}
    assert outcomes(cluster.apply(settings(cluster, a="1"))) == {"ConfigMap settings": "unchanged UpToDate"}


def test_a_different_object_is_not_touched(cluster: Cluster) -> None:
    before = cluster.create("configmaps", settings(cluster, a="theirs"))
    client = cluster.client()
    applied = cluster.apply(settings(cluster, a="1"), client=client)
    assert str(applied.results[0]) == (
        f"ConfigMap {cluster.space}/settings: conflict (NotOurs): "
        "it is in the cluster already, different and not ours (managers: somebody)\n"
        "  hint: delete or rename it there, or set conflictResolution: Overwrite in its policy,"
        " or take its fields over once: argosy apply --migrate-from somebody"
    )
    assert cluster.read("configmaps", "settings") == before
    assert [write for write in client.writes if write.endswith("settings")] == []


def with_more(cluster: Cluster) -> tuple[dict[str, Any], dict[str, Any]]:
    """A Deployment, and the same with one more container."""
    web = a_deployment("web", namespace=cluster.space)
    (container,) = web["spec"]["template"]["spec"]["containers"]
    more = deepcopy(web)
    more["spec"]["template"]["spec"]["containers"] = [{**container}, {"name": "debug", "image": "busybox"}]
    return web, more


def test_an_object_to_which_somebody_gave_more_in_a_list_is_another_one(cluster: Cluster) -> None:
    web, more = with_more(cluster)
    before = cluster.create("deployments", more, api="apis/apps/v1", manager="kubectl-create")
    (result,) = cluster.apply(web).results
    assert (result.action, result.reason) == ("conflict", "NotOurs")
    assert [change.path for change in result.changes] == ['.spec.template.spec.containers[name="debug"]']
    assert cluster.read("deployments", "web", "apis/apps/v1")["spec"] == before["spec"]
    more["spec"]["template"]["spec"]["containers"][0]["image"] = "nginx:9"
    cluster.edit("deployments", "web", more, api="apis/apps/v1", manager="somebody")
    (result,) = cluster.apply(web).results
    image = '.spec.template.spec.containers[name="web"].image'
    assert [(change.path, change.live) for change in result.changes] == [(image, "nginx:9")]


def test_a_server_is_asked_of_another_object_once(cluster: Cluster) -> None:
    """It is asked again once what is there, who owns it or what is wanted is otherwise."""
    api, client = "apis/apps/v1", cluster.client()
    web, more = with_more(cluster)
    cluster.create("deployments", more, api=api, manager="kubectl-create")

    def asked(wanted: dict[str, Any]) -> tuple[str, int]:
        before = len(client.writes)
        (result,) = cluster.apply(wanted, client=client).results
        said = client.writes[before:]
        return result.reason, sum(1 for write in said if write.endswith("deployments/web"))

    assert asked(web)[1] > 0
    assert (asked(web), asked(web)) == (("NotOurs", 0), ("NotOurs", 0))
    cluster.edit("deployments", "web", {"metadata": {"labels": {"by": "hand"}}}, api=api, manager="somebody")
    assert asked(web)[1] > 0
    assert asked(web) == ("NotOurs", 0)
    labelled = {**web, "metadata": {**web["metadata"], "labels": {**web["metadata"]["labels"], "by": "hand"}}}
    assert asked(labelled)[1] > 0
    assert asked(labelled) == ("NotOurs", 0)
    # Whoever only looks asks each time, for the answer shows what would change.
    held = Inventory(cluster=cluster.server.name, answered=cluster.answered)
    desired = ClusterDesired(cluster=cluster.server.name, commit="c0ffee", objects=desired_objects([labelled]))
    job = ClusterJob(desired=desired, inventory=held, options=cluster.options())
    (report,) = apply_fleet(
        [job], MemberReach(open_client=lambda _name, _deadline: client), FleetOptions(is_observing=True)
    )
    assert report.plan is not None
    (seen,) = report.plan.objects
    assert [change.path for change in seen.changes] == ['.spec.template.spec.containers[name="debug"]']
    assert asked(more)[0] == "Equal"


def test_what_a_controller_gave_it_is_no_difference_and_stays(cluster: Cluster) -> None:
    web, more = with_more(cluster)
    cluster.create("deployments", web, api="apis/apps/v1", manager="kubectl-create")
    before = cluster.apply_as("injector", "deployments", more, api="apis/apps/v1")
    for said in ("adopted Equal", "unchanged UpToDate"):
        assert outcomes(cluster.apply(web)) == {"Deployment.apps web": said}
        assert cluster.read("deployments", "web", "apis/apps/v1")["spec"] == before["spec"]


class Said(NamedTuple):
    why: str
    policy: ConflictResolution
    annotation: str
    want: str


SAYINGS = [
    Said("the policy says Overwrite", ConflictResolution.OVERWRITE, "", "adopted Overwrite"),
    Said("the template's annotation says so", ConflictResolution.ABORT, "overwrite", "adopted Overwrite"),
    Said("the annotation beats the policy", ConflictResolution.OVERWRITE, "abort", "conflict NotOurs"),
]


@pytest.mark.parametrize("case", SAYINGS, ids=lambda case: case.why)
def test_taking_over_is_for_the_policy_and_the_template_to_say(case: Said, cluster: Cluster) -> None:
    cluster.create("configmaps", settings(cluster, a="theirs", b="theirs"))
    manifest = settings(cluster, a="1")
    if case.annotation:
        manifest = annotated(manifest, **{SAID: case.annotation})
    applied = cluster.apply(with_policy(manifest, case.policy))
    assert outcomes(applied) == {"ConfigMap settings": case.want}
    is_taken = case.want.startswith("adopted")
    assert cluster.read("configmaps", "settings")["data"] == {"a": "1" if is_taken else "theirs", "b": "theirs"}


class Claimed(NamedTuple):
    why: str
    metadata: dict[str, Any]
    tool: str
    told: str


CLAIMS = [
    Claimed("a Helm release", {"annotations": {"meta.helm.sh/release-name": "shop"}}, "helm", "it belongs to helm"),
    Claimed("Argo CD", {"annotations": {"argocd.argoproj.io/tracking-id": "shop"}}, "argocd", "it belongs to argocd"),
    Claimed(
        "another set",
        {"labels": {"applyset.kubernetes.io/part-of": "applyset-other-v1"}},
        "applyset",
        "it belongs to another ApplySet",
    ),
]


@pytest.mark.parametrize("case", CLAIMS, ids=lambda case: case.why)
def test_what_another_tool_claims_is_refused_until_that_tool_is_named(case: Claimed, cluster: Cluster) -> None:
    theirs = settings(cluster, a="theirs")
    cluster.create("configmaps", {**theirs, "metadata": {**theirs["metadata"], **case.metadata}})
    wanted = with_policy(settings(cluster, a="1"), ConflictResolution.OVERWRITE)
    refused = cluster.apply(wanted)
    assert outcomes(refused) == {"ConfigMap settings": "conflict OtherTool"}
    assert refused.results[0].message == case.told
    allowed = cluster.apply(wanted, take_from=frozenset({case.tool}))
    assert outcomes(allowed) == {"ConfigMap settings": "adopted Overwrite"}


class TestMigration:
    """After ``kubectl apply`` its fields stay its own, so removed ones would stay for ever."""

    @staticmethod
    def applied_before(cluster: Cluster, **entries: str) -> None:
        manifest = settings(cluster, **entries)
        last = {"kubectl.kubernetes.io/last-applied-configuration": "{}"}
        cluster.create("configmaps", annotated(manifest, **last), manager="kubectl-client-side-apply")

    def test_its_fields_become_ours_on_request(self, cluster: Cluster) -> None:
        self.applied_before(cluster, a="1", dropped="x")
        migrate = frozenset({"kubectl-client-side-apply"})
        applied = cluster.apply(settings(cluster, a="2"), migrate_from=migrate)
        assert outcomes(applied) == {"ConfigMap settings": "adopted Migrated"}
        live = cluster.read("configmaps", "settings")
        assert live["data"] == {"a": "2"}
        assert "annotations" not in live["metadata"]
        assert [entry["manager"] for entry in live["metadata"]["managedFields"]] == [cluster.applyset.manager]
        again = cluster.apply(settings(cluster, a="2"), migrate_from=migrate)
        assert outcomes(again) == {"ConfigMap settings": "unchanged UpToDate"}

    def test_they_are_handed_over_in_one_patch_that_nobody_s_change_is_lost_in(self) -> None:
        cluster = Cluster(server=FakeCluster(), space="default")
        self.applied_before(cluster, a="1", dropped="x")
        version = cluster.read("configmaps", "settings")["metadata"]["resourceVersion"]
        client = cluster.client()
        cluster.apply(settings(cluster, a="2"), client=client, migrate_from=frozenset({"kubectl-client-side-apply"}))
        ours = {
            "manager": cluster.applyset.manager,
            "operation": "Apply",
            "apiVersion": "v1",
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:metadata": {"f:annotations": {}}, "f:data": {"f:a": {}, "f:dropped": {}}},
        }
        assert [request.body for request in client.requests if request.content_type == JSON_PATCH] == [
            [
                {"op": "replace", "path": "/metadata/resourceVersion", "value": version},
                {"op": "replace", "path": "/metadata/managedFields", "value": [ours]},
                {"op": "remove", "path": "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration"},
            ]
        ]

    def test_without_the_request_an_object_with_more_is_left_alone(self, cluster: Cluster) -> None:
        self.applied_before(cluster, a="1", dropped="x")
        before = cluster.read("configmaps", "settings")
        (result,) = cluster.apply(settings(cluster, a="1")).results
        assert (result.action, result.reason) == ("conflict", "NotOurs")
        assert [(change.path, change.live, change.want) for change in result.changes] == [(".data.dropped", "x", "")]
        assert cluster.read("configmaps", "settings") == before


def test_two_passes_at_once_come_to_the_same(cluster: Cluster) -> None:
    manifest = settings(cluster, a="1")
    _, one = cluster.plan([manifest])
    _, other = cluster.plan([manifest])
    assert outcomes(apply_plan(cluster.client(), one)) == {"ConfigMap settings": "created Missing"}
    assert outcomes(apply_plan(cluster.client(), other)) == {"ConfigMap settings": "configured AppearedMeanwhile"}
    assert outcomes(cluster.apply(manifest)) == {"ConfigMap settings": "unchanged UpToDate"}


@pytest.mark.parametrize("manager", ["kubectl-client-side-apply", "kubectl-create", "before-first-apply"])
def test_what_kubectl_made_is_overwritten_with_all_that_it_owns(manager: str, cluster: Cluster) -> None:
    """A key that left the manifest later stayed for ever, for kubectl owned it as well."""
    cluster.create("configmaps", settings(cluster, a="theirs", b="2", c="3"), manager=manager)

    def overwritten(**entries: str) -> tuple[dict[str, str], dict[str, str]]:
        applied = cluster.apply(with_policy(settings(cluster, **entries), ConflictResolution.OVERWRITE))
        assert [str(each) for result in applied.results for each in result.foreign] == []
        return outcomes(applied), cluster.read("configmaps", "settings")["data"]

    assert overwritten(a="1", c="3") == ({"ConfigMap settings": "adopted Overwrite"}, {"a": "1", "c": "3"})
    assert overwritten(a="1", c="3")[0] == {"ConfigMap settings": "unchanged UpToDate"}
    assert overwritten(c="3")[1] == {"c": "3"}


def test_what_other_tools_own_stays_when_an_object_is_overwritten(cluster: Cluster) -> None:
    cluster.create("configmaps", settings(cluster, a="theirs", b="2"), manager="somebody")
    applied = cluster.apply(with_policy(settings(cluster, a="1"), ConflictResolution.OVERWRITE))
    assert outcomes(applied) == {"ConfigMap settings": "adopted Overwrite"}
    assert cluster.read("configmaps", "settings")["data"] == {"a": "1", "b": "2"}


def test_defaults_of_a_deployment_that_kubectl_made_come_back_and_are_nobodys(cluster: Cluster) -> None:
    """They were told as added by kubectl with every pass, for kubectl's entry has them."""
    api, web = "apis/apps/v1", a_deployment("web", namespace=cluster.space)
    cluster.create("deployments", web, api=api, manager="kubectl-client-side-apply")
    web["spec"]["template"]["spec"]["containers"][0]["image"] = "nginx:9"
    for said in ("adopted Overwrite", "unchanged UpToDate"):
        applied = cluster.apply(with_policy(web, ConflictResolution.OVERWRITE))
        assert outcomes(applied) == {"Deployment.apps web": said}
        assert [each.path for result in applied.results for each in result.foreign] == []


@pytest.mark.parametrize("operation", ["Apply", "Update"])
def test_fields_of_a_manager_that_is_replaced_become_ours_also_where_they_differ(
    operation: str, cluster: Cluster
) -> None:
    """A manager that applied on the server's side kept them, and nothing said so."""
    cluster.apply(settings(cluster, a="1"))
    theirs = settings(cluster, a="theirs", b="2")
    if operation == "Apply":
        cluster.apply_as("ops", "configmaps", theirs)
    else:
        cluster.edit("configmaps", "settings", {"data": theirs["data"]}, manager="ops")
    (conflict,) = cluster.apply(settings(cluster, a="1")).results
    assert conflict.reason == "FieldManagerConflict"
    assert conflict.hint.endswith(", or take all of its fields over: argosy apply --migrate-from ops")
    applied = cluster.apply(settings(cluster, a="1"), migrate_from=frozenset({"ops"}))
    assert outcomes(applied) == {"ConfigMap settings": "configured Drifted"}
    assert cluster.read("configmaps", "settings")["data"] == {"a": "1"}
    assert outcomes(cluster.apply(settings(cluster, a="1"))) == {"ConfigMap settings": "unchanged UpToDate"}


def test_what_kubectl_alone_owns_is_shown_to_go_before_it_is_overwritten(cluster: Cluster) -> None:
    """The preview named nothing of it, though it is what nobody can get back; what the server fills in is not named."""
    api, (web, more) = "apis/apps/v1", with_more(cluster)
    more["spec"]["replicas"] = 7
    more["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 30
    cluster.create("deployments", more, api=api, manager="kubectl-create")
    seen = cluster.apply(with_policy(web, ConflictResolution.OVERWRITE), how=replace(QUICK, dry_run=True))
    paths = {".spec.replicas", '.spec.template.spec.containers[name="debug"]'}
    assert {each.path for result in seen.results for each in result.changes} >= paths
    applied = cluster.apply(with_policy(web, ConflictResolution.OVERWRITE))
    filled_in = ".spec.template.spec.terminationGracePeriodSeconds"
    assert {each.path for result in applied.results for each in result.changes} == (
        paths if cluster.is_real else {*paths, filled_in}
    )
    spec = cluster.read("deployments", "web", api)["spec"]["template"]["spec"]
    assert [each["name"] for each in spec["containers"]] == ["web"]


def test_a_dry_run_of_a_migration_says_what_the_apply_does(cluster: Cluster) -> None:
    """It called a conflict what the apply adopts."""
    theirs = settings(cluster, a="1", keep="me")
    cluster.create("configmaps", theirs, manager="kubectl-create")
    migrate = frozenset({"kubectl-create"})
    dry = cluster.apply(settings(cluster, a="2"), migrate_from=migrate, how=replace(QUICK, dry_run=True))
    assert cluster.read("configmaps", "settings")["data"] == {"a": "1", "keep": "me"}
    applied = cluster.apply(settings(cluster, a="2"), migrate_from=migrate)
    assert outcomes(dry) == outcomes(applied) == {"ConfigMap settings": "adopted Migrated"}
    assert cluster.read("configmaps", "settings")["data"] == {"a": "2"}
