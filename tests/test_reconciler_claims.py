"""How a fleet's settings decide which policy holds a template."""

import pytest

from reconciler.passes.claims import match_options
from render.fleet import Claims, Fleet
from render.matching import MatchOptions
from render.matching_exclusions import exclusions_of

FLEETS = [
    (Fleet(), MatchOptions(allows_preemption=True)),
    (Fleet(claims=Claims.STICKY), MatchOptions(claims=Claims.STICKY, allows_preemption=True)),
    (Fleet(claims=Claims.STICKY, is_karmada_compatible=True), MatchOptions(claims=Claims.STICKY)),
]


@pytest.mark.parametrize(("fleet", "want"), FLEETS, ids=["default", "sticky", "as Karmada"])
def test_policies_preempt_unless_karmadas_gate_is_off(fleet: Fleet, want: MatchOptions) -> None:
    assert match_options(fleet) == want
    assert want.exclusions == exclusions_of(fleet)
