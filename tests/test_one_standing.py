"""Every place that tells of a state tells the same one: for each outcome that can be recorded, in members of each kind.

The outcomes are a table of what a Work may say. The members are one that has the newest commit, one that is behind, one
that is held, one that does not answer and one of which nothing is recorded; and some objects go nowhere.
"""

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec import Struct
from msgspec.structs import replace

from reconciler.console.marks import STATE_BY_WORD, HealthState, state_of_row
from reconciler.ledger.holds import RELEASED, ClusterHold
from reconciler.ledger.inventory import Inventory
from reconciler.outputs.cluster_status import cluster_status_document
from reconciler.outputs.document import OutputDocument, plain_document
from reconciler.outputs.lists import namespace_list_document, object_list_document
from reconciler.outputs.matrix import matrix_document
from reconciler.outputs.object_status import object_status_document
from reconciler.outputs.overview import overview_document
from reconciler.outputs.search import search_document
from reconciler.overview.fleet_overview import overview_of_fleet
from reconciler.overview.instants import recorded_fleet_at
from reconciler.overview.survival import AskLosses
from reconciler.overview.waiting import AskedFleet
from reconciler.repository import open_repository
from reconciler.status.branches import RecordedFleet
from reconciler.survey.choosing import Choice
from reconciler.survey.lists import ListPart, list_namespaces, list_objects
from reconciler.survey.matrix import MatrixQuestion, matrix_of_fleet
from reconciler.survey.searching import search_fleet
from reconciler.survey.states import SurveyedState, rank_of_state
from reconciler.survey.surveying import Survey
from render.documents import emit
from render.interpretation.progress import REASONS_UNDER_WAY

from .build import a_config_map, a_deployment, a_policy, on_clusters
from .dated_fleet import silent_log
from .memory_fleet import MemoryFleet, settle

pytestmark = pytest.mark.xdist_group("standing")
SPACE = "shop"
MEMBERS = ("here", "behind", "held", "silent", "unseen")
ROOMY = {"cpu": "64", "memory": "256Gi", "pods": "500"}


class Outcome(NamedTuple):
    """The conditions of a Work as (status, reason), and the state that this is where all else is well."""

    name: str
    applied: tuple[str, str] | None
    healthy: tuple[str, str] | None
    want: str


ACCEPTED, REFUSED = ("True", "AppliedSuccessful"), ("False", "AppliedFailed")
OUTCOMES = [
    Outcome("well", ACCEPTED, ("True", "Healthy"), "Well"),
    Outcome("short", ACCEPTED, ("False", "ReplicasMissing"), "Unwell"),
    Outcome("failed", ACCEPTED, ("False", "ProgressDeadlineExceeded"), "Unwell"),
    Outcome("leaving", ACCEPTED, ("False", "Terminating"), "Unwell"),
    Outcome("refused", REFUSED, ("Unknown", "Unknown"), "Unwell"),
    Outcome("refused-and-well", REFUSED, ("True", "Healthy"), "Unwell"),
    Outcome("unreadable", ACCEPTED, ("Unknown", "InterpreterError"), "Unknown"),
    Outcome("untold", ACCEPTED, None, "Unknown"),
    Outcome("undecided", ("Unknown", "Unknown"), ("True", "Healthy"), "Unknown"),
    Outcome("empty", None, None, "Unknown"),
    *(Outcome(f"going-{word.lower()}", ACCEPTED, ("False", word), "Progressing") for word in sorted(REASONS_UNDER_WAY)),
]
NEVER_SEEN = "never-seen"
ELSEWHERE = {"suspended": "Waiting", "unfit": "Unwell", "unplaced": "Waiting", "unclaimed": "Waiting"}
"""Objects that are nowhere: not dispatched, fitting in no cluster, another scheduler's, selected by no policy."""
LATE = {"behind": "Progressing", "held": "Waiting"}


def wanted(outcome: str, member: str) -> str:
    """The state of an object in a member, by hand: what is well, or not there, is as its member is."""
    if member in {"silent", "unseen"}:
        return "Unknown"
    if outcome == NEVER_SEEN:
        return LATE.get(member, "Unknown")
    found = next(each.want for each in OUTCOMES if each.name == outcome)
    return LATE.get(member, found) if found == "Well" else found


def named(name: str) -> str:
    return f"Deployment.apps {SPACE}/{name}" if name not in ELSEWHERE else f"ConfigMap {SPACE}/{name}"


WANT = {
    named(name): {member: wanted(name, member) for member in MEMBERS}
    for name in [*(each.name for each in OUTCOMES), NEVER_SEEN]
}
WANT[named("suspended")] = {"here": "Waiting"}
OVERALL = {name: min(map(SurveyedState, cells.values()), key=rank_of_state) for name, cells in WANT.items()}
OVERALL |= {named(name): SurveyedState(state) for name, state in ELSEWHERE.items()}


