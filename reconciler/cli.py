"""The ``argosy`` command: global options, commands loaded when used, and how a run ends.

A command returns its exit code, an error of ours names one, and every other end gets one here: see ``EXIT_CODES``.
"""

import atexit
import errno
import gc
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from io import StringIO
from typing import cast

import click

from reconciler import VERSION
from reconciler.commands.options.completion import param_with_completion, with_completion
from reconciler.commands.options.global_options import global_option_params, with_global_options
from reconciler.commands.options.help_pages import HelpContext
from reconciler.commands.options.place_check import with_place_check
from reconciler.console.meant_commands import question_for_similar_command
from reconciler.console.printing import print_error
from reconciler.reference.exit_codes import EXIT_CODES
from render.errors import GitError, InputError, ReconcileError

_REFUSED = frozenset(
    {errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO, errno.ELOOP, errno.EMFILE, errno.ENFILE, errno.ENOMEM}
    | {errno.ENAMETOOLONG}
)
"""Errors of this machine, which nothing but somebody's help removes."""

_COMPLETION_OF_PLUGIN = "kubectl_complete-argosy"
"""The program that kubectl runs to complete ``kubectl argosy``."""

_VERBOSE = frozenset({"-v", "-vv", "--verbose"})

COMMAND_GROUPS: Mapping[str, Mapping[str, str]] = {
    "Begin": {
        "init": "Write the first files of a fleet.",
        "doctor": "Check the repository, its branches, and the members.",
        "completion": "Print the completion script of a shell.",
        "help": "Show the help of a command, or a topic of reference.",
    },
    "See what is there": {
        "overview": "Show what is unwell, what moves, and what waits for a person.",
        "status": "Show what runs where, and what is not well.",
        "ui": "Look at the fleet in a browser.",
        "report": "Write the pages of the fleet as files.",
        "list": "List objects, clusters, policies or namespaces.",
        "matrix": "Show how many objects are where, and in which state.",
        "search": "Search objects, clusters, policies, commits and problems.",
        "explain": "Say why an object is where it is.",
        "history": "Show what changed, when, by whom and why.",
        "blame": "Show which commit each replica count and field comes from.",
        "bisect": "Find the commit since which something is so.",
        "simulate": "Show what would happen if, for example, a cluster was lost.",
        "backtest": "Show what policies would have done in the past.",
        "mcp": "Serve tools about the fleet to an assistant (MCP).",
        "verify": "Replay rendered commits and compare them byte for byte.",
    },
    "Look into members": {
        "get": "Show objects of members as they are now, cluster by cluster.",
        "describe": "Describe objects of members, with their events.",
        "pods": "Show the pods of an object in members, with events and a log.",
        "events": "List the events of members.",
        "logs": "Print the logs of containers in all members.",
        "top": "Show what nodes or pods of members use.",
        "exec": "Run a command in a container of one member.",
        "attach": "Attach to a container that runs in one member.",
        "port-forward": "Forward ports to a pod of one member.",
        "api-resources": "List the kinds that members serve.",
        "kubeconfig": "Print one kubeconfig with a context for each member.",
    },
    "Change the source": {
        "validate": "Check every file, policy and override of the source.",
        "test": "Run the tests of policies in the source.",
        "diff": "Show what a change does to every cluster.",
        "render": "Show or commit what every cluster must hold.",
        "lock": "Pin other repositories and charts in argosy.lock.",
        "vendor": "Keep the content of other repositories in this one.",
        "interpret": "Check and try resource interpreter customizations.",
        "schema": "Print the JSON Schema of a document.",
    },
    "Deliver": {
        "reconcile": "Fetch, render, guard, commit and push - one pass.",
        "run": "Run passes for ever: on each push, and to undo drift.",
        "apply": "Make clusters hold what a rendered commit says.",
        "agent": "Apply what is rendered for one cluster, from inside it.",
        "wait": "Wait until the newest commit is applied, healthy or rolled out.",
        "rollout": "See, pause and approve changes that go out in waves.",
    },
    "The fleet": {
        "cluster": "Join, label, taint, cordon and drain member clusters.",
        "rebalance": "Have workloads scheduled afresh once.",
        "rollback": "Put the source and the split of replicas back as they were.",
        "rbac": "Print the rights that passes need in a member.",
    },
    "Other tools": {
        "import": "Turn the fleet of another federation into policies.",
        "export": "Print the fleet as objects of Karmada or Argo CD.",
        "emit": "Print the objects by which Argo CD or Flux deliver.",
    },
}
"""Every command with its one line, by what people want to do and in the order they come to it.

The module of a command's name in ``reconciler.commands`` holds it as ``command``.
"""

COMMANDS = {name: about for group in COMMAND_GROUPS.values() for name, about in group.items()}
"""The commands of all groups."""

_EPILOG = "Exit codes: " + "; ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items()) + "."


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is used, not to list it."""

    context_class = HelpContext

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the command names in the order they are taught."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Import and return one command."""
        if cmd_name not in COMMANDS:
            return None
        name = "import_fleet" if cmd_name == "import" else cmd_name.replace("-", "_")  # a module cannot be named import
        module = import_module(f"reconciler.commands.{name}")
        command = with_place_check(cast("click.Command", module.command), cmd_name)
        return with_completion(with_global_options(command))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, naming the nearest one for a typo."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from reconciler.reference.other_words import ELSEWHERE, OTHERWISE

            advice = OTHERWISE.get(args[0]) or question_for_similar_command("argosy", args[0], COMMANDS, ELSEWHERE)
            advice = advice or "'argosy --help' lists the commands."
            raise click.UsageError(f"{error.message} {advice}", ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        """List the commands in their groups, without importing them."""
        width = max(map(len, COMMANDS))
        for title, commands in COMMAND_GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), about) for name, about in commands.items()])


