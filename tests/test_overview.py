"""``argosy overview``: what is unwell, what moves, what waits for a person, and what the fleet would survive."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from reconciler.ledger.refusal import SourceRefusal
from reconciler.outputs.document import plain_document
from reconciler.outputs.overview import overview_document
from reconciler.overview.deliveries import ChangeDelivery, Deliveries
from reconciler.overview.fleet_overview import FleetOverview, overview_of_fleet
from reconciler.overview.instants import recorded_fleet_at
from reconciler.overview.owners import ObjectOwner, last_authors
from reconciler.overview.survival import AskLosses
from reconciler.overview.waiting import AskedFleet, what_waits
from reconciler.repository import open_repository

from .build import Repository, a_cluster, a_deployment, argosy
from .dated_fleet import a_dated_fleet, commit_later, run_until_well, silent_log, tips
from .memory_fleet import MemoryFleet, settle
from .paged import browser_of

WEB = "Deployment.apps default/web"
FOLDER = {"web": a_deployment("web"), "paris": a_cluster("paris")}


@pytest.fixture
def fleet(tmp_path: Path) -> MemoryFleet:
    """A fleet of two members that runs a Deployment, seen well two minutes after its commit."""
    fleet = a_dated_fleet(tmp_path / "fleet")
    run_until_well(fleet, 0)
    return fleet


def overview(fleet: MemoryFleet, losses: AskLosses = AskLosses.KNOWN, at: str = "") -> FleetOverview:
    """The overview of a fleet at the time of its last pass."""
    log = silent_log(fleet)
    with open_repository(str(fleet.repository.path)) as repository:
        branches = recorded_fleet_at(repository, log, at, clock=lambda: fleet.now)
        return overview_of_fleet(AskedFleet(repository=repository, branches=branches), log, losses)


def told(fleet: MemoryFleet, **how: Any) -> dict[str, Any]:
    return plain_document(overview_document(overview(fleet, **how)))


def break_web(fleet: MemoryFleet, *names: str) -> None:
    """Let no replica of a Deployment be ready in members."""
    for name in names:
        for (plural, _, _), live in fleet.members[name].objects.items():
            if plural == "deployments.apps":
                live["status"] = {**live["status"], "readyReplicas": 0, "availableReplicas": 0}


def test_what_is_unwell_is_told_once_for_all_clusters_with_its_age_and_its_owner(fleet: MemoryFleet) -> None:
    break_web(fleet, "oslo", "paris")
    fleet.run(60)
    found = told(fleet)
    assert (found["well"], found["unwellCount"]) == (False, 1)
    [unwell] = found["unwell"]
    author = fleet.repository.git("rev-parse", "HEAD")[:12]
    assert {key: unwell[key] for key in ("object", "clusters", "clusterCount", "since", "owner", "ownerFrom")} == {
        "object": WEB,
        "clusters": ["oslo", "paris"],
        "clusterCount": 2,
        "since": "2027-01-15T08:02:00Z",
        "owner": "Ada",
        "ownerFrom": f"author of {author}",
    }


def test_an_object_that_is_unwell_for_several_reasons_is_counted_once(fleet: MemoryFleet) -> None:
    break_web(fleet, "oslo", "paris")
    fleet.members["oslo"].objects["deployments.apps", "default", "web"]["status"]["readyReplicas"] = 1
    fleet.run(60)
    found = told(fleet)
    assert [each["clusters"] for each in found["unwell"]] == [["oslo"], ["paris"]]
    assert found["unwellCount"] == 1


class Owned(NamedTuple):
    why: str
    metadata: dict[str, Any]
    want: tuple[str, str]
    namespace: dict[str, Any] | None = None


NAMESPACE = {"apiVersion": "v1", "kind": "Namespace"}
OWNED = [
    Owned("an annotation", {"annotations": {"argosy.dev/owner": "shop"}}, ("shop", "annotation argosy.dev/owner")),
    Owned("a label", {"labels": {"team": "shop"}}, ("shop", "label team")),
    Owned(
        "the annotation before a label",
        {"annotations": {"argosy.dev/owner": "shop"}, "labels": {"owner": "other"}},
        ("shop", "annotation argosy.dev/owner"),
    ),
    Owned("a label of the Namespace", {}, ("shop", "Namespace label owner"), {"labels": {"owner": "shop"}}),
]


@pytest.mark.parametrize("case", OWNED, ids=lambda case: case.why)
def test_an_owner_is_named_by(case: Owned, fleet: MemoryFleet) -> None:
    template = a_deployment("web", image="web:1")
    files = {"web.yaml": {**template, "metadata": {**template["metadata"], **case.metadata}}}
    if case.namespace:
        files["space.yaml"] = {**NAMESPACE, "metadata": {"name": "default", **case.namespace}}
    commit_later(fleet, files)
    fleet.run(60)
    break_web(fleet, "oslo", "paris")
    fleet.run(60)
    [unwell] = told(fleet)["unwell"]
    assert (unwell["owner"], unwell["ownerFrom"]) == case.want


def test_what_was_rendered_of_late_is_told_and_nothing_older(fleet: MemoryFleet) -> None:
    source = commit_later(fleet, {"web.yaml": a_deployment("web", image="web:2")}, 25 * 3600, "Give web an image")
    run_until_well(fleet, 25 * 3600)
    [change] = told(fleet)["changes"]
    assert change == {
        "commit": tips(fleet)[0],
        "time": "2027-01-16T09:01:00Z",
        "source": source,
        "author": "Ada <ada@example.com>",
        "subject": "Give web an image",
        "newSource": True,
        "clusters": 2,
        "objects": 1,
    }


def test_silent_members_are_told_since_when_and_do_not_count_as_applied(fleet: MemoryFleet) -> None:
    fleet.down.add("paris")
    fleet.run(60)
    fleet.run(600)
    members = told(fleet)["members"]
    assert (members["total"], members["applied"], members["lateCount"], members["silentCount"]) == (2, 1, 1, 1)
    [late] = members["late"]
    assert {key: late[key] for key in ("cluster", "silent", "awaited", "reason", "since")} == {
        "cluster": "paris",
        "silent": True,
        "awaited": True,
        "reason": "Unreachable",
        "since": "2027-01-15T08:02:00Z",
    }


def test_a_list_of_the_page_that_is_cut_says_of_how_many_it_has_the_first(tmp_path: Path) -> None:
    """101 Deployments are unwell, each for a reason of its own."""
    files = {f"web-{number}.yaml": a_deployment(f"web-{number}", replicas=1) for number in range(101)}
    fleet = a_dated_fleet(tmp_path / "fleet", files, "oslo")
    run_until_well(fleet, 0)
    for (plural, _, name), live in fleet.members["oslo"].objects.items():
        if plural == "deployments.apps" and name != "web":
            live["status"] = {**live["status"], "readyReplicas": 0, "availableReplicas": 0}
    fleet.run(60)
    found = told(fleet)
    assert (len(found["unwell"]), found["unwellReasons"], found["unwellCount"]) == (100, 101, 101)
    page = re.sub(r"\s+", " ", re.sub("<[^>]+>", "", browser_of(fleet.repository).answered("/overview").text))
    assert "The first 100 of 101: all." in page


def test_losses_are_asked_once_for_the_same_commits(fleet: MemoryFleet) -> None:
    assert [(each["by"], each["asked"]) for each in told(fleet)["survival"]] == [("cluster", False), ("region", False)]
    found = told(fleet, losses=AskLosses.AUTO)["survival"]
    assert {key: found[0][key] for key in ("asked", "survived", "losses", "breaking")} == {
        "asked": True,
        "survived": True,
        "losses": 2,
        "breaking": 0,
    }
    assert found[1]["reason"] == "no region is known of any cluster, so none can be lost"
    assert told(fleet)["survival"] == found
    fleet.down.add("paris")
    fleet.run(60)
    assert [each["asked"] for each in told(fleet)["survival"]] == [False, False]


def test_a_loss_that_breaks_something_is_named(tmp_path: Path) -> None:
    fleet = a_dated_fleet(tmp_path / "fleet", {}, "oslo")
    run_until_well(fleet, 0)
    survival = told(fleet, losses=AskLosses.ALWAYS)["survival"][0]
    assert (survival["survived"], survival["worst"]) == (
        False,
        [{"name": "oslo", "objects": 1, "first": [WEB], "overdrawn": 0}],
    )


def test_the_cordoned_clusters_that_a_loss_counts_on_are_named(
    fleet: MemoryFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the answer of what-if does: a cordoned cluster gets more replicas of what it holds."""
    cordon = {"key": "cluster.karmada.io/unschedulable", "effect": "NoSchedule"}
    commit_later(fleet, {"clusters/paris.yaml": a_cluster("paris", taints=[cordon])}, 300)
    said = "paris is cordoned: nothing new comes to it, but what it holds may get more replicas there"

    of_clusters, of_regions = told(fleet, losses=AskLosses.ALWAYS)["survival"]

    assert (of_clusters["survived"], of_clusters["cordoned"]) == (True, [said])
    assert "cordoned" not in of_regions
    assert said in argosy(fleet.repository, capsys, "overview").out
    page = re.sub(r"\s+", " ", re.sub("<[^>]+>", "", browser_of(fleet.repository).answered("/overview").text))
    assert said in page


