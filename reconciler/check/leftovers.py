"""Text of a template engine that nobody filled in, in the fields of Kubernetes' own kinds.

Custom resources and the data of ConfigMaps are left alone: much of what stands there is a template by intention.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from overrides.lint import LineOf
from reconciler.source.built_in_kinds import BUILT_IN
from render.errors import Problem
from render.model import Template

RULE = "TemplateText"
_HELM = re.compile(r"\.(?:Values|Release|Chart|Capabilities)\.\w|\binclude +\"")
_VARIABLE = re.compile(r"\$[({][A-Za-z_]\w*[)}]")
_DATA = frozenset({"data", "stringData", "binaryData", "annotations"})
_ELSEWHERE = frozenset({"CustomResourceDefinition", "ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"})


def template_texts(templates: Iterable[Template], line_of: LineOf | None) -> Iterator[Problem]:
    """Yield a warning for each field with text that Helm, or a tool that puts in variables, was to replace."""
    for template in templates:
        if (template.ref.group, template.ref.kind) not in BUILT_IN or template.ref.kind in _ELSEWHERE:
            continue
        for field, text in _texts_in(template.manifest, ""):
            if (found := _left_in(text, is_image=field.endswith(".image"))) is not None:
                line = line_of(template.path, template.document, field) if line_of else 0
                yield Problem(template.path, line, field, found[0], found[1], RULE)


def _texts_in(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield every text of a manifest that is no data, with its field."""
    if isinstance(value, dict):
        for key, child in value.items():
            if key not in _DATA:
                yield from _texts_in(child, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for number, child in enumerate(value):
            yield from _texts_in(child, f"{path}[{number}]")
    elif isinstance(value, str):
        yield path, value


def _left_in(text: str, *, is_image: bool) -> tuple[str, str] | None:
    """Return a message and a hint about what is left in a text; None where nothing is."""
    if "{{" in text and _HELM.search(text):
        return "text of a Helm template is left here", "commit what `helm template` makes of the chart"
    if is_image and (found := _VARIABLE.search(text)):
        return f"the variable {found[0]} is left here", "nothing puts in variables: write the value"
    return None
