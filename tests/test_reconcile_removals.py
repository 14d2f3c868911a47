"""The meaning of leaving Git, line by line: the removals, the messages, and the objects that stay."""

from pathlib import Path

import pytest

from .build import (
    NGINX,
    a_cluster,
    a_cluster_policy,
    a_config_map,
    a_deployment,
    a_policy,
    argosy,
    on_clusters,
    weighted,
)
from .memory_fleet import MemoryFleet
from .stories import UNBUILT, Run, Story, a_fleet, check_runs, held, play, refused_section, removal_hint, settings

NGINX_ON_TWO = (
    "member1 default/Deployment.apps/nginx 2 nginx:1.29",
    "member2 default/Deployment.apps/nginx 2 nginx:1.29",
)
ON_TWO = on_clusters("member1", "member2")
WAITING = a_policy(placement=ON_TWO, dependentOverrides=["tuned"])
WAITS = (
    "warning: Deployment.apps default/nginx: WaitingForDependentOverrides:"
    " PropagationPolicy default/nginx waits for dependent overrides: tuned\n"
)
ANY_CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}
NAMESPACES = {"apiVersion": "v1", "kind": "Namespace"}
ANY_DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment"}
WAITING_FOR_CLASS = a_policy(
    placement=ON_TWO,
    schedulePriority={"priorityClassSource": "KubePriorityClass", "priorityClassName": "urgent"},
)
CLASS_WAITS = (
    "warning: Deployment.apps default/nginx: WaitingForPriorityClass:"
    " PropagationPolicy default/nginx waits for PriorityClass urgent\n"
)
WAITING_POLICY = """\
warning: policy.yaml:7: spec.dependentOverrides: it is not applied: it waits for dependent overrides: tuned
0 problems, 1 warning: 1 template, 1 propagation policy, 0 override policies, 3 clusters in 5 files
"""
OVERRIDES_TO_CLASS = (
    "policy.yaml:7: spec.dependentOverrides: it is not applied: it waits for dependent overrides: tuned",
    "policy.yaml:17: spec.schedulePriority.priorityClassName: it is not applied: it waits for PriorityClass urgent",
)
COMMITTED = "committed <rendered> to argosy/rendered: source <main> for 2 clusters\n"
NO_POLICY = (
    "warning: nothing is rendered of 1 template: the source has no policy that selects them\n"
    "  hint: argosy init writes a first one\n"
)
UNCHANGED = "unchanged: argosy/rendered <rendered> holds source <main>\n"
RELEASED = "Deployment.apps default/nginx is released: no policy selects it, so member1, member2 keep it as it is"
TABLE = """\
NAMESPACE   OBJECT                  CLUSTERS              POLICY
default     Deployment.apps/nginx   member1:2 member2:2   NoPolicy
"""
OUTDATED = f"{RELEASED}, though its template or its overrides have changed"


def emptied(templates: str) -> str:
    """Return the line of a commit after which no cluster has anything, of a source without policies."""
    has = f"{templates}, 0 propagation policies, 3 clusters"
    return COMMITTED.replace("2 clusters", f"no cluster ({has})")


def checked(warning: str, *, policies: str, files: int) -> str:
    """Return the words of validate about a source with one released object."""
    hint = "  hint: write a policy that selects it, or delete its template to remove it\n"
    counted = f"0 problems, 1 warning: 1 template, {policies}, 0 override policies, 3 clusters in {files} files\n"
    return f"warning: {warning}\n{hint}{counted}"


