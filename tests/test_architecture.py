"""The shape of the code: who imports what, how long things are, and the one sentence of every module.

``python -m tests.test_architecture`` prints those sentences, in the order of the layers.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("render", "overrides", "reconciler")
MODULES = sorted(path.relative_to(ROOT).as_posix() for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
MAX_MODULE_LINES, MAX_FUNCTION_LINES = 300, 40


class Importer(NamedTuple):
    """A library, and the only places that may import it: modules, or a folder of them."""

    library: str
    places: tuple[str, ...]


IMPORTERS = [
    Importer("yaml", ("render/documents",)),
    Importer("git", ("reconciler/repository/porcelain",)),
    Importer("kubernetes", ("reconciler/members/auth_providers",)),
    Importer("urllib3", ("reconciler/members/client", "reconciler/members/connection")),
    Importer("lupa", ("render/interpreter/",)),
    Importer("pathspec", ("reconciler/source/files",)),
]


@cache
def parsed(module: str) -> ast.Module:
    return ast.parse((ROOT / module).read_text(encoding="utf-8"), module)


def imported_libraries(module: str) -> Iterator[tuple[str, int]]:
    """Yield the top-level name and line of every absolute import, wherever in the module it stands."""
    for node in ast.walk(parsed(module)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name.split(".")[0], node.lineno
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.split(".")[0], node.lineno


def sentence(module: str) -> str:
    """Return the first paragraph of a module's docstring on one line."""
    return " ".join((ast.get_docstring(parsed(module)) or "").split("\n\n")[0].split())


@pytest.mark.parametrize("rule", IMPORTERS, ids=lambda rule: rule.library)
def test_a_library_is_imported_in_one_place(rule: Importer) -> None:
    strays = [
        f"{module}:{line} imports {rule.library}, which belongs to {', '.join(rule.places)}"
        for module in MODULES
        if not module.startswith(rule.places)
        for library, line in imported_libraries(module)
        if library == rule.library
    ]
    assert strays == []


def test_only_one_module_runs_lua() -> None:
    runners = [module for module in MODULES if any(library == "lupa" for library, _ in imported_libraries(module))]
    assert len(runners) <= 1, runners


def test_no_module_is_long() -> None:
    lines = {module: len((ROOT / module).read_text(encoding="utf-8").splitlines()) for module in MODULES}
    assert {module: count for module, count in lines.items() if count > MAX_MODULE_LINES} == {}


def test_no_function_is_long() -> None:
    long = {}
    for module in MODULES:
        for node in ast.walk(parsed(module)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MAX_FUNCTION_LINES:
                    long[f"{module}:{node.lineno} {node.name}"] = lines
    assert long == {}


def test_every_module_says_in_one_sentence_what_it_owns() -> None:
    assert [module for module in MODULES if not sentence(module).endswith(".")] == []


def test_nothing_is_named_like_its_own_module() -> None:
    """Re-exporting it from the package would replace the submodule."""
    clashes = [
        f"{module}:{node.lineno} {node.name}"
        for module in MODULES
        for node in parsed(module).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == Path(module).stem
    ]
    assert clashes == []


if __name__ == "__main__":
    for layer in PACKAGES:
        for name in [module for module in MODULES if module.startswith(f"{layer}/")]:
            print(f"{name:44} {sentence(name)}")
