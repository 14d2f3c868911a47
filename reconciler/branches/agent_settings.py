"""The settings of an agent: what applying one cluster's folder takes beside the folder, in a file of its mirror.

An agent reads its mirror alone, never the source and never the bindings. So the mirror of a cluster that pulls has a
file beside the folders of its namespaces: the settings of the fleet that an apply goes by, the Cluster, what extends
the interpreter, the commit by which the fleet is known, and the rules of bindings. Tools that apply a folder leave it
alone, for its name is that of no manifest.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

from msgspec import Meta, Struct, field

from reconciler.ledger.branch_file import FileFault, check_version, converted_to_struct, plain_data
from reconciler.repository import Repository
from reconciler.source.desired import Desired
from render.admission import admit
from render.cluster import DRAIN, Cluster, is_drained
from render.documents import DocumentErrors, emit, parse_documents, read_documents
from render.errors import GitError
from render.model import ARGOSY_API_VERSION, CLUSTER_API_VERSION, Manifest, Template, ref_of_plain_value
from render.parsing import parse_cluster
from render.parsing.clusters import RENAMED_FROM
from render.settings.fleet import Fleet
from render.settings.reading import parse_fleet
from render.values import DiscreetStruct

from .delivery_rules import DeliveryRules, RuleFields
from .reading import Source

FILE = ".argosy"
"""The name of the file in the mirror of a cluster that pulls."""
MOST_BYTES = 8 << 20
_APPLIED_BY = ("removalGuard", "fieldRules", "decryption")
"""The settings of a fleet that an apply goes by."""
_KIND = "AgentSettings"
_VERSION = 1
"""The latest version of the file that is known here; a file of it does not say so, as no earlier Argosy's does."""
_LEAST_DOCUMENTS = 3


class _OwnName(Struct, frozen=True, kw_only=True, omit_defaults=True):
    name: str


class _OwnFields(RuleFields, frozen=True, kw_only=True, omit_defaults=True):
    kind: str
    metadata: _OwnName
    beginning: Annotated[str, Meta(pattern=r"\A[0-9a-f]+\Z")]


class AgentSettings(DiscreetStruct, frozen=True, kw_only=True):
    """The settings of one cluster's agent.

    ``beginning`` is the commit that the fleet's rendered branch began with, ``extensions`` are those of the
    interpreter, and ``rules`` those of bindings.
    """

    UNSHOWN = ("extensions",)

    fleet: Fleet
    cluster: Cluster
    beginning: str
    extensions: tuple[Template, ...] = ()
    rules: DeliveryRules = field(default_factory=DeliveryRules)

    @property
    def desired(self) -> Desired:
        """The source as far as an agent knows it: its fleet, its cluster and what extends the interpreter."""
        webhooks = tuple(each for each in self.extensions if each.ref.kind != "ResourceInterpreterCustomization")
        customizations = tuple(each for each in self.extensions if each not in webhooks)
        return Desired(fleet=self.fleet, clusters=(self.cluster,), customizations=customizations, webhooks=webhooks)


