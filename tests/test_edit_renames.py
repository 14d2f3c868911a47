"""``argosy cluster rename``: the same cluster under another name, in files, in what is rendered and in what is told."""

import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.cli import run
from render.documents import parse_documents

from .build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters, weighted

pytestmark = pytest.mark.xdist_group("edit renames")  # one process makes the shared fleet for all of them

STRATEGIES = Path(__file__).parent.parent / "examples" / "strategies"
FLEET = """\
apiVersion: argosy.dev/v1alpha1
kind: Fleet
metadata:
  name: default
spec:
  # By hand.
  clusters:
  - name: paris
  - name: rome
    context: roma
  mirrors: [rome, paris]
  movementGuard:
    pinned:
    - kind: Deployment
      group: apps
      name: nginx
      clusters: [paris]
"""
RENAMED = """\
cluster/lyon renamed from paris, and more changes by that:

SETTINGS
  spec.movementGuard.pinned: [apps/Deployment/nginx@paris] -> [apps/Deployment/nginx@lyon] - waits until somebody\
 accepts it, with argosy reconcile --accept-settings
"""
OVERRIDE = {
    "apiVersion": "policy.karmada.io/v1alpha1",
    "kind": "OverridePolicy",
    "metadata": {"name": "nginx", "namespace": "default"},
    "spec": {
        "resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "nginx"}],
        "overrideRules": [
            {
                "targetCluster": {"clusterNames": ["paris"]},
                "overriders": {"labelsOverrider": [{"operator": "add", "value": {"clusterNames": "paris"}}]},
            },
            {
                "targetCluster": {"exclude": ["rome", "paris"]},
                "overriders": {"labelsOverrider": [{"operator": "add", "value": {"other": "yes"}}]},
            },
        ],
    },
}
WEIGHT = "weightPreference.staticWeightList[0].targetCluster"
PLACEMENT = on_clusters("paris", "rome", replicaScheduling=weighted(paris=2, rome=1))


def a_fleet(path: Path, **files: Any) -> Repository:
    """Two members in files of their own, with a policy and an override that list them."""
    repository = Repository.create(path)
    members = {f"clusters/{name}.yaml": a_cluster(name, region="eu") for name in ("paris", "rome")}
    policies = {"policy.yaml": a_policy(placement=PLACEMENT), "override.yaml": OVERRIDE}
    repository.commit({"web.yaml": a_deployment(replicas=3), **members, **policies, **files})
    return repository


def values(repository: Repository, path: str) -> Any:
    return parse_documents((repository.path / path).read_bytes())[0].value


