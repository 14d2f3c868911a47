"""``argosy describe``: objects of members with their events, as kubectl describes them."""

from reconciler.commands.kubectl_outcomes import blocks_of_outcomes, run_for_each
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

    kubectl runs once for each member, all at once. One that has no such object is passed over. All other words
    are kubectl's own options.
    """
    return run_for_each(log, ("describe", *words), access, blocks_of_outcomes)
