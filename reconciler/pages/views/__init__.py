"""The views of the page, one module each, and the table of them in the order of the navigation."""

from collections.abc import Mapping

from reconciler.pages.view import PageView

from . import commit, diff, overview, problems, rollouts, what_if
from .of_object import blame, history, now, why

VIEWS: Mapping[str, PageView] = {
    each.name: each
    for each in (
        overview.VIEW,
        problems.VIEW,
        overview.WAITING,
        rollouts.VIEW,
        diff.VIEW,
        what_if.VIEW,
        commit.VIEW,
        now.VIEW,
        why.VIEW,
        history.VIEW,
        blame.VIEW,
    )
}
"""Every view by its name."""
