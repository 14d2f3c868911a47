"""The Applications that an ApplicationSet makes: its template with each set of parameters filled in, and patched."""

from collections.abc import Iterator, Mapping
from typing import Any

from reconciler.building.requests import UnusableRequest
from reconciler.gitops.argo.generators.combining import MOST_SETS, Parameters, overlaid_parameters
from reconciler.gitops.argo.generators.parameters import Generators
from reconciler.gitops.argo.generators.syntax import TemplateError
from reconciler.gitops.tool_kind import ToolKind, is_any_object, is_no_object
from render.documents import read_documents
from render.federations.patches import PatchFailed, value_after_merge_patch
from render.model import list_or_empty, mapping_or_empty
from render.settings.source import RenderedRelease

GROUP = "argoproj.io"
_DIRECTIVES = ("$patch", "$retainKeys", "$setElementOrder", "$deleteFromPrimitiveList")
IGNORED = {
    "strategy": "all Applications are read at once; a rollout is a setting of policies",
    "ignoreApplicationDifferences": "its Applications are objects nowhere, so nobody changes them",
    "preservedFields": "its Applications are objects nowhere, so nobody changes them",
}
"""Fields that are not read, and the reason that people are told."""

_READ = frozenset({"generators", "template", "templatePatch", "goTemplate", "goTemplateOptions", "syncPolicy"})


def applications_of(manifest: Mapping[str, Any], generators: Generators) -> list[dict[str, Any]]:
    """Return the Applications of an ApplicationSet, by name; UnusableRequest says why it makes none."""
    spec, found = manifest["spec"], dict[str, dict[str, Any]]()
    unknown = sorted(spec.keys() - _READ - IGNORED.keys() - {"applyNestedSelectors"})
    if unknown:
        raise UnusableRequest(f"spec.{unknown[0]}", "no field that is known here, so that it might change anything")
    for template, parameters in _parameter_sets_with_templates(spec, generators):
        try:
            application = _application_of_template(manifest, template, parameters, generators)
        except TemplateError as error:
            raise UnusableRequest("spec.template", str(error)) from error
        name = application["metadata"]["name"]
        if name in found:
            raise UnusableRequest("spec.template.metadata.name", f"two of its Applications are called {name!r}")
        found[name] = application
        if len(found) > MOST_SETS:
            raise UnusableRequest("spec.generators", f"they make more than {MOST_SETS} Applications")
    return [found[name] for name in sorted(found)]


def _parameter_sets_with_templates(
    spec: Mapping[str, Any], generators: Generators
) -> Iterator[tuple[Mapping[str, Any], Parameters]]:
    """Yield each set of parameters, with the template that it is filled into."""
    written = spec.get("generators")
    base = mapping_or_empty(spec.get("template"))
    for number, generator in enumerate(list_or_empty(written)):
        path = f"spec.generators[{number}]"
        sets = generators.parameter_sets(path, generator)
        own = next((mapping_or_empty(mapping_or_empty(each).get("template")) for each in generator.values()), {})
        template = overlaid_parameters(base, own)
        yield from ((template, each) for each in sets)


def _application_of_template(
    manifest: Mapping[str, Any], template: Mapping[str, Any], parameters: Parameters, generators: Generators
) -> dict[str, Any]:
    texts, patch = generators.texts, manifest["spec"].get("templatePatch")
    made = texts.filled_value(template, parameters) if parameters else dict(template)
    if patch:
        made = _application_with_patch(made, texts.fill_text(str(patch), parameters))
    metadata = mapping_or_empty(made.get("metadata"))
    if not isinstance(metadata.get("name"), str) or not metadata["name"]:
        raise UnusableRequest("spec.template.metadata.name", "required, but missing")
    kept = {key: metadata[key] for key in ("name", "labels", "annotations") if metadata.get(key)}
    namespace = manifest["metadata"].get("namespace") or metadata.get("namespace")
    kept |= {"namespace": namespace} if namespace else {}
    return {
        "apiVersion": manifest["apiVersion"],
        "kind": "Application",
        "metadata": kept,
        "spec": mapping_or_empty(made.get("spec")),
    }


def _application_with_patch(made: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return an Application with the patch of its ApplicationSet; lists take the place of lists."""
    documents, errors = read_documents(text.encode("utf-8", "surrogatepass"))
    patch = documents[0].value if documents else {}
    if errors or len(documents) > 1 or not isinstance(patch, dict):
        raise UnusableRequest("spec.templatePatch", "with its parameters filled in it is no YAML object")
    if any(each in text for each in _DIRECTIVES):
        raise UnusableRequest("spec.templatePatch", f"directives of patches, such as {_DIRECTIVES[0]}, are not read")
    try:
        patched = value_after_merge_patch(dict(made), patch)
    except PatchFailed as error:
        raise UnusableRequest("spec.templatePatch", str(error)) from error
    project = mapping_or_empty(made.get("spec")).get("project")
    return {**patched, "spec": {**mapping_or_empty(patched.get("spec")), **({"project": project} if project else {})}}


def _ignored_fields_with_reasons(spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the fields of an ApplicationSet that are not read though they are set, with what people are told."""
    yield from ((f"spec.{name}", reason) for name, reason in IGNORED.items() if spec.get(name))
    if mapping_or_empty(spec.get("syncPolicy")).get("preserveResourcesOnDeletion"):
        reason = "objects that are gone from the source leave clusters, unless their policy preserves them"
        yield "spec.syncPolicy.preserveResourcesOnDeletion", reason


APPLICATION_SET = ToolKind(
    RenderedRelease.APPLICATION_SET, GROUP, is_any_object, is_no_object, is_no_object, _ignored_fields_with_reasons
)


def named_repositories(generators: Any) -> Iterator[Any]:
    """Yield the addresses that generators name, those in others too."""
    unseen = list(generators) if isinstance(generators, list) else []
    while unseen and len(unseen) <= MOST_SETS:
        for kind, found in mapping_or_empty(unseen.pop()).items():
            if kind == "git" and mapping_or_empty(found).get("repoURL"):
                yield found["repoURL"]
            inner = mapping_or_empty(found).get("generators")
            unseen += list_or_empty(inner)
