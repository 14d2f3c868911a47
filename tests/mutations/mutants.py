"""Mutants of a file: the small changes that ought to make some test fail, each with its place in the text."""

import ast
import random
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

_COMPARED = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
_COMPUTED = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "//",
    ast.FloorDiv: "*",
    ast.Div: "*",
    ast.Mod: "*",
    ast.BitAnd: "|",
    ast.BitOr: "&",
    ast.BitXor: "&",
    ast.LShift: ">>",
    ast.RShift: "<<",
    ast.Pow: "*",
}
_CALLED = {"any": "all", "all": "any", "min": "max", "max": "min", "sorted": "list"}
_TYPING = {"TypeVar", "NewType", "Literal", "cast"}
_FORM_OF_CLASS = {"frozen", "kw_only"}
"""The keywords of a Struct that forbid a way to write it: without them, everything that is written means the same."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A change: these bytes of the file become others."""

    path: str
    line: int
    start: int
    end: int
    new: bytes

    def applied(self, source: bytes) -> bytes:
        return source[: self.start] + self.new + source[self.end :]

    def difference(self, source: bytes) -> str:
        """Show the lines that change, before and after."""
        first = source.rfind(b"\n", 0, self.start) + 1
        last = source.find(b"\n", self.end)
        last = len(source) if last < 0 else last
        before = source[first:last].decode().splitlines()
        after = (source[first : self.start] + self.new + source[self.end : last]).decode().splitlines()
        return "\n".join([*(f"    - {line}" for line in before), *(f"    + {line}" for line in after)])


def chosen(sources: Mapping[str, bytes], count: int, seed: int) -> list[Mutant]:
    """Choose lines at random, each as likely as any other, and of each a mutant that can be compiled."""
    by_line: dict[tuple[str, int], list[Mutant]] = {}
    for path, source in sorted(sources.items()):
        for mutant in mutants(path, source):
            by_line.setdefault((path, mutant.line), []).append(mutant)
    rng, found = random.Random(seed), list[Mutant]()
    lines = sorted(by_line)
    rng.shuffle(lines)
    for line in lines:
        candidates = by_line[line]
        rng.shuffle(candidates)
        if len(found) < count:
            found += [each for each in candidates if _compiles(each.applied(sources[each.path]))][:1]
    return sorted(found, key=lambda each: (each.path, each.line))


def mutants(path: str, source: bytes) -> list[Mutant]:
    """Return every mutant of a file, in the order of their places; a few of them cannot be compiled."""
    tree = ast.parse(source)
    text = _Text(source)
    spared = set(_spared(tree))
    return sorted(
        (
            Mutant(path=path, line=text.line(start), start=start, end=end, new=new)
            for node in ast.walk(tree)
            if node not in spared
            for start, end, new in _changes(node, text)
        ),
        key=lambda each: (each.start, each.end, each.new),
    )


def function_around(tree: ast.Module, line: int) -> Function | None:
    """Return the innermost function that a line belongs to, its decorators and arguments left out."""
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, Function) and node.body[0].lineno <= line <= (node.end_lineno or 0)
    ]
    return max(around, key=lambda node: node.lineno, default=None)


class _Text:
    """A source whose nodes are found by their bytes."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def line(self, offset: int) -> int:
        return bisect_right(self._starts, offset)

    def span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[node.end_lineno - 1] + node.end_col_offset

    def of(self, node: ast.expr | ast.stmt | ast.keyword) -> bytes:
        start, end = self.span(node)
        return self.source[start:end]


Change = tuple[int, int, bytes]


def _spared(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield what is for readers and type checkers alone, and the inside of f-strings, whose places are not told."""
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, Function):
            parts = [*node.decorator_list, node.returns]
        elif isinstance(node, ast.ClassDef):
            parts = [*node.decorator_list, *(each for each in node.keywords if each.arg in _FORM_OF_CLASS)]
        elif isinstance(node, ast.arg | ast.AnnAssign):
            parts = [node.annotation]
        elif isinstance(node, ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom) or _is_about_types(node):
            parts = [node]
        for part in parts:
            yield from ast.walk(part) if part is not None else ()


def _is_about_types(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets)
    named = node.func if isinstance(node, ast.Call) else node.value if isinstance(node, ast.Subscript) else None
    return isinstance(named, ast.Name) and named.id in _TYPING


def _changes(node: ast.AST, text: _Text) -> Iterator[Change]:
    """Yield the changes of one node."""
    change = _CHANGES.get(type(node))
    return change(node, text) if change else iter(())


def _of_comparison(node: ast.Compare, text: _Text) -> Iterator[Change]:
    for operator, (left, right) in zip(node.ops, pairwise([node.left, *node.comparators]), strict=True):
        yield _between(left, right, _COMPARED[type(operator)], text)


def _of_conditions(node: ast.BoolOp, text: _Text) -> Iterator[Change]:
    for left, right in pairwise(node.values):
        yield _between(left, right, "or" if isinstance(node.op, ast.And) else "and", text)


