"""``argosy list``, ``matrix`` and ``search``, ``status policy/NAME`` and ``history --commits``: the fleet surveyed."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from reconciler.console.log import Log
from reconciler.repository import open_repository
from reconciler.status.branches import read_recorded_fleet
from reconciler.survey.choosing import Choice, ClusterChoice
from reconciler.survey.matrix import MatrixCell, MatrixQuestion, matrix_of_fleet
from reconciler.survey.policies import surveyed_policies
from reconciler.survey.states import SurveyedState
from reconciler.survey.surveying import Survey

from .build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters
from .memory_fleet import MemoryFleet, settle

pytestmark = pytest.mark.xdist_group("survey")
ROOMY = {"cpu": "8", "memory": "32Gi", "pods": "110"}
NODES = dict.fromkeys(("oslo", "paris", "rome"), (1, ROOMY))
DEPLOYMENTS = {"apiVersion": "apps/v1", "kind": "Deployment"}
CONFIG_MAPS = {"apiVersion": "v1", "kind": "ConfigMap"}
REGIONS = {"oslo": "north", "paris": "south", "rome": "south"}


def labelled(manifest: dict[str, Any], **labels: str) -> dict[str, Any]:
    manifest["metadata"]["labels"] = {key.replace("__", "/").replace("_", "-"): value for key, value in labels.items()}
    return manifest


FILES: dict[str, Any] = {
    **{f"clusters/{name}.yaml": a_cluster(name, region=region) for name, region in REGIONS.items()},
    "web.yaml": labelled(a_deployment("web", replicas=2), app="shop"),
    "settings.yaml": a_config_map("settings"),
    "apps.yaml": a_policy("apps", selectors=[DEPLOYMENTS], placement=on_clusters("oslo", "paris")),
    "maps.yaml": a_policy("maps", selectors=[CONFIG_MAPS], placement=on_clusters("oslo", "paris", "rome")),
    "web-policy.yaml": a_policy("web", selectors=[{**DEPLOYMENTS, "name": "web"}], placement=on_clusters("oslo")),
}
FILES["lost.yaml"] = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "lost", "namespace": "default"}}


@pytest.fixture
def fleet(tmp_path: Path) -> MemoryFleet:
    """Three members: a Deployment whose pods nobody makes, a ConfigMap everywhere, a Service that nothing selects."""
    made = MemoryFleet.create(tmp_path / "fleet", NODES, FILES)
    made.run()
    return made


def survey_of(fleet: MemoryFleet | Repository) -> Survey:
    repository = fleet.repository if isinstance(fleet, MemoryFleet) else fleet
    now = fleet.now if isinstance(fleet, MemoryFleet) else 0.0
    log = Log(stream=io.StringIO(), repository=str(repository.path))
    with open_repository(str(repository.path), refresh=False) as opened:
        return Survey(read_recorded_fleet(opened, log, lambda: now))


def states(survey: Survey) -> dict[str, dict[str, str]]:
    """Return the state of each object in each cluster."""
    return {
        str(each.ref): {name: str(each.in_cluster(name).state) for name in each.replicas} for each in survey.objects
    }


def test_what_is_short_of_ready_replicas_is_unwell_and_what_is_recorded_as_healthy_is_well(fleet: MemoryFleet) -> None:
    survey = survey_of(fleet)
    assert states(survey) == {
        "ConfigMap default/settings": {"oslo": "Well", "paris": "Well", "rome": "Well"},
        "Deployment.apps default/web": {"oslo": "Unwell"},
        "Service default/lost": {},
    }
    assert {str(each.ref): (str(each.worst.state), each.worst.reason) for each in survey.objects} == {
        "ConfigMap default/settings": ("Well", ""),
        "Deployment.apps default/web": ("Unwell", "ReplicasMissing"),
        "Service default/lost": ("Waiting", "NoPolicy"),
    }


def test_once_all_pods_are_ready_everything_that_a_policy_selects_is_well(fleet: MemoryFleet) -> None:
    settle(fleet.members["oslo"])
    fleet.now += 60
    fleet.run()
    (web,) = [each for each in survey_of(fleet).objects if each.ref.name == "web"]
    assert (web.worst.state, web.total_replicas, web.total_ready) == (SurveyedState.WELL, 2, 2)


def test_of_a_member_that_answers_no_more_nobody_knows_how_its_objects_are(fleet: MemoryFleet) -> None:
    fleet.down = {"oslo"}
    fleet.now += 60
    fleet.run()
    survey = survey_of(fleet)
    assert states(survey) == {
        "ConfigMap default/settings": {"oslo": "Unknown", "paris": "Well", "rome": "Well"},
        "Deployment.apps default/web": {"oslo": "Unknown"},
        "Service default/lost": {},
    }
    assert [(each.name, str(each.state.state)) for each in survey.clusters] == [
        ("oslo", "Unknown"),
        ("paris", "Well"),
        ("rome", "Well"),
    ]


def test_where_nothing_is_recorded_nothing_is_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = Repository.create(tmp_path / "fleet")
    repository.commit(FILES)
    argosy(repository, capsys, "render", "--commit", "--bootstrap")
    survey = survey_of(repository)
    assert {state for each in states(survey).values() for state in each.values()} == {"Unknown"}


def test_a_cell_of_the_matrix_counts_objects_copies_replicas_and_how_they_stand(fleet: MemoryFleet) -> None:
    matrix = matrix_of_fleet(survey_of(fleet), MatrixQuestion(rows="kind"))
    assert matrix.cells == {
        ("ConfigMap", "north"): MatrixCell(objects=1, copies=1, replicas=0, counts={SurveyedState.WELL: 1}),
        ("ConfigMap", "south"): MatrixCell(objects=1, copies=2, replicas=0, counts={SurveyedState.WELL: 2}),
        ("Deployment.apps", "north"): MatrixCell(objects=1, copies=1, replicas=2, counts={SurveyedState.UNWELL: 1}),
    }
    assert [(each.name, each.size) for each in matrix.rows] == [
        ("ConfigMap", 1),
        ("Deployment.apps", 1),
        ("Service", 1),
    ]
    assert [(each.name, each.size) for each in matrix.columns] == [("north", 1), ("south", 2)]


def test_what_is_in_no_cluster_is_told_with_its_row(fleet: MemoryFleet) -> None:
    """The Service is selected by no policy."""
    matrix = matrix_of_fleet(survey_of(fleet), MatrixQuestion(rows="kind"))
    found = {each.name: each.unplaced for each in (*matrix.rows, *matrix.columns) if each.unplaced}
    assert found == {"Service": {SurveyedState.WAITING: 1}}


def test_the_cells_of_a_matrix_add_up_to_those_of_one_that_looks_closer(fleet: MemoryFleet) -> None:
    survey = survey_of(fleet)
    near = matrix_of_fleet(survey, MatrixQuestion(rows="object", columns="cluster"))
    far = matrix_of_fleet(survey, MatrixQuestion(rows="policy", columns="provider"))
    for number in ("copies", "replicas"):
        assert sum(getattr(each, number) for each in near.cells.values()) == sum(
            getattr(each, number) for each in far.cells.values()
        )


def test_a_matrix_of_one_state_has_the_cells_that_are_in_it_alone(fleet: MemoryFleet) -> None:
    question = MatrixQuestion(rows="object", columns="cluster", objects=Choice(state="Unwell"))
    assert list(matrix_of_fleet(survey_of(fleet), question).cells) == [("Deployment.apps default/web", "oslo")]


def test_a_matrix_of_one_state_has_what_is_so_anywhere_though_it_is_worse_elsewhere(fleet: MemoryFleet) -> None:
    """It left out the ConfigMap of which nobody knows in oslo, though the matrix of all shows its cells as well."""
    fleet.down = {"oslo"}
    fleet.now += 60
    fleet.run()
    question = MatrixQuestion(rows="object", columns="cluster", objects=Choice(state="Well"))
    matrix = matrix_of_fleet(survey_of(fleet), question)
    assert [(each.name, each.size) for each in matrix.rows] == [("ConfigMap default/settings", 1)]
    assert list(matrix.cells) == [("ConfigMap default/settings", "paris"), ("ConfigMap default/settings", "rome")]


def test_a_part_of_a_matrix_says_how_many_rows_and_columns_there_are(fleet: MemoryFleet) -> None:
    question = MatrixQuestion(
        rows="object", columns="cluster", clusters=ClusterChoice(region="south"), row_offset=1, column_offset=1, limit=1
    )
    matrix = matrix_of_fleet(survey_of(fleet), question)
    assert [each.name for each in matrix.rows] == ["Deployment.apps default/web"]
    assert [each.name for each in matrix.columns] == ["rome"]
    assert (matrix.total_rows, matrix.total_columns, matrix.cells) == (3, 2, {})


def test_a_policy_holds_what_it_claims_and_would_take_what_a_better_one_has(fleet: MemoryFleet) -> None:
    found = {each.policy.name: each for each in surveyed_policies(survey_of(fleet))}
    assert [str(each.ref) for each in found["web"].holds] == ["Deployment.apps default/web"]
    assert [(str(each.object.ref), each.holder, each.why, each.would_take) for each in found["apps"].loses] == [
        (
            "Deployment.apps default/web",
            "PropagationPolicy default/web",
            "it selects by kind, PropagationPolicy default/web by name",
            "Next",
        )
    ]
    assert (found["apps"].overlaps, found["web"].overlaps) == ({"PropagationPolicy default/web": 1}, {})


def test_with_sticky_claims_a_better_policy_would_take_an_object_afresh(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository.create(tmp_path / "fleet")
    better = FILES["web-policy.yaml"]
    settings = {"argosy.yaml": {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": {"claims": "Sticky"}}}
    repository.commit({**{name: each for name, each in FILES.items() if name != "web-policy.yaml"}, **settings})
    argosy(repository, capsys, "render", "--commit", "--bootstrap")
    repository.commit({"web-policy.yaml": better}, "a better one")
    argosy(repository, capsys, "render", "--commit")
    shown = json.loads(argosy(repository, capsys, "status", "policy/web", "-o", "json").out)
    assert shown["policies"][0]["loses"] == [
        {
            "object": "Deployment.apps default/web",
            "holder": "PropagationPolicy default/apps",
            "why": "PropagationPolicy default/apps has claimed it",
            "wouldTake": "Afresh",
        }
    ]


class Ask:
    """Commands over the fleet, with their output."""

    def __init__(self, fleet: MemoryFleet, capsys: pytest.CaptureFixture[str]) -> None:
        self.fleet, self.capsys = fleet, capsys

    def names(self, *words: str) -> list[str]:
        return argosy(self.fleet.repository, self.capsys, *words, "-o", "name").out.split()

    def json(self, *words: str) -> Any:
        return json.loads(argosy(self.fleet.repository, self.capsys, *words, "-o", "json").out)


@pytest.fixture
def ask(fleet: MemoryFleet, capsys: pytest.CaptureFixture[str]) -> Ask:
    return Ask(fleet, capsys)


LISTS = [
    ("objects", ["configmap/settings", "service/lost", "deployment.apps/web"]),
    ("objects --kind deployment", ["deployment.apps/web"]),
    ("objects --app shop", ["deployment.apps/web"]),
    ("objects --cluster rome", ["configmap/settings"]),
    ("objects --cluster pa*", ["configmap/settings"]),
    ("objects --policy default/web", ["deployment.apps/web"]),
    ("objects --state Waiting", ["service/lost"]),
    ("objects --cluster oslo --state Unwell", ["deployment.apps/web"]),
    ("objects --cluster paris --state Unwell", []),
    ("objects --sort state", ["deployment.apps/web", "service/lost", "configmap/settings"]),
    ("objects --sort replicas --limit 1", ["deployment.apps/web"]),
    ("objects --offset 2", ["deployment.apps/web"]),
    ("clusters", ["cluster/oslo", "cluster/paris", "cluster/rome"]),
    ("clusters --text o --sort objects", ["cluster/oslo", "cluster/rome"]),
    ("clusters --region south --limit 1", ["cluster/paris"]),
    ("policies --text we", ["propagationpolicy/web"]),
    ("namespaces", ["namespace/default"]),
]


@pytest.mark.parametrize(("line", "want"), LISTS, ids=[line for line, _ in LISTS])
def test_a_list_has_what_is_asked_for_in_the_order_that_is_asked_for(line: str, want: list[str], ask: Ask) -> None:
    assert ask.names("list", *line.split()) == want


def test_a_list_of_objects_counts_all_of_them_whatever_page_it_shows(ask: Ask) -> None:
    found = ask.json("list", "objects", "--limit", "1")
    assert {name: found[name] for name in ("total", "offset", "states", "replicas", "clusters")} == {
        "total": 3,
        "offset": 0,
        "states": {"Unwell": 1, "Waiting": 1, "Well": 1},
        "replicas": 2,
        "clusters": 3,
    }
    assert found["objects"] == [
        {
            "object": "ConfigMap default/settings",
            "state": "Well",
            "policy": "PropagationPolicy default/maps",
            "path": "settings.yaml",
            "clusters": 3,
            "replicas": 0,
            "states": {"Well": 3},
        }
    ]


def test_a_list_of_clusters_says_how_much_of_each_is_taken(ask: Ask) -> None:
    found = ask.json("list", "clusters", "--cluster", "oslo")["clusters"][0]
    assert [each["resource"] for each in found["room"]] == ["cpu", "memory", "pods"]
    assert (found["state"], found["objects"], found["states"]) == ("Well", 2, {"Unwell": 1, "Well": 1})


IDLE = [
    ("objects -n defualt", "the fleet has no namespace called 'defualt'\n  hint: did you mean 'default'?"),
    ("objects --policy wep", "the fleet has no policy called 'wep'\n  hint: "),
    ("objects --cluster parsi", "the source has no cluster called 'parsi'\n  hint: did you mean 'paris'?"),
    ("clusters --kind Deployment", "--kind does not go with clusters"),
    ("policies --state Well", "--state does not go with policies"),
    ("clusters --sort clusters", "--sort clusters does not go with clusters"),
]


@pytest.mark.parametrize(("line", "want"), IDLE, ids=[line for line, _ in IDLE])
def test_an_option_that_does_nothing_for_a_list_and_a_name_of_nothing_are_refused(
    line: str, want: str, ask: Ask
) -> None:
    ended = argosy(ask.fleet.repository, ask.capsys, "list", *line.split())
    assert (ended.code, want in ended.err) == (2, True)


SEARCHES: list[tuple[str, dict[str, list[str]]]] = [
    (
        "web",
        {
            "Object": ["Deployment.apps default/web"],
            "Policy": ["PropagationPolicy default/web"],
            "Problem": ["Deployment.apps default/web"],
        },
    ),
    ("DEPLOYMENT shop", {"Object": ["Deployment.apps default/web"]}),
    ("south", {"Cluster": ["paris", "rome"]}),
    ("default/lost", {"Object": ["Service default/lost"], "Problem": ["Service default/lost"]}),
    ("replicasmissing", {"Problem": ["Deployment.apps default/web"]}),
    ("zebra", {}),
]


@pytest.mark.parametrize(("line", "want"), SEARCHES, ids=[line for line, _ in SEARCHES])
def test_a_search_finds_what_has_all_of_the_words(line: str, want: dict[str, list[str]], ask: Ask) -> None:
    found = ask.json("search", *line.split())
    names = {each["kind"]: [one["name"] for one in each["found"]] for each in found["kinds"]}
    assert {kind: several for kind, several in names.items() if kind != "Commit"} == want


def test_a_search_finds_commits_of_the_source_by_their_subject_the_newest_first(ask: Ask) -> None:
    ask.fleet.repository.commit({"more.yaml": a_config_map("more")}, "scale the shop")
    ask.fleet.repository.commit({"most.yaml": a_config_map("most")}, "scale the Shop again")
    ids = ask.fleet.repository.git("rev-list", "--max-count=2", "HEAD").split()
    kinds = {each["kind"]: each["found"] for each in ask.json("search", "scale", "shop")["kinds"]}
    assert [each["name"] for each in kinds["Commit"]] == ids


def test_a_timeline_has_an_entry_for_each_commit_with_what_it_moved(ask: Ask) -> None:
    ask.fleet.repository.commit(
        {
            "web-policy.yaml": a_policy(
                "web", selectors=[{**DEPLOYMENTS, "name": "web"}], placement=on_clusters("paris")
            )
        },
        "move the web\n\nArgosy-Allow-Removal: oslo 9",
    )
    ask.fleet.now += 60
    ask.fleet.run()
    newest, first = ask.json("history", "--commits")["entries"]
    numbers = ("objects", "clusters", "arrivals", "departures", "replicasBefore", "replicasAfter", "movedReplicas")
    assert {name: newest[name] for name in numbers} == {
        "objects": 1,
        "clusters": 2,
        "arrivals": 1,
        "departures": 1,
        "replicasBefore": 2,
        "replicasAfter": 2,
        "movedReplicas": 2,
    }
    assert (newest["subject"], newest["firstObjects"], newest["firstClusters"]) == (
        "move the web",
        ["Deployment.apps default/web"],
        ["oslo", "paris"],
    )
    assert (newest["before"], first["objects"], first["edited"]) == (first["commit"], 2, 0)
    shorter = ask.json("history", "--commits", "--limit", "1")
    assert (len(shorter["entries"]), shorter["following"]) == (1, first["commit"])
    assert ask.json("history", "--commits", "--rev", shorter["following"])["entries"] == [first]
    of_oslo = ask.json("history", "cluster/oslo", "--commits")["entries"][0]
    assert {name: of_oslo[name] for name in numbers} == {
        "objects": 1,
        "clusters": 1,
        "arrivals": 0,
        "departures": 1,
        "replicasBefore": 2,
        "replicasAfter": 0,
        "movedReplicas": 2,
    }
    assert of_oslo["firstClusters"] == ["oslo"]
