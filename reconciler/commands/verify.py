"""``argosy verify``: replay rendered commits from what they record, and compare them byte for byte."""

from dataclasses import dataclass

import click

from reconciler.console.json_values import as_json
from reconciler.console.log import Log
from reconciler.publish.branches import publication_of
from reconciler.publish.outcome import run_pass
from reconciler.publish.reading import read_observed_inputs, read_previous, read_source
from reconciler.repository import Repository, open_repository
from reconciler.repository.trailers import PREVIOUS, SOURCE, VERSION, engine_version
from render.errors import ConfigError

EQUAL, DIFFERENT, NOT_COMPARABLE, FOREIGN = "equal", "different", "not comparable", "not written by Argosy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What replaying one rendered commit came to."""

    commit: str
    source: str
    result: str
    detail: str = ""


def verify_and_show(log: Log, *, revision: str, number: int, output: str) -> int:
    """Replay the newest ``number`` commits from ``revision`` on and print the verdicts; return the exit code."""
    with open_repository(log.repository, progress=log.transfer) as repository:
        start = repository.resolve(revision) if revision else _tip(repository)
        verdicts = [verdict(repository, info.id, log) for info in repository.history(start, number)]
    if output == "json":
        value = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Verification"}
        click.echo(as_json({**value, "commits": [_plain(each) for each in verdicts]}), nl=False)
    else:
        for each in verdicts:
            detail = f": {each.detail}" if each.detail else ""
            click.echo(f"{each.commit[:12]} source {each.source[:12] or '-'}: {each.result}{detail}")
    results = {each.result for each in verdicts}
    if results & {DIFFERENT, FOREIGN}:
        return 1
    return 3 if NOT_COMPARABLE in results else 0


def _tip(repository: Repository) -> str:
    desired = read_source(repository, repository.resolve("HEAD")).desired
    branch = desired.fleet.rendered_branch
    tip = publication_of(repository, desired.fleet).known_tip(branch)
    if tip is None:
        raise ConfigError(
            f"nothing is rendered yet: there is no branch {branch!r}", hint="argosy reconcile --bootstrap"
        )
    return tip


def verdict(repository: Repository, commit: str, log: Log) -> Verdict:
    """Make one rendered commit again from what its trailers name and its own facts."""
    info = repository.commit_info(commit)
    sources, versions, before = info.trailer(SOURCE), info.trailer(VERSION), info.trailer(PREVIOUS)
    if len(sources) != 1 or len(versions) != 1:
        return Verdict(commit=commit, source="", result=FOREIGN, detail="it has no Argosy-Source trailer")
    source = sources[0]
    if versions[0] != engine_version():
        detail = f"engine {versions[0]} wrote it, this is {engine_version()}"
        return Verdict(commit=commit, source=source, result=NOT_COMPARABLE, detail=detail)
    previous = read_previous(repository, before[0]) if before else None
    evidence = read_observed_inputs(repository, commit)
    desired = read_source(repository, source, facts=lambda _fleet: evidence.facts)
    outcome = run_pass(repository, desired, previous, evidence, log)
    made = outcome.rendered.tree.root
    if made == info.tree:
        return Verdict(commit=commit, source=source, result=EQUAL)
    return Verdict(commit=commit, source=source, result=DIFFERENT, detail=f"tree {info.tree.hex()}, made {made.hex()}")


def _plain(each: Verdict) -> dict[str, str]:
    return {"commit": each.commit, "source": each.source, "result": each.result, "detail": each.detail}


@click.command(epilog="Exit codes: 0 all equal; 1 a commit differs; 3 a commit of another engine version.")
@click.argument("revision", default="")
@click.option(
    "-n",
    "--number",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="How many commits, going back.",
)
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@click.pass_obj
def command(log: Log, revision: str, number: int, output: str) -> int:
    """Replay rendered commits and compare them byte for byte.

    REVISION is a rendered commit  [default: the tip of the rendered branch]. Each is made again from the source,
    the previous commit and the facts it names; any difference means that somebody else wrote it.
    """
    return verify_and_show(log, revision=revision, number=number, output=output)
