"""The objects of a pass that could not be placed or built, with the reason."""

from collections.abc import Iterator

from msgspec import Struct

from reconciler.pipeline.claims import Claims
from reconciler.pipeline.eviction_notes import NOTES_OF_NO_PROBLEM
from reconciler.pipeline.need_notes import STILL_NEEDED
from reconciler.pipeline.pass_values import Built
from reconciler.pipeline.pending import PENDING_REASONS
from reconciler.pipeline.rendered_condition import INTERPRETER_FAILED, RENDERED, failure_reason
from render.bits import indexes_of_mask
from render.matching.match import Match
from render.model import ObjectRef
from render.words import counted_noun

from .outcome import Outcome

EXPECTED = PENDING_REASONS | {"NotScheduled", "NoPolicy", STILL_NEEDED} | NOTES_OF_NO_PROBLEM
"""The reasons of conditions that are no problem: what follows or waits for other objects, is released, or pending.

Nor is it one that something stays where it has begun to run, or is over.
"""
_EXPLAINED = "argosy explain KIND/NAME says why"


class ObjectProblem(Struct, frozen=True, kw_only=True, order=True):
    """An object that could not be placed or built, in some clusters (none: anywhere), with the reason."""

    ref: ObjectRef
    reason: str
    message: str
    clusters: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = f" in {', '.join(self.clusters)}" if self.clusters else ""
        return f"{self.ref}{where}: {self.reason}: {self.message}"


def reason_for_empty_outcome(outcome: Outcome) -> str:
    """Return why nothing is rendered of templates that are to go somewhere; empty where something is, or none are.

    Of a source without templates, it is that of charts and the like, which nothing reads.

    What waits by a decision of somebody, such as a policy that is suspended, or for its wave, is expected.
    """
    desired = outcome.source.desired
    if outcome.rendered.tree.clusters or outcome.pending or outcome.rendered.built.rolled.under_way:
        return ""
    from reconciler.pipeline.unselected import is_meant_to_stay
    from reconciler.source.unread_forms import forms_in_words, forms_nothing_is_read_of

    if forms := forms_nothing_is_read_of(outcome.source.files, desired):
        return f"nothing is rendered of {forms_in_words(forms)}: nothing reads them\n  hint: {forms[0].form.advice}"
    meant_to_go = [each for each in desired.templates if not is_meant_to_stay(each, desired.fleet)]
    if not meant_to_go:
        return ""
    return f"nothing is rendered of {counted_noun(len(meant_to_go), 'template')}: {_why_nothing_goes(outcome)}"


def _why_nothing_goes(outcome: Outcome) -> str:
    """Return what keeps all templates of a source from going anywhere, and what helps."""
    desired, built = outcome.source.desired, outcome.rendered.built
    if not desired.clusters:
        return "the source has no cluster\n  hint: argosy cluster join NAME declares a cluster"
    if not desired.policies:
        return "the source has no policy that selects them\n  hint: argosy init writes a first one"
    if _has_waiting_or_failed(built):
        return f"what policies select of them waits, or could not be built\n  hint: {_EXPLAINED}"
    if not built.bindings:
        return "no policy selects any of them\n  hint: argosy validate names the nearest policy of each"
    return f"no cluster takes any of them\n  hint: {_EXPLAINED}"


def _has_waiting_or_failed(built: Built) -> bool:
    """Return whether anything that a policy selects goes nowhere though clusters would take it, for now or at all."""
    is_failed = built.claims.failed or any(works.failures for works in built.works.values())
    return bool(is_failed) or any(_waiting_matches(built.claims))


def _waiting_matches(claims: Claims) -> Iterator[tuple[ObjectRef, Match]]:
    """Yield the templates that are nowhere because the policy that selects them waits for something."""
    for template in claims.unmatched:
        match = claims.matches[template.ref]
        if match.reason is not None and match.reason.is_waiting:
            yield template.ref, match


def problems_by_object(outcome: Outcome) -> list[ObjectProblem]:
    """Return everything that could not be placed or built, or is not used though it can be read, by object."""
    built = outcome.rendered.built
    found = [
        ObjectProblem(ref=each.ref, reason=each.reason, message=each.message)
        for broken in outcome.source.broken
        for each in broken.lost
    ]
    found += [
        ObjectProblem(ref=binding.ref, reason=condition.reason, message=condition.message)
        for binding in built.bindings
        for condition in binding.conditions
        if condition.status == "False" and condition.type != RENDERED and condition.reason not in EXPECTED
    ]
    for ref, match in _waiting_matches(built.claims):
        found.append(ObjectProblem(ref=ref, reason=str(match.reason), message=match.message))
    for template, error in built.claims.failed:
        found.append(ObjectProblem(ref=template.ref, reason=INTERPRETER_FAILED, message=str(error)))
    for ref, error in built.following.failed:
        found.append(ObjectProblem(ref=ref, reason=INTERPRETER_FAILED, message=str(error)))
    for ref, works in [*built.works.items(), *((each.ref, works) for each, works in outcome.rendered.namespaces)]:
        for failure in works.failures:
            clusters = tuple(built.index.names[index] for index in indexes_of_mask(failure.clusters))
            reason = failure_reason([failure.error])
            found.append(ObjectProblem(ref=ref, reason=reason, message=str(failure.error), clusters=clusters))
    return sorted(found, key=lambda problem: (problem.ref, problem.clusters))
