"""Templates checked against the schemas of their kinds, before anything is made of them.

An object is wrong where every version of Kubernetes that the members may run would refuse it. A member of which no
version is observed or declared may run any that there is a schema for; one that runs another is not judged for, so what
is found is only a warning.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, NamedTuple

from msgspec import Struct, field

from overrides.matching import selected_templates
from overrides.policy import OverridePolicy
from reconciler.source.checked_before import memory_key_of_manifest
from reconciler.source.manifests import FieldProblem, LocatedManifest, RightManifests
from reconciler.source.scopes.definitions import scopes_by_defined_kind
from render.admission.findings import Findings
from render.boundary import result_or_substitute, unexpected_problem
from render.cluster import Cluster
from render.interpreter.pruning import manifest_without_pruned_fields
from render.kinds import BUILT_IN, GroupKind
from render.model import Manifest, ObjectRef, Template, group_of, is_encrypted_by_sops
from render.schemas import Check, SchemaFindings, StructuralSchemas, check_manifest
from render.schemas.published import checked_parts_of_written_schema
from render.values import DiscreetStruct

from .kubernetes import KubernetesSchemas, load_shipped_schemas, minor_version
from .observed import ObservedSchemas
from .served_versions import FORMER_GROUPS, findings_of_unserved_version

_MOST_DATA = 1 << 20
_SIZED = frozenset({"ConfigMap", "Secret"})
_DEFINITION = "CustomResourceDefinition.apiextensions.k8s.io"
_API_VERSION = "apiextensions.k8s.io/v1"


class DefinitionSchemas:
    """The definitions of a source by kind, and the checks of the versions that were asked for."""

    def __init__(self, templates: Iterable[Template], metadata: Check) -> None:
        self._metadata = metadata
        self._definitions: dict[GroupKind, Manifest] = {}
        for template in templates:
            if template.ref.kind == "CustomResourceDefinition" and template.api_version == _API_VERSION:
                for kind in scopes_by_defined_kind([template.manifest]):
                    self._definitions.setdefault(kind, template.manifest)
        self._checks: dict[tuple[str, str], Check | None] = {}

    def __contains__(self, kind: object) -> bool:
        return kind in self._definitions

    def findings(self, manifest: Manifest) -> Findings:
        """Return what is wrong with an object of a kind that is defined here."""
        api_version, kind = manifest["apiVersion"], manifest["kind"]
        definition = self._definitions[group_of(api_version), kind]
        versions = _served_versions_of_definition(definition)
        name = api_version.rpartition("/")[2]
        if not versions.get(name, {}).get("served"):
            return _findings_of_unserved_version(
                manifest, [each for each, version in versions.items() if version.get("served")]
            )
        key = (api_version, kind)
        if key not in self._checks:
            self._checks[key] = self._check_of(definition, versions[name])
        check = self._checks[key]
        return check_manifest(check, manifest) if check else Findings()

    def _check_of(self, definition: Manifest, version: Manifest) -> Check | None:
        """Return the check of a version; None where it keeps whatever it is given, or its schema has no right shape."""
        schema = checked_parts_of_written_schema((version.get("schema") or {}).get("openAPIV3Schema"))
        if definition["spec"].get("preserveUnknownFields") or schema is None:
            return None
        return StructuralSchemas(self._metadata).of_object(schema)


class WrongTemplate(Struct, frozen=True, kw_only=True):
    """A finding about a template; ``is_certain``: every version that the members may run would refuse it."""

    template: Template
    found: FieldProblem
    is_certain: bool


class SchemaVerdict(NamedTuple):
    """The findings about an object, and the minor versions of Kubernetes for which it is known to be right."""

    findings: Findings
    right: range


EVERY_MINOR, NO_MINOR = range(1 << 16), range(0)


class CheckedTemplates(NamedTuple):
    """The findings about templates, and the versions for which those are right that are not right for all.

    ``overridden`` are templates that are wrong as they stand, and that a rule may complete or correct: what is wrong
    with them is decided by what their clusters get.
    """

    wrong: tuple[WrongTemplate, ...] = ()
    right_minors: Mapping[ObjectRef, range] = MappingProxyType({})
    overridden: frozenset[ObjectRef] = frozenset()

    def with_overrides(self, policies: Iterable[OverridePolicy]) -> "CheckedTemplates":
        """Return the findings without those about templates that a rule of these policies may change."""
        changing = [policy for policy in policies if any(rule.overriders.may_harm for rule in policy.rules)]
        wrong_ones = (each.template for each in self.wrong)
        overridden = frozenset(template.ref for template in selected_templates(changing, wrong_ones))
        wrong = tuple(each for each in self.wrong if each.template.ref not in overridden)
        return self._replace(wrong=wrong, overridden=overridden)


class SchemaChecks(DiscreetStruct, frozen=True, dict=True):
    """The schemas, and the members whose versions decide; they are only asked for where something is found.

    ``known`` are manifests of Kubernetes' own kinds that earlier runs found to be right: the schemas of those are part
    of the program.
    """

    UNSHOWN = ("_observed_checks", "known")

    members: Callable[[], Sequence[Cluster]]
    templates: Sequence[Template] = ()
    observed: ObservedSchemas = field(default_factory=ObservedSchemas)
    known: RightManifests | None = None
    _observed_checks: dict[str, Check | None] = field(default_factory=dict)

    @cached_property
    def schemas(self) -> KubernetesSchemas:
        """The schemas of Kubernetes' own kinds."""
        return load_shipped_schemas()

    @cached_property
    def minors(self) -> tuple[int, ...]:
        """The minor versions that the members may run, the newest first."""
        every = range(self.schemas.newest, self.schemas.oldest - 1, -1)
        known = {minor_version(cluster.kubernetes_version) for cluster in self.members()} or {None}
        return tuple(every) if None in known else tuple(sorted(filter(None, known), reverse=True))

    def check_templates(self, placed: Iterable[tuple[Template, LocatedManifest]]) -> CheckedTemplates:
        """Return what is wrong with templates, and for which versions the others are right."""
        wrong: list[WrongTemplate] = []
        right: dict[ObjectRef, range] = {}
        for template, place, verdict in self._verdicts_on_templates(tuple(placed)):
            wrong += (
                WrongTemplate(template=template, found=FieldProblem(place, problem), is_certain=self.is_certain)
                for problem in verdict.findings.problems
            )
            if verdict.right != EVERY_MINOR:
                right[template.ref] = _versions_in_both(right.get(template.ref, EVERY_MINOR), verdict.right)
        return CheckedTemplates(tuple(wrong), right)

    def _verdicts_on_templates(
        self, placed: Sequence[tuple[Template, LocatedManifest]]
    ) -> Iterator[tuple[Template, LocatedManifest, SchemaVerdict]]:
        """Yield templates with what is found about each; one that is known to be right is not looked at again."""
        keys = [self._memory_key_of_manifest(place) if self.known is not None else b"" for _, place in placed]
        known = self.known.get_many(filter(None, keys)) if self.known is not None else {}
        fresh: dict[bytes, tuple[int, int]] = {}
        for (template, place), key in zip(placed, keys, strict=True):
            if key in known:
                yield template, place, SchemaVerdict(Findings(), range(*known[key]))
                continue
            verdict = result_or_substitute(partial(self._verdict_of, place), _verdict_of_error)
            # Right for none of the versions as such, it is right by what the members run now.
            if key and verdict.right and not verdict.findings.problems:
                fresh[key] = verdict.right.start, verdict.right.stop
            yield template, place, verdict
        if self.known is not None and fresh:
            self.known.put_many(fresh)

    def _verdict_of(self, place: LocatedManifest) -> SchemaVerdict:
        return self.verdict(manifest_without_pruned_fields(place.manifest))

    def _memory_key_of_manifest(self, place: LocatedManifest) -> bytes:
        """Return what a manifest is known by; nothing for one that other files than its own decide about."""
        group, kind = group_of(place.manifest["apiVersion"]), place.manifest["kind"]
        if (group, kind) in self._schemas_of_definitions or not self.is_by_version(group, kind):
            return b""
        return memory_key_of_manifest(place)

    def findings(self, manifest: Manifest, minor: int | None = None) -> Findings:
        """Return what is wrong with an object; nothing for a kind without a schema.

        ``minor``: by this minor version of Kubernetes (None: by whichever the members may run).
        """
        return self.verdict(manifest, minor).findings

    def verdict(
        self, manifest: Manifest, minor: int | None = None, known: frozenset[int] = frozenset()
    ) -> SchemaVerdict:
        """Return the same, and for which versions an object is known to be right.

        ``known`` are the ids of objects inside that are right for some version, and are not checked again.
        """
        group, kind = group_of(manifest["apiVersion"]), manifest["kind"]
        if is_encrypted_by_sops(manifest):
            return SchemaVerdict(Findings(), EVERY_MINOR)
        if (group, kind) in self._schemas_of_definitions:
            return SchemaVerdict(self._schemas_of_definitions.findings(manifest), EVERY_MINOR)
        if not self.has_schema(group, kind):
            return SchemaVerdict(Findings(), EVERY_MINOR)
        verdict = (
            self._verdict_by_all_versions(manifest, known)
            if minor is None
            else self._verdict_in_minor_version(manifest, minor)
        )
        if kind in _SIZED and not group:
            _check_data_size(manifest, verdict.findings)
        return verdict

    def findings_by_digest(self, manifest: Manifest, digest: str) -> Findings:
        """Return what is wrong with an object by the schema that a member has of its kind."""
        if digest not in self._observed_checks:
            schema = self.observed.schema(digest)
            check = None if schema is None else StructuralSchemas(self.schemas.metadata).of_object(schema)
            self._observed_checks[digest] = check
        found = self._observed_checks[digest]
        return check_manifest(found, manifest) if found and not is_encrypted_by_sops(manifest) else Findings()

    def is_by_version(self, group: str, kind: str) -> bool:
        """Say whether the version of Kubernetes decides what is right for a kind."""
        return (group, kind) in BUILT_IN and group in (self.schemas.groups | FORMER_GROUPS)

    def has_schema(self, group: str, kind: str) -> bool:
        """Say whether objects of a kind are checked."""
        return self.is_by_version(group, kind) or (group, kind) in self._schemas_of_definitions

    @cached_property
    def _schemas_of_definitions(self) -> DefinitionSchemas:
        """The definitions among the templates that are right themselves."""
        definitions = (each for each in self.templates if each.ref.group_kind == _DEFINITION)
        usable = [
            each
            for each in definitions
            if not self._verdict_by_all_versions(manifest_without_pruned_fields(each.manifest)).findings.problems
        ]
        return DefinitionSchemas(usable, self.schemas.metadata)

    @cached_property
    def is_certain(self) -> bool:
        """True where there are schemas for every version that a member is known to run."""
        return all(self.schemas.oldest <= minor <= self.schemas.newest for minor in self.minors)

    def _verdict_by_all_versions(self, manifest: Manifest, known: frozenset[int] = frozenset()) -> SchemaVerdict:
        """Return what the newest version finds; nothing where a version that a member may run finds nothing."""
        api_version, kind = manifest["apiVersion"], manifest["kind"]
        served = self.schemas.minors(api_version, kind)
        best = self._findings_of(manifest, served[-1], known) if served else SchemaFindings()
        if served and not best.problems:
            return SchemaVerdict(best, self._versions_known_to_be_right(served, best.since))
        if not self.is_certain:
            return SchemaVerdict(best, NO_MINOR)
        found: Findings | None = None
        for minor in (each for each in self.minors if each in served):
            checked = self._findings_of(manifest, minor)
            if not checked.problems:
                return SchemaVerdict(checked, NO_MINOR)
            found = found or checked
        return SchemaVerdict(found or findings_of_unserved_version(self.schemas, manifest, self.minors), NO_MINOR)

    def _versions_known_to_be_right(self, served: range, since: int) -> range:
        """Return the versions for which an object is right that the last of these takes."""
        is_always = served.start == self.schemas.oldest >= since and served[-1] == self.schemas.newest
        return EVERY_MINOR if is_always else range(max(since, served.start), served[-1] + 1)

    def _verdict_in_minor_version(self, manifest: Manifest, minor: int) -> SchemaVerdict:
        if minor not in self.schemas.minors(manifest["apiVersion"], manifest["kind"]):
            return SchemaVerdict(findings_of_unserved_version(self.schemas, manifest, (minor,)), NO_MINOR)
        return SchemaVerdict(self._findings_of(manifest, minor), NO_MINOR)

    def _findings_of(self, manifest: Manifest, minor: int, known: frozenset[int] = frozenset()) -> SchemaFindings:
        check = self.schemas.check_of(manifest["apiVersion"], manifest["kind"], minor)
        return check_manifest(check, manifest, known) if check else SchemaFindings()


