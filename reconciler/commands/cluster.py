"""``argosy cluster``: members of the fleet, changed in the files of the source."""

from typing import TYPE_CHECKING, Any

import click

from reconciler.commands.options.edit_options import print_next_steps, with_outcome_options
from reconciler.commands.options.help_pages import DocumentedGroup
from reconciler.commands.options.member_options import with_reach_options
from reconciler.console.idle_options import refuse_given_options
from reconciler.console.log import Log
from reconciler.console.meant_commands import question_for_similar_command
from reconciler.console.printing import print_output, print_text
from reconciler.members.options import AccessOptions

from .cluster_agent import agent
from .cluster_outcomes import EditRequest, drain_and_show, forget_and_show, rename_and_show, unjoin_and_show
from .member_edits import (
    COMMIT,
    NAMES,
    SELECTOR,
    cordon,
    label,
    member_fields,
    selection_of,
    set_fields,
    taint,
    uncordon,
    warn_of_unread_places,
    with_field_options,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reconciler.edit.joining import NewMember
    from reconciler.passes.rejoining import Rejoining
    from render.settings.fleet import Fleet

_NAME = click.argument("name")
_SHOWING = frozenset({"list", "ls", "get", "show", "status"})
_ELSEWHERE = {
    **dict.fromkeys(("add", "register", "create"), "join"),
    **dict.fromkeys(("remove", "rm", "delete", "unregister", "deregister"), "unjoin"),
    "untaint": "taint",
    **dict.fromkeys(("unhold", "resume", "unpin", "forward"), "release"),
    "unlabel": "label",
}
"""Words of other tools, and the commands that they are here."""


class ClusterGroup(DocumentedGroup):
    """The group of commands about members, which names the one that was meant by another word."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            if args[0] in _SHOWING:
                raise click.UsageError(f"{error.message} Did you mean 'argosy status'?", ctx) from error
            meant = question_for_similar_command("argosy cluster", args[0], self.commands, _ELSEWHERE)
            advice = meant or "'argosy cluster --help' lists the commands."
            raise click.UsageError(f"{error.message} {advice}", ctx) from error


@click.group(
    "cluster",
    cls=ClusterGroup,
    epilog="Exit codes: 0 done; 2 no such member; 3 refused, nothing was changed; 4 Git failed;"
    " 6 refused, for objects would end in no cluster.",
)
def command() -> None:
    """Join, label, taint, cordon, drain, size and rename members by changing their files; take rebuilt ones in again.

    Cluster files are edited where they are: comments, order and every other byte stay. What would make the source
    worse is refused, and no cluster is asked. Only rejoin asks a cluster; that and release change no file. 'argosy
    status' lists the members, and 'argosy explain cluster/NAME' tells of one what it holds and which taints it has.
    """


@command.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@with_field_options
@click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", help="A label (repeatable).")
@click.option("--taint", "taints", multiple=True, metavar="KEY=VALUE:EFFECT", help="A taint (repeatable).")
@click.option("--context", default="", help="List it in argosy.yaml with this kubeconfig context: passes apply to it.")
@click.option(
    "--mode",
    type=click.Choice(("Push", "Pull"), case_sensitive=False),
    default="Push",
    show_default=True,
    help="Pull: an agent inside applies to it, and passes never reach it.",
)
@COMMIT
@click.pass_obj
def join(log: Log, /, names: tuple[str, ...], *, commit: bool, **options: Any) -> int:
    """Write clusters/NAME.yaml for a new member.

    Several that are named are alike.

    Passes apply to the clusters that argosy.yaml lists; where it lists none and names no kubeconfigs, they only render.
    To one with --mode Pull they never apply: 'argosy cluster agent NAME' prints the agent that does.
    """
    from reconciler.edit.cluster_files import opened_source, write_change
    from reconciler.edit.joining import NewMember, capacity_warning, change_that_joins
    from reconciler.edit.next_steps import steps_after_unseen_edit

    fields = member_fields(options)
    members = [NewMember(name=name, fields=fields, **options) for name in dict.fromkeys(names)]
    first = members[0]
    if first.mode == "Pull" and first.context:
        raise click.UsageError("--context is how passes reach a cluster, and they never reach one with --mode Pull")
    if first.context and len(members) > 1:
        raise click.UsageError("--context leads to one cluster: join each by itself, with its own")
    with opened_source(log) as source:
        before, (change, after) = source.fleet, change_that_joins(source, members)
        commit_id = write_change(source, change, log, commit=commit)
        steps = tuple(steps_after_unseen_edit(source, change, commit_id))
    for member in members:
        print_text(f"cluster/{member.name} joined")
    for member in members:
        if warning := capacity_warning(member.name, after):
            log.warning(warning)
    warn_of_unread_places(log, first.unread_places(), " ".join(member.name for member in members))
    _say_what_is_next(log, members, (before, after.fleet), steps)
    return 0


def _say_what_is_next(
    log: Log, members: "Sequence[NewMember]", fleets: "tuple[Fleet, Fleet]", steps: "Sequence[str]"
) -> None:
    """Say of new members whether passes or agents apply to them, and which commands bring what they get there.

    ``fleets`` are the settings before and after.
    """
    from render.fleet_settings import setting_changes

    pulling = [member.name for member in members if member.mode == "Pull"]
    is_waiting = any(each.waits for each in setting_changes(*fleets))
    reconcile = f"argosy reconcile{' --accept-settings' if is_waiting else ''}"
    for member in members:
        if member.name in pulling:
            mirror = fleets[1].mirror_branch(member.name)
            log.info(f"{reconcile} writes what is placed in {member.name} to {mirror}, and never reaches the cluster")
            log.info(f"nothing is applied to {member.name} before its agent runs there, which reads that branch")
        else:
            _say_whether_passes_apply(log, member.name, fleets, reconcile)
    agents = (f"argosy cluster agent {name} | kubectl --context {name} apply -f -" for name in pulling)
    if steps:
        print_next_steps((*steps[:-1], reconcile, *agents))


def _say_whether_passes_apply(log: Log, name: str, fleets: "tuple[Fleet, Fleet]", reconcile: str) -> None:
    """Say whether passes apply to a new member, and whether they applied to any before.

    ``reconcile`` is the command of the next pass.
    """
    before, after = fleets
    if after.reachable_members == frozenset():
        return
    if after.reachable_members is not None and name not in after.reachable_members:
        log.info(f"argosy reconcile renders for {name} and applies nothing there: argosy.yaml does not list it")
        return
    log.info(f"{reconcile} applies to {name}")
    if before.reachable_members == frozenset():
        log.warning("until now it only rendered; the clusters that argosy.yaml does not list are left alone")


for each in (agent, label, taint, cordon, uncordon, set_fields):
    command.add_command(each)


@command.command()
@NAMES
@SELECTOR
@click.option(
    "--drain", is_flag=True, help="Make everything leave first that another cluster takes, and say what to run next."
)
@click.option("--disconnect", is_flag=True, help="Leave the cluster as it is: nothing in it is touched any more.")
@COMMIT
@with_outcome_options
@click.pass_obj
def unjoin(log: Log, /, names: tuple[str, ...], *, selector: str, drain: bool, disconnect: bool, **options: Any) -> int:
    """Take members out, once nothing is rendered for them.

    What changes elsewhere is shown first, as 'argosy diff' does, and what to run next.
    """
    if drain and disconnect:
        raise click.UsageError("--drain empties the cluster, --disconnect leaves it as it is: choose one")
    selection = selection_of(names, selector)
    if drain:
        return drain_and_show(log, selection, EditRequest(**options), is_leaving=True)
    refuse_given_options(["is_unplaced_allowed"], "goes with --drain")
    return unjoin_and_show(log, selection, EditRequest(**options), disconnect=disconnect)


@command.command(epilog="Exit codes: 0 accepted, or nothing to accept; 1 not accepted; 5 no answer; 6 another UID.")
@_NAME
@click.option("--accept-uid", "uid", default="", metavar="UID", help="Record the cluster that has this UID.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@with_reach_options
@click.pass_obj
def rejoin(log: Log, /, *, name: str, uid: str, output: str, access: AccessOptions) -> int:
    """Take a member in again whose cluster was built anew.

    A cluster whose kube-system namespace has another UID than the recorded one is refused. This command shows what is
    in it, and what the next apply would adopt, create or find in conflict. With --accept-uid its UID is recorded, and
    nothing else is done: the next apply does the rest.
    """
    from reconciler.branches.fleet_context import context_and_source_of_commit
    from reconciler.members.choice import members_for_command
    from reconciler.members.ways import member_reach
    from reconciler.passes.applying import ApplyRun, Delivery
    from reconciler.passes.rejoining import accept_rejoining, observe_rejoining
    from reconciler.repository import open_repository

    with open_repository(log.repository, progress=log.transfer) as repository:
        context, _, commit = context_and_source_of_commit(repository, "")
        members = members_for_command(context.fleet, context.members, access, log)
        reach = member_reach(context.fleet, access, repository.folder)
        delivery = Delivery(members=members, is_observing=True)
        run = ApplyRun(context=context, commit=commit, delivery=delivery, reach=reach)
        found = observe_rejoining(run, name)
        if found.is_needed and uid:
            accept_rejoining(run, found, uid)
    _print_rejoining(found, output, is_accepted=bool(uid))
    return 1 if found.is_needed and not uid else 0


def _print_rejoining(found: "Rejoining", output: str, *, is_accepted: bool) -> None:
    from reconciler.passes.rejoining import lines_of_rejoining

    name = found.cluster
    accepting = f"argosy cluster rejoin {name} --accept-uid {found.uid}"
    step = f"argosy apply --cluster {name}" if is_accepted else accepting
    if output == "json":
        from reconciler.outputs.document import document_text
        from reconciler.outputs.rejoining import rejoining_document

        steps = (step,) if found.is_needed else ()
        print_output(document_text(rejoining_document(found, is_accepted=is_accepted, steps=steps)), output)
        return
    if not found.is_needed:
        print_text(f"cluster/{name} is {'the recorded one' if found.recorded else 'not recorded yet'}: {found.uid}")
        return
    print_text(
        f"cluster/{name} {'rejoined' if is_accepted else 'was built anew'}: {found.uid}, before {found.recorded}"
    )
    for line in lines_of_rejoining(found):
        print_text(line)
    print_text("next:")
    print_text(f"  {step}")


@command.command(epilog="Exit codes: 0 released, or not held; 2 no such member; 4 Git failed.")
@NAMES
@SELECTOR
@click.pass_obj
def release(log: Log, /, names: tuple[str, ...], *, selector: str) -> int:
    """End the hold on members: they get the newest commit.

    The next pass gives it to them. 'argosy apply --allow-older' holds a member at an older commit. A hold without
    --until also ends with the first commit rendered from a newer source; one with a time ends at that time, and not
    before, and one with --until released ends in no other way than this.
    """
    from reconciler.branches.fleet_context import context_and_source_of_commit
    from reconciler.edit.member_selection import MemberSelection, names_selected_among
    from reconciler.passes.going_back import release as end_holds
    from reconciler.repository import open_repository

    with open_repository(log.repository, progress=log.transfer) as repository:
        context, _, commit = context_and_source_of_commit(repository, "")
        chosen = names_selected_among(context.members, MemberSelection(names=names, selector=selector))
        ended = end_holds(context, chosen)
    for name, hold in ended.items():
        print_text(f"cluster/{name} released: it was {hold}" if hold is not None else f"cluster/{name} is not held")
    if any(ended.values()):
        print_text(f"next, to give {'it' if len(ended) == 1 else 'them'} {commit[:12]}:")
        print_text("  argosy reconcile")
    return 0


@command.command()
@click.argument("former", nargs=-1, required=True, metavar="NAME...")
@COMMIT
@click.pass_obj
def forget(log: Log, /, former: tuple[str, ...], *, commit: bool) -> int:
    """Drop what is kept of clusters that left for good.

    The rendered branch keeps the folder of a disconnected cluster, and the status branch what pruning goes by, for it
    may come back. This lists it in argosy.yaml under spec.forgotten, and the next pass drops both. Nothing is deleted
    in the cluster, and what it holds is pruned by nobody, also if it joins again. Its name is free then.
    """
    return forget_and_show(log, former, commit=commit)


@command.command()
@NAMES
@SELECTOR
@COMMIT
@with_outcome_options
@click.pass_obj
def drain(log: Log, /, names: tuple[str, ...], *, selector: str, **options: Any) -> int:
    """Make all that others take leave members; say what is next.

    What the next pass does is shown first, as 'argosy diff' does: what leaves, where replicas move, what stays and why.
    What no other member takes stays, with all that it needs and that serves it. --allow-unplaced lets it go; without
    it, a drain by which an object would end in no cluster is refused. The commit allows the removals that are shown,
    and no more. A member stays in the fleet, such as for its maintenance, and 'argosy cluster uncordon' lets things
    come back.
    """
    return drain_and_show(log, selection_of(names, selector), EditRequest(**options), is_leaving=False)


@command.command()
@click.argument("name", metavar="OLD")
@click.argument("new")
@COMMIT
@with_outcome_options
@click.pass_obj
def rename(log: Log, /, name: str, new: str, **options: Any) -> int:
    """Give a member another name; nothing in it moves or restarts.

    The name is changed in the Cluster, in argosy.yaml and in every policy that lists it; a context that had its name is
    kept. The Cluster gets the annotation argosy.dev/renamed-from, by which passes know it again.
    """
    return rename_and_show(log, name, new, EditRequest(**options))