class Told(Struct, frozen=True, kw_only=True):
    """A fleet, and what is said of it."""

    fleet: MemoryFleet
    branches: RecordedFleet
    survey: Survey
    overview: dict[str, Any]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    fleet = _a_fleet(tmp_path_factory.mktemp("one-standing") / "shop")
    with open_repository(str(fleet.repository.path)) as repository:
        found = recorded_fleet_at(repository, silent_log(fleet), clock=lambda: fleet.now)
        branches = _with_outcomes(found)
        survey = Survey(branches)
        asked = AskedFleet(repository=repository, branches=branches)
        overview = overview_of_fleet(asked, silent_log(fleet), AskLosses.KNOWN, survey)
        return Told(fleet=fleet, branches=branches, survey=survey, overview=plain_document(overview_document(overview)))


def _a_fleet(path: Path) -> MemoryFleet:
    deployments = [*(each.name for each in OUTCOMES), NEVER_SEEN]
    maps = [{"apiVersion": "v1", "kind": "ConfigMap", "name": name} for name in ELSEWHERE]
    files: dict[str, Any] = {
        **{f"{name}.yaml": a_deployment(name, namespace=SPACE, replicas=1) for name in deployments},
        **{f"{name}.yaml": a_config_map(name, namespace=SPACE) for name in ELSEWHERE},
        "all.yaml": a_policy(
            "all", namespace=SPACE, selectors=[{"apiVersion": "apps/v1", "kind": "Deployment"}], placement={}
        ),
        "suspended-policy.yaml": a_policy(
            "suspended",
            namespace=SPACE,
            selectors=maps[:1],
            placement=on_clusters("here"),
            suspension={"dispatching": True},
        ),
        "unfit-policy.yaml": a_policy("unfit", namespace=SPACE, selectors=maps[1:2], placement=on_clusters("nowhere")),
        "unplaced-policy.yaml": a_policy(
            "unplaced",
            namespace=SPACE,
            selectors=maps[2:3],
            placement=on_clusters("here"),
            schedulerName="another",
        ),
    }
    fleet = MemoryFleet.create(path, dict.fromkeys(MEMBERS, (1, ROOMY)), files)
    fleet.run(only=MEMBERS[:-1])
    for member in fleet.members.values():
        settle(member)
    fleet.run(60, only=MEMBERS[:-1])
    fleet.repository.commit({"well.yaml": a_deployment("well", namespace=SPACE, replicas=2)})
    fleet.down.add("silent")
    fleet.run(60, only={"here", "silent"})
    return fleet


def _with_outcomes(branches: RecordedFleet) -> RecordedFleet:
    """Let the Works of members say what the table has, and one member be held."""
    recorded, files = branches.recorded, dict[str, bytes | None]()
    for member in MEMBERS[:-1]:
        files[f"works/{member}/{SPACE}/Deployment.apps/{NEVER_SEEN}.yaml"] = None
        for each in OUTCOMES:
            path = f"works/{member}/{SPACE}/Deployment.apps/{each.name}.yaml"
            work = recorded.manifest(path)
            assert work is not None, path
            files[path] = emit({**work, "status": {**work["status"], "conditions": _conditions(each)}})
    inventory = recorded.file(Inventory, Inventory.at("held"))
    assert inventory is not None
    source = branches.fleet.previous.source
    hold = ClusterHold(
        commit=inventory.converged, source=source, by="Ada", since="2027-01-15T08:00:00Z", until=RELEASED
    )
    files[Inventory.at("held")] = replace(inventory, hold=hold).content()
    return replace(branches, recorded=recorded.with_files(files))


def _conditions(outcome: Outcome) -> list[dict[str, str]]:
    pairs = {"Applied": outcome.applied, "Healthy": outcome.healthy}
    return [
        {
            "type": kind,
            "status": pair[0],
            "reason": pair[1],
            "message": "",
            "lastTransitionTime": "2027-01-15T08:00:00Z",
        }
        for kind, pair in pairs.items()
        if pair is not None
    ]


def plain(document: OutputDocument) -> Any:
    return plain_document(document)


def test_the_matrix_tells_it(told: Told) -> None:
    question = MatrixQuestion(rows="object", columns="cluster", limit=0)
    found = plain(matrix_document(told.survey, "object", "cluster", matrix_of_fleet(told.survey, question)))["cells"]
    assert {name: {member: cell["state"] for member, cell in cells.items()} for name, cells in found.items()} == WANT


