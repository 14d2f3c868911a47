"""The attributes of clusters that overrides are matched by, as they were in the commit before.

Override policies choose clusters by labels, region, provider and zones. A version of an object has those policies, but
a cluster that is relabelled would get other bytes of the very same version at once. So each commit of a fleet with
rollouts records the attributes of all clusters, and a pass compares them with those of now:

1. a version that is in use, and that rules would make otherwise now of a cluster that stands at it, becomes one that
   has the former attributes of that cluster by value: its bytes stay;
2. the newest version goes by the attributes of now. So both differ in that cluster, which is a change like any other;
3. where the newest version is under way already, it has the attributes of now by value: it is another change, and
   nobody is through with it.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.ledger.branch_file import converted_to_struct, object_of_any_size, plain_data
from render.bits import Mask, indexes_of_mask
from render.cluster import Cluster
from render.cluster_index import ClusterIndex
from render.documents import emit
from render.model import ARGOSY_API_VERSION
from render.object_rollout import ABSENT

from .versions import ClusterAttributes, ObjectVersion, index_with_attributes

if TYPE_CHECKING:
    from .objects import VersionedObject

ATTRIBUTES_FILE = "attributes.yaml"
KIND = "ClusterAttributes"


class _AttributesFile(Struct, frozen=True, kw_only=True):
    api_version: str = field(name="apiVersion", default=ARGOSY_API_VERSION)
    kind: str = KIND
    clusters: dict[str, ClusterAttributes]


def attributes_file(clusters: Iterable[Cluster]) -> bytes:
    """Return the file with the attributes of all clusters."""
    found = {each.name: ClusterAttributes.of(each) for each in clusters}
    return emit(plain_data(_AttributesFile(clusters=found)))


def parse_attributes(content: bytes) -> Mapping[str, ClusterAttributes]:
    """Read attributes back from their file; FileFault where it is not as it was written."""
    return converted_to_struct(object_of_any_size(content), _AttributesFile).clusters


class FormerAttributes(Struct, frozen=True, kw_only=True, dict=True):
    """The attributes of clusters in the commit before, beside the clusters of now."""

    index: ClusterIndex
    before: Mapping[str, ClusterAttributes]

    @cached_property
    def changed(self) -> Mask:
        """The clusters that were there before with other attributes."""
        found: Mask = 0
        for place, cluster in enumerate(self.index.clusters):
            before = self.before.get(cluster.name)
            if before is not None and before != ClusterAttributes.of(cluster):
                found |= 1 << place
        return found

    @cached_property
    def _index_before(self) -> ClusterIndex:
        return index_with_attributes(self.index, self.before)

    def object_with_former_bytes(self, each: "VersionedObject") -> "VersionedObject":
        """Return an object whose clusters stand at versions that are the bytes of before, whatever changed of them."""
        if not self.changed & each.clusters:
            return each
        others = {
            digest: version
            for digest, clusters in each.clusters_by_version().items()
            if digest != ABSENT and (version := self._version_of_before(each.version(digest), clusters)) is not None
        }
        if not others:
            return each
        concerned = {name for version in others.values() for name in version.clusters}
        return each.with_other_versions(others, replace(each.newest, clusters=self._attributes_of_now(concerned)))

    def _attributes_of_now(self, names: Iterable[str]) -> Mapping[str, ClusterAttributes]:
        """Return the attributes of some clusters as they are now."""
        places = ((name, self.index.index_by_name[name]) for name in names if name in self.index.index_by_name)
        return {name: ClusterAttributes.of(self.index.clusters[place]) for name, place in places}

    def _version_of_before(self, version: ObjectVersion, clusters: Mask) -> ObjectVersion | None:
        """Return a version by the former attributes of clusters in which it would be otherwise; None for none."""
        changed_by_rules: Mask = 0
        for policy in version.override_policies:
            for affinity in (rule.target_cluster for rule in policy.rules if rule.target_cluster is not None):
                now, before = (each.clusters_matching_affinity(affinity) for each in (self.index, self._index_before))
                changed_by_rules |= now ^ before
        concerned = clusters & self.changed & changed_by_rules & ~self.index.clusters_named(version.clusters)
        if not concerned:
            return None
        names = [self.index.names[place] for place in indexes_of_mask(concerned)]
        return replace(version, clusters={**version.clusters, **{name: self.before[name] for name in names}})
