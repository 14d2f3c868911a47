"""``argosy mcp``: a server of the Model Context Protocol for programs that help people."""

import os
import signal
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.commands.options.member_options import parse_seconds
from reconciler.console.log import Log


@click.command(cls=DocumentedCommand, epilog="Exit codes: 0 the client closed the pipe; 3 no fleet; 4 no repository.")
@click.option("--read-only", is_flag=True, help="Offer no tool that proposes a change.")
@click.option(
    "--timeout",
    "seconds",
    default="2m",
    show_default=True,
    callback=parse_seconds,
    metavar="DURATION",
    help="The time that one call may take.",
)
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Serve tools about the fleet to an assistant, by the Model Context Protocol (stdio).

    A client starts it and talks to it through its standard input and output. The tools are overview, status, search,
    explain, history, blame, problems (validate), diff, simulate and reference (help), each with the options of its
    command, and propose.
    Every answer is bounded, says where it was cut, and names the command that prints the same. Values of Secrets are
    in none.

    No cluster is asked, nothing is fetched or pushed, and no tool can write: each call is a process that only reads,
    with no network and no credentials, where the system can bound one. Only propose writes: one commit, and one new
    branch for it, for a person to look at and to push. No branch that is there is moved, and the work tree stays as it
    is.
    """
    return serve_standard_streams(log, **options)


def serve_standard_streams(log: Log, *, read_only: bool, seconds: float) -> int:
    """Answer what comes through standard input until it ends; whatever else is printed goes to stderr."""
    from reconciler.assistants.messages import MessageWriter
    from reconciler.assistants.proposals import ProposingTool, folders_of_branches
    from reconciler.assistants.server import Server, ServerTerms
    from reconciler.assistants.tools import tools_of_commands

    place = _place_of_repository(log)
    tools = tools_of_commands(_commands_by_name(), place=place, shown_place=log.repository.removeprefix("."))
    writing = () if read_only else (ProposingTool(place=place, writes=folders_of_branches(place)),)
    answers, sys.stdout = sys.stdout.buffer, sys.stderr
    log.info("serving", tools=len(tools) + len(writing), repository=place)
    server = Server(ServerTerms(tools=(*tools, *writing), seconds=seconds), MessageWriter(answers))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    server.serve(sys.stdin.buffer)
    return 0


def _place_of_repository(log: Log) -> str:
    """Return the folder of the repository; an address has no branches of this machine's that people would look at."""
    from reconciler.repository import is_address, open_repository
    from render.errors import ConfigError

    if is_address(log.repository):
        raise ConfigError("an address is no clone that tools could read", hint="git clone it, and name its folder")
    with open_repository(log.repository):
        return os.path.realpath(log.repository)


def _commands_by_name() -> Mapping[str, click.Command]:
    """Return the commands that tools are made of."""
    from reconciler.assistants.tools import READING_TOOLS

    names = (terms.command for terms in READING_TOOLS)
    return {name: import_module(f"reconciler.commands.{name}").command for name in names}
