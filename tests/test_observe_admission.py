"""The webhooks and policies of a cluster may change what is written, of the kinds that their rules are about."""

from typing import Any, NamedTuple

from reconciler.members.discovery import Resource, discover_served_kinds
from reconciler.members.exchange import Failure, FailureKind
from reconciler.observe.admission import observe_admission
from reconciler.plans.admission import Admission

from .fakes import FakeCluster
from .memory_fleet import put
from .tables import each_row

GROUP = "admissionregistration.k8s.io"
KINDS = [
    (f"{GROUP}/v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", False),
    (f"{GROUP}/v1", "MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings", False),
    (f"{GROUP}/v1", "MutatingAdmissionPolicy", "mutatingadmissionpolicies", False),
]
DEPLOYMENTS = Resource(group="apps", version="v1", kind="Deployment", plural="deployments", is_namespaced=True)


def looked_at(member: FakeCluster) -> Admission:
    discovery = discover_served_kinds(member)
    assert not isinstance(discovery, Failure)
    return observe_admission(member, discovery)


def with_object(member: FakeCluster, plural: str, **content: Any) -> None:
    manifest = {"metadata": {"name": "x", "resourceVersion": "7"}, **content}
    kind = next(each[1] for each in KINDS if each[2] == plural)
    put(member, f"{plural}.{GROUP}", "", {"apiVersion": f"{GROUP}/v1", "kind": kind, **manifest})


class Ruled(NamedTuple):
    groups: Any
    resources: Any
    may_change: bool


@each_row(
    "case",
    [
        Ruled(["apps"], ["deployments"], True),
        Ruled(["*"], ["*"], True),
        Ruled(["apps"], ["*/*"], True),
        Ruled(["apps"], ["deployments/scale"], True),
        Ruled(["apps"], ["statefulsets"], False),
        Ruled([""], ["deployments"], False),
        Ruled(None, ["deployments"], False),
        Ruled("apps", 7, False),
    ],
    ids=repr,
)
def test_a_rule_is_about_the_kinds_that_it_names(case: Ruled) -> None:
    rule = {"apiGroups": case.groups, "resources": case.resources}
    for plural, content in (
        ("mutatingwebhookconfigurations", {"webhooks": [{"rules": [rule]}, "no webhook"]}),
        ("mutatingadmissionpolicies", {"spec": {"matchConstraints": {"resourceRules": [rule]}}}),
    ):
        member = FakeCluster(more_kinds=KINDS)
        with_object(member, plural, **content)
        if plural == "mutatingadmissionpolicies":
            assert looked_at(member).rules == frozenset(), "a policy does nothing without a binding"
            with_object(member, "mutatingadmissionpolicybindings", spec={"policyName": "x"})
        assert looked_at(member).may_change(DEPLOYMENTS) is case.may_change


def test_a_cluster_that_has_none_changes_nothing_and_one_that_does_not_say_may() -> None:
    empty, silent = FakeCluster(more_kinds=KINDS), FakeCluster(more_kinds=KINDS)
    silent.faults.append(
        lambda request: Failure(kind=FailureKind.FORBIDDEN, message="no") if GROUP in request.path else None
    )
    found = [looked_at(member) for member in (empty, silent, FakeCluster())]
    assert [(each.rules == frozenset(), each.may_change(DEPLOYMENTS)) for each in found] == [
        (True, False),
        (False, True),
        (False, True),
    ]


def test_another_version_of_a_webhook_is_another_answer() -> None:
    member = FakeCluster(more_kinds=KINDS)
    with_object(member, "mutatingwebhookconfigurations", webhooks=[])
    before = looked_at(member)
    member.objects[f"mutatingwebhookconfigurations.{GROUP}", "", "x"]["metadata"]["resourceVersion"] = "8"
    assert before.digest != looked_at(member).digest


def test_policies_are_listed_only_where_there_are_bindings() -> None:
    """There is one list for each kind, and no fewer tell what is in force."""
    without, bound, older = (
        FakeCluster(more_kinds=KINDS),
        FakeCluster(more_kinds=KINDS),
        FakeCluster(more_kinds=KINDS[:1]),
    )
    with_object(bound, "mutatingadmissionpolicybindings", spec={"policyName": "x"})
    for member, lists in ((without, 2), (bound, 3), (older, 1)):
        looked_at(member)
        assert len([each for each in member.requests if GROUP in each.path]) == lists
