"""``argosy cluster``: members change in their files, which keep everything else, and leave only when they are empty."""

import json
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from reconciler.commands.cluster import command
from tests.build import Ended, Repository, a_cluster, a_cluster_policy, a_config_map, a_policy, argosy, on_clusters
from tests.tables import each_row

PARIS = """\
# The capital.
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata:
  name: paris
  labels:
    env: production  # since May
spec:
  # By hand only.
  syncMode: Push
  taints:
  - key: upgrade
    value: today
    effect: NoSchedule
  region: eu
"""
FLOW = """\
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: rome, labels: {env: test}}
spec: {syncMode: Push}
"""
EVICTING = {
    "apiVersion": "argosy.dev/v1alpha1",
    "kind": "Fleet",
    "metadata": {"name": "default"},
    "spec": {"failover": {"lastCopy": "Evict"}},
}
SPACES = {"apiVersion": "v1", "kind": "Namespace"}
CONFIG_MAPS = {"apiVersion": "v1", "kind": "ConfigMap"}
TAINTS = "  - key: upgrade\n    value: today\n    effect: NoSchedule\n"
CORDONED = "  - effect: NoSchedule\n    key: cluster.karmada.io/unschedulable\n"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository.create(tmp_path / "fleet")
    made.commit({"fleet.yaml": [a_cluster("berlin"), a_cluster("oregon")], "paris.yaml": PARIS, "rome.yaml": FLOW})
    return made


class Change(NamedTuple):
    why: str
    words: tuple[str, ...]
    out: str
    old: str = ""
    new: str = ""


DIFF = "  argosy diff HEAD~1 HEAD  # what this changes in the clusters\n"
DISCONNECTED = """cluster/paris disconnected

CLUSTERS
  - paris: disconnected, keeps what it holds

next:
  argosy reconcile
  argosy cluster forget paris  # once it is gone for good: branches keep its files, nobody empties it
"""

CHANGES = [
    Change(
        "a capacity",
        ("set", "--cpu", "64", "--memory", "256Gi", "--pods", "110"),
        "capacity set",
        "  region: eu\n",
        "  region: eu\nstatus:\n  resourceSummary:\n    allocatable:\n"
        '      cpu: "64"\n      memory: 256Gi\n      pods: "110"\n',
    ),
    Change("a new label", ("label", "tier=1"), "labeled", "# since May\n", '# since May\n    tier: "1"\n'),
    Change("another value", ("label", "env=test", "--overwrite"), "labeled", "production", "test"),
    Change("the value it has", ("label", "env=production"), "not labeled"),
    Change("the last label goes", ("label", "env-"), "unlabeled", "  labels:\n    env: production  # since May\n", ""),
    Change("a label that is not there", ("label", "x-"), "not labeled"),
    Change(
        "a taint",
        ("taint", "a=b:NoExecute"),
        "tainted",
        TAINTS,
        f"{TAINTS}  - effect: NoExecute\n    key: a\n    value: b\n",
    ),
    Change("the taint it has", ("taint", "upgrade=today:NoSchedule"), "not tainted"),
    Change("a taint goes", ("taint", "upgrade:NoSchedule-"), "untainted", f"  taints:\n{TAINTS}", ""),
    Change("all taints of a key go", ("taint", "upgrade-"), "untainted", f"  taints:\n{TAINTS}", ""),
    Change(
        "a new value of a taint",
        ("taint", "upgrade=later:NoSchedule", "--overwrite"),
        "tainted",
        "today",
        "later",
    ),
    Change(
        "no value any more",
        ("taint", "upgrade:NoSchedule", "--overwrite"),
        "tainted",
        TAINTS,
        "  - effect: NoSchedule\n    key: upgrade\n",
    ),
    Change("another effect stays", ("taint", "upgrade:NoExecute-"), "not tainted"),
    Change("cordon", ("cordon",), "cordoned", TAINTS, TAINTS + CORDONED),
    Change("nothing to uncordon", ("uncordon",), "already uncordoned"),
]


