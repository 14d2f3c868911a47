"""``argosy cluster drain``, ``uncordon``, ``unjoin`` and ``rename``: edits of the source, shown before the write."""

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from reconciler.commands.options.edit_options import (
    EditMessages,
    print_edit_document,
    print_next_steps,
    print_outcome_of_edit,
)
from reconciler.console.log import Log
from reconciler.console.printing import print_text
from render.words import counted_noun, first_few

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reconciler.edit.leaving import Drain
    from reconciler.edit.member_selection import EditsOf, MemberSelection
    from reconciler.edit.renaming import Renaming
    from reconciler.preview.source_edits import EditOutcome, EmptiedMember
    from render.fleet_settings import SettingChange
    from render.model import ObjectRef
    from render.settings.fleet import Fleet

_HINT = "let their policies select another cluster, or pass --allow-unplaced, which lets them go"
_FORGETTING = "  # once it is gone for good: branches keep its files, nobody empties it"


class EditRequest(Struct, frozen=True, kw_only=True):
    """The request for an edit: whether to commit it, the form of the answer, and whether objects may end nowhere."""

    commit: bool
    output: str
    is_unplaced_allowed: bool


def drain_and_show(log: Log, selection: "MemberSelection", request: EditRequest, *, is_leaving: bool) -> int:
    """Show what a drain of members does and what it leaves, write it, and name the commands to run next.

    ``is_leaving``: the members are to be unjoined afterwards.
    """
    from reconciler.edit.cluster_files import opened_source, write_change
    from reconciler.edit.leaving import drain_of_members
    from reconciler.edit.member_selection import selected_members
    from reconciler.edit.next_steps import steps_to_deliver
    from reconciler.preview.source_edits import outcome_of_edit, refuse_unplaced

    with opened_source(log) as source:
        names = selected_members(source, selection)
        drain = drain_of_members(source, names, is_unplaced_allowed=request.is_unplaced_allowed)
        outcome = outcome_of_edit(source, drain.uncommitted, log, emptied=names)
        if not request.is_unplaced_allowed:
            refuse_unplaced(outcome, _HINT)
        trailers = outcome.trailers if outcome else ()
        change, commit = drain.source_change(trailers), ""
        if drain.new:
            commit = write_change(source, change, log, commit=request.commit)
        steps = (
            *steps_to_deliver(source, change, drain.paths),
            *_last_steps_to_take(names, outcome, is_leaving=is_leaving),
        )
        fleet = source.fleet
    if request.output == "json":
        print_edit_document(change, commit, outcome, steps)
        return 0
    _print_drain(log, drain, outcome, fleet)
    print_next_steps(steps, is_refused=bool(outcome and outcome.difference.refused))
    return 0


def _last_steps_to_take(names: "Sequence[str]", outcome: "EditOutcome | None", *, is_leaving: bool) -> "Iterator[str]":
    if not is_leaving:
        yield f"argosy cluster uncordon {' '.join(names)}  # when things may come back"
        return
    emptied = {each.name: each for each in outcome.emptied} if outcome else {}
    for name in names:
        is_full = name in emptied and bool(emptied[name].staying or emptied[name].ending)
        yield f"argosy cluster unjoin {name}{'  # once nothing stays there' if is_full else ''}"


def _print_drain(log: Log, drain: "Drain", outcome: "EditOutcome | None", fleet: "Fleet") -> None:
    emptied = {each.name: each for each in outcome.emptied} if outcome else {}
    for name in drain.names:
        words = "draining" if name in drain.new else "already draining"
        print_text(f"cluster/{name} {words}{_departures_in_words(emptied.get(name))}")
    print_outcome_of_edit(log, outcome)
    abrupt = tuple(dict.fromkeys(ref for each in emptied.values() for ref in each.abrupt))
    if abrupt:
        log.warning(_words_on_abrupt_departure(abrupt))
    if fleet.rescheduling != "Source":
        log.warning("with rescheduling: Karmada a taint drives nothing out; set rescheduling: Source in argosy.yaml")


def _words_on_abrupt_departure(refs: "Sequence[str]") -> str:
    """Return which workloads are down for a while, and the settings by which they go only once they are well."""
    return (
        f"{first_few(refs)} {'leaves' if len(refs) == 1 else 'leave'} at once, before being well elsewhere: down until"
        " then\n  hint: with 'featureGates: {Failover: true}' in argosy.yaml it stays until another copy is well,"
        " unless purgeMode is Directly"
    )