def test_of_the_past_losses_are_not_asked(fleet: MemoryFleet) -> None:
    found = told(fleet, losses=AskLosses.ALWAYS, at="HEAD")
    command = f"argosy simulate --n-minus 1 --at {found['now']}"
    assert {each["reason"] for each in found["survival"]} == {f"of the past it is asked by {command}"}


def test_the_lead_time_is_that_from_the_source_commit_to_health_everywhere(fleet: MemoryFleet) -> None:
    """It is applied 30 seconds after the commit; paris is well a minute later, and oslo another one after that."""
    commit_later(fleet, {"web.yaml": a_deployment("web", image="web:2")}, 300)
    break_web(fleet, "oslo", "paris")
    fleet.run(330)
    settle(fleet.members["paris"])
    fleet.run(60)
    assert told(fleet)["deliveries"]["newest"][0]["unmeasured"] == "it is not healthy in every cluster yet"
    settle(fleet.members["oslo"])
    fleet.run(60)
    found = told(fleet)["deliveries"]
    assert (found["newest"][0]["seconds"], found["changes"], found["leadTime"]["measured"]) == (150, 1, 1)


def a_change(fleet: MemoryFleet, version: int, later: float = 7200, message: str = "edit") -> str:
    """A change that is applied a minute after its commit, and well a minute after that; two hours then pass."""
    commit_later(fleet, {"web.yaml": a_deployment("web", image=f"web:{version}")}, 0, message)
    run_until_well(fleet)
    rendered = tips(fleet)[0]
    fleet.run(later)
    return rendered


