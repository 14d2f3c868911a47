"""The shape of the code: who imports what, how long things are, and the one sentence of every module.

``python -m tests.test_architecture`` prints those sentences, in the order of the layers, and measures the whole;
with a folder, those of another checkout; ``--findings`` lists what the measures count.
"""

import argparse
import ast
import re
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.architecture import (
    House,
    classes_of_one_name,
    components,
    findings,
    folder_cycles,
    headless_docstrings,
    hops,
    libraries,
    longest_chains,
    module_cycles,
    parts_of_a_neighbour,
    private_words,
    reached_by_tests_alone,
    repeated_prefixes,
    summary,
)

ROOT = Path(__file__).parent.parent
HOUSE = House.at(ROOT)
pytestmark = pytest.mark.xdist_group("architecture")  # one process parses the whole tree for all of them
MODULES = tuple(HOUSE.modules.values())
MAX_MODULE_LINES, MAX_FUNCTION_LINES = 420, 40
FEW_LINES = 50


class Importer(NamedTuple):
    """A library, and the only places that may import it: modules, or a folder of them."""

    library: str
    places: tuple[str, ...]


IMPORTERS = [
    Importer("yaml", ("render/documents",)),
    Importer("git", ("reconciler/repository/porcelain",)),
    Importer("kubernetes", ("reconciler/members/auth_providers",)),
    Importer("urllib3", ("reconciler/members/proxies", "reconciler/locked/download", "reconciler/locked/timed_http")),
    Importer("httptools", ("reconciler/members/bounded_reading",)),
    Importer("lupa", ("render/interpreter/",)),
]


@pytest.mark.parametrize("rule", IMPORTERS, ids=lambda rule: rule.library)
def test_a_library_is_imported_in_one_place(rule: Importer) -> None:
    strays = [
        f"{module.path}:{line} imports {rule.library}, which belongs to {', '.join(rule.places)}"
        for module in MODULES
        if not module.path.startswith(rule.places)
        for library, line in libraries(module)
        if library == rule.library
    ]
    assert strays == []


def test_only_one_module_runs_lua() -> None:
    runners = [module.path for module in MODULES if any(library == "lupa" for library, _ in libraries(module))]
    assert len(runners) <= 1, runners


def test_no_module_is_long() -> None:
    assert {module.path: module.lines for module in MODULES if module.lines > MAX_MODULE_LINES} == {}


def test_no_function_is_long() -> None:
    long = {}
    for module in MODULES:
        for node in module.statements:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MAX_FUNCTION_LINES:
                    long[f"{module.path}:{node.lineno} {node.name}"] = lines
    assert long == {}


def test_every_module_says_in_one_sentence_what_it_owns() -> None:
    assert [module.path for module in MODULES if not module.sentence.endswith(".")] == []


def test_nothing_is_named_like_its_own_module() -> None:
    """Re-exporting it from the package would replace the submodule."""
    clashes = [
        f"{module.path}:{node.lineno} {node.name}"
        for module in MODULES
        for node in module.tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == Path(module.path).stem
    ]
    assert clashes == []


