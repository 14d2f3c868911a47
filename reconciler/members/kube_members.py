"""Opening clients for the members of a fleet: contexts found once, plugins run once, one client a cluster."""

import os
from dataclasses import dataclass
from pathlib import Path

from render.fleet_settings import ClusterAccess

from .credentials import ExecPlugins
from .exchange import Failure, FailureKind
from .kube import DEFAULT_CONCURRENCY, KubeClient
from .kube_access import Impersonation, in_cluster_context, open_connection
from .kubeconfig import Context, Contexts, default_files


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberAccess:
    """How members are reached. ``kubeconfig``: the usual file's stand-in; ``folder``: one file a cluster.

    ``in_cluster`` names the one member this process runs in. ``untrusted``: a folder (a checkout) whose kubeconfigs
    must not run programs.
    """

    clusters: tuple[ClusterAccess, ...] = ()
    kubeconfig: str = ""
    folder: str = ""
    in_cluster: str = ""
    untrusted: str = ""
    impersonate: Impersonation | None = None
    concurrency: int = DEFAULT_CONCURRENCY
    user_agent: str = "argosy"
    exec_seconds: float = 20.0


class Members:
    """Opens a client for each member of a fleet."""

    def __init__(self, access: MemberAccess) -> None:
        self._access = access
        files = (Path(access.kubeconfig),) if access.kubeconfig else default_files(os.environ)
        folder = Path(access.folder) if access.folder else None
        self._contexts = Contexts(access=access.clusters, folder=folder, files=files)
        self._plugins = ExecPlugins(environment=os.environ, seconds=access.exec_seconds)

    def open(self, cluster: str, deadline: float) -> KubeClient | Failure:
        """Return a client for a cluster that gives up at ``deadline`` (on the monotonic clock)."""
        found = in_cluster_context() if cluster == self._access.in_cluster else self._contexts.find(cluster)
        if isinstance(found, Failure):
            return found
        if found.user.get("exec") and self._is_untrusted(found):
            return Failure(
                kind=FailureKind.CREDENTIALS,
                message=f"the context {found.name!r} would run a program named in the source repository",
                hint="keep kubeconfigs with exec plugins outside of the repository",
            )
        connection = open_connection(
            found, self._plugins, identity=self._access.impersonate, connections=self._access.concurrency
        )
        if isinstance(connection, Failure):
            return connection
        return KubeClient(
            connection,
            deadline=deadline,
            concurrency=self._access.concurrency,
            user_agent=self._access.user_agent,
        )

    def _is_untrusted(self, context: Context) -> bool:
        if not self._access.untrusted:
            return False
        return context.user_folder.resolve().is_relative_to(Path(self._access.untrusted).resolve())
