"""Lint: what is probably a mistake in override policies, given the templates and clusters they meet."""

from copy import deepcopy
from typing import Any, NamedTuple

from overrides.lint import lint_overrides
from overrides.policy import OverridePolicy
from render.model import Manifest, ObjectRef, Template
from tests.build import a_config_map, a_deployment
from tests.overriding import CLUSTERS, a_rule, an_override, labelled, patching, selecting
from tests.tables import each_row

WEB, API = a_deployment("web", namespace="shop"), a_deployment("api", namespace="bank", image="r.io/api:1")
TEMPLATES = (WEB, API, a_config_map("web", namespace="shop", text="x"))


def warnings(*policies: OverridePolicy, templates: tuple[Manifest, ...] = TEMPLATES) -> list[str]:
    values = [Template(ref=ObjectRef.of(manifest), manifest=manifest) for manifest in templates]
    return [str(problem) for problem in lint_overrides(policies, values, CLUSTERS)]


class Selector(NamedTuple):
    why: str
    selector: dict[str, Any]
    hint: str
    namespace: str = ""


SELECTORS = [
    Selector(
        "a kind that is misspelt", {"apiVersion": "apps/v1", "kind": "Deploymnet"}, "did you mean kind 'Deployment'?"
    ),
    Selector("a kind that is not here", {"apiVersion": "batch/v1", "kind": "CronJob"}, "there is no CronJob here"),
    Selector(
        "another version",
        {"apiVersion": "apps/v1beta1", "kind": "Deployment"},
        "the Deployments here have apiVersion apps/v1",
    ),
    Selector(
        "another namespace",
        selecting(namespace="shpo")[0],
        "there is no Deployment in namespace 'shpo'",
    ),
    Selector("a name that is misspelt", selecting(name="weeb")[0], "did you mean 'web'?"),
    Selector("a name that is not here", selecting(name="frontend")[0], "there is no Deployment of this name"),
    Selector(
        "labels nothing has",
        selecting(labelSelector={"matchLabels": {"app": "x"}})[0],
        "no Deployment has these labels",
    ),
    Selector("a name of another namespace", selecting(name="api")[0], "there is no Deployment of this name", "shop"),
]


@each_row("case", SELECTORS, ids=lambda case: case.why)
def test_a_selector_that_selects_nothing_is_named_with_the_nearest(case: Selector) -> None:
    policy = an_override("p", a_rule(), selectors=[case.selector], namespace=case.namespace)
    assert warnings(policy) == [
        f"overrides/p.yaml: spec.resourceSelectors[0]: selects no template\n  hint: {case.hint}"
    ]


def test_each_selector_is_looked_at_alone() -> None:
    selectors = [*selecting(name="web"), *selecting(name="nope"), *selecting(namespace="bank")]
    assert warnings(an_override("p", a_rule(), selectors=selectors)) == [
        "overrides/p.yaml: spec.resourceSelectors[1]: selects no template\n  hint: there is no Deployment of this name"
    ]


def test_labels_that_a_cluster_policy_adds_count_for_a_namespaces_policy() -> None:
    added = an_override("cop", labelled(on="eu-1", env="prod"))
    selectors = selecting(labelSelector={"matchLabels": {"env": "prod"}})
    assert warnings(added, an_override("op", a_rule(), selectors=selectors, namespace="shop")) == []


def test_a_path_that_exists_somewhere_is_no_warning() -> None:
    manifest = deepcopy(WEB)
    manifest["spec"]["paused"] = True
    policy = an_override("p", patching("/spec/paused", False), selectors=selecting())
    assert warnings(policy, templates=(manifest, API)) == []
    assert warnings(policy, templates=(WEB, API)) == [
        (
            "overrides/p.yaml: spec.overrideRules[0].overriders.plaintext[0]: "
            "cannot be applied to any of the 2 objects it selects: 'paused' does not exist in /spec"
        )
    ]


def test_a_path_that_another_rule_creates_is_no_warning() -> None:
    policies = [
        an_override("a", patching("/spec/paused", True, operator="add"), selectors=selecting()),
        an_override("b", a_rule(plaintext=[{"path": "/spec/paused", "operator": "remove"}]), selectors=selecting()),
    ]
    assert [text for text in warnings(*policies) if "cannot be applied" in text] == []


def test_a_digest_beside_a_tag_is_lost() -> None:
    digest = "sha256:" + "a" * 64
    manifest = a_deployment("web", namespace="shop", image=f"nginx:1@{digest}")
    edit = {"component": "Registry", "operator": "replace", "value": "r.io"}
    assert warnings(an_override("p", a_rule(imageOverrider=[edit])), templates=(manifest,)) == [
        (
            "overrides/p.yaml: spec.overrideRules[0].overriders.imageOverrider[0]: "
            "drops the digest of an image that has a tag, too, in Deployment.apps shop/web\n"
            "  hint: write the image in the template with a tag or a digest, not both"
        )
    ]
    assert (
        warnings(
            an_override("p", a_rule(imageOverrider=[{**edit, "component": "Tag", "value": "2"}])), templates=(manifest,)
        )
        == []
    )


class Conflict(NamedTuple):
    why: str
    policies: list[OverridePolicy]
    want: list[str]


def tag(value: str) -> dict[str, Any]:
    return a_rule(imageOverrider=[{"component": "Tag", "operator": "replace", "value": value}])


def lost(name: str, field: str, what: str, hint: str) -> str:
    return f"overrides/{name}.yaml: spec.overrideRules[0].overriders.{field}: {what}\n  hint: {hint}"