class SettingsFiles(Struct, frozen=True):
    """The settings of agents as files: what is the same for all clusters of a source is made once."""

    source: Source
    beginning: str
    _shared: bytes
    _clusters: Mapping[str, Manifest]
    _drained: frozenset[str]

    @classmethod
    def of(cls, repository: Repository, source: Source, beginning: str, pulling: Iterable[Cluster]) -> "SettingsFiles":
        """Return what makes the files for these clusters of a source."""
        desired, pulling = source.desired, tuple(pulling)
        ids = {file.path: file.id for file in source.files}
        paths = {desired.fleet.path, *(cluster.path for cluster in pulling)} & ids.keys()
        contents = repository.read_blobs({ids[path] for path in paths})
        manifests = [each for path in sorted(paths) for each in _manifests_of_file(contents[ids[path]])]
        fleets = [each for each in manifests if _api_version_and_kind(each) == (ARGOSY_API_VERSION, "Fleet")]
        spec = (fleets[0].get("spec") or {}) if fleets else {}
        fleet = {
            "apiVersion": ARGOSY_API_VERSION,
            "kind": "Fleet",
            "metadata": {"name": desired.fleet.name},
            "spec": {key: spec[key] for key in _APPLIED_BY if key in spec},
        }
        extensions = (each.manifest for each in (*desired.customizations, *desired.webhooks))
        shared = b"---\n".join(map(emit, (fleet, *extensions)))
        # Other groups have a kind of this name as well, which may stand in the same file.
        clusters = {
            each["metadata"]["name"]: each
            for each in manifests
            if _api_version_and_kind(each) == (CLUSTER_API_VERSION, "Cluster")
        }
        drained = frozenset(each.name for each in pulling if is_drained(each))
        return cls(source, beginning, shared, clusters, drained)

    def settings_file_of_cluster(self, cluster: str, rules: DeliveryRules) -> bytes:
        """Return the file for one cluster."""
        written = self._clusters.get(cluster) or {}
        renamed = ((written.get("metadata") or {}).get("annotations") or {}).get(RENAMED_FROM)
        models = (written.get("spec") or {}).get("resourceModels")
        # Of its taints, an agent need only know that its cluster is drained.
        taints = [{"key": DRAIN[0].key, "effect": DRAIN[0].effect}] if cluster in self._drained else []
        document = {
            "apiVersion": CLUSTER_API_VERSION,
            "kind": "Cluster",
            "metadata": {"name": cluster, **({"annotations": {RENAMED_FROM: renamed}} if renamed else {})},
            # An agent reaches the cluster it runs in, as passes reach others.
            "spec": {
                "syncMode": "Push",
                **({"taints": taints} if taints else {}),
                **({"resourceModels": models} if models else {}),
            },
        }
        fields = _OwnFields(kind=_KIND, metadata=_OwnName(name=cluster), beginning=self.beginning, **rules.fields())
        own = {"apiVersion": ARGOSY_API_VERSION, **plain_data(fields)}
        return b"---\n".join((emit(own), emit(document), self._shared))


def _api_version_and_kind(manifest: Manifest) -> tuple[Any, Any]:
    return manifest.get("apiVersion"), manifest.get("kind")


def _manifests_of_file(content: bytes) -> Iterator[Manifest]:
    """Yield the objects of a file of the source that can be read, those of lists among them."""
    for document in read_documents(content)[0]:
        value = document.value
        if isinstance(value, dict):
            items = value.get("items")
            yield from (each for each in items if isinstance(each, dict)) if isinstance(items, list) else (value,)


def parse_agent_settings(content: bytes, cluster: str, commit: str) -> AgentSettings:
    """Read the settings of a cluster's agent; GitError where the file of that commit is none, or another cluster's."""
    try:
        return _settings_of_file(content, cluster)
    except FileFault as fault:
        name = f"{FILE} in mirror commit {commit[:12]}"
        if fault.is_newer:
            raise GitError(f"{name} {fault}", hint="run that version of Argosy here as well, or a later one") from fault
        raise GitError(
            f"{name} is not the settings of {cluster!r}'s agent",
            hint="see who pushes to the branch; 'argosy reconcile' mirrors the cluster again",
        ) from fault


def _settings_of_file(content: bytes, cluster: str) -> AgentSettings:
    try:
        documents = [document.value for document in parse_documents(content)]
    except DocumentErrors as error:
        raise FileFault("it is no YAML") from error
    if len(documents) < _LEAST_DOCUMENTS:
        raise FileFault("it lacks the settings, the Cluster or the Fleet")
    check_version(documents[0], _VERSION)
    own = converted_to_struct(documents[0], _OwnFields)
    described, fleet, *extensions = (_template_with_identity(each) for each in documents[1:])
    if (own.kind, own.metadata.name, described.ref.name) != (_KIND, cluster, cluster):
        raise FileFault("it is another cluster's")
    return AgentSettings(
        fleet=parse_fleet(_admitted_manifest(fleet, (ARGOSY_API_VERSION, "Fleet"))),
        cluster=parse_cluster(_admitted_manifest(described, (CLUSTER_API_VERSION, "Cluster"))),
        beginning=own.beginning,
        extensions=tuple(extensions),
        rules=own.rules(),
    )


def _template_with_identity(document: Any) -> Template:
    """Return a document as an object with a name; FileFault where it is none."""
    ref = ref_of_plain_value(document)
    if ref is None:
        raise FileFault("it has a document that is no object")
    return Template(ref=ref, manifest=document)


def _admitted_manifest(found: Template, kind: tuple[str, str]) -> Manifest:
    if _api_version_and_kind(found.manifest) != kind:
        raise FileFault(f"it has a {found.ref.kind} in place of a {kind[1]}")
    outcome = admit(found.manifest)
    if outcome.object is None:
        raise FileFault(f"its {kind[1]} is not admitted")
    return outcome.object
