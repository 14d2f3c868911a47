"""The custom resources Karmada bundles rules for: one module per family, imported when a kind of it occurs."""

from collections.abc import Mapping
from importlib import import_module

from render.interpreter.operations import Interpretation

FAMILY_BY_KIND: Mapping[tuple[str, str], str] = {}
"""The module of each kind, by apiVersion and kind."""


def third_party(api_version: str, kind: str) -> Interpretation | None:
    """Return the bundled interpretation of a kind, None when there is none."""
    family = FAMILY_BY_KIND.get((api_version, kind))
    if family is None:
        return None
    interpretations: Mapping[tuple[str, str], Interpretation] = import_module(f".{family}", __name__).KINDS
    return interpretations[api_version, kind]
