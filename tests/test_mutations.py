"""The mutation check itself: what it breaks, what it spares, and that it names what no test notices."""

from pathlib import Path
from typing import NamedTuple

import pytest

from .architecture import House
from .build import Repository
from .mutations.mutants import chosen, mutants, probed
from .mutations.trial import Copy, Nearness, Options, production, tried
from .tables import each_row


class Broken(NamedTuple):
    why: str
    code: str
    want: list[str]


BROKEN = [
    Broken("a comparison", "a < b", ["a <= b"]),
    Broken("each comparison of a chain", "a == b is c", ["a != b is c", "a == b is not c"]),
    Broken("membership", "a not in b", ["a in b"]),
    Broken("a condition of two", "a and b", ["a or b"]),
    Broken("parentheses stay", "(a or b) and (c)", ["(a or b) or (c)", "(a and b) and (c)"]),
    Broken("a computation", "a + b * c", ["a - b * c", "a + b // c"]),
    Broken("a negation", "not a", ["a"]),
    Broken("a choice", "a if b else c", ["a if not (b) else c"]),
    Broken("a branch", "if a:\n    b", ["if not (a):\n    b", "if a:\n    pass"]),
    Broken("a filter", "[a for a in b if a]", ["[a for a in b if True]"]),
    Broken("a number", "f = 7", ["f = 8"]),
    Broken("a truth", "f = False", ["f = True"]),
    Broken("a text", "f = 'x'", ['f = ""']),
    Broken("an empty text", "f = ''", ['f = "mutated"']),
    Broken("arguments", "f = g(a, b, c)", ["f = g(b, a, c)"]),
    Broken("a named argument", "f = g(a, b=c, d=e)", ["f = g(a, d=e)", "f = g(a, b=c)"]),
    Broken("the only argument", "f = g(b=c)", ["f = g()"]),
    Broken("a quantifier", "f = all(a)", ["f = any(a)"]),
    Broken("what is returned", "def f(): return a", ["def f(): return None"]),
    Broken("a statement", "f(a)", ["pass"]),
    Broken("an addition", "a += b", ["pass"]),
    Broken("an entry", "a[b] = c", ["pass"]),
    Broken("an error", "raise a", ["pass"]),
    Broken("text that is not ASCII before it", "f = 'é', a < b", ['f = "", a < b', "f = 'é', a <= b"]),
    Broken("no docstring", '"""What it is."""', []),
    Broken("no decorator", "@f(a=1)\ndef g(): pass", []),
    Broken(
        "no form of a class",
        "class A(B, frozen=True, kw_only=True, order=True): c = d",
        ["class A(B, frozen=True, kw_only=True, order=False): c = d"],
    ),
    Broken("no annotation", "def f(a: 'B') -> 'C': pass", []),
    Broken("no assertion", "assert a < b", []),
    Broken("no f-string", "f = f'{a + b} c'", []),
    Broken("no type", "T = TypeVar('T')", []),
    Broken("no export", "__all__ = ['a']", []),
    Broken("no name, without which all would fail", "a = b", []),
]


def all_of(code: str) -> list[str]:
    source = code.encode()
    return [mutant.applied(source).decode() for mutant in mutants("a.py", source)]


@each_row("case", BROKEN, ids=lambda case: case.why)
def test_what_is_broken(case: Broken) -> None:
    """Beside the statement as a whole, which can be left out."""
    assert sorted(set(all_of(case.code)) - ({"pass"} - set(case.want))) == sorted(case.want)


def test_lines_are_chosen_by_the_seed_and_none_twice() -> None:
    sources = dict.fromkeys(("a.py", "b.py"), b"a = 1 + 2\nb = 3 < a and f(4, 5)\n" * 20)
    once = chosen(sources, 30, 1)
    assert chosen(sources, 30, 1) == once
    assert chosen(sources, 30, 2) != once
    assert len({(mutant.path, mutant.line) for mutant in once}) == 30
    assert len(chosen(sources, 1000, 1)) == 80


