"""The engine: which policies apply to which template in which cluster, in which order, and once per class."""

from copy import deepcopy
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overrides.engine import OverrideEngine
from overrides.policy import OverridePolicy
from render.bits import indexes_of_mask
from render.cluster_index import ClusterIndex
from render.documents import Hole
from tests.build import a_deployment
from tests.overriding import (
    CLUSTERS,
    EVERY,
    a_rule,
    an_override,
    labelled,
    patching,
    results,
    selecting,
)
from tests.tables import each_row

WEB = a_deployment("web", namespace="shop")


def labels_by_cluster(policies: list[OverridePolicy], manifest: dict[str, Any] = WEB) -> dict[str, dict[str, str]]:
    own = manifest["metadata"].get("labels") or {}
    return {
        name: {key: value for key, value in got["metadata"].get("labels", {}).items() if own.get(key) != value}
        for name, got in results(policies, manifest).items()
    }


def everywhere(**labels: str) -> dict[str, dict[str, str]]:
    return dict.fromkeys(("eu-1", "eu-2", "us-1"), labels)


class Order(NamedTuple):
    why: str
    policies: list[OverridePolicy]
    want: dict[str, dict[str, str]]


BY_NAME = selecting(name="web")
BY_LABEL = selecting(labelSelector={"matchLabels": {"app": "web"}})
ORDERS = [
    Order(
        "V1 a name makes labels irrelevant",
        [
            an_override(
                "p", labelled(x="1"), selectors=selecting(name="web", labelSelector={"matchLabels": {"no": "no"}})
            )
        ],
        everywhere(x="1"),
    ),
    Order(
        "V2 even labels that match",
        [
            an_override(
                "p", labelled(x="1"), selectors=selecting(name="b", labelSelector={"matchLabels": {"app": "web"}})
            )
        ],
        everywhere(),
    ),
    Order(
        "V3 an empty label selector is more specific than none",
        [an_override("a", labelled(x="a"), selectors=selecting(labelSelector={})), an_override("b", labelled(x="b"))],
        everywhere(x="a"),
    ),
    Order(
        "V4 another kind",
        [an_override("p", labelled(x="1"), selectors=[{"apiVersion": "apps/v1", "kind": "StatefulSet"}])],
        everywhere(),
    ),
    Order(
        "V5 another version",
        [an_override("p", labelled(x="1"), selectors=[{"apiVersion": "apps/v1beta1", "kind": "Deployment"}])],
        everywhere(),
    ),
    Order(
        "V6 a name wins over everything",
        [an_override("p1", labelled(x="name"), selectors=BY_NAME), an_override("p2", labelled(x="all"))],
        everywhere(x="name"),
    ),
    Order(
        "a label selector stands between them",
        [
            an_override("a", labelled(x="label", y="label"), selectors=BY_LABEL),
            an_override("b", labelled(x="all", y="all", z="all")),
            an_override("c", labelled(x="name"), selectors=BY_NAME),
        ],
        everywhere(x="name", y="label", z="all"),
    ),
    Order(
        "V7 every matching rule of a policy applies in turn",
        [
            an_override(
                "p1",
                labelled(on={"clusterNames": ["eu-1", "eu-2"]}, x="1"),
                labelled(on="eu-2", x="2"),
                selectors=BY_NAME,
            ),
            an_override("p2", labelled(x="0", y="0")),
        ],
        {"eu-1": {"x": "1", "y": "0"}, "eu-2": {"x": "2", "y": "0"}, "us-1": {"x": "0", "y": "0"}},
    ),
    Order(
        "V8 an empty list of selectors selects everything",
        [an_override("p", labelled(x="1"), selectors=[])],
        everywhere(x="1"),
    ),
    Order(
        "V9 the deprecated form is one rule",
        [an_override("p", targetCluster={"clusterNames": ["us-1"]}, **labelled(x="1"))],
        {**everywhere(), "us-1": {"x": "1"}},
    ),
    Order(
        "V10 among equals the later name wins",
        [
            an_override("b-policy", labelled(x="2"), selectors=BY_NAME),
            an_override("a-policy", labelled(x="1"), selectors=BY_NAME),
        ],
        everywhere(x="2"),
    ),
    Order(
        "names are compared by bytes",
        [an_override("b", labelled(x="b")), an_override("B", labelled(x="B"))],
        everywhere(x="b"),
    ),
    Order(
        "V11 a selector counts more than a name",
        [an_override("z", labelled(x="1")), an_override("a", labelled(x="2"), selectors=BY_NAME)],
        everywhere(x="2"),
    ),
    Order(
        "a policy has its best selector's rank",
        [
            an_override("a", labelled(x="a"), selectors=[*selecting(), *BY_NAME]),
            an_override("b", labelled(x="b"), selectors=BY_LABEL),
        ],
        everywhere(x="a"),
    ),
    Order(
        "V12 a namespace's policy wins over any of the cluster scope",
        [
            an_override("op", labelled(tier="op"), namespace="shop"),
            an_override("cop", labelled(tier="cop"), selectors=BY_NAME),
        ],
        everywhere(tier="op"),
    ),
    Order(
        "V13 a namespace's policy sees labels that were added, where they were",
        [
            an_override(
                "cop",
                labelled(
                    on={"fieldSelector": {"matchExpressions": [{"key": "region", "operator": "In", "values": ["eu"]}]}},
                    env="prod",
                ),
            ),
            an_override(
                "op",
                labelled(x="1"),
                namespace="shop",
                selectors=selecting(labelSelector={"matchLabels": {"env": "prod"}}),
            ),
        ],
        {"eu-1": {"env": "prod", "x": "1"}, "eu-2": {"env": "prod", "x": "1"}, "us-1": {}},
    ),
    Order(
        "one of the same scope does not",
        [
            an_override("a", labelled(env="prod")),
            an_override("b", labelled(x="1"), selectors=selecting(labelSelector={"matchLabels": {"env": "prod"}})),
        ],
        everywhere(env="prod"),
    ),
    Order(
        "V14 another namespace's policy is not looked at",
        [an_override("p", labelled(x="1"), namespace="bank")],
        everywhere(),
    ),
    Order(
        "V16 exclude wins over names",
        [an_override("p", labelled(on={"clusterNames": ["eu-1"], "exclude": ["eu-1"]}, x="1"))],
        everywhere(),
    ),
    Order("V17 an empty target is every cluster", [an_override("p", labelled(on={}, x="1"))], everywhere(x="1")),
    Order(
        "V20 plaintext comes after labels, whatever their order",
        [
            an_override(
                "p",
                a_rule(
                    plaintext=[{"path": "/metadata/labels/x", "operator": "replace", "value": "p"}],
                    labelsOverrider=[{"operator": "add", "value": {"x": "l"}}],
                ),
            )
        ],
        everywhere(x="p"),
    ),
]


