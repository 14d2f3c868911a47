"""Pure: override policies and the engine that applies them."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .engine import Overridden, OverrideEngine
    from .errors import OverrideError
    from .lint import lint_overrides
    from .policy import OverridePolicy

DISTRIBUTION = "argosy"

__all__ = ["DISTRIBUTION", "Overridden", "OverrideEngine", "OverrideError", "OverridePolicy", "lint_overrides"]

_MODULE_BY_NAME = {
    "Overridden": "engine",
    "OverrideEngine": "engine",
    "OverrideError": "errors",
    "OverridePolicy": "policy",
    "lint_overrides": "lint",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for: ``import overrides`` alone stays cheap."""
    if name not in _MODULE_BY_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULE_BY_NAME[name]}", __name__), name)
