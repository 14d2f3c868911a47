"""``argosy cluster`` for several members at once: by name, by glob and by label, in one change or in none."""

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from reconciler.edit.member_fields import MemberFields, field_edits
from render.documents import parse_documents
from render.documents.editing import edit_file
from tests.build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters, weighted
from tests.tables import each_row

MEMBERS = ("eu-1", "eu-2", "us-1")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Three members, two of them in one file; one has a label that policies know."""
    made = Repository.create(tmp_path / "fleet")
    made.commit(
        {
            "eu.yaml": [a_cluster("eu-1", region="eu", labels={"env": "prod"}), a_cluster("eu-2", region="eu")],
            "us.yaml": a_cluster("us-1", region="us", labels={"env": "prod"}),
        }
    )
    return made


class Selection(NamedTuple):
    why: str
    words: tuple[str, ...]
    want: tuple[str, ...]


SELECTIONS = [
    Selection("one name", ("us-1",), ("us-1",)),
    Selection("several names, each once", ("us-1", "eu-1", "us-1"), ("eu-1", "us-1")),
    Selection("a glob", ("eu-*",), ("eu-1", "eu-2")),
    Selection("a glob with one place for a letter, and a name", ("?s-1", "eu-2"), ("eu-2", "us-1")),
    Selection("a glob of all", ("*",), MEMBERS),
    Selection("a glob with some letters", ("eu-[13]",), ("eu-1",)),
    Selection("labels", ("-l", "env=prod"), ("eu-1", "us-1")),
    Selection("labels of those that are named", ("eu-*", "-l", "env"), ("eu-1",)),
    Selection("labels that they have not", ("--selector", "!env"), ("eu-2",)),
]


@pytest.mark.parametrize("case", SELECTIONS, ids=lambda case: case.why)
@pytest.mark.parametrize("verb", ["cordon", "label", "taint", "set"])
def test_members_are_selected_alike_by_every_command(
    verb: str, case: Selection, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    rest = {"cordon": (), "label": ("tier=web",), "taint": ("a=b:NoSchedule",), "set": ("--cpu", "64")}[verb]
    done = {"cordon": "cordoned", "label": "labeled", "taint": "tainted", "set": "capacity set"}[verb]
    ended = argosy(repository, capsys, "cluster", verb, *case.words, *rest, "--commit")
    assert (ended.code, ended.outcome) == (0, "".join(f"cluster/{name} {done}\n" for name in case.want))
    assert repository.git("rev-list", "--count", "HEAD") == "2"
    again = argosy(repository, capsys, "cluster", verb, *case.words, *rest)
    idle = {"cordon": "already cordoned", "label": "not labeled", "taint": "not tainted", "set": "unchanged"}[verb]
    assert (again.code, again.out) == (0, "".join(f"cluster/{name} {idle}\n" for name in case.want))


def test_several_members_are_one_commit_that_names_them(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    before = repository.files("HEAD")
    assert argosy(repository, capsys, "cluster", "cordon", "*", "--commit").code == 0
    assert repository.git("log", "-1", "--format=%s") == "Cordon eu-1, eu-2, us-1"
    assert argosy(repository, capsys, "cluster", "uncordon", "eu-1", "eu-2", "us-1", "--commit").code == 0
    assert repository.git("log", "-1", "--format=%s") == "Uncordon eu-1, eu-2, us-1"
    assert repository.files("HEAD") == before
    assert repository.git("diff", "HEAD~2", "--stat") == ""


def test_those_that_are_so_already_are_told_apart(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert argosy(repository, capsys, "cluster", "cordon", "eu-2").code == 0
    ended = argosy(repository, capsys, "cluster", "cordon", "eu-*")
    assert ended.outcome == "cluster/eu-1 cordoned\ncluster/eu-2 already cordoned\n"


class Refusal(NamedTuple):
    why: str
    words: tuple[str, ...]
    said: str


def test_a_region_among_labels_is_answered_with_the_clusters_of_the_region(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({"own.yaml": a_cluster("own", provider="ours")})
    for selector, field, names in (
        ("region=eu", "region", "eu-1 eu-2"),
        ("region==us", "region", "us-1"),
        ("provider=ours", "provider", "own"),
    ):
        ended = argosy(repository, capsys, "cluster", "drain", "-l", selector)
        assert ended.code == 2
        said = f"-l looks at labels, and {field} is a field of the spec; name the clusters: {names}\n"
        assert ended.err.endswith(said), ended.err


REFUSALS = [
    Refusal("nobody", ("cordon",), "name a member, or select some by their labels with -l"),
    Refusal("a glob of nobody", ("cordon", "asia-*"), "no cluster of the source is called like 'asia-*'"),
    Refusal("one of several is unknown", ("cordon", "eu-1", "eu-3"), "the source has no cluster called 'eu-3'"),
    Refusal("a glob of nobody, with those that are known", ("cordon", "ap*"), "hint: known here: eu-1, eu-2, us-1\n"),
    Refusal("labels of nobody", ("cordon", "-l", "env=test"), "no cluster of the source is meant by -l env=test"),
    Refusal(
        "labels of none of the named",
        ("cordon", "eu-2", "-l", "env"),
        "no cluster of the source is meant by eu-2 -l env",
    ),
    Refusal("a wrong selector", ("cordon", "-l", "a b"), "'a b' is no label expression"),
    Refusal("nothing to set", ("label", "eu-1"), "say what to set, as key=value, or to take away, as key-"),
    Refusal("no label among names", ("label", "eu-1", "eu-2"), "'eu-2' is no label"),
    Refusal("a name behind a label", ("label", "eu-1", "a=b", "eu-2"), "'eu-2' is no label"),
    Refusal("one has another value", ("label", "*", "env=test"), "eu-1: label 'env' is 'prod' already; --overwrite"),
    Refusal("a context for two", ("join", "a", "b", "--context", "c"), "--context leads to one cluster"),
    Refusal("a capacity of nothing", ("set", "eu-1", "--capacity", "cpu"), "--capacity 'cpu' is no capacity"),
    Refusal("two amounts", ("set", "eu-1", "--cpu", "1", "--capacity", "cpu=2"), "cpu is given twice, as 1 and 2"),
    Refusal("no amount", ("join", "a", "--capacity", "gpu=some"), "--capacity gpu 'some' is no amount"),
    Refusal("no amount of an option", ("join", "a", "--cpu", "some"), "--cpu 'some' is no amount"),
    Refusal("a taint taken away", ("join", "a", "--taint", "a:NoSchedule-"), "--taint sets taints"),
]


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case.why)
def test_what_is_refused_changes_no_member(
    case: Refusal, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(repository, capsys, "cluster", *case.words)
    assert (ended.code, ended.out) == (2, "")
    assert case.said in ended.err
    assert repository.git("status", "--short") == ""


def test_a_new_member_has_its_place_capacity_labels_and_taints(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--region", "ap", "--zone", "a", "--provider", "own", "--label", "env=test", "--taint", "gpu=a:NoSchedule")
    room = ("--cpu", "64", "--memory", "256Gi", "--pods", "500", "--capacity", "nvidia.com/gpu=8")
    ended = argosy(repository, capsys, "cluster", "join", "tokyo", "osaka", *words, *room, "--commit")
    assert (ended.code, ended.outcome) == (0, "cluster/tokyo joined\ncluster/osaka joined\n")
    assert repository.git("log", "-1", "--format=%s") == "Join tokyo, osaka"
    assert repository.show("clusters/osaka.yaml", "HEAD") == (
        "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata:\n  name: osaka\n  labels:\n    env: test\n"
        "spec:\n  provider: own\n  region: ap\n  syncMode: Push\n  taints:\n  - effect: NoSchedule\n    key: gpu\n"
        "    value: a\n  zones:\n  - a\n"
        "status:\n  resourceSummary:\n    allocatable:\n"
        '      cpu: "64"\n      memory: 256Gi\n      nvidia.com/gpu: "8"\n      pods: "500"'
    )


def test_a_new_member_that_declares_a_capacity_is_not_warned_of(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    by_room = {
        "replicaSchedulingType": "Divided",
        "replicaDivisionPreference": "Weighted",
        "weightPreference": {"dynamicWeight": "AvailableReplicas"},
    }
    placement = on_clusters(*MEMBERS, "tokyo", "osaka", replicaScheduling=by_room)
    repository.commit({"web.yaml": a_deployment(), "policy.yaml": a_policy(placement=placement)})
    ended = argosy(repository, capsys, "cluster", "join", "tokyo", "--cpu", "64", "--memory", "1Gi", "--pods", "9")
    assert (ended.code, "no capacity is known" in ended.err) == (0, False)
    ended = argosy(repository, capsys, "cluster", "join", "osaka")
    assert (ended.code, "no capacity is known of osaka" in ended.err) == (0, True)


class Place(NamedTuple):
    why: str
    words: tuple[str, ...]
    want: str


def read_by_rules(places: str, fields: str, command: str) -> str:
    return f"warning: rules about {places} read {fields}, and no label\n  hint: argosy cluster set {command}\n"


PLACES = [
    Place(
        "a region",
        ("label", "us-1", "region=west"),
        read_by_rules("regions", "spec.region", "us-1 --region west"),
    ),
    Place(
        "a region as Kubernetes calls it",
        ("label", "us-1", "topology.kubernetes.io/region=west"),
        read_by_rules("regions", "spec.region", "us-1 --region west"),
    ),
    Place(
        "a zone and a provider",
        ("label", "eu-*", "topology.kubernetes.io/zone=b", "provider=own"),
        read_by_rules("zones and providers", "spec.zones and spec.provider", "'eu-*' --zone b --provider own"),
    ),
    Place(
        "those with a label",
        ("label", "-l", "env=prod", "zone=b"),
        read_by_rules("zones", "spec.zones", "-l env=prod --zone b"),
    ),
    Place("the region that the spec has", ("label", "us-1", "region=us"), ""),
    Place("another label", ("label", "us-1", "tier=us"), ""),
    Place("a region taken away", ("label", "us-1", "region-"), ""),
    Place(
        "a new member",
        ("join", "tokyo", "--label", "region=ap"),
        read_by_rules("regions", "spec.region", "tokyo --region ap"),
    ),
    Place("a new member with its region", ("join", "tokyo", "--label", "region=ap", "--region", "ap"), ""),
]


@pytest.mark.parametrize("case", PLACES, ids=lambda case: case.why)
def test_a_label_that_looks_like_a_place_names_the_command_that_sets_it(
    case: Place, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(repository, capsys, "cluster", *case.words)
    said = [line for line in ended.err.splitlines(keepends=True) if "rules about" in line or "hint:" in line]
    assert (ended.code, "".join(said)) == (0, case.want)


def test_a_place_is_set_in_the_spec(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--region", "ap", "--zone", "a", "--zone", "b", "--provider", "own")
    ended = argosy(repository, capsys, "cluster", "set", "us-1", *words, "--commit")
    assert (ended.code, ended.outcome) == (0, "cluster/us-1 place set\n")
    assert repository.git("log", "-1", "--format=%s") == "Set us-1: region ap, zones a/b, provider own"
    spec = repository.show("us.yaml", "HEAD").partition("spec:\n")[2].splitlines()
    assert sorted(line.strip() for line in spec) == [
        "- a",
        "- b",
        "provider: own",
        "region: ap",
        "syncMode: Push",
        "zones:",
    ]
    again = argosy(repository, capsys, "cluster", "set", "us-1", *words)
    assert again.out == "cluster/us-1 unchanged\n"
    both = argosy(repository, capsys, "cluster", "set", "us-1", "--region", "us", "--capacity", "cpu=64,memory=1Gi")
    assert both.outcome == "cluster/us-1 set\n"


@each_row("zone", ["zone: a", "zones: [a]"])
def test_a_zone_of_the_older_form_gives_way(zone: str) -> None:
    content = f"kind: Cluster\nspec:\n  {zone}\n".encode()
    manifest = parse_documents(content)[0].value
    edited = edit_file(content, 0, field_edits(manifest, MemberFields(zones=("b",))))
    assert parse_documents(edited)[0].value["spec"] == {"zones": ["b"]}


def test_a_zone_or_a_provider_alone_is_a_place(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("--zone", "--provider"):
        ended = argosy(repository, capsys, "cluster", "set", "us-1", option, "own", "--commit")
        assert (ended.code, ended.outcome) == (0, "cluster/us-1 place set\n")
    assert repository.git("log", "-2", "--format=%s").splitlines() == [
        "Set us-1: provider own",
        "Set us-1: zones own",
    ]


@pytest.fixture
def placed(repository: Repository, capsys: pytest.CaptureFixture[str]) -> Repository:
    """Nine replicas in three members, rendered."""
    placement = on_clusters(*MEMBERS, replicaScheduling=weighted(**dict.fromkeys(MEMBERS, 1)))
    policy = a_policy(selectors=[{"apiVersion": "apps/v1", "kind": "Deployment"}], placement=placement)
    repository.commit({"web.yaml": a_deployment("web", replicas=9), "policy.yaml": policy})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    return repository


def replicas_of(repository: Repository, name: str) -> str:
    path = f"clusters/{name}/default/Deployment.apps/web.yaml"
    return next(line.strip() for line in repository.show(path, "argosy/rendered").splitlines() if "replicas:" in line)


def test_a_drain_of_several_members_is_shown_and_carried_out_as_one(
    placed: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """One after the other, the first drain would move replicas to the member that is drained next."""
    ended = argosy(placed, capsys, "cluster", "drain", "eu-*", "--commit")
    assert (ended.code, ended.out.splitlines()[:2]) == (
        0,
        ["cluster/eu-1 draining: 1 object is to leave", "cluster/eu-2 draining: 1 object is to leave"],
    )
    assert "eu-1 3 -> 0, eu-2 3 -> 0, us-1 3 -> 9" in ended.out
    assert ended.out.splitlines()[-2:] == [
        "  argosy reconcile",
        "  argosy cluster uncordon eu-1 eu-2  # when things may come back",
    ]
    assert placed.git("log", "-1", "--format=%s") == "Drain eu-1, eu-2"
    assert argosy(placed, capsys, "reconcile").code == 0
    assert replicas_of(placed, "us-1") == "replicas: 9"
    assert [path for path in placed.files("argosy/rendered") if path.startswith("clusters/eu-")] == []
    again = argosy(placed, capsys, "cluster", "drain", "eu-1", "eu-2")
    assert again.out.startswith("cluster/eu-1 already draining")
    assert argosy(placed, capsys, "cluster", "uncordon", "eu-*").outcome == (
        "cluster/eu-1 uncordoned\ncluster/eu-2 uncordoned\n\nDeployment.apps default/web stays where it is: the end of"
        " a taint moves no replicas; argosy rebalance moves it\n"
    )


def test_several_members_leave_only_where_all_of_them_may(
    placed: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert argosy(placed, capsys, "cluster", "drain", "eu-1", "--commit").code == 0
    assert argosy(placed, capsys, "reconcile").code == 0
    ended = argosy(placed, capsys, "cluster", "unjoin", "eu-1", "us-1", "--commit")
    assert (ended.code, ended.out) == (3, "")
    assert "still rendered for 'us-1'" in ended.err
    ended = argosy(placed, capsys, "cluster", "unjoin", "eu-2", "--drain", "-o", "json", "--commit")
    assert json.loads(ended.out)["leaving"] == 1
    assert argosy(placed, capsys, "reconcile").code == 0
    ended = argosy(placed, capsys, "cluster", "unjoin", "-l", "!env", "eu-*", "--commit")
    assert ended.outcome == "cluster/eu-2 unjoined\n"
    assert argosy(placed, capsys, "cluster", "unjoin", "eu-*", "--commit").outcome == "cluster/eu-1 unjoined\n"


def test_what_no_other_member_takes_stays_where_all_of_them_are_drained(
    placed: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """Drained one by one, each would be said to be left by it."""
    ended = argosy(placed, capsys, "cluster", "drain", "*", "--commit")
    assert (ended.code, ended.out.count("0 objects are to leave, 1 stays")) == (0, 3)
    assert argosy(placed, capsys, "reconcile").code == 1
    assert [replicas_of(placed, name) for name in MEMBERS] == ["replicas: 3"] * 3
