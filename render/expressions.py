"""Regular expressions of modules, compiled when they are first used.

There are hundreds of them, a command needs a few, and to compile all was a tenth of what imports cost.
"""

import re
from typing import Any, AnyStr, cast

_NAMES = tuple(name for name in dir(re.Pattern) if not name.startswith("_"))


def lazy_expression(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a regular expression for the top of a module.

    >>> digits = lazy_expression("[0-9]+")
    >>> digits.findall("1 of 12"), digits.pattern, digits.groups
    (['1', '12'], '[0-9]+', 0)
    """
    expression = _Uncompiled(text, flags)
    _EXPRESSIONS.append(expression)
    return cast("re.Pattern[AnyStr]", expression)


def compile_expressions() -> None:
    """Compile all expressions of the modules that are imported, for processes that are forked to share them."""
    for each in _EXPRESSIONS:
        if isinstance(each, _Uncompiled):
            getattr(each, _NAMES[0])


class _Compiled:
    """An expression that is compiled: it has all methods of one, found as fast as those of the expression itself."""


class _Uncompiled(_Compiled):
    """An expression until anything is asked of it."""

    def __init__(self, text: Any, flags: int) -> None:
        self._given = (text, flags)

    def __getattr__(self, name: str) -> Any:
        if name not in _NAMES:
            raise AttributeError(name)
        compiled = re.compile(*self._given)
        vars(self).update({each: getattr(compiled, each) for each in _NAMES})
        self.__class__ = _Compiled  # type: ignore[assignment]  # which looks for nothing further
        return vars(self)[name]


_EXPRESSIONS: list[_Compiled] = []
