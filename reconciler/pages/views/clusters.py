"""The clusters of the fleet: where they are, how much room they have, and which are not well."""

from typing import TYPE_CHECKING

from reconciler.outputs.lists import cluster_list_document
from reconciler.pages.asked_lists import asked_cluster_choice, asked_part, words_of_options, words_of_part
from reconciler.pages.look import Look, ViewAnswer
from reconciler.pages.view import PageView, ViewGroup
from reconciler.survey.lists import list_clusters

if TYPE_CHECKING:
    from reconciler.outputs.document import OutputDocument
    from reconciler.pages.reader import FleetReading

_ORDERS = ("name", "state", "replicas", "objects", "since")


def _answer(look: Look) -> ViewAnswer:
    choice, part = asked_cluster_choice(look), asked_part(look, _ORDERS)

    def document(reading: "FleetReading") -> "OutputDocument":
        return cluster_list_document(list_clusters(reading.survey(), choice, part))

    options = {
        "cluster": choice.cluster,
        "region": choice.region,
        "provider": choice.provider,
        "state": choice.state,
        "text": choice.text,
        **words_of_part(part),
    }
    words = "list", "clusters", *words_of_options(look, options), *(("--reverse",) if part.is_reversed else ())
    return ViewAnswer(document=look.document(("clusters", choice, part), document), command=words)


VIEW = PageView(
    name="clusters",
    path="/clusters",
    question="How are the clusters?",
    template="clusters.html",
    answer=_answer,
    group=ViewGroup.WHERE,
    label="Clusters",
    key="c",
    icon="clusters",
)
