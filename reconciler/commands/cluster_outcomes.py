"""``argosy cluster drain``, ``unjoin --drain`` and ``rename``: edits of the source, shown before they are made."""

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from reconciler.commands.options.edit_options import print_edit_document, print_next_steps, print_outcome_of_edit
from reconciler.console.log import Log
from reconciler.console.printing import print_text

if TYPE_CHECKING:
    from reconciler.edit.leaving import Drain
    from reconciler.preview.source_edits import EditOutcome
    from render.settings.fleet import Fleet

_HINT = "let their policies select another cluster, or pass --allow-unplaced, which lets them go"


class EditRequest(Struct, frozen=True, kw_only=True):
    """The request for an edit: the member it is about, whether to commit it, and the form of the answer."""

    name: str
    commit: bool
    output: str
    is_unplaced_allowed: bool


def drain_and_show(log: Log, request: EditRequest, *, is_leaving: bool) -> int:
    """Show what a drain does and what it leaves, write it, and name the commands to run next.

    ``is_leaving``: the member is to be unjoined afterwards.
    """
    from reconciler.edit.cluster_files import opened_source, write_change
    from reconciler.edit.leaving import drain_of_member, steps_after_draining
    from reconciler.preview.source_edits import outcome_of_edit, refuse_unplaced

    with opened_source(log) as source:
        drain = drain_of_member(source, request.name, is_unplaced_allowed=request.is_unplaced_allowed)
        outcome = outcome_of_edit(source, drain.uncommitted, log, emptied=request.name)
        if not request.is_unplaced_allowed:
            refuse_unplaced(outcome, _HINT)
        trailers = outcome.emptied.trailers if outcome and outcome.emptied else ()
        change, commit = drain.change(trailers), ""
        if drain.is_new:
            commit = write_change(source, change, log, commit=request.commit)
        steps = (
            *steps_after_draining(source, drain, trailers),
            _last_step_to_take(request.name, outcome, is_leaving=is_leaving),
        )
        fleet = source.fleet
    if request.output == "json":
        print_edit_document(change, commit, outcome, steps)
        return 0
    _print_drain(log, drain, outcome, fleet)
    print_next_steps(steps, is_refused=bool(outcome and outcome.difference.refused))
    return 0


def _last_step_to_take(name: str, outcome: "EditOutcome | None", *, is_leaving: bool) -> str:
    if not is_leaving:
        return f"argosy cluster uncordon {name}  # when things may come back"
    is_full = bool(outcome and outcome.emptied and (outcome.emptied.staying or outcome.emptied.ending))
    return f"argosy cluster unjoin {name}{'  # once nothing stays there' if is_full else ''}"


def _print_drain(log: Log, drain: "Drain", outcome: "EditOutcome | None", fleet: "Fleet") -> None:
    words = "draining" if drain.is_new else "already draining"
    print_text(f"cluster/{drain.name} {words}{_departures_in_words(outcome)}")
    print_outcome_of_edit(log, outcome)
    if fleet.rescheduling != "Source":
        log.warning("with rescheduling: Karmada a taint drives nothing out; set rescheduling: Source in argosy.yaml")


def _departures_in_words(outcome: "EditOutcome | None") -> str:
    """Return how many objects leave a member, and how many stay."""
    from reconciler.edit.leaving import object_count_in_words

    if outcome is None or outcome.emptied is None:
        return ""
    found = outcome.emptied
    ending = f", {found.ending} once they are well elsewhere" if found.ending else ""
    staying = f", {found.staying} {'stays' if found.staying == 1 else 'stay'}" if found.staying else ""
    return f": {object_count_in_words((*found.leaving, *found.namespaces))} to leave{ending}{staying}"


def rename_and_show(log: Log, request: EditRequest, new: str) -> int:
    """Show what another name of a member changes, and give it that name."""
    from reconciler.edit.cluster_files import opened_source, write_change
    from reconciler.edit.renaming import renaming_of_member
    from reconciler.preview.source_edits import outcome_of_edit, refuse_unplaced

    with opened_source(log) as source:
        fleet, renaming = source.fleet, renaming_of_member(source, request.name, new)
        outcome = outcome_of_edit(source, renaming.change.contents, log)
        if not request.is_unplaced_allowed:
            refuse_unplaced(outcome, _HINT)
        commit = write_change(source, renaming.change, log, commit=request.commit)
    for field in renaming.fields:
        log.info(f"{field}: {new} instead of {request.name}")
    for test in renaming.tests:
        log.warning(f"{test}: this PolicyTest names {request.name} still")
    if request.output == "json":
        print_edit_document(renaming.change, commit, outcome)
    else:
        print_text(f"cluster/{new} renamed from {request.name}{_renaming_in_words(outcome)}")
        print_outcome_of_edit(log, _without_renaming(outcome))
    _warn_of_names_elsewhere(log, fleet, request.name, new)
    return 0


def _without_renaming(outcome: "EditOutcome | None") -> "EditOutcome | None":
    """Return an outcome that does not tell of the name itself."""
    return replace(outcome, difference=replace(outcome.difference, renamed={})) if outcome else None


def _renaming_in_words(outcome: "EditOutcome | None") -> str:
    if outcome is None:
        return ""
    other = replace(outcome.difference, renamed={})
    return ": nothing changes in any cluster" if other.is_empty else ", and more changes by that:"


def _warn_of_names_elsewhere(log: Log, fleet: "Fleet", old: str, new: str) -> None:
    if fleet.kubeconfigs:
        log.warning(f"a kubeconfig called {old} in {fleet.kubeconfigs} must be called {new} now")
    if fleet.mirrors:
        log.warning(f"the branch {fleet.mirror_branch(old)} ends here; {fleet.mirror_branch(new)} takes its place")
