"""The shape of a checkout, measured from its source alone: sizes, who imports whom, names and docstrings.

Nothing here knows a module of ours by name, so an older checkout is measured just like this one. Functions that look
for something return what they found as lines for people; ``tests/test_architecture.py`` asserts on them.
"""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import Path

PACKAGES = ("render", "overrides", "reconciler")
SHORT_LINES = 60
SHARED_BY = 3
LISTED_FROM = 12
"""A module that imports so many of its neighbours is a list of things, each of which has its own module."""
HEADLESS = ("What", "Why", "How", "Which", "Whether", "Where", "Who", "When")
_OPENING = re.compile(rf"[\"'](?:\\n|\s)*(?:{'|'.join(HEADLESS)})\b")
"""A text that opens with such a clause; only files that have one are parsed for their docstrings."""
PRIVATE_WORDS = """
    alike announcing ballot circumstances deliberation differing doubting evidence fleetwide footing ground holding
    inquiry mended misfit moment quiet regrets resting settled site standing surroundings teaching told trouble trying
    untold upkeep workshop
"""
"""Words that mean something in this project alone, wherever in an identifier they stand."""
PRIVATE_NAMES = frozenset({"Note", "Part", "Watch", "pass_", "closer_look"})
"""Identifiers that do so, of words that are ordinary elsewhere."""


