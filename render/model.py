"""The values every other module uses: manifests, object references, templates and target clusters."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

from msgspec import Struct, ValidationError, convert

from render.values import DiscreetStruct

ARGOSY_GROUP = "argosy.dev"
"""The API group of Argosy's own kinds, of its labels and of its annotations."""

ARGOSY_API_VERSION = f"{ARGOSY_GROUP}/v1alpha1"
"""The apiVersion of Argosy's own kinds, in files and in what ``-o json`` prints."""

POLICY_API_VERSION = "policy.karmada.io/v1alpha1"
CLUSTER_API_VERSION = "cluster.karmada.io/v1alpha1"
BINDING_API_VERSION = "work.karmada.io/v1alpha2"
WORK_API_VERSION = "work.karmada.io/v1alpha1"
CONFIG_API_VERSION = "config.karmada.io/v1alpha1"
APPS_API_VERSION = "apps.karmada.io/v1alpha1"
"""The apiVersions of Karmada's kinds: policies, Clusters, bindings, Works, customizations and rebalancers."""

Manifest = Mapping[str, Any]
"""A Kubernetes object as plain data, straight from YAML; never modified in place by a reader."""


class ObjectRef(Struct, frozen=True, order=True):
    """The identity of an object: a version is not identity. ``group`` and ``namespace`` may be empty."""

    group: str
    kind: str
    namespace: str
    name: str

    @classmethod
    def of(cls, manifest: Manifest) -> Self:
        """Return the reference of a manifest that is known to have apiVersion, kind and metadata.name."""
        metadata = manifest["metadata"]
        return cls(
            group_of(manifest["apiVersion"]), manifest["kind"], metadata.get("namespace") or "", metadata["name"]
        )

    @property
    def group_kind(self) -> str:
        """Kind and group as kubectl writes them: ``Deployment.apps``, ``ConfigMap``."""
        return f"{self.kind}.{self.group}" if self.group else self.kind

    def __str__(self) -> str:
        return f"{self.group_kind} {self.namespace}/{self.name}" if self.namespace else f"{self.group_kind} {self.name}"


class _NameFields(Struct, frozen=True, kw_only=True):
    name: str
    namespace: str | None = None


class _IdentityFields(Struct, frozen=True, kw_only=True, rename="camel"):
    api_version: str
    kind: str
    metadata: _NameFields


def ref_of_plain_value(value: Any) -> ObjectRef | None:
    """Return the reference of a value that ought to be an object; None for one that does not say what it is.

    >>> str(
    ...     ref_of_plain_value(
    ...         {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"}}
    ...     )
    ... )
    'Deployment.apps shop/web'
    >>> (
    ...     ref_of_plain_value({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": ["a"]}}),
    ...     ref_of_plain_value("ConfigMap a"),
    ... )
    (None, None)
    """
    try:
        found = convert(value, _IdentityFields)
    except ValidationError:
        return None
    return ObjectRef(group_of(found.api_version), found.kind, found.metadata.namespace or "", found.metadata.name)


def mapping_or_empty(value: Any) -> Mapping[str, Any]:
    """Return a value that ought to be an object, and an empty object for any other.

    >>> mapping_or_empty({"a": 1}), mapping_or_empty("a"), mapping_or_empty(None)
    ({'a': 1}, {}, {})
    """
    return value if isinstance(value, dict) else {}


def list_or_empty(value: Any) -> Sequence[Any]:
    """Return a value that ought to be a list, and an empty list for any other.

    >>> list_or_empty([1]), list_or_empty("a"), list_or_empty(None)
    ([1], (), ())
    """
    return value if isinstance(value, list) else ()


