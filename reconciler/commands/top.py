"""``argosy top``: what nodes or pods of all members use."""

from reconciler.commands.kubectl_outcomes import run_for_each, table_shown_for_words
from reconciler.commands.options.kubectl_commands import command_of_kubectl
from reconciler.console.log import Log
from reconciler.members.options import AccessOptions


@command_of_kubectl(
    "nodes | pods [KUBECTL OPTIONS]",
    epilog="Exit codes: 0 every cluster answered; 1 no cluster has it, or kubectl failed in one; 3 there is "
    "no kubectl; 5 no cluster could be used; 7 some could not be reached.",
)
def command(log: Log, /, *, words: tuple[str, ...], access: AccessOptions) -> int:
    """Show what nodes or pods of all members use, with the cluster of each.

    kubectl runs once for each member, all at once; members need metrics-server. All other words are kubectl's
    own options.
    """
    return run_for_each(log, ("top", *words), access, table_shown_for_words(words))
