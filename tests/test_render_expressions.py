"""Regular expressions at the top of modules: none is compiled by an import, all can be, and they work as any other."""

import ast
import importlib
import re
from pathlib import Path
from typing import Any

import pytest

from render.expressions import compile_expressions, lazy_expression

ROOT = Path(__file__).parent.parent
MODULES = sorted(
    path for folder in ("render", "overrides", "reconciler") for path in ROOT.joinpath(folder).rglob("*.py")
)


def test_an_import_compiles_no_regular_expression() -> None:
    """Every command would wait for it; ``re.compile`` belongs into functions alone."""
    found = [str(path) for path in MODULES if any(map(_compiles_when_run, ast.parse(path.read_text()).body))]
    assert found == []


def _compiles_when_run(node: ast.AST) -> bool:
    """Return whether a statement compiles an expression; what stands in a function does so later."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return False
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile":
        return True
    return any(map(_compiles_when_run, ast.iter_child_nodes(node)))


def test_every_regular_expression_of_a_module_can_be_compiled() -> None:
    found = []
    for path in MODULES:
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        if path.stem != "__main__" and "lazy_expression(" in path.read_text():
            found += [each for each in vars(importlib.import_module(name)).values() if _is_lazy(each)]
    assert len(found) > 200
    assert [each.groups for each in found if each.groups < 0] == []


def test_a_process_that_is_forked_can_have_all_of_them_compiled_before() -> None:
    lazy = lazy_expression("a+")
    compile_expressions()
    assert vars(lazy)["pattern"] == "a+"


def _is_lazy(value: Any) -> bool:
    return type(value).__module__ == "render.expressions"


def test_an_expression_has_what_a_compiled_one_has_and_nothing_else() -> None:
    lazy, compiled = lazy_expression(r"(?P<word>a+)|b", re.IGNORECASE), re.compile(r"(?P<word>a+)|b", re.IGNORECASE)
    assert lazy.sub("-", "xAAb") == compiled.sub("-", "xAAb") == "x--"
    names = [name for name in dir(compiled) if not name.startswith("_")]
    values = {name: (getattr(lazy, name), getattr(compiled, name)) for name in names}
    assert {name: one for name, (one, other) in values.items() if one != other and not callable(one)} == {}
    assert lazy.fullmatch("aa").groupdict() == {"word": "aa"}  # type: ignore[union-attr]
    for unknown in ("match_all", "__wrapped__"):
        with pytest.raises(AttributeError):
            getattr(lazy_expression("a"), unknown)
        with pytest.raises(AttributeError):
            getattr(lazy, unknown)


def test_an_expression_that_is_none_says_so_when_it_is_used() -> None:
    with pytest.raises(re.error, match="unterminated"):
        lazy_expression("(").search("text")
