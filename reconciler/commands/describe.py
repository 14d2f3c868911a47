"""``argosy describe``: objects of members with their events, as kubectl describes them."""

from reconciler.commands.kubectl_outcomes import describe_for_each
from reconciler.commands.options.kubectl_commands import command_of_kubectl
from reconciler.console.log import Log
from reconciler.members.options import AccessOptions


@command_of_kubectl(
    "KIND[/NAME] [NAME...] [KUBECTL OPTIONS]",
    epilog="Exit codes: 0 every cluster answered; 1 no cluster has it, or kubectl failed in one; 3 there is "
    "no kubectl; 5 no cluster could be used; 7 some could not be reached.",
)
def command(log: Log, /, *, words: tuple[str, ...], access: AccessOptions) -> int:
    """Describe objects of all members, each member's below a line with its name.

    kubectl runs once for each member, all at once. One that has no such object is passed over. Of a member that
    pulls, which is not asked, the object is described as its agent reported it last: its state, the reason and since
    when, and what it was told, with the date of the report. All other words are kubectl's own options.
    """
    return describe_for_each(log, words, access)
