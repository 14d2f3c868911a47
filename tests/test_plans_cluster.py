"""Planning as a function: values in, decisions with their reasons out, nothing changed on the way."""

import copy
from typing import Any, NamedTuple

import pytest

from reconciler.ledger.inventory import Inventory
from reconciler.members.discovery import Discovery, Resource
from reconciler.members.exchange import Failure, FailureKind
from reconciler.plans.admission import Admission
from reconciler.plans.answers import answer_digest
from reconciler.plans.applyset import PART_OF, ApplySet
from reconciler.plans.cluster import held_object_of_desired, make_plan
from reconciler.plans.conflicts import Decision, OwnershipClaims, decide_conflicts, decide_on_foreign_field
from reconciler.plans.field_paths import parse_path, path_text
from reconciler.plans.model import Action, ClusterDesired, ObservedCluster, Plan, PlanOptions
from reconciler.plans.object import deletion_message
from reconciler.plans.ownership import DifferenceKind, FieldDifference, Owner, differences_from_wanted
from reconciler.plans.retention import manifest_with_retained_fields, scaled_objects
from render.model import ObjectRef

from .applying import desired_objects
from .build import a_config_map, a_deployment
from .fake_fields import server_side_applied
from .tables import each_row

VERBS = frozenset({"get", "list", "patch"})
CONFIG_MAP = Resource(group="", version="v1", kind="ConfigMap", plural="configmaps", is_namespaced=True, verbs=VERBS)
SERVED = Discovery(resources={("v1", "ConfigMap"): CONFIG_MAP})