ONE_MAP = {
    "one.yaml": a_config_map("one"),
    "maps.yaml": a_policy("maps", selectors=[ANY_CONFIG_MAP], placement=on_clusters("member1")),
}
SHOP = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"team": "web"}}}
IN_SHOP = a_policy("all", namespace="shop", selectors=[ANY_CONFIG_MAP], placement=on_clusters("member1"))
ONE_EACH = weighted(member1=1, member2=1, member3=1)
NOWHERE = "no difference in any cluster, 1 new template goes nowhere\n\nGO NOWHERE\n  ! Deployment.apps default/other"
UNSELECTED = (
    "warning: nginx.yaml:1: no policy selects Deployment.apps default/nginx, so that it goes nowhere\n"
    "  hint: select it, or name its kind or folder in notPropagated of argosy.yaml\n"
    "0 problems, 1 warning: 1 template, 0 propagation policies, 0 override policies, 3 clusters in 5 files\n"
)
NOTHING_WRONG = "0 problems, 0 warnings: {}, {} propagation policies, 0 override policies, 3 clusters in {} files\n"
REMOVED_WITH_POLICY = """\
<main~1>..<main>: 2 clusters change, 1 object removed, 1 object changes hands
risk: touches 2 of 3 clusters

OBJECTS
  - Deployment.apps default/nginx in member1, member2

POLICIES
  Deployment.apps default/nginx: PropagationPolicy default/nginx -> no policy

REPLICAS
  Deployment.apps default/nginx: 4 -> 0 replicas, 0 moved
      member1 2 -> 0, member2 2 -> 0
"""
ALL_OF_TWO = (
    "this change removes too much at once; nothing was committed\n"
    "  member1: 1 of 1 object (everything it holds): default/Deployment.apps/nginx.yaml\n"
    "  member2: 1 of 1 object (everything it holds): default/Deployment.apps/nginx.yaml\n"
    + removal_hint("member1 1", "member2 1")
)
ABSENT = (
    "warning: policy.yaml:22: spec.placement.replicaScheduling.weightPreference.staticWeightList[2].targetCluster."
    "clusterNames: no cluster of the source is called 'member3'\n"
)
COUNTS_OF_TWO = "1 template, 1 propagation policy, 0 override policies, 2 clusters in 4 files"
DISCONNECTED = """\
<main~1>..<main>: 1 cluster is disconnected, 2 clusters change, 1 object changed, 2 replicas are placed anew
risk: touches 2 of 2 clusters, moves 2 of 6 replicas

CLUSTERS
  - member3: disconnected, keeps what it holds

OBJECTS
  ~ 1 by its replicas

REPLICAS
  Deployment.apps default/nginx: 6 replicas, 2 placed anew
      member1 2 -> 3, member2 2 -> 3, member3 2 (disconnected)
"""
TABLE_OF_TWO = """\
NAMESPACE   OBJECT                  CLUSTERS              POLICY
default     Deployment.apps/nginx   member1:3 member2:3   PropagationPolicy default/nginx

disconnected, left as they were: member3
"""


def checked_unmatched(warning: str, hint: str) -> str:
    """Return the words of validate about a policy that has lost its template."""
    counted = "0 problems, 1 warning: 1 template, 2 propagation policies, 0 override policies, 3 clusters in 6 files\n"
    return f"warning: {warning}\n  hint: {hint}\n{counted}"


