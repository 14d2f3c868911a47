"""The control plane of a federation, read from its API server and written as the files of a fleet.

Objects that no policy propagates stay where they are, and are counted. Nothing is written, and no content of a Secret
is asked for.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from reconciler.ledger.branch_file import FileFault
from reconciler.ledger.facts import ClusterFacts
from reconciler.members.discovery import Resource
from reconciler.members.exchange import Failure
from reconciler.members.visits import MemberReach
from reconciler.observe.whole_clusters import ReadingOptions, WholeCluster, read_clusters
from render.errors import ClusterError, ConfigError
from render.federations import federation_named, federations_found_in
from render.federations.federation import Federation
from render.federations.karmada import KARMADA
from render.federations.karmada.front_end import predicate_of_propagation
from render.federations.manifests import SKIP_NAMESPACE
from render.federations.plain_clusters.system_objects import KINDS_LEFT_OUT, METADATA_ALONE
from render.federations.plain_clusters.written_form import object_without_filled_in_fields
from render.federations.policies import files_of_written_objects, objects_written_for
from render.federations.units import Conversion, Left, Placed, exact_remark, refused_remark
from render.interpretation.removal import remove_field_if
from render.model import Manifest, ObjectRef, mapping_or_empty
from render.words import counted_noun

from .importing import Import, labels_of_clusters_among, report_lines_of_conversion

_NOT_READ: Mapping[str, str] = {
    **KINDS_LEFT_OUT,
    "Work.work.karmada.io": "what it says stands in the members",
}
_OBSERVED = ("apiEnablements", "kubernetesVersion", "resourceSummary")
_VIRTUAL_GROUPS = ("search.karmada.io", "metrics.k8s.io", "custom.metrics.k8s.io")
_NOT_PROPAGATED = exact_remark("not-propagated", "no policy propagates it")


class HubReading(Struct, frozen=True, kw_only=True):
    """The control plane to read: its context, what it is called by people, and the federation (None: it tells)."""

    context: str
    reach: MemberReach
    system: str | None = None

    def options(self) -> ReadingOptions:
        """Return the options to read it with."""
        return ReadingOptions(
            reach=self.reach,
            skipped_kinds=_NOT_READ,
            metadata_kinds=METADATA_ALONE,
            is_wanted=_is_kind_stored,
        )


def _is_kind_stored(resource: Resource) -> bool:
    return resource.group not in _VIRTUAL_GROUPS


def import_of_control_plane(reading: HubReading) -> Import:
    """Read a control plane and convert what it propagates; ClusterError where it cannot be read."""
    read = read_clusters([reading.context], reading.options())[reading.context]
    if isinstance(read, Failure):
        raise ClusterError(f"{reading.context} cannot be read: {read.message}", hint=read.hint)
    federation = _federation_with_counts(reading, read)
    documents = [Placed(manifest=each, origin=reading.context) for each in read.objects]
    left: list[Left] = []
    if federation is KARMADA:
        documents, left = _propagated_and_other_objects(documents)
    conversion = federation.convert(documents, labels_of_clusters_among(documents)).without_secrets()
    conversion = replace(conversion, left=(*conversion.left, *left, *_unlisted_kinds_as_left(read)), others=0)
    objects = objects_written_for(_without_hub_fields(conversion))
    return Import(
        system=federation.title,
        objects=tuple(objects),
        files=files_of_written_objects(objects),
        lines=report_lines_of_conversion(conversion),
        facts=dict(_facts_of_karmada_clusters(documents)),
    )


def _facts_of_karmada_clusters(documents: Iterable[Placed]) -> Iterator[tuple[str, ClusterFacts]]:
    """Yield what Karmada's Clusters say of members that passes observe as well: what they serve, and their room."""
    for each in documents:
        if each.kind != "Cluster" or not each.group.startswith("cluster.karmada.io"):
            continue
        said = mapping_or_empty(each.manifest.get("status"))
        status = {name: said[name] for name in _OBSERVED if said.get(name) is not None}
        head = {"apiVersion": ClusterFacts.API_VERSION, "kind": ClusterFacts.KIND, "metadata": {"name": each.key[1]}}
        try:
            facts = ClusterFacts.of({**head, "status": status})
        except FileFault:  # of a shape that is not Karmada's: nothing is known, as of a member that is not observed
            continue
        if status:
            yield facts.name, facts


def _federation_with_counts(reading: HubReading, read: WholeCluster) -> Federation:
    if reading.system is not None:
        return federation_named(reading.system)
    found = federations_found_in(read.objects)
    if len(found) == 1:
        return found[0]
    names = " and ".join(each.title for each in found)
    what = f"objects of {names}" if found else "no object of a federation"
    hint = "name one with --from" if found else "read clusters that no federation joins with --cluster"
    raise ConfigError(f"{reading.context} holds {what}", hint=hint)


def _propagated_and_other_objects(documents: Sequence[Placed]) -> tuple[list[Placed], list[Left]]:
    """Return Karmada's own documents and those that it propagates, and how many of each kind it does not."""
    is_propagated = predicate_of_propagation([each.manifest for each in documents])
    kept: list[Placed] = []
    left: Counter[tuple[str, str]] = Counter()
    for each in documents:
        if KARMADA.is_its(each.manifest) or is_propagated(each.manifest) or _is_namespace(each.manifest):
            kept.append(each)
        else:
            left[ObjectRef.of(each.manifest).group_kind, each.origin] += 1
    return kept, [
        Left(origin=origin, subject=f"{kind}: {counted_noun(count, 'object')}", remark=_NOT_PROPAGATED)
        for (kind, origin), count in sorted(left.items())
    ]


def _is_namespace(manifest: Manifest) -> bool:
    """Say whether an object is a Namespace, which Karmada sends to every cluster."""
    return ObjectRef.of(manifest).group_kind == "Namespace"


def _without_hub_fields(conversion: Conversion) -> Conversion:
    """Return a conversion without what the API server filled in, which nobody writes into a file."""
    return replace(
        conversion,
        kept=tuple(
            each
            if KARMADA.is_its(each.manifest)
            else replace(each, manifest=object_without_filled_in_fields(each.manifest))
            for each in conversion.kept
        ),
        units=tuple(replace(unit, manifest=_template_without_hub_fields(unit.manifest)) for unit in conversion.units),
    )


def _template_without_hub_fields(manifest: Manifest) -> Manifest:
    """Return a template without what was filled in, and without a label that only Karmada would ask about."""
    kept = object_without_filled_in_fields(manifest)
    if _is_namespace(manifest):
        remove_field_if(kept, ("metadata", "labels", SKIP_NAMESPACE))
    return kept


def _unlisted_kinds_as_left(read: WholeCluster) -> Iterator[Left]:
    for kind, failure in sorted(read.unlisted.items()):
        message = f"it cannot be listed, so that nothing of it is known: {failure.message}"
        yield Left(origin=read.name, subject=kind, remark=refused_remark("not-listed", message))
    yield from _left_of_kinds(read.skipped, read.name)


def _left_of_kinds(kinds: Iterable[str], origin: str) -> Iterator[Left]:
    for kind in sorted(kinds):
        yield Left(origin=origin, subject=kind, remark=exact_remark("kind-left-out", _NOT_READ[kind]))
