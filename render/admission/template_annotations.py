"""Annotations of resource templates: those of Argosy's, with values that mean something."""

from render.model import ARGOSY_GROUP, Manifest
from render.rule_paths import paths_in_annotation, rule_path_fault
from render.syntax import quoted_text
from render.template_annotations import CONFLICT_RESOLUTION, FIELD_ANNOTATIONS, OWNER, PRUNE, RECREATE
from render.words import most_similar_word

from .findings import Findings, alternatives

_PREFIX = f"{ARGOSY_GROUP}/"
_CHOICES = {PRUNE: ("true", "false"), RECREATE: ("true", "false")}
_RESOLUTIONS = ("overwrite", "abort")


def check_template_annotations(manifest: Manifest, findings: Findings) -> None:
    """Report annotations of Argosy's with values that say nothing, and warn of those that do not exist."""
    for name, value in (manifest["metadata"].get("annotations") or {}).items():
        field = f"metadata.annotations[{name}]"
        if name == CONFLICT_RESOLUTION and value.lower() not in _RESOLUTIONS:
            # Karmada goes by the policy where it does not know the word.
            hint = f"write {alternatives(_RESOLUTIONS)}"
            findings.warning(field, f"unknown value {quoted_text(value)}, so that the policy decides", hint=hint)
        elif name.startswith(_PREFIX):
            _check_argosy_annotation(name, value, field, findings)


def _check_argosy_annotation(name: str, value: str, field: str, findings: Findings) -> None:
    if name in FIELD_ANNOTATIONS:
        for path in paths_in_annotation(value) or ("",):
            if fault := rule_path_fault(path):
                findings.problem(field, fault[0], hint=fault[1])
    elif name == OWNER:
        return  # it is for people, and any text says something
    elif name not in _CHOICES:
        known = (each.removeprefix(_PREFIX) for each in (*FIELD_ANNOTATIONS, *_CHOICES, OWNER))
        near = most_similar_word(name.removeprefix(_PREFIX), known)
        hint = f"did you mean '{_PREFIX}{near}'?" if near else "argosy help annotations"
        findings.warning(field, "unknown annotation, which nothing reads", hint=hint)
    elif value.lower() not in _CHOICES[name]:
        findings.not_supported(field, value, _CHOICES[name])
