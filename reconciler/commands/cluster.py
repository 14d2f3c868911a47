"""``argosy cluster``: members of the fleet, changed in the files of the source."""

from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from reconciler.commands.options.edit_options import with_outcome_options
from reconciler.commands.options.help_pages import DocumentedGroup
from reconciler.commands.options.member_options import with_reach_options
from reconciler.console.idle_options import refuse_given_options
from reconciler.console.log import Log
from reconciler.console.meant_commands import question_for_similar_command
from reconciler.console.printing import print_text
from reconciler.members.options import AccessOptions

from .cluster_agent import agent
from .cluster_outcomes import EditRequest, drain_and_show, rename_and_show

if TYPE_CHECKING:
    from reconciler.edit.labels import EditsOf
    from render.settings.fleet import Fleet

_COMMIT = click.option("--commit", is_flag=True, help="Commit the files that were changed, and nothing else.")
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
    epilog="Exit codes: 0 done; 2 no such member; 3 refused, nothing was changed; 4 Git failed.",
)
def command() -> None:
    """Join, label, taint, cordon, drain, size and rename members by changing their files; take rebuilt ones in again.

    Cluster files are edited where they are: comments, order and every other byte stay. What would make the source
    worse is refused, and no cluster is asked. Only rejoin asks a cluster; that and release change no file. 'argosy
    status' lists the members, and 'argosy explain cluster/NAME' tells of one what it holds and which taints it has.
    """


@command.command()
@_NAME
@click.option("--region", default="", help="The region it is in.")
@click.option("--zone", "zones", multiple=True, help="A zone it is in (repeatable).")
@click.option("--provider", default="", help="The provider that runs it.")
@click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", help="A label (repeatable).")
@click.option("--context", default="", help="List it in argosy.yaml with this kubeconfig context: passes apply to it.")
@click.option(
    "--mode",
    type=click.Choice(("Push", "Pull"), case_sensitive=False),
    default="Push",
    show_default=True,
    help="Pull: an agent inside applies to it, and passes never reach it.",
)
@_COMMIT
@click.pass_obj
def join(log: Log, /, *, commit: bool, **options: Any) -> int:
    """Write clusters/NAME.yaml for a new member.

    Passes apply to the clusters that argosy.yaml lists; where it lists none and names no kubeconfigs, they only render.
    To one with --mode Pull they never apply: 'argosy cluster agent NAME' prints the agent that does.
    """
    from reconciler.edit.cluster_files import opened_source
    from reconciler.edit.joining import NewMember, capacity_warning, join_member

    member = NewMember(**options)
    if member.mode == "Pull" and member.context:
        raise click.UsageError("--context is how passes reach a cluster, and they never reach one with --mode Pull")
    with opened_source(log) as source:
        before, after = source.fleet, join_member(source, member, log, commit=commit)
    print_text(f"cluster/{member.name} joined")
    if warning := capacity_warning(member.name, after):
        log.warning(warning)
    if member.mode == "Pull":
        print_text("next, once the file is committed and pushed:")
        print_text("  argosy reconcile")
        print_text(f"  argosy cluster agent {member.name} | kubectl --context {member.name} apply -f -")
        return 0
    _say_whether_passes_apply(log, member.name, before, after.fleet)
    return 0


def _say_whether_passes_apply(log: Log, name: str, before: "Fleet", after: "Fleet") -> None:
    """Say whether passes apply to a new member, and whether they applied to any before."""
    if after.reached == frozenset():
        return
    if after.reached is not None and name not in after.reached:
        log.info(f"argosy reconcile renders for {name} and applies nothing there: argosy.yaml does not list it")
        return
    from render.fleet_settings import setting_changes

    is_waiting = any(each.waits for each in setting_changes(before, after))
    log.info(f"argosy reconcile{' --accept-settings' if is_waiting else ''} applies to {name}")
    if before.reached == frozenset():
        log.warning("until now it only rendered; the clusters that argosy.yaml does not list are left alone")


command.add_command(agent)


@command.command()
@_NAME
@click.option(
    "--drain", is_flag=True, help="Make everything leave first that another cluster takes, and say what to run next."
)
@click.option("--disconnect", is_flag=True, help="Leave the cluster as it is: nothing in it is touched any more.")
@_COMMIT
@with_outcome_options
@click.pass_obj
def unjoin(log: Log, /, name: str, *, drain: bool, disconnect: bool, **options: Any) -> int:
    """Take a member out, once nothing is rendered for it."""
    if drain and disconnect:
        raise click.UsageError("--drain empties the cluster, --disconnect leaves it as it is: choose one")
    if drain:
        return drain_and_show(log, EditRequest(name=name, **options), is_leaving=True)
    refuse_given_options(["output", "is_unplaced_allowed"], "goes with --drain")
    commit = options["commit"]
    return _unjoin_and_show(log, name, disconnect=disconnect, commit=commit)