def live(manifest: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    """An object as it is after we applied it."""
    labelled = {**manifest, "metadata": {**manifest["metadata"], "labels": {PART_OF: ApplySet().id}}}
    applied, _ = server_side_applied({"metadata": dict(manifest["metadata"])}, labelled, "argosy")
    applied["metadata"] |= {"uid": f"uid-{manifest['metadata']['name']}", "resourceVersion": "1", **metadata}
    return applied


def plan(
    wanted: list[dict[str, Any]],
    there: list[dict[str, Any]],
    *,
    answered: frozenset[str] | None = None,
    admission: str = "",
    **more: Any,
) -> Plan:
    """The plan for a cluster that holds ``there``, all of it once given by us."""
    observed = ObservedCluster(
        cluster="member1",
        uid="u",
        discovery=SERVED,
        live={ObjectRef.of(item): item for item in there},
        admission=Admission(digest=admission),
    )
    inventory = Inventory(cluster="member1", answered=answered).with_objects(
        held_object_of_desired(item, preserve=False) for item in desired_objects([*wanted, *there])
    )
    desired = ClusterDesired(cluster="member1", commit="c0ffee", objects=desired_objects(wanted))
    return make_plan(desired, more.pop("observed", observed), more.pop("inventory", inventory), PlanOptions(**more))


def told(made: Plan) -> list[str]:
    return [f"{item.ref.name} {item.action} {item.reason}" for item in (*made.objects, *made.deletions)]


def test_what_is_encrypted_is_not_sent() -> None:
    made = plan([{**a_config_map("a", x="ENC[x]"), "sops": {"mac": "ENC[y]"}}], [])
    assert [(item.action, item.reason, item.message, item.hint) for item in made.objects] == [
        (
            Action.BLOCKED,
            "Encrypted",
            "SOPS encrypted it, and nothing here decrypts it",
            "",
        )
    ]


def test_a_plan_is_in_the_order_of_stages_and_changes_nothing_it_reads() -> None:
    wanted = [a_config_map("b", x="1"), a_config_map("a", x="1")]
    there = [live(a_config_map("b", x="1")), live(a_config_map("c"))]
    before = copy.deepcopy((wanted, there))
    made = plan(wanted, there)
    assert told(made) == ["a created Missing", "b unchanged UpToDate", "c prune NotWanted"]
    assert made.writes == 2
    assert (wanted, there) == before


def test_a_cluster_that_could_not_be_looked_at_gets_no_plan() -> None:
    failure = Failure(kind=FailureKind.UNREACHABLE, message="it is gone")
    made = plan([a_config_map("a")], [], observed=ObservedCluster(cluster="member1", failure=failure))
    assert (made.refusal, made.objects, made.deletions) == (failure, (), ())


def test_one_object_under_two_groups_is_not_deleted_by_its_other_name() -> None:
    """An Ingress given as extensions/v1beta1 is the networking.k8s.io/v1 one."""
    there = live(a_config_map("a", x="1"))
    alias = {**there, "kind": "Alias"}
    observed = ObservedCluster(
        cluster="member1",
        uid="u",
        discovery=SERVED,
        live={ObjectRef.of(there): there, ObjectRef.of(alias): alias},
    )
    inventory = Inventory(cluster="member1").with_objects(
        held_object_of_desired(item, preserve=False) for item in desired_objects([there, alias])
    )
    made = plan([a_config_map("a", x="1")], [], observed=observed, inventory=inventory)
    assert told(made) == ["a unchanged UpToDate"]


class Going(NamedTuple):
    """An object that is being deleted, and what is said of it."""

    why: str
    said: str
    finalizers: tuple[str, ...] = ()
    kind: str = "Namespace"
    conditions: tuple[dict[str, str], ...] = ()


SINCE = "it is being deleted since 2026-11-25T21:20:47Z"
LEFT = "Some resources are remaining: configmaps. has 1 resource instances"
HELD = "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances"


GOING = (
    Going("finalizers of its own", f"{SINCE} and waits for its finalizers a, b", ("a", "b")),
    Going("nothing is known", SINCE),
    Going(
        "what is left in a Namespace",
        f"{SINCE}: {LEFT}; {HELD}",
        conditions=(
            {"type": "NamespaceDeletionContentFailure", "status": "False", "message": "All content deleted"},
            {"type": "NamespaceContentRemaining", "status": "True", "message": LEFT},
            {"type": "NamespaceFinalizersRemaining", "status": "True", "message": HELD},
        ),
    ),
    Going(
        "conditions of any other kind say other things",
        SINCE,
        kind="Deployment",
        conditions=({"type": "Available", "status": "True", "message": "it has enough"},),
    ),
)


@each_row("case", GOING, ids=lambda case: case.why)
def test_an_object_that_is_being_deleted_says_what_it_waits_for(case: Going) -> None:
    metadata = {"deletionTimestamp": "2026-11-25T21:20:47Z", "finalizers": list(case.finalizers)}
    live = {"kind": case.kind, "metadata": metadata, "status": {"conditions": list(case.conditions)}}
    assert deletion_message(live) == case.said


def test_a_group_that_does_not_answer_holds_pruning_and_blocks_its_kinds() -> None:
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "default"}}
    there = live(a_config_map("c"))
    observed = ObservedCluster(
        cluster="member1",
        uid="u",
        discovery=Discovery(resources=SERVED.resources, unavailable=frozenset({"example.com"})),
        live={ObjectRef.of(there): there},
    )
    inventory = Inventory(cluster="member1").with_objects(
        held_object_of_desired(item, preserve=False) for item in desired_objects([there, widget])
    )
    made = plan([widget], [], observed=observed, inventory=inventory)
    assert told(made) == ["w blocked APIUnavailable", "c kept Held"]
    assert made.prune_hold == "the API of example.com does not answer"


class Unserved(NamedTuple):
    version: str
    kind: str
    serves: tuple[tuple[str, str], ...]
    hint: str


DEFINE = "deliver its CustomResourceDefinition to this cluster as well"
LEFT_OUT = "it is a kind of Kubernetes itself: this cluster's version or its feature gates leave it out"
UNSERVED = [
    Unserved("example.com/v1", "Widget", (), DEFINE),
    Unserved("gateway.networking.k8s.io/v1", "HTTPRoute", (), DEFINE),
    Unserved("example.com/v1", "Ingress", (("networking.k8s.io", "v1"),), DEFINE),
    Unserved("apps/v1beta2", "Deployment", (("apps", "v1"),), "write apps/v1"),
    Unserved("extensions/v1beta1", "Ingress", (("networking.k8s.io", "v1"),), "write networking.k8s.io/v1"),
    Unserved("extensions/v1beta1", "Ingress", (), LEFT_OUT),
    Unserved("extensions/v1beta1", "Ingress", (("example.com", "v1"),), LEFT_OUT),
    Unserved("policy/v1beta1", "PodSecurityPolicy", (), LEFT_OUT),
    Unserved("resource.k8s.io/v1", "ResourceClaim", (), LEFT_OUT),
]


