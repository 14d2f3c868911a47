"""The files of our branches by path: a module of this folder is a file, and has to be named nowhere else."""

import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

import reconciler.ledger
from render.expressions import lazy_expression
from render.model import Manifest

from .branch_file import (
    MOST_BYTES,
    VERSION_FIELD,
    BranchFile,
    FileFault,
    check_version,
    error_of_damaged_file,
    is_same_but_for_version,
    object_of_content,
    version_of_content,
)

_NAME = lazy_expression(r"\\\{[a-z]+\\\}")
STRANGE = "passes write no file of this name"
_Patterns = tuple[tuple[re.Pattern[str], type[BranchFile]], ...]


@cache
def structs_of_all_files() -> tuple[type[BranchFile], ...]:
    """Return the structs of all files, those first in whose paths nothing differs from file to file."""
    found = {
        each
        for name in sorted(module.name for module in iter_modules(reconciler.ledger.__path__))
        for each in vars(import_module(f"reconciler.ledger.{name}")).values()
        if isinstance(each, type) and issubclass(each, BranchFile) and each is not BranchFile
    }
    return tuple(sorted(found, key=lambda kind: ("{" in kind.PATH, kind.PATH)))


@cache
def _path_patterns_by_root() -> Mapping[str, _Patterns]:
    """Return the patterns of paths by the folder or the file at the root."""
    found: dict[str, _Patterns] = {}
    for kind in structs_of_all_files():
        root = kind.PATH.partition("/")[0]
        found[root] = (*found.get(root, ()), (re.compile(_NAME.sub("[^/]+", re.escape(kind.PATH))), kind))
    return found


@cache
def root_entry_names() -> tuple[str, ...]:
    """Return the names of the files and folders at the root of a branch in which there are such files."""
    return tuple(sorted(_path_patterns_by_root()))


def struct_of_file_at(path: str) -> type[BranchFile] | None:
    """Return the struct of the file at a path; None where Argosy writes none."""
    if not path.isprintable():
        return None
    found = _path_patterns_by_root().get(path.partition("/")[0], ())
    return next((kind for pattern, kind in found if pattern.fullmatch(path)), None)


def checked_path(path: str, *, is_file: bool = True) -> type[BranchFile]:
    """Return the struct of the file at a path; GitError where Argosy writes none there."""
    kind = struct_of_file_at(path) if is_file else None
    if kind is None:
        raise error_of_damaged_file(path, STRANGE)
    return kind


def object_at(path: str, content: bytes) -> Manifest:
    """Return the one object of a file as plain data, without its version; GitError where its struct says otherwise."""
    kind = checked_path(path)
    try:
        value = object_of_content(content)
        kind.of(value)
    except FileFault as fault:
        raise fault.at(path) from fault
    return kind.without_version(value)


def is_written_without_content(path: str, content: bytes, value: Manifest) -> bool:
    """Say whether a file with this content and object may be read without its content."""
    kind = struct_of_file_at(path)
    try:
        return kind is not None and len(content) <= MOST_BYTES and kind.of(value) is not None
    except FileFault:
        return False


def changed_files(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> dict[str, bytes | None]:
    """Return the files that say something else than before; GitError where one of them is a newer Argosy's."""
    changed: dict[str, bytes | None] = {
        path: content for path, content in after.items() if not is_same_but_for_version(before.get(path), content)
    }
    changed |= dict.fromkeys(before.keys() - after.keys())
    for path in sorted(changed.keys() & before.keys()):
        check_written_here(path, before[path])
    return changed


def check_written_here(path: str, content: bytes) -> None:
    """Raise GitError where a file that is to be written over is of a later version than is known here."""
    version = version_of_content(content)
    kind = struct_of_file_at(path) if version else None
    if kind is None:
        return
    try:
        check_version({VERSION_FIELD: version}, kind.VERSION)
    except FileFault as fault:
        raise fault.at(path) from fault