@command.command(epilog="Exit codes: 0 accepted, or nothing to accept; 1 not accepted; 5 no answer; 6 another UID.")
@_NAME
@click.option("--accept-uid", "uid", default="", metavar="UID", help="Record the cluster that has this UID.")
@with_reach_options
@click.pass_obj
def rejoin(log: Log, /, *, name: str, uid: str, access: AccessOptions) -> int:
    """Take a member in again whose cluster was built anew.

    A cluster whose kube-system namespace has another UID than the recorded one is refused. This command shows what is
    in it, and what the next apply would adopt, create or find in conflict. With --accept-uid its UID is recorded, and
    nothing else is done: the next apply does the rest.
    """
    from reconciler.branches.fleet_context import applied_commit
    from reconciler.members.choice import chosen_members
    from reconciler.members.ways import member_reach
    from reconciler.passes.applying import ApplyRun, Delivery
    from reconciler.passes.rejoining import accept_rejoining, observe_rejoining, preview
    from reconciler.repository import open_repository

    with open_repository(log.repository, progress=log.transfer) as repository:
        context, _, commit = applied_commit(repository, "")
        members = chosen_members(context.fleet, context.members, access, log)
        reach = member_reach(context.fleet, access, repository.folder)
        delivery = Delivery(members=members, is_observing=True)
        run = ApplyRun(context=context, commit=commit, delivery=delivery, reach=reach)
        found = observe_rejoining(run, name)
        if found.is_needed and uid:
            accept_rejoining(run, found, uid)
    if not found.is_needed:
        print_text(f"cluster/{name} is {'the recorded one' if found.recorded else 'not recorded yet'}: {found.uid}")
        return 0
    print_text(f"cluster/{name} {'rejoined' if uid else 'was built anew'}: {found.uid}, before {found.recorded}")
    for line in preview(found):
        print_text(line)
    print_text("next:")
    print_text(
        f"  argosy apply --cluster {name}" if uid else f"  argosy cluster rejoin {name} --accept-uid {found.uid}"
    )
    return 0 if uid else 1


@command.command(epilog="Exit codes: 0 released, or not held; 2 no such member; 4 Git failed.")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.pass_obj
def release(log: Log, names: tuple[str, ...]) -> int:
    """End the hold on members, so that the next pass gives them the newest commit.

    'argosy apply --allow-older' holds a member at an older commit. The hold also ends with the first rendered commit of
    a newer source, and at its time, if it has one.
    """
    from reconciler.branches.fleet_context import applied_commit
    from reconciler.names.subjects import refuse_unknown_clusters
    from reconciler.passes.going_back import release as end_holds
    from reconciler.repository import open_repository

    with open_repository(log.repository, progress=log.transfer) as repository:
        context, _, commit = applied_commit(repository, "")
        refuse_unknown_clusters(names, frozenset(cluster.name for cluster in context.members))
        ended = end_holds(context, sorted(set(names)))
    for name, hold in ended.items():
        print_text(f"cluster/{name} released: it was {hold}" if hold is not None else f"cluster/{name} is not held")
    if any(ended.values()):
        print_text(f"next, to give {'it' if len(ended) == 1 else 'them'} {commit[:12]}:")
        print_text("  argosy reconcile")
    return 0


def _unjoin_and_show(log: Log, name: str, *, disconnect: bool, commit: bool) -> int:
    from reconciler.edit.agent_manifests import command_to_remove_agent
    from reconciler.edit.cluster_files import opened_source
    from reconciler.edit.leaving import pulling_members, remove_member

    with opened_source(log) as source:
        before, is_pulled = source.fleet, name in pulling_members(source)
        after = remove_member(source, name, log, disconnect=disconnect, commit=commit)
    print_text(f"cluster/{name} {'disconnected' if disconnect else 'unjoined'}")
    if is_pulled:
        print_text("next, to take its agent back:")
        print_text(f"  {command_to_remove_agent(name)}")
        print_text(f"  git push --delete REMOTE {before.mirror_branch(name)} {before.agent_branch(name)}")
    if before.reached and not after.reached:
        log.warning("argosy.yaml lists no cluster any more: argosy reconcile only renders")
    return 0


class EditMessages(Struct, frozen=True, kw_only=True):
    """The subject of an edit's commit, and the words printed when it was made and when there was nothing to do."""

    subject: str
    done: str
    idle: str


@command.command()
@_NAME
@click.argument("words", nargs=-1, required=True, metavar="KEY=VALUE|KEY-...")
@click.option("--overwrite", is_flag=True, help="Also change labels that have another value.")
@_COMMIT
@click.pass_obj
def label(log: Log, name: str, words: tuple[str, ...], *, overwrite: bool, commit: bool) -> int:
    """Set labels (key=value) and take them away (key-)."""
    from reconciler.edit.labels import label_edits, parse_labels

    change = parse_labels(words)
    done = "labeled" if change.wanted else "unlabeled"
    messages = EditMessages(subject=f"Label {name}: {' '.join(words)}", done=done, idle="not labeled")
    return _edit_cluster_and_show(
        log, name, lambda manifest: label_edits(manifest, change, overwrite=overwrite), messages, commit=commit
    )


