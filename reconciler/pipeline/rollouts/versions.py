"""Versions of an object by value: all that its bytes in any cluster are made of, beside its numbers.

A version has the template, the override policies that may apply to it, and the customizations of its kind. As long as
some cluster stands at it, it is kept on the rendered branch (``versions/<object>/<digest>.yaml``), so that a cluster
gets the bytes of its version when it joins, takes over or has drifted, without the source commit that the version is
of. The digest leaves out the replicas of the template: numbers are the binding's, whatever the version.
"""

import hashlib
from collections.abc import Mapping
from typing import Any, Self

from msgspec import Struct, field
from msgspec.structs import replace

from overrides.errors import PolicyOrigin
from overrides.parsing import parse_override_policy
from overrides.policy import OverridePolicy, Overriders
from overrides.record import AppliedRule
from reconciler.ledger.branch_file import FileFault, converted_to_struct, object_of_any_size, plain_data
from render.cluster import Cluster
from render.cluster_index import ClusterIndex
from render.documents import DocumentErrors, Hole, copy_value, emit_together, parse_documents
from render.gitobjects import Spliced
from render.interpretation.fields import value_at
from render.interpreter import Interpreter
from render.layout import object_path
from render.model import ARGOSY_API_VERSION, POLICY_API_VERSION, Manifest, ObjectRef, Template, TemplateVariant

VERSIONS_FOLDER = "versions"
KIND = "ObjectVersion"
_DIGEST_LENGTH = 16


