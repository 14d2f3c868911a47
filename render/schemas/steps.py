"""The steps that lead to a value, and the path that messages write for them."""

from typing import Any

Steps = tuple[Any, ...] | None
"""The steps to a value, the last one first: ``((None, "spec"), "replicas")``; an index is a number."""


def path_of_steps(steps: Steps) -> str:
    """Return steps as messages write them.

    >>> path_of_steps((((None, "spec"), "ports"), 0)), path_of_steps(((None, "data"), "a.b"))
    ('spec.ports[0]', 'data[a.b]')
    """
    parts: list[str] = []
    while steps is not None:
        steps, step = steps
        is_plain = isinstance(step, str) and step.replace("-", "").replace("_", "").isalnum()
        parts.append(f".{step}" if is_plain else f"[{step}]")
    return "".join(reversed(parts)).removeprefix(".")
