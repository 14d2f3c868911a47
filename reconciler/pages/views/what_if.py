"""The losses of clusters, regions and the like, supposed: of one that is chosen, or of each in turn."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from reconciler.outputs.lists import cluster_list_document
from reconciler.pages.look import Look, ViewAnswer
from reconciler.pages.view import PageView, ViewGroup
from reconciler.survey.choosing import ClusterChoice
from reconciler.survey.lists import ListPart, list_clusters

if TYPE_CHECKING:
    from reconciler.outputs.document import OutputDocument
    from reconciler.pages.reader import FleetReading

OPTIONS_OF_LOSSES: Mapping[str, str] = {
    "without": "--without-cluster",
    "region": "--without-region",
    "zone": "--without-zone",
    "provider": "--without-provider",
    "cordon": "--cordon",
}
"""The options of ``argosy simulate`` by the fields of the form that give their values."""
_DOMAINS: Mapping[str, str] = {"cluster": "name", "region": "region", "zone": "zones", "provider": "provider"}
"""The field of a cluster that says which it is in, by what can be lost each in turn."""
_MOST_CLUSTERS = 100_000


def _answer(look: Look) -> ViewAnswer:
    clusters: list[dict[str, Any]] = look.document(("every cluster",), _every_cluster)["clusters"]
    shown: dict[str, Any] = {
        "clusters": [each["name"] for each in clusters],
        "domains": [name for name, field in _DOMAINS.items() if any(each.get(field) for each in clusters)],
        "regions": sorted({each["region"] for each in clusters if each.get("region")}),
        "zones": sorted({zone for each in clusters for zone in each.get("zones") or ()}),
        "providers": sorted({each["provider"] for each in clusters if each.get("provider")}),
        "asked": {name: look.asked(name) for name in OPTIONS_OF_LOSSES},
        "kind": "",
    }
    by = look.asked("by")
    if by in _DOMAINS:
        words = look.words("simulate", "--n-minus", "1", "--by", by, *_source(look))
        return look.answer_of_command(words, **{**shown, "kind": "losses", "by": by})
    supposed = tuple(f"{option}={look.asked(name)}" for name, option in OPTIONS_OF_LOSSES.items() if look.asked(name))
    if not supposed:
        return ViewAnswer(shown=shown)
    words_of_one = look.words("simulate", *supposed, *_source(look))
    return look.answer_of_command(words_of_one, **{**shown, "kind": "simulation"})


def _source(look: Look) -> tuple[str, ...]:
    """Return the option that names the source which is shown; that of the past is the one of then."""
    return () if look.at else ("--rev", look.commits.source)


def _every_cluster(reading: "FleetReading") -> "OutputDocument":
    return cluster_list_document(list_clusters(reading.survey(), ClusterChoice(), ListPart(limit=_MOST_CLUSTERS)))


VIEW = PageView(
    name="whatif",
    path="/what-if",
    question="What if we lose it?",
    template="what_if.html",
    answer=_answer,
    group=ViewGroup.WHEN,
    label="What if",
    key="w",
    icon="whatif",
)
