"""A name on the command line that nothing goes by: the same words and exit code 2, whatever the command."""

from pathlib import Path
from typing import NamedTuple

import pytest

from tests.build import Ended, Repository, a_cluster, a_cluster_policy, a_config_map, a_policy, argosy, on_clusters

KIND_NAME = "write KIND/NAME or KIND NAME; a cluster is cluster/NAME, a policy policy/NAME"
CONFIG_MAPS = {"apiVersion": "v1", "kind": "ConfigMap"}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """ConfigMaps one and two in member1 and member2."""
    made = Repository.create(tmp_path_factory.mktemp("fleet"))
    made.commit(
        {
            "fleet.yaml": [
                *map(a_cluster, ("member1", "member2")),
                *map(a_config_map, ("one", "two")),
                a_policy("all", selectors=[CONFIG_MAPS], placement=on_clusters("member1", "member2")),
                a_cluster_policy("rest", selectors=[CONFIG_MAPS]),
            ]
        }
    )
    return made


@pytest.fixture(autouse=True)
def rendered(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    argosy(repository, capsys, "reconcile", "--bootstrap")


CLUSTERS = [
    ("render", "--cluster", "membr1"),
    ("diff", "--live", "--cluster", "membr1"),
    ("explain", "cm/one", "--cluster", "membr1"),
    ("explain", "cluster", "membr1"),
    ("explain", "cluster/membr1"),
    ("apply", "--cluster", "membr1"),
    ("reconcile", "--cluster", "membr1", "--kubeconfigs", "nowhere"),
    ("reconcile", "--dry-run", "--cluster", "membr1"),
    ("reconcile", "--dry-run", "--in-cluster", "membr1"),
    ("reconcile", "--allow-removal", "membr1=3"),
    ("reconcile", "--dry-run", "--allow-removal", "*=3", "--allow-removal", "membr1=3"),
    ("render", "--commit", "--allow-removal", "membr1=3"),
    ("diff", "--check", "--allow-removal", "membr1=3"),
    ("apply", "--allow-removal", "membr1=3"),
    ("status", "cluster/membr1"),
    ("wait", "cluster/membr1"),
    ("cluster", "cordon", "membr1"),
    ("cluster", "label", "membr1", "a=b"),
    ("cluster", "unjoin", "membr1", "--disconnect"),
]


@pytest.mark.parametrize("words", CLUSTERS, ids=" ".join)
def test_a_cluster_that_is_not_there(
    words: tuple[str, ...], repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "argosy: the source has no cluster called 'membr1'\n  hint: did you mean 'member1'?\n"
    assert argosy(repository, capsys, *words) == Ended(2, "", said)


def test_a_pass_with_nothing_new_checks_its_options_too(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """The pass before left a checkpoint, by which one that finds nothing new ends at once."""
    assert argosy(repository, capsys, "reconcile").out.startswith("unchanged: argosy/rendered ")
    ended = argosy(repository, capsys, "reconcile", "--dry-run", "-l", "no label")
    said = "Error: --selector: 'no label' is no label expression; write key=value, key!=value, key or !key"
    assert (ended.code, ended.err.splitlines()[-1]) == (2, said)


def test_a_cluster_that_left_may_be_named_in_what_is_allowed(
    repository: Repository, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Its folder stays in the rendered branch, and a policy may say what leaves it when it is back."""
    repository.git("clone", "-q", "--branch", "main", ".", str(tmp_path / "copy"))
    copy = Repository(tmp_path / "copy")
    copy.git("remote", "remove", "origin")
    argosy(copy, capsys, "reconcile", "--bootstrap")
    manifests = (copy.path / "fleet.yaml").read_text().split("---\n")
    copy.commit({"fleet.yaml": "---\n".join(manifests[1:])})
    assert argosy(copy, capsys, "reconcile", "--allow-removal", "member1=2").code == 0
    assert argosy(copy, capsys, "reconcile", "--allow-removal", "member1=2").code == 0


class Unknown(NamedTuple):
    words: tuple[str, ...]
    said: str


OBJECTS = [
    *(
        Unknown((command, "cm/twoo"), "the source has no cm called 'twoo'\n  hint: did you mean 'two'?")
        for command in ("explain", "status", "wait")
    ),
    *(
        Unknown((command, "cmp/two"), "the source has no objects of kind 'cmp'\n  hint: did you mean 'cm'?")
        for command in ("explain", "status", "wait")
    ),
    Unknown(
        ("explain", "cm/two", "-n", "lab"),
        "the source has no cm called 'two' in namespace lab\n  hint: there is one in namespace default",
    ),
    *(
        Unknown(words, f"{' '.join(words[1:])!r} names nothing\n  hint: {KIND_NAME}")
        for words in (("explain", "foo"), ("explain", "cm/one", "two"), ("status", "one"), ("wait", "cm/"))
    ),
    Unknown(("explain", "pp/al"), "the source has no pp called 'al'\n  hint: did you mean 'all'?"),
    Unknown(("explain", "policy/al"), "the source has no policy called 'al'\n  hint: did you mean 'all'?"),
    Unknown(("explain", "cpp/all"), "the source has no cpp called 'all'\n  hint: known here: rest"),
    Unknown(
        ("explain", "cm/one", "--cluster", "x"),
        "the source has no cluster called 'x'\n  hint: known here: member1, member2",
    ),
]


@pytest.mark.parametrize("case", OBJECTS, ids=lambda case: " ".join(case.words))
def test_an_object_or_a_policy_that_is_not_there(
    case: Unknown, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert argosy(repository, capsys, *case.words) == Ended(2, "", f"argosy: {case.said}\n")


def test_a_source_without_clusters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = Repository.create(tmp_path / "empty")
    made.commit({"map.yaml": a_config_map("one")})
    said = "argosy: the source has no clusters\n  hint: argosy cluster join NAME makes one\n"
    assert argosy(made, capsys, "explain", "cluster", "x") == Ended(2, "", said)


@pytest.mark.parametrize("command", ["explain", "status"])
def test_kind_and_name_may_be_two_words(
    command: str, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    one = argosy(repository, capsys, command, "cm/one", "-n", "default")
    assert one.out
    assert argosy(repository, capsys, command, "cm", "one", "-n", "default") == one


def test_of_many_clusters_those_are_listed_that_come_near(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They were the first three of the alphabet, and how many there are beside these."""
    repository = Repository.create(tmp_path / "fleet")
    many = [f"cluster-{number}" for number in range(20)] + ["edge-oslo", "edge-bergen", "edge-bodo"]
    repository.commit({f"{name}.yaml": a_cluster(name) for name in many})
    ended = argosy(repository, capsys, "cluster", "cordon", "oslo-edge-7")
    assert ended.err.splitlines()[-1] == "  hint: nearest here: edge-bodo, edge-oslo, edge-bergen"
