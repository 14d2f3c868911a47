"""Rollouts under way whose branches are lost, rewound or renamed, whose clock is set back, or that go on elsewhere."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from .build import Repository
from .memory_fleet import settle
from .rolling import a_rollout_policy, a_wave, web
from .served_rollouts import WAVES, ServedRollouts, served_rollouts
from .test_rollouts_members import sicken
from .waiting import eventually


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[ServedRollouts]:
    with served_rollouts(tmp_path, capsys) as served:
        yield served


def a_rollout_under_way(fleet: ServedRollouts, **policy: object) -> str:
    """The canary has version 2; the source commit of that."""
    fleet.begin(**policy)
    source = fleet.repository.commit({"web.yaml": web(2)})
    assert fleet.run().code == 0
    assert fleet.live() == "211"
    return source


def steps_to_the_end(fleet: ServedRollouts, *words: str) -> list[str]:
    """The versions that members have from now on, until every rollout is completed."""
    seen = [fleet.live()]

    def is_completed() -> bool:
        fleet.settle()
        fleet.run(*words)
        if fleet.live() != seen[-1]:
            seen.append(fleet.live())
        return all(state["phase"] == "Completed" for state in fleet.states())

    eventually(is_completed, "the end of the rollout", pause=0.1)
    return seen


def test_a_rendered_branch_that_is_lost_is_no_first_run(fleet: ServedRollouts) -> None:
    """Whoever says that it is one is told how it comes back; then the rollout goes on where it was."""
    a_rollout_under_way(fleet)
    tip = fleet.repository.git("rev-parse", "argosy/rendered")
    fleet.repository.git("branch", "-q", "-D", "argosy/rendered")
    assert (fleet.run().code, fleet.live()) == (3, "211")
    ended = fleet.run("--bootstrap")
    assert (ended.code, fleet.live()) == (6, "211")
    assert ended.err.endswith(
        "there is no branch 'argosy/rendered' any more, but oslo, paris, rome hold what was rendered there; the"
        " versions at which rollouts left them are lost with it\n"
        f"  hint: bring it back: git branch argosy/rendered {tip}; if every cluster shall get the newest version at"
        " once: --bootstrap --accept-rewind\n"
    )
    fleet.repository.git("branch", "argosy/rendered", tip)
    assert steps_to_the_end(fleet) == ["211", "221", "222"]


def test_a_lost_branch_may_be_begun_anew_by_whoever_says_so(fleet: ServedRollouts) -> None:
    """Members know that what they hold is of a branch of another beginning; taking that over is a step of its own."""
    a_rollout_under_way(fleet)
    fleet.repository.git("branch", "-q", "-D", "argosy/rendered")
    ended = fleet.run("--bootstrap", "--accept-rewind")
    assert "committed" in ended.out
    assert (fleet.live(), fleet.rendered()) == ("211", "222")
    assert "OtherFleet" in ended.out


def test_a_status_branch_that_is_lost_is_written_again_and_nobody_begins_before_its_time(
    fleet: ServedRollouts,
) -> None:
    a_rollout_under_way(fleet)
    fleet.repository.git("branch", "-q", "-D", "argosy/status")
    assert (fleet.run().code, fleet.live()) == (0, "211"), "nobody knows any more what stands in oslo"
    assert steps_to_the_end(fleet) == ["211", "221", "222"]


def test_a_source_that_is_rewound_on_purpose_goes_back_by_waves(fleet: ServedRollouts) -> None:
    a_rollout_under_way(fleet)
    fleet.settle()
    fleet.run()
    assert fleet.live() == "221"
    fleet.repository.git("reset", "-q", "--hard", "HEAD~1")
    assert steps_to_the_end(fleet, "--accept-rewind") == ["221", "121", "111"]


def test_a_fleet_that_gets_another_name_takes_its_rollout_along(fleet: ServedRollouts) -> None:
    a_rollout_under_way(fleet)
    path = fleet.repository.path / "argosy.yaml"
    fleet.repository.commit({"argosy.yaml": path.read_text().replace("name: default", "name: shop")})
    refused = fleet.run()
    assert refused.code == 6
    taking = refused.err.rpartition("argosy reconcile ")[2].split()
    assert taking[:2] == ["--accept-settings", "--take-from"]
    fleet.branch = "argosy-shop/rendered"
    assert (fleet.run(*taking).code, fleet.state()["wave"]) == (0, fleet.state()["wave"])
    assert steps_to_the_end(fleet)[-1] == "222"


def test_a_clock_that_is_set_back_opens_no_gate_and_starts_no_time_anew(fleet: ServedRollouts) -> None:
    fleet.begin(waves=[a_wave("canary", "oslo", gate={"healthyFor": "10m"}), a_wave("rest")])
    fleet.repository.commit({"web.yaml": web(2)})
    fleet.run("--now", "2099-03-01T12:00:00Z")
    fleet.settle()
    for earlier in ("2099-03-01T11:00:00Z", "2099-02-01T00:00:00Z", "2099-03-01T12:09:59Z"):
        assert (fleet.run("--now", earlier).code, fleet.live()) == (0, "211")
        assert [each["at"] for each in fleet.state()["given"]] == ["2099-03-01T12:00:00Z"]
    fleet.run("--now", "2099-03-01T12:10:00Z")
    assert fleet.live() == "222"


def test_a_shallow_clone_goes_on_like_any_other(fleet: ServedRollouts, tmp_path: Path) -> None:
    a_rollout_under_way(fleet)
    hub = tmp_path / "hub.git"
    fleet.repository.git("clone", "-q", "--bare", str(fleet.repository.path), str(hub))
    fleet.repository.git("clone", "-q", "--depth", "1", "--no-single-branch", hub.as_uri(), str(tmp_path / "shallow"))
    fleet.repository, fleet.branch = Repository(tmp_path / "shallow"), "origin/argosy/rendered"
    assert fleet.repository.git("rev-parse", "--is-shallow-repository") == "true"
    assert steps_to_the_end(fleet) == ["211", "221", "222"]


def test_two_policies_that_swap_an_object_leave_nobody_unasked(fleet: ServedRollouts) -> None:
    """The change goes on by the other one, whose first wave asks about the canary of the former as well."""
    fleet.begin()
    sicken(fleet.members["oslo"])
    fleet.repository.commit({"web.yaml": web(2)})
    fleet.run()
    taken = a_rollout_policy("other", waves=[a_wave("one", "oslo", "paris"), a_wave("two")])
    nobody = a_rollout_policy(selectors=[{"apiVersion": "v1", "kind": "Service"}], waves=WAVES)
    fleet.repository.commit({"other.yaml": taken, "rollout.yaml": nobody})
    fleet.run()
    assert [each["cluster"] for each in fleet.state("other")["given"]] == ["oslo", "paris"]
    settle(fleet.members["paris"])
    fleet.run()
    assert fleet.live() == "221"
    assert steps_to_the_end(fleet) == ["221", "222"]
