"""The folders of a repository that Flux or Argo CD deploys from, as ``argosy init`` reads them from their objects.

A folder that only holds such objects is an entry point: what it deploys is in the folders that they name, and follows
from reading them as the tool does. Where objects of one name stand in several folders, these are environments, each
with overlays of its own: one of them is read, for the others hold the same objects again. Of two apps, each may have
environments of its own.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from posixpath import commonpath, dirname
from typing import Any

from msgspec import Struct

from render.expressions import lazy_expression
from render.model import Manifest, group_of, list_or_empty

_FLUX, _ARGO = "kustomize.toolkit.fluxcd.io", "argoproj.io"
_TOOL_BY_GROUP = {_FLUX: "Flux", _ARGO: "Argo CD"}
_NAMING = {(_FLUX, "Kustomization"), (_ARGO, "Application"), (_ARGO, "ApplicationSet")}
_GENERATOR, _GENERATED = "ArtifactGenerator", "ExternalArtifact"
_OWN_CLUSTER = "in-cluster"
_CLUSTER_NAME = lazy_expression(r"[a-z0-9]([-a-z0-9]{0,46}[a-z0-9])?")
_PRODUCTION = lazy_expression(r"prod|production|live|main")

Copies = list[tuple[str, str]]
"""Folders of an artifact, each with the folder of the repository that it is a copy of."""

_NO_COPIES: Copies = [("", "")]
Placed = tuple[str, Manifest]
"""An object and the file it stands in."""


class DeployedFolders(Struct, frozen=True, kw_only=True):
    """The folders that a tool deploys, the environments whose they are, and the environments that are left out.

    All of them follow from ``entries``, folders and files with objects of these ``kinds``. ``destinations`` are the
    clusters that such objects name, but the one that the tool itself runs in.
    """

    tool: str
    folders: tuple[str, ...]
    entries: tuple[str, ...]
    kinds: tuple[str, ...]
    environments: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    destinations: tuple[str, ...] = ()


class _Deployer(Struct, frozen=True, kw_only=True):
    """An object of a tool that names folders of the repository."""

    path: str
    manifest: Manifest
    folders: frozenset[str]

    @property
    def identity(self) -> tuple[str, str, str]:
        metadata = self.manifest["metadata"] if isinstance(self.manifest.get("metadata"), dict) else {}
        return self.manifest["kind"], str(metadata.get("namespace") or ""), str(metadata.get("name") or "")


def deployed_folders(objects: Iterable[Placed], paths: Iterable[str], base: str = "") -> DeployedFolders | None:
    """Return the folders below ``base`` that a tool deploys, relative to it; None where no tool names any.

    ``objects`` are all of the repository, of whose files ``paths`` are all.
    """
    known = _all_folders_above(path.removeprefix(base) for path in paths if path.startswith(base))
    placed = [(path.removeprefix(base), manifest) for path, manifest in objects]
    for group, tool in _TOOL_BY_GROUP.items():
        deployers = list(_deployers_of_group(placed, group, known))
        environments, others = _read_and_other_environments(deployers)
        chosen = [each for each in deployers if not _is_below_any(each.path, others)]
        folders = _deployed_without_entry_points(chosen)
        if folders:
            return DeployedFolders(
                tool=tool,
                folders=folders,
                entries=_entry_folders_of_deployers(chosen),
                kinds=tuple(sorted({each.manifest["kind"] for each in chosen})),
                environments=environments,
                left_out=others,
                destinations=tuple(sorted({name for each in chosen for name in _destinations_of(each.manifest)})),
            )
    return None


def _destinations_of(manifest: Manifest) -> Iterator[str]:
    """Yield the names of clusters that an Application, or the template of an ApplicationSet, is for."""
    spec = manifest["spec"]
    template = spec.get("template")
    inner = template.get("spec") if isinstance(template, dict) else None
    for each in _mappings_in_list(
        [spec.get("destination"), *([inner.get("destination")] if isinstance(inner, dict) else [])]
    ):
        name = each.get("name")
        if isinstance(name, str) and name != _OWN_CLUSTER and _CLUSTER_NAME.fullmatch(name):
            yield name


def _deployers_of_group(placed: Collection[Placed], group: str, known: Collection[str]) -> Iterator[_Deployer]:
    """Yield the objects of a tool that name folders; artifacts are those of their own folder where it has some."""
    anywhere = dict(_artifacts_of_manifests(manifest for _, manifest in placed))
    for path, manifest in placed:
        spec = manifest.get("spec")
        found_group = group_of(manifest["apiVersion"])
        if found_group == group and (group, manifest["kind"]) in _NAMING and isinstance(spec, dict):
            beside = (each for other, each in placed if dirname(other) == dirname(path))
            artifacts = anywhere | dict(_artifacts_of_manifests(beside)) if anywhere else anywhere
            folders = frozenset(_named_folders(spec, known, artifacts))
            if folders:
                yield _Deployer(path=path, manifest=manifest, folders=folders)


def _read_and_other_environments(deployers: Iterable[_Deployer]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the environments to read, and the others: folders in which objects of the same name stand.

    One is read of those that have names in common, if possible of the same name everywhere.
    """
    paths_by_identity: dict[tuple[str, str, str], list[str]] = {}
    for each in deployers:
        paths_by_identity.setdefault(each.identity, []).append(each.path)
    groups: list[set[str]] = []
    for paths in paths_by_identity.values():
        if len(set(paths)) > 1:
            shared = len(commonpath(paths).split("/")) if commonpath(paths) else 0
            found = {"/".join(path.split("/")[: shared + 1]) for path in paths if path.count("/") > shared}
            apart = [group for group in groups if group.isdisjoint(found)]
            groups = [*apart, found.union(*(group for group in groups if group not in apart))]
    chosen: list[str] = []
    for group in sorted(sorted(group) for group in groups if group):
        chosen.append(_chosen_environment(group, {_last_folder_name(each) for each in chosen}))
    others = tuple(sorted({each for group in groups for each in group} - {*chosen}))
    return tuple(each for each in chosen if not _is_below_any(f"{each}/", others)), others


