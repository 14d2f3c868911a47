"""Fields that a repr leaves out, or that do not make two values different, are fields of their value."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages

import overrides
import reconciler
import render
from render.values import DiscreetStruct, SelectiveStruct


def _classes_below(above: type[DiscreetStruct]) -> Iterator[type[DiscreetStruct]]:
    for each in above.__subclasses__():
        yield each
        yield from _classes_below(each)


def test_fields_that_are_not_shown_or_compared_exist() -> None:
    """One that got another name would be shown: manifests and credentials end in logs by their reprs."""
    for package in (render, overrides, reconciler):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                import_module(module.name)
    missing = {
        f"{each.__module__}.{each.__name__}: {name}"
        for each in _classes_below(DiscreetStruct)
        for name in (*each.UNSHOWN, *(each.UNCOMPARED if issubclass(each, SelectiveStruct) else ()))
        if name not in each.__struct_fields__
    }
    assert missing == set()