def merged_chart_values(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return values of a chart in which those of ``second`` count more.

    >>> merged_chart_values(
    ...     {"image": {"tag": "1", "name": "web"}, "hosts": ["a"]}, {"image": {"tag": "2"}, "hosts": ["b"]}
    ... )
    {'image': {'tag': '2', 'name': 'web'}, 'hosts': ['b']}
    """
    merged = dict(first)
    for key, value in second.items():
        before = merged.get(key)
        merged[key] = (
            merged_chart_values(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
        )
    return merged


def group_of(api_version: str) -> str:
    """Return the API group of an apiVersion; the core group is empty.

    >>> group_of("apps/v1"), group_of("v1")
    ('apps', '')
    """
    group, slash, _ = api_version.partition("/")
    return group if slash else ""


class TargetCluster(Struct, frozen=True, order=True):
    """A cluster in a binding with its replicas (0 for an object without any, and then left out of YAML)."""

    name: str
    replicas: int = 0


def is_encrypted_by_sops(manifest: Manifest) -> bool:
    """Say whether SOPS encrypted a document: what it signed may not change, or it could not be decrypted any more."""
    return isinstance(manifest.get("sops"), dict)


def is_signed_whole_by_sops(manifest: Manifest) -> bool:
    """Say whether SOPS signed all of a document, readable fields too; ``mac_only_encrypted`` signs ciphertext alone."""
    return is_encrypted_by_sops(manifest) and manifest["sops"].get("mac_only_encrypted") is not True


def ciphertext_of_sops_document(manifest: Manifest) -> list[Any]:
    """Return what SOPS signed of a document with ``mac_only_encrypted``: encrypted values in order, and its metadata.

    >>> ciphertext_of_sops_document(
    ...     {"kind": "Secret", "data": {"b": "ENC[x]", "a": "ENC[y]"}, "sops": {"mac": "ENC[z]"}}
    ... )
    [('b', 'ENC[x]'), ('a', 'ENC[y]'), {'mac': 'ENC[z]'}]
    """
    body = {key: value for key, value in manifest.items() if key != "sops"}
    return [*_encrypted_values_with_names(body, ""), manifest.get("sops")]


def _encrypted_values_with_names(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _encrypted_values_with_names(inner, str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from _encrypted_values_with_names(inner, name)
    elif isinstance(value, str) and value.startswith("ENC["):
        yield name, value


class TemplateVariant(Struct, frozen=True, kw_only=True):
    """A template as some clusters have it instead, because what makes the object was given other values there.

    ``manifest`` None: the object is not made there, or cannot be, where ``error`` says why. ``rule`` is the record of
    what decides it, as an override has one of each of its rules; it is handed on, never read here.
    """

    clusters: frozenset[str]
    manifest: Manifest | None
    rule: object = None
    has_default_replicas: bool = False
    error: str = ""


class Template(DiscreetStruct, frozen=True, kw_only=True):
    """A resource template: an object in Git as the user wrote it, with namespace and API defaults written out.

    ``path`` and ``document`` (counted from 0 in the file; items of a ``List`` count on from it) say where it stands;
    ``digest`` names its content (the blob id and the document's position). ``text`` is that of an opaque document,
    which is carried byte for byte; empty for any other. ``has_default_replicas``: the author left ``spec.replicas``
    out, so that it is written where a policy divides it and nowhere else. ``origin`` is the file and line that a tool
    made the object from; then ``path`` is the file that says so ("": it stands in a file as it is). ``variants`` are
    the clusters that have another manifest, or none; each cluster is in one of them at most.
    """

    UNSHOWN = ("text",)

    ref: ObjectRef
    manifest: Manifest
    path: str = ""
    document: int = 0
    digest: str = ""
    text: bytes = b""
    has_default_replicas: bool = False
    origin: str = ""
    variants: tuple[TemplateVariant, ...] = ()

    @property
    def absent_in(self) -> frozenset[str]:
        """The clusters in which the object is not made."""
        absent = (each for each in self.variants if each.manifest is None and not each.error)
        return frozenset(name for each in absent for name in each.clusters)

    @property
    def manifests(self) -> tuple[Manifest, ...]:
        """The manifest, and those of variants."""
        return (self.manifest, *(each.manifest for each in self.variants if each.manifest is not None))

    @property
    def api_version(self) -> str:
        """The template's apiVersion, group and version."""
        return str(self.manifest["apiVersion"])

    @property
    def versioned_kind(self) -> tuple[str, str]:
        """The template's apiVersion and kind."""
        return self.api_version, self.ref.kind

    @property
    def labels(self) -> Mapping[str, str]:
        """The template's own labels."""
        return self.manifest["metadata"].get("labels") or {}

    @property
    def annotations(self) -> Mapping[str, str]:
        """The template's own annotations."""
        return self.manifest["metadata"].get("annotations") or {}

    @property
    def uid(self) -> str:
        """``metadata.uid``; templates in Git rarely have one."""
        return self.manifest["metadata"].get("uid") or ""