@each_row("case", UNSERVED)
def test_a_kind_that_is_not_served_gets_the_hint_that_helps(case: Unserved) -> None:
    """No definition brings a kind of Kubernetes: it has moved to another group, or the cluster leaves it out."""
    served = {
        (f"{group}/{version}", case.kind): Resource(
            group=group, version=version, kind=case.kind, plural="x", is_namespaced=True, verbs=CONFIG_MAP.verbs
        )
        for group, version in case.serves
    }
    there = ObservedCluster(cluster="member1", uid="u", discovery=Discovery(resources=served))
    metadata = {"name": "w", "namespace": "default"}
    made = plan([{"apiVersion": case.version, "kind": case.kind, "metadata": metadata}], [], observed=there)
    assert [(item.reason, item.hint) for item in made.objects] == [("KindNotServed", case.hint)]


def test_an_object_without_the_namespace_its_kind_needs_is_blocked() -> None:
    loose = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "loose"}}
    assert told(plan([loose], [])) == ["loose blocked NamespaceRequired"]


def test_an_object_that_cannot_be_planned_is_left_alone_and_no_other_with_it() -> None:
    """Somebody edited the rendered branch, or a server answers what nobody thought of."""
    broken = a_config_map("broken")
    listed = {**broken, "metadata": {**broken["metadata"], "labels": [{"a": "b"}]}}
    made = plan([a_config_map("a"), listed], [])
    assert told(made) == ["a created Missing", "broken blocked Malformed"]
    assert made.objects[1].message == "its manifest on the rendered branch has labels that are no map"
    odd = live(a_config_map("odd"), managedFields=[[]])
    made = plan([a_config_map("a"), a_config_map("odd")], [odd])
    assert told(made) == ["a created Missing", "odd blocked InternalError"]
    assert made.objects[1].message.startswith("an unexpected ")


def test_what_the_server_keeps_in_its_own_form_is_left_once_that_is_known() -> None:
    """A mutating webhook rewrites a value we own: applying it again and again would change nothing."""
    wanted = a_config_map("a", x="1")
    there = live(wanted)
    there["data"]["x"] = "rewritten"
    first = plan([wanted], [there])
    assert told(first) == ["a configured Changed"]
    manifest = first.objects[0].manifest
    assert manifest is not None
    found = differences_from_wanted(manifest, there, there["metadata"]["managedFields"][0]["fieldsV1"])
    known = frozenset({answer_digest(manifest, there, found, Admission(digest="webhooks"), wanted)})
    second = plan([wanted], [there], answered=known, admission="webhooks")
    assert told(second) == ["a unchanged Settled"]
    assert [(each.path, each.live, each.want, each.change) for each in second.objects[0].yielded] == [
        (".data.x", "rewritten", "1", "Rewritten")
    ]
    newer = a_config_map("a", x="2")
    assert told(plan([newer], [there], answered=known, admission="webhooks")) == ["a configured Changed"]
    assert told(plan([wanted], [there], answered=known, admission="other webhooks")) == ["a configured Changed"]


def test_another_version_of_the_kind_is_applied_anew() -> None:
    wanted = a_config_map("a", x="1")
    there = live(wanted)
    there["metadata"]["managedFields"][0]["apiVersion"] = "v0"
    assert told(plan([wanted], [there])) == ["a configured Changed"]


def test_a_custom_retain_is_heard() -> None:
    wanted, there = a_config_map("a", x="1"), live(a_config_map("a", x="kept"))

    def retain(desired: Any, observed: Any) -> Any:
        return {**desired, "data": observed["data"]}

    assert told(plan([wanted], [there], retain=retain)) == ["a unchanged UpToDate"]


def test_a_secret_shows_what_differs_and_no_value() -> None:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s", "namespace": "default"},
        "data": {"a": "bmV3"},
    }
    there = live({**secret, "data": {"a": "b2xk"}})
    resource = Resource(group="", version="v1", kind="Secret", plural="secrets", is_namespaced=True, verbs=VERBS)
    observed = ObservedCluster(
        cluster="member1",
        uid="u",
        discovery=Discovery(resources={("v1", "Secret"): resource}),
        live={ObjectRef.of(there): there},
    )
    made = plan([secret], [], observed=observed)
    changes = [(change.path, change.live, change.want) for change in made.objects[0].changes]
    assert changes == [(".data.a", "(hidden)", "(hidden)")]
    assert "bmV3" not in repr(made)
    assert "b2xk" not in repr(made)


