"""Lines of a difference that say the same of many objects stand once, and one by one with ``-v``."""

from pathlib import Path

import pytest

from reconciler.cli import run
from reconciler.diff.difference import ChangeAction, Difference, ObjectChange, Takeover
from reconciler.diff.text import difference_text
from reconciler.rendering.problems import ObjectProblem
from render.model import ObjectRef
from tests.build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters
from tests.stories import refused_section, removal_hint

MAPS = [{"apiVersion": "v1", "kind": "ConfigMap"}]
TWELVE = [f"member{number:02}" for number in range(1, 13)]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Eighty-seven ConfigMaps in two clusters of twelve, and eleven Deployments everywhere."""
    made = Repository.create(tmp_path / "fleet")
    made.commit(
        {
            "clusters.yaml": [a_cluster(name) for name in TWELVE],
            "maps.yaml": [a_config_map(f"map{number:02}") for number in range(87)],
            "web.yaml": [a_deployment(f"web{number}") for number in range(11)],
            "policies.yaml": [
                a_policy("maps", selectors=MAPS, placement=on_clusters("member01", "member02")),
                a_policy("web", selectors=[{"apiVersion": "apps/v1", "kind": "Deployment"}], placement={}),
            ],
        }
    )
    assert run(["-C", str(made.path), "render", "--commit", "--bootstrap"]) == 0
    return made


def test_what_many_objects_lose_is_one_line(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    policies = [
        a_policy("maps", selectors=MAPS, placement=on_clusters("member01")),
        a_policy("web", selectors=[{"apiVersion": "apps/v1", "kind": "Deployment"}], placement={}),
    ]
    repository.write({"policies.yaml": policies})
    head = repository.git("rev-parse", "HEAD")[:12]
    summary = f"{head}..work tree: 1 cluster changes, 87 objects removed\nrisk: touches 1 of 12 clusters\n"
    paths = ", ".join(f"default/ConfigMap/map{number:02}.yaml" for number in range(5))
    refused = refused_section(
        "this change removes too much at once\n"
        f"  member02: 87 of 98 objects (more than 19; all 87 of kind ConfigMap): {paths} and 82 more\n"
        + removal_hint("member02 87")
    )
    assert argosy(repository, capsys, "diff").out == (
        f"{summary}\nOBJECTS\n  - 87 objects in member02: 87 ConfigMap (-v names them)\n{refused}"
    )
    every = "".join(f"  - ConfigMap default/map{number:02} in member02\n" for number in range(87))
    assert argosy(repository, capsys, "diff", "-v").out == f"{summary}\nOBJECTS\n{every}{refused}"


def test_an_equal_change_of_many_is_told_with_its_fields(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.write({"maps.yaml": [a_config_map(f"map{number:02}", mode="fast") for number in range(87)]})
    assert argosy(repository, capsys, "diff").out.partition("\n")[2] == (
        "risk: touches 2 of 12 clusters\n"
        '\nOBJECTS\n  ~ 87 objects in member01, member02: 87 ConfigMap (-v names them)\n      data.mode: added "fast"\n'
    )


def test_a_fleet_that_joins_is_one_line(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"edge{number:04}" for number in range(1000)]
    repository.write({"edge.yaml": [a_cluster(name) for name in names]})
    lines = argosy(repository, capsys, "diff").out.splitlines()
    assert lines[3:5] == ["CLUSTERS", f"  + 1000 clusters: {', '.join(names[:12])} and 988 more"]
    everywhere = "1000 of 1012: all but member01, member02, member03, member04, member05, member06, ..."
    assert f"  + 11 objects in {everywhere}: 11 Deployment.apps (-v names them)" in lines
    assert max(map(len, lines)) < 200


REFS = [ObjectRef("apps", "Deployment", "shop", f"web{number}") for number in range(11)]


def test_few_are_told_one_by_one_and_many_together() -> None:
    def told(number: int) -> str:
        refs = REFS[:number]
        difference = Difference(
            base="a" * 40,
            head="b" * 40,
            objects=tuple(ObjectChange(ref=ref, action=ChangeAction.ADDED, clusters=("bern",)) for ref in refs),
            takeovers=tuple(Takeover(ref=ref, before="old", after="new") for ref in refs),
            problems=tuple(ObjectProblem(ref=ref, reason="Bad", message="it is", clusters=("bern",)) for ref in refs),
            members=("bern", "oslo"),
        )
        return "".join(difference_text(difference)).partition("\n")[2]

    assert told(11) == (
        "\nOBJECTS\n  + 11 objects in bern: 11 Deployment.apps (-v names them)\n"
        "\nPOLICIES\n  11 objects (11 Deployment.apps): old -> new\n"
        "\nPROBLEMS\n  11 objects (11 Deployment.apps) in bern: Bad: it is\n"
    )
    assert told(1) == (
        "\nOBJECTS\n  + Deployment.apps shop/web0 in bern\n"
        "\nPOLICIES\n  Deployment.apps shop/web0: old -> new\n"
        "\nPROBLEMS\n  Deployment.apps shop/web0 in bern: Bad: it is\n"
    )
    assert told(10).count("web2") == 3
