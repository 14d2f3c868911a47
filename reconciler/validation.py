"""What ``argosy validate`` does: load the source and say everything that is wrong with it."""

import json
from collections.abc import Iterable

import click

from render.errors import InputError, Problem

from .reading import Source, read_source
from .report import Log
from .repository import open_repository


def validate_and_show(log: Log, *, revision: str, output: str, strict: bool) -> int:
    """Check the work tree, or a revision, and print problems and warnings; return the exit code."""
    with open_repository(log.repository, progress=log.transfer) as repository:
        is_worktree = not revision and repository.folder.work_tree is not None
        commit = "" if is_worktree else repository.resolve(revision or "HEAD")
        source: Source | None = None
        problems: tuple[Problem, ...] = ()
        try:
            source = read_source(repository, commit)
            warnings = source.desired.warnings
        except InputError as error:
            problems, warnings = error.problems, error.warnings
    if output == "json":
        click.echo(_as_json(commit, problems, warnings))
    else:
        _print_text(source, problems, warnings)
    if problems:
        return InputError.exit_code
    return 1 if strict and warnings else 0


def _print_text(source: Source | None, problems: Iterable[Problem], warnings: Iterable[Problem]) -> None:
    for problem in problems:
        click.echo(str(problem))
    for warning in warnings:
        click.echo(f"warning: {warning}")
    counted = [(len(tuple(problems)), "problem"), (len(tuple(warnings)), "warning")]
    summary = ", ".join(f"{number} {word}{'' if number == 1 else 's'}" for number, word in counted)
    if source:
        desired = source.desired
        summary += (
            f": {len(desired.templates)} templates, {len(desired.policies)} propagation policies,"
            f" {len(desired.override_policies)} override policies, {len(desired.clusters)} clusters"
            f" in {desired.files} files"
        )
    click.echo(summary)


def _as_json(commit: str, problems: Iterable[Problem], warnings: Iterable[Problem]) -> str:
    value = {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "Validation",
        "source": commit or None,
        "problems": [_plain(problem) for problem in problems],
        "warnings": [_plain(warning) for warning in warnings],
    }
    return json.dumps(value, indent=2, ensure_ascii=False)


def _plain(problem: Problem) -> dict[str, str | int]:
    return {
        "path": problem.path,
        "line": problem.line,
        "field": problem.field,
        "message": problem.message,
        "hint": problem.hint,
        "type": problem.kind,
    }