def test_a_change_that_stays_well_for_an_hour_has_not_failed(fleet: MemoryFleet) -> None:
    a_change(fleet, 2, later=600)
    assert told(fleet)["deliveries"]["changeFailures"]["judged"] == 0
    fleet.run(7200)
    failures = told(fleet)["deliveries"]["changeFailures"]
    assert (failures["rate"], failures["failed"], failures["judged"]) == (0.0, 0, 1)


def test_a_change_after_which_something_becomes_unwell_within_an_hour_has_failed(fleet: MemoryFleet) -> None:
    rendered = a_change(fleet, 2, later=600)
    break_web(fleet, "paris")
    fleet.run(60)
    [delivery] = told(fleet)["deliveries"]["newest"]
    assert (delivery["commit"], delivery["judged"]) == (rendered, True)
    assert delivery["failure"] == "default/Deployment.apps/web.yaml became unwell in paris within an hour"


def test_what_is_on_its_way_after_a_change_is_no_failure_of_it_and_not_unwell(fleet: MemoryFleet) -> None:
    a_change(fleet, 2, later=600)
    live = fleet.members["paris"].objects["deployments.apps", "default", "web"]
    live["status"] = {**live["status"], "updatedReplicas": 0}
    fleet.run(60)
    found = told(fleet)
    assert (found["unwell"], found["unwellCount"], found["states"]) == ([], 0, {"Progressing": 1})
    fleet.run(7200)
    [delivery] = told(fleet)["deliveries"]["newest"]
    assert (delivery["judged"], "failure" in delivery) == (True, False)