def _departures_in_words(found: "EmptiedMember | None") -> str:
    """Return how many objects leave a member, how many stay, and how many Namespaces it keeps with nothing in them."""
    from reconciler.edit.leaving import object_count_in_words

    if found is None:
        return ""
    ending = f", {found.ending} once they are well elsewhere" if found.ending else ""
    staying = f", {found.staying} {'stays' if found.staying == 1 else 'stay'}" if found.staying else ""
    count = len(found.namespaces)
    kept = f", {counted_noun(count, 'Namespace is', 'Namespaces are')} kept" if count else ""
    return f": {object_count_in_words(found.leaving)} to leave{ending}{staying}{kept}"


def free_and_show(
    log: Log, selection: "MemberSelection", edits_of: "EditsOf", messages: EditMessages, *, commit: bool
) -> int:
    """Take taints of members away: show what comes back by that, and name what comes back only when it is asked for."""
    from reconciler.edit.cluster_files import opened_source, write_change
    from reconciler.edit.member_selection import change_of_members, names_in_subject, selected_members
    from reconciler.edit.next_steps import steps_to_deliver
    from reconciler.explain.staying_elsewhere import commands_to_rebalance, workloads_staying_elsewhere
    from reconciler.preview.source_edits import outcome_of_edit

    outcome: EditOutcome | None = None
    staying: tuple[ObjectRef, ...] = ()
    steps: tuple[str, ...] = ()
    with opened_source(log) as source:
        names = selected_members(source, selection)
        subject = messages.subject.replace("{}", names_in_subject(names), 1)
        change, changed = change_of_members(source, names, edits_of, subject)
        if change is not None:
            outcome = outcome_of_edit(source, change.contents, log)
            commit_id = write_change(source, change, log, commit=commit)
            # An edit that takes back another one, which was not committed, changes nothing.
            if commit_id or set(change.contents) & set(source.repository.dirty_paths()):
                staying = workloads_staying_elsewhere(changed, outcome.comparison.head) if outcome else ()
                steps = (*steps_to_deliver(source, change), *commands_to_rebalance(staying))
    for name in names:
        print_text(f"cluster/{name} {messages.done if name in changed else messages.idle}")
    if not steps:
        return 0
    print_outcome_of_edit(log, outcome)
    for line in _lines_about_what_does_not_return(sorted(changed), staying, outcome):
        print_text(line)
    print_next_steps(steps, is_refused=bool(outcome and outcome.difference.refused))
    return 0


def _lines_about_what_does_not_return(
    names: "Sequence[str]", staying: "Sequence[ObjectRef]", outcome: "EditOutcome | None"
) -> "Iterator[str]":
    """Yield which workloads stay where they are, and which members have other taints, by which things stay away."""
    if staying:
        verb, them = ("stays where it is", "it") if len(staying) == 1 else ("stay where they are", "them")
        listed = first_few(list(map(str, staying)))
        yield f"\n{listed} {verb}: the end of a taint moves no replicas; argosy rebalance moves {them}"
    index = outcome.comparison.head.rendered.built.index if outcome else None
    for name in names:
        if index is not None and (taints := index.clusters[index.index_by_name[name]].taints):
            has = f"{name} has {first_few(list(map(str, taints)))} still, by the source and what is recorded"
            yield f"\n{has}: what does not tolerate that comes back once a pass finds it gone"


def rename_and_show(log: Log, old: str, new: str, request: EditRequest) -> int:
    """Show what another name of a member changes, and give it that name."""
    from reconciler.edit.cluster_files import opened_source, write_change
    from reconciler.edit.next_steps import steps_to_deliver
    from reconciler.edit.renaming import renaming_of_member
    from reconciler.preview.source_edits import outcome_of_edit, refuse_unplaced

    with opened_source(log) as source:
        fleet, renaming = source.fleet, renaming_of_member(source, old, new)
        outcome = outcome_of_edit(source, renaming.change.contents, log)
        if not request.is_unplaced_allowed:
            refuse_unplaced(outcome, _HINT)
        commit = write_change(source, renaming.change, log, commit=request.commit)
        steps = tuple(steps_to_deliver(source, renaming.change))
    for field in renaming.fields:
        log.info(f"{field}: {new} instead of {old}")
    for test in renaming.tests:
        log.warning(f"{test}: this PolicyTest names {old} still")
    if request.output == "json":
        print_edit_document(renaming.change, commit, outcome, steps)
    else:
        others = _outcome_beside_name(outcome, renaming)
        print_text(f"cluster/{new} renamed from {old}{_renaming_in_words(others)}")
        print_outcome_of_edit(log, others)
        print_next_steps(steps, is_refused=bool(outcome and outcome.difference.refused))
    _warn_of_names_elsewhere(log, fleet, old, new)
    return 0