@each_row("case", ORDERS, ids=lambda case: case.why)
def test_policies_apply_in_order(case: Order) -> None:
    assert labels_by_cluster(case.policies) == case.want
    assert labels_by_cluster(case.policies[::-1]) == case.want, "the order of the policies does not matter"


class Target(NamedTuple):
    why: str
    on: dict[str, Any]
    want: list[str]


def field(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"fieldSelector": {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}}


TARGETS = [
    Target("V18 one of the zones is enough", field("zone", "In", "z1"), ["eu-1"]),
    Target("V18 no zone at all is in none", field("zone", "NotIn", "z1"), ["eu-2", "us-1"]),
    Target("V19 no provider is not that provider", field("provider", "NotIn", "aws"), ["eu-2", "us-1"]),
    Target("V19 nor is it in any", field("provider", "In", "aws"), ["eu-1"]),
    Target("labels", {"labelSelector": {"matchLabels": {"env": "prod"}}}, ["eu-1", "us-1"]),
    Target("an empty label selector", {"labelSelector": {}}, ["eu-1", "eu-2", "us-1"]),
    Target(
        "all conditions together",
        {"labelSelector": {"matchLabels": {"env": "prod"}}, **field("region", "In", "eu")},
        ["eu-1"],
    ),
    Target("a cluster there is not", {"clusterNames": ["nope"]}, []),
]


