"""The page of what waits for a person has the command that answers it, whole and alone, so that it can be copied."""

import html
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from reconciler.status.rollout_commands import committing_command

from .build import Ended, a_deployment, a_policy, argosy
from .dated_fleet import a_dated_fleet, commit_later, run_until_well
from .memory_fleet import MemoryFleet
from .paged import browser_of, links_of
from .rolling import a_rollout_policy, a_wave

SHOP = [{"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop"}]


@pytest.fixture
def fleet(tmp_path: Path) -> MemoryFleet:
    """A fleet whose Deployment shop/api waits for somebody who approves of the first wave of its change."""
    waves = [a_wave("canary", "oslo", approval=True), a_wave("rest")]
    policy = a_rollout_policy("api", waves=waves, selectors=SHOP)
    policy["metadata"]["namespace"] = "shop"
    placed = a_policy("api", namespace="shop", selectors=SHOP, placement={})
    fleet = a_dated_fleet(tmp_path / "fleet", {"rollout.yaml": policy, "placed.yaml": placed, "api.yaml": api(1)})
    run_until_well(fleet, 0)
    commit_later(fleet, {"api.yaml": api(2)}, 60, "Give api an image")
    fleet.run(120)
    return fleet


def api(version: int) -> dict[str, Any]:
    return a_deployment("api", namespace="shop", image=f"api:{version}")


def copied(page: str) -> list[str]:
    """The content of the boxes with a button to copy."""
    return [html.unescape(each) for each in re.findall(r'<div class="run"><code>(.*?)</code>', page, re.DOTALL)]


@pytest.mark.parametrize("address", ["/waiting", "/overview"])
def test_the_box_to_copy_holds_the_command_alone_and_it_is_one(
    address: str, fleet: MemoryFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    page = browser_of(fleet.repository).answered(address).text
    [command] = copied(page)
    assert command == "argosy rollout approve api -n shop --wave canary --commit"
    assert "/rollouts" in links_of(page.partition('class="run"')[2])
    ended: Ended = argosy(fleet.repository, capsys, *shlex.split(command)[1:])
    assert ended.code == 0, ended.err


@pytest.mark.parametrize("address", ["/waiting", "/overview", "/rollouts"])
def test_whoever_is_to_approve_sees_which_commit_the_change_came_by(address: str, fleet: MemoryFleet) -> None:
    source = fleet.repository.git("rev-parse", "HEAD")
    page = browser_of(fleet.repository).answered(address).text
    words = html.unescape(re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", page)))
    if address == "/rollouts":
        assert f"It came by {source[:12]} Give api an image" in words
        assert f"/commits/{source}" in links_of(page)
    else:
        assert f"Waiting: ApprovalMissing; it came by {source[:12]}, 'Give api an image' of " in words


def test_what_people_can_do_with_a_rollout_names_its_namespace(fleet: MemoryFleet) -> None:
    page = browser_of(fleet.repository).answered("/rollouts").text
    verbs = ("approve", "pause", "resume", "abort", "retry")
    lets_go_on = "argosy rollout approve api -n shop --wave canary --commit"
    assert copied(page) == [lets_go_on, *(f"argosy rollout {verb} api -n shop --commit" for verb in verbs)]


def test_names_that_a_shell_would_read_otherwise_are_quoted() -> None:
    found = committing_command("approve", "RolloutPolicy shop/a b", "app=$(x)")
    assert found == "argosy rollout approve 'a b' -n shop --group 'app=$(x)' --commit"


def test_a_rollout_of_the_past_has_no_command_for_commands_act_now(fleet: MemoryFleet) -> None:
    then = fleet.repository.git("rev-parse", "argosy/rendered")
    commit_later(fleet, {"other.yaml": a_deployment("other", namespace="shop")}, 60, "Add another one")
    fleet.run(120)
    browser = browser_of(fleet.repository)
    [rollout] = json.loads(browser.get(f"/rollouts.json?at={then}").text)["rollouts"]
    assert (rollout["reason"], rollout.get("command")) == ("ApprovalMissing", None)
    for page in ("rollouts", "waiting", "overview"):
        assert copied(browser.answered(f"/{page}?at={then}").text) == [], page
        assert copied(browser.answered(f"/{page}").text) != [], page
    assert "The same by" not in browser.answered(f"/rollouts?at={then}").text
