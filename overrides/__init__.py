"""Override policies and the engine that applies them; nothing here touches files, clusters, network or clock."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .engine import OverrideEngine
    from .policy import OverridePolicy

DISTRIBUTION = "argosy"

__all__ = [
    "DISTRIBUTION",
    "OverrideEngine",
    "OverridePolicy",
]

_MODULE_BY_NAME = {
    "OverrideEngine": "engine",
    "OverridePolicy": "policy",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for: ``import overrides`` alone stays cheap."""
    if name not in _MODULE_BY_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULE_BY_NAME[name]}", __name__), name)