class ClusterAttributes(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The attributes of a cluster that override policies choose clusters by."""

    labels: dict[str, str] = field(default_factory=dict)
    provider: str = ""
    region: str = ""
    zones: tuple[str, ...] = ()

    @classmethod
    def of(cls, cluster: Cluster) -> Self:
        """Return those of a cluster."""
        return cls(
            labels=dict(cluster.labels), provider=cluster.provider, region=cluster.region, zones=tuple(cluster.zones)
        )

    def given_to(self, cluster: Cluster) -> Cluster:
        """Return a cluster that has them in place of its own."""
        return replace(cluster, labels=self.labels, provider=self.provider, region=self.region, zones=tuple(self.zones))


def index_with_attributes(index: ClusterIndex, attributes: Mapping[str, ClusterAttributes]) -> ClusterIndex:
    """Return clusters with other attributes, as far as these are known."""
    return ClusterIndex(
        attributes[each.name].given_to(each) if each.name in attributes else each for each in index.clusters
    )


class KeptManifest(Struct, frozen=True, kw_only=True):
    """The manifest that a version is in some clusters, whatever its template and its overrides would make of it."""

    clusters: tuple[str, ...]
    manifest: dict[str, Any]


class ObjectVersion(Struct, frozen=True, kw_only=True):
    """A version of an object; the template has no place in the source any more.

    ``clusters`` are those that have changed since it was made, with the attributes by which it is made for them.
    ``kept`` are manifests that another engine made, ``engine`` is the one that made it another change. ``placement`` is
    the digest of the policies' placement, where that goes out wave by wave.
    """

    template: Template
    override_policies: tuple[OverridePolicy, ...] = ()
    customizations: tuple[Manifest, ...] = ()
    clusters: Mapping[str, ClusterAttributes] = field(default_factory=dict)
    kept: tuple[KeptManifest, ...] = ()
    engine: str = ""
    placement: str = ""


class WrittenVersion(Struct, frozen=True, kw_only=True):
    """The file of a version, and the digest that names it."""

    digest: str
    content: bytes


def version_folder(ref: ObjectRef) -> tuple[str, ...]:
    """Return the folder of the versions of an object on the rendered branch.

    >>> version_folder(ObjectRef("apps", "Deployment", "shop", "web"))
    ('versions', 'shop', 'Deployment.apps', 'web')
    """
    *folders, name = object_path(ref)
    return VERSIONS_FOLDER, *folders, name.removesuffix(".yaml")


def version_path(ref: ObjectRef, digest: str) -> tuple[str, ...]:
    """Return the path of a version on the rendered branch."""
    return *version_folder(ref), f"{digest}.yaml"


class _RecordedRule(Struct, frozen=True, kw_only=True):
    policy: str
    rule: str


class _RecordedVariant(Struct, frozen=True, kw_only=True, omit_defaults=True):
    clusters: tuple[str, ...]
    template: Any = None
    has_default_replicas: bool = field(name="defaultReplicas", default=False)
    error: str = ""
    rule: _RecordedRule | None = None


class _PolicyMetadata(Struct, frozen=True, kw_only=True, omit_defaults=True):
    name: str
    namespace: str = ""


class _RecordedPolicy(Struct, frozen=True, kw_only=True):
    api_version: str = field(name="apiVersion", default=POLICY_API_VERSION)
    kind: str
    metadata: _PolicyMetadata
    spec: dict[str, Any]


class _VersionFile(Struct, frozen=True, kw_only=True, omit_defaults=True):
    template: dict[str, Any] | None = None
    text: str = ""
    has_default_replicas: bool = field(name="defaultReplicas", default=False)
    variants: tuple[_RecordedVariant, ...] = ()
    override_policies: tuple[_RecordedPolicy, ...] = field(name="overridePolicies", default=())
    customizations: tuple[dict[str, Any], ...] = ()
    clusters: dict[str, ClusterAttributes] = field(default_factory=dict)
    kept: tuple[KeptManifest, ...] = ()
    engine: str = ""
    placement: str = ""


def written_version(version: ObjectVersion, interpreter: Interpreter) -> WrittenVersion:
    """Return the file of a version; the replicas of its template are in it, and not in its digest."""
    plain = {"apiVersion": ARGOSY_API_VERSION, "kind": KIND, **plain_data(_file_of_version(version))}
    numbers: tuple[int, ...] = ()
    if "template" in plain and (path := interpreter.replica_field(version.template.manifest)):
        number = value_at(version.template.manifest, *path)
        numbers, plain["template"] = (number,), manifest_with_number(plain["template"], path, Hole("replicas"))
    (emitted,) = emit_together([plain])
    digest = hashlib.sha256(b"\0".join(emitted.segments)).hexdigest()[:_DIGEST_LENGTH]
    return WrittenVersion(digest=digest, content=Spliced(emitted.segments, numbers).data())


def manifest_with_number(manifest: Manifest, path: tuple[str, ...], number: Any) -> Any:
    """Return a copy of a manifest with a number, or a hole for one, at a path that it has."""
    copied: Any = copy_value(manifest)
    parent = copied
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = number
    return copied


def template_with_replicas(template: Template, replicas: int, interpreter: Interpreter) -> Template:
    """Return a template with other replicas; one that is signed as a whole, or has none, as it is."""
    path = interpreter.replica_field(template.manifest)
    if template.text or not path:
        return template
    return replace(template, manifest=manifest_with_number(template.manifest, path, replicas))


def _file_of_version(version: ObjectVersion) -> _VersionFile:
    template = version.template
    return _VersionFile(
        template=None if template.text else dict(template.manifest),
        text=template.text.decode("utf-8", "surrogateescape"),
        has_default_replicas=template.has_default_replicas,
        variants=tuple(map(_recorded_variant, template.variants)),
        override_policies=tuple(map(_recorded_policy, version.override_policies)),
        customizations=tuple(dict(each) for each in version.customizations),
        clusters={name: version.clusters[name] for name in sorted(version.clusters)},
        kept=version.kept,
        engine=version.engine,
        placement=version.placement,
    )


def _recorded_variant(variant: TemplateVariant) -> _RecordedVariant:
    rule = variant.rule
    return _RecordedVariant(
        clusters=tuple(sorted(variant.clusters)),
        template=variant.manifest,
        has_default_replicas=variant.has_default_replicas,
        error=variant.error,
        rule=_RecordedRule(policy=rule.policy, rule=rule.rule) if isinstance(rule, AppliedRule) else None,
    )


def _recorded_policy(policy: OverridePolicy) -> _RecordedPolicy:
    return _RecordedPolicy(
        kind="OverridePolicy" if policy.namespace else "ClusterOverridePolicy",
        metadata=_PolicyMetadata(name=policy.name, namespace=policy.namespace),
        spec=dict(policy.spec),
    )


def parse_version(content: bytes) -> ObjectVersion:
    """Read a version back from its file; FileFault where it is not as it was written."""
    found = converted_to_struct(object_of_any_size(content), _VersionFile)
    manifest = _manifest_of_text(found.text) if found.text else found.template
    if manifest is None:
        raise FileFault("it has no template")
    template = Template(
        ref=ObjectRef.of(manifest),
        manifest=manifest,
        text=found.text.encode("utf-8", "surrogateescape"),
        has_default_replicas=found.has_default_replicas,
        variants=tuple(map(_variant_of_record, found.variants)),
    )
    return ObjectVersion(
        template=template,
        override_policies=tuple(parse_override_policy(plain_data(each)) for each in found.override_policies),
        customizations=found.customizations,
        clusters=found.clusters,
        kept=found.kept,
        engine=found.engine,
        placement=found.placement,
    )


def _manifest_of_text(text: str) -> Manifest:
    try:
        manifest = parse_documents(text.encode("utf-8", "surrogateescape"))[0].value
    except (DocumentErrors, IndexError) as error:
        raise FileFault("its text holds no object") from error
    if not isinstance(manifest, dict):
        raise FileFault("its text holds no object")
    return manifest


def _variant_of_record(recorded: _RecordedVariant) -> TemplateVariant:
    return TemplateVariant(
        clusters=frozenset(recorded.clusters),
        manifest=recorded.template,
        rule=None if recorded.rule is None else _rule_of_record(recorded.rule),
        has_default_replicas=recorded.has_default_replicas,
        error=recorded.error,
    )


def _rule_of_record(recorded: _RecordedRule) -> AppliedRule:
    """Return the record of what decides a variant, which runs no overriders."""
    return AppliedRule(
        policy=recorded.policy,
        rule=recorded.rule,
        origin=PolicyOrigin(policy=recorded.policy),
        source=OverridePolicy(name=recorded.policy.rpartition("/")[2]),
        overriders=Overriders(),
    )