STORIES = [
    Story(
        "a policy that is deleted releases what it held, and every command says so",
        {"nginx.yaml": a_deployment(), "policy.yaml": a_policy(placement=ON_TWO)},
        {"policy.yaml": None},
        (
            Run("validate", 0, checked(f"nginx.yaml:1: {RELEASED}", policies="0 propagation policies", files=4)),
            Run(
                "diff main~1 main",
                1,
                "<main~1>..<main>: 1 object changes hands\n"
                "\nPOLICIES\n  Deployment.apps default/nginx: PropagationPolicy default/nginx -> no policy\n"
                f"\nRELEASED\n  {RELEASED}\n",
            ),
            Run("render", 0, TABLE, f"warning: {RELEASED}\n"),
            Run("reconcile", 0, COMMITTED, f"warning: {RELEASED}\n"),
            Run("reconcile", 0, UNCHANGED, f"warning: {RELEASED}\n"),
            Run("validate", 0, checked(f"nginx.yaml:1: {RELEASED}", policies="0 propagation policies", files=4)),
            Run(
                "validate --strict",
                1,
                checked(f"nginx.yaml:1: {RELEASED}", policies="0 propagation policies", files=4).replace(
                    "warning:", "error:", 1
                ),
            ),
            Run("diff main main", 0, "<main>..<main>: no difference\n"),
        ),
        NGINX_ON_TWO,
    ),
    Story(
        "a released object keeps every byte while its template changes, and every command says so",
        {"nginx.yaml": a_deployment(), "policy.yaml": a_policy(placement=ON_TWO)},
        {"policy.yaml": None, "nginx.yaml": a_deployment(image="nginx:2")},
        (
            Run("validate", 0, checked(f"nginx.yaml:1: {OUTDATED}", policies="0 propagation policies", files=4)),
            Run("reconcile", 0, COMMITTED, f"warning: {OUTDATED}\n"),
            Run("reconcile", 0, UNCHANGED, f"warning: {OUTDATED}\n"),
            Run("render --commit", 0, "", f"unchanged branch=argosy/rendered\nwarning: {OUTDATED}\n"),
            Run("validate", 0, checked(f"nginx.yaml:1: {OUTDATED}", policies="0 propagation policies", files=4)),
        ),
        NGINX_ON_TWO,
    ),
    Story(
        "a released object that would be scaled is told of like any other change",
        {"nginx.yaml": a_deployment(), "policy.yaml": a_policy(placement=ON_TWO)},
        {"policy.yaml": None, "nginx.yaml": a_deployment(replicas=5)},
        (Run("reconcile", 0, COMMITTED, f"warning: {OUTDATED}\n"),),
        NGINX_ON_TWO,
    ),
    Story(
        "a policy that selects its object no longer releases it as well",
        {"nginx.yaml": a_deployment(), "policy.yaml": a_policy(placement=ON_TWO)},
        {"policy.yaml": a_policy(selectors=[{**NGINX, "name": "other"}], placement=ON_TWO)},
        (Run("reconcile", 0, COMMITTED, f"warning: {RELEASED}\n"),),
        NGINX_ON_TWO,
    ),
    Story(
        "where another policy selects it, an object is not released but changes hands",
        {
            "nginx.yaml": a_deployment(),
            "policy.yaml": a_policy(placement=ON_TWO),
            "spare.yaml": a_policy("spare", selectors=[ANY_DEPLOYMENT], placement=ON_TWO),
        },
        {"policy.yaml": None},
        (Run("reconcile", 0, COMMITTED),),
        NGINX_ON_TWO,
    ),
    Story(
        "what a policy held stays while it waits for an override, pass after pass",
        {"nginx.yaml": a_deployment(), "policy.yaml": a_policy(placement=ON_TWO)},
        {"policy.yaml": WAITING, "nginx.yaml": a_deployment(image="nginx:2")},
        (
            Run("validate", 0, WAITING_POLICY),
            Run("reconcile", 1, COMMITTED, WAITS),
            Run("reconcile", 1, UNCHANGED, WAITS),
            Run("render --commit", 1, "", f"unchanged branch=argosy/rendered\n{WAITS}"),
        ),
        NGINX_ON_TWO,
    ),
    Story(
        "a policy that waits is not gone, so that nothing it held is removed with onPolicyRemoval: Remove",
        {
            "argosy.yaml": settings(onPolicyRemoval="Remove"),
            "nginx.yaml": a_deployment(),
            "policy.yaml": a_policy(placement=ON_TWO),
        },
        {"policy.yaml": WAITING},
        (Run("reconcile", 1, COMMITTED, WAITS),),
        NGINX_ON_TWO,
    ),
    Story(
        "onPolicyRemoval: Remove takes it away, under the guard",
        {
            "argosy.yaml": settings(onPolicyRemoval="Remove"),
            "nginx.yaml": a_deployment(),
            "policy.yaml": a_policy(placement=ON_TWO),
        },
        {"policy.yaml": None},
        (
            Run("validate", 0, UNSELECTED),
            Run("diff main~1 main", 1, REMOVED_WITH_POLICY + refused_section(ALL_OF_TWO)),
            Run("reconcile", 6, "", ALL_OF_TWO),
            Run("reconcile --allow-removal *=1", 1, emptied("1 template"), NO_POLICY),
        ),
        (),
    ),
    Story(
        "what is released goes once onPolicyRemoval says Remove, under the guard",
        {"nginx.yaml": a_deployment(), "policy.yaml": a_policy(placement=ON_TWO)},
        {"policy.yaml": None, "argosy.yaml": settings(onPolicyRemoval="Remove")},
        (Run("reconcile --accept-settings", 6, "", ALL_OF_TWO),),
        NGINX_ON_TWO,
    ),
    Story(
        "what is released goes with its template, under the guard",
        {"nginx.yaml": a_deployment(), "policy.yaml": a_policy(placement=ON_TWO)},
        {"policy.yaml": None, "nginx.yaml": None},
        (
            Run("reconcile", 6, "", ALL_OF_TWO),
            Run("reconcile --allow-removal *=1", 0, emptied("0 templates")),
        ),
        (),
    ),
    Story(
        "an object leaves the clusters that its policy names no more",
        {
            **ONE_MAP,
            "nginx.yaml": a_deployment(),
            "policy.yaml": a_policy(placement=ON_TWO),
        },
        {"policy.yaml": a_policy(placement=on_clusters("member2"))},
        (
            Run(
                "diff main~1 main",
                1,
                "<main~1>..<main>: 1 cluster changes, 1 object removed\n"
                "risk: touches 1 of 3 clusters, workloads in one cluster alone: 0 -> 1\n"
                "\nOBJECTS\n  - Deployment.apps default/nginx in member1\n"
                "\nREPLICAS\n  Deployment.apps default/nginx: 4 -> 2 replicas, 0 moved\n      member1 2 -> 0\n",
            ),
            Run("reconcile", 0, COMMITTED),
        ),
        ("member1 default/ConfigMap/one", NGINX_ON_TWO[1]),
    ),
    Story(
        "an object leaves with its template",
        {**ONE_MAP, "nginx.yaml": a_deployment(), "policy.yaml": a_policy(placement=on_clusters("member1"))},
        {"nginx.yaml": None},
        (
            Run(
                "validate",
                0,
                checked_unmatched(
                    "policy.yaml:12: spec.resourceSelectors[0]: selects no template", "there is no Deployment here"
                ),
            ),
            Run("reconcile", 0, COMMITTED.replace("2 clusters", "1 cluster")),
        ),
        ("member1 default/ConfigMap/one",),
    ),
    Story(
        "what preserveResourcesOnDeletion keeps leaves the folder alone, and diff says what becomes of it",
        {
            **ONE_MAP,
            "nginx.yaml": a_deployment(),
            "policy.yaml": a_policy(placement=on_clusters("member1"), preserveResourcesOnDeletion=True),
        },
        {"nginx.yaml": None},
        (
            Run(
                "diff main~1 main",
                1,
                "<main~1>..<main>: 1 cluster changes, 1 object removed\n"
                "risk: touches 1 of 3 clusters, workloads in one cluster alone: 1 -> 0\n"
                "\nOBJECTS\n  - Deployment.apps default/nginx in member1: it stays there, and is no longer ours"
                " (preserveResourcesOnDeletion)\n"
                "\nREPLICAS\n  Deployment.apps default/nginx: 2 -> 0 replicas, 0 moved\n      member1 2 -> 0\n",
            ),
            Run("reconcile", 0, COMMITTED.replace("2 clusters", "1 cluster")),
        ),
        ("member1 default/ConfigMap/one",),
    ),
    Story(
        "a Cluster that leaves is disconnected: its folder stays, replicas are dealt to those that are left",
        {"nginx.yaml": a_deployment(replicas=6), "policy.yaml": a_policy(placement={"replicaScheduling": ONE_EACH})},
        {"clusters/member3.yaml": None},
        (
            Run("validate", 0, f"{ABSENT}0 problems, 1 warning: {COUNTS_OF_TWO}\n"),
            Run("diff main~1 main", 1, DISCONNECTED),
            Run("render", 0, TABLE_OF_TWO, ABSENT),
            Run("reconcile", 0, COMMITTED.replace("2 clusters", "3 clusters"), ABSENT),
        ),
        (
            "member1 default/Deployment.apps/nginx 3 nginx:1.29",
            "member2 default/Deployment.apps/nginx 3 nginx:1.29",
            "member3 default/Deployment.apps/nginx 2 nginx:1.29",
        ),
    ),
    Story(
        "a disconnected cluster gets nothing new",
        {"nginx.yaml": a_deployment(), "policy.yaml": a_policy(placement={})},
        {"clusters/member3.yaml": None, "nginx.yaml": a_deployment(image="nginx:2")},
        (Run("reconcile", 0, COMMITTED.replace("2 clusters", "3 clusters")),),
        (
            "member1 default/Deployment.apps/nginx 2 nginx:2",
            "member2 default/Deployment.apps/nginx 2 nginx:2",
            "member3 default/Deployment.apps/nginx 2 nginx:1.29",
        ),
    ),
    Story(
        "a namespace in use goes along bare when its template goes",
        {"shop.yaml": SHOP, "apps.yaml": [a_config_map("one", namespace="shop"), IN_SHOP]},
        {"shop.yaml": None},
        (
            Run(
                "diff main~1 main",
                1,
                "<main~1>..<main>: 1 cluster changes, 1 object changed\n"
                "risk: touches 1 of 3 clusters\n\nOBJECTS\n  ~ Namespace shop in member1\n"
                '      metadata.labels: removed, was {"team":"web"}\n',
            ),
            Run("reconcile", 0, COMMITTED.replace("2 clusters", "1 cluster")),
        ),
        ("member1 _cluster/Namespace/shop", "member1 shop/ConfigMap/one"),
    ),
    Story(
        "a namespace leaves the folder with its last object, and diff says so",
        {**ONE_MAP, "shop.yaml": SHOP, "apps.yaml": [a_config_map("two", namespace="shop"), IN_SHOP]},
        {"apps.yaml": None},
        (
            Run(
                "diff main~1 main",
                1,
                "<main~1>..<main>: 1 cluster changes, 2 objects removed\nrisk: touches 1 of 3 clusters\n"
                "\nOBJECTS\n  - ConfigMap shop/two in member1\n  - Namespace shop in member1\n",
            ),
            Run("reconcile", 0, COMMITTED.replace("2 clusters", "1 cluster")),
        ),
        ("member1 default/ConfigMap/one",),
    ),
    Story(
        "namespaces: All sends the source's namespaces everywhere, as Karmada does",
        {**ONE_MAP, "argosy.yaml": settings(namespaces="All"), "shop.yaml": SHOP},
        {"README.md": "# fleet\n"},
        (Run("reconcile", 0, UNCHANGED),),
        (
            "member1 _cluster/Namespace/shop",
            "member1 default/ConfigMap/one",
            "member2 _cluster/Namespace/shop",
            "member3 _cluster/Namespace/shop",
        ),
    ),
    Story(
        "namespaces: Explicit sends those that a policy selects",
        {
            "argosy.yaml": settings(namespaces="Explicit"),
            "shop.yaml": SHOP,
            "apps.yaml": [a_config_map("one", namespace="shop"), IN_SHOP],
        },
        {"spaces.yaml": a_cluster_policy("spaces", selectors=[NAMESPACES], placement=on_clusters("member2"))},
        (Run("reconcile", 0, COMMITTED),),
        ("member1 shop/ConfigMap/one", "member2 _cluster/Namespace/shop"),
    ),
    Story(
        "what a policy held stays while it waits for a PriorityClass",
        {"nginx.yaml": a_deployment(), "policy.yaml": a_policy(placement=ON_TWO)},
        {"policy.yaml": WAITING_FOR_CLASS, "nginx.yaml": a_deployment(image="nginx:2")},
        (
            Run("validate", 0, WAITING_POLICY.replace(*OVERRIDES_TO_CLASS)),
            Run("reconcile", 1, COMMITTED, CLASS_WAITS),
            Run("render --commit", 1, "", f"unchanged branch=argosy/rendered\n{CLASS_WAITS}"),
        ),
        NGINX_ON_TWO,
    ),
    Story(
        "a template whose first policy waits goes nowhere, and that is said",
        {"nginx.yaml": a_deployment(), "policy.yaml": WAITING},
        {"README.md": "# fleet\n"},
        (Run("reconcile", 1, UNCHANGED, WAITS + UNBUILT),),
        (),
    ),
]


