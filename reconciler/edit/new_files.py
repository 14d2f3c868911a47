"""Files that edits add to a source: a path and a name that nothing has, and whether the file would be read."""

from collections.abc import Collection
from itertools import count

from render.errors import ConfigError

from .cluster_files import MemberSource


def free_path_and_name(source: MemberSource, folder: str, stem: str, names: Collection[str]) -> tuple[str, str]:
    """Return the first path below the fleet's folder, and the name, that nothing has: STEM-1, STEM-2 and so on.

    ``names`` are those of objects that have one already.
    """
    taken = {file.path for file in source.files}
    for number in count(1):
        name = f"{stem}-{number}"
        path = "/".join(filter(None, (source.home.folder, folder, f"{name}.yaml")))
        if path not in taken and name not in names:
            return path, name
    raise AssertionError("numbers do not end")


def refuse_unread_file(source: MemberSource, path: str, read: Collection[str]) -> None:
    """Raise ConfigError for a new file that is not among those that are ``read``."""
    if path not in read:
        raise ConfigError(
            f"{path} would not be read: source.paths or an ignore file leaves it out",
            hint=f"add the folder to source.paths in {source.home.expected_path}",
        )
