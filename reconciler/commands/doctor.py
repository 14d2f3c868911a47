"""``argosy doctor``: what stands in the way of a reconcile pass, and the command that solves it."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.commands.options.member_options import with_access_options
from reconciler.console.idle_options import is_option_given, refuse_given_options
from reconciler.console.log import Log
from reconciler.console.printing import print_data, print_text
from reconciler.members.options import AccessOptions

if TYPE_CHECKING:
    from reconciler.check.prerequisites import Check
    from reconciler.source.desired import Desired


@click.command(cls=DocumentedCommand, epilog="Exit codes: 0 nothing is wrong; 1 something is.")
@click.option("--offline", is_flag=True, help="Ask neither the remote nor members.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@with_access_options
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Check the repository, the remote and its branches, and the members.

    Each line is a check that passed or failed, with what to do: git's version, clone depth, whether this system keeps
    the programs that build from other files and the network, fetch refspecs, push rights, the rendered branch and who
    wrote it. Nothing is pushed and nothing is written.

    The members that passes apply to are asked, all at once and each for half a minute at most: do the credentials do,
    is it the cluster that is recorded, which version it has, does its clock go like the one here, does it serve the
    kinds of its tree, may the user read, apply and delete them, and can they be read and, by a dry run, written. One
    that is well has one line; what is only worth knowing, such as a Kubernetes that is older than what an apply
    builds upon, is a warning. Members of a fleet that is only rendered are not asked, unless an option says which or
    how.
    """
    if options["offline"]:
        refuse_given_options(AccessOptions.names(), "goes without --offline, which asks no member")
    return diagnose_and_show(log, **options, is_asked=any(map(is_option_given, AccessOptions.names())))


def diagnose_and_show(log: Log, *, access: AccessOptions, offline: bool, output: str, is_asked: bool) -> int:
    """Run every check and print the answers; return 1 when something is not well.

    ``is_asked``: members are to be asked, whatever argosy.yaml says.
    """
    from reconciler.check.prerequisites import all_checks
    from reconciler.repository import open_repository

    with open_repository(log.repository, refresh=not offline) as repository:

        def checks_of_members(desired: "Desired") -> "Iterable[Check]":
            from reconciler.check.fleet_members import checks_of_members

            return checks_of_members(repository, desired, access, log, is_asked=is_asked)

        checks = list(all_checks(repository, checks_of_members, offline=offline))
    if output == "json":
        from reconciler.outputs.diagnosis import diagnosis_document
        from reconciler.outputs.document import document_text

        print_data(document_text(diagnosis_document(checks)))
    else:
        _print_checks(checks)
    return 0 if all(check.is_well for check in checks) else 1


def _print_checks(checks: "Sequence[Check]") -> None:
    from reconciler.check.prerequisites import printed_checks
    from reconciler.console.marks import answer_in_style

    for check in printed_checks(checks):
        word = "warn" if check.is_warning else "ok" if check.is_well else "FAIL"
        print_text(f" {check.name}: {check.state}", mark=answer_in_style(word, width=4))
        if check.hint and (check.is_warning or not check.is_well):
            print_text(f"       hint: {check.hint}")