@dataclass(frozen=True, kw_only=True)
class Module:
    """A file of Python."""

    name: str
    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @cached_property
    def statements(self) -> tuple[ast.stmt, ...]:
        """All statements of the file, those inside of others too."""
        return tuple(_statements(self.tree.body))

    @cached_property
    def imports(self) -> tuple[ast.Import | ast.ImportFrom, ...]:
        """All statements that import, wherever in the file they stand."""
        return tuple(node for node in self.statements if isinstance(node, ast.Import | ast.ImportFrom))

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())

    @property
    def is_package(self) -> bool:
        return self.path.endswith("/__init__.py")

    @property
    def package(self) -> str:
        """The package whose folder the file lies in."""
        return self.name if self.is_package else self.name.rpartition(".")[0]

    @property
    def sentence(self) -> str:
        """The first paragraph of the docstring, on one line."""
        return " ".join((ast.get_docstring(self.tree) or "").split("\n\n")[0].split())


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        for part in (node, *getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            for inside in ("body", "orelse", "finalbody") if part is node else ("body",):
                yield from _statements(getattr(part, inside, ()))


@dataclass(frozen=True, kw_only=True)
class House:
    """The modules of a checkout, and its tests."""

    modules: Mapping[str, Module]
    tests: tuple[Module, ...]

    @classmethod
    def at(cls, root: Path) -> "House":
        modules = {module.name: module for package in PACKAGES for module in _read(root, package)}
        return cls(modules=modules, tests=tuple(_read(root, "tests")))

    @cached_property
    def imports(self) -> Mapping[str, frozenset[str]]:
        """The modules that each module imports itself, wherever in the file that stands."""
        return {name: frozenset(self._imported(module)) - {name} for name, module in self.modules.items()}

    @cached_property
    def by_path(self) -> Mapping[str, Module]:
        return {module.path: module for module in self.modules.values()}

    @cached_property
    def importers(self) -> Mapping[str, frozenset[str]]:
        found: dict[str, set[str]] = {name: set() for name in self.modules}
        for name, imported in self.imports.items():
            for each in imported:
                found[each].add(name)
        return {name: frozenset(each) for name, each in found.items()}

    def _imported(self, module: Module) -> Iterator[str]:
        for node in module.imports:
            source = f"{_source(module, node)}." if isinstance(node, ast.ImportFrom) else ""
            for name in (f"{source}{alias.name}" for alias in node.names):
                known = name if name in self.modules else name.rpartition(".")[0]
                if known in self.modules:
                    yield known


def _read(root: Path, folder: str) -> Iterator[Module]:
    for path in sorted((root / folder).rglob("*.py")):
        relative = path.relative_to(root)
        parts = relative.with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        yield Module(name=name, path=relative.as_posix(), text=path.read_text(encoding="utf-8"))


def _source(module: Module, node: ast.ImportFrom) -> str:
    """Return the module that names are imported from."""
    if not node.level:
        return node.module or ""
    parts = module.package.split(".")
    above = parts[: len(parts) - node.level + 1]
    return ".".join([*above, *([node.module] if node.module else [])])


def libraries(module: Module) -> Iterator[tuple[str, int]]:
    """Yield the top-level name and line of every absolute import."""
    for node in module.imports:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        if isinstance(node, ast.Import) or not node.level:
            for name in names:
                yield name.split(".")[0], node.lineno


def components(graph: Mapping[str, Iterable[str]]) -> list[tuple[str, ...]]:
    """Return the strongly connected components of a graph, each sorted, a component before those that lead to it."""
    backwards: dict[str, list[str]] = {name: [] for name in graph}
    for name, following in graph.items():
        for after in following:
            backwards[after].append(name)
    found, seen = [], set[str]()
    for start in reversed(_finished(graph, sorted(graph), set())):
        members = _finished(backwards, [start], seen)
        if members:
            found.append(tuple(sorted(members)))
    return found[::-1]


def _finished(graph: Mapping[str, Iterable[str]], starts: Iterable[str], seen: set[str]) -> list[str]:
    """Return what can be reached and was not seen, each after all it leads to.

    Chains of imports are longer than Python's recursion is safe for, hence the path.
    """
    order = []
    for start in starts:
        path = [(start, iter([start]))]
        while path:
            node, following = path[-1]
            after = next((each for each in following if each not in seen), None)
            if after is not None:
                seen.add(after)
                path.append((after, iter(sorted(graph[after]))))
            else:
                path.pop()
                order += [node] if path else []
    return order


def longest_chains(graph: Mapping[str, Iterable[str]], ends: Iterable[str] = ()) -> dict[str, int]:
    """Return how many modules the longest chain of imports from each has, to one of the ends if there are any.

    The modules of a cycle count as one. What leads to no end is left out.
    """
    goals = set(ends)
    lengths: dict[str, int] = {}
    for members in components(graph):
        beyond = {after for member in members for after in graph[member]}.difference(members)
        longest = max((lengths[after] for after in beyond if after in lengths), default=0)
        if longest or not goals or goals.intersection(members):
            lengths |= dict.fromkeys(members, longest + 1)
    return lengths


def hops(graph: Mapping[str, Iterable[str]], start: str, ends: Iterable[str]) -> tuple[str, ...]:
    """Return the shortest way from a module to any of others, both included; nothing if there is none."""
    goals = set(ends)
    ways: dict[str, tuple[str, ...]] = {start: (start,)} if start in graph else {}
    for way in (queue := list(ways.values())):
        if way[-1] in goals:
            return way
        for after in sorted(graph[way[-1]]):
            if after not in ways:
                ways[after] = (*way, after)
                queue.append(ways[after])
    return ()


def way_to_the_bytes(house: House) -> str:
    """Describe the way from the command ``render`` to the module that emits YAML."""
    emitting = [name for name, module in house.modules.items() if "render.documents" in name and _defines(module)]
    return _way(house, "reconciler.commands.render", emitting)


def way_to_the_wire(house: House) -> str:
    """Describe the way from the command ``apply`` to the modules that speak HTTP."""
    speaking = [name for name, module in house.modules.items() if "urllib3" in dict(libraries(module))]
    return _way(house, "reconciler.commands.apply", speaking)


def _way(house: House, start: str, ends: list[str]) -> str:
    shortest = hops(house.imports, start, ends)
    if not shortest:
        return "no way found"
    longest = longest_chains(house.imports, ends)[start] - 1
    return f"{len(shortest) - 1} hops ({' > '.join(shortest)}), {longest} at most"


def _defines(module: Module, name: str = "emit") -> bool:
    return any(isinstance(node, ast.FunctionDef) and node.name == name for node in module.tree.body)


def folder_cycles(house: House) -> list[str]:
    """Name what stands in one folder and imports each other, directly or around, a folder in it counting as one.

    So a folder and modules beside it that need each other are found at every depth, not only below a package.
    """
    graphs: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for name, imported in house.imports.items():
        for each in imported:
            folder, here, there = _parting(name, each)
            graphs[folder][here].add(there)
            graphs[folder][there]
    found = (each for graph in graphs.values() for each in components(graph) if len(each) > 1)
    return sorted(f"{len(each)} places: {', '.join(each)}" for each in found)


def module_cycles(house: House) -> list[str]:
    """Name the modules that import each other, directly or around."""
    return [f"{len(each)} modules: {', '.join(each)}" for each in components(house.imports) if len(each) > 1]


def _parting(one: str, other: str) -> tuple[str, str, str]:
    """Return the innermost folder that two modules are in, and the place of each there: a folder, a module, or itself.

    >>> _parting("render.kinds.apps.sets", "render.kinds.batch")
    ('render.kinds', 'render.kinds.apps', 'render.kinds.batch')
    """
    left, right = one.split("."), other.split(".")
    depth = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False)))
    return ".".join(left[:depth]), ".".join(left[: depth + 1]), ".".join(right[: depth + 1])


