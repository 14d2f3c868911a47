"""Run a user's Lua: with globals of its own each time, without any way out, and not for long.

The only module that knows ``lupa``, which it imports when the first script runs. Lua 5.2 stands in for the 5.1 dialect
of Karmada's engine: it has its ``goto``, and refuses bytecode by itself; the prelude adds the names only 5.1 has.
Instructions and memory are counted, so a script that runs too long here runs too long everywhere. Processor time only
ends long library calls, which no instruction count reaches.
"""

import json
from collections.abc import Sequence
from functools import cache
from typing import Any, NoReturn

from msgspec import Struct

from render.expressions import lazy_expression
from render.interpretation.operations import InterpreterError

from .conversion import lua_chunk_returning
from .kube_library import answer_of_kube_function
from .prelude import PRELUDE

EXHAUSTED = "the script ran too long"
"""The prelude's words for a script that used up its instructions or its time."""
POSITION = lazy_expression(r'^(?:script:(\d+)|\[string "<python>"\]:\d+): ')
LONGEST_MESSAGE = 300


class ScriptExhausted(InterpreterError):
    """A script that used up its instructions or its time."""


class Limits(Struct, frozen=True, kw_only=True):
    """The most one call may use: instructions, or else seconds of processor time, and bytes of memory."""

    steps: int = 10_000_000
    seconds: float = 0.7
    memory: int = 32 * 2**20


_LIMITS = Limits()


def call_script(source: str, function: str, arguments: Sequence[Any], limits: Limits = _LIMITS) -> list[Any]:
    """Run a script, call one of its functions and return its results as plain data."""
    try:
        succeeded, text = _lua_state_for_limits(limits)(
            _source_bytes(source), function.encode(), lua_chunk_returning(arguments)
        )
    except _new_lua_runtime().LuaError as error:
        _lua_state_for_limits.cache_clear()
        raise InterpreterError("the script needs too much memory") from error
    answer = text.decode("utf-8", "replace")
    if not succeeded:
        _lua_state_for_limits.cache_clear()
        raise (ScriptExhausted if EXHAUSTED in answer.partition("\n")[0] else InterpreterError)(
            _first_line_of_lua_message(answer)
        )
    results: list[Any] = json.loads(answer)
    return results


def script_problem(source: str) -> str | None:
    """Return the reason why a script does not compile, None when it does."""
    compiled = _lua_module().execute(
        b"local source = ... return load(source, '=script', 't', {})", _source_bytes(source)
    )
    return _first_line_of_lua_message(compiled[1].decode("utf-8", "replace")) if isinstance(compiled, tuple) else None


def _source_bytes(source: str) -> bytes:
    return source.encode("utf-8", "surrogatepass")


def _first_line_of_lua_message(text: str) -> str:
    """Return the first line of Lua's message, which names the line of the script, cut where it is long."""
    first = text.partition("\n")[0]
    if "not enough memory" in first:
        return "the script needs too much memory"
    if len(first) > LONGEST_MESSAGE:
        first = f"{first[:LONGEST_MESSAGE]}..."
    return POSITION.sub(lambda match: f"line {match[1]}: " if match[1] else "", first)


@cache
def _lua_state_for_limits(limits: Limits) -> Any:
    """Return the Lua state that runs scripts, each with globals of its own; after an error a new one replaces it."""
    runtime = _lua_module()
    run = runtime.execute(PRELUDE.encode(), answer_of_kube_function, limits.steps, limits.seconds, limits.memory)
    runtime.set_max_memory(limits.memory)
    return run


def _lua_module() -> Any:
    return _new_lua_runtime().LuaRuntime(
        encoding=None,
        register_eval=False,
        register_builtins=False,
        unpack_returned_tuples=False,
        attribute_filter=_refuse_attribute_access,
        max_memory=0,
    )


def _refuse_attribute_access(_value: object, _name: object, _is_setting: bool) -> NoReturn:
    """Refuse every attribute of every Python object a script might ever hold."""
    raise AttributeError("objects have no attributes here")


@cache
def _new_lua_runtime() -> Any:
    import lupa.lua52

    return lupa.lua52