def test_a_change_that_a_later_one_takes_back_within_an_hour_has_failed(fleet: MemoryFleet) -> None:
    a_change(fleet, 2, later=600)
    revert = commit_later(fleet, {"web.yaml": a_deployment("web", image="web:1")})
    run_until_well(fleet)
    newest, failed = told(fleet)["deliveries"]["newest"]
    assert "failure" not in newest
    assert failed["failure"] == f"source {revert[:12]} took it back within an hour"


def test_what_is_known_for_good_of_changes_is_measured_once(fleet: MemoryFleet) -> None:
    for version in range(2, 5):
        a_change(fleet, version)
    first = told(fleet)["deliveries"]
    assert (first["changes"], first["leadTime"]["measured"], first["changeFailures"]["judged"]) == (3, 3, 3)
    with open_repository(str(fleet.repository.path)) as repository:
        kept = json.loads((repository.cache_dir / "deliveries.json").read_text())["deliveries"]
    assert kept.keys() == {each["commit"] for each in first["newest"]}
    assert told(fleet)["deliveries"] == first


def test_the_median_of_lead_times_and_what_nine_in_ten_do_not_exceed() -> None:
    some = tuple(ChangeDelivery(commit=str(number), source="", seconds=number * 10) for number in range(1, 11))
    found = Deliveries(newest=(*some, ChangeDelivery(commit="x", source="", unmeasured="it is still going out")))
    assert (found.median, found.ninetieth, len(found.lead_times)) == (55, 90, 10)
    assert (Deliveries(newest=()).median, Deliveries(newest=()).ninetieth) == (None, None)


FREEZE = {"until": "2027-01-02T00:00:00Z", "reason": "holidays"}


def test_a_freeze_that_is_over_waits_for_somebody_to_remove_it(fleet: MemoryFleet) -> None:
    settings = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": {"rollouts": {"freezes": [FREEZE]}}}
    commit_later(fleet, {"argosy.yaml": settings})
    fleet.run(60)
    [freeze] = told(fleet)["waiting"]
    assert freeze == {
        "kind": "ExpiredFreeze",
        "subject": "spec.rollouts.freezes[0]",
        "message": "it is over: holidays",
        "since": "2027-01-02T00:00:00Z",
        "answer": "remove it from argosy.yaml",
    }


@pytest.mark.parametrize(("code", "kind"), [(6, "Guard"), (3, "Source")])
def test_a_source_that_is_refused_waits_for_a_person(code: int, kind: str, fleet: MemoryFleet) -> None:
    source = commit_later(fleet, {"web.yaml": a_deployment("web", image="web:2")}, 60)
    refusal = SourceRefusal(source=source, code=code, message="no", since="2027-01-15T08:05:00Z", hint="say so")
    with open_repository(str(fleet.repository.path)) as repository:
        branches = recorded_fleet_at(repository, silent_log(fleet), clock=lambda: fleet.now)
        recorded = branches.recorded.with_files({SourceRefusal.PATH: refusal.content()})
        asked = AskedFleet(repository=repository, branches=replace(branches, recorded=recorded))
        [waiting] = what_waits(asked)
    assert (waiting.kind, waiting.subject, waiting.message, waiting.since, waiting.answer) == (
        kind,
        source,
        "no",
        "2027-01-15T08:05:00Z",
        "say so",
    )


