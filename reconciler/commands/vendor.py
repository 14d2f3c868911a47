"""``argosy vendor``: keep the content of Sources in the repository."""

from typing import Any

import click

from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.console.log import Log
from reconciler.console.printing import print_text


@click.command(
    cls=DocumentedCommand,
    epilog="Exit codes: 0 written, or nothing to do; 2 there is no such Source; 3 a Source is not locked, or its"
    " content cannot be fetched.",
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--remove", "is_removed", is_flag=True, help="Take the content out of the repository again.")
@click.option(
    "--credentials", default="", metavar="FILE", help="Names and passwords by host  [default: $ARGOSY_CREDENTIALS]"
)
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Keep the content of Sources in the repository, below vendor/  [default: of all Sources].

    The content is exactly what argosy.lock says, and is compared with it by every render. So nothing is fetched any
    more, and a change of version is a change of files that can be reviewed. Nothing is committed.
    """
    return vendor_and_show(log, **options)


def vendor_and_show(log: Log, *, names: tuple[str, ...], is_removed: bool, credentials: str) -> int:
    """Write or remove the files of Sources (no names: of all), and say how many; return the exit code."""
    import os

    from reconciler.edit.cluster_files import opened_source
    from reconciler.edit.locking import removal_of_vendored, vendored_contents
    from reconciler.locked.fetching import Fetcher

    with opened_source(log) as source:
        if is_removed:
            contents = removal_of_vendored(source, names)
        else:
            fetcher = Fetcher.of(source.repository, os.environ, credentials)
            contents = vendored_contents(source, fetcher, names)
        source.repository.put_files(contents)
    written = sum(content is not None for content in contents.values())
    print_text(f"{written} files written, {len(contents) - written} removed")
    return 0
