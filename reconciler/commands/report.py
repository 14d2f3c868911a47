"""``argosy report``: the pages of the fleet as files, and pictures of what moves."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from reconciler.commands.options.at_option import with_at_option
from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.console.idle_options import refuse_given_options
from reconciler.console.log import Log
from reconciler.console.printing import print_data, print_text

if TYPE_CHECKING:
    from reconciler.pages.reports.collecting import CollectedPages

_MARK = "argosy-report.txt"
"""The file of a folder that lists what an earlier report wrote into it."""
_LARGEST_FILE, _LARGEST_FOLDER = 24 << 20, 256 << 20


class ReportOptions(Struct, frozen=True, kw_only=True):
    """The options of ``argosy report``; ``moves`` are two revisions, such as ``main..HEAD``."""

    target: str
    at: str = ""
    is_one_file: bool = False
    moves: str = ""
    most_pages: int = 400


@click.command(
    cls=DocumentedCommand, epilog="Exit codes: 0 written; 2 no such instant or revision; 3 not written; 4 Git."
)
@click.argument("target", metavar="PATH")
@with_at_option
@click.option("--one-file", "is_one_file", is_flag=True, help="Write one HTML file instead of a folder.")
@click.option("--moves", default="", metavar="FROM..TO", help="Draw what moves between two revisions, as SVG.")
@click.option(
    "--max-pages",
    "most_pages",
    type=click.IntRange(1, 20_000),
    default=400,
    show_default=True,
    help="The most pages; those that count most come first.",
)
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Write the pages of the fleet into a folder, for CI artefacts and static sites.

    They are the pages of 'argosy ui', fixed at the newest rendered commit or at that of --at, with the JSON document of
    each beside it. Links are relative, so that the folder can lie anywhere and be opened without a server. With
    --one-file all of it is one HTML file. PATH - is the output, for one file or a picture.

    A fleet of many objects has more pages than anybody reads: the pages of the navigation come first, then lists, then
    objects. How many are left out is said, by kind. One file has up to 24 MB, a folder up to 256 MB. The search is a
    list of all that can be found, up to 1000 of a kind, and tables are sorted as they stand, both by a script of ours.
    Nothing leads nowhere: what asks for anything else, such as a difference or a loss that is supposed, is named on the
    page, with the command that answers it. --moves draws a picture of the replicas that move. Where the repository
    holds several fleets, the first page lists them; one of which nothing is rendered yet is left out, and said to be.
    """
    return report_and_show(log, ReportOptions(**options))


def report_and_show(log: Log, options: ReportOptions) -> int:
    """Write a report or a picture, and say what is in it."""
    if options.moves:
        refuse_given_options(["at", "is_one_file", "most_pages"], "goes without --moves, which draws a picture")
        _write_file(options.target, _picture(log, options.moves), log)
        return 0
    if options.target == "-" and not options.is_one_file:
        raise click.UsageError("a folder of pages cannot be printed: name a folder, or use --one-file")
    if not options.is_one_file:
        _refuse_other_folder(Path(options.target))
    report = _collected(log, options)
    if options.is_one_file:
        from reconciler.pages.reports.one_file import report_in_one_file

        _write_file(options.target, report_in_one_file(report), log)
    else:
        _write_folder(Path(options.target), report)
    for line in report.sentences():
        log.info(line) if options.target == "-" else print_text(line)
    return 0


def _collected(log: Log, options: ReportOptions) -> "CollectedPages":
    from reconciler.branches.fleet_folders import locations_of_fleets
    from reconciler.pages.reader import FleetReader
    from reconciler.pages.reports.collecting import ReportBounds, collected_pages

    readers = {
        name: FleetReader(where, name, asks_members=False)
        for name, where in locations_of_fleets(log.repository).items()
    }
    bounds = ReportBounds(pages=options.most_pages, bytes=_LARGEST_FILE if options.is_one_file else _LARGEST_FOLDER)
    try:
        return collected_pages(readers, options.at, bounds, log, has_documents=not options.is_one_file)
    finally:
        for reader in readers.values():
            reader.close()


def _picture(log: Log, moves: str) -> bytes:
    from reconciler.diff.comparison import Revisions, compare_commits, difference_of
    from reconciler.outputs.difference import difference_document
    from reconciler.outputs.document import plain_document
    from reconciler.pages.reports.moves_picture import picture_of_moves
    from reconciler.rendering.memory import SourceMemory
    from reconciler.repository import open_repository

    base, dots, head = moves.partition("..")
    if not (base and dots and head) or head.startswith("."):
        raise click.UsageError(f"--moves takes two revisions, such as main..HEAD, and not {moves!r}")
    with open_repository(log.repository, progress=log.transfer) as repository:
        revisions = Revisions(base=repository.resolve(base), head=repository.resolve(head))
        comparison = compare_commits(repository, revisions, SourceMemory(), log)
        with log.timed("compare"):
            document = difference_document(difference_of(comparison))
    return picture_of_moves(plain_document(document)).encode()


def _refuse_other_folder(folder: Path) -> None:
    """Refuse a folder that has files which no report wrote: these would be mixed with ours."""
    from render.errors import ConfigError

    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder} is no folder", hint="name a folder, or write one file with --one-file")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / _MARK).is_file():
        raise ConfigError(f"{folder} has files of something else", hint="name a folder that is empty or not there yet")


def _write_folder(folder: Path, report: "CollectedPages") -> None:
    """Write the files of a report, and take away those of an earlier one that it does not have."""
    from reconciler.pages.reports.files import files_of_report

    written = set()
    for path, content in files_of_report(report):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        written.add(path)
    mark = folder / _MARK
    for path in mark.read_text(encoding="utf-8").splitlines() if mark.is_file() else ():
        if path not in written and _is_below(path):
            (folder / path).unlink(missing_ok=True)
    mark.write_text("".join(f"{path}\n" for path in sorted(written)), encoding="utf-8")


def _is_below(path: str) -> bool:
    """Say whether a path that a file names stays in the folder."""
    return bool(path) and not Path(path).is_absolute() and ".." not in Path(path).parts


def _write_file(target: str, content: bytes, log: Log) -> None:
    if target == "-":
        print_data(content.decode())
        return
    path = Path(target)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    log.detail("wrote", file=target, bytes=len(content))
