"""The outcome of a pass, or the part that is asked for: a table, manifests, Work objects or bindings."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from reconciler.console.cluster_lists import (
    OVERRIDDEN_NOTE,
    all_clusters_with_replicas,
    clusters_with_replicas_within_width,
)
from reconciler.console.log import Log
from reconciler.console.table_layout import narrowed_table_width, unwrapped_table_width
from reconciler.console.tables import text_table
from reconciler.console.terminal import screen_width
from reconciler.names.subjects import refuse_unknown_clusters
from reconciler.pipeline.karmada_works import work_objects
from reconciler.pipeline.readme import ATTACHED, binding_state
from reconciler.plans.rendered_object import object_of_rendered_file
from reconciler.rendering.outcome import Outcome
from reconciler.repository import write_directory
from render.binding import Binding
from render.bits import indexes_of_mask
from render.documents import emit
from render.model import Manifest, TargetCluster, Template
from render.parsing import binding_manifest
from render.words import most_similar_word

_LEAST_ROOM = 16
_FEW = 6
_ALONG = "with the objects in it"
Namespaces = Sequence[tuple[Template, tuple[str, ...]]]
"""Namespaces that go along with the objects in them, each with its clusters."""


class Selection(Struct, frozen=True, kw_only=True):
    """The clusters and the namespace to show; empty means all."""

    clusters: tuple[str, ...] = ()
    namespace: str = ""

    def has_path(self, path: str) -> bool:
        """Return whether a path of the rendered tree is asked for; files beside clusters/ belong to no selection."""
        parts = path.split("/")
        if parts[0] != "clusters":
            return not self.clusters and not self.namespace
        return self.has_cluster(parts[1]) and self.namespace in {"", parts[2]}

    def has_cluster(self, name: str) -> bool:
        """Return whether a cluster is asked for."""
        return not self.clusters or name in self.clusters

    def has_binding(self, binding: Binding) -> bool:
        """Return whether a binding is asked for."""
        if self.namespace and binding.ref.namespace != self.namespace:
            return False
        return not self.clusters or any(target.name in self.clusters for target in all_targets(binding))


def output_texts(outcome: Outcome, selection: Selection, *, shape: str, output: str) -> Iterable[str]:
    """Return the texts to print, in order."""
    if output in {"table", "wide"}:
        return summary_tables(outcome, selection, is_wide=output == "wide", width=screen_width())
    if output == "name":
        return (f"{cluster} {path}\n" for cluster, path, _ in cluster_files(outcome, selection))
    documents = {
        "manifests": manifests_of_clusters,
        "works": works_as_manifests,
        "bindings": bindings_as_karmada_objects,
    }[shape](outcome, selection)
    return (f"---\n{emit(document).decode()}" for document in documents)


def summary_tables(outcome: Outcome, selection: Selection, *, is_wide: bool = False, width: int = 0) -> Iterator[str]:
    """Yield a table of every object with its clusters and replicas, then the objects no policy claims.

    ``width`` is that of the terminal (0: none). The wide table names every cluster, and the file of each template.
    """
    chosen = [each for each in outcome.rendered.built.bindings if selection.has_binding(each)]
    namespaces = tuple(_namespaces_with_clusters(outcome, selection))
    if chosen or namespaces:
        wide = _wide_bindings_table(chosen, namespaces, outcome) if is_wide else ""
        yield wide or _bindings_table(chosen, namespaces, outcome, width)
    unmatched = [match for match in unmatched_objects(outcome) if selection.namespace in {"", match["namespace"]}]
    if unmatched and not selection.clusters:
        most = len(unmatched) if is_wide else 10
        yield f"\n{len(unmatched)} without a policy: " + ", ".join(match["object"] for match in unmatched[:most])
        yield f" and {len(unmatched) - most} more\n" if len(unmatched) > most else "\n"
    if any(each.overridden_replicas for each in chosen):
        yield f"\n{OVERRIDDEN_NOTE}\n"
    if outcome.rendered.tree.disconnected:
        yield f"\ndisconnected, left as they were: {', '.join(outcome.rendered.tree.disconnected)}\n"


def _bindings_table(bindings: Iterable[Binding], namespaces: Namespaces, outcome: Outcome, width: int) -> str:
    """Return a table in which the clusters of an object take what the other columns leave of the width.

    These are wrapped where that lets clusters be named one by one, with their replicas.
    """
    every = outcome.rendered.built.index.names
    rows = sorted(
        (
            *_namespace_and_name(each),
            _policy_or_reason_for_none(each),
            _replicas_by_cluster(each),
            tuple(each.overridden_replicas),
        )
        for each in bindings
    )
    for namespace, there in namespaces:
        rows.append(("-", f"Namespace/{namespace.ref.name}", _ALONG, tuple((name, 0) for name in there), ()))
    rows.sort(key=lambda row: row[:3])
    header = ("NAMESPACE", "OBJECT", "CLUSTERS", "POLICY")
    others = (*header[:2], "", header[3]), [(*row[:2], "", row[2]) for row in rows]
    room = max(width - unwrapped_table_width(*others), _LEAST_ROOM) if width else 0
    # A few clusters are named one by one wherever other columns can give way; the names of many would drive them out.
    most = min(width - narrowed_table_width(*others), width // 2)

    def cell(replicas: tuple[tuple[str, int], ...], overridden: tuple[str, ...]) -> str:
        whole = all_clusters_with_replicas(dict(replicas), overridden)
        fits = len(replicas) <= _FEW and len(whole) <= most
        return whole if fits else clusters_with_replicas_within_width(dict(replicas), every, room, overridden)

    cells = [(*row[:2], cell(row[3], row[4]), row[2]) for row in rows]
    return text_table(header, cells, width=width)


def _namespaces_with_clusters(outcome: Outcome, selection: Selection) -> Iterator[tuple[Template, tuple[str, ...]]]:
    """Yield the Namespaces of the source that go along with objects in them, each with its clusters.

    No policy claims them, so that they have no binding.
    """
    if selection.namespace:
        return
    paths, names = {each.ref for each in outcome.source.desired.templates}, outcome.rendered.built.index.names
    for template, works in outcome.rendered.namespaces:
        there = sorted({names[index] for variant in works.variants for index in indexes_of_mask(variant.clusters)})
        chosen = tuple(name for name in there if selection.has_cluster(name))
        if template.ref in paths and chosen:
            yield template, tuple(there)


def _wide_bindings_table(bindings: Iterable[Binding], namespaces: Namespaces, outcome: Outcome) -> str:
    """Return a table with all there is to say of each object, however wide that is."""
    path_by_ref = {template.ref: template.path for template in outcome.source.desired.templates}
    rows = [
        (
            *_namespace_and_name(each),
            str(each.asked_replicas) if each.is_workload else "-",
            all_clusters_with_replicas(dict(_replicas_by_cluster(each)), each.overridden_replicas),
            _policy_or_reason_for_none(each),
            path_by_ref.get(each.ref, "-"),
        )
        for each in bindings
    ]
    rows += [
        (
            "-",
            f"Namespace/{each.ref.name}",
            "-",
            all_clusters_with_replicas(dict.fromkeys(there, 0)),
            _ALONG,
            each.path or "-",
        )
        for each, there in namespaces
    ]
    header = ("NAMESPACE", "OBJECT", "REPLICAS", "CLUSTERS", "POLICY", "FILE")
    return text_table(header, sorted(rows), width=0)


def _namespace_and_name(binding: Binding) -> tuple[str, str]:
    return binding.ref.namespace or "-", f"{binding.ref.group_kind}/{binding.ref.name}"


def _replicas_by_cluster(binding: Binding) -> tuple[tuple[str, int], ...]:
    """Return the clusters that get an object, with the replicas they have then; what is pending is told beside."""
    replicas = binding.placed_replicas
    # An object that a workload requires goes where the workload goes, but has no replicas of its own.
    names = {target.name for target in all_targets(binding)} - binding.undispatched_clusters
    return tuple((name, replicas.get(name, 0)) for name in sorted(names))


def _policy_or_reason_for_none(binding: Binding) -> str:
    state = binding_state(binding)
    if binding.policy:
        return binding.policy if state == "Success" else f"{binding.policy} ({state})"
    owners = ", ".join(snapshot.name for snapshot in binding.required_by)
    return f"required by {owners}" + ("" if state == ATTACHED else f" ({state})") if owners else state


def unmatched_objects(outcome: Outcome) -> list[dict[str, str]]:
    """Return the templates that go to no cluster, with the reason."""
    built = outcome.rendered.built
    bound = {binding.ref for binding in built.bindings} | {template.ref for template, _ in outcome.rendered.namespaces}
    objects = []
    for template in built.claims.unmatched:
        if template.ref not in bound:
            match = built.claims.matches[template.ref]
            objects.append(
                {
                    "object": str(template.ref),
                    "namespace": template.ref.namespace,
                    "reason": str(match.reason or ""),
                    "message": match.message,
                    "path": template.path,
                }
            )
    return objects


def cluster_files(outcome: Outcome, selection: Selection) -> Iterator[tuple[str, str, bytes]]:
    """Yield cluster, path and blob id of every file that is asked for."""
    for cluster, tree_id in sorted(outcome.rendered.tree.clusters.items()):
        if selection.has_cluster(cluster):
            for path, blob_id in outcome.files(tree_id):
                if selection.namespace in {"", path.split("/")[0]}:
                    yield cluster, path, blob_id


def manifests_of_clusters(outcome: Outcome, selection: Selection) -> Iterator[Manifest]:
    """Yield the objects of every cluster, cluster by cluster."""
    for objects in objects_by_cluster(outcome, selection).values():
        yield from objects


def objects_by_cluster(outcome: Outcome, selection: Selection) -> dict[str, list[Manifest]]:
    """Return the objects each cluster must hold; equal ones are read once."""
    files = list(cluster_files(outcome, selection))
    contents = outcome.contents({blob_id for _, _, blob_id in files})
    paths = {blob_id: path for _, path, blob_id in files}
    values = {blob_id: object_of_rendered_file(content, paths[blob_id]) for blob_id, content in contents.items()}
    objects: dict[str, list[Manifest]] = {
        name: [] for name in sorted(outcome.rendered.tree.clusters) if selection.has_cluster(name)
    }
    for cluster, _, blob_id in files:
        objects[cluster].append(values[blob_id])
    return objects


def bindings_as_karmada_objects(outcome: Outcome, selection: Selection) -> Iterator[Manifest]:
    """Yield the bindings as Karmada's objects."""
    for binding in outcome.rendered.built.bindings:
        if selection.has_binding(binding):
            yield binding_manifest(binding)