@each_row("case", TARGETS, ids=lambda case: case.why)
def test_a_rule_targets_clusters(case: Target) -> None:
    got = labels_by_cluster([an_override("p", labelled(on=case.on, x="1"))])
    assert [name for name, labels in got.items() if labels] == case.want


TYPES = {
    "imageOverrider": [{"component": "Tag", "operator": "replace", "value": "image"}],
    "commandOverrider": [{"containerName": "web", "operator": "add", "value": ["command"]}],
    "argsOverrider": [{"containerName": "web", "operator": "add", "value": ["args"]}],
    "annotationsOverrider": [{"operator": "add", "value": {"text": '{"a":"annotations"}'}}],
    "fieldOverrider": [
        {"fieldPath": "/metadata/annotations/text", "json": [{"subPath": "/b", "operator": "add", "value": "field"}]}
    ],
}


def test_all_seven_types_apply_in_one_rule() -> None:
    rule = a_rule(**TYPES, **labelled(label="label")["overriders"], **patching("/spec/replicas", 7)["overriders"])
    want = deepcopy(WEB)
    want["metadata"]["labels"] = {"app": "web", "label": "label"}
    want["metadata"]["annotations"] = {"text": '{"a":"annotations","b":"field"}'}
    want["spec"]["replicas"] = 7
    container = want["spec"]["template"]["spec"]["containers"][0]
    container |= {"image": "nginx:image", "command": ["command"], "args": ["args"]}
    assert results([an_override("p", rule)], WEB, 0b001) == {"eu-1": want}


class After(NamedTuple):
    why: str
    rule: dict[str, Any]
    at: str
    want: Any


def container_patch(field: str, value: Any) -> dict[str, Any]:
    path = f"/spec/template/spec/containers/0/{field}"
    return a_rule(**TYPES, plaintext=[{"path": path, "operator": "replace", "value": value}])


AFTERS = [
    After("plaintext after image", container_patch("image", "p"), "image", "p"),
    After("plaintext after command", container_patch("command", ["p"]), "command", ["p"]),
    After("plaintext after args", container_patch("args", ["p"]), "args", ["p"]),
]


@pytest.mark.parametrize("case", AFTERS, ids=lambda case: case.why)
def test_plaintext_has_the_last_word(case: After) -> None:
    got = results([an_override("p", case.rule)], WEB, 0b001)["eu-1"]
    assert got["spec"]["template"]["spec"]["containers"][0][case.at] == case.want


def test_an_error_stops_one_class_and_says_where() -> None:
    policies = [
        an_override("a", labelled(x="1"), patching("/spec/nope", 1, on="eu-1")),
        an_override("b", patching("/spec/gone", operator="remove", on="us-1"), namespace="shop"),
    ]
    got = results(policies, WEB)
    assert got["eu-1"] == (
        "ClusterOverridePolicy a: spec.overrideRules[1].overriders.plaintext[0]: 'nope' does not exist in /spec"
    )
    assert got["us-1"] == (
        "OverridePolicy shop/b: spec.overrideRules[0].overriders.plaintext[0]: 'gone' does not exist in /spec"
    )
    assert got["eu-2"]["metadata"]["labels"] == {"app": "web", "x": "1"}


