"""Clients for the members of a fleet: kubeconfigs are read once, plugins run once, and each cluster has one client."""

import os
import resource
import weakref
from pathlib import Path

from msgspec import Struct

from render.settings.clusters import ClusterAccess

from .client import DEFAULT_CONCURRENCY, KubeClient
from .connection import Connection, open_connection
from .credentials import AuthPlugins
from .exchange import Failure
from .identity import Impersonation
from .kubeconfig import Context, Contexts, default_kubeconfig_files, failure_of_unusable_context
from .options import DeliveryOptions

_MOST_KEPT = 1024
"""The clusters whose connection is kept for their next client, as far as descriptors are there: 54 KiB each."""
_SENT_FILES = ("tokenFile", "client-certificate", "client-key")


class MemberAccess(Struct, frozen=True, kw_only=True):
    """The settings by which members are reached.

    ``kubeconfig`` stands in for the usual file, ``folder`` has one file a cluster, and ``in_cluster`` names the one
    member this process runs in. ``untrusted`` are folders (checkouts) whose kubeconfigs must not run programs, and
    ``named_in_source`` are the kubeconfigs and folders that argosy.yaml names: these must not wherever the checkout
    is that they stand in.
    """

    clusters: tuple[ClusterAccess, ...] = ()
    kubeconfig: str = ""
    folder: str = ""
    in_cluster: str = ""
    untrusted: tuple[str, ...] = ()
    named_in_source: frozenset[str] = frozenset()
    impersonate: Impersonation | None = None
    concurrency: int = DEFAULT_CONCURRENCY
    user_agent: str = "argosy"
    granting: str = "argosy rbac --cluster {cluster} | kubectl --context {cluster} apply -f -"
    exec_seconds: float = 20.0


class Members:
    """Opens a client for each member of a fleet."""

    def __init__(self, access: MemberAccess) -> None:
        self._access = access
        files = (Path(access.kubeconfig),) if access.kubeconfig else default_kubeconfig_files(os.environ)
        folder = Path(access.folder) if access.folder else None
        self._contexts = Contexts(access=access.clusters, folder=folder, files=files)
        self._plugins = AuthPlugins(environment=os.environ, seconds=access.exec_seconds)
        self._kept: dict[str, Connection] = {}
        self._most_kept = most_connections_to_keep(resource.getrlimit(resource.RLIMIT_NOFILE)[0])

    def open(self, cluster: str, deadline: float) -> KubeClient | Failure:
        """Return a client for a cluster that gives up at ``deadline`` (on the monotonic clock).

        It goes on over the connection of the client before, which that leaves when nobody has it any more.
        """
        connection = self._kept.pop(cluster, None) or self._connection(cluster)
        if isinstance(connection, Failure):
            return connection
        client = KubeClient(
            connection,
            deadline=deadline,
            concurrency=self._access.concurrency,
            user_agent=self._access.user_agent,
        )
        client.granting = self._access.granting.replace("{cluster}", cluster)
        weakref.finalize(client, self._keep, cluster, connection).atexit = False
        return client

    def _keep(self, cluster: str, connection: Connection) -> None:
        """Keep a connection that nobody uses any more, where there is room for it."""
        if len(self._kept) < self._most_kept:
            connection.close_spare_wires()
            self._kept[cluster] = connection

    def _connection(self, cluster: str) -> Connection | Failure:
        context = self.usable_context(cluster)
        if isinstance(context, Failure):
            return context
        return open_connection(
            context, self._plugins, identity=self._access.impersonate, connections=self._access.concurrency
        )

    def usable_context(self, cluster: str) -> Context | Failure:
        """Return the context by which a cluster is reached, or why there is none that may be used."""
        context = self._context_of_cluster(cluster)
        if isinstance(context, Failure):
            return context
        return self._refusal_of_kubeconfig(context) or context

    def _context_of_cluster(self, cluster: str) -> Context | Failure:
        if cluster != self._access.in_cluster:
            return self._contexts.find(cluster)
        from .auth_providers import in_cluster_context

        return in_cluster_context()

    def _refusal_of_kubeconfig(self, context: Context) -> Failure | None:
        """Return the failure of a kubeconfig of the source that asks for what only one of this machine may.

        Whoever can push to the source could otherwise run programs here, or have any file of this machine sent away.
        """
        source = self._checkout_of_context(context)
        if source is None:
            return None
        files = {context.user_folder / str(context.user[name]) for name in _SENT_FILES if context.user.get(name)}
        if context.user.get("exec") or context.user.get("auth-provider"):
            program = "an exec plugin" if context.user.get("exec") else "an auth provider"
            refused = f"run {program} named in the source repository"
        elif not all(path.resolve().is_relative_to(source) for path in files):
            refused = "send away a file from outside of the source repository"
        else:
            return None
        return failure_of_unusable_context(
            f"the context {context.name!r} would {refused}",
            "keep kubeconfigs with exec plugins, auth providers or token files outside of the repository",
        )

    def _checkout_of_context(self, context: Context) -> Path | None:
        """Return the checkout that a context's user comes from; None where it comes from this machine's own files.

        A file that argosy.yaml names is of the source if it stands in any checkout: the one that was cloned as a bare
        repository or given as an address is then not known here.
        """
        file = context.user_file
        places = (file.parent.resolve(), file.resolve().parent)
        checkouts = [Path(folder).resolve() for folder in self._access.untrusted]
        if file == Path(self._access.kubeconfig) or not self._is_named_in_source(file):
            found = (each for each in checkouts if any(place.is_relative_to(each) for place in places))
            return next(found, None)
        around = (folder for place in places for folder in (place, *place.parents))
        return next((folder for folder in around if folder in checkouts or _is_top_of_repository(folder)), None)

    def _is_named_in_source(self, file: Path) -> bool:
        named = {Path(name).absolute() for name in self._access.named_in_source}
        return not named.isdisjoint({file.absolute(), file.absolute().parent})


def most_connections_to_keep(descriptors: int) -> int:
    """Return how many connections a process may keep that may have so many descriptors (below zero: any number).

    >>> [most_connections_to_keep(count) for count in (1024, 65536, resource.RLIM_INFINITY)]
    [256, 1024, 1024]
    """
    return _MOST_KEPT if descriptors < 0 else min(_MOST_KEPT, descriptors // 4)


def _is_top_of_repository(folder: Path) -> bool:
    """Say whether a folder is the top of a checkout, or a bare repository."""
    return (folder / ".git").exists() or all((folder / name).exists() for name in ("HEAD", "objects", "refs"))


def members_for_delivery(delivery: DeliveryOptions) -> Members:
    """Return the clusters that the options of delivery have credentials of, as the controller itself."""
    return Members(
        MemberAccess(kubeconfig=delivery.kubeconfig, folder=delivery.kubeconfigs, in_cluster=delivery.in_cluster)
    )
