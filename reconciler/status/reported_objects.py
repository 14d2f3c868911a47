"""The objects that agents of members that pull reported, chosen as people name objects: dated records, nothing live."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from reconciler.console.clock import age_in_words
from reconciler.console.tables import text_table
from reconciler.names.kinds import names_of_kind
from reconciler.record.recorded_status import RecordedStatus
from render.layout import ref_of_object_path
from render.model import ObjectRef
from render.timing import parse_instant
from render.words import counted_noun

from .branches import RecordedFleet
from .objects import ObjectIn, object_in_cluster

UNASKED = "pods, events and logs are seen only where the cluster is reached"
_MOST_FINDINGS = 10


class ObjectsMeant(Struct, frozen=True, kw_only=True):
    """The objects that somebody means: words for kinds with names (none: all of them), in a namespace ("": in any).

    ``group_kinds`` are the kinds that a single word stands for, where a server has told.
    """

    names_by_word: Mapping[str, tuple[str, ...]]
    namespace: str = ""
    group_kinds: frozenset[str] = frozenset()

    def includes(self, ref: ObjectRef) -> bool:
        """Say whether an object is meant; one that lives in no namespace is in any."""
        if self.namespace and ref.namespace not in {"", self.namespace}:
            return False
        words = frozenset(names_of_kind(ref, "", {}))
        is_known = len(self.names_by_word) == 1 and ref.group_kind in self.group_kinds
        return any(
            (is_known or word.lower() in words) and (not names or ref.name in names)
            for word, names in self.names_by_word.items()
        )


class ReportedObjects(Struct, frozen=True, kw_only=True):
    """The objects of a cluster as its agent reported them, and when it said something last ("": nobody knows)."""

    cluster: str
    reported: str
    objects: tuple[tuple[ObjectRef, ObjectIn], ...]

    def date(self, now: float) -> str:
        """Return when the agent said something last, in words."""
        seen = parse_instant(self.reported)
        return f"{self.reported}, {age_in_words(int(now - seen.timestamp()))} ago" if seen else "an unknown time"


def reports_of_agents(
    recorded: RecordedStatus, clusters: Iterable[str], meant: ObjectsMeant
) -> tuple[ReportedObjects, ...]:
    """Return what is meant of what agents reported; clusters of which nothing of it is recorded are left out."""
    found = (
        ReportedObjects(
            cluster=name, reported=recorded.time_of_report(name), objects=tuple(_objects(recorded, name, meant))
        )
        for name in sorted(clusters)
    )
    return tuple(each for each in found if each.objects)


def _objects(recorded: RecordedStatus, cluster: str, meant: ObjectsMeant) -> Iterator[tuple[ObjectRef, ObjectIn]]:
    for path in recorded.paths_below(f"works/{cluster}"):
        ref = ref_of_object_path(path.split("/", 2)[2])
        if meant.includes(ref) and (work := recorded.manifest(path)) is not None:
            yield ref, object_in_cluster(cluster, work)


def text_of_reports(
    reports: Sequence[ReportedObjects], now: float, *, has_namespaces: bool = False, is_wide: bool = False
) -> Iterator[str]:
    """Yield the table of what agents reported, below the line that dates it; nothing where there is nothing."""
    if not reports:
        return
    oldest = min(reports, key=lambda each: each.reported)
    whose = f"{oldest.cluster}'s agent" if len(reports) == 1 else f"the agents of {len(reports)} clusters"
    first = "as of" if len(reports) == 1 else "the oldest report as of"
    yield f"RECORDED, NOT LIVE: reported by {whose}, {first} {oldest.date(now)}; {UNASKED}\n"
    is_prefixed = len({ref.group_kind for each in reports for ref, _ in each.objects}) > 1
    header = ("CLUSTER", *(["NAMESPACE"] if has_namespaces else []), "NAME", "READY", "LIVE", "APPLIED", "HEALTH")
    header += ("REASON", "SINCE", *(["MESSAGE"] if is_wide else []), "REPORTED")
    rows = [
        (
            report.cluster,
            *([ref.namespace] if has_namespaces else []),
            f"{ref.group_kind.lower()}/{ref.name}" if is_prefixed else ref.name,
            each.ready or "-",
            "-" if each.live is None else str(each.live.replicas),
            each.applied,
            each.health,
            "-" if each.is_well else each.reason or "-",
            _age(each.since, now),
            *(["-" if each.is_well else each.message or "-"] if is_wide else []),
            _age(report.reported, now),
        )
        for report in reports
        for ref, each in report.objects
    ]
    yield text_table(header, rows)


def _age(time: str, now: float) -> str:
    seen = parse_instant(time)
    return age_in_words(int(now - seen.timestamp())) if seen else "-"


def blocks_of_reports(reports: Iterable[ReportedObjects], branches: RecordedFleet, now: float) -> Iterator[str]:
    """Yield a block for each reported object: its state, the reason, since when, and what the cluster was told."""
    for report in reports:
        for ref, each in report.objects:
            lines = [
                ("Cluster", report.cluster),
                ("Recorded", f"{report.date(now)}, by its agent; NOT LIVE: {UNASKED}"),
                ("Object", str(ref)),
                ("Told", _words_of_order(ref, report.cluster, branches)),
                ("Applied", each.applied),
                ("Health", each.health),
                ("Ready", each.ready),
                ("Live", "" if each.live is None else counted_noun(each.live.replicas, "replica")),
                ("Reason", "" if each.is_well else f"{each.reason}: {each.message}".removesuffix(": ")),
                ("Since", f"{each.since}, {_age(each.since, now)} ago" if each.since else ""),
                *(("Finding", " ".join(found.values())) for found in each.findings[:_MOST_FINDINGS]),
            ]
            yield "".join(f"{f'{title}:':<10}{words}\n" for title, words in lines if words)


def _words_of_order(ref: ObjectRef, cluster: str, branches: RecordedFleet) -> str:
    """Return what the newest rendered commit tells a cluster of an object, and which commit the cluster has."""
    newest, reached = branches.fleet.previous.commit or "", branches.recorded.converged_commit(cluster)
    binding = next((each for each in branches.fleet.bindings if each.ref == ref), None)
    replicas = binding.placed_replicas.get(cluster) if binding is not None else None
    what = "" if replicas is None else f"{counted_noun(replicas, 'replica')}, "
    has = f"it has commit {reached[:12]}" if reached else "it is not known to have any commit"
    return f"{what}by rendered commit {newest[:12]}; {'it has that' if reached == newest else has}"
