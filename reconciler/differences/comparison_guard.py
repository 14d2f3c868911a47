"""The guards for a change of the source that is only looked at: what its commit would be refused for."""

from reconciler.passes.guard import NOTHING_COMMITTED, removals
from reconciler.passes.guarding import Allowed, allowed_between, breaches_of, check_found, check_members
from render.errors import GuardRefused

from .comparing import Comparison, tree_reader


def check_comparison(comparison: Comparison, allowed: Allowed) -> None:
    """Refuse a change of the source that would take or move too much."""
    base, head = comparison.base, comparison.head
    guard = head.source.desired.fleet.removal_guard
    found = removals(base.rendered.tree.clusters, head.rendered.tree.clusters, tree_reader(comparison), guard)
    allowed |= allowed_between(head.repository, base.source.commit, head.source.commit)
    before = {binding.ref: binding for binding in base.rendered.built.bindings}
    try:
        check_members(base.rendered.tree.clusters, head, allowed)
        check_found(found, breaches_of(before, head), allowed)
    except GuardRefused as error:
        # There was nothing to commit.
        raise GuardRefused(error.message.replace(NOTHING_COMMITTED, ""), hint=error.hint) from error
