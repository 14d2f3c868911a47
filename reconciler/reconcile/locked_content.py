"""Locked content that the cache lacks, fetched before a pass reads its source: exactly what argosy.lock says."""

import os

from reconciler.console.log import Log
from reconciler.locked.fetching import Fetcher, fetch_missing
from reconciler.locked.lock_file import lock_path, parsed_lock
from reconciler.locked.model import LOCK_FILE
from reconciler.repository import Repository
from reconciler.source.fleet_file import load_fleet
from render.errors import InputError
from render.gitobjects import TREE_MODE


def _has_lock(repository: Repository, commit: str) -> bool:
    """Say whether a commit has a lock anywhere; trees tell it, which are small beside a list of all files."""
    folders = [repository.commit_info(commit).tree]
    while folders:
        entries = [entry for tree in repository.read_trees(folders).values() for entry in tree]
        if any(entry.name == LOCK_FILE.encode() for entry in entries):
            return True
        folders = [entry.id for entry in entries if entry.mode == TREE_MODE]
    return False


def fetch_locked_content(repository: Repository, commit: str, log: Log) -> None:
    """Fetch what the lock of a commit names and the cache lacks; what cannot be had is a warning here.

    The source that is loaded next has a problem for it where something needs it.
    """
    if not _has_lock(repository, commit):
        return
    files = repository.snapshot(commit).files
    home = load_fleet(files, folder=repository.folder.under, read=repository.read_blobs)
    path = lock_path(home.folder)
    found = next((file for file in files if file.path == path), None)
    if found is None:
        return
    try:
        lock = parsed_lock(repository.read_blobs([found.id])[found.id], path)
    except InputError:
        return  # it is a problem of the source, with all others
    for error in fetch_missing(Fetcher.of(repository, os.environ), lock.sources.values()):
        log.warning(str(error))