SIDECAR = {"name": "sidecar", "image": "x:1"}
LATER = "of equally specific policies the later name applies later"
SPECIFIC = "the more specific selector applies later: a name, then labels, then a kind alone"
SCOPE = "policies of a namespace apply after those of the cluster scope"
WHERE = "for Deployment.apps bank/api, Deployment.apps shop/web in eu-1, eu-2, us-1"
CONFLICTS = [
    Conflict(
        "the later name wins",
        [
            an_override("a", labelled(x="1", y="1"), selectors=selecting()),
            an_override("b", labelled(x="2", y="1"), selectors=selecting()),
        ],
        [
            lost(
                "a",
                "labelsOverrider[0]",
                f"ClusterOverridePolicy b sets /metadata/labels/x differently and wins, {WHERE}",
                LATER,
            )
        ],
    ),
    Conflict(
        "the more specific selector wins, where both apply",
        [
            an_override("b", tag("1"), selectors=selecting()),
            an_override(
                "a",
                {**tag("2"), "targetCluster": {"clusterNames": ["eu-1", "eu-2"]}},
                selectors=selecting(name="web"),
            ),
        ],
        [
            lost(
                "b",
                "imageOverrider[0]",
                "ClusterOverridePolicy a sets the tag of all images differently and wins, "
                "for Deployment.apps shop/web in eu-1, eu-2",
                SPECIFIC,
            )
        ],
    ),
    Conflict(
        "a namespace's policy wins",
        [
            an_override("z", patching("/spec/replicas", 1, operator="add"), selectors=selecting()),
            an_override("a", patching("/spec/replicas", 2), selectors=selecting(), namespace="shop"),
        ],
        [
            lost(
                "z",
                "plaintext[0]",
                "OverridePolicy shop/a sets /spec/replicas differently and wins, "
                "for Deployment.apps shop/web in eu-1, eu-2, us-1",
                SCOPE,
            )
        ],
    ),
    Conflict(
        "labels and a patch may set the same path",
        [
            an_override("a", labelled(**{"example.com/x": "1"}), selectors=selecting(name="web")),
            an_override(
                "b",
                patching("/metadata/labels/example.com~1x", operator="remove"),
                selectors=selecting(name="web"),
            ),
        ],
        [
            lost(
                "a",
                "labelsOverrider[0]",
                "ClusterOverridePolicy b sets /metadata/labels/example.com~1x differently and wins, "
                "for Deployment.apps shop/web in eu-1, eu-2, us-1",
                LATER,
            )
        ],
    ),
    Conflict(
        "in different clusters there is none",
        [
            an_override("a", labelled(on="eu-1", x="1"), selectors=selecting()),
            an_override("b", labelled(on="eu-2", x="2"), selectors=selecting()),
        ],
        [],
    ),
    Conflict(
        "for different objects there is none",
        [
            an_override("a", labelled(x="1"), selectors=selecting(name="web")),
            an_override("b", labelled(x="2"), selectors=selecting(name="api")),
        ],
        [],
    ),
    Conflict("a policy may contradict itself", [an_override("a", labelled(x="1"), labelled(x="2"))], []),
    Conflict(
        "additions to a list or a text do not conflict",
        [
            an_override(
                name,
                a_rule(
                    plaintext=[{"path": "/spec/template/spec/containers/-", "operator": "add", "value": SIDECAR}],
                    imageOverrider=[{"component": "Tag", "operator": "add", "value": name}],
                ),
                selectors=selecting(name="web"),
            )
            for name in ("a", "b")
        ],
        [],
    ),
]


@each_row("case", CONFLICTS, ids=lambda case: case.why)
def test_policies_that_set_one_path_differently_say_which_wins(case: Conflict) -> None:
    assert warnings(*case.policies) == case.want


def test_long_lists_are_cut_short() -> None:
    many = tuple(a_deployment(f"web-{number}", namespace="shop") for number in range(5))
    policies = [an_override(name, labelled(x=name), selectors=selecting()) for name in ("a", "b")]
    assert warnings(*policies, templates=many) == [
        lost(
            "a",
            "labelsOverrider[0]",
            "ClusterOverridePolicy b sets /metadata/labels/x differently and wins, for Deployment.apps shop/web-0, "
            "Deployment.apps shop/web-1, Deployment.apps shop/web-2 and 2 more in eu-1, eu-2, us-1",
            LATER,
        )
    ]


def test_without_clusters_no_target_is_a_mistake() -> None:
    template = Template(ref=ObjectRef.of(WEB), manifest=WEB)
    assert lint_overrides([an_override("p", labelled(on="eu-1", x="1"))], [template], ()) == ()


def test_good_policies_say_nothing_and_nothing_is_modified() -> None:
    before = deepcopy(TEMPLATES)
    policies = [
        an_override("a", labelled(on="eu-1", x="1"), labelled(on="eu-2", x="2"), tag("2"), selectors=selecting()),
        an_override(
            "b", patching("/data/text", "y"), namespace="shop", selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}]
        ),
    ]
    assert warnings(*policies) == []
    assert before == TEMPLATES


def test_a_rule_for_what_sops_signed_as_a_whole_is_named() -> None:
    sealed = {**WEB, "sops": {"mac": "ENC[x]"}}
    policy = an_override("p", a_rule(), selectors=[{"apiVersion": "apps/v1", "kind": "Deployment"}])
    (said,) = warnings(policy, templates=(sealed, API))
    assert said == (
        "overrides/p.yaml: spec.resourceSelectors: changes nothing in Deployment.apps shop/web: SOPS signed all of it\n"
        "  hint: encrypted with mac_only_encrypted: true, readable fields of it can be changed"
    )
    readable = {**WEB, "sops": {"mac": "ENC[x]", "mac_only_encrypted": True}}
    assert warnings(policy, templates=(readable, API)) == []
    assert warnings(an_override("p", a_rule()), templates=(sealed, API)) == [], "it means what it can change"