class Contested(NamedTuple):
    why: str
    owner: Owner
    want: Decision
    want_overwriting: Decision
    field: str = ".spec.replicas"


CONTESTS = [
    Contested("kubectl edit is drift", Owner("kubectl-edit"), Decision.OVERWRITE, Decision.OVERWRITE),
    Contested("a scale by hand is drift", Owner("kubectl", "scale"), Decision.OVERWRITE, Decision.OVERWRITE),
    Contested(
        "an autoscaler's number is its own", Owner("kube-controller-manager", "scale"), Decision.YIELD, Decision.YIELD
    ),
    Contested("a scale by some script is its own", Owner("cron-scaler", "scale"), Decision.YIELD, Decision.YIELD),
    Contested(
        "a CA bundle is the injector's",
        Owner("cert-manager-cainjector"),
        Decision.YIELD,
        Decision.YIELD,
        '.webhooks[name="a"].clientConfig.caBundle',
    ),
    Contested(
        "any other field of a controller is a conflict",
        Owner("image-controller"),
        Decision.FAIL,
        Decision.OVERWRITE,
        ".spec.template.spec.containers",
    ),
    Contested("an operator is a stranger", Owner("web-operator"), Decision.FAIL, Decision.OVERWRITE),
    Contested("KEDA scales through the scale subresource alone", Owner("keda"), Decision.FAIL, Decision.OVERWRITE),
    Contested(
        "a custom resource has its replicas where its definition says",
        Owner("kube-controller-manager", "scale"),
        Decision.YIELD,
        Decision.YIELD,
        ".spec.size",
    ),
    Contested("Helm is a conflict", Owner("helm"), Decision.FAIL, Decision.OVERWRITE),
    Contested("Argo CD is no mere controller", Owner("argocd-controller"), Decision.FAIL, Decision.OVERWRITE),
    Contested("Karmada is no mere controller", Owner("karmada-controller-manager"), Decision.FAIL, Decision.OVERWRITE),
    Contested("a stranger is a conflict", Owner("somebody"), Decision.FAIL, Decision.OVERWRITE),
    Contested(
        "what was there before managers were recorded",
        Owner("before-first-apply"),
        Decision.OVERWRITE,
        Decision.OVERWRITE,
    ),
]


@each_row("case", CONTESTS, ids=lambda case: case.why)
def test_who_gets_a_field_with_two_owners(case: Contested) -> None:
    decisions = [
        decide_on_foreign_field(case.owner, parse_path(case.field), OwnershipClaims(overwrite=overwrite))
        for overwrite in (False, True)
    ]
    assert decisions == [case.want, case.want_overwriting]


@pytest.mark.parametrize("difference", [("spec",), ("spec", "podSelector")], ids=path_text)
def test_who_added_to_a_piece_has_it_also_where_nothing_around_it_is_ours(difference: tuple[str, ...]) -> None:
    """Only a server said so otherwise: what merely looks announced a change that the pass refuses."""
    spec = {"podSelector": {"matchLabels": {"a": "1"}}, "policyTypes": ["Ingress"]}
    want: dict[str, Any] = {"kind": "NetworkPolicy", "spec": spec}
    taken = {"manager": "mesh", "operation": "Update", "fieldsV1": {"f:spec": {"f:podSelector": {}}}}
    selector = {"matchLabels": {"a": "1", "b": "2"}}
    there = {**want, "metadata": {"managedFields": [taken]}, "spec": {**spec, "podSelector": selector}}
    lost = (FieldDifference(difference, DifferenceKind.LOST),)
    decided = decide_conflicts(want, there, lost, OwnershipClaims(), ())
    assert [(change.path, change.manager) for change in decided.failed] == [(".spec.podSelector", "mesh")]