def test_the_journeys_in_contributing_name_files_that_exist() -> None:
    text = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:render|overrides|reconciler|tests)/[\w./]*)`", text)
    assert len(named) > 20
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_contributing_describes_every_floor_in_order() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    floors = next(each["layers"] for each in contracts if each.get("containers") == ["reconciler"])
    folders = [name for floor in floors for name in floor.split(" | ") if (ROOT / "reconciler" / name).is_dir()]
    text = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("are floors")[2]
    assert re.findall(r"^\| `(\w+)` \| \S", text, re.MULTILINE) == folders


def test_no_folder_imports_one_that_imports_it() -> None:
    assert folder_cycles(HOUSE) == []


def test_no_module_imports_one_that_imports_it() -> None:
    assert module_cycles(HOUSE) == []


def test_no_class_has_the_name_of_another() -> None:
    assert classes_of_one_name(HOUSE) == []


def test_a_few_lines_that_one_neighbour_alone_needs_stand_in_it() -> None:
    """A reader of one has to open the other; where both are long, each is a thought of its own."""
    assert parts_of_a_neighbour(HOUSE, FEW_LINES, MAX_MODULE_LINES) == []


def test_nothing_is_there_for_tests_alone() -> None:
    """A function that only tests call says nothing about what people run; it belongs to the tests."""
    assert reached_by_tests_alone(HOUSE) == []


def test_no_folder_repeats_the_first_word_of_its_files() -> None:
    """Three files that share a word are a folder, or one file."""
    assert repeated_prefixes(HOUSE) == []


def test_no_name_is_a_word_of_this_project_alone() -> None:
    assert private_words(HOUSE) == []


def test_no_docstring_opens_with_a_clause_of_no_sentence() -> None:
    assert headless_docstrings([*MODULES, *HOUSE.tests]) == []


SAMPLE = {
    "render/__init__.py": '"""Render."""\n',
    "render/documents/__init__.py": "from .emitting import emit\n",
    "render/documents/emitting.py": "from ..model import Watch\n\n\ndef emit() -> None:\n    pass\n",
    "render/model.py": 'class Watch:\n    """Whether it is looked at."""\n\n    is_mended = True\n',
    "overrides/a_one.py": "",
    "overrides/a_two.py": "from . import a_one\n",
    "overrides/a_three.py": "import overrides.a_two\n\n\ndef f() -> None:\n    from .a_one import x\n",
    "reconciler/commands/render.py": "from reconciler.one.text import show\n",
    "reconciler/one/text.py": "from render.documents import emit\nfrom reconciler.two.text import Watch\n",
    "reconciler/two/text.py": "from ..three import text\n\n\nclass Watch:\n    pass\n",
    "reconciler/three/text.py": "from reconciler.one import text\nimport urllib3.util\n",
    "tests/test_it.py": '"""What holds."""\n',
}


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> House:
    """Modules with something of everything that is measured."""
    root = tmp_path_factory.mktemp("sample")
    for name, text in SAMPLE.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return House.at(root)


def house_at(root: Path, modules: dict[str, str]) -> Path:
    """Return a checkout whose folder ``reconciler/source`` has these modules."""
    for name, text in modules.items():
        path = root / "reconciler" / "source" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


class TestMeasuring:
    def test_imports_are_those_of_modules_wherever_they_stand(self, sample: House) -> None:
        assert {name: set(imported) for name, imported in sample.imports.items() if imported} == {
            "render.documents": {"render.documents.emitting"},
            "render.documents.emitting": {"render.model"},
            "overrides.a_two": {"overrides.a_one"},
            "overrides.a_three": {"overrides.a_one", "overrides.a_two"},
            "reconciler.commands.render": {"reconciler.one.text"},
            "reconciler.one.text": {"render.documents", "reconciler.two.text"},
            "reconciler.two.text": {"reconciler.three.text"},
            "reconciler.three.text": {"reconciler.one.text"},
        }

    def test_what_is_found_is_named_with_its_place(self, sample: House) -> None:
        around = [f"reconciler.{name}" for name in ("one", "three", "two")]
        assert findings(sample) == {
            "modules with one importer, beside them": [
                "render/documents/emitting.py: render/documents/__init__.py",
                "overrides/a_two.py: overrides/a_three.py",
            ],
            "cycles of modules": [f"3 modules: {', '.join(f'{each}.text' for each in around)}"],
            "cycles of folders": [f"3 places: {', '.join(around)}"],
            "repeated prefixes of file names": ["overrides/a_: 3 files"],
            "class names given twice": ["Watch: render/model.py:1, reconciler/two/text.py:4"],
            "names by private words": [
                "render/model.py:1: Watch",
                "render/model.py:4: is_mended",
                "reconciler/two/text.py:4: Watch",
            ],
            "headless docstrings": ["render/model.py:2: Whether it is looked at."],
            "headless docstrings of tests": ["tests/test_it.py:1: What holds."],
        }

    def test_a_folder_and_the_modules_around_it_may_not_need_each_other(self, tmp_path: Path) -> None:
        """Modules beside a folder may be needed by it, others may need it, and none may do both."""
        house = {
            "loading.py": "from .tools import chart\nfrom .words import word\n",
            "tools/chart.py": "from reconciler.source.words import word\n",
            "tools/flux.py": "from reconciler.source.words import word\n",
            "words.py": "",
        }
        at_ease = House.at(house_at(tmp_path / "at ease", house))
        house |= {"tools/flux.py": "from reconciler.source.release import what\n", "release.py": house["loading.py"]}
        needing = House.at(house_at(tmp_path / "needing", house))
        assert (folder_cycles(at_ease), module_cycles(at_ease), module_cycles(needing)) == ([], [], [])
        assert folder_cycles(needing) == ["2 places: reconciler.source.release, reconciler.source.tools"]

    def test_what_nothing_but_tests_mentions_is_found(self, tmp_path: Path) -> None:
        text = "def called(): ...\ndef idle(): called()\n@command\ndef run(): ...\n"
        (tmp_path / "render").mkdir()
        (tmp_path / "render" / "rules.py").write_text(text)
        (tmp_path / "render" / "face.py").write_text("from .rules import idle\n")
        (tmp_path / "tests").mkdir()
        (tmp_path / "tests" / "test_rules.py").write_text("idle()\n")
        assert reached_by_tests_alone(House.at(tmp_path)) == ["render/rules.py:2: idle"]

    def test_few_lines_belong_to_their_neighbour_where_they_fit(self, sample: House) -> None:
        assert parts_of_a_neighbour(sample, 2, 9) == ["overrides/a_two.py: overrides/a_three.py: 1 and 5 lines"]
        assert parts_of_a_neighbour(sample, 2, 5) == []

    def test_the_summary_counts_and_shows_the_ways(self, sample: House) -> None:
        said = summary(sample)
        assert {name: said[name] for name in ("files", "lines", "longest chain of imports")} == {
            "files": "11",
            "lines": "27",
            "longest chain of imports": "5 modules",
        }
        assert said["from the command to the bytes"] == (
            "3 hops (reconciler.commands.render > reconciler.one.text > render.documents > render.documents.emitting),"
            " 3 at most"
        )
        assert said["from the command to the wire"] == "no way found"

    def test_a_way_is_the_shortest(self) -> None:
        graph = {"a": "bc", "b": "d", "c": "e", "d": "f", "e": "f", "f": ""}
        assert (hops(graph, "a", "ef"), hops(graph, "d", "a"), hops(graph, "a", "a")) == (("a", "c", "e"), (), ("a",))

    def test_the_longest_chain_counts_a_cycle_once(self) -> None:
        graph = {"a": "b", "b": "cd", "c": "b", "d": "e", "e": ""}
        assert longest_chains(graph) == {"e": 1, "d": 2, "b": 3, "c": 3, "a": 4}
        assert longest_chains(graph, "d") == {"d": 1, "b": 2, "c": 2, "a": 3}

    def test_what_leads_back_belongs_together(self) -> None:
        graph = {"a": "b", "b": "cd", "c": "a", "d": "e", "e": "d", "f": "a"}
        assert components(graph) == [("d", "e"), ("a", "b", "c"), ("f",)]


def main() -> None:
    """Print the sentences and the measures of a checkout."""
    parser = argparse.ArgumentParser(prog="python -m tests.test_architecture")
    parser.add_argument("path", nargs="?", type=Path, default=ROOT, help="the checkout; this one without it")
    parser.add_argument("--findings", action="store_true", help="list what the measures count")
    options = parser.parse_args()
    house = House.at(options.path)
    for module in house.modules.values():
        print(f"{module.path:44} {module.sentence}")
    for name, found in findings(house).items() if options.findings else ():
        print(f"\n{name}: {len(found)}", *found, sep="\n  ")
    print()
    for name, value in summary(house).items():
        print(f"{name:40} {value}")


if __name__ == "__main__":
    main()
