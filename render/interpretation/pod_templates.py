"""Pod templates inside of objects of kinds that nothing is known of."""

from collections.abc import Iterator, Mapping
from typing import Any

from render.model import mapping_or_empty

_MOST_DEPTH = 8


def is_pod_template(value: Any) -> bool:
    """Say whether a value is a pod template: an object with a spec whose containers have images."""
    containers = mapping_or_empty(mapping_or_empty(value).get("spec")).get("containers")
    return isinstance(containers, list) and any("image" in mapping_or_empty(each) for each in containers)


def pod_specs_in(value: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """Yield the spec of each pod template in a value, down to the depth that definitions have."""
    if depth > _MOST_DEPTH:
        return
    if is_pod_template(value):
        yield mapping_or_empty(value["spec"])
        return
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for child in children:
        yield from pod_specs_in(child, depth + 1)
