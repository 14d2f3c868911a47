"""``argosy init``: the files a fleet begins with, made from the kubeconfig contexts there are and from what is read.

Nothing is propagated by them yet: the policy selects a label that no object has. So a first pass can only show what is
there.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reconciler.source.checks import lists_of_clusters
from reconciler.source.files import FLEET_FILE
from reconciler.source.idle_kinds import SKIPPED_NAMESPACE
from reconciler.source.loading import Loaded
from reconciler.source.read_objects import ReadObjects
from reconciler.source.scopes.likely_scopes import likely_scope_of_kind
from reconciler.source.variant_folders import path_of_ignore_line
from render.documents import emit
from render.errors import ConfigError
from render.model import ARGOSY_API_VERSION, POLICY_API_VERSION, ObjectRef, group_of

from .cluster_files import MemberSource
from .context_names import contexts_by_cluster_name
from .joining import NewMember
from .locking import lock_differences
from .other_tools import DeployedFolders, deployed_folders
from .pipelines import PIPELINES

_RELEASE = "HelmRelease.helm.toolkit.fluxcd.io"
_EXAMPLE_LABEL = "argosy-example"
_POLICY_PATH = "policies/starter.yaml"
_KARMADA, _POLICY = "karmada.io", "Policy"
_STARTER = "# Nothing has this label yet. Select what you want to propagate instead, by kind, name or labels.\n"


class Beginning(Struct, frozen=True, kw_only=True):
    """The wishes for a new fleet: contexts of a kubeconfig, clusters by hand, and whose pipeline files to write.

    ``paths`` are folders to read that a fleet leaves out so far.
    """

    contexts: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    pipelines: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


class NewFleet(Struct, frozen=True, kw_only=True):
    """The files that begin a fleet, by path, and the number of charts and repositories that ``lock`` has to have.

    ``releases`` is the number of HelmReleases that are read as objects, ``lost`` are objects that stand only in folders
    which are left out, because they repeat others or because the tool that deploys from here does not deploy them.
    ``deployed`` are the folders of that tool if its objects are read, ``as_files`` if they are not; ``undeclared`` are
    clusters that its objects name and that the fleet has not. ``objects`` are those that were there before.
    ``in_skipped_namespaces`` counts those in namespaces from which nothing is propagated while a setting says so.
    ``after`` is the source with the files.
    """

    files: Mapping[str, bytes]
    after: Loaded
    objects: ReadObjects
    releases: int = 0
    lost: tuple[str, ...] = ()
    deployed: DeployedFolders | None = None
    as_files: DeployedFolders | None = None
    undeclared: tuple[str, ...] = ()
    unlocked: int = 0
    lock: str = ""
    in_skipped_namespaces: int = 0

    @property
    def tool(self) -> str:
        """The tool whose objects are read; empty without one."""
        return self.deployed.tool if self.deployed else ""


class _Beginning(Struct, frozen=True, kw_only=True):
    """The files of a fleet with the source as it is with them, and the folders of a tool whose objects are read."""

    files: Mapping[str, bytes]
    after: Loaded
    lost: tuple[str, ...]
    deployed: DeployedFolders | None


def new_fleet(source: MemberSource, wanted: Beginning) -> NewFleet:
    """Return what begins a fleet.

    Where a tool deploys from here, its objects say what is read, if that is most of the repository. If it is not, these
    objects are an example or a part, and everything is read.
    """
    found = folders_deployed_by_tools(source)
    chosen = _beginning(source, wanted, found) if found else None
    if chosen is None or not _is_most_of_source_read(source.loaded, chosen):
        chosen = _beginning(source, wanted, None)
    known = {cluster.name for cluster in chosen.after.desired.clusters}
    return replace(
        fleet_of_loaded(source, chosen.files, chosen.after),
        lost=chosen.lost,
        deployed=chosen.deployed,
        as_files=None if chosen.deployed else found,
        undeclared=tuple(name for name in found.destinations if name not in known) if found else (),
    )


def fleet_of_loaded(source: MemberSource, files: Mapping[str, bytes], after: Loaded) -> NewFleet:
    """Return a fleet by the source as it is with its files, with what may be said of it."""
    unlocked, lock = (len(lock_differences(after.locked)), after.locked.lock.path) if after.locked else (0, "")
    return NewFleet(
        files=files,
        objects=source.objects_read(after),
        after=after,
        releases=sum(1 for template in after.desired.templates if template.ref.group_kind == _RELEASE),
        unlocked=unlocked,
        lock=lock,
        in_skipped_namespaces=_objects_in_skipped_namespaces(after),
    )


def _is_most_of_source_read(before: Loaded, beginning: _Beginning) -> bool:
    """Say whether what a tool deploys is more than half of the objects of a repository."""
    kinds = beginning.deployed.kinds if beginning.deployed else ()
    every = {(each.group_kind, each.name) for each in _objects_in_folders(before) if each.kind not in kinds}
    return 2 * len(beginning.lost) <= len(every)


def _beginning(source: MemberSource, wanted: Beginning, deployed: DeployedFolders | None) -> _Beginning:
    """Return the files of a fleet that reads what a tool deploys, or everything (None)."""
    contexts = contexts_by_cluster_name(wanted.contexts)
    members = sorted({*contexts, *wanted.clusters})
    known = {cluster.name for cluster in source.loaded.desired.clusters}
    base = f"{source.repository.folder.under}/" if source.repository.folder.under else ""
    own = f"{base}{_folder_for_argosy_files(source, base) if deployed else ''}"
    files = files_of_clusters((name for name in members if name not in known), own)
    files[f"{own}{_POLICY_PATH}"] = starter_policy_file([*members, *known])
    paths = _source_paths(deployed, own.removeprefix(base), has_clusters=bool(files.keys() - {f"{own}{_POLICY_PATH}"}))
    if deployed:
        paths = [*paths, *_paths_of_karmada_objects(source.loaded, base, paths)]
    kinds = deployed.kinds if deployed else ()
    files = {
        f"{base}{FLEET_FILE}": _fleet_of_source(source, contexts, {"paths": paths, "render": list(kinds)}, files),
        **files,
    }
    for host in wanted.pipelines:
        files |= {path: text.encode() for path, text in PIPELINES[host].items()}
    taken = sorted(files.keys() & {file.path for file in source.files})
    if taken:
        raise ConfigError(f"{taken[0]} is there already", hint="move that file away")
    after = source.checked_source(files, is_first=True)
    lost = _objects_left_out(source.loaded, after, deployed, base)
    return _Beginning(files=files, after=after, lost=lost, deployed=deployed)


def _paths_of_karmada_objects(before: Loaded, base: str, paths: Iterable[str]) -> list[str]:
    """Return the folders with objects of Karmada that these paths leave out; files that stand at the top.

    Policies and overrides say where objects go. No tool deploys them to members, so that no object of it names them.
    """
    read, found = tuple(f"{each}/" for each in paths), set()
    for place in before.lines.places.values() if before.lines else ():
        path = place.file.path.removeprefix(base)
        group = group_of(place.manifest["apiVersion"])
        if group.endswith(_KARMADA) and not f"{path}/".startswith(read):
            found.add(path.rpartition("/")[0] or path)
    return [each for each in sorted(found) if not f"{each}/".startswith(tuple(f"{it}/" for it in found - {each}))]


def files_of_clusters(names: Iterable[str], folder: str) -> dict[str, bytes]:
    """Return the files of clusters, below a folder that ends in a slash."""
    files = {}
    for name in names:
        path = f"{folder}clusters/{name}.yaml"
        files[path] = emit(NewMember(name=name).checked_manifest(path))
    return files


def _objects_in_skipped_namespaces(loaded: Loaded) -> int:
    return sum(1 for warning in loaded.desired.warnings if warning.kind == SKIPPED_NAMESPACE)


def _objects_left_out(before: Loaded, after: Loaded, deployed: DeployedFolders | None, base: str) -> tuple[str, ...]:
    """Return the objects that a new argosy.yaml leaves out: of folders that repeat others, or that no tool deploys.

    What a tool deploys may get another namespace from it, and objects that deploy are none any more.
    """
    if deployed is None:
        repeated = [f"{base}{path_of_ignore_line(each)}" for each in after.desired.fleet.source.ignore]
        return tuple(map(str, sorted({*_objects_in_folders(before, repeated)} - {*_objects_in_folders(after)})))
    known = {(each.group_kind, each.name) for each in _objects_in_folders(after)}
    left = {each for each in _objects_in_folders(before) if (each.group_kind, each.name) not in known}
    return tuple(str(each) for each in sorted(left) if each.kind not in deployed.kinds)


def _objects_in_folders(loaded: Loaded, folders: Sequence[str] = ("",)) -> Iterator[ObjectRef]:
    """Yield what stands in these folders of a source, whether it can be used or not."""
    for place in loaded.lines.places.values() if loaded.lines else ():
        metadata = place.manifest.get("metadata")
        if not place.file.path.startswith(tuple(folders)):
            continue
        if isinstance(metadata, dict) and isinstance(metadata.get("name"), str):
            yield ObjectRef.of(place.manifest)


def absent_clusters_of_policies(loaded: Loaded) -> tuple[str, ...]:
    """Return the clusters that policies list by name and that a source does not have."""
    specs = (each["spec"] for each in loaded.karmada if each["kind"].endswith(_POLICY))
    listed = {name for spec in specs for _, names in lists_of_clusters(spec, "spec") for name in names}
    return tuple(sorted(listed - {cluster.name for cluster in loaded.desired.clusters}))


def folders_deployed_by_tools(source: MemberSource) -> DeployedFolders | None:
    """Return the folders that Flux or Argo CD deploys from a work tree; None where neither does."""
    if source.loaded.lines is None:
        return None
    objects = ((place.file.path, place.manifest) for place in source.loaded.lines.places.values())
    base = f"{source.home.folder}/" if source.home.folder else ""
    return deployed_folders(objects, [file.path for file in source.files], base)


def _folder_for_argosy_files(source: MemberSource, base: str) -> str:
    """Return the folder for files of Argosy where its usual ones hold something else; empty where they are free."""
    taken = (f"{base}clusters/", f"{base}policies/")
    return "argosy/" if any(file.path.startswith(taken) for file in source.files) else ""


def _source_paths(deployed: DeployedFolders | None, own: str, *, has_clusters: bool) -> list[str]:
    """Return what is read where a tool deploys from here, with the folders of Argosy's own files."""
    if deployed is None:
        return []
    beside = [own.rstrip("/")] if own else [*(["clusters"] if has_clusters else []), "policies"]
    return [*beside, *deployed.entries]


