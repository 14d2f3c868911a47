"""A place of the branches that nobody has accepted: no command asks there, and none gives it as one to fetch from."""

from pathlib import Path
from typing import Any

import pytest

from tests.build import Repository, a_cluster, a_config_map, a_policy, on_clusters

from .doors import Door
from .test_settings import Fleet, settings

MAPS = [{"apiVersion": "v1", "kind": "ConfigMap"}]
COMMANDS = [
    ("diff",),
    ("diff", "--stat"),
    ("diff", "-o", "json"),
    ("diff", "HEAD~1", "HEAD"),
    ("diff", "--check", "HEAD~1", "HEAD"),
    ("diff", "--check"),
    ("render",),
    ("render", "-o", "json"),
    ("render", "--worktree"),
    ("explain", "cm/a"),
    ("explain", "--worktree", "cm/a"),
    ("validate",),
    ("verify",),
    ("status",),
    ("export",),
    ("test",),
    ("doctor",),
    ("cluster", "unjoin", "one"),
]


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Fleet:
    made = Fleet(tmp_path, capsys)
    files: dict[str, Any] = {
        "argosy.yaml": settings(),
        "clusters/one.yaml": a_cluster("one"),
        "policy.yaml": a_policy(selectors=MAPS, placement=on_clusters("one")),
        "a.yaml": a_config_map("a"),
    }
    made.push(files)
    assert made.run("reconcile", "--bootstrap").code == 0
    return made


@pytest.mark.parametrize("clone", ["the runner's", "fresh", "shallow"])
def test_no_command_asks_at_a_place_that_waits(clone: str, door: Door, fleet: Fleet) -> None:
    """Nor does any say to fetch from there, and those that compare or explain do so by the fleet's own past."""
    evil = f"https://127.0.0.1:{door.port}/evil.git"
    fleet.push({"argosy.yaml": settings(rendered={"remote": evil}), "b.yaml": a_config_map("b")})
    assert fleet.run("reconcile").code == 6
    if clone == "fresh":
        fleet.runner = fleet.clone("clone")
    elif clone == "shallow":
        fleet.runner = shallow_clone(fleet)
    refused = []
    for words in COMMANDS:
        ended = fleet.run(*words)
        told = f"{ended.out}\n{ended.err}"
        assert door.came == 0, words
        assert f"fetch https://127.0.0.1:{door.port}" not in told, words
        assert f"of 'https://127.0.0.1:{door.port}" not in told, words
        refused += [words] if ended.code == 4 else []
    if clone == "shallow":  # one commit says nothing about the place before
        return
    assert refused == []


def shallow_clone(fleet: Fleet) -> Repository:
    """Return a clone of the newest commit alone, with what is rendered, as CI makes it."""
    address = fleet.origin.path.as_uri()
    fleet.author.git("clone", "-q", "--depth=1", "--no-single-branch", address, str(fleet.folder / "shallow"))
    return Repository(fleet.folder / "shallow")


def test_a_diff_of_the_change_itself_is_made_after_the_past_in_force(door: Door, fleet: Fleet) -> None:
    """The setting is shown as one that waits, and what the change does is what it does to the fleet."""
    place = {"remote": f"https://127.0.0.1:{door.port}/evil.git"}
    fleet.push({"argosy.yaml": settings(rendered=place), "b.yaml": a_config_map("b")})
    ended = fleet.run("diff", "--check", "HEAD~1", "HEAD")
    assert ended.code == 6
    assert f"argosy.yaml: spec.rendered.remote: none -> {place['remote']}\n" in ended.err
    assert "ConfigMap default/b" in ended.out
    fleet.author.write({"c.yaml": a_config_map("c")})
    ended = fleet.run("diff")
    assert (ended.code, "ConfigMap default/c" in ended.out, "ConfigMap default/b" in ended.out) == (1, True, False)
    assert fleet.run("render").code == 0
    assert fleet.run("reconcile", "--accept-settings").code == 4
    assert door.came > 0