@pytest.mark.parametrize("case", CHANGES, ids=lambda case: case.why)
def test_a_member_changes_in_its_file(case: Change, repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    verb, *words = case.words
    ended = argosy(repository, capsys, "cluster", verb, "paris", *words)
    assert (ended.code, ended.outcome) == (0, f"cluster/paris {case.out}\n")
    assert (repository.path / "paris.yaml").read_text() == PARIS.replace(case.old, case.new)


def test_what_is_cordoned_is_uncordoned_byte_for_byte(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    for verb in ("cordon", "uncordon"):
        assert argosy(repository, capsys, "cluster", verb, "paris").code == 0
    assert repository.git("status", "--short") == ""


def test_what_is_drained_is_uncordoned_byte_for_byte(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """As with kubectl; it said that the member was uncordoned already, and nothing came back."""
    assert argosy(repository, capsys, "cluster", "drain", "paris").code == 0
    assert argosy(repository, capsys, "cluster", "uncordon", "paris").out == "cluster/paris uncordoned\n"
    assert repository.git("status", "--short") == ""


def test_a_member_among_others_in_a_file(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    before = (repository.path / "fleet.yaml").read_text()
    assert argosy(repository, capsys, "cluster", "label", "oregon", "env=test").code == 0
    first, second = before.split("---\n")
    changed = second.replace("name: oregon\n", "name: oregon\n  labels:\n    env: test\n")
    assert (repository.path / "fleet.yaml").read_text() == f"{first}---\n{changed}"


def test_what_is_in_braces_stays_there(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert argosy(repository, capsys, "cluster", "label", "rome", "tier=1").code == 0
    assert argosy(repository, capsys, "cluster", "taint", "rome", "a=b:NoExecute").code == 0
    assert (repository.path / "rome.yaml").read_text() == FLOW.replace("{env: test}", '{env: test, tier: "1"}').replace(
        "{syncMode: Push}", "{syncMode: Push, taints: [{key: a, value: b, effect: NoExecute}]}"
    )


class Refusal(NamedTuple):
    why: str
    words: tuple[str, ...]
    code: int
    said: str


REFUSALS = [
    Refusal("no member", ("cordon", "pariz"), 2, "cluster called 'pariz'\n  hint: did you mean 'paris'?"),
    Refusal(
        "a value that is there", ("label", "paris", "env=x"), 2, "label 'env' is 'production' already; --overwrite"
    ),
    Refusal(
        "a taint that is there", ("taint", "paris", "upgrade=x:NoSchedule"), 2, "taint upgrade:NoSchedule is there"
    ),
    Refusal("no label", ("label", "paris", "env"), 2, "'env' is no label; write key=value, or key- to take it away"),
    Refusal("both at once", ("label", "paris", "a=b", "a-"), 2, "label 'a' is both set and taken away"),
    Refusal("an effect of nodes", ("taint", "paris", "a:PreferNoSchedule"), 2, "'a:PreferNoSchedule' is no taint"),
    Refusal("a value no label may have", ("label", "paris", "a=b c"), 3, "paris.yaml:6: metadata.labels"),
    Refusal("a member already", ("join", "paris"), 3, "'paris' is a member already: paris.yaml:2"),
    Refusal("a bad name", ("join", "../x"), 3, "clusters/../x.yaml: metadata.name: '../x' is no such name"),
    Refusal("a bad label", ("join", "new", "--label", "a=b c"), 3, "clusters/new.yaml: metadata.labels"),
    Refusal("no capacity at all", ("set", "paris"), 2, "name a capacity: --cpu, --memory or --pods"),
    Refusal("a capacity that is no amount", ("set", "paris", "--cpu", "many"), 2, "--cpu 'many' is no amount"),
    Refusal("a capacity below nothing", ("set", "paris", "--memory=-1Gi"), 2, "--memory '-1Gi' is no amount"),
    Refusal("both ways to leave", ("unjoin", "paris", "--drain", "--disconnect"), 2, "choose one"),
]


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case.why)
def test_what_is_refused_changes_nothing(
    case: Refusal, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(repository, capsys, "cluster", *case.words)
    assert (ended.code, ended.out) == (case.code, "")
    assert case.said in ended.err
    assert repository.git("status", "--short") == ""


def test_drain_is_the_first_half_of_leaving(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    drained = argosy(repository, capsys, "cluster", "drain", "paris")
    text = (repository.path / "paris.yaml").read_text()
    repository.git("checkout", "paris.yaml")
    leaving = argosy(repository, capsys, "cluster", "unjoin", "paris", "--drain")
    before, last = drained.out.rsplit("\n  ", 1)
    assert last == "argosy cluster uncordon paris  # when things may come back\n"
    assert leaving == drained._replace(out=f"{before}\n  argosy cluster unjoin paris\n")
    assert (repository.path / "paris.yaml").read_text() == text != PARIS
    assert argosy(repository, capsys, "cluster", "taint", "paris", "argosy.dev/drain-").code == 0
    assert (repository.path / "paris.yaml").read_text() == PARIS


def test_a_commit_holds_the_file_and_nothing_else(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.write({"other.yaml": a_config_map("other")})
    repository.git("add", "other.yaml")
    assert argosy(repository, capsys, "cluster", "cordon", "paris", "--commit").code == 0
    assert repository.git("log", "-1", "--format=%B") == "Cordon paris"
    assert repository.git("diff", "--name-only", "HEAD~1", "HEAD") == "paris.yaml"
    assert repository.git("status", "--short") == "A  other.yaml"


def test_work_in_progress_is_not_committed_along(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    mine = PARIS.replace("region: eu", "region: us")
    repository.write({"paris.yaml": mine})
    ended = argosy(repository, capsys, "cluster", "cordon", "paris", "--commit")
    said = "paris.yaml has changes that are not committed\n  hint: commit them first, or leave --commit out"
    assert (ended.code, ended.err) == (3, f"argosy: {said}\n")
    assert (repository.path / "paris.yaml").read_text() == mine


def test_what_cannot_be_committed_is_put_back(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    (repository.path / ".git" / "index.lock").write_text("")
    assert argosy(repository, capsys, "cluster", "cordon", "paris", "--commit").code == 4
    assert (repository.path / "paris.yaml").read_text() == PARIS


def test_a_new_member_and_the_context_that_reaches_it(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ("--region", "eu", "--zone", "a", "--zone", "b", "--provider", "own", "--label", "env=test")
    ended = argosy(repository, capsys, "cluster", "join", "lyon", *place, "--context", "admin@lyon", "--commit")
    assert (ended.code, ended.out) == (0, f"cluster/lyon joined\n\nnext:\n{DIFF}  argosy reconcile --accept-settings\n")
    assert repository.show("clusters/lyon.yaml", "HEAD") == (
        "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata:\n  name: lyon\n  labels:\n    env: test\n"
        "spec:\n  provider: own\n  region: eu\n  syncMode: Push\n  zones:\n  - a\n  - b"
    )
    fleet = repository.show("argosy.yaml", "HEAD")
    assert fleet.endswith("spec:\n  clusters:\n  - context: admin@lyon\n    name: lyon")
    assert argosy(repository, capsys, "cluster", "unjoin", "lyon", "--commit").code == 0
    assert "clusters/lyon.yaml" not in repository.files("HEAD")
    assert "lyon" not in repository.show("argosy.yaml", "HEAD")


def test_a_member_that_nobody_would_read_does_not_join(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({".argosyignore": "clusters/\n"})
    ended = argosy(repository, capsys, "cluster", "join", "lyon")
    assert (ended.code, "clusters/lyon.yaml would not be read" in ended.err) == (3, True)
    assert repository.git("status", "--short") == ""


@pytest.fixture
def placed(repository: Repository, capsys: pytest.CaptureFixture[str]) -> Repository:
    """Twelve ConfigMaps in two clusters."""
    names = [f"one-{number}" for number in range(12)]
    policy = a_policy("all", selectors=[CONFIG_MAPS], placement=on_clusters("paris", "oregon"))
    untainted = PARIS.replace(f"  taints:\n{TAINTS}", "")
    maps = [a_config_map(name) for name in names]
    repository.commit({"maps.yaml": maps, "policy.yaml": policy, "paris.yaml": untainted})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    return repository


LEAVING = "\nOBJECTS\n  - 12 objects in oregon: 12 ConfigMap (-v names them)\n"


def rendered(repository: Repository, cluster: str) -> list[str]:
    return repository.files(under=f"clusters/{cluster}")


def test_a_member_leaves_when_it_is_drained(placed: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    held = len(rendered(placed, "paris"))
    refused = argosy(placed, capsys, "cluster", "unjoin", "paris", "--commit")
    assert (refused.code, f"{held} objects are still rendered for 'paris'" in refused.err) == (3, True)

    drained = argosy(placed, capsys, "cluster", "unjoin", "paris", "--drain", "--commit")
    assert drained.code == 0
    assert drained.out == (
        f"cluster/paris draining: {held} objects are to leave\n{LEAVING.replace('oregon', 'paris')}"
        "\nnext:\n  argosy reconcile\n  argosy cluster unjoin paris\n"
    )
    assert placed.git("log", "-1", "--format=%B") == f"Drain paris\n\nArgosy-Allow-Removal: paris {held}"

    assert argosy(placed, capsys, "reconcile").code == 0
    assert (rendered(placed, "paris"), len(rendered(placed, "oregon"))) == ([], held)
    assert argosy(placed, capsys, "cluster", "unjoin", "paris", "--commit") == Ended(
        0,
        "cluster/paris unjoined\n\nnext:\n  argosy reconcile\n",
        f'removed file=paris.yaml\ncommitted commit={placed.git("rev-parse", "HEAD")[:12]} subject="Let paris leave"\n',
    )
    assert "paris.yaml" not in placed.files("HEAD")


def test_draining_counts_as_the_guard_does(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """The namespaces of objects are kept, and no guard counts them; last copies stay by default."""
    maps = [a_config_map(f"one-{number}", namespace="shop") for number in range(12)]
    policy = a_policy("all", namespace="shop", selectors=[CONFIG_MAPS], placement=on_clusters("oregon"))
    repository.commit({"maps.yaml": maps, "policy.yaml": policy, "argosy.yaml": EVICTING})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    assert len(rendered(repository, "oregon")) == 13

    refused = argosy(repository, capsys, "cluster", "unjoin", "oregon").err
    assert refused.startswith("argosy: 12 objects are still rendered for 'oregon': shop/ConfigMap/one-0.yaml, ")
    drained = argosy(repository, capsys, "cluster", "unjoin", "oregon", "--drain", "--commit", "--allow-unplaced").out
    assert drained.startswith("cluster/oregon draining: 12 objects are to leave, 1 Namespace is kept\n")
    assert repository.git("log", "-1", "--format=%B").endswith("Argosy-Allow-Removal: oregon 12")
    told = json.loads(argosy(repository, capsys, "reconcile", "-o", "json").out)["removals"]
    assert [(each["cluster"], len(each["objects"]), each["held"]) for each in told] == [("oregon", 12, 12)]
    assert argosy(repository, capsys, "cluster", "unjoin", "oregon").code == 0


def test_a_member_that_holds_a_namespace_alone_is_not_empty(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    policy = a_cluster_policy("spaces", selectors=[SPACES], placement=on_clusters("oregon"))
    repository.commit({"space.yaml": namespace, "policy.yaml": policy, "argosy.yaml": EVICTING})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    refused = argosy(repository, capsys, "cluster", "unjoin", "oregon")
    said = "argosy: 1 namespace is still rendered for 'oregon': _cluster/Namespace/shop.yaml\n"
    assert (refused.code, refused.err.startswith(said)) == (3, True)
    drained = argosy(repository, capsys, "cluster", "unjoin", "oregon", "--drain", "--commit", "--allow-unplaced").out
    assert drained.startswith("cluster/oregon draining: 0 objects are to leave, 1 Namespace is kept\n")
    assert repository.git("log", "-1", "--format=%B") == "Drain oregon"
    assert argosy(repository, capsys, "reconcile").code == 1, "it fits nowhere else"
    assert argosy(repository, capsys, "cluster", "unjoin", "oregon").code == 0


def test_draining_says_what_to_commit(placed: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    ended = argosy(placed, capsys, "cluster", "unjoin", "oregon", "--drain")
    held = len(rendered(placed, "oregon"))
    wanted = f"  git commit -m 'Drain oregon' -m 'Argosy-Allow-Removal: oregon {held}' -- fleet.yaml\n"
    assert (ended.code, wanted in ended.out) == (0, True)


def test_draining_again_says_what_is_still_to_commit(placed: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    first = argosy(placed, capsys, "cluster", "unjoin", "oregon", "--drain").out
    again = argosy(placed, capsys, "cluster", "unjoin", "oregon", "--drain")
    assert (again.code, again.out) == (0, first.replace("oregon draining", "oregon already draining"))
    placed.git("commit", "-q", "-am", "Drain oregon")
    committed = argosy(placed, capsys, "cluster", "unjoin", "oregon", "--drain").out
    held = len(rendered(placed, "oregon"))
    assert committed.startswith(f"cluster/oregon already draining: {held} objects are to leave\n{LEAVING}\nREFUSED\n")
    assert f"git commit --allow-empty -m 'Allow it' --trailer 'Argosy-Allow-Removal: oregon {held}'" in committed
    steps = "\nnext, once a commit allows what is refused above:\n  argosy reconcile\n  argosy cluster unjoin oregon\n"
    assert committed.endswith(steps)


def test_what_a_pass_fetches_is_to_be_pushed_first(
    placed: Repository, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    Repository.create(tmp_path / "hub.git", bare=True)
    placed.git("remote", "add", "origin", str(tmp_path / "hub.git"))
    placed.git("push", "-q", "origin", "main", "argosy/rendered")
    placed.git("fetch", "-q", "origin")
    out = argosy(placed, capsys, "cluster", "unjoin", "oregon", "--drain", "--commit").out
    assert out.splitlines()[5:] == ["next:", "  git push", "  argosy reconcile", "  argosy cluster unjoin oregon"]


def test_a_bare_repository_has_nothing_to_change(
    repository: Repository, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    repository.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    said = "argosy: a bare repository has no work tree to {}\n  hint: run this in a clone of it\n"
    bare = Repository(tmp_path / "bare.git")
    assert argosy(bare, capsys, "cluster", "cordon", "paris") == Ended(4, "", said.format("change"))
    assert argosy(bare, capsys, "test", "--update").err.endswith(said.format("change"))
    assert argosy(bare, capsys, "render", "--watch") == Ended(4, "", said.format("watch"))


def test_a_disconnected_member_keeps_what_it_holds(placed: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    before = rendered(placed, "paris")
    placed.commit({"policy.yaml": a_policy("all", selectors=[CONFIG_MAPS], placement=on_clusters("oregon", "paris"))})
    ended = argosy(placed, capsys, "cluster", "unjoin", "paris", "--disconnect", "--commit")
    assert (ended.code, ended.out) == (0, DISCONNECTED)
    assert argosy(placed, capsys, "reconcile").code == 0
    assert rendered(placed, "paris") == before


def test_one_of_many_in_a_file_is_cut_out(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    first = (repository.path / "fleet.yaml").read_text().split("---\n")[0]
    assert argosy(repository, capsys, "cluster", "unjoin", "oregon").code == 0
    assert (repository.path / "fleet.yaml").read_text() == first


@each_row("name", ["join", "unjoin", "label", "taint", "cordon", "uncordon"])
def test_every_word_has_a_help_text(name: str) -> None:
    verb = command.commands[name]
    assert verb.help
    assert [option.name for option in verb.params if isinstance(option, click.Option) and not option.help] == []