def _fleet_of_source(
    source: MemberSource, contexts: Mapping[str, str], read: Mapping[str, list[str]], others: Mapping[str, bytes]
) -> bytes:
    """Return argosy.yaml: the contexts, what to read and how, and the folders that repeat what others hold.

    Without these, what is left may have variants that could not be chosen among before: it is looked at again, until
    there is nothing more to leave out.
    """
    read, path, known = (read if read["paths"] else {}), source.home.expected_path, source.loaded
    if read:
        known = source.with_files({path: _fleet_file_text(contexts, read), **others})
    ignore: set[str] = set()
    while more := {each.line for each in known.choices} - ignore:
        ignore |= more
        read = {**read, "ignore": [each for each in sorted(ignore) if not _is_below_any(each, ignore)]}
        known = source.with_files({path: _fleet_file_text(contexts, read), **others})
    return _fleet_file_text(contexts, read, guessed_scopes(known))


def _is_below_any(line: str, lines: Collection[str]) -> bool:
    """Say whether an ignore line is about what is below one of the folders of others."""
    return any(each != line and each.endswith("/") and line.startswith(each) for each in lines)


def guessed_scopes(loaded: Loaded) -> list[dict[str, str]]:
    """Return the likely scopes of kinds that nothing tells: as their objects or their names have it; others are asked.

    A kind whose objects name a namespace lives in namespaces, and one called ``ClusterThing`` most likely does not.
    """
    from reconciler.source.scopes.well_known_kinds import WELL_KNOWN

    unknown = sorted(kind for kind in loaded.desired.fact_scoped_kinds if kind not in WELL_KNOWN)
    inside = {(each.ref.group, each.ref.kind) for each in loaded.desired.templates if each.ref.namespace}
    scopes = {kind: "Namespaced" if kind in inside else likely_scope_of_kind(kind[1]) for kind in unknown}
    return [
        {"group": group, "kind": kind, "scope": scope}
        for (group, kind), scope in scopes.items()
        if scope == "Cluster" or (group, kind) in inside
    ]


def _fleet_file_text(
    contexts: Mapping[str, str], read: Mapping[str, list[str]], kinds: Sequence[Mapping[str, str]] = ()
) -> bytes:
    settings = {key: values for key, values in read.items() if values}
    spec: dict[str, Any] = {"source": settings} if settings else {}
    if kinds:
        spec["kinds"] = list(kinds)
    if contexts:
        spec["clusters"] = [
            {"name": name, **({"context": context} if context != name else {})} for name, context in contexts.items()
        ]
    head = {"apiVersion": ARGOSY_API_VERSION, "kind": "Fleet", "metadata": {"name": "default"}}
    return emit({**head, **({"spec": spec} if spec else {})})


def starter_policy_file(members: Iterable[str]) -> bytes:
    """Return a policy for all members, which selects nothing yet."""
    selector = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "labelSelector": {"matchLabels": {_EXAMPLE_LABEL: "true"}},
    }
    policy = {
        "apiVersion": POLICY_API_VERSION,
        "kind": "ClusterPropagationPolicy",
        "metadata": {"name": "starter"},
        "spec": {
            "resourceSelectors": [selector],
            "placement": {"clusterAffinity": {"clusterNames": sorted(set(members))}},
        },
    }
    return _STARTER.encode() + emit(policy)
