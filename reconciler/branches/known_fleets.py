"""The settings of a fleet, read from a commit without the rest of its source."""

from reconciler.repository import File, Repository
from reconciler.source.fleet_file import load_fleet
from render.errors import InputError
from render.gitobjects import TREE_MODE, TreeEntry
from render.settings.fleet import Fleet


def read_fleet(repository: Repository, commit: str) -> Fleet:
    """Return what argosy.yaml says at a commit, whatever else is wrong there; InputError with what is wrong with it."""
    files = repository.snapshot(commit).files
    home = load_fleet(files, folder=repository.folder.under, read=repository.read_blobs)
    if home.problems:
        raise InputError(home.problems)
    return home.fleet


def read_known_fleet(repository: Repository, commit: str, path: str) -> Fleet:
    """Return the same of a commit that was read before, when its argosy.yaml was at this path ("": there was none).

    Other files are listed only where it has to be known which there are, as for the paths that it names.
    """
    file = _file_at_commit(repository, commit, path)
    home = load_fleet([file] if file else [], folder=repository.folder.under, read=repository.read_blobs)
    return read_fleet(repository, commit) if home.problems or home.fleet.path != path else home.fleet


def _file_at_commit(repository: Repository, commit: str, path: str) -> File | None:
    """Return one file of a commit."""
    tree = repository.commit_info(commit).tree
    *folders, name = path.split("/")
    for folder in folders:
        entry = _tree_entry_named(repository, tree, folder)
        if entry is None:
            return None
        tree = entry.id
    entry = _tree_entry_named(repository, tree, name)
    if entry is None or entry.mode == TREE_MODE:
        return None
    return File(path, entry.mode, entry.id, len(repository.read_blobs([entry.id])[entry.id]))


def _tree_entry_named(repository: Repository, tree: bytes, name: str) -> TreeEntry | None:
    return next((entry for entry in repository.read_trees([tree])[tree] if entry.name == name.encode()), None)
