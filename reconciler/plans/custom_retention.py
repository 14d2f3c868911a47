"""What stays as the cluster has it by a rule of the source: Retain of a customization, a webhook or a bundled kind.

Such a rule answers with a whole object. What it took from the cluster is sent while we own it, and left to its owner
once somebody else does - as for the kinds Kubernetes defines (``plan_retention``), whose own rules are not asked here.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from render.model import Manifest

from .field_paths import MISSING
from .ownership import Fields

if TYPE_CHECKING:
    from render.interpreter import Interpreter


Retain = Callable[[Manifest, Manifest], Manifest]
_SAME = ("name", "namespace")


class RetainFailed(Exception):
    """A rule of the source fails, or makes another object of it."""


def retention_by(interpreter: "Interpreter") -> Retain:
    """Return the rule that plans ask: the desired object itself where the source has no rule of its own for it.

    RetainFailed when a rule fails, or makes another object of it.
    """
    # Who plans without an interpreter does without its modules.
    from render.interpreter import InterpreterError, Layer, Operation

    custom = frozenset({Layer.CUSTOMIZATION, Layer.WEBHOOK, Layer.THIRD_PARTY})

    def retain(desired: Manifest, live: Manifest) -> Manifest:
        if interpreter.layer(Operation.RETAIN, desired) not in custom:
            return desired
        try:
            kept = interpreter.retain(desired, live)
        except InterpreterError as error:
            raise RetainFailed(str(error)) from error
        if not _is_same(kept, desired):
            raise RetainFailed(f"{desired['kind']} {desired['metadata']['name']}: Retain makes it another object")
        return kept

    return retain


def _is_same(kept: Manifest, desired: Manifest) -> bool:
    metadata = kept.get("metadata")
    if not isinstance(metadata, Mapping) or any(kept.get(key) != desired[key] for key in ("apiVersion", "kind")):
        return False
    return all(metadata.get(key) == desired["metadata"].get(key) for key in _SAME)


def left_to_owners(want: Any, kept: Mapping[str, Any], live: Any, fields: Fields) -> dict[str, Any]:
    """Return what a rule kept, without the fields it took from the cluster that are not ours there.

    ``fields`` are those we own. Leaving out what somebody else owns changes nothing; claiming it would be a write
    whenever its owner writes.
    """
    found: dict[str, Any] = {}
    for name, value in kept.items():
        wanted = want.get(name, MISSING) if isinstance(want, Mapping) else MISSING
        there = live.get(name, MISSING) if isinstance(live, Mapping) else MISSING
        owned = fields.get(f"f:{name}")
        if isinstance(value, Mapping) and isinstance(there, Mapping) and value != wanted:
            inner = left_to_owners(wanted, value, there, owned or {})
            if inner or not value:
                found[name] = inner
        elif owned is not None or value == wanted or value != there:
            found[name] = value
    return found
