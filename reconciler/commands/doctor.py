"""``argosy doctor``: what stands in the way of a reconcile pass, and the command that solves it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from reconciler.console.cleaning import masked
from reconciler.console.log import Log
from reconciler.console.printing import print_data, print_text

if TYPE_CHECKING:
    from reconciler.check.prerequisites import Check


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorOptions:
    """The options of ``argosy doctor``."""

    offline: bool = False
    output: str = "text"


@click.command(epilog="Exit codes: 0 nothing is wrong; 1 something is.")
@click.option("--offline", is_flag=True, help="Do not ask the remote.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Check the repository, the remote and its branches.

    Each line is a check that passed or failed, with what to do: git's version, clone depth, fetch refspecs, push
    rights, branch protection, the rendered branch and who wrote it.
    """
    return diagnose_and_show(log, DoctorOptions(**options))


def diagnose_and_show(log: Log, options: DoctorOptions) -> int:
    """Run every check and print the answers; return 1 when something is not well."""
    from reconciler.check.prerequisites import all_checks
    from reconciler.repository import open_repository

    with open_repository(log.repository, refresh=not options.offline) as repository:
        checks = list(all_checks(repository, offline=options.offline))
    if options.output == "json":
        _show_json(checks)
    else:
        _show_lines(checks, log)
    return 0 if all(check.is_well for check in checks) else 1


def _show_json(checks: "Sequence[Check]") -> None:
    from reconciler.console.json_values import as_json
    from render.model import ARGOSY_API_VERSION

    items = [
        {"name": each.name, "ok": each.is_well, "found": masked(each.state), "hint": masked(each.hint)}
        for each in checks
    ]
    print_data(as_json({"apiVersion": ARGOSY_API_VERSION, "kind": "Diagnosis", "checks": items}))


def _show_lines(checks: "Sequence[Check]", log: Log) -> None:
    for check in checks:
        mark = click.style("ok  ", fg="green") if check.is_well else click.style("FAIL", fg="red")
        print_text(f" {check.name}: {check.state}", mark=mark, color=log.color)
        if not check.is_well and check.hint:
            print_text(f"       hint: {check.hint}")
