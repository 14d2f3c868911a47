"""Names in a PolicyTest that nothing goes by: clusters, policies and filters, each with the nearest there is.

A test that names what is not there would pass or fail for the wrong reason. ``argosy test`` refuses it; ``argosy
validate`` warns of it, because a fleet must not stand still when a cluster leaves that a test still names.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from msgspec import Struct

from overrides.lint import LineOf
from reconciler.source.desired import Desired
from reconciler.source.policy_tests import Expectation, PolicyTest
from render.errors import Problem
from render.scheduling.filters import FILTERS
from render.words import most_similar_word

KIND = "UnknownName"
_FILTERS = frozenset(each.name for each in FILTERS)


class Named(NamedTuple):
    """A name in a field of a test, the names there are, and the message if it is none of them."""

    field: str
    name: str
    message: str
    known: Collection[str]


class KnownNames(Struct, frozen=True, kw_only=True):
    """The names that tests may use; ``is_rewritten``: expectations are about to be replaced, and may say anything."""

    clusters: frozenset[str]
    policies: frozenset[str]
    rollout_policies: frozenset[str]
    checks: frozenset[str] = frozenset()
    is_rewritten: bool = False


def problems_of_unknown_names(
    tests: Iterable[PolicyTest], desired: Desired, line_of: LineOf, *, is_rewritten: bool = False
) -> Iterator[Problem]:
    """Yield a problem for each name that nothing goes by."""
    clusters = frozenset(cluster.name for cluster in desired.clusters)
    policies, rollouts = frozenset(map(str, desired.policies)), frozenset(map(str, desired.rollout_policies))
    gates = (gate for each in desired.rollout_policies for gate in (each.gate, *(wave.gate for wave in each.waves)))
    checks = frozenset(check.name for gate in gates for check in gate.checks)
    for test in tests:
        changed = (each for change in test.changes for each in change.clusters)
        given = frozenset(each.name for each in (*test.clusters, *changed))
        names = KnownNames(
            clusters=clusters | given,
            policies=policies,
            rollout_policies=rollouts,
            checks=checks,
            is_rewritten=is_rewritten,
        )
        for each in _names_used_in_test(test, names):
            if each.name not in each.known:
                near = most_similar_word(each.name, each.known) or _policy_called_similarly(each.name, each.known)
                hint = f"did you mean {near!r}?" if near else ""
                line = line_of(test.path, test.document, each.field)
                yield Problem(test.path, line, each.field, each.message, hint, KIND)


def _policy_called_similarly(name: str, known: Iterable[str]) -> str:
    """Return the policy that is called so, where its kind or namespace is left out or wrong.

    >>> _policy_called_similarly("web", ["PropagationPolicy shop/web"])
    'PropagationPolicy shop/web'
    """
    return next((each for each in sorted(known) if _last_part_of_name(each) == _last_part_of_name(name)), "")


def _last_part_of_name(name: str) -> str:
    return name.rpartition("/")[2].rpartition(" ")[2]


def _names_used_in_test(test: PolicyTest, names: KnownNames) -> Iterator[Named]:
    for number, name in enumerate(test.without_clusters):
        yield _named_cluster(f"spec.given.withoutClusters[{number}]", name, names)
    of_clusters = {"notReady": test.not_ready, "unhealthy": test.unhealthy, "notLookedAt": test.not_looked_at}
    for field, known in of_clusters.items():
        yield from (_named_cluster(f"spec.given.{field}.{name}", name, names) for name in known)
    for number, name in enumerate(test.reporting):
        yield _named_cluster(f"spec.given.reporting[{number}]", name, names)
    for name in test.not_met:
        yield Named(f"spec.given.notMet.{name}", name, f"no rollout policy has a check {name!r}", names.checks)
    for number, each in enumerate(test.unschedulable):
        yield _named_cluster(f"spec.given.unschedulable[{number}].cluster", each.cluster, names)
    yield from _names_used_on_the_way(test, names)
    for number, expected in enumerate(test.expectations):
        yield from _names_used_in_expectation(f"spec.expect[{number}]", expected, names)


def _names_used_on_the_way(test: PolicyTest, names: KnownNames) -> Iterator[Named]:
    for number, change in enumerate(test.changes):
        for place, name in enumerate(change.without_clusters):
            yield _named_cluster(f"spec.given.changes[{number}].withoutClusters[{place}]", name, names)
    for number, request in enumerate(test.requests):
        message = f"the source has no {request.policy}"
        yield Named(f"spec.given.controls[{number}].policy", request.policy, message, names.rollout_policies)


def _names_used_in_expectation(path: str, expected: Expectation, names: KnownNames) -> Iterator[Named]:
    for cluster, plugin in (expected.refused or {}).items():
        yield _named_cluster(f"{path}.refused.{cluster}", cluster, names)
        yield Named(f"{path}.refused.{cluster}", plugin, f"there is no filter called {plugin!r}", _FILTERS)
    for number, each in enumerate(expected.fields):
        yield _named_cluster(f"{path}.fields[{number}].cluster", each.cluster, names)
    for number, name in enumerate(expected.not_in):
        yield _named_cluster(f"{path}.notIn[{number}]", name, names)
    if names.is_rewritten:
        return
    if expected.policy:
        message = f"the source has no {expected.policy}"
        yield Named(f"{path}.policy", expected.policy, message, names.policies)
    for name in expected.clusters or ():
        yield _named_cluster(f"{path}.clusters", name, names)
    for name in expected.replicas or {}:
        yield _named_cluster(f"{path}.replicas.{name}", name, names)


def _named_cluster(field: str, name: str, names: KnownNames) -> Named:
    return Named(field, name, f"the source has no cluster called {name!r}", names.clusters)
