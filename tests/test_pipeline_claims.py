"""A fleet's settings decide which policy claims a template."""

import pytest

from reconciler.pipeline.claims import match_options
from render.matching.exclusions import exclusions_of
from render.matching.match import MatchOptions
from render.settings.feature_gates import FeatureGates
from render.settings.fleet import Fleet
from render.settings.switches import ClaimMode

FLEETS = [
    (Fleet(), MatchOptions(allows_preemption=True)),
    (Fleet(claims=ClaimMode.STICKY), MatchOptions(claims=ClaimMode.STICKY, allows_preemption=True)),
    (
        Fleet(claims=ClaimMode.STICKY, feature_gates=FeatureGates(propagation_policy_preemption=False)),
        MatchOptions(claims=ClaimMode.STICKY),
    ),
]


@pytest.mark.parametrize(("fleet", "want"), FLEETS, ids=["default", "sticky", "without the gate"])
def test_policies_preempt_unless_karmadas_gate_is_off(fleet: Fleet, want: MatchOptions) -> None:
    assert match_options(fleet) == want
    assert want.exclusions == exclusions_of(fleet)
