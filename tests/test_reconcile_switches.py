"""Argosy's answers to questions that Karmada answers by more than Git has, and the switches that bring Karmada's back.

Each story is told twice, once for each column of the README's table.
"""

from pathlib import Path
from typing import Any

import pytest

from .build import NGINX, a_cluster, a_config_map, a_deployment, a_policy, on_clusters, weighted
from .stories import UNPLACED, Files, Run, Story, a_fleet, play, settings

KARMADA = settings(compatibility="Karmada")
ANY_CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}
ANY_DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment"}
PROD = {"clusterAffinity": {"labelSelector": {"matchLabels": {"env": "prod"}}}}
ONE_TO_ONE = on_clusters("member1", "member2", replicaScheduling=weighted(member1=1, member2=1))
AGGREGATED = {"replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}}
UNCHANGED = "unchanged: argosy/rendered <rendered> holds source <main>\n"
SERVED = ("apps/v1 Deployment", "v1 ConfigMap")


def committed(clusters: str) -> str:
    return f"committed <rendered> to argosy/rendered: source <main> for {clusters}\n"


def valid(counts: str, *warnings: str) -> str:
    """Return the words of validate about a source with three clusters."""
    said = "".join(f"warning: {warning}\n" for warning in warnings)
    number = f"{len(warnings)} warning{'' if len(warnings) == 1 else 's'}"
    return f"{said}0 problems, {number}: {counts}\n"


def serving(name: str, *, pods: int = 0, **options: Any) -> dict[str, Any]:
    """A cluster whose APIs are recorded, as Karmada needs it, and how many pods fit."""
    enablements = [
        {"groupVersion": version, "resources": [{"kind": kind, "name": kind.lower()}]}
        for version, kind in map(str.split, SERVED)
    ]
    room = {"resourceSummary": {"allocatable": {"pods": str(pods)}}} if pods else {}
    return {**a_cluster(name, **options), "status": {"apiEnablements": enablements, **room}}


def members(*, pods: int = 0, **options: Any) -> Files:
    return {f"clusters/member{number}.yaml": serving(f"member{number}", pods=pods, **options) for number in (1, 2, 3)}


FIRST = {
    **members(),
    "one.yaml": a_config_map("one"),
    "first.yaml": a_policy("first", selectors=[ANY_CONFIG_MAP], placement=on_clusters("member1")),
}
BETTER = {
    "better.yaml": a_policy(
        "better", selectors=[ANY_CONFIG_MAP], priority=5, placement=on_clusters("member1", "member2")
    )
}
COUNTS = "1 template, 2 propagation policies, 0 override policies, 3 clusters in {} files"
TAKEN = (
    "better.yaml:1: it takes ConfigMap default/one over from PropagationPolicy default/first, where Karmada would"
    " leave what is claimed\n  hint: if that is not meant, set claims: Sticky in argosy.yaml"
)
IDLE_FIRST = (
    "first.yaml:11: spec.resourceSelectors: it claims nothing: it selects 1 object, all of which go to"
    " PropagationPolicy default/better\n  hint: for ConfigMap default/one, its priority 0 is below 5"
)
IDLE_BETTER = (
    "better.yaml:13: spec.resourceSelectors: it claims nothing: it selects 1 object, all of which go to"
    " PropagationPolicy default/first\n  hint: for ConfigMap default/one, another policy has claimed it, and claims"
    " are Sticky"
)
TAKEOVER = """\
<main~1>..<main>: 1 cluster changes, 1 object added, 1 object changes hands
risk: touches 1 of 3 clusters

OBJECTS
  + ConfigMap default/one in member2

POLICIES
  ConfigMap default/one: PropagationPolicy default/first -> PropagationPolicy default/better
"""


BETTER_ALONE = (
    "no difference in any cluster, 1 file of the source differs\n"
    "\nSOURCE\n  + better.yaml: PropagationPolicy default/better added\n"
)


def sticky(fleet: dict[str, Any], why: str) -> Story:
    return Story(
        why,
        {**FIRST, "argosy.yaml": fleet},
        BETTER,
        (
            Run("validate", 0, valid(COUNTS.format(7), IDLE_BETTER)),
            Run("diff main~1 main", 0, f"<main~1>..<main>: {BETTER_ALONE}"),
            Run("reconcile", 0, UNCHANGED),
        ),
        ("member1 default/ConfigMap/one",),
    )


CLAIMS = [
    Story(
        "the winner is a function of the tree, and a takeover is told by diff and validate",
        FIRST,
        BETTER,
        (
            Run("validate", 0, valid(COUNTS.format(6), TAKEN, IDLE_FIRST)),
            Run("diff main~1 main", 1, TAKEOVER),
            Run("reconcile", 0, committed("2 clusters")),
        ),
        ("member1 default/ConfigMap/one", "member2 default/ConfigMap/one"),
    ),
    sticky(settings(claims="Sticky"), "claims: Sticky leaves an object with the policy that has it"),
    sticky(KARMADA, "compatibility: Karmada makes claims Sticky"),
    Story(
        "compatibility: Karmada leaves claims alone that are written",
        {**FIRST, "argosy.yaml": settings(compatibility="Karmada", claims="Pure")},
        BETTER,
        (Run("reconcile", 0, committed("2 clusters")),),
        ("member1 default/ConfigMap/one", "member2 default/ConfigMap/one"),
    ),
]

LABELLED = {
    **members(labels={"env": "prod"}),
    "nginx.yaml": [
        a_deployment(replicas=4),
        a_policy(placement={**PROD, "replicaScheduling": weighted(member1=1, member2=1)}),
    ],
}
RELABELLED = {"clusters/member1.yaml": serving("member1", labels={"env": "test"})}


def unmoved(fleet: dict[str, Any], why: str) -> Story:
    return Story(
        why,
        {**LABELLED, "argosy.yaml": fleet},
        RELABELLED,
        (Run("reconcile", 0, UNCHANGED),),
        (
            "member1 default/Deployment.apps/nginx 2 nginx:1.29",
            "member2 default/Deployment.apps/nginx 2 nginx:1.29",
        ),
    )


RESCHEDULING = [
    Story(
        "a target that the source no longer allows is left",
        LABELLED,
        RELABELLED,
        (Run("reconcile", 0, committed("1 cluster")),),
        ("member2 default/Deployment.apps/nginx 4 nginx:1.29",),
    ),
    unmoved(settings(rescheduling="Karmada"), "rescheduling: Karmada leaves a workload where it is"),
    unmoved(KARMADA, "compatibility: Karmada leaves a workload where it is"),
    Story(
        "rescheduling: Karmada decides what is not divided in every pass, as Karmada does",
        {
            **LABELLED,
            "argosy.yaml": settings(rescheduling="Karmada"),
            "nginx.yaml": [a_deployment(), a_policy(placement=PROD)],
        },
        RELABELLED,
        (Run("reconcile --allow-removal member1=1", 0, committed("2 clusters")),),
        (
            "member2 default/Deployment.apps/nginx 2 nginx:1.29",
            "member3 default/Deployment.apps/nginx 2 nginx:1.29",
        ),
    ),
]

ROOMY = {
    **members(pods=10),
    "apps.yaml": [a_deployment("one", replicas=8), a_deployment("two", replicas=8)],
    "policy.yaml": a_policy("all", selectors=[ANY_DEPLOYMENT], placement=AGGREGATED),
}


def division(why: str, first: Files, *holds: str, fleet: dict[str, Any] | None = None) -> Story:
    """A story in which nothing changes after the first pass."""
    written = {"argosy.yaml": fleet} if fleet else {}
    return Story(why, {**first, **written}, {"README.md": "# fleet\n"}, (Run("reconcile", 0, UNCHANGED),), holds)


APART = (
    "member1 default/Deployment.apps/one 8 nginx:1.29",
    "member2 default/Deployment.apps/two 8 nginx:1.29",
)
TOGETHER = (
    "member1 default/Deployment.apps/one 8 nginx:1.29",
    "member1 default/Deployment.apps/two 8 nginx:1.29",
)
RESERVES = [
    division("what one workload is given is not given to the next", ROOMY, *APART),
    division(
        "reserveCapacity: false gives the same room twice",
        ROOMY,
        *TOGETHER,
        fleet=settings(reserveCapacity=False),
    ),
    division("compatibility: Karmada gives the same room twice", ROOMY, *TOGETHER, fleet=KARMADA),
    division(
        "compatibility: Karmada leaves reserveCapacity alone where it is written",
        ROOMY,
        *APART,
        fleet=settings(compatibility="Karmada", reserveCapacity=True),
    ),
]

# The references of both Deployments hash to different parities: the odd replica goes to either cluster.
ODD = {
    **members(),
    "apps.yaml": [a_deployment("apj", replicas=3), a_deployment("api", replicas=3)],
    "policy.yaml": a_policy("all", selectors=[ANY_DEPLOYMENT], placement=ONE_TO_ONE),
}
BY_NAME = (
    "member1 default/Deployment.apps/api 2 nginx:1.29",
    "member1 default/Deployment.apps/apj 2 nginx:1.29",
    "member2 default/Deployment.apps/api 1 nginx:1.29",
    "member2 default/Deployment.apps/apj 1 nginx:1.29",
)
TIES = [
    division(
        "the odd replica goes by the parity of the template's reference",
        ODD,
        "member1 default/Deployment.apps/api 2 nginx:1.29",
        "member1 default/Deployment.apps/apj 1 nginx:1.29",
        "member2 default/Deployment.apps/api 1 nginx:1.29",
        "member2 default/Deployment.apps/apj 2 nginx:1.29",
    ),
    division("tieBreak: Name gives it to the first name", ODD, *BY_NAME, fleet=settings(tieBreak="Name")),
    division("compatibility: Karmada gives it to the first name", ODD, *BY_NAME, fleet=KARMADA),
]


def renaming(*, api: str = "policy.karmada.io/v1alpha1") -> dict[str, Any]:
    """An override that gives nginx another name in member1."""
    rename = {"path": "/metadata/name", "operator": "replace", "value": "other"}
    rule = {"targetCluster": {"clusterNames": ["member1"]}, "overriders": {"plaintext": [rename]}}
    return {
        "apiVersion": api,
        "kind": "OverridePolicy",
        "metadata": {"name": "renaming", "namespace": "default"},
        "spec": {"resourceSelectors": [ANY_DEPLOYMENT], "overrideRules": [rule]},
    }


NGINX_ON_TWO = {
    **members(),
    "nginx.yaml": [a_deployment(), a_policy(placement=on_clusters("member1", "member2"))],
}
RENAMED = (
    "warning: Deployment.apps default/nginx in member1: OverrideFailed: OverridePolicy default/renaming:"
    " spec.overrideRules[0].overriders.plaintext[0]: changes metadata.name: an override never renames or moves an"
    " object\n"
)
WARNED_OF_NAME = (
    "renaming.yaml:10: spec.overrideRules[0].overriders.plaintext[0]: changes metadata.name, which is an error in"
    " every cluster it applies to\n  hint: give these clusters a template of their own, and leave them out of this"
    " one's propagation policy"
)


def renamed(why: str, first: Files) -> Story:
    files = 6 + ("argosy.yaml" in first)
    counts = f"1 template, 1 propagation policy, 1 override policy, 3 clusters in {files - 1} files"
    return Story(
        why,
        {**NGINX_ON_TWO, **first},
        {"renaming.yaml": renaming()},
        (
            Run("validate", 0, valid(counts, WARNED_OF_NAME)),
            Run("reconcile", 1, committed("2 clusters"), RENAMED),
        ),
        (
            "member1 default/Deployment.apps/nginx 2 nginx:1.29",
            "member2 default/Deployment.apps/nginx 2 nginx:1.29",
        ),
    )


IDENTITY = [
    renamed("an override that renames is an error of its cluster, which keeps what it has", {}),
    renamed("compatibility: Karmada does not let it rename either", {"argosy.yaml": KARMADA}),
]

UNSERVED = {
    "nginx.yaml": [a_deployment(), a_policy(placement=on_clusters("member1"))],
}
NO_API = (
    "warning: Deployment.apps default/nginx: NoClusterFit: 0/3 clusters are available:"
    " 3 cluster(s) did not have the API resource.\n"
)


def unserved(why: str, fleet: dict[str, Any]) -> Story:
    return Story(
        why,
        {**UNSERVED, "argosy.yaml": fleet},
        {"README.md": "# fleet\n"},
        (Run("reconcile", 1, UNCHANGED, NO_API + UNPLACED),),
        (),
    )


APIS = [
    division(
        "a cluster of which no APIs are recorded takes anything",
        UNSERVED,
        "member1 default/Deployment.apps/nginx 2 nginx:1.29",
    ),
    unserved("requireRecordedAPIs lets it take nothing", settings(requireRecordedAPIs=True)),
    unserved("compatibility: Karmada lets it take nothing", KARMADA),
]

DEFAULTS = [
    division(
        "replicas that are left out are 1 where they are divided",
        {"nginx.yaml": [a_deployment(replicas=None), a_policy(placement=ONE_TO_ONE)]},
        "member1 default/Deployment.apps/nginx 1 nginx:1.29",
    ),
    division(
        "a policy without a strategy or clusters duplicates everywhere",
        {"nginx.yaml": [a_deployment(), a_policy(selectors=[NGINX])]},
        *(f"member{number} default/Deployment.apps/nginx 2 nginx:1.29" for number in (1, 2, 3)),
    ),
    division(
        "an object and a policy without a namespace are in the default one",
        {
            "nginx.yaml": [
                {**a_config_map("one"), "metadata": {"name": "one"}},
                {
                    **a_policy("all", selectors=[ANY_CONFIG_MAP], placement=on_clusters("member1")),
                    "metadata": {"name": "all"},
                },
            ]
        },
        "member1 default/ConfigMap/one",
    ),
    division(
        "defaultNamespace says which one that is",
        {
            "argosy.yaml": settings(defaultNamespace="shop"),
            "nginx.yaml": [
                {**a_config_map("one"), "metadata": {"name": "one"}},
                {
                    **a_policy("all", selectors=[ANY_CONFIG_MAP], placement=on_clusters("member1")),
                    "metadata": {"name": "all"},
                },
            ],
        },
        "member1 _cluster/Namespace/shop",
        "member1 shop/ConfigMap/one",
    ),
]

STORIES = [*CLAIMS, *RESCHEDULING, *RESERVES, *TIES, *IDENTITY, *APIS, *DEFAULTS]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.why)
def test_instead_of_what_git_does_not_have(story: Story, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    play(story, a_fleet(tmp_path / "fleet"), capsys)