def test_who_added_to_a_piece_in_an_item_has_it_also_where_the_item_is_not_ours() -> None:
    want_one = {
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"a": "1"}},
    }
    key = 'k:{"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}'
    owned: dict[str, Any] = {"f:spec": {"f:topologySpreadConstraints": {key: {".": {}, "f:labelSelector": {}}}}}
    want: dict[str, Any] = {"kind": "Pod", "spec": {"topologySpreadConstraints": [want_one]}}
    live_one = {**want_one, "labelSelector": {"matchLabels": {"a": "1", "b": "2"}}}
    taken = {"manager": "mesh", "operation": "Update", "fieldsV1": owned}
    there = {**want, "metadata": {"managedFields": [taken]}, "spec": {"topologySpreadConstraints": [live_one]}}
    lost = (FieldDifference(("spec",), DifferenceKind.LOST),)
    decided = decide_conflicts(want, there, lost, OwnershipClaims(), ())
    place = '.spec.topologySpreadConstraints[topologyKey="zone",whenUnsatisfiable="DoNotSchedule"].labelSelector'
    assert [(change.path, change.manager) for change in decided.failed] == [(place, "mesh")]


def test_replicas_that_an_autoscaler_left_behind_are_nobodys() -> None:
    """Other scalers are not known by their objects, nor is the field in which a custom resource has its replicas."""
    alone = OwnershipClaims(is_unscaled=True)
    left_behind = Owner("kube-controller-manager", "scale")
    assert decide_on_foreign_field(left_behind, ("spec", "replicas"), alone) is Decision.OVERWRITE
    assert decide_on_foreign_field(left_behind, ("spec", "size"), alone) is Decision.YIELD
    assert decide_on_foreign_field(Owner("keda", "scale"), ("spec", "replicas"), alone) is Decision.YIELD


class Kept(NamedTuple):
    why: str
    kind: str
    group: str
    want: dict[str, Any]
    live: dict[str, Any]
    fields: dict[str, Any]
    sent: dict[str, Any]


KEPT = [
    Kept(
        "an allocated address nobody here owns",
        "Service",
        "",
        {"clusterIP": "10.0.0.1"},
        {"clusterIP": "10.0.0.9"},
        {},
        {},
    ),
    Kept(
        "an allocated address we own",
        "Service",
        "",
        {"clusterIP": "10.0.0.1"},
        {"clusterIP": "10.0.0.9"},
        {"f:clusterIP": {}},
        {"clusterIP": "10.0.0.9"},
    ),
    Kept("an address yet to be allocated", "Service", "", {"clusterIP": "None"}, {}, {}, {"clusterIP": "None"}),
    Kept(
        "a node port is the user's",
        "Service",
        "",
        {"ports": [{"nodePort": 1}]},
        {"ports": [{"nodePort": 2}]},
        {},
        {"ports": [{"nodePort": 1}]},
    ),
    Kept("a bound volume", "PersistentVolumeClaim", "", {"volumeName": "a"}, {"volumeName": "b"}, {}, {}),
    Kept(
        "of a bound claim what we own",
        "PersistentVolume",
        "",
        {"claimRef": {"name": "a"}},
        {"claimRef": {"name": "b", "uid": "u"}},
        {"f:claimRef": {"f:name": {}}},
        {"claimRef": {"name": "b"}},
    ),
    Kept(
        "a Job's generated selector",
        "Job",
        "batch",
        {"selector": {"matchLabels": {"a": "b"}}},
        {"selector": {"matchLabels": {"controller-uid": "1"}}},
        {},
        {"selector": {}},
    ),
    Kept("where a Pod was put", "Pod", "", {"nodeName": "a"}, {"nodeName": "b"}, {}, {}),
    Kept(
        "replicas without an autoscaler are the user's",
        "Deployment",
        "apps",
        {"replicas": 2},
        {"replicas": 5},
        {},
        {"replicas": 2},
    ),
]


@each_row("case", KEPT, ids=lambda case: case.why)
def test_what_the_cluster_decides_stays_as_it_has_it(case: Kept) -> None:
    ref = ObjectRef(case.group, case.kind, "shop", "x")
    want, there = ({"metadata": {"name": "x"}, "spec": spec} for spec in (case.want, case.live))
    before = copy.deepcopy((want, there))
    sent = manifest_with_retained_fields(ref, want, there, {"f:spec": case.fields}, autoscaled=False)
    assert sent["spec"] == case.sent
    assert (want, there) == before


