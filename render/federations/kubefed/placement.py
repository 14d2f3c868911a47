"""The clusters of a federated object: its own placement within that of its namespace (KubeFed's ``placement.go``)."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from render.federations.decoding import (
    checked_selector,
    decode_label_selector,
    decode_list,
    decode_object,
    decode_text,
    value_of_key_in_any_case,
)
from render.model import Manifest
from render.selectors import LabelSelector, matches_labels


class FederatedPlacement(Struct, frozen=True, kw_only=True):
    """A placement as it is written: a list of names, which wins, or else a selector; None is absent."""

    names: tuple[str, ...] | None = None
    selector: LabelSelector | None = None

    def chosen_clusters(self, labels_by_cluster: Mapping[str, Mapping[str, str]]) -> frozenset[str]:
        """Return the registered clusters that it names or selects; a missing selector selects none."""
        if self.names is not None:
            return frozenset(self.names) & labels_by_cluster.keys()
        return self.clusters_selected_by_labels(labels_by_cluster)

    def clusters_selected_by_labels(self, labels_by_cluster: Mapping[str, Mapping[str, str]]) -> frozenset[str]:
        """Return the registered clusters that its selector alone selects."""
        if self.selector is None:
            return frozenset()
        selector = checked_selector(self.selector, "spec.placement.clusterSelector")
        return frozenset(name for name, labels in labels_by_cluster.items() if matches_labels(selector, labels))


def placement_of(federated: Manifest) -> FederatedPlacement:
    """Return the placement of a federated object; WrongShape where KubeFed cannot read it."""
    spec = decode_object(value_of_key_in_any_case(federated, "spec"), "spec")
    plain = decode_object(value_of_key_in_any_case(spec, "placement"), "spec.placement")
    listed = value_of_key_in_any_case(plain, "clusters")
    names = None if listed is None else tuple(decode_list(listed, "spec.placement.clusters", _decode_cluster_name))
    return FederatedPlacement(
        names=names,
        selector=decode_label_selector(
            value_of_key_in_any_case(plain, "clusterSelector"), "spec.placement.clusterSelector"
        ),
    )


class RegisteredClusters(Struct, frozen=True, kw_only=True):
    """The registered clusters with their labels, and what KubeFed's control plane serves.

    ``is_limited`` says that it serves one namespace, where an absent FederatedNamespace restricts nothing; elsewhere it
    leaves no cluster.
    """

    labels_by_cluster: Mapping[str, Mapping[str, str]]
    is_limited: bool = False

    def clusters_of(
        self, federated: Manifest, federated_namespace: Manifest | None, *, is_namespaced: bool
    ) -> frozenset[str]:
        """Return the clusters that an object goes to; WrongShape where KubeFed reports ComputePlacementFailed."""
        chosen = placement_of(federated).chosen_clusters(self.labels_by_cluster)
        if not is_namespaced:
            return chosen
        if federated_namespace is None:
            return chosen if self.is_limited else frozenset()
        return chosen & placement_of(federated_namespace).chosen_clusters(self.labels_by_cluster)

    def registered_clusters_selected_for(
        self, federated: Manifest, federated_namespace: Manifest | None, *, is_namespaced: bool = True
    ) -> frozenset[str]:
        """Return the clusters that the selectors of an object and its namespace select, whatever lists there are.

        Replica scheduling preferences that intersect with selectors consider these.
        """
        chosen = placement_of(federated).clusters_selected_by_labels(self.labels_by_cluster)
        if not is_namespaced:
            return chosen
        if federated_namespace is None:
            return chosen if self.is_limited else frozenset()
        return chosen & placement_of(federated_namespace).clusters_selected_by_labels(self.labels_by_cluster)


def _decode_cluster_name(plain: Any, what: str) -> str:
    return decode_text(value_of_key_in_any_case(decode_object(plain, what), "name"), f"{what}.name")
