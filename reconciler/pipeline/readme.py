"""README.md of the rendered branch: counts for people who browse it, derived from what it holds alone."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from render.binding import Binding
from render.bits import Mask, indexes_of_mask
from render.matching.match import NoPolicyReason
from render.model import TargetCluster
from render.words import counted_noun

from .dependencies import NOT_SCHEDULED
from .eviction_notes import NOTES_OF_NO_PROBLEM

_INTRODUCTION = """\
# What every cluster must hold

Written by Argosy; edit the source instead. `clusters/<cluster>/` is a folder that `kubectl apply -R -f`, Argo CD or
Flux can use as it is. `bindings/` says which object goes where with how many replicas, and why.
"""


ATTACHED = "Attached"
_TABLE = "| cluster | objects | replicas | |"
_REASONS = "| bindings | |"
_CELLS = 4
_DISCONNECTED = "disconnected: left as it was"


class Tally(Struct, frozen=True, kw_only=True):
    """The counts of the page: objects and replicas by cluster, bindings by the reason of their condition.

    ``overridden`` are the objects of a cluster whose replicas an override sets there.
    """

    objects: Mapping[str, int] = field(default_factory=dict)
    replicas: Mapping[str, int] = field(default_factory=dict)
    overridden: Mapping[str, int] = field(default_factory=dict)
    reasons: Mapping[str, int] = field(default_factory=dict)

    def with_counts_changed(self, *, less: "Tally", more: "Tally") -> "Tally":
        """Return the tally with some counts taken out and others added."""
        return Tally(
            objects=_counts_less_and_more(self.objects, less.objects, more.objects),
            replicas=_counts_less_and_more(self.replicas, less.replicas, more.replicas),
            overridden=_counts_less_and_more(self.overridden, less.overridden, more.overridden),
            reasons=_counts_less_and_more(self.reasons, less.reasons, more.reasons),
        )


def plain_tally(tally: Tally) -> dict[str, dict[str, int]]:
    """Return the counts as plain data, by the names of the fields."""
    return {
        "objects": dict(tally.objects),
        "replicas": dict(tally.replicas),
        "overridden": dict(tally.overridden),
        "reasons": {str(reason): count for reason, count in tally.reasons.items()},
    }


def _counts_less_and_more(
    counts: Mapping[str, int], less: Mapping[str, int], more: Mapping[str, int]
) -> Mapping[str, int]:
    result = Counter(counts)
    result.subtract(less)
    result.update(more)
    return result


def tally_of(clusters_by_object: Iterable[Mask], bindings: Collection[Binding], names: Sequence[str]) -> Tally:
    """Count objects, given who holds each, and bindings; ``names`` are the clusters by index."""
    return Tally(
        objects={names[index]: count for index, count in objects_by_index(clusters_by_object).items()},
        replicas=replicas_by_cluster(bindings),
        overridden=Counter(
            name for each in bindings if _are_replicas_set_by_overrides(each) for name in each.overridden_replicas
        ),
        reasons=Counter(map(binding_state, bindings)),
    )


def _are_replicas_set_by_overrides(binding: Binding) -> bool:
    """Say whether overrides set replicas: other bindings have some that nothing could write a share of."""
    return bool(binding.overridden and binding.applied_overrides)


def readme_file(tally: Tally, clusters: Iterable[str], disconnected: Iterable[str]) -> bytes:
    """Return the page: a line per cluster, then how many bindings are in which state."""
    lines = {
        name: _line_of_cluster(
            name, tally.objects.get(name, 0), tally.replicas.get(name, 0), _note_of_overridden_replicas(tally, name)
        )
        for name in clusters
    }
    lines |= {name: _line_of_cluster(name, "", "", _DISCONNECTED) for name in disconnected}
    reasons = [f"| {reason} | {number} |" for reason, number in sorted(tally.reasons.items()) if number]
    head = (_INTRODUCTION, _TABLE, "|---|---:|---:|---|")
    page = (*head, *(lines[name] for name in sorted(lines)), "", _REASONS, "|---|---:|", *reasons)
    return ("\n".join(page) + "\n").encode()


def members_on_page(content: bytes) -> frozenset[str]:
    """Return the clusters that a page lists, but for those that are disconnected.

    >>> page = readme_file(Tally(objects={"oslo": 1}), ["oslo", "rome"], ["paris"])
    >>> sorted(members_on_page(page))
    ['oslo', 'rome']
    """
    return frozenset(
        name for name, *_, note in _lines_of_clusters(content.decode("utf-8", "replace")) if note != _DISCONNECTED
    )


def _lines_of_clusters(page: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield name, objects, replicas and note of each cluster that a page lists."""
    for line in page.partition(_TABLE)[2].partition("\n\n")[0].splitlines()[2:]:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == _CELLS:
            linked, objects, replicas, note = cells
            yield linked.partition("](")[0].removeprefix("["), objects, replicas, note


