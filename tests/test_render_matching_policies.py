"""The policy that claims a template: the order of policies, preemption, and objects nobody propagates."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from render.matching.exclusions import Exclusions, parse_exclusions
from render.matching.match import Match, MatchOptions, NoPolicyReason, PolicyIndex
from render.matching.precedence import policy_named_by_claim
from render.model import ObjectRef, Template
from render.policy import Preemption, PropagationPolicy
from render.selectors import ImplicitPriority, LabelSelector, ResourceSelector, best_selector
from render.settings.switches import ClaimMode

from .tables import each_row

STICKY = MatchOptions(claims=ClaimMode.STICKY)
PREEMPTING = MatchOptions(claims=ClaimMode.STICKY, allows_preemption=True)


def a_template(
    kind: str = "apps/v1 Deployment", name: str = "nginx", namespace: str = "d", **metadata: Mapping[str, str]
) -> Template:
    api_version, kind = kind.split()
    manifest = {"apiVersion": api_version, "kind": kind, "metadata": {"labels": {"app": "nginx"}, **metadata}}
    group = api_version.rpartition("/")[0]
    return Template(ref=ObjectRef(group, kind, namespace, name), manifest=manifest)


NGINX = a_template()
ALL = ResourceSelector(api_version="apps/v1", kind="Deployment")
BY_LABEL = ResourceSelector(
    api_version="apps/v1", kind="Deployment", label_selector=LabelSelector(match_labels=(("app", "nginx"),))
)
BY_NAME = ResourceSelector(api_version="apps/v1", kind="Deployment", name="nginx")
OTHER = ResourceSelector(api_version="apps/v1", kind="Deployment", name="other")


def policy(name: str, *selectors: ResourceSelector, **fields: Any) -> PropagationPolicy:
    """A PropagationPolicy in the namespace ``d``."""
    return PropagationPolicy(**{"name": name, "namespace": "d", "resource_selectors": selectors or (ALL,), **fields})


def cluster_policy(name: str, *selectors: ResourceSelector, **fields: Any) -> PropagationPolicy:
    return policy(name, *selectors, namespace="", **fields)


class Won(NamedTuple):
    why: str
    policies: Sequence[PropagationPolicy]
    want: str


WON = [
    Won("a name before labels", (policy("foo", BY_NAME), policy("bar", BY_LABEL)), "foo"),
    Won("an explicit priority before a name", (policy("foo", BY_NAME), policy("bar", priority=1)), "bar"),
    Won("the smaller name", (policy("foo"), policy("bar")), "bar"),
    Won("the most specific of its selectors", (policy("b", ALL, BY_NAME), policy("a", BY_LABEL)), "b"),
    Won("zero before less", (policy("a", BY_NAME, priority=-1), policy("z")), "z"),
    Won("names compare as bytes", (policy("a9"), policy("a10")), "a10"),
    Won("the namespace first", (policy("p", priority=-5), cluster_policy("c", BY_NAME, priority=100)), "p"),
    Won("another namespace has no say", (policy("p", namespace="e"), cluster_policy("c")), "c"),
    Won("labels before kind alone", (policy("a"), policy("b", BY_LABEL)), "b"),
    Won("one that is being deleted never", (policy("a", is_terminating=True), cluster_policy("c")), "c"),
]


@each_row("case", WON, ids=lambda case: case.why)
def test_the_winner_is_the_same_in_any_order(case: Won) -> None:
    for policies in (case.policies, case.policies[::-1]):
        found = PolicyIndex(policies).match(NGINX).policy
        assert found is not None
        assert found.name == case.want


def test_every_policy_that_selects_says_why_it_lost() -> None:
    policies = (
        policy("a", BY_LABEL),
        policy("b", BY_NAME),
        policy("c", BY_NAME),
        policy("d", BY_NAME, priority=-1),
        policy("e", is_terminating=True),
        policy("f", OTHER),
        cluster_policy("g", priority=9),
    )
    candidates = PolicyIndex(policies).candidates(NGINX)
    assert [(each.policy.name, each.implicit_priority, each.why_lost) for each in candidates] == [
        ("b", ImplicitPriority.NAME, ""),
        ("c", ImplicitPriority.NAME, "its name comes after 'b'"),
        ("a", ImplicitPriority.LABEL, "it selects by labels, PropagationPolicy d/b by name"),
        ("d", ImplicitPriority.NAME, "its priority -1 is below 0"),
        (
            "g",
            ImplicitPriority.ALL,
            "a PropagationPolicy of the namespace comes before every ClusterPropagationPolicy",
        ),
        ("e", ImplicitPriority.ALL, "it is being deleted"),
    ]


def test_a_cluster_scoped_template_belongs_to_cluster_policies_alone() -> None:
    roles = ResourceSelector(api_version="rbac.authorization.k8s.io/v1", kind="ClusterRole")
    role = a_template("rbac.authorization.k8s.io/v1 ClusterRole", "view", "")
    assert PolicyIndex((policy("p", roles),)).match(role).policy is None
    assert PolicyIndex((policy("p", roles), cluster_policy("c", roles))).match(role).policy == cluster_policy(
        "c", roles
    )


class Claimed(NamedTuple):
    why: str
    claim: str
    policies: Sequence[PropagationPolicy]
    want: str
    lost: str = ""
    options: MatchOptions = STICKY


LOW, CLUSTER_LOW = "PropagationPolicy d/low", "ClusterPropagationPolicy low"
ALWAYS = {"preemption": Preemption.ALWAYS}
CLAIMED = [
    Claimed("a better one does not take over", LOW, (policy("low"), policy("high", priority=9)), "low"),
    Claimed(
        "Pure asks for no claims", LOW, (policy("low"), policy("high", priority=9)), "high", options=MatchOptions()
    ),
    Claimed("nobody claims a new template", "", (policy("low"), policy("high", priority=9)), "high"),
    Claimed(
        "it may preempt",
        LOW,
        (policy("low"), policy("high", BY_NAME, priority=9, **ALWAYS)),
        "high",
        LOW,
        PREEMPTING,
    ),
    Claimed("not where preemption is off", LOW, (policy("low"), policy("high", BY_NAME, priority=9, **ALWAYS)), "low"),
    Claimed("not an equal", LOW, (policy("low"), policy("high", BY_NAME, **ALWAYS)), "low", options=PREEMPTING),
    Claimed(
        "a namespaced one any cluster-scoped one",
        CLUSTER_LOW,
        (cluster_policy("low", priority=100), policy("high", BY_NAME, priority=-1, **ALWAYS)),
        "high",
        CLUSTER_LOW,
        PREEMPTING,
    ),
    Claimed(
        "a cluster-scoped one no namespaced one",
        LOW,
        (policy("low"), cluster_policy("high", BY_NAME, priority=100, **ALWAYS)),
        "low",
        options=PREEMPTING,
    ),
    Claimed(
        "a better cluster-scoped one another",
        CLUSTER_LOW,
        (cluster_policy("low", priority=1), cluster_policy("high", BY_NAME, priority=2, **ALWAYS)),
        "high",
        CLUSTER_LOW,
        PREEMPTING,
    ),
    Claimed(
        "the best of those that may",
        LOW,
        (policy("low"), policy("mid", BY_NAME, priority=5, **ALWAYS), policy("high", BY_NAME, priority=9, **ALWAYS)),
        "high",
        LOW,
        PREEMPTING,
    ),
    Claimed("a holder that is gone", LOW, (policy("next"),), "next", LOW),
    Claimed("a holder that selects it no more", LOW, (policy("low", OTHER), policy("next")), "next", LOW),
]


@each_row("case", CLAIMED, ids=lambda case: case.why)
def test_claims(case: Claimed) -> None:
    match = PolicyIndex(case.policies).match(NGINX, claim=case.claim, options=case.options)
    assert match.policy is not None
    assert (match.policy.name, match.lost_claim) == (case.want, case.lost)


def test_a_holder_that_is_being_deleted_keeps_its_templates_as_they_are() -> None:
    match = PolicyIndex((policy("low", is_terminating=True), policy("next"))).match(NGINX, claim=LOW, options=STICKY)
    assert (match.policy, match.reason, match.message) == (
        None,
        NoPolicyReason.POLICY_TERMINATING,
        "PropagationPolicy d/low is being deleted",
    )


PP_CLAIM = {"propagationpolicy.karmada.io/namespace": "d", "propagationpolicy.karmada.io/name": "low"}
CPP_CLAIM = {"clusterpropagationpolicy.karmada.io/name": "low"}


def test_karmadas_own_claim_counts_only_with_its_id() -> None:
    held = a_template(labels={"propagationpolicy.karmada.io/permanent-id": "1"}, annotations=PP_CLAIM)
    assert policy_named_by_claim(held) == LOW
    assert policy_named_by_claim(a_template(annotations=PP_CLAIM)) == ""
    held = a_template(labels={"clusterpropagationpolicy.karmada.io/permanent-id": "1"}, annotations=CPP_CLAIM)
    assert policy_named_by_claim(held) == CLUSTER_LOW
    index = PolicyIndex((cluster_policy("low"), cluster_policy("high", priority=9)))
    assert [index.match(held, options=each).policy for each in (STICKY, MatchOptions())] == list(index.policies)


def test_a_policy_waits_for_the_overrides_it_depends_on() -> None:
    waiting = policy("p", dependent_overrides=("x", "y"))
    match = PolicyIndex((waiting, cluster_policy("c")), override_policies={("d", "y"), ("", "x")}).match(NGINX)
    assert (match.policy, match.reason) == (None, NoPolicyReason.WAITING_FOR_OVERRIDES)
    assert match.message == "PropagationPolicy d/p waits for dependent overrides: x"
    assert PolicyIndex((waiting,), override_policies={("d", "x"), ("d", "y")}).match(NGINX).policy == waiting


def test_a_schedule_priority_is_the_value_of_its_priority_class() -> None:
    def match(name: str, **priorities: int) -> Match:
        return PolicyIndex((policy("p", priority_class_name=name),), priority_by_class=priorities).match(NGINX)

    assert match("high", high=1000).priority == 1000
    assert match("system-cluster-critical").priority == 2_000_000_000
    missing = match("high")
    assert (missing.policy, missing.reason) == (None, NoPolicyReason.WAITING_FOR_PRIORITY_CLASS)
    assert missing.message == "PropagationPolicy d/p waits for PriorityClass high"


def test_a_cluster_scoped_template_waits_for_no_priority_class() -> None:
    roles = ResourceSelector(api_version="rbac.authorization.k8s.io/v1", kind="ClusterRole")
    holder = cluster_policy("c", roles, priority_class_name="high")
    match = PolicyIndex((holder,)).match(a_template("rbac.authorization.k8s.io/v1 ClusterRole", "view", ""))
    assert (match.policy, match.priority) == (holder, 0)


def test_a_template_no_policy_selects_says_so() -> None:
    match = PolicyIndex((policy("p", OTHER),)).match(NGINX)
    assert match == Match(reason=NoPolicyReason.NO_POLICY, message="no policy selects it")


class Excluded(NamedTuple):
    template: Template
    want: str


EXCLUDED = [
    Excluded(a_template("v1 Event", "e"), "v1 Event is never propagated"),
    Excluded(a_template("events.k8s.io/v1 Event", "e"), "objects of the group events.k8s.io are never propagated"),
    Excluded(a_template("coordination.k8s.io/v1 Lease", "l"), "objects of coordination.k8s.io/v1 are never propagated"),
    Excluded(
        a_template("policy.karmada.io/v1alpha1 OverridePolicy", "o"),
        "objects of the group policy.karmada.io are never propagated",
    ),
    Excluded(a_template(namespace="kube-public"), "nothing in the namespace kube-public is propagated"),
    Excluded(a_template(namespace="karmada-es-m1"), "nothing in the namespace karmada-es-m1 is propagated"),
    Excluded(a_template(namespace="karmada-system"), "nothing in the namespace karmada-system is propagated"),
    Excluded(
        a_template(labels={"resourcetemplate.karmada.io/claimed-by": "operator"}),
        "operator distributes it by itself (label resourcetemplate.karmada.io/claimed-by)",
    ),
    Excluded(a_template(namespace="default"), ""),
    Excluded(a_template(namespace="kubernetes"), ""),
    Excluded(a_template("v1 Namespace", "kube-public", ""), ""),
    Excluded(a_template("search.karmada.io/v1alpha1 ResourceRegistry", "r"), ""),
]


@each_row("case", EXCLUDED, ids=lambda case: str(case.template.ref))
def test_what_is_never_propagated(case: Excluded) -> None:
    assert Exclusions().reason_for_exclusion(case.template) == case.want
    everything = ResourceSelector(api_version=case.template.api_version, kind=case.template.ref.kind)
    match = PolicyIndex((cluster_policy("c", everything),)).match(case.template)
    assert (match.policy is None, match.message) == (bool(case.want), case.want)


def test_karmadas_flags_exclude_more() -> None:
    excluded = parse_exclusions("batch;apps/v1beta1;v1/Secret,ConfigMap; apps/v1/DaemonSet", "kube-.*,secret-.*")
    templates = [
        a_template(kind, "x")
        for kind in ("batch/v1 Job", "apps/v1beta1 Deployment", "v1 Secret", "v1 ConfigMap", "apps/v1 DaemonSet")
    ]
    assert all(excluded.reason_for_exclusion(template) for template in (*templates, a_template(namespace="secret-one")))
    assert not excluded.reason_for_exclusion(NGINX)


some_selectors = st.builds(
    ResourceSelector,
    api_version=st.just("apps/v1"),
    kind=st.sampled_from(("Deployment", "DaemonSet")),
    namespace=st.sampled_from(("", "d")),
    name=st.sampled_from(("", "", "nginx", "other")),
    label_selector=st.sampled_from(
        (
            None,
            LabelSelector(),
            LabelSelector(match_labels=(("app", "nginx"),)),
            LabelSelector(match_labels=(("app", "nginx"), ("tier", "web"))),
            LabelSelector(match_labels=(("app", "x"),)),
        )
    ),
)
some_policies = st.lists(
    st.builds(
        PropagationPolicy,
        name=st.sampled_from("abcdef"),
        namespace=st.sampled_from(("", "d", "e")),
        resource_selectors=st.lists(some_selectors, min_size=1, max_size=3).map(tuple),
        priority=st.integers(-1, 1),
    ),
    unique_by=str,
    max_size=6,
)


@given(some_policies)
def test_the_index_finds_what_asking_every_policy_finds(policies: list[PropagationPolicy]) -> None:
    asked = {
        str(each)
        for each in policies
        if each.namespace in {"", "d"} and best_selector(each.resource_selectors, NGINX)[0]
    }
    assert {str(each.policy) for each in PolicyIndex(policies).candidates(NGINX)} == asked
    assert PolicyIndex(policies).match(NGINX) == PolicyIndex(policies[::-1]).match(NGINX)
