"""Lists, the matrix, what a search found, and policies, as text for people."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from reconciler.console.cluster_lists import shortened_cluster_list
from reconciler.console.tables import text_table
from reconciler.explain.policies import selector_text
from reconciler.status.staleness import time_since_in_words
from render.words import counted_noun

from .clusters import RoomOfResource
from .families.other_policy import OtherPolicy
from .lists import AnyPolicy, ClusterList, NamespaceList, ObjectList, PolicyList
from .matrix import Matrix, MatrixCell, MatrixQuestion
from .named_policies import NamedPolicies
from .objects import SurveyedObject
from .policies import SurveyedOverridePolicy, SurveyedPolicy
from .searching import SearchResult
from .states import SurveyedState
from .surveying import counts_of_objects

_NONE = "-"
_OF_OBJECT = ("STATE", "CLUSTERS", "REPLICAS", "READY", "REASON", "SINCE")
_LEGEND = "a cell counts objects, and in brackets their copies that are unwell (!), unknown (?) or else not well (~)"


def object_list_text(found: ObjectList) -> Iterator[str]:
    """Yield a list of objects."""
    now = found.survey.branches.now
    if found.page.items:
        yield text_table(
            ("OBJECT", *_OF_OBJECT, "POLICY"),
            [_row_of_object(each, now) for each in found.page.items],
        )
    what = counted_noun(found.page.total, "object")
    yield f"{what}{_counts_in_words(found.counts)}{_place_of_page(len(found.page.items), found.page.total)}\n"


def _row_of_object(each: SurveyedObject, now: float) -> tuple[str, ...]:
    ready, why = each.total_ready, each.worst
    return (
        str(each.ref),
        str(why.state),
        str(len(each.replicas)),
        str(each.total_replicas or ""),
        _NONE if ready is None else str(ready),
        why.reason,
        time_since_in_words(why.since, now),
        each.policy,
    )


def cluster_list_text(found: ClusterList) -> Iterator[str]:
    """Yield a list of clusters."""
    now = found.survey.branches.now
    rows = [
        (
            each.name,
            str(each.state.state),
            each.member.region if each.member is not None else "",
            each.member.provider if each.member is not None else "",
            each.version,
            str(each.objects),
            str(each.replicas),
            *(_share_in_words(resource, each.room) for resource in ("cpu", "memory")),
            each.state.reason,
            time_since_in_words(each.state.since, now),
        )
        for each in found.page.items
    ]
    header = ("CLUSTER", "STATE", "REGION", "PROVIDER", "VERSION", "OBJECTS", "REPLICAS", "CPU", "MEMORY")
    if rows:
        yield text_table((*header, "REASON", "SINCE"), rows)
    what = counted_noun(found.page.total, "cluster")
    yield f"{what}{_counts_in_words(found.counts)}{_place_of_page(len(rows), found.page.total)}\n"


def _share_in_words(resource: str, room: Iterable[RoomOfResource]) -> str:
    share = next((each.share for each in room if each.resource == resource), None)
    return "" if share is None else f"{share:.0%}"


def policy_list_text(found: PolicyList) -> Iterator[str]:
    """Yield a list of policies."""
    rows = [_row_of_policy(each) for each in found.page.items]
    if rows:
        yield text_table(("POLICY", "PRIORITY", "SELECTS", "CLAIMS", "LOSES", "CLUSTERS", "REPLICAS", "FILE"), rows)
    total = found.page.total
    yield f"{counted_noun(total, 'policy', 'policies')}{_place_of_page(len(rows), total)}\n"


def _row_of_policy(each: AnyPolicy) -> tuple[str, ...]:
    name, path = str(each.policy), each.policy.path
    if isinstance(each, OtherPolicy):
        counts = (str(len(each.decides)), str(len(each.loses))) if each.priority is not None else (_NONE, _NONE)
        selects = str(len(each.decides) + len(each.loses))
        priority = "" if each.priority is None else str(each.priority)
        return name, priority, selects, *counts, str(len(each.clusters) or ""), "", path
    if not isinstance(each, SurveyedPolicy):
        return name, "", str(len(each.selects)), _NONE, _NONE, "", "", path
    numbers = len(each.holds) + len(each.loses), len(each.holds), len(each.loses), len(each.clusters)
    replicas = sum(held.total_replicas for held in each.holds)
    return name, str(each.policy.priority), *map(str, numbers), str(replicas), path


def namespace_list_text(found: NamespaceList) -> Iterator[str]:
    """Yield a list of namespaces."""
    rows = [
        (
            each.name or _NONE,
            str(len(each.objects)),
            *(str(each.counts.get(state, "")) for state in (SurveyedState.UNWELL, SurveyedState.UNKNOWN)),
            str(len(each.clusters)),
            str(each.replicas),
            str(len(each.policies)),
        )
        for each in found.page.items
    ]
    if rows:
        yield text_table(("NAMESPACE", "OBJECTS", "UNWELL", "UNKNOWN", "CLUSTERS", "REPLICAS", "POLICIES"), rows)
    yield f"{counted_noun(found.page.total, 'namespace')}{_place_of_page(len(rows), found.page.total)}\n"


def matrix_text(question: MatrixQuestion, matrix: Matrix) -> Iterator[str]:
    """Yield a matrix: in each cell the objects, and in brackets how many copies of them are not well."""
    columns = [each.name for each in matrix.columns]
    rows = [
        (row.name or _NONE, str(row.size), *(_cell_in_words(matrix.cells.get((row.name, name))) for name in columns))
        for row in matrix.rows
    ]
    if rows:
        yield text_table((question.rows.upper(), "OBJECTS", *(name or _NONE for name in columns)), rows)
        yield f"\n{_LEGEND}\n"
    counts = counted_noun(matrix.total_rows, "row"), counted_noun(matrix.total_columns, "column")
    yield f"{counts[0]}{_place_of_page(len(rows), matrix.total_rows, 'row-offset')}; "
    yield f"{counts[1]}{_place_of_page(len(columns), matrix.total_columns, 'column-offset')}\n"


def _cell_in_words(cell: MatrixCell | None) -> str:
    """Return a cell in words.

    >>> _cell_in_words(
    ...     MatrixCell(objects=3, copies=9, replicas=9, counts={SurveyedState.UNWELL: 2, SurveyedState.WELL: 7})
    ... )
    '3 (2!)'
    """
    if cell is None:
        return ""
    marks = {SurveyedState.UNWELL: "!", SurveyedState.UNKNOWN: "?"}
    parts = [f"{count}{marks.get(state, '~')}" for state, count in cell.counts.items() if state != SurveyedState.WELL]
    return f"{cell.objects} ({' '.join(parts)})" if parts else str(cell.objects)


def search_text(results: Sequence[SearchResult]) -> Iterator[str]:
    """Yield what a search found."""
    rows = [
        (
            str(result.kind),
            each.name[:40] if result.kind == "Commit" else each.name,
            str(each.state or ""),
            each.about,
        )
        for result in results
        for each in result.best
    ]
    if not rows:
        yield "nothing has all of these words\n"
        return
    yield text_table(("KIND", "NAME", "STATE", "WHAT"), rows)
    for result in results:
        if more := result.total - len(result.best):
            yield f"and {more} more of kind {result.kind}: --limit 0 shows all\n"


def policies_text(named: NamedPolicies, now: float) -> Iterator[str]:
    """Yield the state of policies of a name."""
    parts = [
        *(_policy_text(each, now) for each in named.placing),
        *(_override_policy_text(each, now) for each in named.overriding),
        *(_other_policy_text(each, now) for each in named.others),
    ]
    for number, part in enumerate(parts):
        yield "\n" * bool(number)
        yield from part


def _other_policy_text(each: OtherPolicy, now: float) -> Iterator[str]:
    yield f"{each} ({each.path})\n"
    yield from (f"about: {words}\n" for words in each.selectors)
    if each.priority is not None:
        yield f"priority: {each.priority}\n"
    yield from (f"does: {words}\n" for words in each.does)
    if each.clusters:
        yield f"clusters: {shortened_cluster_list(each.clusters, ', ')}\n"
    for waiting in each.waits:
        yield f"waits: {waiting.subject}\n  {waiting.message}\n"
        yield f"  {waiting.command}\n" if waiting.command else ""
    if each.decides:
        yield "\n"
        yield text_table(("DECIDES ABOUT", *_OF_OBJECT), [_row_of_object(held, now)[:-1] for held in each.decides])
    if each.loses:
        rows = [(str(lost.object.ref), lost.holder or _NONE, lost.why) for lost in each.loses]
        yield "\n"
        yield text_table(("LOST", "DECIDED BY", "WHY"), rows)


def _policy_text(each: SurveyedPolicy, now: float) -> Iterator[str]:
    policy = each.policy
    selectors = "; ".join(map(selector_text, policy.resource_selectors))
    claimed = f"{counted_noun(len(each.holds), 'object')}{_counts_in_words(counts_of_objects(each.holds))}"
    yield f"{policy} ({policy.path})\nselects: {selectors}\n"
    yield f"priority: {policy.priority}, preemption: {policy.preemption}\n"
    yield f"claims: {claimed} in {counted_noun(len(each.clusters), 'cluster')}\n"
    for name, count in each.overlaps.items():
        yield f"overlaps: {name} claims {count} of what it selects\n"
    if each.holds:
        yield "\n"
        yield text_table(("CLAIMED", *_OF_OBJECT), [_row_of_object(held, now)[:-1] for held in each.holds])
    if each.loses:
        rows = [(str(lost.object.ref), lost.holder or _NONE, lost.why, lost.would_take) for lost in each.loses]
        yield "\n"
        yield text_table(("LOST", "CLAIMED BY", "WHY", "WOULD TAKE"), rows)


def _override_policy_text(each: SurveyedOverridePolicy, now: float) -> Iterator[str]:
    selectors = "; ".join(map(selector_text, each.policy.resource_selectors)) or "every object"
    rules = counted_noun(len(each.policy.rules), "rule")
    yield f"{each.policy} ({each.policy.path})\nselects: {selectors}\nrules: {rules}\n"
    if each.selects:
        yield "\n"
        yield text_table(("SELECTED", *_OF_OBJECT), [_row_of_object(held, now)[:-1] for held in each.selects])


def _counts_in_words(counts: Mapping[SurveyedState, int]) -> str:
    """Return how many are in which state, behind the number of all.

    >>> _counts_in_words({SurveyedState.UNWELL: 2, SurveyedState.WELL: 7}), _counts_in_words({})
    (': 2 unwell, 7 well', '')
    """
    words = ", ".join(f"{count} {state.lower()}" for state, count in counts.items())
    return f": {words}" if words else ""


def _place_of_page(shown: int, total: int, option: str = "offset") -> str:
    return f", {shown} shown: --limit and --{option} show others" if shown < total else ""
