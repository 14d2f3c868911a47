"""The names that a choice may have: one that nothing has is a mistake, and not the same as nothing to be shown."""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from reconciler.names.subjects import KINDS_OF_POLICIES, error_of_unknown_cluster, error_of_unknown_name

from .choosing import Choice, ClusterChoice
from .families import other_policies
from .surveying import Survey


def refuse_unknown_names(survey: Survey, objects: Choice, clusters: ClusterChoice) -> None:
    """Raise UnknownName for the first name or pattern that fits nothing which the fleet has."""
    for what, pattern, known in _asked_names(survey, objects, clusters):
        if pattern and not any(fnmatchcase(name, pattern) for name in known):
            if what == "cluster":
                raise error_of_unknown_cluster(pattern, known)
            raise error_of_unknown_name(f"the fleet has no {what} called {pattern!r}", pattern, known)


def _asked_names(survey: Survey, objects: Choice, clusters: ClusterChoice) -> Iterator[tuple[str, str, set[str]]]:
    """Yield what is asked for by a name, the name, and those that there are."""
    refs, policies = [each.ref for each in survey.objects], survey.policies.policies
    others = other_policies(survey) if objects.namespace else ()
    names_of_policies = [name for each in map(str, policies) for name in (each, each.partition(" ")[2])]
    members = [each.member for each in survey.clusters if each.member is not None]
    yield (
        "namespace",
        objects.namespace,
        _some(
            [
                *(ref.namespace for ref in refs),
                *(policy.namespace for policy in policies),
                *(other.namespace for other in others),
            ]
        ),
    )
    kinds = _some(name.lower() for ref in refs for name in (ref.kind, ref.group_kind))
    yield "kind", objects.kind.lower(), kinds | {each.lower() for each in KINDS_OF_POLICIES}
    yield "policy", objects.policy, _some(names_of_policies)
    yield "app", objects.app, _some(each.app for each in survey.objects)
    names = _some(each.name for each in survey.clusters)
    yield "cluster", objects.cluster or clusters.cluster, names
    yield "region", clusters.region, _some(each.region for each in members)
    yield "provider", clusters.provider, _some(each.provider for each in members)


def _some(names: Iterable[str]) -> set[str]:
    return {name for name in names if name}