def with_one_importer_beside(house: House) -> list[str]:
    """Name the modules that only one other imports, which lies in the same folder."""
    found = []
    for name, module in house.modules.items():
        importers = house.importers[name]
        if not module.is_package and len(importers) == 1:
            (importer,) = importers
            if house.modules[importer].package == module.package:
                found.append(f"{module.path}: {house.modules[importer].path}")
    return found


def parts_of_a_neighbour(house: House, most: int, ceiling: int) -> list[str]:
    """Name the modules of few lines that one neighbour alone imports, and that would fit in there.

    A package that imports its parts is no neighbour of theirs, nor is a module that lists things of one kind.
    """
    found = []
    for line in with_one_importer_beside(house):
        module, importer = (house.by_path[path] for path in line.split(": "))
        beside = [name for name in house.imports[importer.name] if house.modules[name].package == importer.package]
        is_part = len(beside) < LISTED_FROM and not importer.is_package
        if is_part and module.lines <= most and module.lines + importer.lines <= ceiling:
            found.append(f"{line}: {module.lines} and {importer.lines} lines")
    return found


def reached_by_tests_alone(house: House) -> list[str]:
    """Name the functions and classes of modules that no production code mentions, not even as a text.

    What a decorator registers is reached by way of that.
    """
    mentioned: set[str] = set()
    defined: list[tuple[str, str]] = []
    for module in house.modules.values():
        mentioned.update(*map(_mentioned, ast.walk(module.tree)))
        defined += (
            (node.name, f"{module.path}:{node.lineno}")
            for node in module.tree.body
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.decorator_list
        )
    return [f"{place}: {name}" for name, place in defined if name not in mentioned and not name.startswith("__")]


