"""Templates that go nowhere, because no policy selects them and nothing brings them along.

Nothing else tells of them: they are no difference in any cluster, no binding, and no problem. Those that are meant to
stay are named by ``notPropagated`` of argosy.yaml.
"""

from collections.abc import Container, Iterable, Iterator

from msgspec import Struct

from reconciler.source.desired import Desired
from render.matching.match import NoPolicyReason
from render.matching.near_misses import NearMisses
from render.model import ObjectRef, Template
from render.settings.fleet import Fleet
from render.settings.switches import NamespacePropagation
from render.words import counted_noun, first_few

from .claims import match_options, policy_index

_MOST_HINTS = 50
"""Templates whose nearest policy is looked for: to compare each of thousands with each of thousands takes minutes."""
_MOST_SHOWN = 10


class Unselected(Struct, frozen=True, kw_only=True):
    """A template that goes nowhere, and the policy that comes nearest to it ("": none does)."""

    ref: ObjectRef
    path: str
    document: int = 0
    nearest: str = ""

    def __str__(self) -> str:
        return f"{self.ref}{f'; nearest policy: {self.nearest}' if self.nearest else ''}"


def unselected_templates(desired: Desired, bound: Container[ObjectRef]) -> tuple[Template, ...]:
    """Return the templates that go nowhere and are not meant to; ``bound`` are those that have a binding.

    A namespace goes with the objects in it, unless policies alone say which namespaces go where.
    """
    fleet, index, options = desired.fleet, policy_index(desired), match_options(desired.fleet)
    is_explicit = fleet.namespaces is NamespacePropagation.EXPLICIT
    return tuple(
        template
        for template in desired.templates
        if template.ref not in bound
        and (is_explicit or template.ref.group_kind != "Namespace")
        and not is_meant_to_stay(template, fleet)
        and index.match(template, options=options).reason is NoPolicyReason.NO_POLICY
    )


def is_meant_to_stay(template: Template, fleet: Fleet) -> bool:
    """Say whether argosy.yaml names a template's kind, or a folder or file that it stands in."""
    return any(stays_by_not_propagated_entry(entry, template, fleet) for entry in fleet.not_propagated)


def stays_by_not_propagated_entry(entry: str, template: Template, fleet: Fleet) -> bool:
    """Say whether an entry of ``notPropagated`` is about a template: a folder or file with "/", or else a kind."""
    if "/" not in entry:
        return entry == template.ref.group_kind
    folder = fleet.path.rpartition("/")[0]
    path = "/".join(filter(None, [folder, entry.removeprefix("./").strip("/")]))
    places = (template.path, template.origin.partition(":")[0])
    return any(place == path or place.startswith(f"{path}/") for place in places)


def templates_with_nearest_policies(templates: Iterable[Template], desired: Desired) -> tuple[Unselected, ...]:
    """Return templates that go nowhere with the nearest policy of each, as far as they are few."""
    found = tuple(templates)
    misses = NearMisses(desired.policies) if len(found) <= _MOST_HINTS else None
    return tuple(
        Unselected(
            ref=each.ref,
            path=each.path,
            document=each.document,
            nearest=str((misses and misses.nearest(each)) or ""),
        )
        for each in sorted(found, key=lambda each: each.ref)
    )


def unselected_lines(unselected: Iterable[Unselected]) -> Iterator[str]:
    """Yield a line for each nearest policy with the templates that it does not select; of many, the first few."""
    by_nearest: dict[str, list[str]] = {}
    for each in unselected:
        by_nearest.setdefault(each.nearest, []).append(str(each.ref))
    for number, (policy, refs) in enumerate(by_nearest.items()):
        if number == _MOST_SHOWN:
            rest = sum(map(len, list(by_nearest.values())[_MOST_SHOWN:]))
            yield f"and {rest} more"
            return
        yield f"{first_few(refs, _MOST_SHOWN)}{f'; nearest policy: {policy}' if policy else ''}"


def unselected_words(count: int, what: str = "template") -> str:
    """Return how many templates go nowhere.

    >>> unselected_words(1, "new template")
    '1 new template goes nowhere'
    """
    return f"{counted_noun(count, what)} {'goes' if count == 1 else 'go'} nowhere"
