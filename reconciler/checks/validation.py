"""What ``argosy validate`` does: load the source and say everything that is wrong with it, or looks as if it were."""

from dataclasses import dataclass

import click

from reconciler.passes.memory import Memory
from reconciler.plans.annotations import as_annotations
from reconciler.report import Log
from reconciler.repository import open_repository
from render.errors import InputError

from .linting import validation_of
from .sarif import as_sarif
from .validation_reports import as_json_report, as_junit, as_text

_WRITERS = {
    "text": as_text,
    "json": as_json_report,
    "sarif": as_sarif,
    "junit": as_junit,
    "github": as_annotations,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidateOptions:
    """The options of ``argosy validate``."""

    rev: str = ""
    output: str = "text"
    strict: bool = False


def validate_and_show(log: Log, options: ValidateOptions, memory: Memory | None = None) -> int:
    """Check the work tree, or a revision, and print problems and warnings; return the exit code."""
    with open_repository(log.repository, progress=log.transfer) as repository:
        is_worktree = not options.rev and repository.folder.work_tree is not None
        commit = "" if is_worktree else repository.resolve(options.rev or "HEAD")
        found = validation_of(repository, commit, memory)
    click.echo(_WRITERS[options.output](found, is_strict=options.strict), nl=False)
    if found.problems:
        return InputError.exit_code
    return 1 if options.strict and found.warnings else 0
