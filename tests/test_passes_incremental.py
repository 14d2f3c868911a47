"""A pass with a scope commits, byte for byte, what a pass over everything would."""

import random
import shutil
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.branches.checkpoint import read_checkpoint
from reconciler.cli import run
from reconciler.passes import recorded_pass
from reconciler.repository import open_repository
from render.model import ObjectRef

from .build import (
    Repository,
    a_cluster,
    a_cluster_policy,
    a_config_map,
    a_deployment,
    a_policy,
    argosy,
    as_bytes,
    copied,
    on_clusters,
    weighted,
)
from .histories import (
    a_change,
    a_customization,
    a_namespace,
    a_setting,
    a_status,
    a_template,
    an_override,
    checkpoint_of,
    limits,
    next_scope,
    observe,
    settings_of_fleet,
    surroundings,
)
from .random_policies import DEPLOYMENT, a_taint_policy
from .test_remedy import a_remedy
from .test_source_prices import a_price_list

pytestmark = pytest.mark.xdist_group("publish incremental")  # one process makes the shared fleet for all of them


@pytest.fixture(scope="module", autouse=True)
def records() -> Iterator[None]:
    """Commits of fleets as small as these have a record, too."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(recorded_pass, "_WORTH_RECORDING", 0)
        yield


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fleet after a pass, to be copied."""
    repository, rng = Repository.create(tmp_path_factory.mktemp("rendered") / "fleet"), random.Random(0)
    held: dict[str, Any] = {f"apps/{number}.yaml": a_template(number, rng) for number in range(24)}
    maps = {f"settings/{number}.yaml": a_setting(number) for number in range(9)}
    # Beside these, what changes and what is volatile is the smaller part.
    held["many.yaml"] = [a_config_map(f"map{number}", namespace="shop") for number in range(60)]
    loose = {"argosy.yaml": "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\nspec: {removalGuard: {percent: 100}}\n"}
    repository.commit({**surroundings(), **limits(), **held, **maps, **loose})
    assert run(["-C", str(repository.path), "reconcile", "--bootstrap", "--now", "2026-03-02T08:05:00Z"]) in {0, 1}
    return repository.path


@pytest.fixture
def fleet(rendered: Path, tmp_path: Path) -> Repository:
    shutil.copytree(rendered, tmp_path / "fleet")
    return Repository(tmp_path / "fleet")


@pytest.mark.parametrize("seed", range(2))
def test_capacity_that_changes_between_passes_concerns_what_waits_for_it(
    fleet: Repository, capsys: pytest.CaptureFixture[str], tmp_path: Path, seed: int
) -> None:
    """As the checkpoint knows it, and as the last commit does."""
    rng = random.Random(100 + seed)
    rooms = {name: a_status(2) for name in ("m1", "m2", "m3", "m4")}
    observe(fleet, rooms)
    assert next_scope(fleet) is None
    for _ in range(6):
        assert argosy(fleet, capsys, "reconcile", "--allow-removal", "*=1000").code in {0, 1}
        for name in rng.sample(sorted(rooms), 2):
            rooms[name] = a_status(rng.randrange(6))
        observe(fleet, rooms)
        fleet.commit(a_change(rng) if rng.random() < 0.5 else {})
        scope = next_scope(fleet)
        assert scope is not None
        assert scope.facts <= rooms.keys()
        with open_repository(str(fleet.path)) as opened:
            known = read_checkpoint(opened)
        assert known is not None
        kept = checkpoint_of(fleet).rename(tmp_path / "checkpoint")
        by_record = next_scope(fleet)
        kept.rename(checkpoint_of(fleet))
        assert by_record is not None
        volatile = {ObjectRef(*words) for words in known.contents.volatile}
        assert volatile
        # What is gone and was nowhere is nothing that a commit tells of.
        assert volatile <= by_record.refs <= scope.refs
    assert argosy(fleet, capsys, "reconcile", "--allow-removal", "*=1000").code in {0, 1}
    replayed = argosy(fleet, capsys, "verify", "-n", "7").out.splitlines()
    assert [line.rpartition(" ")[2] for line in replayed] == ["equal"] * len(replayed)
    observe(fleet, rooms | {"m1": a_status(2, ready="False")})
    assert next_scope(fleet) is None