@click.group(
    cls=LazyGroup,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
    params=[*map(param_with_completion, global_option_params())],
)
@click.version_option(VERSION, prog_name="argosy", message="%(prog)s %(version)s")
def argosy() -> None:
    """Karmada without a control plane.

    A fleet's Kubernetes templates, propagation policies and override policies live in Git: they are its source. A pass
    ('argosy reconcile') computes which object goes to which member cluster with how many replicas and which
    differences, and commits the result to the rendered branch. Where it can reach members, it makes them hold that,
    and commits what it saw there to the status branch.

    'argosy help words' explains these words. Global options stand before the command or behind it.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with the code that says how it ended."""
    _open_standard_streams()
    # One command makes many values and drops few; looking for cycles among them would cost a tenth of its time.
    gc.disable()
    is_completing = arguments is None and sys.argv[0].endswith(_COMPLETION_OF_PLUGIN)
    code = _code_after_flush(_complete_for_kubectl(sys.argv[1:]) if is_completing else run(arguments))
    # Files that held credentials go now. Nothing else is left to do but to take all these values apart again, which of
    # a large fleet takes a while.
    atexit._run_exitfuncs()  # noqa: SLF001 - what an ordinary exit calls
    os._exit(code)


def _complete_for_kubectl(words: Sequence[str]) -> int:
    """Print what may come next in ``kubectl argosy WORDS``, as kubectl asks a plug-in for it."""
    from reconciler.commands.completion import completions_for_kubectl

    sys.stdout.write(completions_for_kubectl(argosy, words))
    return 0


def _open_standard_streams() -> None:
    """Open those standard streams that the process was started without (``>&-``).

    Otherwise the next file that is opened, such as a pack or a pipe to git, would be what is printed to.
    """
    for handle, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(handle)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(handle, "w" if handle else "r", encoding="utf-8", closefd=False))


def _code_after_flush(code: int) -> int:
    """Hand over what is still to be written and return the exit code, another one where that is not possible."""
    try:
        sys.stdout.flush()
    except OSError as error:
        return _exit_code_of_unwritten_output((), error) or code
    return code


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        result = argosy.main(args=arguments, prog_name="argosy", standalone_mode=False)
    except ReconcileError as error:
        print_error(f"argosy: {error}" if "\n" not in error.message else _error_lines_to_print(error, words))
        return _code_after_report(words, str(error), error.exit_code)
    except click.ClickException as error:
        shown = StringIO()
        error.show(shown)
        print_error(shown.getvalue().removesuffix("\n"))
        return _code_after_report(words, error.format_message(), 2)
    except (KeyboardInterrupt, click.Abort):
        print_error("argosy: interrupted")
        return _code_after_report(words, "interrupted", 130)
    except OSError as error:
        return _exit_code_of_unwritten_output(words, error)
    except Exception as error:  # noqa: BLE001 - the one place where a bug is caught and named
        return _code_after_report(words, "a bug in Argosy", _exit_code_of_bug(error))
    return result if isinstance(result, int) else 0


def _error_lines_to_print(error: ReconcileError, words: Sequence[str]) -> str:
    """Return an error of many lines; problems that are alike are one line, unless ``-v`` asks for each."""
    if not isinstance(error, InputError) or _VERBOSE.intersection(words):
        return str(error)
    from reconciler.console.grouping import lines_grouped_by_wording

    return "\n".join([*lines_grouped_by_wording(map(str, error.problems)), error.summary])


def _code_after_report(words: Sequence[str], message: str, code: int) -> int:
    """Return an exit code, after a report of the error for whoever asked for a file that CI reads."""
    from reconciler.console.error_reports import print_error_report

    with suppress(OSError):
        print_error_report(words, message, code)
    return code


def _exit_code_of_unwritten_output(words: Sequence[str], error: OSError) -> int:
    """End quietly when the reader went away, as ``| head`` does; say what this machine has no room or no right for."""
    from reconciler.console.disk_errors import NO_ROOM, hint_for_disk_error

    if error.errno in _REFUSED:
        of = f"{error.filename}: " if isinstance(error.filename, str) else ""
        message = f"{of}{os.strerror(error.errno or 0).lower()}"
        print_error(f"argosy: {message}\n  hint: {hint_for_disk_error(error)}")
        return _code_after_report(words, message, GitError.exit_code)
    if error.errno not in {errno.EPIPE, *NO_ROOM}:
        return _code_after_report(words, "a bug in Argosy", _exit_code_of_bug(error))
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return 0
    print_error(f"argosy: there is no room to write: {os.strerror(error.errno or 0).lower()}")
    print_error("  hint: make room where this was to be written, and run again")
    return GitError.exit_code


def _exit_code_of_bug(error: Exception) -> int:
    """Say that this is our fault; frames name code only, never values, which may be secrets."""
    from reconciler.console.bugs import lines_naming_bug

    first, *frames = lines_naming_bug(error)
    print_error(f"argosy: {first}")
    for line in frames:
        print_error(line)
    return 70
