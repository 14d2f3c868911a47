"""The owners of recorded reasons: each word that says what is wrong has one who says it, and takes it back.

A member changes hands: passes apply to it, an agent, or a tool. What the former owner said of it would stand for ever,
for nobody is left who could take it back; so the pass that finds another owner ends it (``without_former_owners``).
"""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from reconciler.ledger.cluster import ClusterRecord
from render.cluster import Cluster, is_applied_by_own_agent
from render.settings.fleet import Fleet


class ReasonOwner(StrEnum):
    """The one who says how a member is: passes, its agent, or the tool that applies its folder."""

    PASSES = "passes"
    AGENT = "agent"
    TOOL = "tool"


class RecordedReason(Struct, frozen=True, kw_only=True):
    """A reason that the status branch records: where it stands, who says it, and what ends it."""

    owner: str
    ends: str


REASONS: Mapping[str, RecordedReason] = {
    "argosy.dev/failing-since": RecordedReason(owner="whoever looks at the member", ends="the member answers"),
    "condition Observed": RecordedReason(owner="whoever looks at the member", ends="the member is seen, or pulls"),
    "argosy.dev/unseen-hint": RecordedReason(owner="whoever looks at the member", ends="with the condition Observed"),
    "condition Ready": RecordedReason(owner="whoever looks at the member", ends="the next look at the member"),
    "condition AgentReporting": RecordedReason(owner="pass", ends="the member answers, or its agent is silent"),
    "argosy.dev/outcome": RecordedReason(owner="whoever applies", ends="the next run over the member"),
    "argosy.dev/outcome-since": RecordedReason(owner="whoever applies", ends="with the outcome"),
    "argosy.dev/outcome-message": RecordedReason(owner="whoever applies", ends="with the outcome"),
    "argosy.dev/outcome-hint": RecordedReason(owner="whoever applies", ends="with the outcome"),
    "argosy.dev/applied": RecordedReason(owner="whoever applies", ends="the next run over the member"),
    "argosy.dev/heartbeat": RecordedReason(owner="agent", ends="the next heartbeat, or the member pulls no more"),
    "argosy.dev/refused": RecordedReason(owner="agent", ends="the agent takes a commit, or the member pulls no more"),
    "argosy.dev/refused-hint": RecordedReason(owner="agent", ends="with the refusal"),
    "argosy.dev/clock": RecordedReason(owner="agent", ends="its clock is right, or the member pulls no more"),
    "agents.yaml": RecordedReason(owner="passes", ends="the clock is right, or the member left the fleet"),
    "argosy.dev/deployer": RecordedReason(owner="tool", ends="somebody else applies, or no tool is asked any more"),
    "deviations": RecordedReason(owner="whoever applies", ends="the next run over the member"),
    "condition Applied": RecordedReason(owner="whoever applies", ends="the next run, or the object is not wanted"),
    "condition Healthy": RecordedReason(owner="whoever applies", ends="the next run, or the object is not wanted"),
    "findings": RecordedReason(owner="whoever applies", ends="the next run, or the object is not wanted"),
    "refusal.yaml": RecordedReason(owner="pass", ends="a pass renders the newest source"),
    "told.yaml": RecordedReason(owner="controller", ends="a pass finds it over, or the member left the fleet"),
}
"""Every reason that is recorded on the status branch."""


def owner_of(cluster: Cluster, fleet: Fleet, record: ClusterRecord) -> ReasonOwner:
    """Return who says how a member is."""
    if is_applied_by_own_agent(cluster):
        return ReasonOwner.AGENT
    return ReasonOwner.TOOL if record.deployer and fleet.is_reported_by_tools else ReasonOwner.PASSES


def without_former_owners(record: ClusterRecord, owner: ReasonOwner, *, has_reported: bool) -> ClusterRecord:
    """Return a record without the reasons of former owners; ``has_reported``: the agent of the member ever did."""
    if owner is not ReasonOwner.AGENT and any((record.refused, record.heartbeat, record.clock)):
        record = replace(record, refused="", refused_hint="", heartbeat="", clock="")
    if owner is not ReasonOwner.TOOL and record.deployer:
        record = replace(record, deployer="", outcome="", message="", hint="", applied="", deviations=())
    if owner is ReasonOwner.AGENT and not has_reported:
        record = replace(record, outcome="", message="", hint="", state=record.state.without_looks())
    return record
