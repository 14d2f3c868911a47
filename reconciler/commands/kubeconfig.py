"""``argosy kubeconfig``: one kubeconfig with a context for each member."""

from typing import Any

import click

from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.commands.options.member_options import with_asking_options
from reconciler.console.log import Log
from reconciler.console.printing import print_data
from reconciler.members.options import AccessOptions


@click.command(cls=DocumentedCommand, epilog="Exit codes: 0 every member has a context; 5 none has; 7 some have none.")
@click.option("-o", "--output", type=click.Choice(["yaml", "json"]), default="yaml", help="Output format.")
@with_asking_options
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Print one kubeconfig with a context for each member, named like it.

    The contexts lead to the members as passes reach them from this machine, with the same credentials: keep the output
    where you keep those. No member is asked. Other tools take it as it is: kubectl --kubeconfig FILE --context NAME.
    """
    return print_kubeconfig(log, **options)


def print_kubeconfig(log: Log, *, access: AccessOptions, output: str) -> int:
    """Print the kubeconfig of the members that are chosen, and say which have no context."""
    from reconciler.console.json_values import as_json
    from reconciler.inspection.choosing import chosen_members
    from reconciler.members.merged_kubeconfig import kubeconfig_of_contexts
    from render.documents import emit
    from render.errors import ClusterError

    with chosen_members(log, access) as chosen:
        contexts, failures = chosen.contexts()
    for name, failure in failures.items():
        log.warning(f"{name}: {failure}")
    if failures and not contexts:
        raise ClusterError("no cluster could be used", hint="the lines above say what each answered")
    document = kubeconfig_of_contexts(contexts)
    print_data(as_json(document) if output == "json" else emit(document).decode())
    return 7 if failures else 0
