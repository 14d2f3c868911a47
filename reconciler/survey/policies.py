"""The policies of a fleet: what each of them holds, what it loses to which other one, and what it would take.

A policy selects an object, and one of those that select it claims it. With claims (``claims: Sticky``) that need not be
the best of them: a policy that ranks above the one which claims an object would take it if claims were made afresh.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from msgspec import Struct

from overrides.matching import implicit_priority_of_policy
from overrides.policy import OverridePolicy
from render.matching.precedence import RankedPolicy
from render.policy import PropagationPolicy

from .objects import SurveyedObject
from .surveying import Survey

AFRESH, NEXT = "Afresh", "Next"


class LostClaim(Struct, frozen=True, kw_only=True):
    """An object that a policy selects and does not claim: the policy that does ("": none), and why this one does not.

    ``would_take`` is ``Afresh`` where it ranks above the claimant, so that it claims the object if claims are made
    anew, ``Next`` where it is the best of the others, so that it claims the object if the claimant is gone, else
    empty.
    """

    object: SurveyedObject
    holder: str
    why: str
    would_take: str = ""


class SurveyedPolicy(Struct, frozen=True, kw_only=True):
    """A propagation policy: the objects that it claims, and those that it selects and loses."""

    policy: PropagationPolicy
    holds: tuple[SurveyedObject, ...] = ()
    loses: tuple[LostClaim, ...] = ()

    @property
    def clusters(self) -> frozenset[str]:
        """The clusters in which objects are that it claims."""
        return frozenset(name for each in self.holds for name in each.replicas)

    @property
    def overlaps(self) -> Mapping[str, int]:
        """The policies that claim objects which this one selects, with the number of these."""
        return dict(sorted(Counter(each.holder for each in self.loses if each.holder).items()))


class SurveyedOverridePolicy(Struct, frozen=True, kw_only=True):
    """An override policy, and the objects that it selects as they are in the source."""

    policy: OverridePolicy
    selects: tuple[SurveyedObject, ...] = ()


def surveyed_policies(survey: Survey) -> tuple[SurveyedPolicy, ...]:
    """Return every propagation policy with what it holds and loses, by kind and name."""
    losses: dict[str, list[LostClaim]] = {}
    objects = survey.objects_by_ref
    for template in survey.templates:
        known = objects.get(template.ref)
        ranked = survey.policies.candidates(template) if known is not None else ()
        for policy, lost in _losses_of_object(known, ranked) if known is not None else ():
            losses.setdefault(policy, []).append(lost)
    held = survey.objects_by_policy
    return tuple(
        SurveyedPolicy(
            policy=policy,
            holds=held.get(str(policy), ()),
            loses=tuple(sorted(losses.get(str(policy), ()), key=lambda each: each.object.ref)),
        )
        for policy in sorted(survey.policies.policies, key=str)
    )


def _losses_of_object(known: SurveyedObject, ranked: tuple[RankedPolicy, ...]) -> Iterator[tuple[str, LostClaim]]:
    """Yield the policies that select an object and do not claim it."""
    names = [str(each.policy) for each in ranked]
    place = names.index(known.policy) if known.policy in names else len(names)
    others = [name for name in names if name != known.policy]
    for number, each in enumerate(ranked):
        name = names[number]
        if name == known.policy:
            continue
        is_above, holder = number < place and bool(known.policy), known.policy
        why = f"{holder} has claimed it" if is_above else each.why_lost or "nothing is placed by it"
        takes = AFRESH if is_above else NEXT if others and name == others[0] else ""
        yield name, LostClaim(object=known, holder=holder, why=why, would_take=takes)


def surveyed_override_policies(survey: Survey) -> tuple[SurveyedOverridePolicy, ...]:
    """Return every override policy with the objects that it selects, by kind and name."""
    objects = survey.objects_by_ref
    return tuple(
        SurveyedOverridePolicy(
            policy=policy,
            selects=tuple(
                objects[template.ref]
                for template in survey.templates
                if policy.namespace in {"", template.ref.namespace}
                and template.ref in objects
                and implicit_priority_of_policy(policy, template)
            ),
        )
        for policy in sorted(survey.branches.fleet.source.desired.override_policies, key=str)
    )
