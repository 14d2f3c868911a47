"""The clusters and the namespace that are asked for."""

from collections.abc import Iterator

from msgspec import Struct

from render.binding import Binding
from render.model import TargetCluster


class Selection(Struct, frozen=True, kw_only=True):
    """The clusters and the namespace to show; empty means all."""

    clusters: tuple[str, ...] = ()
    namespace: str = ""

    def has_path(self, path: str) -> bool:
        """Return whether a path of the rendered tree is asked for; files beside clusters/ belong to no selection."""
        parts = path.split("/")
        if parts[0] != "clusters":
            return not self.clusters and not self.namespace
        return self.has_cluster(parts[1]) and self.namespace in {"", parts[2]}

    def has_cluster(self, name: str) -> bool:
        """Return whether a cluster is asked for."""
        return not self.clusters or name in self.clusters

    def has_binding(self, binding: Binding) -> bool:
        """Return whether a binding is asked for."""
        if self.namespace and binding.ref.namespace != self.namespace:
            return False
        return not self.clusters or any(target.name in self.clusters for target in all_targets(binding))


def all_targets(binding: Binding) -> Iterator[TargetCluster]:
    """Yield a binding's own target clusters, then those of what requires it."""
    yield from binding.targets
    for snapshot in binding.required_by:
        yield from snapshot.clusters