def works_as_manifests(outcome: Outcome, selection: Selection) -> Iterator[Manifest]:
    """Yield Karmada's Work objects, also those that suspension holds back."""
    return (
        work
        for work in work_objects(outcome.rendered)
        if selection.has_cluster(_cluster_of_work(work)) and selection.namespace in {"", _namespace_in_work(work)}
    )


def _cluster_of_work(work: Manifest) -> str:
    return str(work["metadata"]["namespace"]).removeprefix("karmada-es-")


def _namespace_in_work(work: Manifest) -> str:
    (manifest,) = work["spec"]["workload"]["manifests"]
    return str(manifest["metadata"].get("namespace", ""))


def refuse_unknown_clusters_selected(outcome: Outcome, selection: Selection) -> None:
    """Raise UnknownName for a cluster that neither the source has nor an earlier commit left something in."""
    rendered = outcome.rendered
    refuse_unknown_clusters(
        selection.clusters, rendered.built.index.index_by_name.keys() | rendered.tree.clusters.keys()
    )


def reason_nothing_is_selected(outcome: Outcome, selection: Selection) -> str:
    """Say that a selection leaves nothing to show; empty when it leaves something."""
    namespaces = {binding.ref.namespace for binding in outcome.rendered.built.bindings}
    namespaces |= {str(each["namespace"]) for each in unmatched_objects(outcome)}
    if any(map(selection.has_binding, outcome.rendered.built.bindings)) or any(cluster_files(outcome, selection)):
        return ""
    if selection.namespace and selection.namespace not in namespaces:
        near = most_similar_word(selection.namespace, namespaces)
        return f"no objects in namespace {selection.namespace!r}" + (f"; did you mean {near!r}?" if near else "")
    what = f"no object of namespace {selection.namespace!r}" if selection.namespace else "no object"
    return f"{what} goes to {' or '.join(selection.clusters)}" if selection.clusters else f"{what} goes anywhere"


def write_tree(outcome: Outcome, selection: Selection, folder: Path, log: Log) -> None:
    """Write the tree to a folder that Argosy alone writes; files of an earlier run that are gone are removed."""
    files = dict(outcome.files(outcome.rendered.tree.root))
    chosen = {path: blob_id for path, blob_id in files.items() if selection.has_path(path)}
    contents = outcome.contents(chosen.values())
    done = write_directory(folder, ((path, contents[blob_id]) for path, blob_id in chosen.items()))
    log.info("written", folder=folder, files=done.written, unchanged=done.unchanged, removed=done.removed)


def all_targets(binding: Binding) -> Iterator[TargetCluster]:
    """Yield a binding's own target clusters, then those of what requires it."""
    yield from binding.targets
    for snapshot in binding.required_by:
        yield from snapshot.clusters
