"""The matrix of a fleet: groups of objects by groups of clusters, with what is in each cell and in which state.

A thousand objects in a thousand clusters are a million cells, which nobody reads. So rows and columns are groups, and a
cell counts; whoever wants to see into one asks for the rows and columns that it is made of.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from .choosing import Choice, ClusterChoice
from .clusters import SurveyedCluster
from .objects import SurveyedObject, states_by_rank
from .states import SurveyedState, rank_of_state, worst_state
from .surveying import Survey

ROWS: Mapping[str, Callable[[SurveyedObject], str]] = {
    "namespace": lambda each: each.ref.namespace,
    "kind": lambda each: each.ref.group_kind,
    "app": lambda each: each.app,
    "policy": lambda each: each.policy,
    "object": lambda each: str(each.ref),
}
"""The groups of objects that rows stand for, by name, with the group of an object ("": none)."""


def _field_of_member(name: str) -> Callable[[SurveyedCluster], str]:
    return lambda each: str(getattr(each.member, name)) if each.member is not None else ""


COLUMNS: Mapping[str, Callable[[SurveyedCluster], str]] = {
    "region": _field_of_member("region"),
    "provider": _field_of_member("provider"),
    "cluster": lambda each: each.name,
}
"""The groups of clusters that columns stand for, by name, with the group of a cluster ("": none)."""


class MatrixQuestion(Struct, frozen=True, kw_only=True):
    """The matrix that is asked for: what rows and columns stand for, of which part, and how many of each at most.

    A limit of 0 is none.
    """

    rows: str = "namespace"
    columns: str = "region"
    objects: Choice = Choice()
    clusters: ClusterChoice = ClusterChoice()
    row_offset: int = 0
    column_offset: int = 0
    limit: int = 100


class MatrixCell(Struct, frozen=True, kw_only=True):
    """A cell: how many objects of the row are in clusters of the column, their replicas, and the states of copies.

    ``copies`` counts an object once for each cluster that it is in.
    """

    objects: int
    copies: int
    replicas: int
    counts: Mapping[SurveyedState, int]

    @property
    def worst(self) -> SurveyedState:
        """The worst state in the cell."""
        return worst_state(self.counts)


class MatrixGroup(Struct, frozen=True, kw_only=True):
    """A row or a column: the name of the group ("": those of none), and how many objects or clusters are in it.

    ``unplaced`` counts the objects of a row that are in no cluster, so in no cell, by their states.
    """

    name: str
    size: int
    unplaced: Mapping[SurveyedState, int] = field(default_factory=dict)


class Matrix(Struct, frozen=True, kw_only=True):
    """A matrix: its rows and columns, and the cells that are not empty, by row and column."""

    rows: tuple[MatrixGroup, ...]
    columns: tuple[MatrixGroup, ...]
    total_rows: int
    total_columns: int
    cells: Mapping[tuple[str, str], MatrixCell]


def matrix_of_fleet(survey: Survey, question: MatrixQuestion) -> Matrix:
    """Return the matrix that is asked for."""
    column_of = COLUMNS[question.columns]
    columns = {each.name: column_of(each) for each in survey.clusters if question.clusters.is_in_place(each)}
    row_of = ROWS[question.rows]
    rows: dict[str, list[SurveyedObject]] = defaultdict(list)
    wanted_objects, state = replace(question.objects, state=""), question.objects.state
    for each in survey.objects:
        if wanted_objects.object_as_asked(each) is not None and _is_anywhere_in_state(each, state):
            rows[row_of(each)].append(each)
    sizes = Counter(columns.values())
    shown_rows = _part(sorted(rows), question.row_offset, question.limit)
    shown_columns = _part(sorted(sizes), question.column_offset, question.limit)
    wanted = frozenset(shown_columns)
    seen = {name: column for name, column in columns.items() if column in wanted}
    keys = {name: (column, survey.usual.ranks[name]) for name, column in seen.items()}
    return Matrix(
        rows=tuple(_row_group(name, rows[name]) for name in shown_rows),
        columns=tuple(MatrixGroup(name=name, size=sizes[name]) for name in shown_columns),
        total_rows=len(rows),
        total_columns=len(sizes),
        cells={
            (row, column): cell
            for row in shown_rows
            for column, cell in _cells_of_row(rows[row], seen, keys, question.objects.state).items()
        },
    )


def _row_group(name: str, objects: Sequence[SurveyedObject]) -> MatrixGroup:
    ranks = Counter(rank_of_state(each.worst.state) for each in objects if not each.replicas)
    return MatrixGroup(name=name, size=len(objects), unplaced=states_by_rank(ranks))


def _is_anywhere_in_state(each: SurveyedObject, state: str) -> bool:
    """Say whether an object is in a state in any cluster, or all in all, as what is in no cluster ("": any state)."""
    return not state or each.worst.state == state or any(found == state for found in each.counts)


def _part(names: Sequence[str], offset: int, limit: int) -> Sequence[str]:
    return names[offset : offset + limit] if limit else names[offset:]


_Key = tuple[str, int]
"""A column, and the rank of a state."""


_EVERY_RANK = frozenset(map(rank_of_state, SurveyedState))


class _Tally:
    """The counts of a cell."""

    __slots__ = ("copies", "objects", "ranks", "replicas")

    def __init__(self) -> None:
        self.objects = self.copies = self.replicas = 0
        self.ranks: Counter[int] = Counter()


def _cells_of_row(
    objects: Sequence[SurveyedObject], column_by_cluster: Mapping[str, str], keys: Mapping[str, _Key], state: str
) -> Mapping[str, MatrixCell]:
    tallies: dict[str, _Tally] = defaultdict(_Tally)
    for each in objects:
        copies: Counter[str] = Counter()
        for (column, rank), count in _counted_keys(each, keys, state).items():
            copies[column] += count
            tallies[column].ranks[rank] += count
        for column, replicas in _replicas_by_column(each, column_by_cluster, copies, state).items():
            tally = tallies[column]
            tally.objects += 1
            tally.copies += copies[column]
            tally.replicas += replicas
    return {
        column: MatrixCell(
            objects=each.objects, copies=each.copies, replicas=each.replicas, counts=states_by_rank(each.ranks)
        )
        for column, each in tallies.items()
    }


def _counted_keys(each: SurveyedObject, keys: Mapping[str, _Key], state: str) -> Mapping[_Key, int]:
    """Return how many copies of an object are in each column and state there; in one ``state`` alone, if given."""
    found = Counter(map(keys.get, each.replicas))
    for name, cell in each.cells.items() if each.cells else ():
        if name in each.replicas and name in keys:
            found[keys[name]] -= 1
            found[keys[name][0], rank_of_state(cell.state)] += 1
    wanted = {rank_of_state(SurveyedState(state))} if state else _EVERY_RANK
    return {key: count for key, count in found.items() if key is not None and count and key[1] in wanted}


def _replicas_by_column(
    each: SurveyedObject, column_by_cluster: Mapping[str, str], copies: Mapping[str, int], state: str
) -> Mapping[str, int]:
    """Return the replicas of an object in each column; equal ones, as of what is duplicated, are multiplied."""
    amounts = set(each.replicas.values())
    if len(amounts) == 1:
        (amount,) = amounts
        return {column: count * amount for column, count in copies.items()}
    replicas = dict.fromkeys(copies, 0)
    for name, count in each.replicas.items():
        if name in column_by_cluster and (not state or each.in_cluster(name).state == state):
            replicas[column_by_cluster[name]] += count
    return replicas
