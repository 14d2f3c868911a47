"""Too much at once: what a pass refuses to take from a cluster, whole messages, and every way to allow it."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from .build import Repository, a_config_map, a_policy, argosy, on_clusters
from .stories import Run, a_fleet, check_runs, held, removal_hint, settings, told

ANY_CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}
ANY_ROLE = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role"}
HEADER = "this change removes too much at once; nothing was committed\n"
Files = dict[str, Any]


def config_maps(count: int, namespace: str = "default") -> Files:
    """Files c00, c01 ... of a ConfigMap each."""
    return {
        f"{namespace}/c{number:02}.yaml": a_config_map(f"c{number:02}", namespace=namespace) for number in range(count)
    }


def roles(count: int) -> Files:
    """Files r00, r01 ... of a Role each."""
    return {f"r{number:02}.yaml": a_role(f"r{number:02}") for number in range(count)}


def a_role(name: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": metadata, "rules": []}


def a_policy_of_all(*clusters: str, namespace: str = "default") -> dict[str, Any]:
    return a_policy("all", namespace=namespace, selectors=[ANY_CONFIG_MAP, ANY_ROLE], placement=on_clusters(*clusters))


def first_five(path: str, more: int) -> str:
    names = ", ".join(path.format(number) for number in range(5))
    return f"{names} and {more} more"


class Loss(NamedTuple):
    """The objects of clusters, the files that go, the guard's words (none: go), and the objects that go ``along``."""

    why: str
    first: Files
    gone: Files
    said: str = ""
    along: tuple[str, ...] = ()


CONFIG = "default/ConfigMap/c{:02}.yaml"
ROLE = "default/Role.rbac.authorization.k8s.io/r{:02}.yaml"
POLICY = {"policy.yaml": a_policy_of_all("member1")}
OTHER = {"other.yaml": a_policy_of_all("member1", namespace="other")}

LOSSES = [
    Loss("ten of twenty may leave", {**POLICY, **config_maps(20)}, config_maps(10)),
    Loss(
        "eleven of twenty may not: more than max(10, 20 %)",
        {**POLICY, **config_maps(20)},
        config_maps(11),
        f"{HEADER}  member1: 11 of 20 objects (more than 10): {first_five(CONFIG, 6)}\n{removal_hint('member1 11')}",
    ),
    Loss("a fifth of seventy may leave", {**POLICY, **config_maps(70)}, config_maps(14)),
    Loss(
        "more than a fifth of seventy may not",
        {**POLICY, **config_maps(70)},
        config_maps(15),
        f"{HEADER}  member1: 15 of 70 objects (more than 14): {first_five(CONFIG, 10)}\n{removal_hint('member1 15')}",
    ),
    Loss("five are no whole kind", {**POLICY, **config_maps(9), **roles(5)}, roles(5)),
    Loss(
        "six that are all of their kind may not leave",
        {**POLICY, **config_maps(9), **roles(6)},
        roles(6),
        f"{HEADER}  member1: 6 of 15 objects (all 6 of kind Role.rbac.authorization.k8s.io):"
        f" {first_five(ROLE, 1)}\n{removal_hint('member1 6')}",
    ),
    Loss(
        "five are no whole namespace",
        {**POLICY, **OTHER, **config_maps(9), **config_maps(5, "other")},
        config_maps(5, "other"),
        along=("member1 _cluster/Namespace/other",),
    ),
    Loss(
        "six that are all of their namespace may not leave",
        {**POLICY, **OTHER, **config_maps(9), **config_maps(6, "other")},
        config_maps(6, "other"),
        f"{HEADER}  member1: 6 of 15 objects (all 6 of namespace other):"
        f" {first_five('other/ConfigMap/c{:02}.yaml', 1)}\n{removal_hint('member1 6')}",
    ),
    Loss(
        "all of a cluster may not leave, were it one object",
        {**POLICY, **config_maps(1)},
        config_maps(1),
        f"{HEADER}  member1: 1 of 1 object (everything it holds): default/ConfigMap/c00.yaml\n"
        f"{removal_hint('member1 1')}",
    ),
    Loss(
        "each cluster is counted by itself, and all that lose too much are named",
        {"policy.yaml": a_policy_of_all("member1", "member2"), **config_maps(12)},
        config_maps(11),
        f"{HEADER}"
        f"  member1: 11 of 12 objects (more than 10): {first_five(CONFIG, 6)}\n"
        f"  member2: 11 of 12 objects (more than 10): {first_five(CONFIG, 6)}\n"
        f"{removal_hint('member1 11', 'member2 11')}",
    ),
    Loss(
        "limits are what argosy.yaml says: more",
        {"argosy.yaml": settings(removalGuard={"count": 15}), **POLICY, **config_maps(20)},
        config_maps(15),
    ),
    Loss(
        "limits are what argosy.yaml says: less",
        {"argosy.yaml": settings(removalGuard={"count": 0, "percent": 0, "whole": 1}), **POLICY, **config_maps(20)},
        config_maps(1),
        f"{HEADER}  member1: 1 of 20 objects (more than 0): default/ConfigMap/c00.yaml\n{removal_hint('member1 1')}",
    ),
]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return a_fleet(tmp_path / "fleet")