def test_the_line_of_argosy_yaml_that_names_it_is_no_further_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another line of that file that is not committed yet is one, for the commit of the new name holds it."""
    listed = FLEET.partition("  movementGuard:\n")[0]
    repository = a_fleet(tmp_path / "fleet", **{"argosy.yaml": listed})
    ended = argosy(repository, capsys, "cluster", "rename", "paris", "lyon")
    assert ended.outcome == "cluster/lyon renamed from paris: nothing changes in any cluster\n"
    repository.git("checkout", "-q", ".")
    repository.git("clean", "-fdq")
    repository.write({"argosy.yaml": listed + "  rescheduling: Karmada\n"})
    ended = argosy(repository, capsys, "cluster", "rename", "paris", "lyon")
    assert ended.outcome == (
        "cluster/lyon renamed from paris, and more changes by that:\n"
        "\nSETTINGS\n  spec.rescheduling: Source -> Karmada\n"
    )


def test_every_list_of_the_source_names_it_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = a_fleet(tmp_path / "fleet", **{"argosy.yaml": FLEET})
    ended = argosy(repository, capsys, "cluster", "rename", "paris", "lyon")
    assert (ended.code, ended.outcome) == (0, RENAMED)
    assert ended.err.splitlines() == [
        "wrote file=argosy.yaml",
        "wrote file=clusters/lyon.yaml",
        "removed file=clusters/paris.yaml",
        "wrote file=override.yaml",
        "wrote file=policy.yaml",
        "override.yaml:15: spec.overrideRules[0].targetCluster.clusterNames[0]: lyon instead of paris",
        "override.yaml:24: spec.overrideRules[1].targetCluster.exclude[1]: lyon instead of paris",
        "policy.yaml:10: spec.placement.clusterAffinity.clusterNames[0]: lyon instead of paris",
        f"policy.yaml:19: spec.placement.replicaScheduling.{WEIGHT}.clusterNames[0]: lyon instead of paris",
        "warning: the branch argosy/cluster/paris ends here; argosy/cluster/lyon takes its place",
    ]
    assert values(repository, "clusters/lyon.yaml")["metadata"] == {
        "name": "lyon",
        "annotations": {"argosy.dev/renamed-from": "paris"},
    }
    assert (repository.path / "argosy.yaml").read_text() == FLEET.replace(
        "- name: paris\n", "- name: lyon\n    context: paris\n"
    ).replace("[rome, paris]", "[rome, lyon]").replace("[paris]", "[lyon]")
    override = (repository.path / "override.yaml").read_text()
    assert override.count("lyon") == 2
    assert "clusterNames: paris" in override


class Context(NamedTuple):
    why: str
    fleet: str
    want: str


CONTEXTS = [
    Context("a context of its own stays", "clusters: [{name: paris, context: kind}]", "[{name: lyon, context: kind}]"),
    Context("one named like it is kept", "clusters: [{name: paris}]", "[{name: lyon, context: paris}]"),
    Context("of all by their names", "clusters: [{name: '*'}]", "[{name: '*'}, {name: lyon, context: paris}]"),
    Context("one that is not listed", "clusters: [{name: rome}]", "[{name: rome}]"),
]


@pytest.mark.parametrize("case", CONTEXTS, ids=lambda case: case.why)
def test_the_way_to_it_stays(case: Context, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = f"apiVersion: argosy.dev/v1alpha1\nkind: Fleet\nspec:\n  {case.fleet}\n"
    repository = a_fleet(tmp_path / "fleet", **{"argosy.yaml": fleet})
    assert argosy(repository, capsys, "cluster", "rename", "paris", "lyon", "--commit").code == 0
    assert values(repository, "argosy.yaml")["spec"]["clusters"] == parse_documents(case.want.encode())[0].value
    assert repository.git("log", "-1", "--format=%s") == "Rename paris to lyon"
    assert repository.git("status", "--short") == ""


def test_what_is_left_to_do_by_hand_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\nspec:\n  kubeconfigs: /etc/fleet\n"
    test = {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "PolicyTest",
        "metadata": {"name": "nginx"},
        "spec": {"expect": [{"kind": "Deployment", "group": "apps", "name": "nginx", "replicas": {"paris": 2}}]},
    }
    repository = a_fleet(tmp_path / "fleet", **{"argosy.yaml": fleet, "test.yaml": test})
    ended = argosy(repository, capsys, "cluster", "rename", "paris", "lyon")
    assert ended.err.splitlines()[-2:] == [
        "warning: test.yaml:1: this PolicyTest names paris still",
        "warning: a kubeconfig called paris in /etc/fleet must be called lyon now",
    ]


class Refused(NamedTuple):
    why: str
    old: str
    new: str
    code: int
    said: str


REFUSED = [
    Refused("no member", "pariz", "lyon", 2, "the source has no cluster called 'pariz'\n  hint: did you mean 'paris'?"),
    Refused("a member already", "paris", "rome", 3, "'rome' is a member already: clusters/rome.yaml:1"),
    Refused("no name", "paris", "Lyon", 3, "'Lyon' is no name for a cluster: "),
    Refused("a file in the way", "paris", "oslo", 3, "clusters/oslo.yaml is there already and holds no Cluster"),
    Refused(
        "the name of one that was disconnected",
        "paris",
        "rhodes",
        3,
        "'rhodes' is the name of a cluster that was disconnected: argosy/rendered keeps clusters/rhodes for it",
    ),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.why)
def test_a_rename_that_is_refused_changes_nothing(
    case: Refused, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    oslo = a_config_map("oslo")
    repository = a_fleet(
        tmp_path / "fleet", **{"clusters/rhodes.yaml": a_cluster("rhodes"), "clusters/oslo.yaml": oslo}
    )
    repository.commit({"policy.yaml": a_policy(placement=on_clusters("paris", "rhodes"))})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    assert argosy(repository, capsys, "cluster", "unjoin", "rhodes", "--disconnect", "--commit").code == 0
    ended = argosy(repository, capsys, "cluster", "rename", case.old, case.new)
    assert (ended.code, case.said in ended.err) == (case.code, True), ended.err
    assert repository.git("status", "--short") == ""


def placements(repository: Repository) -> dict[str, list[tuple[str, int]]]:
    """The clusters and replicas of every binding that is rendered, in the scheduler's order."""
    lines: dict[str, list[str]] = {}
    for each in repository.git("grep", "", "argosy/rendered", "--", "bindings").splitlines():
        _, path, line = each.split(":", 2)
        lines.setdefault(path, []).append(f"{line}\n")
    found = {}
    for path, text in lines.items():
        listed = parse_documents("".join(text).encode())[0].value["spec"].get("clusters") or []
        found[path] = [(each["name"], each.get("replicas", 0)) for each in listed]
    return found