def unjoin_and_show(log: Log, selection: "MemberSelection", request: EditRequest, *, disconnect: bool) -> int:
    """Show what changes once members are no longer in the fleet, take them out, and name the commands to run next."""
    from reconciler.edit.cluster_files import opened_source, write_change
    from reconciler.edit.forgetting import clusters_on_branches
    from reconciler.edit.leaving import departure_of_members, pulling_members
    from reconciler.edit.member_selection import selected_members
    from reconciler.edit.next_steps import steps_to_deliver
    from reconciler.preview.source_edits import outcome_of_edit
    from render.fleet_settings import setting_changes

    with opened_source(log) as source:
        names = selected_members(source, selection)
        pulled = [name for name in names if name in pulling_members(source)]
        change = departure_of_members(source, names, disconnect=disconnect)
        after = source.checked_source(change.contents).desired.fleet
        outcome = outcome_of_edit(source, change.contents, log)
        commit = write_change(source, change, log, commit=request.commit)
        kept = sorted(clusters_on_branches(source).intersection(names)) if disconnect else []
        forgetting = [f"argosy cluster forget {' '.join(kept)}{_FORGETTING}"] if kept else []
        steps = (*steps_to_deliver(source, change), *_steps_to_remove_agents(source.fleet, pulled), *forgetting)
        before = source.fleet
    if request.output == "json":
        print_edit_document(change, commit, outcome, steps)
    else:
        for name in names:
            print_text(f"cluster/{name} {'disconnected' if disconnect else 'unjoined'}")
        own = tuple(each for each in setting_changes(before, after) if not each.waits)
        print_outcome_of_edit(log, _outcome_beside_departures(outcome, own, is_empty=not disconnect))
        print_next_steps(steps, is_refused=bool(outcome and outcome.difference.refused))
    if before.reachable_members and not after.reachable_members:
        log.warning("argosy.yaml lists no cluster any more: argosy reconcile only renders")
    return 0


def forget_and_show(log: Log, names: "Sequence[str]", *, commit: bool) -> int:
    """List clusters that left as forgotten, and name the commands to run next."""
    from reconciler.edit.cluster_files import opened_source, write_change
    from reconciler.edit.forgetting import change_that_forgets
    from reconciler.edit.next_steps import steps_to_deliver

    with opened_source(log) as source:
        change, listed = change_that_forgets(source, tuple(names)), source.fleet.forgotten
        source.checked_source(change.contents)
        if change.contents:
            write_change(source, change, log, commit=commit)
        steps = tuple(steps_to_deliver(source, change, [source.home.path or source.home.expected_path]))
    for name in dict.fromkeys(names):
        print_text(f"cluster/{name} {'already listed as forgotten' if name in listed else 'to be forgotten'}")
    print_next_steps(steps)
    return 0


def _steps_to_remove_agents(fleet: "Fleet", names: "Sequence[str]") -> "Iterator[str]":
    """Yield the commands that take back the agents of members, and their branches."""
    from reconciler.edit.agent_manifests import command_to_remove_agent

    for name in names:
        yield command_to_remove_agent(name)
        yield f"git push --delete REMOTE {fleet.mirror_branch(name)} {fleet.agent_branch(name)}"


def _outcome_beside_departures(
    outcome: "EditOutcome | None", own: "Sequence[SettingChange]", *, is_empty: bool
) -> "EditOutcome | None":
    """Return an outcome without the settings that are the departure itself, nor clusters that keep nothing."""
    if outcome is None:
        return None
    found = outcome.difference
    settings = tuple(each for each in found.settings if each not in own)
    return replace(outcome, difference=replace(found, settings=settings, left=() if is_empty else found.left))


def _outcome_beside_name(outcome: "EditOutcome | None", renaming: "Renaming") -> "EditOutcome | None":
    """Return an outcome that does not tell of the name itself, unless that ends the hold on a cluster."""
    if outcome is None:
        return None
    found = outcome.difference
    settings = tuple(each for each in found.settings if each not in renaming.settings)
    renamed = found.renamed if found.clusters_no_longer_held else {}
    return replace(outcome, difference=replace(found, settings=settings, renamed=renamed))


def _renaming_in_words(outcome: "EditOutcome | None") -> str:
    if outcome is None:
        return ""
    return ": nothing changes in any cluster" if outcome.difference.is_empty else ", and more changes by that:"


def _warn_of_names_elsewhere(log: Log, fleet: "Fleet", old: str, new: str) -> None:
    if fleet.kubeconfigs:
        log.warning(f"a kubeconfig called {old} in {fleet.kubeconfigs} must be called {new} now")
    if fleet.mirrors:
        log.warning(f"the branch {fleet.mirror_branch(old)} ends here; {fleet.mirror_branch(new)} takes its place")