def lose(repository: Repository, loss: Loss, capsys: pytest.CaptureFixture[str], message: str = "change") -> None:
    """Render what there is at first, then take the files away."""
    repository.commit(loss.first)
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    repository.commit(dict.fromkeys(loss.gone), message)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.why)
def test_what_leaves_at_once(loss: Loss, repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    lose(repository, loss, capsys)
    before = held(repository)
    ended = told(argosy(repository, capsys, "reconcile"), repository)
    if loss.said:
        assert ended == (6, "", loss.said)
        assert held(repository) == before
    else:
        assert (ended.code, ended.err) == (0, "")
        left = set(before) - set(held(repository))
        assert len(left) == len(loss.gone) + len(loss.along)
        assert left > set(loss.along)


def test_of_many_clusters_the_first_are_named_and_one_word_allows_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = a_fleet(tmp_path / "fleet", 25)
    names = sorted(f"member{number}" for number in range(1, 26))
    policy = a_policy_of_all(*names)
    lose(repository, Loss("", {"policy.yaml": policy, **config_maps(2), **roles(11)}, roles(11)), capsys)
    lines = [
        f"  {name}: 11 of 13 objects (more than 10; all 11 of kind Role.rbac.authorization.k8s.io):"
        f" {first_five(ROLE, 6)}\n"
        for name in names[:20]
    ]
    said = f"{HEADER}{''.join(lines)}  and 5 more clusters\n{removal_hint('* 11')}"
    runs = (
        Run("reconcile", 6, "", said),
        Run("reconcile --allow-removal *=11", 0, COMMITTED.replace("1 cluster", "25 clusters")),
    )
    check_runs(runs, repository, capsys)


def test_a_source_that_lost_all_its_clusters_is_refused_until_that_is_meant(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    first = {**POLICY, **config_maps(3)}
    repository.commit(first)
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    before = held(repository)
    repository.commit({"argosy.yaml": settings(source={"ignore": ["clusters/"]})})
    absent = (
        "warning: policy.yaml:1: the source has policies but no clusters, so nothing is scheduled\n"
        "  hint: declare members as cluster.karmada.io/v1alpha1 Cluster, with labels and region\n"
    )
    refused = (
        "the source has no clusters any more, but member1 holds objects; nothing was committed\n"
        "  clusters/member1.yaml: not read any more: clusters is ignored; Cluster member1 came from it\n"
        "  clusters/member2.yaml: not read any more: clusters is ignored; Cluster member2 came from it\n"
        "  clusters/member3.yaml: not read any more: clusters is ignored; Cluster member3 came from it\n"
        "  hint: look at source.paths and ignore in argosy.yaml; if it is meant, say so in a source commit with the"
        " trailer 'Argosy-Allow-Removal: * 1'\n"
    )
    check_runs((Run("reconcile", 6, "", absent + refused),), repository, capsys)
    repository.commit({}, "It is meant\n\nArgosy-Allow-Removal: * 1")
    troubles = (
        "warning: ConfigMap default/c00: NoClusterFit: 0/0 clusters are available: no cluster exists."
        " (and 2 like it: ConfigMap default/c01, ConfigMap default/c02)\n"
    )
    runs = (
        Run("reconcile", 1, COMMITTED, absent + troubles),
        Run("render --commit", 1, "", f"{absent}unchanged branch=argosy/rendered\n{troubles}"),
    )
    check_runs(runs, repository, capsys)
    assert held(repository) == before


ELEVEN = LOSSES[1]
IN_TWO = LOSSES[9]
REFUSED = Run("reconcile", 6, "", ELEVEN.said)
COMMITTED = "committed <rendered> to argosy/rendered: source <main> for 1 cluster\n"
USAGE = "Usage: argosy reconcile [OPTIONS]\nTry 'argosy reconcile --help' for help.\n\nError: --allow-removal "


class Word(NamedTuple):
    """The ends of the messages of the commits since the last pass, oldest first, and the end of the pass."""

    why: str
    trailers: tuple[str, ...]
    run: Run


WORDS = [
    Word("the count of the cluster", ("Argosy-Allow-Removal: member1 11",), Run("reconcile", 0, COMMITTED)),
    Word("a higher count", ("Argosy-Allow-Removal: member1 99",), Run("reconcile", 0, COMMITTED)),
    Word("the count for each cluster", ("Argosy-Allow-Removal: * 11",), Run("reconcile", 0, COMMITTED)),
    Word("words are not case-sensitive", ("argosy-allow-removal: member1 11",), Run("reconcile", 0, COMMITTED)),
    Word("said in a commit before the last", ("Argosy-Allow-Removal: member1 11", ""), Run("reconcile", 0, COMMITTED)),
    Word("said in a commit after", ("", "Argosy-Allow-Removal: member1 11"), Run("reconcile", 0, COMMITTED)),
    Word("too low a count", ("Argosy-Allow-Removal: member1 10",), REFUSED),
    Word("two counts do not add up", ("Argosy-Allow-Removal: member1 6\nArgosy-Allow-Removal: member1 5",), REFUSED),
    Word("another cluster", ("Argosy-Allow-Removal: member2 11",), REFUSED),
    Word("no number", ("Argosy-Allow-Removal: member1 all",), REFUSED),
    Word("no cluster", ("Argosy-Allow-Removal: 11",), REFUSED),
    Word("the option", ("",), Run("reconcile --allow-removal member1=11", 0, COMMITTED)),
    Word("the option for each cluster", ("",), Run("reconcile --allow-removal *=11", 0, COMMITTED)),
    Word("the option with too low a count", ("",), REFUSED._replace(command="reconcile --allow-removal member1=10")),
    Word(
        "an option without a count",
        ("",),
        Run("reconcile --allow-removal member1", 2, "", f"{USAGE}'member1': write <cluster>=<count>, or *=<count>\n"),
    ),
    Word(
        "an option whose count is no number",
        ("",),
        Run("reconcile --allow-removal *=all", 2, "", f"{USAGE}'*=all': write <cluster>=<count>, or *=<count>\n"),
    ),
]


@pytest.mark.parametrize("word", WORDS, ids=lambda word: word.why)
def test_what_allows_a_removal(word: Word, repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    lose(repository, ELEVEN, capsys, f"change\n\n{word.trailers[0]}")
    for trailer in word.trailers[1:]:
        repository.commit({}, f"more\n\n{trailer}")
    check_runs((word.run,), repository, capsys)


def test_what_was_allowed_once_is_not_allowed_again(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    lose(repository, ELEVEN, capsys, "change\n\nArgosy-Allow-Removal: member1 99")
    assert argosy(repository, capsys, "reconcile").code == 0
    left = sorted(name for name in repository.files("HEAD") if name.startswith("default/"))
    repository.commit(dict.fromkeys(left))
    names = ", ".join(f"default/ConfigMap/c{number:02}.yaml" for number in range(11, 16))
    said = f"{HEADER}  member1: 9 of 9 objects (everything it holds): {names} and 4 more\n{removal_hint('member1 9')}"
    check_runs((Run("reconcile", 6, "", said),), repository, capsys)


def test_every_command_that_would_commit_asks_and_every_other_one_warns(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    lose(repository, IN_TWO, capsys)
    stat = (
        "CLUSTER   ADDED   CHANGED   REMOVED   REPLICAS\n"
        "member1   +0      ~0        -11       0\n"
        "member2   +0      ~0        -11       0\n"
        "risk: touches 2 of 3 clusters\n2 clusters change, 11 objects removed\n"
    )
    table = (
        "NAMESPACE   OBJECT          CLUSTERS          POLICY\n"
        "default     ConfigMap/c11   member1 member2   PropagationPolicy default/all\n"
    )
    warned = "".join(f"warning: member{n} loses 11 of 12 objects (more than 10); a commit is refused\n" for n in (1, 2))
    only_second = IN_TWO.said.replace(f"  member1: 11 of 12 objects (more than 10): {first_five(CONFIG, 6)}\n", "")
    runs = (
        Run("render", 0, table, warned),
        Run("render --commit", 6, "", IN_TWO.said),
        Run("diff --stat HEAD~ HEAD", 1, stat),
        Run("diff --stat --check HEAD~ HEAD", 6, stat, IN_TWO.said.replace("; nothing was committed", "")),
        Run("diff --stat --check --allow-removal *=11 HEAD~ HEAD", 0, stat),
        Run("reconcile --dry-run", 6, "", IN_TWO.said),
        Run(
            "reconcile --allow-removal member1=11",
            6,
            "",
            only_second.replace("'Argosy-Allow-Removal: member1 11', ", "").replace(
                "--trailer 'Argosy-Allow-Removal: member1 11' ", ""
            ),
        ),
        Run(
            "reconcile --dry-run --allow-removal *=11",
            0,
            "would commit source <main> for 2 clusters to argosy/rendered\n",
        ),
    )
    check_runs(runs, repository, capsys)
