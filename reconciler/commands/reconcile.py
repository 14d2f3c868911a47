"""``argosy reconcile``: one pass - fetch, render, guard, commit, push, and apply where members are reached."""

from typing import TYPE_CHECKING, Any

import click

from reconciler.commands.options.allowances import with_allowance_options
from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.commands.options.jobs_option import with_jobs_option
from reconciler.commands.options.member_options import with_delivery_options
from reconciler.commands.options.now_option import with_now_option
from reconciler.commands.options.settings_options import with_settings_options
from reconciler.console.log import Log
from reconciler.console.printing import print_data, print_text
from reconciler.passes.options import ReconcileOptions

if TYPE_CHECKING:
    from reconciler.passes.refused_pass import RefusedPass
    from reconciler.passes.result import PassResult
    from reconciler.repository import Repository


@click.command(
    cls=DocumentedCommand, epilog="Safe to run twice, at once, and from cron: the branch moves by compare-and-swap."
)
@click.option("--rev", default="", metavar="REV", help="Source to render  [default: the remote's branch, else HEAD]")
@click.option("--bootstrap", is_flag=True, help="Allow the first run: there is no rendered branch yet.")
@click.option(
    "--accept-rewind",
    is_flag=True,
    help="Accept a source that does not follow the one rendered before, or that what was rendered is lost.",
)
@with_settings_options
@with_allowance_options
@click.option("--dry-run", is_flag=True, help="Do everything but commit and apply.")
@with_jobs_option
@with_now_option
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@with_delivery_options
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Run one reconcile pass: fetch, render, guard, commit, push, and apply where the fleet says how to reach clusters.

    Those are the ones that clusters in argosy.yaml lists ('*': all others), the one of --in-cluster, or all with
    kubeconfigs in argosy.yaml, --kubeconfig or --kubeconfigs. Where nothing is said, no cluster is asked.

    A pass that changes nothing writes nothing. A pass that would remove too much at once, or move more replicas or cost
    more than argosy.yaml allows, commits nothing and exits with 6; a source trailer
    'Argosy-Allow-Removal: <cluster|*> <count>', 'Argosy-Allow-Movement: <object|*> <count>' or
    'Argosy-Allow-Cost: <amount>', or the option of that name, lets it go on.
    With removalGuard.scope: Cluster in argosy.yaml, only the clusters that would lose too much keep what they have.

    Settings of argosy.yaml that reach outside of the repository, or weaken a guard, count as the last rendered source
    says, and so do the addresses of webhooks and those in argosy.lock. A change of them waits, with 6, until
    --accept-settings or the file of --accepted-settings has it; nobody is asked there before.

    A source commit has to be, at the remote, in the history of the branch that the fleet is rendered from:
    spec.source.branch in argosy.yaml, or else the branch of the first pass. Any other is refused with 6.

    A source with problems is refused with 3. While one is refused, by a guard or for its problems, the clusters that
    are reached get the last good commit again, and the status branch records the refusal.
    """
    from reconciler.repository import open_repository

    chosen = ReconcileOptions(**options)
    with open_repository(log.repository, progress=log.transfer) as repository:
        code = print_last_report_again(log, repository, chosen)
        return run_reconcile_pass_and_print(log, repository, chosen) if code is None else code


def print_last_report_again(log: Log, repository: "Repository", options: ReconcileOptions) -> int | None:
    """Report again what the last pass reported, where nothing is new; None when there is a pass to do."""
    from reconciler.passes.repeated_report import read_repeated_report

    report = None if options.output == "json" else read_repeated_report(repository, options, log)
    if report is None:
        return None
    print_text((f"{report.line}\n", *(report.rows.text() if report.rows is not None else ())), end="")
    return report.code


def run_reconcile_pass_and_print(log: Log, repository: "Repository", options: ReconcileOptions) -> int:
    """Run one pass and print it; return 1 when an object could not be placed, built or applied."""
    from reconciler.passes.ending import end_of_pass
    from reconciler.passes.pass_lines import commit_line, warning_lines
    from reconciler.passes.reconcile_pass import reconcile_fleet
    from reconciler.passes.result import PassResult

    def print_commit(result: "PassResult") -> None:
        if options.output != "json":
            print_text(commit_line(result, dry_run=options.dry_run))
        log.warn_of(warning_lines(result))

    result = reconcile_fleet(repository, options, log, print_commit)
    if options.output == "json" and result.reports:
        from reconciler.passes.logged_apply import log_problems

        log_problems(result.reports, log)
    if isinstance(result, PassResult):
        _print_pass_result(result, options)
    else:
        _print_refused_pass(result, options)
    end = end_of_pass(result)
    if end.error is not None:
        raise end.error
    return end.code


def _print_pass_result(result: "PassResult", options: ReconcileOptions) -> None:
    """Print a pass that went to its end."""
    if options.output == "json":
        from reconciler.outputs.document import document_text
        from reconciler.outputs.reconciliation import pass_document

        print_data(document_text(pass_document(result)))
    elif result.reports:
        from reconciler.deliver.reports import report_text

        print_text(report_text(result.reports), end="")


def _print_refused_pass(result: "RefusedPass", options: ReconcileOptions) -> None:
    """Print what the members hold while a source is refused; the error that refuses it is printed last."""
    from reconciler.deliver.reports import report_text

    if options.output == "json":
        from reconciler.outputs.document import document_text
        from reconciler.outputs.reconciliation import refused_pass_document

        print_data(document_text(refused_pass_document(result)))
        return
    branch, previous = result.good.fleet.rendered_branch, result.good.previous
    if result.rendered == previous.commit:
        print_text(f"unchanged: {branch} {previous.commit[:12]} holds source {previous.source[:12]}")
    print_text(report_text(result.reports), end="")
