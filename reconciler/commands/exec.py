"""``argosy exec``: a command in a container of one member."""

from reconciler.commands.kubectl_outcomes import run_at_terminal
from reconciler.commands.options.kubectl_commands import command_of_kubectl
from reconciler.console.log import Log
from reconciler.members.options import AccessOptions


@command_of_kubectl(
    "POD | KIND/NAME [KUBECTL OPTIONS] -- COMMAND...",
    epilog="Exit codes: that of kubectl; before it runs: 2 it is not one cluster that is chosen; 3 there is "
    "no kubectl; 5 the cluster could not be used.",
)
def command(log: Log, /, *, words: tuple[str, ...], access: AccessOptions) -> int:
    """Run a command in a container of one member.

    kubectl runs with this terminal. All other words are kubectl's own options.
    """
    return run_at_terminal(log, ("exec", *words), access)
