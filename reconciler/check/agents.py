"""The checks of members that pull: nobody reaches them from here, so what their agents reported is told."""

from collections.abc import Iterable, Iterator, Mapping

from reconciler.ledger.cluster import ClusterRecord
from reconciler.ledger.conditions import condition_of_type
from reconciler.ledger.inventory import ApplyOutcome
from reconciler.record.cluster_files import ObjectReason
from render.failover.health import READY
from render.words import counted_noun

from .prerequisites import Check

_MOST_OBJECTS = 3
_FAILED = "AppliedFailed"
_FORBIDDEN = "Forbidden"


def agent_checks(
    names: Iterable[str], records: Mapping[str, ClusterRecord], unwell: Iterable[ObjectReason]
) -> tuple[Check, ...]:
    """Return the checks of pulling members, given what is recorded of them and of the objects that are not well."""
    failed = [each for each in unwell if each.reason == _FAILED]
    return tuple(
        check
        for name in names
        for check in _checks_of_agent(name, records.get(name), [each for each in failed if each.cluster == name])
    )


def _checks_of_agent(name: str, record: ClusterRecord | None, failed: list[ObjectReason]) -> Iterator[Check]:
    if record is None or not (record.outcome or record.heartbeat):
        yield _check_about_agent(name, "its agent has not reported yet", f"start it: {_command_that_grants(name)}")
        return
    found = list(_failed_checks_of_agent(name, record, failed))
    yield from found or [Check(name="agent", is_well=True, state=f"its agent reports {record.outcome}", member=name)]


def _failed_checks_of_agent(name: str, record: ClusterRecord, failed: list[ObjectReason]) -> Iterator[Check]:
    ready = condition_of_type(record.state.status.get("conditions"), READY)
    if ready.get("status") == "Unknown":
        yield _check_about_agent(
            name, f"its agent is silent: {ready.get('message')}", "see its log, and whether it reaches Git"
        )
    if record.refused:
        yield _check_about_agent(name, f"its agent refuses the newest commit: {record.refused}", record.refused_hint)
    if record.outcome not in {"", ApplyOutcome.CONVERGED}:
        is_forbidden = any(each.message.startswith(_FORBIDDEN) for each in failed) or record.outcome == _FORBIDDEN
        hint = f"grant what is missing: {_command_that_grants(name)}" if is_forbidden else record.hint
        yield _check_about_agent(name, f"its agent reports {record.outcome}{_reasons_of_record(record, failed)}", hint)


def _reasons_of_record(record: ClusterRecord, failed: list[ObjectReason]) -> str:
    more = len(failed) - _MOST_OBJECTS
    lines = [f"{each.object}: {each.message}" for each in failed[:_MOST_OBJECTS]]
    lines += [f"and {counted_noun(more, 'object')} more"] if more > 0 else []
    return "".join(f"; {each}" for each in (*([record.message] if record.message else []), *lines))


def _check_about_agent(name: str, state: str, hint: str) -> Check:
    return Check(name="agent", is_well=False, state=state, hint=hint, member=name)


def _command_that_grants(name: str) -> str:
    return f"argosy cluster agent {name} | kubectl --context {name} apply -f -"
