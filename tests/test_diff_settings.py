"""A change is judged by the argosy.yaml of its base, and what it makes of the settings is shown first."""

import json
from pathlib import Path
from typing import Any

import pytest

from .build import Ended, Repository, a_cluster, a_config_map, a_policy, argosy, on_clusters

HEAD = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet"}
MAPS = [{"apiVersion": "v1", "kind": "ConfigMap"}]
WAITS = " - waits until somebody accepts it, with argosy reconcile --accept-settings\n"
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "hunter2"}}


def settings(name: str = "default", **spec: Any) -> dict[str, Any]:
    return {**HEAD, "metadata": {"name": name}, "spec": spec}


class Fleet:
    def __init__(self, repository: Repository, out: Any) -> None:
        self.repository, self._out = repository, out
        self.base = repository.git("rev-parse", "HEAD")

    def changed(self, files: dict[str, Any], *words: str, message: str = "change") -> Ended:
        self.repository.commit(files, message)
        return self.run("diff", *words, self.base, "HEAD")

    def run(self, *words: str) -> Ended:
        return argosy(self.repository, self._out, *words)


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Fleet:
    made = Repository.create(tmp_path / "fleet")
    made.commit(
        {
            "argosy.yaml": settings(secrets="Refuse", removalGuard={"count": 1, "percent": 0, "whole": 9}),
            "cluster.yaml": a_cluster("one"),
            "policy.yaml": a_policy(selectors=MAPS, placement=on_clusters("one")),
            **{f"{name}.yaml": a_config_map(name) for name in "abcd"},
        }
    )
    assert argosy(made, capsys, "reconcile", "--bootstrap").code == 0
    return Fleet(made, capsys)


def test_a_weaker_limit_of_the_change_does_not_judge_it(fleet: Fleet) -> None:
    """A Secret that the base refuses is refused, and too much that leaves as well."""
    spec: dict[str, Any] = {"removalGuard": {"count": 100, "percent": 100, "whole": 100}}
    refused = fleet.changed({"argosy.yaml": settings(**spec), "s.yaml": SECRET}, "--check")
    assert (refused.code, "s.yaml:" in refused.err, "hunter2" in refused.err) == (3, True, False)
    assert fleet.run("validate", "--rev", "HEAD").code == 0
    assert fleet.run("validate", "--rev", "HEAD", "--base", fleet.base).code == 3
    gone = fleet.changed({"s.yaml": None, "a.yaml": None, "b.yaml": None}, "--check")
    assert gone.code == 6
    assert "settings that reach outside of the repository or weaken a guard are to change\n" in gone.err
    assert "  argosy.yaml: spec.secrets: Refuse -> Allow\n" in gone.err
    assert "this change removes too much at once\n  one: 2 of 4 objects (more than 1)" in gone.err
    assert fleet.run("diff", "--check", "--allow-removal", "one=2", fleet.base, "HEAD").code == 6
    both = ("--check", "--allow-removal", "one=2", "--accept-settings")
    assert fleet.run("diff", *both, fleet.base, "HEAD").code == 0


def test_settings_are_shown_first_in_every_form(fleet: Fleet) -> None:
    files = {"argosy.yaml": settings(secrets="Refuse", namespaces="All", rendered={"remote": "https://u:pw@evil/x"})}
    told = fleet.changed(files)
    assert told.code == 1
    assert told.out.partition("\n\n")[2] == (
        "SETTINGS\n"
        f"  spec.rendered.remote: none -> https://***@evil/x{WAITS}"
        "  spec.namespaces: Needed -> All\n"
        f"  spec.removalGuard.count: 1 -> 10{WAITS}"
        f"  spec.removalGuard.percent: 0 -> 20{WAITS}"
        "  spec.removalGuard.whole: 9 -> 5\n"
    )
    plain = json.loads(fleet.run("diff", "-o", "json", fleet.base, "HEAD").out)
    assert plain["different"] is True
    assert plain["settings"][1:3] == [
        {"field": "spec.namespaces", "before": "Needed", "after": "All", "waits": False},
        {"field": "spec.removalGuard.count", "before": "1", "after": "10", "waits": True},
    ]
    markdown = fleet.run("diff", "-o", "markdown", fleet.base, "HEAD").out
    assert "### 5 settings change\n" in markdown
    row = "| <code>spec.namespaces</code> | <code>Needed</code> | <code>All</code> |  |\n"
    assert row in markdown
    assert "pw" not in markdown + json.dumps(plain) + told.out


def test_a_fleet_that_is_renamed_is_compared_with_its_past(fleet: Fleet) -> None:
    """Under the head's name there is no rendered branch, and everything would seem new."""
    files = {"argosy.yaml": settings("shop", secrets="Refuse", removalGuard={"count": 1, "percent": 0, "whole": 9})}
    told = fleet.changed(files)
    assert (told.code, told.err) == (1, "")
    assert told.out.partition("\n\n")[2] == f"SETTINGS\n  metadata.name: default -> shop{WAITS}"


def test_what_a_change_allows_itself_is_shown(fleet: Fleet) -> None:
    told = fleet.changed({"a.yaml": None, "b.yaml": None}, "--check", message="Less\n\nArgosy-Allow-Removal: * 9")
    commit = fleet.repository.git("rev-parse", "HEAD")
    assert told.code == 0
    assert "\nALLOWED BY THE CHANGE ITSELF\n" in told.out
    assert f"  Argosy-Allow-Removal: * 9 (commit {commit[:12]}, of this change itself)\n" in told.out
    plain = json.loads(fleet.run("diff", "-o", "json", fleet.base, "HEAD").out)
    assert plain["allowances"] == [{"commit": commit, "trailer": "Argosy-Allow-Removal: * 9"}]
    markdown = fleet.run("diff", "-o", "markdown", fleet.base, "HEAD").out
    (line,) = (line for line in markdown.splitlines() if line.startswith("- <code>"))
    assert (line.startswith("- <code>Argosy-Allow-Removal"), commit[:12] in line) == (True, True)


def test_what_cannot_be_read_is_said_to_allow_nothing(fleet: Fleet) -> None:
    told = fleet.changed({"a.yaml": None}, message="Less\n\nArgosy-Allow-Cost: plenty\nArgosy-Allow-Cost: 5 EUR")
    commit = fleet.repository.git("rev-parse", "HEAD")[:12]
    assert told.out.partition("ALLOWED BY THE CHANGE ITSELF\n")[2].splitlines()[:2] == [
        f"  Argosy-Allow-Cost: plenty (it cannot be read, and allows nothing) (commit {commit}, of this change itself)",
        f"  Argosy-Allow-Cost: 5 EUR (commit {commit}, of this change itself)",
    ]


def test_an_argosy_yaml_below_is_shown_as_what_it_is(fleet: Fleet) -> None:
    told = fleet.changed({"apps/argosy.yaml": settings(validation="Off")})
    assert told.code == 1
    assert "SETTINGS\n  apps/argosy.yaml: none -> a fleet of its own, whose folder is not read any more\n" in told.out


def test_an_argosy_yaml_that_moves_is_shown_as_what_it_is(fleet: Fleet) -> None:
    moved = settings(secrets="Refuse", removalGuard={"count": 1, "percent": 0, "whole": 9})
    told = fleet.changed({"argosy.yaml": None, "apps/argosy.yaml": moved, "apps/x.yaml": a_config_map("x")})
    assert f"SETTINGS\n  argosy.yaml: argosy.yaml -> apps/argosy.yaml{WAITS}" in told.out