def test_an_error_becomes_a_problem_of_the_policys_file() -> None:
    engine = OverrideEngine([an_override("a", patching("/spec/nope", 1))], CLUSTERS)
    (overridden,) = engine.override(WEB, EVERY)
    assert overridden.error is not None
    assert overridden.error.origin.document == 0
    assert str(overridden.error.problem(12)) == (
        "overrides/a.yaml:12: spec.overrideRules[0].overriders.plaintext[0]: 'nope' does not exist in /spec"
    )
    assert (overridden.manifest, len(overridden.applied)) == (None, 1)


def test_without_rules_the_manifest_is_the_one_given() -> None:
    for policies in ([], [an_override("p", labelled(x="1"), selectors=selecting(name="other"))]):
        (overridden,) = OverrideEngine(policies, ClusterIndex(CLUSTERS)).override(WEB, EVERY)
        assert (overridden.clusters, overridden.applied, overridden.error) == (EVERY, (), None)
        assert overridden.manifest is WEB


def test_no_clusters_have_no_classes() -> None:
    assert OverrideEngine([an_override("p", labelled(x="1"))], CLUSTERS).override(WEB, 0) == ()


def test_clusters_under_the_same_rules_share_one_manifest() -> None:
    engine = OverrideEngine([an_override("p", labelled(on=field("region", "In", "eu"), x="1"))], CLUSTERS)
    classes = engine.override(WEB, EVERY)
    assert [(overridden.clusters, len(overridden.applied)) for overridden in classes] == [(0b011, 1), (0b100, 0)]


def test_rules_with_which_classes_begin_run_once_for_all_of_them() -> None:
    policies = [an_override("a", labelled(x="1")), an_override("b", labelled(on="eu-1", y="1"))]
    own, others = OverrideEngine(policies, CLUSTERS).override(WEB, EVERY)
    first, second = own.runs
    assert others.runs == (first,)
    assert others.runs[0] is first
    assert [(run.applied.policy, run.before is WEB) for run in own.runs] == [
        ("ClusterOverridePolicy a", True),
        ("ClusterOverridePolicy b", False),
    ]
    assert first.after is second.before is others.manifest
    assert second.after is own.manifest
    assert second.after["spec"] is WEB["spec"]


def test_a_rule_runs_once_on_the_same_values_where_it_reaches() -> None:
    policies = [an_override("a", patching("/spec/replicas", 5, on="eu-1")), an_override("b", labelled(x="1"))]
    own, others = OverrideEngine(policies, CLUSTERS).override(WEB, EVERY)
    assert own.manifest
    assert others.manifest
    assert own.runs[1] is others.runs[0]
    assert own.manifest == {**WEB, "metadata": others.manifest["metadata"], "spec": {**WEB["spec"], "replicas": 5}}
    assert own.manifest["metadata"] is others.manifest["metadata"]


def test_the_template_is_never_modified() -> None:
    before = deepcopy(WEB)
    policies = [
        an_override(
            "a", a_rule(**TYPES, **patching("/metadata/labels", {"only": "this"}, operator="add")["overriders"])
        ),
        an_override("b", labelled(x="1"), patching("/metadata/labels/x", operator="remove", on="eu-1")),
        an_override("c", labelled(y="1"), namespace="shop"),
    ]
    first = results(policies, WEB)
    assert before == WEB
    assert results(policies, WEB) == first, "nor are the policies"


def test_a_hole_stays_a_hole_unless_an_override_sets_the_number() -> None:
    opened = {**WEB, "spec": {**WEB["spec"], "replicas": Hole("replicas")}}
    got = results([an_override("p", labelled(x="1"), patching("/spec/replicas", 5, on="eu-1"))], opened)
    assert [manifest["spec"]["replicas"] for manifest in got.values()] == [5, Hole("replicas"), Hole("replicas")]


def test_a_cluster_scoped_object_meets_cluster_policies_alone() -> None:
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "admin"}}
    got = results([an_override("cop", labelled(x="1")), an_override("op", labelled(y="1"), namespace="shop")], role)
    assert got["eu-1"] == {**role, "metadata": {"name": "admin", "labels": {"x": "1"}}}


