"""The files of our branches by path: a module of this folder is a file, and has to be named nowhere else."""

import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

import reconciler.ledger

from .branch_file import VERSION_FIELD, BranchFile, FileFault, check_version, says_the_same, version_in

_NAME = re.compile(r"\\\{[a-z]+\\\}")


@cache
def kinds() -> tuple[type[BranchFile], ...]:
    """Return the structs of all files, those first in whose paths nothing differs from file to file."""
    found = {
        each
        for name in sorted(module.name for module in iter_modules(reconciler.ledger.__path__))
        for each in vars(import_module(f"reconciler.ledger.{name}")).values()
        if isinstance(each, type) and issubclass(each, BranchFile) and each is not BranchFile
    }
    return tuple(sorted(found, key=lambda kind: ("{" in kind.PATH, kind.PATH)))


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], type[BranchFile]], ...]:
    return tuple((re.compile(_NAME.sub("[^/]+", re.escape(kind.PATH))), kind) for kind in kinds())


def kind_at(path: str) -> type[BranchFile] | None:
    """Return the struct of the file at a path; None where Argosy writes none."""
    if not path.isprintable():
        return None
    return next((kind for pattern, kind in _patterns() if pattern.fullmatch(path)), None)


def changed_files(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> dict[str, bytes | None]:
    """Return the files that say something else than before; GitError where one of them is a newer Argosy's."""
    changed: dict[str, bytes | None] = {
        path: content for path, content in after.items() if not says_the_same(before.get(path), content)
    }
    changed |= dict.fromkeys(before.keys() - after.keys())
    for path in sorted(changed.keys() & before.keys()):
        check_written_here(path, before[path])
    return changed


def check_written_here(path: str, content: bytes) -> None:
    """Raise GitError where a file that is to be written over is of a later version than is known here."""
    kind = kind_at(path)
    try:
        check_version({VERSION_FIELD: version_in(content)}, kind.VERSION if kind else 0)
    except FileFault as fault:
        raise fault.at(path) from fault
