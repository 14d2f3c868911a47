"""What no policy holds any more: objects that a commit of the source would release, or that are released already."""

from collections.abc import Iterator

from overrides.lint import LineOf
from reconciler.passes.claims import released_bindings
from reconciler.passes.facts import Facts, with_facts
from reconciler.passes.previous import Previous
from reconciler.passes.released import HINT, released_objects
from reconciler.source.desired import Desired
from render.cluster_index import ClusterIndex
from render.errors import Problem

RELEASED = "Released"


def released_warnings(
    desired: Desired, previous: Previous, *, facts: Facts, line_of: LineOf | None = None
) -> Iterator[Problem]:
    """Yield a warning at the template of each object that clusters keep though no policy selects it."""
    bindings = tuple(released_bindings(desired, previous.bindings))
    if not bindings:
        return
    template_by_ref = {template.ref: template for template in desired.templates}
    index = ClusterIndex(with_facts(desired.clusters, facts))
    for each in released_objects(desired, bindings, index, previous.tree):
        template = template_by_ref[each.ref]
        line = line_of(template.path, template.document, "") if line_of else 0
        yield Problem(template.path, line, "", str(each), HINT, RELEASED)