def test_what_would_change_a_released_object_is_told_as_a_difference_that_makes_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = a_fleet(tmp_path / "fleet")
    repository.commit({"nginx.yaml": a_deployment(), "policy.yaml": a_policy(placement=ON_TWO)})
    argosy(repository, capsys, "reconcile", "--bootstrap")
    repository.commit({"policy.yaml": None})
    argosy(repository, capsys, "reconcile")
    repository.commit({"nginx.yaml": a_deployment(image="nginx:2")})
    repository.commit({"other.yaml": a_deployment("other")})
    runs = (
        Run("diff main~2 main~1", 0, f"<main~2>..<main~1>: no difference\n\nRELEASED\n  {OUTDATED}\n"),
        Run("diff main~1 main", 0, f"<main~1>..<main>: {NOWHERE}\n"),
        Run("reconcile", 0, UNCHANGED, f"warning: {OUTDATED}\n"),
    )
    check_runs(runs, repository, capsys)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.why)
def test_what_leaves_the_source(story: Story, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    play(story, a_fleet(tmp_path / "fleet"), capsys)


def test_a_cluster_that_comes_back_gives_up_what_it_kept_under_the_guard(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = a_fleet(tmp_path / "fleet")
    strict = settings(removalGuard={"count": 0, "percent": 0})
    repository.commit({"argosy.yaml": strict, "nginx.yaml": a_deployment(), "policy.yaml": a_policy(placement=ON_TWO)})
    argosy(repository, capsys, "reconcile", "--bootstrap")
    repository.commit({"clusters/member1.yaml": None, "policy.yaml": a_policy(placement=on_clusters("member2"))})
    argosy(repository, capsys, "reconcile")
    assert held(repository) == NGINX_ON_TWO
    repository.commit({"clusters/member1.yaml": a_cluster("member1")})
    refused = (
        "this change removes too much at once; nothing was committed\n"
        f"  member1: 1 of 1 object (more than 0): default/Deployment.apps/nginx.yaml\n{removal_hint('member1 1')}"
    )
    runs = (
        Run("reconcile", 6, "", refused),
        Run("reconcile --allow-removal member1=1", 0, COMMITTED.replace("2 clusters", "1 cluster")),
    )
    check_runs(runs, repository, capsys)
    assert held(repository) == NGINX_ON_TWO[1:]


def test_what_is_preserved_stays_in_its_cluster_and_is_no_longer_ours(tmp_path: Path) -> None:
    one = {"apiVersion": "v1", "kind": "ConfigMap", "name": "one"}
    placement = on_clusters("member1")
    first = {
        "one.yaml": a_config_map("one", color="red"),
        "two.yaml": a_config_map("two"),
        "policy.yaml": a_policy("one", selectors=[one], placement=placement, preserveResourcesOnDeletion=True),
        "others.yaml": a_policy("two", selectors=[{**one, "name": "two"}], placement=placement),
    }
    fleet = MemoryFleet.create(tmp_path / "fleet", {"member1": (1, {"cpu": "8", "pods": "110"})}, first)
    fleet.run()
    member = fleet.members["member1"]
    assert member.objects["configmaps.", "default", "one"]["metadata"]["labels"]
    fleet.repository.commit({"one.yaml": None})
    fleet.run()
    left = member.objects["configmaps.", "default", "one"]
    assert (left["data"], left["metadata"]["labels"], left["metadata"]["managedFields"]) == ({"color": "red"}, {}, [])


def test_a_namespace_without_a_template_is_bare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """So it equals any Namespace of its name that is there, whoever made it."""
    repository = a_fleet(tmp_path / "fleet")
    repository.commit({"apps.yaml": [a_config_map("one", namespace="shop"), IN_SHOP]})
    argosy(repository, capsys, "reconcile", "--bootstrap")
    assert repository.show("clusters/member1/_cluster/Namespace/shop.yaml") == (
        "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop"
    )


def test_what_a_released_object_requires_stays_with_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = a_fleet(tmp_path / "fleet")
    workload = a_deployment()
    workload["spec"]["template"]["spec"]["containers"][0]["envFrom"] = [{"configMapRef": {"name": "settings"}}]
    policy = a_policy(placement=ON_TWO, propagateDeps=True)
    repository.commit({"apps.yaml": [workload, a_config_map("settings", color="red")], "policy.yaml": policy})
    argosy(repository, capsys, "reconcile", "--bootstrap")
    before = repository.git("rev-parse", "argosy/rendered:clusters")
    repository.commit({"policy.yaml": None})
    check_runs((Run("reconcile", 0, COMMITTED, f"warning: {RELEASED}\n"),), repository, capsys)
    assert repository.git("rev-parse", "argosy/rendered:clusters") == before
