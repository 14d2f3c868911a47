"""The ways to the members: the options of a command, then argosy.yaml."""

from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from reconciler.members.visits import MemberReach
from reconciler.repository.location import GitFolder
from reconciler.repository.trailers import engine_version
from render.errors import ConfigError
from render.settings.clusters import OTHERS, ClusterAccess
from render.settings.emission import EmissionSettings, ToolAccess
from render.settings.fleet import Fleet

from .identity import Impersonation
from .opening import MemberAccess, Members
from .options import AccessOptions


def member_reach(fleet: Fleet, options: AccessOptions, repository: GitFolder) -> MemberReach:
    """Return the reach of a command that asks members, by its options and argosy.yaml."""
    return MemberReach.of(options, Members(member_access(fleet, options, repository)).open)


def member_access(fleet: Fleet, options: AccessOptions, repository: GitFolder) -> MemberAccess:
    """Return how members are reached: the command's options, then argosy.yaml.

    A kubeconfig that is named stands in for the usual one and for what argosy.yaml says of many members at once.
    """
    named, user, groups = options.kubeconfig, options.as_user, options.as_groups
    folder = "" if named or options.kubeconfigs else _path_beside_fleet_file(fleet, repository, fleet.kubeconfigs)
    clusters = tuple(
        replace(access, kubeconfig=_path_beside_fleet_file(fleet, repository, access.kubeconfig))
        for access in fleet.clusters
        if not named or access.name != OTHERS
    )
    return MemberAccess(
        clusters=clusters,
        kubeconfig=named,
        folder=options.kubeconfigs or folder,
        in_cluster=options.in_cluster,
        untrusted=tuple(map(str, repository.work_trees)),
        named_in_source=frozenset(filter(None, [folder, *(access.kubeconfig for access in clusters)])),
        impersonate=Impersonation(user=user, groups=groups) if user or groups else None,
        user_agent=f"argosy/{engine_version()}",
    )


HUB = "the hub"
"""The name under which a tool's hub is opened, and told of."""


def tool_access(
    fleet: Fleet, settings: EmissionSettings, places: Iterable[str], options: AccessOptions, repository: GitFolder
) -> MemberAccess:
    """Return how a tool is reached at its places, which are its hub or members, to read what it did."""
    status = settings.status or ToolAccess()
    clusters = tuple(
        ClusterAccess(
            name=place,
            context=status.context.replace("{cluster}", place),
            kubeconfig=status.kubeconfig.replace("{cluster}", place),
        )
        for place in places
    )
    where = HUB if status.is_in_cluster else ""
    asked = replace(options, kubeconfig="", kubeconfigs="", in_cluster=where)
    return member_access(replace(fleet, clusters=clusters, kubeconfigs=""), asked, repository)


def _path_beside_fleet_file(fleet: Fleet, repository: GitFolder, path: str) -> str:
    """Return a path that argosy.yaml names: one that is not absolute starts beside that file, wherever we are run.

    Without a work tree there is nothing beside it. Looked for in the current folder, it would be a file of whoever
    made what we happen to stand in.
    """
    if not path or Path(path).expanduser().is_absolute():
        return path and str(Path(path).expanduser())
    if repository.work_tree is None:
        raise ConfigError(
            f"argosy.yaml names {path!r}, a path in a work tree, and this repository has none",
            hint="write an absolute path there, or name the kubeconfig with --kubeconfig or --kubeconfigs",
        )
    return str((repository.work_tree / fleet.path).parent / path)
