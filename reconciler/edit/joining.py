"""``argosy cluster join``: a Cluster file for a new member and, where a context is named for it, a line in argosy.yaml.

That line decides what passes do: they apply to the clusters that argosy.yaml lists. So what it changes is said aloud.
"""

from dataclasses import dataclass, replace
from typing import Any

import click

from overrides.admission import admit
from reconciler.console.log import Log
from reconciler.source.manifests import LocatedManifest
from render.documents import emit, parse_documents
from render.documents.editing import Edit
from render.errors import ConfigError, InputError
from render.fleet import Fleet
from render.model import ARGOSY_API_VERSION

from .cluster_files import Contents, MemberSource
from .label_words import parse_labels
from .labels import Told, opened_source, write


@dataclass(frozen=True, slots=True, kw_only=True)
class Joining:
    """A member that is to join: where it is, its labels, and the kubeconfig context that reaches it."""

    name: str
    region: str = ""
    zones: tuple[str, ...] = ()
    provider: str = ""
    labels: tuple[str, ...] = ()
    context: str = ""

    def manifest(self) -> dict[str, Any]:
        """Return the Cluster."""
        wanted, removed = parse_labels(self.labels)
        if removed:
            raise click.UsageError("--label sets labels: write key=value")
        labels = {"labels": dict(wanted)} if wanted else {}
        place = {"provider": self.provider, "region": self.region, "zones": list(self.zones)}
        return {
            "apiVersion": "cluster.karmada.io/v1alpha1",
            "kind": "Cluster",
            "metadata": {"name": self.name, **labels},
            "spec": {"syncMode": "Push", **{key: value for key, value in place.items() if value}},
        }


def join_member(log: Log, joining: Joining, *, commit: bool) -> int:
    """Write the Cluster of a new member, and how it is reached where that is not by its name."""
    with opened_source(log) as source:
        manifest = joining.manifest()
        path = _new_path(source, joining.name)
        if problems := admit(manifest).problems:
            raise InputError(replace(problem, path=path) for problem in problems)
        _refuse_member(source, joining.name, path)
        contents = {path: emit(manifest), **context_change(source, joining.name, joining.context)}
        after = source.checked(contents).desired
        if joining.name not in {cluster.name for cluster in after.clusters}:
            raise ConfigError(
                f"{path} would not be read: source.paths or an ignore file leaves it out",
                hint=f"add the folder to source.paths in {source.home.expected_path}",
            )
        write(source, Told(contents=contents, subject=f"Join {joining.name}"), log, commit=commit)
        before = source.fleet
    click.echo(f"cluster/{joining.name} joined")
    tell_reach(before, after.fleet, joining.name, log)
    return 0


def tell_reach(before: Fleet, after: Fleet, name: str, log: Log) -> None:
    """Say what passes do in a new member, and what is new about that."""
    if after.reached == frozenset():
        return
    if after.reached is not None and name not in after.reached:
        log.info(f"argosy reconcile renders for {name} and applies nothing there: argosy.yaml does not list it")
        return
    log.info(f"argosy reconcile applies to {name}")
    if before.reached == frozenset():
        log.warning("until now it only rendered; the clusters that argosy.yaml does not list are left alone")


def _new_path(source: MemberSource, name: str) -> str:
    return "/".join(filter(None, (source.home.folder, "clusters", f"{name}.yaml")))


def _refuse_member(source: MemberSource, name: str, path: str) -> None:
    if name in {cluster.name for cluster in source.loaded.desired.clusters}:
        place = source.place_of(name)
        raise ConfigError(
            f"{name!r} is a member already: {place.file.path}:{source.line_of(place)}",
            hint=f"argosy cluster label {name} key=value changes it",
        )
    if any(file.path == path for file in source.files):
        raise ConfigError(f"{path} is there already and holds no Cluster called {name!r}", hint="move that file away")


def context_change(source: MemberSource, name: str, context: str) -> Contents:
    """Return argosy.yaml saying which context reaches a member ("": nothing of it); nothing if it says so already."""
    path = source.home.path or source.home.expected_path
    listed = [access.name for access in source.fleet.clusters]
    item = {"name": name, **({"context": context} if context != name else {})}
    edits = []
    if name in listed:
        edits.append(Edit(("spec", "clusters", listed.index(name))))
    if context and (context != name or source.fleet.reached is not None):
        edits.append(Edit(("spec", "clusters", len(listed) - len(edits)), item))
    if not edits:
        return {}
    content = source.content(path)
    if content is None:
        head = {"apiVersion": ARGOSY_API_VERSION, "kind": "Fleet", "metadata": {"name": "default"}}
        return {path: emit({**head, "spec": {"clusters": [item]}})}
    return source.with_edits(_fleet_place(source, path, content), edits)


def _fleet_place(source: MemberSource, path: str, content: bytes) -> LocatedManifest:
    documents = [each for each in parse_documents(content) if each.value]
    document = next(each for each in documents if isinstance(each.value, dict) and each.value.get("kind") == "Fleet")
    file = next(file for file in source.files if file.path == path)
    return LocatedManifest(document.value, file, document.index, document.index)
