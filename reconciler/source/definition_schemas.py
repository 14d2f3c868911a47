"""The schemas of custom kinds, from the CustomResourceDefinitions among the templates of a source."""

from collections.abc import Iterable, Mapping
from typing import Any

from render.admission.findings import Findings
from render.model import Manifest, Template, group_of
from render.schemas import Check, StructuralSchemas, check_manifest

from .built_in_kinds import GroupKind
from .definitions import defined_scopes

_API_VERSION = "apiextensions.k8s.io/v1"


class DefinitionSchemas:
    """The definitions of a source by kind, and the checks of the versions that were asked for."""

    def __init__(self, templates: Iterable[Template], metadata: Check) -> None:
        self._metadata = metadata
        self._definitions: dict[GroupKind, Manifest] = {}
        for template in templates:
            if template.ref.kind == "CustomResourceDefinition" and template.api_version == _API_VERSION:
                for kind in defined_scopes([template.manifest]):
                    self._definitions.setdefault(kind, template.manifest)
        self._checks: dict[tuple[str, str], Check | None] = {}

    def __contains__(self, kind: object) -> bool:
        return kind in self._definitions

    def findings(self, manifest: Manifest) -> Findings:
        """Return what is wrong with an object of a kind that is defined here."""
        api_version, kind = manifest["apiVersion"], manifest["kind"]
        definition = self._definitions[group_of(api_version), kind]
        versions = _versions(definition)
        name = api_version.rpartition("/")[2]
        if not versions.get(name, {}).get("served"):
            return _not_served(manifest, [each for each, version in versions.items() if version.get("served")])
        key = (api_version, kind)
        if key not in self._checks:
            self._checks[key] = self._check_of(definition, versions[name])
        check = self._checks[key]
        return check_manifest(check, manifest) if check else Findings()

    def _check_of(self, definition: Manifest, version: Manifest) -> Check | None:
        """Return the check of a version; None where it keeps whatever it is given."""
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if definition["spec"].get("preserveUnknownFields") or not isinstance(schema, dict):
            return None
        return StructuralSchemas(self._metadata).of_object(schema)


def _versions(definition: Manifest) -> Mapping[str, Any]:
    return {each["name"]: each for each in definition["spec"].get("versions") or () if "name" in each}


def _not_served(manifest: Manifest, served: list[str]) -> Findings:
    findings = Findings()
    hint = f"write '{group_of(manifest['apiVersion'])}/{served[-1]}'" if served else ""
    message = f"its CustomResourceDefinition does not serve {manifest['kind']} in {manifest['apiVersion']!r}"
    findings.problem("apiVersion", message, hint=hint, kind="NotSupported")
    return findings