@command.command()
@_NAME
@click.argument("words", nargs=-1, required=True, metavar="KEY=VALUE:EFFECT|KEY:EFFECT-...")
@click.option("--overwrite", is_flag=True, help="Also change taints that have another value.")
@_COMMIT
@click.pass_obj
def taint(log: Log, name: str, words: tuple[str, ...], *, overwrite: bool, commit: bool) -> int:
    """Set taints (key=value:NoSchedule) and take them away (key-).

    key:NoSchedule- takes away the taint with this effect alone.
    """
    from reconciler.edit.labels import parse_taints, taint_edits

    change = parse_taints(words)
    done = "tainted" if change.wanted else "untainted"
    messages = EditMessages(subject=f"Taint {name}: {' '.join(words)}", done=done, idle="not tainted")
    return _edit_cluster_and_show(
        log, name, lambda each: taint_edits(each, change, overwrite=overwrite), messages, commit=commit
    )


@command.command()
@_NAME
@_COMMIT
@click.pass_obj
def cordon(log: Log, name: str, *, commit: bool) -> int:
    """Let nothing new be placed in a member; what is there stays."""
    from reconciler.edit.labels import TaintChange, taint_edits
    from render.cluster import CORDON

    change = TaintChange(wanted=(CORDON,), removed=())
    messages = EditMessages(subject=f"Cordon {name}", done="cordoned", idle="already cordoned")
    return _edit_cluster_and_show(
        log, name, lambda each: taint_edits(each, change, overwrite=True), messages, commit=commit
    )


@command.command()
@_NAME
@_COMMIT
@click.pass_obj
def uncordon(log: Log, name: str, *, commit: bool) -> int:
    """Let things be placed in a member again.

    This ends a cordon and a drain. Divided replicas that left the member stay where they are; argosy rebalance moves
    them.
    """
    from reconciler.edit.labels import TaintChange, taint_edits
    from render.cluster import CORDON, DRAIN

    change = TaintChange(wanted=(), removed=(CORDON, *DRAIN))
    messages = EditMessages(subject=f"Uncordon {name}", done="uncordoned", idle="already uncordoned")
    return _edit_cluster_and_show(
        log, name, lambda each: taint_edits(each, change, overwrite=True), messages, commit=commit
    )


@command.command()
@_NAME
@_COMMIT
@with_outcome_options
@click.pass_obj
def drain(log: Log, /, name: str, **options: Any) -> int:
    """Make all that others take leave a member; say what is next.

    What the next pass does is shown first, as 'argosy diff' does: what leaves, where replicas move, what stays and why.
    What no other member takes stays, with all that it needs and that serves it. --allow-unplaced lets it go; without
    it, a drain by which an object would end in no cluster is refused. The commit allows the removals that are shown,
    and no more. The member stays in the fleet, such as for its maintenance, and 'argosy cluster uncordon' lets things
    come back.
    """
    return drain_and_show(log, EditRequest(name=name, **options), is_leaving=False)


@command.command("set")
@_NAME
@click.option("--cpu", default="", metavar="AMOUNT", help="Processors that pods may use, such as 64 or 1500m.")
@click.option("--memory", default="", metavar="AMOUNT", help="Memory that pods may use, such as 256Gi.")
@click.option("--pods", default="", metavar="COUNT", help="The number of pods there is room for.")
@_COMMIT
@click.pass_obj
def set_capacity(log: Log, /, name: str, *, commit: bool, **amounts: str) -> int:
    """Declare the capacity of a member that is not observed.

    It counts for strategies that divide by free capacity, until the member is observed.
    """
    from reconciler.edit.cluster_files import capacity_edits

    wanted = {resource: amount for resource, amount in amounts.items() if amount}
    if not wanted:
        raise click.UsageError("name a capacity: --cpu, --memory or --pods")
    said = ", ".join(f"{resource} {amount}" for resource, amount in wanted.items())
    messages = EditMessages(subject=f"Set the capacity of {name}: {said}", done="capacity set", idle="unchanged")
    return _edit_cluster_and_show(log, name, lambda manifest: capacity_edits(manifest, wanted), messages, commit=commit)


@command.command()
@click.argument("name", metavar="OLD")
@click.argument("new")
@_COMMIT
@with_outcome_options
@click.pass_obj
def rename(log: Log, /, name: str, new: str, **options: Any) -> int:
    """Give a member another name; nothing in it moves or restarts.

    The name is changed in the Cluster, in argosy.yaml and in every policy that lists it; a context that had its name is
    kept. The Cluster gets the annotation argosy.dev/renamed-from, by which passes know it again.
    """
    return rename_and_show(log, EditRequest(name=name, **options), new)


def _edit_cluster_and_show(log: Log, name: str, edits_of: "EditsOf", messages: EditMessages, *, commit: bool) -> int:
    """Edit a member's Cluster and print the outcome."""
    from reconciler.edit.cluster_files import opened_source, write_change
    from reconciler.edit.labels import member_change

    with opened_source(log) as source:
        change = member_change(source, name, edits_of, messages.subject)
        if change is not None:
            write_change(source, change, log, commit=commit)
    print_text(f"cluster/{name} {messages.idle if change is None else messages.done}")
    return 0