def test_an_injected_certificate_stays() -> None:
    ref = ObjectRef("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "x")
    want = {"metadata": {"name": "x"}, "webhooks": [{"name": "a", "clientConfig": {"caBundle": "YQ==", "url": "u"}}]}
    there = {"metadata": {"name": "x"}, "webhooks": [{"name": "a", "clientConfig": {"caBundle": "Yg==", "url": "u"}}]}
    assert manifest_with_retained_fields(ref, want, there, {}, autoscaled=False)["webhooks"] == [
        {"name": "a", "clientConfig": {"url": "u"}}
    ]


def test_an_account_keeps_the_pull_secrets_it_was_given() -> None:
    ref = ObjectRef("", "ServiceAccount", "shop", "x")
    want = {"metadata": {"name": "x"}, "imagePullSecrets": [{"name": "a"}, {"name": "b"}]}
    there = {"metadata": {"name": "x"}, "imagePullSecrets": [{"name": "b"}, {"name": "c"}]}
    sent = manifest_with_retained_fields(ref, want, there, {}, autoscaled=False)
    assert sent["imagePullSecrets"] == [{"name": "a"}, {"name": "b"}, {"name": "c"}]


def test_pull_secrets_that_nobody_else_gave_leave_with_the_manifest() -> None:
    ref = ObjectRef("", "ServiceAccount", "shop", "x")
    want = {"metadata": {"name": "x"}, "imagePullSecrets": [{"name": "a"}]}
    own: dict[str, Any] = {"f:imagePullSecrets": {}}
    others: dict[str, Any] = {"f:imagePullSecrets": {}, "f:secrets": {}}
    live_secrets = [{"name": "a"}, {"name": "b"}]
    for owners, kept in (([own], want["imagePullSecrets"]), ([own, others], live_secrets)):
        metadata = {"name": "x", "managedFields": [{"fieldsV1": each} for each in owners]}
        there = {"metadata": metadata, "imagePullSecrets": live_secrets}
        assert manifest_with_retained_fields(ref, want, there, own, autoscaled=False)["imagePullSecrets"] == kept


def test_a_certificate_that_nobody_injected_is_the_manifests_to_change() -> None:
    ref = ObjectRef("apiregistration.k8s.io", "APIService", "", "x")
    want = {"metadata": {"name": "x"}, "spec": {"caBundle": "Yg=="}}
    there = {"metadata": {"name": "x"}, "spec": {"caBundle": "YQ=="}}
    assert manifest_with_retained_fields(ref, want, there, {"f:spec": {"f:caBundle": {}}}, autoscaled=False) == want
    assert manifest_with_retained_fields(ref, want, there, {"f:spec": {}}, autoscaled=False)["spec"] == {}


def test_a_token_secret_keeps_its_data() -> None:
    ref = ObjectRef("", "Secret", "shop", "x")
    want = {"metadata": {"name": "x"}, "type": "kubernetes.io/service-account-token", "data": {"a": "b"}}
    there = {**want, "data": {"token": "t"}}
    assert "data" not in manifest_with_retained_fields(ref, want, there, {}, autoscaled=False)


def a_scaler(api_version: str, scaler: str, **target: str) -> dict[str, Any]:
    metadata = {"name": "x", "namespace": "shop"}
    return {"apiVersion": api_version, "kind": scaler, "metadata": metadata, "spec": {"scaleTargetRef": target}}


def test_autoscalers_name_what_they_scale() -> None:
    """An autoscaler of Kubernetes has to say the API of its target, or it finds nothing; KEDA's has a default."""
    db = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db"}
    scalers = [
        a_scaler("autoscaling/v2", "HorizontalPodAutoscaler", **db),
        a_scaler("keda.sh/v1alpha1", "ScaledObject", name="web"),
        a_scaler("autoscaling/v2", "HorizontalPodAutoscaler", kind="Deployment", name="of-no-api"),
        a_scaler("example.io/v1", "ScaledObject", name="of-another"),
    ]
    assert scaled_objects([*scalers, a_deployment("other")]) == {
        ObjectRef("apps", "StatefulSet", "shop", "db"),
        ObjectRef("apps", "Deployment", "shop", "web"),
        ObjectRef("", "Deployment", "shop", "of-no-api"),
    }


def test_what_is_left_alone_is_counted_as_no_write() -> None:
    made = plan([a_config_map("a", x="1")], [live(a_config_map("a", x="1"))])
    assert (made.writes, made.objects[0].action) == (0, Action.UNCHANGED)