def test_settings_that_nobody_accepted_wait_for_a_person(fleet: MemoryFleet) -> None:
    renamed = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "other"}}
    commit_later(fleet, {"argosy.yaml": renamed}, 60)
    waiting = told(fleet)["waiting"]
    assert [(each["kind"], each["subject"]) for each in waiting] == [
        ("Settings", "metadata.name"),
    ]


def test_a_commit_that_is_proposed_for_the_rendered_branch_waits_until_it_is_merged(fleet: MemoryFleet) -> None:
    git, (rendered, _) = fleet.repository.git, tips(fleet)
    tree = git("rev-parse", f"{rendered}^{{tree}}")
    proposed = git("commit-tree", tree, "-p", rendered, "-m", "Render 1234: web")
    git("update-ref", "refs/heads/argosy/proposed", proposed)
    [waiting] = told(fleet)["waiting"]
    assert (waiting["kind"], waiting["subject"]) == ("PullRequest", "argosy/proposed")
    assert waiting["message"] == "Render 1234: web is proposed for argosy/rendered"
    git("update-ref", "refs/heads/argosy/proposed", rendered)
    assert told(fleet)["waiting"] == []


def test_a_fleet_in_a_folder_of_its_repository_has_owners_as_well(tmp_path: Path) -> None:
    repository = Repository.create(tmp_path / "fleet")
    files = {f"teams/shop/{name}.yaml": each for name, each in FOLDER.items()}
    repository.commit({"teams/shop/argosy.yaml": {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet"}, **files})
    with open_repository(str(repository.path / "teams" / "shop")) as opened:
        commit = opened.resolve("HEAD")
        assert last_authors(opened, commit, ["teams/shop/web.yaml", "nowhere.yaml"]) == {
            "teams/shop/web.yaml": ObjectOwner(name="Ada", known_from=f"author of {commit[:12]}")
        }


def test_text_and_document_say_the_same(fleet: MemoryFleet, capsys: pytest.CaptureFixture[str]) -> None:
    ended = argosy(fleet.repository, capsys, "overview")
    assert (ended.code, ended.err) == (0, "")
    heads = [line for line in ended.out.splitlines() if line.isupper() and not line.startswith(" ")]
    assert heads == ["UNWELL", "CHANGED IN 24 HOURS", "WAITS FOR A PERSON", "COULD WE LOSE ONE", "MEMBERS", "DELIVERY"]
    document = json.loads(argosy(fleet.repository, capsys, "overview", "-o", "json").out)
    assert (document["kind"], document["well"], document["unwell"]) == ("Overview", True, [])


def test_the_past_is_told_as_it_was(fleet: MemoryFleet) -> None:
    at = fleet.now
    commit_later(fleet, {"web.yaml": a_deployment("web", image="web:2")}, 3600)
    fleet.run(3660)
    break_web(fleet, "oslo")
    fleet.run(60)
    past, now = told(fleet, at="HEAD~1"), told(fleet)
    assert (past["well"], past["past"], past["now"]) == (True, True, "2027-01-15T09:01:00Z")
    assert at < fleet.now
    assert (now["well"], "past" in now) == (False, False)


def test_without_any_record_of_members_nothing_is_called_applied_or_delivered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = a_dated_fleet(tmp_path / "fleet")
    assert argosy(fleet.repository, capsys, "render", "--commit", "--bootstrap").code == 0
    found = overview(fleet)
    assert (found.unwell.count, found.members.applied, found.deliveries.newest) == (0, 0, ())
    assert "nothing is recorded of the members" in argosy(fleet.repository, capsys, "overview").out