def _mentioned(node: ast.AST) -> Iterable[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return (name,)
        case ast.Constant(value=str(text)) if "\n" not in text:
            return re.findall(r"\w+", text)
    return ()


def repeated_prefixes(house: House) -> list[str]:
    """Name the words that three files of a folder or more begin with."""
    counts: Counter[tuple[str, str]] = Counter()
    for module in house.modules.values():
        folder, _, file = module.path.rpartition("/")
        word, is_first, _ = file.removesuffix(".py").partition("_")
        if word and is_first:
            counts[folder, word] += 1
    return [f"{folder}/{word}_: {count} files" for (folder, word), count in counts.items() if count >= SHARED_BY]


def classes_of_one_name(house: House) -> list[str]:
    """Name the classes that share their names with others."""
    places: dict[str, list[str]] = defaultdict(list)
    for module in house.modules.values():
        for node in module.statements:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{module.path}:{node.lineno}")
    return [f"{name}: {', '.join(where)}" for name, where in sorted(places.items()) if len(where) > 1]


def private_words(house: House) -> list[str]:
    """Name what is called by a word of this project's own."""
    private = set(PRIVATE_WORDS.split())
    found = [
        f"{module.path}:{line}: {name}"
        for module in house.modules.values()
        for name, line in ((Path(module.path).stem, 1), *_names(module, private))
        if name in PRIVATE_NAMES or private.intersection(_words(name))
    ]
    return list(dict.fromkeys(found))


def _names(module: Module, private: AbstractSet[str]) -> Iterator[tuple[str, int]]:
    """Yield the names that a module gives, and their lines; nothing of a module in which nothing private stands."""
    lowered = module.text.lower()
    is_written = any(word in lowered for word in private) or any(name in module.text for name in PRIVATE_NAMES)
    for node in ast.walk(module.tree) if is_written else ():
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno


def _words(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def headless_docstrings(modules: Iterable[Module]) -> list[str]:
    """Name the docstrings that open with a clause which belongs to no sentence."""
    return [
        f"{module.path}:{line}: {text.splitlines()[0]}"
        for module in modules
        if _OPENING.search(module.text)
        for text, line in _docstrings(module)
        if text.split()[0].rstrip(",:") in HEADLESS
    ]


def _docstrings(module: Module) -> Iterator[tuple[str, int]]:
    """Yield every text that stands for itself: of modules, classes, functions, and below what is assigned."""
    for node in module.statements:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            text = node.value.value.strip()
            if text:
                yield text, node.lineno


def summary(house: House) -> dict[str, str]:
    """Return the measures of a checkout, each a line."""
    modules = house.modules.values()
    longest = max(modules, key=lambda module: module.lines)
    short = [module for module in modules if module.lines < SHORT_LINES and not module.is_package]
    return {
        "files": str(len(house.modules)),
        "lines": f"{sum(module.lines for module in modules)}",
        "files of tests": str(len(house.tests)),
        "lines of tests": str(sum(module.lines for module in house.tests)),
        f"modules under {SHORT_LINES} lines": str(len(short)),
        "longest module": f"{longest.path} ({longest.lines} lines)",
        "modules with one importer, beside them": str(len(with_one_importer_beside(house))),
        "longest chain of imports": f"{max(longest_chains(house.imports).values(), default=0)} modules",
        "cycles of modules": _counted(module_cycles(house)),
        "cycles of folders": _counted(folder_cycles(house)),
        "from the command to the bytes": way_to_the_bytes(house),
        "from the command to the wire": way_to_the_wire(house),
        "repeated prefixes of file names": _counted(repeated_prefixes(house)),
        "class names given twice": _counted(classes_of_one_name(house)),
        "names by private words": str(len(private_words(house))),
        "headless docstrings": str(len(headless_docstrings(modules))),
        "headless docstrings of tests": str(len(headless_docstrings(house.tests))),
    }


def findings(house: House) -> dict[str, list[str]]:
    """Return everything that was found, by what it is."""
    return {
        "modules with one importer, beside them": with_one_importer_beside(house),
        "cycles of modules": module_cycles(house),
        "cycles of folders": folder_cycles(house),
        "repeated prefixes of file names": repeated_prefixes(house),
        "class names given twice": classes_of_one_name(house),
        "names by private words": private_words(house),
        "headless docstrings": headless_docstrings(house.modules.values()),
        "headless docstrings of tests": headless_docstrings(house.tests),
    }


def _counted(found: list[str]) -> str:
    shown = "; ".join(each if len(each) < 100 else f"{each[:97]}..." for each in found[:6])
    return f"{len(found)} ({shown}{'; ...' if len(found) > 6 else ''})" if found else "0"
