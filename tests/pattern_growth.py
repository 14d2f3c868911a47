"""The growth of the time that a compiled pattern takes, measured on texts that are made to cost it most.

Python's matcher goes back over a text as often as a pattern leaves it ways to divide it. The texts are made from the
pattern itself: some way to reach one of its repetitions, then what this repetition takes, many times, then something
that nothing takes. A method that looks for a pattern anywhere also begins at every character.
"""

import ast
import importlib
import re
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from re import _constants, _parser  # type: ignore[attr-defined]  # the parser of patterns, which has no public name
from typing import Any, NamedTuple

from render.expressions import lazy_expression
from tests.workflows import ROOT

PACKAGES = ("render", "overrides", "reconciler")
METHODS = ("fullmatch", "match", "search", "finditer", "findall", "sub", "subn", "split", "scanner")
EXPRESSION = type(lazy_expression("")).__base__ or object
"""The type of an expression that is compiled when it is first used, also afterwards."""
_SMALL, _LARGE = 400, 4_000
_SIZES = (16, 20, 25, 31, 39, 48, 60, 75, 94, 117, 146, 183, 229, 286, _SMALL, _LARGE)
"""Steps small enough that even a time which doubles with each character is noticed before it is too long."""
_MOST_RATIO = 40
_LEAST_SECONDS = 0.004
_ENDS = ("", "\x01", "!", "\n")
_MOST_CHARACTERS = 14
_ALPHABET = "a0 \t\n.-/:=\"'\\{}[](),#~@%$&<>_+*?!|;Z\x00é"
_REPEATS = frozenset({_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT})
_BESIDE = frozenset({_constants.ASSERT, _constants.ASSERT_NOT})
_OF_A_CHARACTER = frozenset({_constants.IN, _constants.ANY, _constants.NOT_LITERAL, _constants.CATEGORY})


class Use(NamedTuple):
    """A pattern, the place where it is compiled, and the methods by which it is used."""

    place: str
    pattern: "re.Pattern[Any]"
    methods: frozenset[str]


class Growth(NamedTuple):
    """A text of which ten times as much took far more than ten times as long."""

    place: str
    method: str
    text: str
    seconds: float


def all_uses() -> list[Use]:
    """Return every pattern that the packages compile as they are imported, or write out where they use it."""
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    found: dict[tuple[str, int, object], Use] = {}
    for path, tree in trees.items():
        for use in (*_module_patterns(path, tree, trees), *_inline_patterns(path, tree)):
            key = (use.place, use.pattern.flags, use.pattern.pattern)
            known = found.get(key)
            found[key] = use._replace(methods=use.methods | (known.methods if known else frozenset()))
    return list(found.values())


def _module_patterns(path: Path, tree: ast.Module, trees: dict[Path, ast.Module]) -> Iterator[Use]:
    relative = path.relative_to(ROOT)
    text = path.read_text(encoding="utf-8")
    is_their_list = relative == Path("render/expressions.py")
    if is_their_list or not any(function in text for function in ("re.compile", "lazy_expression")):
        return
    module = importlib.import_module(".".join(relative.with_suffix("").parts).removesuffix(".__init__"))
    for name, value in vars(module).items():
        for number, each in enumerate(_patterns_in(value)):
            is_shared = not name.startswith("_")
            methods = frozenset(m for t in (trees.values() if is_shared else [tree]) for m in _methods_of(t, name))
            is_one = isinstance(value, (re.Pattern, EXPRESSION))
            place = f"{relative}:{name}" if is_one else f"{relative}:{name}[{number}]"
            yield Use(place, each, methods if is_one and methods else frozenset(METHODS[:6]))


def _patterns_in(value: object) -> Iterator["re.Pattern[Any]"]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, EXPRESSION):
        yield re.compile(value.pattern, value.flags)  # type: ignore[attr-defined]  # it has all names of a pattern
    elif isinstance(value, dict):
        for each in (*value.keys(), *value.values()):
            yield from _patterns_in(each)
    elif isinstance(value, (tuple, list, frozenset)):
        for each in value:
            yield from _patterns_in(each)


def _methods_of(tree: ast.Module, name: str) -> Iterator[str]:
    """Yield the methods by which a name is used; all of them where it is handed on."""
    heads = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name:
            heads.add(id(node.value))
            if node.attr in METHODS:
                yield node.attr
        elif isinstance(node, ast.Call) and _is_re(node.func) and node.args and _is_name(node.args[0], name):
            heads.add(id(node.args[0]))
            yield node.func.attr  # type: ignore[attr-defined]  # _is_re says that it is an attribute
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load) and id(node) not in heads:
            yield from METHODS[:6]


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_re(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "re"


def _inline_patterns(path: Path, tree: ast.Module) -> Iterator[Use]:
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and _is_re(node.func) and node.args):
            continue
        method, first = node.func.attr, node.args[0]  # type: ignore[attr-defined]  # _is_re says so
        if method in METHODS and isinstance(first, ast.Constant):
            place = f"{path.relative_to(ROOT)}:{node.lineno}"
            yield Use(place, re.compile(first.value), frozenset({method}))


def growths(use: Use, texts: Iterable[tuple[str, str, str]] | None = None) -> Iterator[Growth]:
    """Yield the first text for each method on which a pattern grows faster than the text."""
    is_bytes = isinstance(use.pattern.pattern, bytes)
    made = list(texts if texts is not None else adversaries(use.pattern))
    for method in sorted(use.methods):
        call = _call(use.pattern, method)
        for start, middle, end in made:
            found = _grown(call, start, middle, end, is_bytes=is_bytes)
            if found is not None:
                yield Growth(use.place, method, f"{start!r} + n * {middle!r} + {end!r}", found)
                break


