"""States of rollouts on the rendered branch that nobody wrote as they are: they are refused, not run into."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from reconciler.ledger.branch_file import FileFault
from reconciler.pipeline.rollouts.state_files import parse_rollout_state, rollout_state_file

from .rolling import RollingFleet, a_wave, web

DAMAGES = {
    "a wave that its plan has not": ("wave: canary", "wave: nobody"),
    "a phase of no rollout": ("phase: Progressing", "phase: Flying"),
    "a time that is none": ('waveSince: "2026', 'waveSince: "noon'),
    "a plan that is no policy": ("name: canary", "nome: canary"),
    "nothing": ("*", ""),
}


def state_file() -> str:
    fleet = RollingFleet.of(("oslo", "paris"), {}, waves=[a_wave("canary", "oslo"), a_wave("rest")])
    fleet.unwell = {"oslo"}
    fleet.commit(web=web(2)).run()
    return rollout_state_file(fleet.state()).decode()


@pytest.mark.parametrize("why", DAMAGES)
def test_a_damaged_state_is_refused(why: str) -> None:
    written = state_file()
    assert parse_rollout_state(written.encode()).wave == "canary"
    before, after = DAMAGES[why]
    damaged = written.replace(before, after) if before != "*" else after
    assert damaged != written, written
    with pytest.raises(FileFault):
        parse_rollout_state(damaged.encode())


def test_the_time_since_when_a_reason_is_so_is_recorded_where_it_is_another_one() -> None:
    state = parse_rollout_state(state_file().encode())
    assert "reasonSince" not in state_file()
    later = replace(state, reason_since=state.phase_since + timedelta(hours=1))
    assert parse_rollout_state(rollout_state_file(later)) == later