def _of_computation(node: ast.BinOp, text: _Text) -> Iterator[Change]:
    if type(node.op) in _COMPUTED:
        yield _between(node.left, node.right, _COMPUTED[type(node.op)], text)


def _of_negation(node: ast.UnaryOp, text: _Text) -> Iterator[Change]:
    if isinstance(node.op, ast.Not):
        yield *text.span(node), text.of(node.operand)


def _of_choice(node: ast.If | ast.While | ast.IfExp, text: _Text) -> Iterator[Change]:
    yield *text.span(node.test), b"not (%s)" % text.of(node.test)


def _of_filters(node: ast.comprehension, text: _Text) -> Iterator[Change]:
    for test in node.ifs:
        yield *text.span(test), b"True"


def _between(left: ast.expr, right: ast.expr, operator: str, text: _Text) -> Change:
    """Replace the operator between two operands, parentheses around them left as they are."""
    start, end = text.span(left)[1], text.span(right)[0]
    gap = text.source[start:end]
    opened, closed = gap.count(b"("), gap.count(b")")
    return start, end, b")" * closed + b" %s " % operator.encode() + b"(" * opened


def _of_constant(node: ast.Constant, text: _Text) -> Iterator[Change]:
    if isinstance(node.value, bool):
        yield *text.span(node), b"False" if node.value else b"True"
    elif isinstance(node.value, int | float):
        yield *text.span(node), str(node.value + 1).encode()
    elif isinstance(node.value, str):
        yield *text.span(node), b'""' if node.value else b'"mutated"'
    elif isinstance(node.value, bytes):
        yield *text.span(node), b'b""' if node.value else b'b"mutated"'


def _of_call(node: ast.Call, text: _Text) -> Iterator[Change]:
    """Yield calls of the opposite function, with two arguments swapped, and without a named argument."""
    if isinstance(node.func, ast.Name) and node.func.id in _CALLED:
        yield *text.span(node.func), _CALLED[node.func.id].encode()
    if len(node.args) > 1 and not any(isinstance(each, ast.Starred) for each in node.args[:2]):
        (start, first), (second, end) = text.span(node.args[0]), text.span(node.args[1])
        yield start, end, text.of(node.args[1]) + text.source[first:second] + text.of(node.args[0])
    given: Sequence[ast.expr | ast.keyword] = [*node.args, *node.keywords]
    for before, each in zip([None, *given], given, strict=False):
        if isinstance(each, ast.keyword) and each.arg:
            start, end = text.span(each)
            if before is None:
                following = given[1:2]
                yield start, text.span(following[0])[0] if following else text.span(node)[1] - 1, b""
            else:
                yield text.span(before)[1], end, b""


def _of_return(node: ast.Return, text: _Text) -> Iterator[Change]:
    if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
        yield *text.span(node), b"return None"


def _of_assignment(node: ast.Assign, text: _Text) -> Iterator[Change]:
    """Yield nothing where names are given, without which what follows would fail at once."""
    if not any(isinstance(target, ast.Name | ast.Tuple) for target in node.targets):
        yield *text.span(node), b"pass"


def _of_statement(node: ast.stmt, text: _Text) -> Iterator[Change]:
    yield *text.span(node), b"pass"


_CHANGES: Mapping[type[ast.AST], Callable[[Any, _Text], Iterator[Change]]] = {
    ast.Compare: _of_comparison,
    ast.BoolOp: _of_conditions,
    ast.BinOp: _of_computation,
    ast.UnaryOp: _of_negation,
    ast.If: _of_choice,
    ast.While: _of_choice,
    ast.IfExp: _of_choice,
    ast.comprehension: _of_filters,
    ast.Constant: _of_constant,
    ast.Call: _of_call,
    ast.Return: _of_return,
    ast.Assign: _of_assignment,
    ast.Expr: _of_statement,
    ast.Raise: _of_statement,
    ast.AugAssign: _of_statement,
    ast.Delete: _of_statement,
    ast.Continue: _of_statement,
    ast.Break: _of_statement,
}


def _compiles(source: bytes) -> bool:
    try:
        compile(source, "mutant", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def probed(source: bytes, calls: Iterable[tuple[int, str]]) -> bytes:
    """Return a source in which the function around each of these lines makes a call first, where it can."""
    tree, lines = ast.parse(source), source.splitlines(keepends=True)
    at: dict[int, list[bytes]] = {}
    for line, call in calls:
        function = function_around(tree, line)
        statement = _first_statement(function) if function else None
        if function and statement and statement.lineno > function.lineno:
            first = min([statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", ()))])
            at.setdefault(first, []).append(b" " * statement.col_offset + call.encode() + b"\n")
    return b"".join(b"".join([*at.get(number, ()), line]) for number, line in enumerate(lines, 1))


def _first_statement(function: Function) -> ast.stmt | None:
    statements = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return statements[0] if statements else None
