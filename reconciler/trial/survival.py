"""Losses that a PolicyTest expects an object to survive, or not to survive, judged by the pass that it is about."""

from collections.abc import Iterator

from msgspec.structs import replace

from reconciler.pipeline.pass_values import Rendered
from reconciler.simulation.resilience import judgements_of_pass
from reconciler.source.desired import Desired
from reconciler.source.policy_tests import Expectation
from render.resilience.policy import ResiliencePolicy
from render.selectors import ResourceSelector

from .fields import WITHHELD, Mismatch


def mismatches_of_survival(
    path: str, expected: Expectation, desired: Desired, rendered: Rendered
) -> Iterator[Mismatch]:
    """Yield each loss that an object survives or does not, other than a test expects."""
    losses = (*expected.survives, *expected.does_not_survive)
    binding = next((each for each in rendered.built.bindings if each.ref == expected.ref), None)
    if not losses or binding is None:
        return
    ref = expected.ref
    asked = ResiliencePolicy(
        name=path,
        namespace=ref.namespace,
        resource_selectors=(
            ResourceSelector(api_version=binding.api_version, kind=ref.kind, namespace=ref.namespace, name=ref.name),
        ),
        survive=losses,
    )
    # What policies of the source name is placed anew with it, and takes room.
    judged = replace(desired, resilience_policies=(*desired.resilience_policies, asked))
    for each in judgements_of_pass(judged, rendered.built):
        number = each.requirement.number
        if each.requirement.policy is not asked:
            continue
        if number < len(expected.survives) and not each.holds:
            yield Mismatch(field=f"{path}.survives[{number}]", message=each.message, got=WITHHELD)
        if number >= len(expected.survives) and each.holds:
            place = number - len(expected.survives)
            message = f"want it not to survive the loss of {losses[number]}, but it does"
            yield Mismatch(field=f"{path}.doesNotSurvive[{place}]", message=message, got=WITHHELD)
