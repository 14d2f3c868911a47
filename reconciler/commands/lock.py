"""``argosy lock``: pin the Sources of the source to one version each, in argosy.lock."""

from typing import TYPE_CHECKING, Any

import click

from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.console.log import Log
from reconciler.console.printing import print_text

if TYPE_CHECKING:
    from reconciler.edit.cluster_files import MemberSource
    from reconciler.locked.fetching import Fetcher


@click.command(
    cls=DocumentedCommand,
    epilog="Exit codes: 0 locked, fetched, or nothing to do; 1 --check found a difference; 2 there is no such Source;"
    " 3 a Source could not be resolved or fetched, or does not match argosy.lock; 6 --base lacks an address.",
)
@click.option("--update", multiple=True, metavar="NAME", help="Resolve this Source anew (repeatable; '*' means all).")
@click.option("--check", is_flag=True, help="Write nothing, and exit with 1 if argosy.lock would change.")
@click.option("--fetch", is_flag=True, help="Fetch exactly what argosy.lock says into the cache, and resolve nothing.")
@click.option("--base", default="", metavar="REV", help="Fetch from addresses alone that argosy.lock has there, too.")
@click.option(
    "--credentials", default="", metavar="FILE", help="Names and passwords by host  [default: $ARGOSY_CREDENTIALS]"
)
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Pin the Sources of the source to one version each, in argosy.lock.

    A Source that is locked as it is written stays as it is; --update moves it to the newest version it allows. The
    content is fetched into a cache beside the repository, from which renders read it by digest. Commit argosy.lock.
    Repositories that kustomizations build upon need no Source, nor do charts and repositories that objects of Flux and
    Argo CD name, where argosy.yaml has these read.

    --fetch --base is for CI, where somebody else wrote the change: addresses that the lock of the base does not have
    are named, and nobody is asked there. --check is for CI as well: it compares argosy.lock with the Sources and asks
    nobody; with --update, it also says which newer versions there are.
    """
    return lock_and_show(log, **options)


def lock_and_show(log: Log, *, update: tuple[str, ...], check: bool, fetch: bool, base: str, credentials: str) -> int:
    """Pin, check or fetch what Sources name; return the exit code."""
    import os

    from reconciler.edit.cluster_files import opened_source
    from reconciler.edit.locking import lock_differences, sources_of_work_tree
    from reconciler.locked.fetching import Fetcher

    if fetch and (update or check):
        raise click.UsageError("--fetch changes no version: leave out --update and --check")
    if base and not fetch:
        raise click.UsageError("--base goes with --fetch: it says where may be fetched from")
    with opened_source(log) as source:
        if check and not update:
            changes = lock_differences(sources_of_work_tree(source))
            print_text("".join(f"{change}\n" for change in changes), end="")
            return 1 if changes else 0
        fetcher = Fetcher.of(source.repository, os.environ, credentials)
        if fetch:
            return _fetch_locked_sources(log, source, fetcher, base)
        return _lock_sources_and_show(log, source, fetcher, names=update, is_checked=check)


def _lock_sources_and_show(
    log: Log, source: "MemberSource", fetcher: "Fetcher", *, names: tuple[str, ...], is_checked: bool
) -> int:
    """Resolve, write and say what changed; return the exit code."""
    from reconciler.edit.cluster_files import warn_of_ignored
    from reconciler.edit.locking import updated_lock

    update = updated_lock(source, fetcher, names)
    print_text("".join(f"{change}\n" for change in update.changes), end="")
    log.warn_of(update.refused)
    if update.refused:
        return 3
    if is_checked:
        return 1 if update.changes else 0
    source.repository.put_files(update.contents)
    warn_of_ignored(source.repository, update.contents, log)
    if not update.changes:
        log.info("argosy.lock is up to date")
    return 0


def _fetch_locked_sources(log: Log, source: "MemberSource", fetcher: "Fetcher", base: str) -> int:
    """Fill the cache; return the exit code. GuardRefused for addresses that a base does not have."""
    from reconciler.edit.locking import addresses_new_since, sources_of_work_tree
    from reconciler.guards.accepted_settings import check_settings_are_accepted
    from reconciler.locked.fetching import fetch_missing

    known = sources_of_work_tree(source)
    new = addresses_new_since(source, base) if base else {}
    missing = [each for each in known.missing_sources() if each.name not in new]
    refused = fetch_missing(fetcher, missing, known.sources)
    log.warn_of(refused)
    log.info("fetched", sources=len(missing) - len(refused))
    unasked = [each for name in sorted(new) for each in new[name]]
    check_settings_are_accepted(unasked, source.home.expected_path, consequence="; nobody was asked there")
    return 3 if refused else 0
