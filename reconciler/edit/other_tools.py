"""The folders of a repository that Flux or Argo CD deploys from, as ``argosy init`` reads them from their objects.

A folder that holds such objects itself is an entry point: what it deploys is in the folders that they name. Of several
entry points - environments, each with overlays of its own - one is read, for the others hold the same objects again.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from render.model import Manifest, group_of

_FLUX, _ARGO = "kustomize.toolkit.fluxcd.io", "argoproj.io"
_TOOL_BY_GROUP = {_FLUX: "Flux", _ARGO: "Argo CD"}
_PRODUCTION = re.compile(r"prod|production|live|main")
_BOOTSTRAP = "flux-system"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployedFolders:
    """The folders that a tool deploys, the entry point they are named in, and the entry points that are left out.

    ``substituted`` counts the objects of the tool that fill in variables, which nobody does here.
    """

    tool: str
    folders: tuple[str, ...]
    entry: str = ""
    left_out: tuple[str, ...] = ()
    substituted: int = 0


def deployed_folders(
    objects: Iterable[tuple[str, Manifest]], paths: Iterable[str], base: str = ""
) -> DeployedFolders | None:
    """Return the folders below ``base`` that a tool deploys, relative to it; None where no tool names any.

    ``objects`` are all of the repository with the files they stand in, of which ``paths`` are all.
    """
    known = _folders(path.removeprefix(base) for path in paths if path.startswith(base))
    deployers = [(path.removeprefix(base), each) for path, each in objects if _names_folders(each)]
    for group, tool in _TOOL_BY_GROUP.items():
        found = [(path, each) for path, each in deployers if group_of(each["apiVersion"]) == group]
        holders = {path for path, _ in found}
        entry, others = _entries(holders)
        chosen = [each for path, each in found if not _is_below(path, others)]
        folders = {folder for each in chosen for folder in _named(each, known)}
        leaves = {folder for folder in folders if folder and not any(_is_below(path, [folder]) for path in holders)}
        if leaves:
            return DeployedFolders(
                tool=tool,
                folders=_outermost(leaves),
                entry=entry,
                left_out=others,
                substituted=sum(1 for each in chosen if "postBuild" in (each.get("spec") or {})),
            )
    return None


def _names_folders(manifest: Manifest) -> bool:
    group, kind = group_of(manifest["apiVersion"]), manifest["kind"]
    return (group, kind) in {(_FLUX, "Kustomization"), (_ARGO, "Application"), (_ARGO, "ApplicationSet")}


def _entries(holders: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """Return the entry point to read of those that Flux was put into, and the others."""
    found = sorted({path[: path.index(f"/{_BOOTSTRAP}/")] for path in holders if f"/{_BOOTSTRAP}/" in path})
    if len(found) < 2:
        return "".join(found), ()
    entry = next((each for each in found if _PRODUCTION.search(each.rpartition("/")[2])), found[0])
    return entry, tuple(each for each in found if each != entry)


def _named(manifest: Manifest, known: Collection[str]) -> Iterator[str]:
    """Yield the folders that an object of a tool names, as far as they are here."""
    spec = manifest.get("spec")
    if not isinstance(spec, dict):
        return
    for place in _places(spec):
        path = place.get("path")
        if isinstance(path, str) and not place.get("chart"):
            wanted = path.removeprefix("./").strip("/")
            yield from (folder for folder in known if folder == wanted or _is_matched(folder, wanted))


def _places(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the values of a spec that have a path: Flux's itself, an Application's sources, a generator's folders."""
    template = spec.get("template")
    inner = template.get("spec") if isinstance(template, dict) else None
    generators = [each.get("git") for each in _objects(spec.get("generators"))]
    folders = [each for git in _objects(generators) for each in _objects(git.get("directories"))]
    sources = _objects([spec.get("source"), *_list(spec.get("sources"))])
    nested = list(_places(inner)) if isinstance(inner, dict) else []
    yield from (each for each in (spec, *sources, *folders, *nested) if not each.get("exclude"))


def _objects(values: Any) -> list[dict[str, Any]]:
    return [each for each in _list(values) if isinstance(each, dict)]


def _list(values: Any) -> list[Any]:
    return values if isinstance(values, list) else []


def _is_matched(folder: str, pattern: str) -> bool:
    """Say whether a folder is one that a generator's pattern names; ``*`` stands for one step of a path."""
    return "*" in pattern and folder.count("/") == pattern.count("/") and fnmatchcase(folder, pattern)


def _folders(paths: Iterable[str]) -> frozenset[str]:
    return frozenset(path[: match.start()] for path in paths for match in re.finditer("/", path))


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


def _outermost(folders: Iterable[str]) -> tuple[str, ...]:
    """Return folders without those inside others, sorted."""
    every = sorted(set(folders))
    return tuple(folder for folder in every if not _is_below(folder, every))
