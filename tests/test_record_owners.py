"""Recorded reasons and who ends them: what a former owner said of a member does not stand for ever."""

from typing import NamedTuple

from msgspec.structs import replace

from reconciler.ledger.cluster import FAILING, UNSEEN_HINT, ClusterRecord, ClusterState
from reconciler.ledger.notices import NoticeRecord
from reconciler.ledger.refusal import SourceRefusal
from reconciler.record.owners import REASONS
from reconciler.record.recorded_status import RecordedStatus
from reconciler.record.status_changes import StatusInputs, status_files
from reconciler.run.notices.conditions import conditions_after_pass
from reconciler.run.pass_job import PassReport
from reconciler.source.desired import Desired
from reconciler.status.staleness import AskedCommits, progress_of_members
from render.cluster import Cluster
from render.documents import parse_documents
from render.failover.health import OBSERVED, READY, REPORTING
from render.settings.fleet import Fleet

from .tables import each_row

READY_NOW = {"type": READY, "status": "True", "lastTransitionTime": "2027-01-15T08:00:00Z"}
UNSEEN = {"type": OBSERVED, "status": "False", "reason": "Unauthorized", "lastTransitionTime": "2027-01-15T08:00:00Z"}
COMMIT = "c" * 40
CONVERGED = ClusterRecord(
    state=ClusterState(name="oslo", status={"conditions": [READY_NOW]}),
    applied=COMMIT,
    outcome="Converged",
    since="2027-01-15T08:00:00Z",
)


class Handover(NamedTuple):
    why: str
    before: ClusterRecord
    pulls: bool
    after: ClusterRecord
    reporting: frozenset[str] | None = frozenset()


REFUSING = replace(CONVERGED, refused="it was rewound", refused_hint="run once", heartbeat="2027-01-15T08:00:00Z")
BLIND = replace(
    CONVERGED,
    outcome="Unauthorized",
    message="no",
    hint="renew it",
    state=ClusterState(
        name="oslo", status={"conditions": [READY_NOW, UNSEEN]}, failing_since="x", unseen_hint="renew it"
    ),
)
TOLD = replace(CONVERGED, deployer="Flux", outcome="NotDelivered", message="Flux has none", hint="argosy emit flux")
HANDOVERS = [
    Handover("an agent refused, and passes apply now", REFUSING, False, CONVERGED),
    Handover("an agent refuses", REFUSING, True, REFUSING, frozenset({"oslo"})),
    Handover("an agent records its own refusal", REFUSING, True, REFUSING, None),
    Handover(
        "passes could not see it, and an agent is to apply now",
        BLIND,
        True,
        replace(CONVERGED, outcome="", state=replace(CONVERGED.state, status={"conditions": [READY_NOW]})),
    ),
    Handover("an agent cannot see its own cluster", BLIND, True, BLIND, frozenset({"oslo"})),
    Handover("passes cannot see it", BLIND, False, BLIND),
    Handover("a tool told of it, and none is asked any more", TOLD, False, replace(CONVERGED, applied="", outcome="")),
]


def recorded_after(case: Handover) -> ClusterRecord:
    """The record of oslo after a pass that found nothing of it."""
    path = ClusterRecord.at("oslo")
    recorded = RecordedStatus(files={path: case.before.content()})
    member = Cluster(name="oslo", sync_mode="Pull" if case.pulls else "Push")
    inputs = StatusInputs(
        now="2027-01-15T09:00:00Z",
        members=frozenset({"oslo"}),
        desired=Desired(fleet=Fleet(), clusters=(member,)),
        reporting=case.reporting,
    )
    content = status_files(recorded, inputs, ()).get(path, recorded.files[path])
    assert content is not None
    return ClusterRecord.read("", content)


@each_row("case", HANDOVERS, ids=lambda case: case.why)
def test_what_a_former_owner_said_of_a_member_ends_with_it(case: Handover) -> None:
    assert recorded_after(case) == case.after


def test_a_member_that_passes_apply_to_again_is_applied_whatever_its_agent_refused() -> None:
    """It was Refused for ever beside Converged, and status ended with 1."""
    record = recorded_after(HANDOVERS[0])
    inventory = (
        b"apiVersion: argosy.dev/v1alpha1\nkind: Inventory\ncluster: oslo\nclusterUID: ''\nconverged: "
        + COMMIT.encode()
    )
    recorded = RecordedStatus(files={ClusterRecord.at("oslo"): record.content(), "inventory/oslo.yaml": inventory})
    progress = progress_of_members(recorded, Fleet(), [Cluster(name="oslo")], AskedCommits(newest=COMMIT))
    assert progress["oslo"].is_applied


def test_a_member_that_left_the_fleet_is_no_longer_said_to_be_silent() -> None:
    told = {"cluster/oslo": "cluster oslo does not answer", "cluster/rome": "cluster rome does not answer"}
    assert conditions_after_pass(told, PassReport(code=0, members=("rome",))) == {"cluster/rome": told["cluster/rome"]}


def test_every_recorded_reason_is_in_the_table_with_its_end() -> None:
    words = replace(REFUSING, deployer="Flux", message="m", hint="h")
    state = replace(words.state, failing_since="x", unseen_hint="y")
    metadata = parse_documents(replace(words, state=state).content())[0].value["metadata"]
    assert {FAILING, UNSEEN_HINT} <= metadata["annotations"].keys() <= REASONS.keys()
    conditions = {f"condition {each}" for each in (READY, OBSERVED, REPORTING)}
    assert {*conditions, SourceRefusal.PATH, NoticeRecord.PATH, "deviations"} <= REASONS.keys()
    assert [name for name, each in REASONS.items() if not (each.owner and each.ends)] == []