def _chosen_environment(environments: Sequence[str], names: Collection[str]) -> str:
    """Return the environment to read: production, else one of these names, else the first."""
    production = (each for each in environments if _PRODUCTION.search(_last_folder_name(each)))
    return [*production, *(each for each in environments if _last_folder_name(each) in names), environments[0]][0]


def _last_folder_name(path: str) -> str:
    return path.rpartition("/")[2]


def _deployed_without_entry_points(deployers: Collection[_Deployer]) -> tuple[str, ...]:
    """Return the folders that are deployed, without those that only hold objects naming others elsewhere."""
    folders = {folder for each in deployers for folder in each.folders}
    entries = {folder for folder in folders if any(_is_below_any(each.path, [folder]) for each in deployers)}
    leaves = folders - entries
    return _outermost_folders(
        leaves | {each for each in entries if any(_is_below_any(leaf, [each]) for leaf in leaves)}
    )


def _entry_folders_of_deployers(deployers: Collection[_Deployer]) -> tuple[str, ...]:
    """Return where the objects stand that nothing else deploys; those that deploy themselves, by that folder."""
    folders = {folder for each in deployers for folder in each.folders}
    themselves = {
        each for each in folders if any(_is_below_any(it.path, [each]) and each in it.folders for it in deployers)
    }
    others = {each.path for each in deployers if not _is_below_any(each.path, folders)}
    return _outermost_folders(themselves | {dirname(path) or path for path in others})


def _artifacts_of_manifests(manifests: Iterable[Manifest]) -> Iterator[tuple[str, Copies]]:
    """Yield the artifacts that Flux cuts out of the repository: by name, folders in them and where these are from."""
    for manifest in manifests:
        spec = manifest.get("spec")
        if manifest["kind"] == _GENERATOR and isinstance(spec, dict):
            for artifact in _mappings_in_list(spec.get("artifacts")):
                copies = _mappings_in_list(artifact.get("copy"))
                yield (
                    str(artifact.get("name")),
                    [(_folder_in_place(each.get("to")), _folder_in_place(each.get("from"))) for each in copies],
                )


def _folder_in_place(place: Any) -> str:
    """Return the folder of a place such as ``@artifact/base/`` or ``@repository/apps/base/**``."""
    return str(place or "").partition("/")[2].removesuffix("**").strip("/")


def _named_folders(spec: Mapping[str, Any], known: Collection[str], artifacts: Mapping[str, Copies]) -> Iterator[str]:
    """Yield the folders that an object of a tool names, as far as they are here."""
    source = spec.get("sourceRef")
    is_cut = isinstance(source, dict) and source.get("kind") == _GENERATED
    copies = artifacts.get(str(source.get("name")), []) if is_cut and isinstance(source, dict) else _NO_COPIES
    for place in _values_with_path(spec):
        path = place.get("path")
        if isinstance(path, str) and not place.get("chart"):
            wanted = path.removeprefix("./").strip("/")
            for target, origin in copies:
                if not target or wanted == target or wanted.startswith(f"{target}/"):
                    meant = f"{origin}/{wanted.removeprefix(target).strip('/')}".strip("/")
                    yield from (folder for folder in known if folder == meant or _matches_pattern(folder, meant))


def _values_with_path(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the values of a spec that have a path: Flux's itself, an Application's sources, a generator's folders."""
    template = spec.get("template")
    inner = template.get("spec") if isinstance(template, dict) else None
    generators = [each.get("git") for each in _mappings_in_list(spec.get("generators"))]
    folders = [each for git in _mappings_in_list(generators) for each in _mappings_in_list(git.get("directories"))]
    sources = _mappings_in_list([spec.get("source"), *list_or_empty(spec.get("sources"))])
    nested = list(_values_with_path(inner)) if isinstance(inner, dict) else []
    yield from (each for each in (spec, *sources, *folders, *nested) if not each.get("exclude"))


def _mappings_in_list(values: Any) -> list[dict[str, Any]]:
    return [each for each in list_or_empty(values) if isinstance(each, dict)]


def _matches_pattern(folder: str, pattern: str) -> bool:
    """Say whether a folder is one that a generator's pattern names; ``*`` stands for one step of a path."""
    return "*" in pattern and folder.count("/") == pattern.count("/") and fnmatchcase(folder, pattern)


def _all_folders_above(paths: Iterable[str]) -> frozenset[str]:
    return frozenset(path[: match.start()] for path in paths for match in re.finditer("/", path))


def _is_below_any(path: str, folders: Iterable[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


def _outermost_folders(folders: Iterable[str]) -> tuple[str, ...]:
    """Return folders without those inside others, sorted."""
    every = sorted(set(folders))
    return tuple(folder for folder in every if not _is_below_any(folder, every))
