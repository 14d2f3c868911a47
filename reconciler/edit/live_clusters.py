"""Clusters, read and written as the files of a fleet, with a report of what was left out.

Nothing is written to a cluster, and no content of a Secret is asked for.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from reconciler.members.boundary import result_or_failure
from reconciler.members.exchange import Failure
from reconciler.members.identity import Impersonation
from reconciler.members.kubeconfig import default_kubeconfig_files, load_kubeconfig
from reconciler.members.opening import MemberAccess, Members
from reconciler.members.options import AccessOptions
from reconciler.members.visits import MemberReach
from reconciler.observe.whole_clusters import ReadingOptions, WholeCluster, read_clusters
from reconciler.repository.trailers import engine_version
from render.documents import emit
from render.errors import ClusterError, ConfigError
from render.federations.plain_clusters.front_end import (
    LiveCluster,
    ReadCluster,
    conversion_of_clusters,
    objects_as_person_writes_them,
)
from render.federations.plain_clusters.system_objects import (
    KINDS_LEFT_OUT,
    METADATA_ALONE,
    OWN_NAMESPACE,
    is_system_namespace,
)
from render.federations.policies import files_of_written_objects, objects_written_for
from render.model import ARGOSY_API_VERSION
from render.settings.clusters import ClusterAccess

from .importing import Import, report_lines_of_conversion

SYSTEM = "live clusters"
FLEET_FILE = "argosy.yaml"


class LiveReading(Struct, frozen=True, kw_only=True):
    """The clusters to read, each with its context, and how: ``namespaces`` alone, or all, or all but the system's."""

    contexts: Mapping[str, str]
    reach: MemberReach
    namespaces: tuple[str, ...] = ()
    with_system: bool = False

    @property
    def is_of_system(self) -> bool:
        """Return whether objects of the system are asked for."""
        return self.with_system or any(map(is_system_namespace, self.namespaces))

    def options(self) -> ReadingOptions:
        """Return the options to read clusters with."""
        return ReadingOptions(
            reach=self.reach,
            namespaces=self.namespaces,
            is_skipped=_is_argosy_namespace if self.with_system else is_system_namespace,
            skipped_kinds=KINDS_LEFT_OUT,
            metadata_kinds=METADATA_ALONE,
        )


def members_in_contexts(contexts: Mapping[str, str], options: AccessOptions) -> Members:
    """Return what opens clients for clusters: by their contexts in the kubeconfig, or in the folder, of options."""
    groups = options.as_groups
    identity = Impersonation(user=options.as_user, groups=groups) if options.as_user or groups else None
    ways = () if options.kubeconfigs else contexts.items()
    return Members(
        MemberAccess(
            clusters=tuple(ClusterAccess(name=name, context=context) for name, context in ways),
            kubeconfig=options.kubeconfig,
            folder=options.kubeconfigs,
            impersonate=identity,
            user_agent=f"argosy/{engine_version()}",
        )
    )


def control_plane_context(context: str, options: AccessOptions) -> str:
    """Return the context of a control plane, the current one where none is named."""
    if context:
        return context
    files = (Path(options.kubeconfig).expanduser(),) if options.kubeconfig else default_kubeconfig_files(os.environ)
    loaded = load_kubeconfig(files)
    if isinstance(loaded, Failure):
        raise ConfigError(loaded.message, hint=loaded.hint)
    if not loaded.current:
        raise ConfigError("the kubeconfig has no current context", hint="name one with --context")
    return loaded.current


def _is_argosy_namespace(namespace: str) -> bool:
    return namespace == OWN_NAMESPACE


def import_of_clusters(reading: LiveReading) -> Import:
    """Read clusters and convert what runs there; ClusterError where none of them can be read."""
    read = read_clusters(sorted(reading.contexts), reading.options())
    found = {name: _read_as_written_by_hand(each, reading) for name, each in read.items()}
    clusters = [each for each in found.values() if isinstance(each, ReadCluster)]
    failures = {name: each for name, each in found.items() if isinstance(each, Failure)}
    if not clusters:
        raise ClusterError("no cluster could be read", hint=_joined_failure_reasons(failures))
    skipped = frozenset[str]().union(*(each.skipped for each in read.values() if isinstance(each, WholeCluster)))
    conversion = conversion_of_clusters(clusters, skipped).without_secrets()
    contexts = {each.name: reading.contexts[each.name] for each in clusters}
    fleet = {FLEET_FILE: _fleet_file_content(contexts, is_whole=reading.is_of_system)}
    objects = objects_written_for(conversion)
    return Import(
        system=SYSTEM,
        objects=tuple(objects),
        files={**fleet, **files_of_written_objects(objects)},
        lines=report_lines_of_conversion(conversion),
        failures=failures,
    )


def _read_as_written_by_hand(cluster: WholeCluster | Failure, reading: LiveReading) -> ReadCluster | Failure:
    """Return a cluster as a person would write it; whatever is wrong with its objects is its own failure."""
    if isinstance(cluster, Failure):
        return cluster
    unlisted = {kind: each.message for kind, each in cluster.unlisted.items()}
    live = LiveCluster(name=cluster.name, objects=cluster.objects, scaled=cluster.scaled, unlisted=unlisted)
    return result_or_failure(lambda: objects_as_person_writes_them(live, with_system=reading.is_of_system))


def _joined_failure_reasons(failures: Mapping[str, Failure]) -> str:
    return "; ".join(f"{name}: {each.message}" for name, each in failures.items())


def _fleet_file_content(contexts: Mapping[str, str], *, is_whole: bool) -> bytes:
    """Return the settings of a fleet: the contexts of its clusters; ``is_whole`` if the system's namespaces are its."""
    spec = {"clusters": list(_contexts_as_settings(contexts))} | ({"skippedNamespaces": []} if is_whole else {})
    metadata = {"name": "default"}
    return emit({"apiVersion": ARGOSY_API_VERSION, "kind": "Fleet", "metadata": metadata, "spec": spec})


def _contexts_as_settings(contexts: Mapping[str, str]) -> Iterable[Mapping[str, str]]:
    for name, context in sorted(contexts.items()):
        yield {"name": name} | ({"context": context} if context != name else {})
