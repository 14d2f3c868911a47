"""Clients for the members of a fleet: kubeconfigs are read once, plugins run once, and each cluster has one client."""

import os
from dataclasses import dataclass
from pathlib import Path

from render.fleet import ClusterAccess

from .client import DEFAULT_CONCURRENCY, KubeClient
from .connection import open_connection
from .credentials import AuthPlugins
from .exchange import Failure
from .identity import Impersonation
from .kubeconfig import Context, Contexts, default_files, unusable_context


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberAccess:
    """The settings by which members are reached.

    ``kubeconfig`` stands in for the usual file, ``folder`` has one file a cluster, and ``in_cluster`` names the one
    member this process runs in. ``untrusted`` is a folder (a checkout) whose kubeconfigs must not run programs.
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
        self._plugins = AuthPlugins(environment=os.environ, seconds=access.exec_seconds)

    def open(self, cluster: str, deadline: float) -> KubeClient | Failure:
        """Return a client for a cluster that gives up at ``deadline`` (on the monotonic clock)."""
        context = self._context(cluster)
        if isinstance(context, Failure):
            return context
        if refused := self._refused(context):
            return refused
        connection = open_connection(
            context, self._plugins, identity=self._access.impersonate, connections=self._access.concurrency
        )
        if isinstance(connection, Failure):
            return connection
        return KubeClient(
            connection,
            deadline=deadline,
            concurrency=self._access.concurrency,
            user_agent=self._access.user_agent,
        )

    def _context(self, cluster: str) -> Context | Failure:
        if cluster != self._access.in_cluster:
            return self._contexts.find(cluster)
        from .auth_providers import in_cluster_context

        return in_cluster_context()

    def _refused(self, context: Context) -> Failure | None:
        """Return the failure of a kubeconfig of the source that asks for what only one of this machine may.

        Whoever can push to the source could otherwise run programs here, or have any file of this machine sent away.
        """
        source = Path(self._access.untrusted).resolve()
        if not self._access.untrusted or not context.user_folder.resolve().is_relative_to(source):
            return None
        user = context.user
        token_file = (context.user_folder / str(user.get("tokenFile") or "")).resolve()
        if user.get("exec") or user.get("auth-provider"):
            what = f"run an {'exec plugin' if user.get('exec') else 'auth provider'} named in the source repository"
        elif not token_file.is_relative_to(source):
            what = "send away a file from outside of the source repository"
        else:
            return None
        return unusable_context(
            f"the context {context.name!r} would {what}",
            "keep kubeconfigs with exec plugins, auth providers or token files outside of the repository",
        )
