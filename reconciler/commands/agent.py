"""``argosy agent``: one cluster kept as its mirror says, by a process in it that reaches nothing but Git."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from reconciler.commands.options.checked_words import checked_file, checked_object_name
from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.commands.options.member_options import parse_seconds, with_agent_options
from reconciler.console.idle_options import refuse_given_options
from reconciler.console.log import Log
from reconciler.members.options import DeliveryOptions

if TYPE_CHECKING:
    from reconciler.passes.agent_pass import Agent, AgentOptions

_GRANTING = "in a clone of the fleet, argosy cluster agent {cluster} | kubectl --context {cluster} apply -f -"
_ENDLESS = ("interval", "drift", "grace")


@click.command(
    cls=DocumentedCommand,
    epilog="Exit codes: 0 converged, or ended by SIGTERM; 1 an object failed; 4 Git is away, and the last good commit"
    " was applied again; 5 the cluster could not be used; 6 a commit of the mirror is refused; 130 interrupted.",
)
@click.argument("location", default="", metavar="[REPO]")
@click.option(
    "--cluster",
    required=True,
    metavar="NAME",
    callback=checked_object_name,
    help="The cluster that this process runs in.",
)
@click.option(
    "--fleet",
    default="default",
    show_default=True,
    metavar="NAME",
    callback=checked_object_name,
    help="The fleet it is a member of.",
)
@click.option("--once", is_flag=True, help="Run one pass and end, as for a CronJob.")
@click.option(
    "--interval", default="30s", show_default=True, callback=parse_seconds, metavar="TIME", help="Ask Git so often."
)
@click.option(
    "--drift", default="5m", show_default=True, callback=parse_seconds, metavar="TIME", help="Look for drift so often."
)
@click.option(
    "--grace",
    default="25s",
    show_default=True,
    callback=parse_seconds,
    metavar="TIME",
    help="Go on so long after SIGTERM.",
)
@click.option(
    "--heartbeat",
    default="0",
    callback=parse_seconds,
    metavar="TIME",
    help="Record so often that it lives, in a commit each  [default: never]",
)
@click.option(
    "--only-heartbeat", is_flag=True, help="Only record that it lives; apply nothing: for a cluster that does not pull."
)
@click.option(
    "--allowed-signers",
    default="",
    metavar="FILE",
    callback=checked_file,
    help="Take only commits that one of these keys signed.",
)
@click.option("--sign-key", default="", metavar="FILE", help="Sign what it commits with this SSH key.")
@click.option("--accept-rewind", is_flag=True, help="Take a mirror that was rewound or written anew.")
@with_agent_options
@click.pass_obj
def command(log: Log, /, location: str, cluster: str, *, once: bool, delivery: DeliveryOptions, **options: Any) -> int:
    """Apply what is rendered for the cluster that this process runs in  [default: from the repository of -C].

    Passes publish the folder of a cluster with syncMode: Pull as the branch argosy/cluster/NAME, its mirror. The agent
    fetches that and nothing else, applies it as 'argosy apply' does, and pushes what it saw and did to
    argosy/agent/NAME, where the next pass takes it in: a commit only where something is new. It needs no way in, and no
    way out but to Git.

    With --only-heartbeat it runs in a cluster that passes apply to: should they not reach it any more while its agent
    still reports, failover does not take the cluster for one that is down.

    While Git is away the last good commit stays applied. A mirror that was rewound or written anew is refused, and so
    is a commit that none of the allowed signers signed.
    """
    from reconciler.passes.agent_pass import AgentOptions

    rhythm = {name: options.pop(name) for name in _ENDLESS}
    options["accepts_rewind"], sign_key = options.pop("accept_rewind"), options.pop("sign_key")
    if options["only_heartbeat"] and not options["heartbeat"]:
        raise click.UsageError("--only-heartbeat needs --heartbeat TIME")
    if once:
        refuse_given_options(_ENDLESS, "goes without --once, which runs one pass")
    chosen = AgentOptions(cluster=cluster, delivery=delivery, **options)
    opened = partial(_opened_agent, location or log.repository, chosen, sign_key)
    if not once:
        return _run_agent_until_stopped(opened, rhythm, log)
    with opened() as agent:
        return _run_one_agent_pass(agent, log)


@contextmanager
def _opened_agent(location: str, options: "AgentOptions", sign_key: str) -> "Iterator[Agent]":
    """Open the store of an agent, and give it the way to its cluster as that is now."""
    from msgspec.structs import replace

    from reconciler.members.opening import Members
    from reconciler.members.ways import member_access
    from reconciler.passes.agent_pass import Agent
    from reconciler.repository import open_repository_for_branches
    from render.settings.fleet import Fleet

    environment = {**os.environ, **({"ARGOSY_SIGN_KEY": sign_key} if sign_key else {})}
    with open_repository_for_branches(location, f"agent {options.cluster}", environment=environment) as repository:
        access = replace(member_access(Fleet(), options.delivery, repository.folder), granting=_GRANTING)
        yield Agent(repository=repository, options=options, open_client=Members(access).open)


def _run_agent_until_stopped(
    opened: "Callable[[], AbstractContextManager[Agent]]", rhythm: Mapping[str, float], log: Log
) -> int:
    import gc

    from reconciler.run.agent_run import AgentRun, Rhythm

    # Unlike one pass this lives on, so cycles among its values have to be found.
    gc.enable()
    return AgentRun(opened, Rhythm(**rhythm), log).run()


def _run_one_agent_pass(agent: "Agent", log: Log) -> int:
    from reconciler.console.printing import print_output
    from reconciler.deliver.reports import report_text
    from reconciler.passes.agent_pass import run_agent_pass

    ended = run_agent_pass(agent, log)
    if ended.report is not None:
        print_output(report_text((ended.report,)), "table")
    for line in ended.lines:
        log.error(line)
    return ended.exit_code