def test_the_page_of_each_object_tells_it(told: Told) -> None:
    documents = {
        str(each.ref): plain(object_status_document(told.branches, each)) for each in told.branches.fleet.bindings
    }
    documents = {name: each for name, each in documents.items() if name in OVERALL}
    assert {name: {row["cluster"]: row["state"] for row in each["clusters"]} for name, each in documents.items()} == {
        name: WANT.get(name, {}) for name in documents
    }
    assert {name: each["state"] for name, each in documents.items()} == {name: str(OVERALL[name]) for name in documents}
    assert OVERALL.keys() - documents.keys() == {named("unclaimed")}


def test_the_page_of_each_cluster_tells_it(told: Told) -> None:
    found: dict[str, dict[str, str]] = {}
    for member in MEMBERS[:-1]:
        for row in plain(cluster_status_document(told.branches, member, told.survey))["objects"]:
            found.setdefault(row["object"], {})[member] = row["state"]
    found = {name: cells for name, cells in found.items() if name in WANT}
    recorded = [name for name in WANT if name not in {named(NEVER_SEEN), named("suspended")}]
    assert found == {name: {member: WANT[name][member] for member in MEMBERS[:-1]} for name in recorded}


def test_the_list_of_objects_tells_it_of_all_clusters_and_of_one(told: Told) -> None:
    listed = plain(object_list_document(list_objects(told.survey, Choice(), ListPart())))
    found = {each["object"]: each["state"] for each in listed["objects"]}
    assert {name: found[name] for name in OVERALL} == {name: str(state) for name, state in OVERALL.items()}
    for member in MEMBERS:
        for state in SurveyedState:
            chosen = list_objects(told.survey, Choice(cluster=member, state=str(state)), ListPart()).page.items
            want = {name for name, cells in WANT.items() if cells.get(member) == state}
            assert {str(each.ref) for each in chosen} & OVERALL.keys() == want, (member, state)
        of_member = plain(
            object_list_document(list_objects(told.survey, Choice(cluster=member, namespace=SPACE), ListPart()))
        )
        shown = {each["object"]: (each["state"], each["clusters"], each["states"]) for each in of_member["objects"]}
        assert {name: shown[name] for name in WANT if name in shown} == {
            name: (cells[member], 1, {cells[member]: 1}) for name, cells in WANT.items() if member in cells
        }


def test_the_namespace_and_the_search_tell_it(told: Told) -> None:
    (space,) = plain(namespace_list_document(list_namespaces(told.survey, Choice(namespace=SPACE), ListPart())))[
        "namespaces"
    ]
    assert space["states"] == Counter(map(str, OVERALL.values()))
    kinds = plain(search_document(told.survey, [SPACE], 0, search_fleet(told.survey, (), [SPACE], 0)))["kinds"]
    found = {each["name"]: each["state"] for kind in kinds if kind["kind"] == "Object" for each in kind["found"]}
    assert {name: found[name] for name in OVERALL} == {name: str(state) for name, state in OVERALL.items()}
    problems = {each["name"]: each["state"] for kind in kinds if kind["kind"] == "Problem" for each in kind["found"]}
    assert {name: OVERALL[name] for name in problems if name in OVERALL} == {
        name: state for name, state in problems.items() if name in OVERALL
    }


def test_the_overview_tells_it(told: Told) -> None:
    unwell: dict[str, set[str]] = {}
    for each in told.overview["unwell"]:
        unwell.setdefault(each["object"], set()).update(each["clusters"])
    want = {name: {member for member, state in WANT.get(name, {}).items() if state == "Unwell"} for name in OVERALL}
    assert unwell == {name: want[name] for name, state in OVERALL.items() if state is SurveyedState.UNWELL}
    assert told.overview["states"] == Counter(str(each.worst.state) for each in told.survey.objects)
    assert told.overview["unwellCount"] == told.overview["states"]["Unwell"]
    assert told.overview["members"]["states"] == Counter(str(each.state.state) for each in told.survey.clusters)
    assert {each["cluster"]: each["state"] for each in told.overview["members"]["late"]} == {
        each.name: str(each.state.state) for each in told.survey.clusters if each.state.state is not SurveyedState.WELL
    }


@pytest.mark.parametrize("state", list(SurveyedState))
def test_a_row_of_a_table_has_the_mark_of_its_state_whatever_its_reason_is(state: SurveyedState) -> None:
    for reason in STATE_BY_WORD if state.value in {"Unwell", "Unknown", "Well"} else ("",):
        assert state_of_row(("OBJECT", "STATE", "REASON"), ("web", str(state), reason)) == state.value.lower()


def test_a_reason_that_is_under_way_has_the_mark_of_what_progresses() -> None:
    for reason in REASONS_UNDER_WAY:
        cells = (named("web"), "paris", reason, "", "")
        assert state_of_row(("NOT WELL", "CLUSTER", "REASON", "SINCE", "MESSAGE"), cells) is HealthState.PROGRESSING
