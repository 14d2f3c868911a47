"""The views of the page, one module each, and the table of them in the order of the navigation."""

from collections.abc import Mapping

from reconciler.pages.view import PageView

from . import (
    changes,
    cluster,
    clusters,
    commit,
    diff,
    matrix,
    namespace,
    namespaces,
    objects,
    overview,
    policies,
    policy,
    problems,
    rollouts,
    search,
    what_if,
)
from .of_object import blame, history, now, pods, why

VIEWS: Mapping[str, PageView] = {
    each.name: each
    for each in (
        overview.VIEW,
        problems.VIEW,
        overview.WAITING,
        rollouts.VIEW,
        matrix.VIEW,
        clusters.VIEW,
        cluster.VIEW,
        namespaces.VIEW,
        namespace.VIEW,
        objects.VIEW,
        policies.VIEW,
        policy.VIEW,
        changes.VIEW,
        diff.VIEW,
        what_if.VIEW,
        commit.VIEW,
        now.VIEW,
        why.VIEW,
        pods.VIEW,
        history.VIEW,
        blame.VIEW,
        search.VIEW,
    )
}
"""Every view by its name."""
