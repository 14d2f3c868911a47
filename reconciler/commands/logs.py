"""``argosy logs``: the logs of containers in all members, each line with its cluster."""

from reconciler.commands.kubectl_outcomes import stream_lines
from reconciler.commands.options.kubectl_commands import command_of_kubectl
from reconciler.console.log import Log
from reconciler.members.options import AccessOptions


@command_of_kubectl(
    "POD | KIND/NAME [KUBECTL OPTIONS]",
    epilog="Exit codes: 0 every cluster answered; 1 no cluster has it, or kubectl failed in one; 3 there is "
    "no kubectl; 5 no cluster could be used; 7 some could not be reached.",
)
def command(log: Log, /, *, words: tuple[str, ...], access: AccessOptions) -> int:
    """Print the logs of containers in all members, the cluster before each line.

    kubectl runs once for each member, all at once; with -f lines are printed as they come, until you stop it. A
    member that has no such object is passed over. All other words are kubectl's own options.
    """
    return stream_lines(log, ("logs", *words), access)
