"""The works of a template, and the clusters and trees that they are made for."""

from render.binding import Binding
from render.boundary import result_or_substitute
from render.cluster_index import ClusterIndex
from render.model import Template
from render.revisions import WorkFailure
from render.works import WorkContext, Works, render_works

from .assembly import (
    TreeContext,
    clusters_an_object_goes_to,
)
from .claims import unexpected_failure
from .pass_values import Inputs


def works_of_template(template: Template, binding: Binding, context: WorkContext, index: ClusterIndex) -> Works:
    """Return the works of a template; an error nobody thought of has all its clusters keep what they have."""

    def failed_works(error: Exception) -> Works:
        clusters = clusters_an_object_goes_to(binding, TreeContext(index=index, previous=None))
        failure = WorkFailure(clusters=clusters, error=unexpected_failure(template.ref, error))
        return Works(variants=(), blobs={}, contents=(), failures=(failure,))

    return result_or_substitute(lambda: render_works(template, binding, context), failed_works)


def tree_context_of_pass(inputs: Inputs, index: ClusterIndex) -> TreeContext:
    """Return the clusters of a pass with the tree that they hold now."""
    keeps, before = inputs.desired.fleet.failover.guard.keeps_last_copy, inputs.previous
    return TreeContext(index=index, previous=before.tree if before else None, keeps_undispatched=keeps)
