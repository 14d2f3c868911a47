"""The shell: Git, clusters, the clock and the command line around the pure core.

PyPI knows other packages named ``overrides``, ``render`` and ``reconciler``. Installed into one environment, the last
one wins file by file; that must show at once, with a name, and not as a missing attribute later.
"""

from importlib import import_module
from typing import TYPE_CHECKING

import overrides
import render

if TYPE_CHECKING:
    from .pipeline.stages import Inputs, Rendered, render_pass
    from .source.desired import Desired
    from .source.loading import load_desired

DISTRIBUTION = "argosy"

__all__ = [
    "DISTRIBUTION",
    "Desired",
    "Inputs",
    "Rendered",
    "load_desired",
    "render_pass",
]

_MODULE_BY_NAME = {
    "Desired": "source.desired",
    "Inputs": "pipeline.stages",
    "Rendered": "pipeline.stages",
    "load_desired": "source.loading",
    "render_pass": "pipeline.stages",
}

for _package in (overrides, render):
    if getattr(_package, "DISTRIBUTION", "") != DISTRIBUTION:
        raise ImportError(
            f"the package '{_package.__name__}' at {_package.__file__} is not Argosy's: another distribution installed "
            "it over ours; give argosy an environment of its own (pipx, uv tool, a container)"
        )


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for: ``import reconciler`` alone stays cheap."""
    if name not in _MODULE_BY_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULE_BY_NAME[name]}", __name__), name)