def _verdict_of_error(error: Exception) -> SchemaVerdict:
    findings = Findings()
    findings.problems.append(unexpected_problem("", error, what="is not checked"))
    return SchemaVerdict(findings, NO_MINOR)


def _versions_in_both(first: range, second: range) -> range:
    """Return the versions in both; an object may have several manifests, which must all be right."""
    return range(max(first.start, second.start), min(first.stop, second.stop))


def _check_data_size(manifest: Manifest, findings: Findings) -> None:
    """Find data that is larger than an API server stores."""
    size = 0
    for name in ("data", "binaryData", "stringData"):
        table = manifest.get(name)
        texts = [text for text in table.values() if isinstance(text, str)] if isinstance(table, dict) else []
        length = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
        is_encoded = name == "binaryData" or (name == "data" and manifest["kind"] == "Secret")
        size += length * 3 // 4 - 2 * len(texts) if is_encoded else length
    if size > _MOST_DATA:
        findings.problem("", f"more than {_MOST_DATA} bytes of data, which is all a server stores", kind="TooLong")


def _served_versions_of_definition(definition: Manifest) -> Mapping[str, Any]:
    return {each["name"]: each for each in definition["spec"].get("versions") or () if each and "name" in each}


def _findings_of_unserved_version(manifest: Manifest, served: list[str]) -> Findings:
    findings = Findings()
    hint = f"write '{group_of(manifest['apiVersion'])}/{served[-1]}'" if served else ""
    message = f"its CustomResourceDefinition does not serve {manifest['kind']} in {manifest['apiVersion']!r}"
    findings.problem("apiVersion", message, hint=hint, kind="NotSupported")
    return findings
