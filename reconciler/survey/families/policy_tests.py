"""PolicyTests: what each supposes of the fleet, and which objects it expects something of."""

from collections.abc import Iterator

from reconciler.source.policy_tests import KIND, Expectation, PolicyTest
from reconciler.survey.surveying import Survey
from render.words import counted_noun, first_few

from .other_policy import OtherPolicy, PolicyFamily


def _found_policies(survey: Survey) -> Iterator[OtherPolicy]:
    for test in survey.branches.fleet.source.tests:
        refs = sorted({each.ref for each in test.expectations})
        yield OtherPolicy(
            kind=KIND,
            name=test.name,
            path=test.path,
            selectors=(first_few([str(ref) for ref in refs], 8),) if refs else (),
            does=tuple(_sentences_about_test(test)),
            decides=tuple(survey.objects_by_ref[ref] for ref in refs if ref in survey.objects_by_ref),
        )


def _sentences_about_test(test: PolicyTest) -> Iterator[str]:
    supposed = [
        *([f"{counted_noun(len(test.clusters), 'cluster')} more"] if test.clusters else []),
        *([f"{counted_noun(len(test.templates), 'object')} more"] if test.templates else []),
        *([f"no {first_few(list(test.without_clusters))}"] if test.without_clusters else []),
        *([f"{first_few(sorted(test.not_ready))} not ready"] if test.not_ready else []),
        *([f"{first_few(sorted(test.unhealthy))} unhealthy"] if test.unhealthy else []),
        *([f"other settings: {first_few(sorted(test.settings))}"] if test.settings else []),
        *([counted_noun(len(test.changes), "change")] if test.changes else []),
    ]
    if supposed:
        yield f"supposes {', '.join(supposed)}"
    yield from (f"expects {each.ref} {_expectation_in_words(each)}" for each in test.expectations)
    if test.backtest is not None:
        yield "tries the settings on the recorded past of the fleet"
    yield f"argosy test {test.path} runs it: no page does"


def _expectation_in_words(each: Expectation) -> str:
    parts = [
        "nowhere" if each.is_absent else "",
        f"in {first_few(list(each.clusters), 8)}" if each.clusters else "",
        f"not in {first_few(list(each.not_in))}" if each.not_in else "",
        f"with {first_few([f'{name} {count}' for name, count in each.replicas.items()], 8)}" if each.replicas else "",
        f"claimed by {each.policy}" if each.policy else "",
        f"refused by {first_few(sorted(each.refused))}" if each.refused else "",
        f"not placed: {each.reason}" if each.reason else "",
        f"to survive {', '.join(map(str, each.survives))}" if each.survives else "",
        f"not to survive {', '.join(map(str, each.does_not_survive))}" if each.does_not_survive else "",
        f"with {counted_noun(len(each.fields), 'field')} as written" if each.fields else "",
    ]
    return ", ".join(filter(None, parts)) or "to be there"


TESTS = PolicyFamily(kinds=(KIND,), found=_found_policies)
