"""A search over all that a fleet has: objects, clusters, policies, namespaces, commits and problems.

All words have to be found in one and the same thing, in any case of letters. What is called so comes before what
begins so, that before what contains it, and all of that before what has it elsewhere. Only names, labels of clusters,
places, commits and problems are looked through: never what a manifest says.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from msgspec import Struct

from overrides.policy import OverridePolicy
from reconciler.repository import CommitInfo, Repository
from reconciler.status.branches import RecordedFleet
from render.errors import GitError, Problem
from render.policy import PropagationPolicy
from render.words import counted_noun

from .clusters import SurveyedCluster
from .families import other_policies
from .objects import SurveyedObject
from .states import SurveyedState
from .surveying import Survey


class SearchedKind(StrEnum):
    """The kind of what is found, in the order in which kinds are shown."""

    OBJECT = "Object"
    CLUSTER = "Cluster"
    POLICY = "Policy"
    NAMESPACE = "Namespace"
    COMMIT = "Commit"
    PROBLEM = "Problem"


class Searched(Struct, frozen=True, kw_only=True):
    """Something that can be found: its name for people, the words it is called by, and those it also has.

    ``about`` says what it is in a few words; ``state`` its state (None: it has none).
    """

    kind: SearchedKind
    name: str
    called: tuple[str, ...]
    has: tuple[str, ...] = ()
    about: str = ""
    state: SurveyedState | None = None


class SearchResult(Struct, frozen=True, kw_only=True):
    """The findings of one kind: the best, and the number of all."""

    kind: SearchedKind
    total: int
    best: tuple[Searched, ...]


MOST_COMMITS = 1000
"""The number of commits of the source that are looked through, the newest."""


def newest_source_commits(repository: Repository, branches: RecordedFleet) -> tuple[CommitInfo, ...]:
    """Return the newest commits of the source, the newest first; none where a shallow clone lacks them."""
    try:
        return repository.history(branches.fleet.lag.newest, MOST_COMMITS)
    except GitError:
        return ()


def search_fleet(
    survey: Survey, commits: Iterable[CommitInfo], words: Sequence[str], limit: int
) -> tuple[SearchResult, ...]:
    """Return what all words are found in, by kind; at most ``limit`` of each kind (0: all). No words: everything."""
    wanted = tuple(word.lower() for each in words for word in each.split())
    found: dict[SearchedKind, list[tuple[int, Searched]]] = {}
    for each in _everything(survey, commits):
        rank = _rank_of_match(each, wanted)
        if rank is not None:
            found.setdefault(each.kind, []).append((rank, each))
    results = []
    for kind in SearchedKind:
        ranked = found.get(kind, [])
        # Commits stay in their order, the newest first: their age tells more than where the word stands.
        ordered = ranked if kind is SearchedKind.COMMIT else sorted(ranked, key=lambda each: (each[0], each[1].name))
        best = tuple(each for _, each in (ordered[:limit] if limit else ordered))
        if best:
            results.append(SearchResult(kind=kind, total=len(ranked), best=best))
    return tuple(results)


def _rank_of_match(each: Searched, wanted: Sequence[str]) -> int | None:
    """Return how well words match, the best being 0; None where one of them is not found at all."""
    called = [name.lower() for name in each.called]
    others = [text.lower() for text in each.has]
    ranks = [_rank_of_word(word, called, others) for word in wanted]
    found = [rank for rank in ranks if rank is not None]
    return max(found, default=0) if len(found) == len(ranks) else None


def _rank_of_word(word: str, called: Sequence[str], others: Sequence[str]) -> int | None:
    if word in called:
        return 0
    if any(name.startswith(word) for name in called):
        return 1
    if any(word in name for name in called):
        return 2
    return 3 if any(word in text for text in others) else None


def _everything(survey: Survey, commits: Iterable[CommitInfo]) -> Iterator[Searched]:
    yield from map(_searched_object, survey.objects)
    yield from map(_searched_cluster, survey.clusters)
    yield from _searched_policies(survey)
    for name, objects in survey.objects_by_namespace.items():
        if name:
            about = counted_noun(len(objects), "object")
            yield Searched(kind=SearchedKind.NAMESPACE, name=name, called=(name,), about=about)
    yield from map(_searched_commit, commits)
    yield from _searched_problems(survey)


def _searched_object(each: SurveyedObject) -> Searched:
    where = counted_noun(len(each.replicas), "cluster")
    return Searched(
        kind=SearchedKind.OBJECT,
        name=str(each.ref),
        called=(each.ref.name, each.ref.kind, str(each.ref)),
        has=(each.ref.namespace, each.app, each.policy, each.path, each.ref.group, f"{each.ref.kind}/{each.ref.name}"),
        about=f"in {where}" if each.replicas else each.worst.reason,
        state=each.worst.state,
    )


def _searched_cluster(each: SurveyedCluster) -> Searched:
    member = each.member
    labels = [f"{key}={value}" for key, value in member.labels.items()] if member is not None else []
    places = [member.region, member.provider, *member.zones] if member is not None else []
    return Searched(
        kind=SearchedKind.CLUSTER,
        name=each.name,
        called=(each.name, *(member.former_names if member is not None else ())),
        has=(*places, *labels, each.version, member.path if member is not None else ""),
        about=", ".join(filter(None, [*places[:2], counted_noun(each.objects, "object")])),
        state=each.state.state,
    )


def _searched_policies(survey: Survey) -> Iterator[Searched]:
    desired = survey.branches.fleet.source.desired
    every: tuple[PropagationPolicy | OverridePolicy, ...] = (*desired.policies, *desired.override_policies)
    for each in sorted(every, key=str):
        held = survey.objects_by_policy.get(str(each), ())
        about = f"claims {counted_noun(len(held), 'object')}" if each in desired.policies else ""
        yield Searched(
            kind=SearchedKind.POLICY,
            name=str(each),
            called=(each.name, str(each)),
            has=(each.namespace, each.path),
            about=about or each.path,
        )

    for other in other_policies(survey):
        about = f"decides about {counted_noun(len(other.decides), 'object')}" if other.decides else other.path
        waiting = f"; {counted_noun(len(other.waits), 'change')} under way" if other.waits else ""
        yield Searched(
            kind=SearchedKind.POLICY,
            name=str(other),
            called=(other.name, str(other)),
            has=(other.namespace, other.path, *other.selectors, *other.does),
            about=f"{about}{waiting}",
        )


def _searched_commit(commit: CommitInfo) -> Searched:
    author = commit.author.partition(" <")[0]
    about = f"{commit.subject} ({author})"
    return Searched(
        kind=SearchedKind.COMMIT, name=commit.id, called=(commit.id,), has=(about, commit.author), about=about
    )


def _searched_problems(survey: Survey) -> Iterator[Searched]:
    """Yield what is not well, once for each object and cluster that is to blame, and warnings of the source."""
    for each in survey.objects:
        why = each.worst
        if why.state not in {SurveyedState.WELL, SurveyedState.UNKNOWN} and why.reason:
            yield _searched_problem(str(each.ref), why.reason, why.message, why.state)
    for cluster in survey.clusters:
        why = cluster.state
        if why.state is not SurveyedState.WELL and why.message:
            yield _searched_problem(f"cluster {cluster.name}", why.reason, why.message, why.state)
    refusal = survey.branches.refusal
    if refusal is not None:
        yield _searched_problem(
            f"source {refusal.source[:12]}", "Refused", "; ".join(refusal.lines), SurveyedState.UNWELL
        )
    yield from map(_searched_warning, survey.branches.fleet.source.desired.warnings)


def _searched_problem(name: str, reason: str, message: str, state: SurveyedState) -> Searched:
    about = f"{reason}: {message}" if message else reason
    return Searched(
        kind=SearchedKind.PROBLEM, name=name, called=(reason,), has=(name, message), about=about, state=state
    )


def _searched_warning(problem: Problem) -> Searched:
    about = f"{problem.field}: {problem.message}" if problem.field else problem.message
    return Searched(kind=SearchedKind.PROBLEM, name=problem.place, called=(problem.place,), has=(about,), about=about)