def tally_of_page(content: bytes) -> Tally | None:
    """Return the counts that a page was made of; None for a page that is not as we write it.

    >>> tally = Tally(objects={"oslo": 2}, replicas={"oslo": 7}, overridden={"oslo": 1}, reasons={"Success": 2})
    >>> tally_of_page(readme_file(tally, ["oslo"], ["paris"])) == tally
    True
    >>> tally_of_page(readme_file(tally, ["oslo"], []) + b"by hand") is None
    True
    """
    page = content.decode("utf-8", "replace")
    lines = list(_lines_of_clusters(page))
    disconnected = [name for name, *_, note in lines if note == _DISCONNECTED]
    members = [line for line in lines if line[3] != _DISCONNECTED]
    reasons = (line.strip("| ").split(" | ") for line in page.partition(_REASONS)[2].splitlines()[2:])
    try:
        tally = Tally(
            objects={name: int(objects) for name, objects, _, _ in members},
            replicas={name: int(replicas) for name, _, replicas, _ in members},
            overridden={name: int(note.split()[2]) for name, _, _, note in members if note},
            reasons={reason: int(number) for reason, number in reasons},
        )
    except (ValueError, IndexError):
        return None
    return tally if readme_file(tally, (name for name, *_ in members), disconnected) == content else None


def _line_of_cluster(name: str, objects: int | str, replicas: int | str, note: str) -> str:
    # A cluster that holds nothing has no folder to be linked to.
    linked = name if objects == 0 else f"[{name}](clusters/{name})"
    return f"| {linked} | {objects} | {replicas} | {note} |"


def _note_of_overridden_replicas(tally: Tally, name: str) -> str:
    """Return how many objects of a cluster have replicas that an override sets there, and not their policy."""
    count = tally.overridden.get(name, 0)
    return f"replicas of {counted_noun(count, 'object')} by overrides" if count else ""


def objects_by_index(clusters_by_object: Iterable[Mask]) -> Counter[int]:
    """Count the objects of each cluster, given who holds each object; equal sets are counted once."""
    counts: Counter[int] = Counter()
    for clusters, number in Counter(clusters_by_object).items():
        for index in indexes_of_mask(clusters):
            counts[index] += number
    return counts


def replicas_by_cluster(bindings: Iterable[Binding]) -> Counter[str]:
    """Sum the replicas that each cluster has by its bindings; those that share a target list are counted once.

    A suspended cluster has what it keeps, and one in which an override sets the replicas has those.
    """
    lists: dict[int, tuple[tuple[TargetCluster, ...], int]] = {}
    counts: Counter[str] = Counter()
    for binding in bindings:
        if binding.kept or binding.overridden or binding.components:
            counts.update(binding.placed_replicas)
            continue
        _, number = lists.get(id(binding.targets), (binding.targets, 0))
        lists[id(binding.targets)] = (binding.targets, number + 1)
    for targets, number in lists.values():
        for target in targets:
            counts[target.name] += target.replicas * number
    return counts


def binding_state(binding: Binding) -> str:
    """Return a binding's state in a word: why it is not placed or not built, else whose it is, else ``Success``."""
    reasons = [
        each.reason for each in binding.conditions if each.status == "False" and each.reason not in NOTES_OF_NO_PROBLEM
    ]
    failures = [reason for reason in reasons if reason not in {NOT_SCHEDULED.reason, NoPolicyReason.NO_POLICY}]
    if failures:
        return failures[0]
    if reasons:
        return NoPolicyReason.NO_POLICY if NoPolicyReason.NO_POLICY in reasons else ATTACHED
    return next((each.reason for each in binding.conditions if each.type == "Scheduled"), "Unknown")
