"""A second ``argosy init``: what a fleet lacks is added to it, and what it has stays as somebody left it.

These are members for contexts and names that it does not have, a first policy where there is none, the likely scopes of
new kinds, folders that ``source.paths`` leaves out, pipelines, and HelmCharts. argosy.yaml gains lines and loses none.
"""

from collections.abc import Iterable, Iterator, Mapping

from reconciler.source.files import FLEET_FILE
from render.documents.editing import Edit
from render.errors import ConfigError

from .beginning import Beginning, NewFleet, files_of_clusters, fleet_of_loaded, guessed_scopes, starter_policy_file
from .cluster_files import Contents, MemberSource
from .context_names import contexts_by_cluster_name
from .joining import place_of_fleet_settings
from .pipelines import PIPELINES

_STARTER = "policies/starter.yaml"


def contexts_of_members(source: MemberSource) -> frozenset[str]:
    """Return the contexts by which a fleet reaches its members."""
    listed = {access.context or access.name for access in source.fleet.clusters}
    named = {cluster.name for cluster in source.loaded.desired.clusters}
    return frozenset(listed if source.fleet.reachable_members is not None else listed | named)


def additions_to_fleet(source: MemberSource, wanted: Beginning) -> NewFleet:
    """Return what a fleet that is there lacks of what is wanted; InputError where its argosy.yaml cannot be edited."""
    _refuse_absent_folders(source, wanted.paths)
    known = {cluster.name for cluster in source.loaded.desired.clusters}
    new = [each for each in wanted.contexts if each not in contexts_of_members(source)]
    contexts = contexts_by_cluster_name(new, known | {access.name for access in source.fleet.clusters})
    own = _folder_of_own_files(source)
    files = files_of_clusters(sorted({*contexts, *wanted.clusters} - known), own)
    if not source.loaded.desired.policies:
        files[f"{own}{_STARTER}"] = starter_policy_file([*known, *contexts, *wanted.clusters])
    for host in wanted.pipelines:
        files |= {path: text.encode() for path, text in PIPELINES[host].items()}
    there = {file.path for file in source.files}
    taken = sorted(files.keys() & there - {path for host in wanted.pipelines for path in PIPELINES[host]})
    if taken:
        raise ConfigError(f"{taken[0]} is there already", hint="move that file away")
    files = {path: text for path, text in files.items() if path not in there}
    edits = [*_edits_for_contexts(source, contexts), *_edits_for_paths(source, files, wanted.paths)]
    contents: Contents = {**_with_edited_settings(source, [*edits, *_edits_for_scopes(source)]), **files}
    after = source.checked_source(contents, is_first=True)
    return fleet_of_loaded(source, {path: text for path, text in contents.items() if text is not None}, after)


def _refuse_absent_folders(source: MemberSource, folders: Iterable[str]) -> None:
    base = source.base
    for folder in folders:
        wanted = f"{base}{folder.removeprefix('./').strip('/')}"
        if not any(f"{file.path}/".startswith(f"{wanted}/") for file in source.files):
            raise ConfigError(f"there is no folder {folder!r}", hint="it is seen from argosy.yaml")


def _folder_of_own_files(source: MemberSource) -> str:
    """Return the folder in which the fleet's clusters and policies stand, with its slash: as a rule argosy.yaml's."""
    base = source.base
    inside = f"{base}argosy/"
    return (
        inside
        if any(file.path.startswith((f"{inside}clusters/", f"{inside}{_STARTER}")) for file in source.files)
        else base
    )


def _edits_for_contexts(source: MemberSource, contexts: Mapping[str, str]) -> Iterator[Edit]:
    """Yield a line for each context that is not reached by the name of its cluster alone."""
    number = len(source.fleet.clusters)
    for name, context in contexts.items():
        if context != name or source.fleet.reachable_members is not None:
            item = {"name": name, **({"context": context} if context != name else {})}
            yield Edit(("spec", "clusters", number), item)
            number += 1


def _edits_for_paths(source: MemberSource, files: Iterable[str], folders: Iterable[str]) -> Iterator[Edit]:
    """Yield a line for each folder that source.paths leaves out: those that are wanted, and those of new files."""
    paths = source.fleet.source.paths
    if not paths or {".", "./"} & {*paths}:
        return
    base = source.base
    own = (path.removeprefix(base) for path in files if path.startswith(base))
    new = (path.rpartition("/")[0] for path in own if not path.startswith("."))
    read = [each.removeprefix("./").strip("/") for each in paths]
    for folder in dict.fromkeys((*new, *(each.removeprefix("./").strip("/") for each in folders))):
        if not any(f"{folder}/".startswith(f"{each}/") for each in read):
            yield Edit(("spec", "source", "paths", len(read)), folder)
            read.append(folder)


def _edits_for_scopes(source: MemberSource) -> Iterator[Edit]:
    """Yield a line for each kind whose scope nothing tells and that is likely."""
    for number, entry in enumerate(guessed_scopes(source.loaded), start=len(source.fleet.kinds)):
        yield Edit(("spec", "kinds", number), entry)


def _with_edited_settings(source: MemberSource, edits: Iterable[Edit]) -> Contents:
    """Return argosy.yaml with more lines; nothing where it stays as it is."""
    path, every = source.home.path or FLEET_FILE, tuple(edits)
    content = source.content(path)
    if not every or content is None:
        return {}
    return source.with_edits(place_of_fleet_settings(source, path, content), every)
