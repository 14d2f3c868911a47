"""A sentence for every field of ResiliencePolicies and ClusterResiliencePolicies."""

from collections.abc import Mapping

from .fields import Field
from .karmada_fields import sentence_about_field

_SELECTOR = (
    "apiVersion",
    "kind",
    "namespace",
    "name",
    "labelSelector",
    "labelSelector.matchLabels",
    "labelSelector.matchExpressions",
    "labelSelector.matchExpressions[].key",
    "labelSelector.matchExpressions[].operator",
    "labelSelector.matchExpressions[].values",
)

RESILIENCE_FIELDS: Mapping[str, Field] = {
    "metadata.name": Field("The name of the policy."),
    "spec.resourceSelectors": Field(sentence_about_field("spec.resourceSelectors")),
    **{
        f"spec.resourceSelectors[].{name}": Field(sentence_about_field(f"spec.resourceSelectors[].{name}"))
        for name in _SELECTOR
    },
    "spec.survive": Field("The losses that they have to survive, each of which is judged by itself."),
    "spec.survive[].loss": Field(
        "`cluster`: any one cluster is lost. `region`, `zone` or `provider`: all clusters are, whose region, zone or"
        " provider is any one of those there are. A cluster of several zones is lost with each of them; one without any"
        " is lost with none."
    ),
    "spec.survive[].count": Field("So many of them are lost at once: one, or any two.", 1),
    "spec.survive[].minReplicas": Field(
        "Of an object whose replicas are divided among clusters, so many have to be left, or such a percentage of those"
        " that it asks for, rounded up. One that asks for none needs none.",
        "100%",
    ),
    "spec.survive[].minCopies": Field(
        "Of an object that each of its clusters has whole, such as a Duplicated Deployment or a ConfigMap, copies have"
        " to be left in so many clusters, or in such a percentage of those that had one, rounded up.",
        1,
    ),
    "spec.survive[].when": Field(
        "The time at which they are counted. `Rescheduled`: all that the lost clusters held of objects that policies"
        " name was placed anew, where it may go and there is room, as if the clusters were not in the source."
        " `argosy validate` warns of objects that nothing would place anew by itself. `AtOnce`: nothing was, and what"
        " counts is what the other clusters have.",
        "Rescheduled",
    ),
}
"""The fields of a ResiliencePolicy and of a ClusterResiliencePolicy."""