def test_a_difference_shows_whole_lines() -> None:
    source = b"a = 1\nif (a and\n        b):\n    pass\n"
    (mutant,) = (each for each in mutants("a.py", source) if each.new == b" or ")
    assert (mutant.line, mutant.difference(source)) == (
        2,
        "    - if (a and\n    -         b):\n    + if (a or b):",
    )


PROBED = '''\
def outer(a):
    """What it does."""
    @cached
    def inner():
        here()
        return a
    return inner
'''


def test_a_probe_comes_first_in_the_innermost_function() -> None:
    want = PROBED.replace("    @cached\n", "    probe(7)\n    @cached\n")
    want = want.replace("        here()\n", "        probe(6)\n        here()\n")
    assert probed(PROBED.encode(), [(6, "probe(6)"), (7, "probe(7)"), (1, "probe(1)")]).decode() == want


TREE = {
    "render/__init__.py": "",
    "render/sums.py": "def total(a, b):\n    return a + b\n\n\ndef is_large(a):\n    return a > 3\n",
    "render/signs.py": "def sign(a):\n    return -1 if a < 0 else 1\n",
    "tests/__init__.py": "",
    "tests/test_broken.py": "from render.sums import total\n\n\ndef test_it():\n    assert total(1, 1) == 3\n",
    "tests/test_signs.py": "from render.signs import sign\n\n\ndef test_it():\n    assert sign(0) + sign(9)\n",
    "tests/test_sums.py": "from render.sums import total\n\n\ndef test_it():\n    assert total(2, 1) == 3\n",
}


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree whose tests need no plugin of pytest."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    repository = Repository.create(tmp_path / "tree")
    repository.write(TREE)
    return repository.path


def test_what_no_test_notices_is_named(tree: Path) -> None:
    """One that failed before notices nothing, and one that comes by may overlook it."""
    verdicts = list(tried(tree, ["render/sums.py", "render/signs.py"], Options(count=9, seed=3, wide=False)))
    assert [(each.mutant.path, each.mutant.line, each.caught_by, each.reached) for each in verdicts] == [
        ("render/signs.py", 2, "", 1),
        ("render/sums.py", 2, "tests/test_sums.py::test_it", 1),
        ("render/sums.py", 6, "", 0),
    ]
    assert {path: (tree / path).read_text() for path in TREE} == TREE


def test_a_test_that_does_not_end_any_more_has_noticed(tree: Path, tmp_path: Path) -> None:
    copy = Copy.of(tree, tmp_path / "copy")
    endless = b"def total(a, b):\n    while True: pass\n"
    with copy.changed({"render/sums.py": endless}):
        failure = copy.failure(["tests/test_sums.py::test_it"], ["tests/test_sums.py"], 2)
    assert failure == "no end within 2 s"


def test_the_nearest_tests_come_first(tree: Path) -> None:
    further = {
        "render/whole.py": "from render import sums\n",
        "tests/test_whole.py": "from render.whole import sums\n",
        "tests/building.py": "import render.sums\n",
        "tests/test_a_builder.py": "from .building import render\n",
    }
    Repository(tree).write(further)
    names = ("a_builder", "signs", "sums", "whole")
    ordered = Nearness(House.at(tree)).ordered([f"tests/test_{name}.py" for name in names], "render/sums.py")
    assert ordered == [f"tests/test_{name}.py" for name in ("sums", "a_builder", "whole", "signs")]


@pytest.mark.parametrize(
    ("paths", "want"),
    [
        ([], ["render/__init__.py", "render/signs.py", "render/sums.py"]),
        (["render/"], ["render/__init__.py", "render/signs.py", "render/sums.py"]),
        (["render/sums.py", "overrides"], ["render/sums.py"]),
        (["render/sum"], []),
    ],
)
def test_paths_are_folders_or_files(tree: Path, paths: list[str], want: list[str]) -> None:
    assert list(production(tree, paths)) == want