def _call(pattern: "re.Pattern[Any]", method: str) -> Callable[[Any], object]:
    if method in {"sub", "subn"}:
        empty: Any = b"" if isinstance(pattern.pattern, bytes) else ""
        return lambda text: pattern.sub(empty, text)
    if method in {"finditer", "scanner"}:
        return lambda text: sum(1 for _ in pattern.finditer(text))
    return getattr(pattern, method)  # type: ignore[no-any-return]  # a method of a pattern, by its name


def _grown(call: Callable[[Any], object], start: str, middle: str, end: str, *, is_bytes: bool) -> float | None:
    for size in _SIZES:
        seconds = _seconds(call, _text(start, middle, end, size, is_bytes=is_bytes))
        if seconds > (0.02 if size < _LARGE else 0.2):
            return seconds
    if seconds < _LEAST_SECONDS:
        return None
    large = min(_seconds(call, _text(start, middle, end, _LARGE, is_bytes=is_bytes)) for _ in range(3))
    small = min(_seconds(call, _text(start, middle, end, _SMALL, is_bytes=is_bytes)) for _ in range(3))
    return large if large > _LEAST_SECONDS and large > _MOST_RATIO * small else None


def _text(start: str, middle: str, end: str, size: int, *, is_bytes: bool) -> Any:
    text = start + middle * max(1, size // len(middle)) + end
    return text.encode("utf-8", "replace") if is_bytes else text


def _seconds(call: Callable[[Any], object], text: Any) -> float:
    begun = time.thread_time()
    call(text)
    return time.thread_time() - begun


def adversaries(pattern: "re.Pattern[Any]") -> Iterator[tuple[str, str, str]]:
    """Yield beginnings, middles to be repeated, and ends of texts that cost a pattern most."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    parsed = _parser.parse(source, pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags)
    starts = list(dict.fromkeys(["", *_starts(parsed, "")]))[:12]
    characters = list(dict.fromkeys([*_characters(parsed), "a", "0"]))[:_MOST_CHARACTERS]
    bodies = [body for body in dict.fromkeys(_bodies(parsed)) if body]
    pairs = [a + b for a in characters[:8] for b in characters[:8] if a != b]
    for start in starts:
        for middle in dict.fromkeys([*characters, *bodies, *pairs]):
            for end in _ENDS if middle not in pairs else _ENDS[:2]:
                yield start, middle, end


def _sample(nodes: Any) -> str:
    """Return a short text that some nodes of a pattern match."""
    return "".join(_sample_of(kind, value) for kind, value in nodes)


def _sample_of(kind: Any, value: Any) -> str:
    if kind is _constants.LITERAL:
        return chr(value)
    if kind in _OF_A_CHARACTER:
        return _members(kind, value)[0]
    inner = _children(kind, value) if kind not in _BESIDE else []
    return _sample(inner[0]) * (value[0] if kind in _REPEATS else 1) if inner else ""


def _members(kind: Any, value: Any) -> list[str]:
    """Return some characters that a node of a pattern matches."""
    items = value if kind is _constants.IN else [(kind, value)]
    is_negated = bool(items) and items[0][0] is _constants.NEGATE
    items = items[1:] if is_negated else items
    exact = {_constants.LITERAL, _constants.RANGE}
    written = [chr(item if each is _constants.LITERAL else item[0]) for each, item in items if each in exact]
    taken = [each for each in _ALPHABET if any(_takes(item_kind, item, each) for item_kind, item in items)]
    found = [each for each in _ALPHABET if each not in taken] if is_negated else taken
    return [*([] if is_negated else written), *found[:4]] or ["a"]


def _takes(kind: Any, value: Any, character: str) -> bool:
    if kind is _constants.RANGE:
        return bool(value[0] <= ord(character) <= value[1])
    if kind is _constants.CATEGORY:
        return re.match(_category(value), character) is not None
    is_equal = kind is not _constants.ANY and ord(character) == value
    return is_equal is (kind is _constants.LITERAL)


def _category(value: Any) -> str:
    name = str(value)
    letter = "d" if "DIGIT" in name else "s" if "SPACE" in name else "w"
    return "\\" + (letter.upper() if "NOT" in name else letter)


def _children(kind: Any, value: Any) -> list[Any]:
    if kind in _REPEATS:
        return [value[2]]
    if kind is _constants.BRANCH:
        return list(value[1])
    if kind is _constants.SUBPATTERN:
        return [value[3]]
    if kind is _constants.ATOMIC_GROUP:
        return [value]
    return [value[1]] if kind in _BESIDE else []


def _starts(nodes: Any, before: str) -> Iterator[str]:
    """Yield texts that lead to each repetition of a pattern."""
    for kind, value in nodes:
        if kind in {_constants.MAX_REPEAT, _constants.MIN_REPEAT}:
            yield before
        for child in _children(kind, value):
            yield from _starts(child, before)
        before += _sample_of(kind, value)


def _bodies(nodes: Any) -> Iterator[str]:
    """Yield what the repetitions of a pattern take, and the whole of what it takes."""
    yield _sample(nodes)
    for kind, value in nodes:
        for child in _children(kind, value):
            yield _sample(child)
            yield from _bodies(child)


def _characters(nodes: Any) -> Iterator[str]:
    for kind, value in nodes:
        if kind is _constants.LITERAL:
            yield chr(value)
        elif kind in _OF_A_CHARACTER:
            yield from _members(kind, value)[:3]
        for child in _children(kind, value):
            yield from _characters(child)