def folder(repository: Repository, cluster: str, revision: str) -> str:
    """The id of the folder of a cluster; none for one that holds nothing."""
    return repository.git("rev-parse", "-q", "--verify", f"{revision}:clusters/{cluster}", check=False)


NAMES = [("berlin", "zzz"), ("ohio", "aaa"), ("oregon", "zzz"), ("paris", "aaa"), ("paris", "zzz"), ("tokyo", "aaa")]
"""Members get names that sort before, or after, all others."""


SWITCHES = {"ours": "", "Karmada's": "spec: {compatibility: Karmada, requireRecordedAPIs: false}\n"}


@pytest.fixture(scope="module", params=SWITCHES)
def strategies(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example after a pass, to be copied: a workload for each strategy, and one in its second affinity group."""
    path = tmp_path_factory.mktemp("strategies") / "fleet"
    shutil.copytree(STRATEGIES, path, ignore=shutil.ignore_patterns("rendered", "explained", "tests"))
    made = Repository.create(path)
    made.commit({"argosy.yaml": f"apiVersion: argosy.dev/v1alpha1\nkind: Fleet\n{SWITCHES[request.param]}"})
    assert run(["-C", str(path), "reconcile", "--bootstrap"]) == 0
    return path


@pytest.mark.parametrize(("old", "new"), NAMES)
def test_no_replica_moves_whatever_the_strategy(
    old: str, new: str, strategies: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository(shutil.copytree(strategies, tmp_path / "fleet"))
    before = placements(repository)
    assert argosy(repository, capsys, "cluster", "rename", old, new, "--commit").code == 0

    ended = argosy(repository, capsys, "diff", "HEAD~1", "HEAD")
    assert (ended.code, ended.out.split(": ", 1)[1].splitlines()[0]) == (1, "1 cluster is renamed")
    assert f"\n  ~ {new} (was {old})\n" in ended.out
    assert argosy(repository, capsys, "reconcile").code == 0
    wanted = {
        path: sorted((new if name == old else name, count) for name, count in each) for path, each in before.items()
    }
    assert {path: sorted(each) for path, each in placements(repository).items()} == wanted
    assert folder(repository, new, "argosy/rendered") == folder(repository, old, "argosy/rendered~1")
    assert argosy(repository, capsys, "verify").code == 0
    assert argosy(repository, capsys, "diff", "HEAD~1", "HEAD").out == ended.out
    repository.commit({})
    assert argosy(repository, capsys, "reconcile").out.startswith("unchanged: ")


def test_it_is_told_everywhere_by_its_new_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = a_fleet(tmp_path / "fleet")
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    decided = repository.git("rev-parse", "argosy/rendered")
    assert argosy(repository, capsys, "cluster", "rename", "paris", "lyon", "--commit").code == 0
    status = argosy(repository, capsys, "status").out
    assert ("paris" in status, "lyon      1         2" in status) == (False, True), status

    assert argosy(repository, capsys, "reconcile").code == 0
    message = repository.git("log", "-1", "--format=%B", "argosy/rendered")
    assert message.split("\n\n")[1:3] == ["no cluster changes", "paris is called lyon now"]
    explained = argosy(repository, capsys, "explain", "cluster", "lyon").out
    assert "  Renamed from paris: it is the same cluster, so nothing moves by that.\n" in explained
    told = argosy(repository, capsys, "explain", "deploy/nginx", "--cluster", "lyon").out
    assert f"  Decided in rendered commit {decided[:12]}, " in told
    assert ("  paris " in told, "  lyon      chosen   2\n" in told) == (False, True), told
    assert argosy(repository, capsys, "diff", "HEAD~1", "HEAD").out.splitlines()[1:] == [
        "",
        "CLUSTERS",
        "  ~ lyon (was paris)",
    ]


def test_a_second_name_follows_the_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing was rendered in between, and then the first name comes back."""
    repository = a_fleet(tmp_path / "fleet")
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    wanted = placements(repository)
    for old, new, former in (
        ("paris", "lyon", "paris"),
        ("lyon", "nice", "paris, lyon"),
        ("nice", "paris", "lyon, nice"),
    ):
        assert argosy(repository, capsys, "cluster", "rename", old, new, "--commit").code == 0
        annotations = values(repository, f"clusters/{new}.yaml")["metadata"]["annotations"]
        assert annotations == {"argosy.dev/renamed-from": former}
        if new == "nice":
            assert argosy(repository, capsys, "reconcile").code == 0
            assert "clusters/nice" in repository.git("ls-tree", "--name-only", "argosy/rendered", "clusters/")
    assert argosy(repository, capsys, "reconcile").code == 0
    assert placements(repository) == wanted


class Conflict(NamedTuple):
    why: str
    members: tuple[dict[str, Any], ...]
    said: str


def called(name: str, former: str) -> dict[str, Any]:
    member = a_cluster(name)
    return {**member, "metadata": {**member["metadata"], "annotations": {"argosy.dev/renamed-from": former}}}


CONFLICTS = [
    Conflict(
        "a member has the name", (called("lyon", "paris"), a_cluster("paris")), "'paris' is a cluster of the source"
    ),
    Conflict("its own name", (called("lyon", "lyon"),), "'lyon' is a cluster of the source"),
    Conflict(
        "two had it",
        (called("lyon", "oslo"), called("nice", "riga, oslo")),
        "'oslo' is a former name of 'lyon', too",
    ),
]


@pytest.mark.parametrize("case", CONFLICTS, ids=lambda case: case.why)
def test_a_former_name_is_one_cluster_s(case: Conflict, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({f"{number}.yaml": member for number, member in enumerate(case.members)})
    ended = argosy(repository, capsys, "validate")
    assert ended.code == 3
    assert f": metadata.annotations.argosy.dev/renamed-from: {case.said}\n" in ended.out + ended.err
    assert "take the name out of the annotation: once a commit is rendered it is not needed" in ended.out + ended.err


def test_a_guard_that_refuses_a_rename_by_hand_names_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\nspec:\n  movementGuard: {fleet: {replicas: 1}}\n"
    repository = a_fleet(tmp_path / "fleet", **{"argosy.yaml": fleet})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    policy = (repository.path / "policy.yaml").read_text().replace("paris", "lyon")
    moved = {"clusters/paris.yaml": None, "clusters/lyon.yaml": a_cluster("lyon", region="eu"), "policy.yaml": policy}
    repository.commit(moved)
    refused = argosy(repository, capsys, "reconcile")
    line = "  paris left, and lyon is described alike; if it is the same cluster: argosy cluster rename paris lyon\n"
    assert (refused.code, line in refused.err) == (6, True), refused.err
    assert argosy(repository, capsys, "cluster", "rename", "paris", "lyon", "--commit").code == 0
    passed = argosy(repository, capsys, "reconcile")
    assert (passed.code, passed.out.startswith("committed ")) == (0, True), passed.err


def test_a_rename_that_repairs_a_revert_is_not_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A rename was reverted, so that its cluster stands there twice: as a new member, and as one that left."""
    fleet = Repository.create(tmp_path / "fleet")
    selectors = [{"apiVersion": "v1", "kind": "ConfigMap"}]
    objects = {f"{name}.yaml": a_config_map(name) for name in ("a", "b", "c", "d")}
    clusters = {f"{name}.yaml": a_cluster(name) for name in ("oslo", "rome")}
    fleet.commit(
        {**objects, **clusters, "p.yaml": a_policy(selectors=selectors, placement=on_clusters("oslo", "rome"))}
    )
    assert argosy(fleet, capsys, "reconcile", "--bootstrap").code == 0
    assert argosy(fleet, capsys, "cluster", "rename", "rome", "roma", "--commit").code == 0
    assert argosy(fleet, capsys, "reconcile").code == 0
    fleet.git("revert", "--no-edit", "HEAD")
    assert "argosy cluster rename roma rome" in argosy(fleet, capsys, "reconcile").err
    repaired = argosy(fleet, capsys, "cluster", "rename", "roma", "rome", "--commit")
    assert (repaired.code, repaired.out) == (
        0,
        "cluster/rome renamed from roma: nothing changes in any cluster\n\nnext:\n  argosy reconcile\n",
    )
    checked = argosy(fleet, capsys, "diff", "HEAD~1", "HEAD", "--check")
    told = "no difference in any cluster, 1 file of the source differs\n\nSOURCE\n  ~ rome.yaml\n"
    assert (checked.code, checked.out.partition(": ")[2], checked.err) == (0, told, "")
    assert argosy(fleet, capsys, "reconcile").code == 0
    assert {path.split("/")[1] for path in fleet.files(under="clusters")} == {"oslo", "rome"}
