"""``argosy simulate --n-minus``: every loss of a fleet, as a table, JSON, JUnit and Markdown."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from reconciler.simulation import shared_work

from .build import Repository, a_cluster, a_deployment, a_policy, argosy, weighted
from .test_failover import a_fleet
from .test_simulate import NINE, fleet_of

NO_MATCH = "0/{0} clusters are available: {0} cluster(s) did not match the placement cluster affinity constraint."
BIG = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "big"}


@pytest.fixture(scope="module")
def losing(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Three clusters, of which only paris has db; web is divided equally, and proxy is in each."""
    return fleet_of(tmp_path_factory.mktemp("losing") / "fleet")


def losses(fleet: Repository, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    """The exit code, and the losses by name."""
    ended = argosy(fleet, capsys, "simulate", *words, *NINE, "-o", "json")
    assert ended.out, ended.err
    return ended.code, {each["name"]: each for each in json.loads(ended.out)["losses"]}


def test_every_loss_is_told_in_a_table(losing: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    ended = argosy(losing, capsys, "simulate", "--n-minus", "1", *NINE)
    assert (ended.code, ended.err) == (1, "")
    assert ended.out == (
        "1 of 3 losses of one cluster breaks something\n"
        "\n"
        "LOSSES\n"
        "  LOSS    OBJECTS   REPLICAS   MOVED   BROKEN   MISSING   COPIES   STATEFUL\n"
        "  oslo    2         4          2       0        -         1        -\n"
        "  paris   3         7          2       1        pods 3    1        1\n"
        "  rome    2         4          2       0        -         1        -\n"
        "\n"
        "WHAT BREAKS\n"
        f"  paris: StatefulSet.apps default/db: no place for 3 of 3 replicas: {NO_MATCH.format(2)}\n"
        "\n"
        "LEFT BEHIND\n"
        "  StatefulSet.apps default/db: the volumes of its claims in paris\n"
        "\n"
        "LOST COPIES\n"
        "  Deployment.apps default/proxy: loses a copy with any of 3, and others go on\n"
        "\n"
        "FACTS\n"
        "  oslo, paris, rome: nobody says when they were seen, and their capacity is unknown\n"
        "  as of 2026-03-01T09:00:00Z\n"
        "\n"
        "ASSUMED\n"
        f"  {pass_before(losing)}\n"
        "  what may go to oslo, paris, rome has room there, for no capacity is known\n"
        f"  {AT_ONCE}\n"
    )


AT_ONCE = "what a loss takes is placed anew at once; --without-cluster NAME says when that happens by itself, if ever"


def pass_before(fleet: Repository) -> str:
    """Return the assumption about a fleet that was never rendered."""
    source = fleet.git("rev-parse", "--short=12", "HEAD")
    return f"the first pass over source {source}, which is not rendered yet, comes before all of it"


def test_what_is_taken_for_granted_is_said_wherever_the_answer_is(
    losing: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the document, in JUnit and in Markdown; with files added, another source is meant than the newest commit."""
    asked = ("simulate", "--n-minus", "1", *NINE)
    (tmp_path / "new.yaml").write_text("{apiVersion: v1, kind: ConfigMap, metadata: {name: new}}")
    found = json.loads(argosy(losing, capsys, *asked, "-o", "json").out)["assumptions"]
    assert (found[0], found[-1], len(found)) == (pass_before(losing), AT_ONCE, 3)
    added = json.loads(argosy(losing, capsys, *asked, "--add", str(tmp_path / "new.yaml"), "-o", "json").out)
    assert added["assumptions"][0] == "the first pass over the source with the added file comes before all of it"
    suite = ET.fromstring(argosy(losing, capsys, *asked, "-o", "junit").out).find("testsuite")
    assert suite is not None
    assert AT_ONCE in (suite.findtext("system-out") or "")
    assert AT_ONCE in argosy(losing, capsys, *asked, "-o", "markdown").out


def test_regions_zones_and_providers_are_lost_whole(losing: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    code, regions = losses(losing, capsys, "--n-minus", "1", "--by", "region")
    assert (code, list(regions)) == (1, ["north", "south"])
    south = regions["south"]
    assert (south["clusters"], south["moved"], south["replicas"]) == (["paris", "rome"], 4, 11)
    assert [each["object"] for each in south["broken"]] == ["StatefulSet.apps default/db"]
    assert losses(losing, capsys, "--n-minus", "1", "--by", "provider")[1].keys() == {"ice"}
    assert losses(losing, capsys, "--n-minus", "1", "--by", "zone")[1].keys() == {"paris-1", "rome-1"}


def test_every_two_are_lost_together(losing: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    code, pairs = losses(losing, capsys, "--n-minus", "2")
    assert (code, list(pairs)) == (1, ["oslo + paris", "oslo + rome", "paris + rome"])
    assert pairs["oslo + rome"]["survived"]
    assert (pairs["oslo + rome"]["domains"], pairs["oslo + rome"]["moved"]) == (["oslo", "rome"], 4)
    assert losses(losing, capsys, "--n-minus", "2", "--by", "provider")[1].keys() == {"ice"}


def test_clusters_that_no_loss_takes_are_named(losing: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("simulate", "--n-minus", "1", "--by", "zone", *NINE)
    said = "NEVER LOST\n  no zone is known of oslo, so no loss of a zone takes what is there\n"
    assert said in argosy(losing, capsys, *asked).out
    assert json.loads(argosy(losing, capsys, *asked, "-o", "json").out)["neverLost"] == ["oslo"]
    by_cluster = argosy(losing, capsys, "simulate", "--n-minus", "1", *NINE, "-o", "json")
    assert json.loads(by_cluster.out)["neverLost"] == []


def test_two_are_not_said_to_be_lost_where_there_is_one(losing: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("simulate", "--n-minus", "2", "--by", "provider", *NINE)
    ended = argosy(losing, capsys, *asked)
    assert ended.out.partition("\n")[0] == (
        "no loss of one provider breaks anything (1 loss); the source has 1 provider in all"
    )
    assert json.loads(argosy(losing, capsys, *asked, "-o", "json").out)["count"] == 1


def test_nothing_that_could_be_lost_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody has compared anything, so the answer is not that everything is survived."""
    repository = Repository.create(tmp_path)
    repository.commit({"argosy.yaml": a_fleet()})
    ended = argosy(repository, capsys, "simulate", "--n-minus", "1", *NINE, "-o", "junit")
    assert (ended.code, ended.out, "the source has no clusters" in ended.err) == (2, "", True)
    repository.commit({"oslo.yaml": a_cluster("oslo")})
    ended = argosy(repository, capsys, "simulate", "--n-minus", "1", "--by", "region", *NINE, "-o", "junit")
    assert (ended.code, ended.out) == (2, "")
    assert "no region is known of any cluster of the source, so none can be lost\n  hint: write the region" in ended.err


def test_each_loss_is_a_case_of_junit(losing: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    ended = argosy(losing, capsys, "simulate", "--n-minus", "1", *NINE, "-o", "junit")
    cases = ET.fromstring(ended.out).findall(".//testcase")
    assert [each.get("name") for each in cases] == ["oslo", "paris", "rome"]
    failures = [failure for each in cases if (failure := each.find("failure")) is not None]
    assert [each.get("message") for each in failures] == ["1 object without a place, missing: pods 3"]
    assert (failures[0].text or "").startswith("StatefulSet.apps default/db: no place for 3 of 3 replicas")
    assert (cases[1].findtext("system-out") or "").splitlines() == [
        "3 objects there, 2 replicas placed elsewhere",
        "Deployment.apps default/proxy: loses a copy, and others go on",
        "StatefulSet.apps default/db: the volumes of its claims left behind",
    ]


def test_a_cluster_that_no_loss_takes_is_a_case_that_was_skipped(
    losing: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(losing, capsys, "simulate", "--n-minus", "1", "--by", "zone", *NINE, "-o", "junit")
    suite = ET.fromstring(ended.out).find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("skipped")) == ("3", "1")
    skipped = [each for each in suite.findall("testcase") if each.find("skipped") is not None]
    assert [each.get("name") for each in skipped] == ["oslo"]
    reason = skipped[0].find("skipped")
    assert reason is not None
    assert reason.get("message") == "no zone is known of it, so no loss of a zone takes what is there"


def test_each_loss_has_its_price_where_there_is_a_price_list(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The replicas of paris go to clusters that charge more; others request nothing, and are in no sum."""
    web = a_deployment("web", replicas=6)
    web["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    rates = {"paris": "1", "rome": "2", "oslo": "3"}
    entries = [{"clusterAffinity": {"clusterNames": [name]}, "perHour": {"cpu": each}} for name, each in rates.items()]
    prices = {"kind": "PriceList", "metadata": {"name": "prices"}, "spec": {"currency": "EUR", "prices": entries}}
    fleet = fleet_of(tmp_path, **{"web.yaml": web, "prices.yaml": {"apiVersion": "argosy.dev/v1alpha1", **prices}})
    found = losses(fleet, capsys, "--n-minus", "1")[1]
    assert {name: each["cost"]["difference"] for name, each in found.items()} == {
        "paris": "2190",
        "rome": "0",
        "oslo": "-2190",
    }
    assert found["paris"]["cost"] == {"currency": "EUR", "difference": "2190", "isPartlyUnknown": False}
    table = argosy(fleet, capsys, "simulate", "--n-minus", "1", *NINE).out.partition("LOSSES\n")[2].splitlines()
    assert table[0].endswith("STATEFUL   EUR A MONTH")
    assert [each.split()[-1] for each in table[1:4]] == ["-2190.00", "+2190.00", "0.00"]
    prices["spec"] = {"currency": "EUR", "prices": [entries[0], entries[2]]}
    fleet.commit({"prices.yaml": {"apiVersion": "argosy.dev/v1alpha1", **prices}})
    assert losses(fleet, capsys, "--n-minus", "1")[1]["paris"]["cost"]["isPartlyUnknown"] is True


def test_without_a_price_list_no_loss_has_a_price(losing: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert "cost" not in losses(losing, capsys, "--n-minus", "1")[1]["paris"]


def test_markdown_has_the_same_table(losing: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    ended = argosy(losing, capsys, "simulate", "--n-minus", "1", *NINE, "-o", "markdown")
    assert ended.code == 1
    assert "| paris | 3 | 7 | 2 | 1 | pods 3 | 1 | 1 |\n" in ended.out


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--n-minus", "1", "--without-cluster", "paris"), "--without-cluster goes without --n-minus"),
        (("--n-minus", "1", "--horizon", "2h"), "--horizon goes without --n-minus"),
        (("--n-minus", "1", "--explain", "deploy/web"), "--explain goes without --n-minus"),
        (("--cordon", "oslo", "--by", "region"), "--by goes with --n-minus"),
        (("--cordon", "oslo", "-o", "junit"), "-o junit goes with --n-minus"),
        (("--n-minus", "3"), "Invalid value for '--n-minus'"),
    ],
)
def test_options_that_say_nothing_are_refused(
    words: tuple[str, ...], what: str, losing: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(losing, capsys, "simulate", *words)
    assert ended.code == 2
    assert what in ended.err


def a_sized_fleet(tmp_path_factory: pytest.TempPathFactory, **room: str) -> Repository:
    """The fleet with a workload of six replicas of one CPU each, divided by weights that ask nobody for room."""
    big = a_deployment("big", replicas=6)
    big["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    placement = {"replicaScheduling": weighted(paris=1, rome=1, oslo=1)}
    files: dict[str, Any] = {"big.yaml": [big, a_policy("big", selectors=[BIG], placement=placement)]}
    for name, cpu in room.items():
        summary = {"resourceSummary": {"allocatable": {"cpu": cpu, "pods": "100"}}}
        files[f"{name}.yaml"] = {**a_cluster(name, region="south"), "status": summary}
    return fleet_of(tmp_path_factory.mktemp("sized") / "fleet", **files)


def test_weights_that_overdraw_a_cluster_miss_capacity(
    tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = a_sized_fleet(tmp_path_factory, oslo="2", paris="9", rome="9")
    found = losses(fleet, capsys, "--n-minus", "1")[1]
    assert (found["rome"]["overdrawn"], found["rome"]["missingCapacity"]) == ({"oslo": {"cpu": "1"}}, {"cpu": "1"})
    assert not found["rome"]["survived"]
    assert found["oslo"]["overdrawn"] == {}
    ended = argosy(fleet, capsys, "simulate", "--n-minus", "1", *NINE)
    assert "OVERDRAWN\n  paris: oslo: cpu 1 more than there is\n  rome: oslo: cpu 1 more than there is\n" in ended.out


def test_other_suppositions_come_before_every_loss(
    tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = a_sized_fleet(tmp_path_factory, oslo="2", paris="9", rome="9")
    assert losses(fleet, capsys, "--n-minus", "1", "--capacity", "oslo=cpu=3")[1]["rome"]["survived"]
    assert losses(fleet, capsys, "--n-minus", "1", "--scale", "deploy/web=60")[1]["rome"]["moved"] == 20 + 2


def test_losses_that_break_nothing_are_told_in_a_line_where_they_are_many(
    tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    more = {f"more{number}.yaml": a_cluster(f"more{number:02}") for number in range(30)}
    fleet = fleet_of(tmp_path_factory.mktemp("many") / "fleet", **more)
    ended = argosy(fleet, capsys, "simulate", "--n-minus", "1", *NINE)
    assert (
        "  paris   3         7          2       1        pods 3    1        1\n"
        "  32 other losses break nothing; at most 2 replicas move (-v: each of them)\n"
    ) in ended.out
    full = argosy(fleet, capsys, "-v", "simulate", "--n-minus", "1", *NINE)
    assert "\n  more29 " in full.out


def test_several_processes_say_what_one_says(
    losing: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = losses(losing, capsys, "--n-minus", "2")
    monkeypatch.setattr(shared_work, "_number_of_processes", lambda _teller, _losses: 2)
    assert losses(losing, capsys, "--n-minus", "2") == alone
