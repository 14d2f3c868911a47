"""``argosy explain``: why an object is where it is, what a cluster holds and why, what a policy selects."""

from typing import cast

import click

from reconciler.command_options import with_namespace_options
from reconciler.report import Log


@click.command(
    epilog="Such as: argosy explain deploy/web -n shop; argosy explain cluster/paris; argosy explain policy/web;"
    " argosy explain cop/registry."
)
@click.argument("subject", nargs=-1, required=True, metavar="KIND/NAME | cluster/NAME | policy/NAME")
@with_namespace_options("The namespace the object or policy is in.")
@click.option("--rev", default="", metavar="REV", help="A source commit, or a rendered one  [default: HEAD]")
@click.option("--worktree", is_flag=True, help="Explain the files as they stand, committed or not.")
@click.option("--cluster", default="", metavar="NAME", help="Only what concerns this cluster.")
@click.option("-o", "--output", type=click.Choice(["text", "json", "markdown"]), default="text", help="Output format.")
@click.pass_obj
def command(log: Log, /, **options: object) -> int:
    """Say why an object is where it is.

    Which policies select it and why one of them won; which clusters were chosen, and every filter that refused the
    others; how replicas were divided, by which capacity; which overrides changed which fields; what keeps older bytes.
    KIND is what kubectl accepts: deploy, deployments, deployment.apps. A cluster tells what it holds and what refuses
    it the rest; a policy (pp, cpp, op, cop, or policy for any of them) what it selects, holds, loses and changes. With
    -v divisions are told seat by seat. No cluster is asked.
    """
    from reconciler.explanation.inquiry import ExplainOptions, explain_and_show

    words = cast("tuple[str, ...]", options.pop("subject"))
    return explain_and_show(log, ExplainOptions(words=words, **options))  # type: ignore[arg-type]  # click checked them