def test_labels_that_are_not_all_strings_select_as_none() -> None:
    odd = {**WEB, "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web", "odd": 1}}}
    policy = an_override(
        "p", a_rule(annotationsOverrider=[{"operator": "add", "value": {"a": "b"}}]), selectors=BY_LABEL
    )
    assert results([policy], odd)["eu-1"] == odd


class Rename(NamedTuple):
    why: str
    rule: dict[str, Any]
    want: str


RULE = "ClusterOverridePolicy p: spec.overrideRules[0].overriders"
RENAMES = [
    Rename("its name", patching("/metadata/name", "x"), f"{RULE}.plaintext[0]: changes metadata.name"),
    Rename(
        "its namespace",
        patching("/metadata/namespace", operator="remove"),
        f"{RULE}.plaintext[0]: changes metadata.namespace",
    ),
    Rename("its kind", patching("/kind", "X"), f"{RULE}.plaintext[0]: changes kind"),
    Rename("its version", patching("/apiVersion", "apps/v2"), f"{RULE}.plaintext[0]: changes apiVersion"),
    Rename("its metadata", patching("/metadata", {"name": "web"}), f"{RULE}.plaintext[0]: changes metadata.namespace"),
    Rename(
        "all of it",
        patching("", {"a": 1}),
        f"{RULE}.plaintext[0]: changes apiVersion and kind and metadata.namespace and metadata.name",
    ),
    Rename(
        "all of it, by a list",
        patching("", [1]),
        f"{RULE}.plaintext[0]: changes apiVersion and kind and metadata.namespace and metadata.name",
    ),
    Rename(
        "its name, by an image",
        a_rule(
            imageOverrider=[
                {"component": "Tag", "operator": "add", "value": "v1", "predicate": {"path": "/metadata/name"}}
            ]
        ),
        f"{RULE}.imageOverrider[0]: changes metadata.name",
    ),
]


@each_row("case", RENAMES, ids=lambda case: case.why)
def test_an_override_never_changes_what_an_object_is(case: Rename) -> None:
    want = f"{case.want}: an override never renames or moves an object"
    assert results([an_override("p", case.rule)], WEB, 0b001) == {"eu-1": want}


def test_metadata_may_be_replaced_as_long_as_the_identity_stays() -> None:
    metadata = {"name": "web", "namespace": "shop", "labels": {"x": "1"}}
    assert results([an_override("p", patching("/metadata", metadata))], WEB)["us-1"]["metadata"] == metadata


def test_an_empty_namespace_is_none() -> None:
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "admin"}}
    metadata = {"name": "admin", "namespace": ""}
    assert results([an_override("p", patching("/metadata", metadata))], role)["us-1"]["metadata"] == metadata


NAMES = st.sets(st.sampled_from([cluster.name for cluster in CLUSTERS]), min_size=1).map(sorted)
RULES = st.tuples(NAMES, st.sampled_from("xyz"), st.sampled_from("12"))
POLICIES = st.lists(st.tuples(st.sampled_from(["", "shop"]), st.lists(RULES, min_size=1, max_size=4)), max_size=4)


@given(POLICIES, st.integers(0, EVERY))
def test_classes_give_every_cluster_what_it_gets_alone(
    drawn: list[tuple[str, list[tuple[list[str], str, str]]]], clusters: int
) -> None:
    policies = [
        an_override(
            f"p{index}",
            *(labelled(on={"clusterNames": on}, **{key: value}) for on, key, value in rules),
            namespace=scope,
        )
        for index, (scope, rules) in enumerate(drawn)
    ]
    together = results(policies, WEB, clusters)
    alone = [results(policies, WEB, 1 << index) for index in indexes_of_mask(clusters)]
    assert together == {name: manifest for one in alone for name, manifest in one.items()}
