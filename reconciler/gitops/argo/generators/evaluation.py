"""Go's text templates run over parameters, within a bound of steps and of text.

A value that a template lacks is printed as Go prints it, or is an error where ``missingkey=error`` says so.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from .functions import FUNCTIONS
from .syntax import Branch, Fields, Function, Literal, Node, Operand, Pipeline, TemplateError, Variable
from .values import LONGEST_TEXT, MISSING, Budget, Missing, is_true_in_template, printed_value

_MOST_ITEMS = 10_000


class Evaluation(Struct):
    """One run of a template; ``is_strict``: a missing key is an error."""

    parameters: Mapping[str, Any]
    budget: Budget
    is_strict: bool = False
    _size: int = 0
    _variables: list[tuple[str, Any]] = field(default_factory=list)

    def text(self, nodes: Sequence[Node]) -> str:
        """Return the text that a template makes."""
        self._variables = [("$", self.parameters)]
        return "".join(self._texts_of_nodes(nodes, self.parameters))

    def _texts_of_nodes(self, nodes: Sequence[Node], dot: Any) -> Iterator[str]:
        for node in nodes:
            self.budget.spend(None)
            if isinstance(node, str):
                yield self._text_within_limit(node)
            elif isinstance(node, Branch):
                before = len(self._variables)
                yield from self._texts_of_branch(node, dot)
                del self._variables[before:]
            else:
                value = self._value_of_pipeline(node, dot)
                if not node.variables:
                    yield self._text_within_limit(printed_value(value))

    def _text_within_limit(self, text: str) -> str:
        self._size += len(text)
        if self._size > LONGEST_TEXT:
            raise TemplateError(f"a template makes more than {LONGEST_TEXT} characters")
        return text

    def _texts_of_branch(self, branch: Branch, dot: Any) -> Iterator[str]:
        if branch.kind == "range":
            yield from self._texts_of_range(branch, dot)
            return
        value = self._value_of_pipeline(branch.pipeline, dot)
        inner = value if branch.kind == "with" else dot
        yield from (
            self._texts_of_nodes(branch.body, inner)
            if is_true_in_template(value)
            else self._texts_of_nodes(branch.otherwise, dot)
        )

    def _texts_of_range(self, branch: Branch, dot: Any) -> Iterator[str]:
        """Run a body for each item of a list or map; variables that it declares are the key and the item."""
        names = branch.pipeline.variables
        items = list(_keys_and_items_of(self._value_of_pipeline(branch.pipeline._replace(variables=()), dot)))
        if not items:
            yield from self._texts_of_nodes(branch.otherwise, dot)
        for key, item in items:
            before = len(self._variables)
            values = (key, item) if len(names) == 2 else (item,)
            self._variables += zip(names, values, strict=False)
            yield from self._texts_of_nodes(branch.body, item)
            del self._variables[before:]

    def _value_of_pipeline(self, pipeline: Pipeline, dot: Any) -> Any:
        value: Any = MISSING
        for number, command in enumerate(pipeline.commands):
            value = self._value_of_command(command, dot, (value,) if number else ())
        for name in pipeline.variables:
            if pipeline.is_new:
                self._variables.append((name, value))
            else:
                self._assign_variable(name, value)
        return value

    def _assign_variable(self, name: str, value: Any) -> None:
        for number in range(len(self._variables) - 1, -1, -1):
            if self._variables[number][0] == name:
                self._variables[number] = (name, value)
                return
        raise TemplateError(f"the variable {name} is not declared")

    def _value_of_command(self, command: Sequence[Operand], dot: Any, last: tuple[Any, ...]) -> Any:
        self.budget.spend(None)
        first, *others = command
        if isinstance(first, Function):
            return self._call_function(first.name, others, dot, last)
        if others or last:
            raise TemplateError("something that is no function is given arguments")
        return self._value_of_operand(first, dot)

    def _value_of_operand(self, operand: Operand, dot: Any) -> Any:
        self.budget.spend(None)
        if isinstance(operand, Literal):
            return operand.value
        if isinstance(operand, Pipeline):
            return self._value_of_pipeline(operand, dot)
        if isinstance(operand, Fields):
            value = self._value_of_operand(operand.base, dot)
            for name in operand.names:
                value = self._value_of_field(value, name)
            return value
        if isinstance(operand, Function):
            return self._call_function(operand.name, (), dot, ())
        return dot if operand.name == "." else self._value_of_variable(operand)

    def _value_of_variable(self, variable: Variable) -> Any:
        for name, value in reversed(self._variables):
            if name == variable.name:
                return value
        raise TemplateError(f"the variable {variable.name} is not declared")

    def _value_of_field(self, value: Any, name: str) -> Any:
        if isinstance(value, Missing):
            return MISSING
        if not isinstance(value, Mapping):
            raise TemplateError(f"there is no field {name!r} in what is no object")
        if self.is_strict and name not in value:
            raise TemplateError(f"there is no key {name!r}")
        return value.get(name, MISSING)

    def _call_function(self, name: str, operands: Sequence[Operand], dot: Any, last: tuple[Any, ...]) -> Any:
        if name in {"and", "or"}:
            return self._deciding_operand(name, operands, dot, last)
        function = FUNCTIONS.get(name)
        if function is None:
            raise TemplateError(f"the function {name!r} is not known here")
        arguments = [*(self._value_of_operand(each, dot) for each in operands), *last]
        try:
            value = function(*(None if isinstance(each, Missing) else each for each in arguments))
        except (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError, ZeroDivisionError) as error:
            raise TemplateError(f"the function {name!r} cannot be used on what it is given") from error
        if isinstance(value, str) and len(value) > LONGEST_TEXT:
            raise TemplateError(f"the function {name!r} makes more than {LONGEST_TEXT} characters")
        self.budget.spend(value)
        return value

    def _deciding_operand(self, name: str, operands: Sequence[Operand], dot: Any, last: tuple[Any, ...]) -> Any:
        """Return the first argument that decides, without looking at those after it."""
        value: Any = MISSING
        for each in operands:
            value = self._value_of_operand(each, dot)
            if is_true_in_template(value) == (name == "or"):
                return value
        return last[0] if last else value


def _keys_and_items_of(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, Mapping):
        yield from sorted(value.items())
    elif isinstance(value, list | tuple):
        yield from enumerate(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield from ((number, number) for number in range(min(value, _MOST_ITEMS)))
    elif value is not None and not isinstance(value, Missing):
        raise TemplateError("{{range}} is over something else than a list or an object")