def test_what_a_changed_workload_requires_is_looked_at_with_it(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """The config map has a policy and a place of its own; now it is needed where the workload is, too."""
    owner = a_deployment("owner", namespace="default")
    owner["metadata"] |= {"labels": {"way": "follow"}, "annotations": {"a": "c"}}
    fleet.commit({"owner.yaml": owner, "map.yaml": a_setting(3)})
    fleet.commit({"settings/3.yaml": None})
    assert argosy(fleet, capsys, "reconcile", "--allow-removal", "*=1000").code in {0, 1}
    owner["spec"]["template"]["spec"]["volumes"] = [{"name": "v", "configMap": {"name": "settings1"}}]
    fleet.commit({"owner.yaml": owner})
    scope = next_scope(fleet)
    assert scope is not None
    assert ObjectRef("", "ConfigMap", "default", "settings1") not in scope.refs
    assert argosy(fleet, capsys, "reconcile").code in {0, 1}
    assert argosy(fleet, capsys, "verify").out.endswith(": equal\n")
    held = [path for path in fleet.files(under="clusters") if path.endswith("default/ConfigMap/settings1.yaml")]
    assert [path.split("/")[1] for path in held] == ["m1", "m3", "m4"]


def test_a_quota_counts_what_a_pass_does_not_look_at(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = Repository.create(tmp_path / "fleet")
    many = [a_config_map(f"map{number}", namespace="shop") for number in range(9)]
    first, second = (a_deployment(name, replicas=4, namespace="shop") for name in ("first", "second"))
    for each in (first, second):
        each["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    policy = a_cluster_policy(
        "all", selectors=[DEPLOYMENT], placement=on_clusters("m1", replicaScheduling=weighted(m1=1))
    )
    quota = {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "FederatedResourceQuota",
        "metadata": {"name": "shop", "namespace": "shop"},
        "spec": {"overall": {"cpu": "6"}, "staticAssignments": [{"clusterName": "m1", "hard": {"cpu": "6"}}]},
    }
    fleet.commit({"m1.yaml": a_cluster("m1"), "policy.yaml": [policy, quota], "many.yaml": many, "first.yaml": first})
    assert argosy(fleet, capsys, "reconcile", "--bootstrap").code == 0
    fleet.commit({"second.yaml": second})
    scope = next_scope(fleet)
    assert scope is not None
    assert [each.ref.name for each in scope.others] == ["first"]
    assert "QuotaExceeded" in argosy(fleet, capsys, "reconcile").err
    assert argosy(fleet, capsys, "verify").out.endswith(": equal\n")


APP = ObjectRef("apps", "Deployment", "web", "plain")


class Looked(NamedTuple):
    """A change after a pass, and the objects of it that the next pass looks at besides the volatile ones."""

    why: str
    files: dict[str, Any]
    refs: frozenset[ObjectRef] | None


def plain(image: str = "nginx:1.29") -> dict[str, Any]:
    made = a_deployment("plain", namespace="web", image=image)
    made["metadata"] |= {"labels": {"way": "duplicated"}, "annotations": {"a": "c"}}
    return made


def beside(image: str = "nginx:1.29") -> dict[str, Any]:
    made = plain(image)
    made["metadata"]["name"] = "beside"
    return made


TOGETHER: list[dict[str, Any]] = [
    beside(),
    a_policy("beside", namespace="web", selectors=[{**DEPLOYMENT, "name": "beside"}], placement=on_clusters("m1")),
    a_config_map("beside", namespace="web"),
]
"""One file of a policy, the workload that it selects, and something else."""

WEB = ObjectRef("", "Namespace", "", "web")
BESIDE = ObjectRef("apps", "Deployment", "web", "beside")


def commented(documents: list[dict[str, Any]]) -> str:
    return "# first\n" + as_bytes(documents).decode().replace("---\n", "---\n# next\n")


def a_policy_of(selected: dict[str, Any], name: str = "p") -> dict[str, Any]:
    meta = selected["metadata"]
    selectors = [{"apiVersion": selected["apiVersion"], "kind": selected["kind"], "name": meta["name"]}]
    placement = on_clusters("m1")
    if "namespace" in meta:
        return a_policy(name, namespace=meta["namespace"], selectors=selectors, placement=placement)
    return a_cluster_policy(name, selectors=selectors, placement=placement)


def a_policy_that_fails_over() -> dict[str, Any]:
    made = a_policy_of(plain())
    made["spec"] |= {
        "propagateDeps": True,
        "failover": {"application": {"decisionConditions": {"tolerationSeconds": 60}}},
    }
    return made


def an_override_of(selected: dict[str, Any]) -> dict[str, Any]:
    made = an_override(random.Random(0)) | {"kind": "ClusterOverridePolicy", "metadata": {"name": "more0"}}
    made["spec"].pop("resourceSelectors")
    if selected:
        made["spec"]["resourceSelectors"] = [{**DEPLOYMENT, "name": selected["metadata"]["name"]}]
    return made


def labelled(region: str = "", **labels: str) -> list[dict[str, Any]]:
    """The surroundings in which the first cluster has labels."""
    first, *others = surroundings()["fleet.yaml"]
    made = deepcopy(first)
    made["metadata"]["labels"] = labels
    made["spec"] |= {"region": region} if region else {}
    return [made, *others]


def by_labels() -> list[dict[str, Any]]:
    """An override and a policy that choose clusters by a label, which none has."""
    override = an_override_of(beside()) | {"metadata": {"name": "left"}}
    override["spec"]["overrideRules"][0]["targetCluster"] = {"labelSelector": {"matchLabels": {"side": "left"}}}
    selectors = [{**DEPLOYMENT, "name": "plain"}]
    placement = {"clusterAffinity": {"labelSelector": {"matchLabels": {"side": "right"}}}}
    policy = a_cluster_policy("right", selectors=selectors, placement=placement, priority=-1)
    return [override, policy]


LOOKS = [
    Looked("nothing new is nothing to look at", {}, frozenset()),
    Looked("a comment changes the file, so its object is looked at", {"z.yaml": plain() | {}}, frozenset()),
    Looked("a template that changed, with its namespace", {"z.yaml": plain("nginx:2")}, frozenset({APP, WEB})),
    Looked("a template that is gone", {"z.yaml": None}, frozenset({APP, WEB})),
    Looked("a template that moved to another file is the same", {"z.yaml": None, "y.yaml": plain()}, frozenset()),
    Looked("a policy that selects nothing", {"policy.yaml": a_policy("p", placement=on_clusters("m1"))}, frozenset()),
    Looked("a policy concerns what it selects", {"policy.yaml": a_policy_of(plain())}, frozenset({APP, WEB})),
    Looked(
        "a policy concerns what it selected before",
        {"together.yaml": [TOGETHER[0], a_policy_of(plain(), "beside"), TOGETHER[2]]},
        frozenset({APP, BESIDE, WEB}),
    ),
    Looked("a policy that is gone, too", {"together.yaml": TOGETHER[::2]}, frozenset({BESIDE, WEB})),
    Looked("an override concerns what it selects", {"o.yaml": an_override_of(plain())}, frozenset({APP, WEB})),
    Looked("an override of all kinds concerns everything", {"o.yaml": an_override_of({})}, None),
    Looked("a policy of namespaces concerns everything", {"policy.yaml": a_policy_of(a_namespace("shop"))}, None),
    Looked("a policy that fails over concerns everything", {"policy.yaml": a_policy_that_fails_over()}, None),
    Looked(
        "a customization concerns the objects of its kind",
        {"c.yaml": a_customization(random.Random(1), "Deployment")},
        frozenset({APP, BESIDE, WEB}),
    ),
    Looked("a cluster that joins concerns everything", {"m5.yaml": a_cluster("m5")}, None),
    Looked(
        "a label of a cluster that nothing reads concerns nothing", {"fleet.yaml": labelled(other="x")}, frozenset()
    ),
    Looked(
        "a label of a cluster concerns what an override by it selects",
        {"fleet.yaml": labelled(side="left")},
        frozenset({BESIDE, WEB}),
    ),
    Looked(
        "a label of a cluster concerns what a policy by it selects",
        {"fleet.yaml": labelled(side="right")},
        frozenset({APP, WEB}),
    ),
    Looked("a cluster in another region concerns everything", {"fleet.yaml": labelled(region="eu", other="x")}, None),
    Looked("a namespace concerns everything", {"web.yaml": a_namespace("web")}, None),
    Looked(
        "a policy beside a template changes its file alone",
        {"z.yaml": [plain(), a_policy("p", placement=on_clusters("m1"))]},
        frozenset({APP, WEB}),
    ),
    Looked(
        "a template that changed beside a policy is looked at alone",
        {"together.yaml": [beside("nginx:2"), *TOGETHER[1:]]},
        frozenset({BESIDE, WEB}),
    ),
    Looked("the order of documents decides nothing", {"together.yaml": TOGETHER[::-1]}, frozenset()),
    Looked("a document written twice is the same", {"together.yaml": [*TOGETHER, *TOGETHER]}, frozenset()),
    Looked("comments between documents decide nothing", {"together.yaml": commented(TOGETHER)}, frozenset()),
    Looked(
        "a policy that moved concerns what it selects",
        {"together.yaml": TOGETHER[::2], "p.yaml": TOGETHER[1]},
        frozenset({BESIDE, WEB}),
    ),
    Looked(
        "settings concern everything", {"argosy.yaml": "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\nspec: {}\n"}, None
    ),
]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A fleet with one workload after a pass, to be copied."""
    repository = Repository.create(tmp_path_factory.mktemp("small") / "fleet")
    many = [a_config_map(f"map{number}", namespace="web") for number in range(9)]
    repository.commit(
        {**surroundings(), "z.yaml": plain(), "together.yaml": TOGETHER, "by.yaml": by_labels(), "many.yaml": many}
    )
    assert run(["-C", str(repository.path), "reconcile", "--bootstrap"]) == 0
    return repository


@pytest.mark.parametrize("case", LOOKS, ids=lambda case: case.why)
def test_what_a_pass_looks_at(case: Looked, small: Repository, tmp_path: Path) -> None:
    (repository,) = copied(tmp_path, small)
    repository.commit(case.files)
    scope = next_scope(repository)
    assert (scope and scope.refs) == case.refs


def settings_with_rollouts(**rollouts: Any) -> dict[str, Any]:
    spec = {"rollouts": rollouts}
    return {"argosy.yaml": {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": spec}}


READING_LABELS: dict[str, dict[str, Any]] = {
    "a freeze": settings_with_rollouts(freezes=[{"reason": "audit", "until": "2099-01-01T00:00:00Z"}]),
    "a window": settings_with_rollouts(windows=[{"days": ["Mon"], "from": "09:00", "to": "16:00"}]),
    "a taint policy": {"taints.yaml": a_taint_policy(random.Random(1))},
    "a remedy": {"remedy.yaml": a_remedy("r", conditionType="Ready", operator="NotEqual", conditionStatus="True")},
    "prices": {"prices.yaml": a_price_list({"perHour": {"cpu": "1"}})},
    "a lazy policy": {
        "lazy.yaml": a_policy(
            "lazy", namespace="web", selectors=[DEPLOYMENT], placement=on_clusters("m1"), activationPreference="Lazy"
        )
    },
}
"""Each of these may go by labels of clusters in another way than policies and overrides that select them."""


@pytest.mark.parametrize("reader", READING_LABELS)
def test_a_label_concerns_everything_where_more_than_selectors_may_read_it(
    reader: str, small: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository,) = copied(tmp_path, small)
    repository.commit(READING_LABELS[reader])
    assert argosy(repository, capsys, "reconcile", "--accept-settings").code == 0
    assert next_scope(repository) is not None
    repository.commit({"fleet.yaml": labelled(other="x")})
    assert next_scope(repository) is None


@pytest.mark.parametrize("case", LOOKS, ids=lambda case: case.why)
def test_what_a_pass_looks_at_that_knows_the_last_commit_alone(case: Looked, small: Repository, tmp_path: Path) -> None:
    """As in a fresh clone."""
    (repository,) = copied(tmp_path, small)
    checkpoint_of(repository).unlink()
    repository.commit(case.files)
    scope = next_scope(repository)
    assert (scope and scope.refs) == case.refs


def with_other_commit(fleet: Repository, before: str, after: str) -> None:
    """Rewrite the newest rendered commit, as somebody does who amends it, and forget the checkpoint."""
    commit = fleet.git("cat-file", "commit", "argosy/rendered")
    assert before in commit
    (fleet.path / "commit").write_text(commit.replace(before, after) + "\n")
    made = fleet.git("hash-object", "-t", "commit", "-w", "commit")
    (fleet.path / "commit").unlink()
    fleet.git("update-ref", "refs/heads/argosy/rendered", made)
    checkpoint_of(fleet).unlink()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("\nargosy {", "\nother {"),
        ('"rest": "', '"rest": "0'),
        ('"source": "', '"source": "0'),
        ('"paths": "', '"paths": "0'),
        ('"volatile": []', '"volatile": {}'),
        ('"volatile": []', '"volatile": [["apps", "Deployment", "web"]]'),
        ('"volatile": []', '"volatile": [["apps", "Deployment", "shop", "\\ud800"]]'),
        ('"waits": []', '"waits": [["apps", "Deployment", "shop", "web", "2026-01-01T00:00:00Z"]]'),
        ('"facts": ""', '"facts": "so"'),
        ('"facts": ""', '"facts": "abc"'),
        ('"commit": "', '"commit": "0'),
        ("Argosy-Version: ", "Argosy-Version: 0."),
    ],
)
def test_a_commit_whose_record_is_not_as_it_was_written_is_looked_at_as_a_whole(
    before: str, after: str, small: Repository, tmp_path: Path
) -> None:
    (fleet,) = copied(tmp_path, small)
    with_other_commit(fleet, before, after)
    fleet.commit({"z.yaml": plain("nginx:2")})
    assert next_scope(fleet) is None


def test_a_commit_that_names_another_source_than_it_was_made_of_is_looked_at_as_a_whole(
    small: Repository, tmp_path: Path
) -> None:
    (fleet,) = copied(tmp_path, small)
    rendered_from = fleet.git("rev-parse", "HEAD")
    other = fleet.commit({"z.yaml": plain("nginx:2")})
    with_other_commit(fleet, f"Argosy-Source: {rendered_from}", f"Argosy-Source: {other}")
    fleet.commit({"note.txt": "x"})
    assert next_scope(fleet) is None


def test_a_tree_that_was_changed_by_hand_is_repaired_by_a_pass_that_knows_the_commit_alone(
    small: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (fleet,) = copied(tmp_path, small)
    held = fleet.contents()
    tree = fleet.git("rev-parse", "argosy/rendered^{tree}")
    fleet.git("read-tree", tree)
    fleet.git("rm", "-rq", "--cached", "clusters/m2")
    bare = fleet.git("write-tree")
    fleet.git("read-tree", "HEAD")
    with_other_commit(fleet, f"tree {tree}\n", f"tree {bare}\n")
    fleet.commit({"note.txt": "x"})
    assert next_scope(fleet) is None
    assert argosy(fleet, capsys, "reconcile").code == 0
    assert fleet.contents() == held


@pytest.mark.parametrize("is_fresh", [False, True])
def test_what_came_to_a_tainted_cluster_leaves_it_when_its_toleration_ends(
    is_fresh: bool, small: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Though nothing of it changes after the pass that placed it there, beside the taint."""
    (fleet,) = copied(tmp_path, small)
    taint = {"key": "k", "value": "v", "effect": "NoExecute", "timeAdded": "2026-03-02T08:00:00Z"}
    tolerated = {"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 900}
    placement = on_clusters("n1", "m2", clusterTolerations=[tolerated])
    selector = {"apiVersion": "v1", "kind": "ConfigMap", "name": "late"}
    fleet.commit(
        {
            "n1.yaml": a_cluster("n1") | {"spec": {"syncMode": "Push", "taints": [taint]}},
            "late.yaml": [a_cluster_policy("late", selectors=[selector], placement=placement), a_config_map("late")],
            "argosy.yaml": settings_of_fleet(featureGates={"Failover": True}),
        }
    )
    assert argosy(fleet, capsys, "reconcile", "--accept-settings", "--now", "2026-03-02T08:10:00Z").code == 0
    fleet.commit({"z.yaml": plain("nginx:2")})
    if is_fresh:
        checkpoint_of(fleet).unlink()
    assert next_scope(fleet) is not None
    said = argosy(fleet, capsys, "reconcile", "--now", "2026-03-02T08:30:00Z").err
    assert said == "warning: ConfigMap default/late is evicted from n1\n"


def test_a_forged_record_deceives_no_verification(
    small: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither that of the forged commit, whose record is for the tree it has, nor that of a pass which went by it.

    ``render --commit`` repairs it: it goes by no record.
    """
    (fleet,) = copied(tmp_path, small)
    tree = fleet.git("rev-parse", "argosy/rendered^{tree}")
    fleet.git("read-tree", tree)
    fleet.git("rm", "-rq", "--cached", "clusters/m2")
    bare = fleet.git("write-tree")
    fleet.git("read-tree", "HEAD")
    with_other_commit(fleet, tree, bare)
    assert argosy(fleet, capsys, "verify", "-n", "1").code == 1
    fleet.commit({"z.yaml": plain("nginx:2")})
    assert next_scope(fleet) is not None
    assert argosy(fleet, capsys, "reconcile").code == 0
    assert argosy(fleet, capsys, "verify", "-n", "1").code == 1
    assert argosy(fleet, capsys, "render", "--commit").code == 0
    assert argosy(fleet, capsys, "verify", "-n", "1").code == 0
    fleet.git("cat-file", "-e", "argosy/rendered:clusters/m2")


def test_commits_of_small_fleets_have_no_record(
    small: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorded_pass, "_WORTH_RECORDING", 10_000)
    (fleet,) = copied(tmp_path, small)
    fleet.commit({"z.yaml": plain("nginx:2")})
    assert run(["-C", str(fleet.path), "reconcile"]) == 0
    assert "\nargosy {" not in fleet.git("cat-file", "commit", "argosy/rendered")


class Spoilt(NamedTuple):
    """Something that happened to the checkpoint."""

    why: str
    spoil: Callable[[Path], object]


SPOILT = [
    Spoilt("it is gone", lambda path: path.unlink()),
    Spoilt("it is no JSON", lambda path: path.write_text("{")),
    Spoilt("it is something else", lambda path: path.write_text("[]")),
    Spoilt("it lacks a field", lambda path: path.write_text('{"version": 1}')),
    Spoilt(
        "it is of another folder",
        lambda path: path.write_text(path.read_text().replace('"folder": ""', '"folder": "x"')),
    ),
    Spoilt(
        "it is of another commit",
        lambda path: path.write_text(path.read_text().replace('"rendered": "', '"rendered": "0')),
    ),
]


@pytest.mark.parametrize("case", SPOILT, ids=lambda case: case.why)
def test_without_a_checkpoint_to_trust_a_pass_goes_by_the_commit(
    case: Spoilt, small: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (fleet,) = copied(tmp_path, small)
    case.spoil(checkpoint_of(fleet))
    fleet.commit({"z.yaml": plain("nginx:2")})
    scope = next_scope(fleet)
    assert scope is not None
    assert scope.refs == frozenset({APP, WEB})
    assert argosy(fleet, capsys, "reconcile").code == 0
    assert argosy(fleet, capsys, "verify").out.endswith(": equal\n")
    with open_repository(str(fleet.path)) as opened:
        checkpoint = read_checkpoint(opened)
        assert checkpoint is not None
        assert checkpoint.tips.rendered == opened.resolve("argosy/rendered")
