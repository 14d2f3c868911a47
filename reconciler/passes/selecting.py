"""What is asked for of a pass: names that must exist, and what is said when nothing is left."""

from reconciler.unknown_names import check_clusters
from render.suggestions import nearest

from .one_pass import Outcome
from .presentation import Selection, cluster_files, unmatched_objects


def check_selection(outcome: Outcome, selection: Selection) -> None:
    """Raise UnknownName for a cluster that neither the source has nor an earlier commit left something in."""
    rendered = outcome.rendered
    check_clusters(selection.clusters, rendered.built.index.index_by_name.keys() | rendered.tree.clusters.keys())


def emptiness(outcome: Outcome, selection: Selection) -> str:
    """Say that a selection leaves nothing to show; empty when it leaves something."""
    namespaces = {binding.ref.namespace for binding in outcome.rendered.built.bindings}
    namespaces |= {str(each["namespace"]) for each in unmatched_objects(outcome)}
    if any(map(selection.has_binding, outcome.rendered.built.bindings)) or any(cluster_files(outcome, selection)):
        return ""
    if selection.namespace and selection.namespace not in namespaces:
        near = nearest(selection.namespace, namespaces)
        return f"no objects in namespace {selection.namespace!r}" + (f"; did you mean {near!r}?" if near else "")
    what = f"no object of namespace {selection.namespace!r}" if selection.namespace else "no object"
    return f"{what} goes to {' or '.join(selection.clusters)}" if selection.clusters else f"{what} goes anywhere"
