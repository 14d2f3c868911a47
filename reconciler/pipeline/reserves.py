"""Room that passes took since a cluster was last observed: kept out of its capacity until it is observed again.

Observed capacity knows nothing of what was placed a moment ago. The rendered branch therefore keeps, in
``reserved.yaml``, what was placed since, next to the id of the facts it is counted from; other facts void it.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.ledger.branch_file import converted_to_struct, object_of_any_size, plain_data
from reconciler.ledger.cluster_status import check_quantity
from reconciler.ledger.facts import ClusterFacts, Facts, FactsWriter
from render.cluster import Cluster
from render.documents import emit
from render.gitobjects import git_object_id
from render.model import ARGOSY_API_VERSION

RESERVED_FILE = "reserved.yaml"
KIND = "Reserved"


class Reserve(Struct, frozen=True, kw_only=True):
    """The resources taken from one cluster's room since the facts of this id."""

    facts: str
    amounts: Mapping[str, str] = field(name="reserved")


Reserves = Mapping[str, Reserve]
"""Reserves by cluster name; a cluster without an entry has none."""


class _ReservesFile(Struct, frozen=True, kw_only=True):
    api_version: str = field(name="apiVersion", default=ARGOSY_API_VERSION)
    kind: str = KIND
    clusters: Mapping[str, Reserve]


def reserves_file(reserves: Reserves) -> bytes:
    """Return reserves as the file that records them."""
    return emit(plain_data(_ReservesFile(clusters=reserves)))


def parse_reserves(content: bytes) -> Reserves:
    """Read reserves back from their file; FileFault where it is not as it was written."""
    found = converted_to_struct(object_of_any_size(content), _ReservesFile).clusters
    for name, each in found.items():
        for resource, amount in each.amounts.items():
            check_quantity(f"clusters.{name}.reserved.{resource}", amount)
    return found


def clusters_with_reserves(clusters: Iterable[Cluster], facts: Facts, reserves: Reserves) -> tuple[Cluster, ...]:
    """Return the clusters with what is still reserved of their observed capacity."""
    writer = FactsWriter()
    return tuple(
        _cluster_with_reserve(cluster, facts.get(cluster.name), reserves.get(cluster.name), writer)
        for cluster in clusters
    )


def next_reserves(reserved: Mapping[str, Mapping[str, str]], facts: Facts) -> Reserves:
    """Return the reserves after a pass from what it left reserved of each cluster."""
    writer = FactsWriter()
    return {
        name: Reserve(facts=_facts_id(facts[name], writer), amounts=amounts)
        for name, amounts in reserved.items()
        if amounts and name in facts
    }


def reserves_of_renamed(reserves: Reserves, facts: Facts, names: Mapping[str, str]) -> Reserves:
    """Return reserves by the new names of clusters, with the ids that their facts have under these."""
    renamed, writer = dict(reserves), FactsWriter()
    for old, new in names.items():
        reserve, seen = renamed.pop(old, None), facts.get(new)
        if reserve is not None and seen is not None and reserve.facts == _facts_id(replace(seen, name=old), writer):
            renamed[new] = replace(reserve, facts=_facts_id(seen, writer))
    return renamed


def reserves_of_changed_facts(reserves: Reserves, before: Facts, after: Facts) -> Reserves:
    """Return reserves with the ids of other facts about the same pods, so that none of them is void."""
    kept, writer = {}, FactsWriter()
    for name, each in reserves.items():
        old, new = before.get(name), after.get(name)
        is_current = old is not None and new is not None and old != new and each.facts == _facts_id(old, writer)
        kept[name] = replace(each, facts=_facts_id(new, writer)) if is_current and new is not None else each
    return kept


def _cluster_with_reserve(
    cluster: Cluster, facts: ClusterFacts | None, reserve: Reserve | None, writer: FactsWriter
) -> Cluster:
    summary = cluster.resource_summary
    if facts is None or reserve is None or summary is None or reserve.facts != _facts_id(facts, writer):
        return cluster
    return replace(cluster, resource_summary=replace(summary, reserved=reserve.amounts))


def _facts_id(facts: ClusterFacts, writer: FactsWriter) -> str:
    return git_object_id("blob", writer.content_of(facts)).hex()
