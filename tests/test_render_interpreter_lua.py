"""Scripts of a user: what they can do, what they cannot, and that they always end."""

from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from render.interpretation.operations import InterpreterError
from render.interpreter.lua.sandbox import Limits, call_script, script_problem

from .tables import each_row

TOO_LONG = "the script ran too long"
TOO_MUCH = "the script needs too much memory"
USUAL, SMALL = Limits(), Limits(steps=500_000, seconds=0.1)


def answers(body: str, *arguments: Any, limits: Limits = USUAL) -> list[Any]:
    return call_script(f"function F(a, b)\n{body}\nend", "F", arguments, limits)


def failure(body: str, *arguments: Any, limits: Limits = USUAL) -> str:
    with pytest.raises(InterpreterError) as raised:
        answers(body, *arguments, limits=limits)
    return str(raised.value)


class Attempt(NamedTuple):
    why: str
    body: str
    message: str


ENDLESS = [
    Attempt("an endless loop", "while true do end", TOO_LONG),
    Attempt("one that catches being stopped", "while true do pcall(function() while true do end end) end", TOO_LONG),
    Attempt(
        "one that goes on in the handler of its error",
        "while true do xpcall(function() while true do end end, function() while true do end end) end",
        TOO_LONG,
    ),
    Attempt("endless tail calls", "local function f() return f() end return f()", TOO_LONG),
    Attempt("endless recursion", "local function f() return f() + 1 end return f()", TOO_MUCH),
    Attempt("a sort that never decides", "local t = {} for i = 1, 300000 do t[i] = i % 7 end table.sort(t)", TOO_LONG),
    Attempt(
        "a result of shared tables, doubled sixty times",
        "local t = {1} for i = 1, 60 do t = {t, t} end return t",
        TOO_LONG,
    ),
    Attempt("a pattern of many stars", 'return ("a"):rep(30):find(("a*"):rep(30) .. "b")', TOO_LONG),
    Attempt("a pattern with back and forth", 'return ("a"):rep(3000):match(".-.-.-.-b")', TOO_LONG),
    Attempt("a substitution that never matches", 'return ("a"):rep(100000):gsub(".*.*.*x", "")', TOO_LONG),
    Attempt("slow library calls in a loop", 'local s = ("x"):rep(2^22) while true do s:upper() end', TOO_LONG),
    Attempt(
        "library calls into Python in a loop",
        'local k = require("kube") while true do k.resourceAdd("1", "2") end',
        TOO_LONG,
    ),
    Attempt("a table without end", "local t = {} for i = 1, 1e9 do t[i] = {} end", TOO_MUCH),
    Attempt("a string that doubles", 'local s = "x" while true do s = s .. s end', TOO_MUCH),
    Attempt("a string repeated very often", 'return ("x"):rep(1e10)', "resulting string too large"),
    Attempt("a result that is large", "local t = {} for i = 1, 1e6 do t[i] = 'xxxxxxxx' end return t", TOO_MUCH),
    Attempt("a wide number", 'return string.format("%99999999d", 1)', "invalid format (width or precision too long)"),
    Attempt("more results than there is stack", "return unpack({}, 1, 1e7)", "line 2: too many results to unpack"),
]


@pytest.mark.parametrize("case", ENDLESS, ids=lambda case: case.why)
def test_what_would_not_end_is_stopped(case: Attempt) -> None:
    """By whatever limit there is; a script that takes memory has as many instructions as usual to do so."""
    assert failure(case.body, limits=SMALL if case.message == TOO_LONG else USUAL) == case.message


@pytest.mark.parametrize("case", ENDLESS[:4], ids=lambda case: case.why)
def test_being_stopped_leaves_no_trace(case: Attempt) -> None:
    assert failure(case.body) == case.message
    assert answers("return 1") == [1]


def test_instructions_are_counted_rather_than_time() -> None:
    source = "function F() for i = 1, 1000 do end return 1 end"
    assert call_script(source, "F", [], Limits(steps=10_000)) == [1]
    with pytest.raises(InterpreterError):
        call_script(source, "F", [], Limits(steps=500))


WAYS_OUT = [
    Attempt("the shell", 'return os.execute("id")', "line 2: attempt to call field 'execute' (a nil value)"),
    Attempt("files", 'return io.open("/etc/passwd")', "line 2: attempt to index global 'io' (a nil value)"),
    Attempt("the environment", 'return os.getenv("HOME")', "line 2: attempt to call field 'getenv' (a nil value)"),
    Attempt("modules", 'return require("io")', "module io does not exist"),
    Attempt("another file", 'return dofile("/etc/passwd")', "dofile is disabled"),
    Attempt("code made of text", 'return load("return 1")', "load is disabled"),
    Attempt("bytecode", 'return loadstring("\\27Lua")', "loadstring is disabled"),
    Attempt("its own bytecode", "return string.dump(F)", "line 2: attempt to call field 'dump' (a nil value)"),
    Attempt("the functions of all strings", 'return getmetatable("").__index', "line 2: getmetatable is disabled"),
    Attempt("the hook that counts", "debug.sethook()", "line 2: attempt to index global 'debug' (a nil value)"),
    Attempt(
        "a thread without the hook", "coroutine.wrap(F)()", "line 2: attempt to index global 'coroutine' (a nil value)"
    ),
    Attempt("Python", 'return python.eval("1")', "line 2: attempt to index global 'python' (a nil value)"),
    Attempt(
        "Python, through the library's functions",
        'return require("kube").resourceAdd.__globals__',
        "line 2: attempt to index field 'resourceAdd' (a function value)",
    ),
    Attempt("the clock", "return os.time()", "os.time() without a date would read a clock; rendering has none"),
    Attempt("the date", "return os.date()", "os.date() without a time would read a clock; rendering has none"),
    Attempt("chance", "return math.random()", "math.random would make the answer a matter of chance"),
    Attempt("the collector", "collectgarbage()", "line 2: collectgarbage is disabled"),
]


@each_row("case", WAYS_OUT, ids=lambda case: case.why)
def test_there_is_no_way_out(case: Attempt) -> None:
    assert failure(case.body) == case.message


NO_DATA = [
    Attempt("a function", "return {F}", "a function is no plain data"),
    Attempt("a table in itself", "local t = {} t.t = t return t", "a table contains itself, or is too deep"),
    Attempt("no number", "return 0 / 0", "a number is not finite"),
    Attempt("a list with a gap", "return {[1] = 1, [3] = 3}", "a table mixes names and numbers, or has gaps"),
    Attempt("half a list", "return {1, a = 2}", "a table mixes names and numbers, or has gaps"),
]


@each_row("case", NO_DATA, ids=lambda case: case.why)
def test_only_plain_data_comes_back(case: Attempt) -> None:
    assert failure(case.body) == case.message


ERRORS = [
    Attempt("how often must be said", 'local s = ("x"):rep()', "line 2: bad argument #2 to 'rep' (number expected)"),
    Attempt("an error says its line", "local x\nreturn x.y", "line 3: attempt to index local 'x' (a nil value)"),
    Attempt("a script's own error is its words", 'error("no size")', "line 2: no size"),
    Attempt("a table as an error is just that", "error({})", "table"),
    Attempt("a long error is cut", 'error(("x"):rep(1000))', "line 2: " + "x" * 290 + "..."),
    Attempt("a library's error is not the script's line", "return ('x'):find('[')", "malformed pattern (missing ']')"),
]


@each_row("case", ERRORS, ids=lambda case: case.why)
def test_errors_are_for_people(case: Attempt) -> None:
    assert failure(case.body) == case.message


def test_a_script_without_the_function_says_so() -> None:
    with pytest.raises(InterpreterError) as raised:
        call_script("x = 1", "GetReplicas", [])
    assert str(raised.value) == "it defines no function GetReplicas"


def test_bytecode_and_what_does_not_parse_is_no_script() -> None:
    assert script_problem("function F( end") == "line 1: <name> or '...' expected near 'end'"
    assert script_problem("\x1bLua") == "attempt to load a binary chunk (mode is 't')"
    assert script_problem("function F() end") is None


def test_globals_do_not_outlive_a_call() -> None:
    assert answers("seen = (seen or 0) + 1 string.rep, type = nil, nil return seen") == [1]
    assert answers("seen = (seen or 0) + 1 return seen, type(('x'):rep(2))") == [1, "string"]


class Fact(NamedTuple):
    why: str
    body: str
    want: list[Any]


DIALECT = [
    Fact("nothing, however often, is nothing", 'return (""):rep(2^31 - 1), ("x"):rep(-1)', ["", ""]),
    Fact("a number of times may be text", 'return ("x"):rep("3")', ["xxx"]),
    Fact(
        "goto, as Karmada's engine has it",
        "local n = 0 for i = 1, 3 do if i == 2 then goto on end n = n + i ::on:: end return n",
        [4],
    ),
    Fact("unpack is global", "return unpack({1, 2})", [1, 2]),
    Fact("table.getn", "return table.getn({1, 2})", [2]),
    Fact("math.mod and log10", "return math.mod(7, 4), math.log10(1000)", [3, 3]),
    Fact("a date becomes seconds, in UTC", "return os.time{year = 2024, month = 3, day = 1, hour = 0}", [1709251200]),
    Fact("a month may run over", "return os.time{year = 2023, month = 15, day = 1, hour = 0}", [1709251200]),
    Fact("seconds become a date, in UTC", 'return os.date("%Y-%m-%dT%H:%M:%SZ", 1709251200)', ["2024-03-01T00:00:00Z"]),
    Fact(
        "pairs go through keys in order",
        "local o = {} for k in pairs({b = 1, [2] = 1, a = 1, [1] = 1}) do o[#o + 1] = k end return o",
        [[1, 2, "a", "b"]],
    ),
    Fact("next finds the first key, or none", "return next({b = 1, a = 2}), next({})", ["a", None]),
    Fact("a table has no address", "return tostring({}) .. tostring(F)", ["tablefunction"]),
    Fact("print says nothing", 'return print("x")', []),
    Fact("an error can be caught", 'local ok, why = pcall(error, "no", 0) return ok, why', [False, "no"]),
    Fact(
        "or turned into another",
        'return xpcall(function() error("no", 0) end, function(e) return e .. "!" end)',
        [False, "no!"],
    ),
    Fact("bytes that are no text become marks", 'return "\\255x"', ["�x"]),
    Fact("whole numbers are integers", "return 3.0, 2.5, 1e15, -2^53", [3, 2.5, 10**15, -(2**53)]),
    Fact(
        "whole numbers become text without an exponent",
        'return tostring(128 * 2^40), tostring(-2^53), tostring(0), string.format("%s %d %.1f", 1e15, 2^50, 1e15)',
        ["140737488355328", "-9007199254740992", "0", "1000000000000000 1125899906842624 1000000000000000.0"],
    ),
    Fact(
        "other numbers become text with all their digits",
        'return tostring(10/3), tostring(0.1), tostring(0.1 + 0.2), tostring(1e-7), string.format("%s", 2/3)',
        ["3.3333333333333335", "0.1", "0.30000000000000004", "1e-07", "0.6666666666666666"],
    ),
    Fact(
        "what is no number or has no end has a word",
        'return tostring(0/0), tostring(1/0), tostring(-1/0), string.format("%.1f", 1/0)',
        ["NaN", "+Inf", "-Inf", "inf"],
    ),
    Fact("nothing is nothing", "return nil, {a = nil}", [None, []]),
]


@each_row("case", DIALECT, ids=lambda case: case.why)
def test_the_dialect(case: Fact) -> None:
    assert answers(case.body) == case.want


KUBE = 'local kube = require("kube") '
LIBRARY = [
    Fact("quantities add up", KUBE + 'return kube.resourceAdd("1Gi", nil, "512Mi")', ["1536Mi"]),
    Fact("in the notation of the first that is not zero", KUBE + 'return kube.resourceAdd("0", "1Ki", "1k")', ["2024"]),
    Fact("no quantities are zero", KUBE + "return kube.resourceAdd()", ["0"]),
    Fact(
        "a quantity is a number",
        KUBE + 'return kube.getResourceQuantity("500m"), kube.getResourceQuantity(nil)',
        [0.5, 0],
    ),
    Fact(
        "a pod's requirements",
        KUBE
        + """local container = {resources = {limits = {cpu = "1"}}}
        return kube.accuratePodRequirements({spec = {nodeSelector = {disk = "ssd"}, containers = {container}}})""",
        [{"nodeClaim": {"nodeSelector": {"disk": "ssd"}}, "resourceRequest": {"cpu": "1"}}],
    ),
    Fact(
        "a pod without requirements has nil",
        KUBE + "return kube.accuratePodRequirements({spec = {nodeSelector = {}}})",
        [None],
    ),
    Fact(
        "a pod's dependencies, by default in default",
        KUBE
        + """local volumes = {{configMap = {name = "c"}}}
        return kube.getPodDependencies({spec = {serviceAccountName = "sa", volumes = volumes}}, nil)""",
        [
            [
                {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "default", "name": "c"},
                {"apiVersion": "v1", "kind": "ServiceAccount", "namespace": "default", "name": "sa"},
            ]
        ],
    ),
    Fact("a pod without dependencies has nil", KUBE + 'return kube.getPodDependencies({}, "ns")', [None]),
    Fact("a mistake can be caught", KUBE + 'return (pcall(kube.resourceAdd, "x"))', [False]),
]


@each_row("case", LIBRARY, ids=lambda case: case.why)
def test_the_kube_library(case: Fact) -> None:
    assert answers(case.body) == case.want


MISUSES = [
    Attempt(
        "a number is no quantity",
        KUBE + "kube.resourceAdd(1)",
        "line 2: kube.resourceAdd: a quantity is an integer, not a string",
    ),
    Attempt(
        "nonsense is none",
        KUBE + 'kube.resourceAdd("1x")',
        "line 2: kube.resourceAdd: '1x' is not a quantity such as '500m', '2' or '64Mi'",
    ),
    Attempt(
        "nor is less than nothing",
        KUBE + 'kube.getResourceQuantity("-1")',
        "line 2: kube.getResourceQuantity: the quantity is negative",
    ),
    Attempt(
        "arguments are counted",
        KUBE + "kube.getPodDependencies({})",
        "line 2: kube.getPodDependencies: it takes 2 arguments, not 1",
    ),
    Attempt(
        "a pod template is a table",
        KUBE + "kube.accuratePodRequirements('x')",
        "line 2: kube.accuratePodRequirements: the pod template is a string, not a table",
    ),
    Attempt(
        "a namespace is text",
        KUBE + "kube.getPodDependencies({}, 1)",
        "line 2: kube.getPodDependencies: the namespace is an integer, not a string",
    ),
]


@each_row("case", MISUSES, ids=lambda case: case.why)
def test_misuse_of_the_kube_library(case: Attempt) -> None:
    assert failure(case.body) == case.message


PLAIN = st.recursive(
    st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=4) | st.dictionaries(st.text(max_size=8), inner, min_size=1, max_size=4)
    ),
    max_leaves=12,
)


@given(PLAIN)
@settings(max_examples=60)
def test_plain_data_crosses_the_border_and_back(value: Any) -> None:
    assert answers("return a", value) == [value]


SUBJECTS = st.text("ab(.", max_size=8)
PIECES = st.sampled_from(
    ["a", "b", ".", "%a", "[ab]", "[^a]", "(", ")", "a*", "b+", ".-", "a?", "%(", "()", "^", "$", "%1", "%f[a]", "%b()"]
)


@given(SUBJECTS, st.lists(PIECES, max_size=5).map("".join))
@settings(max_examples=60)
def test_patterns_mean_what_they_mean_in_lua(subject: str, pattern: str) -> None:
    """The counted matcher and Lua's own agree on every small pattern, errors included."""
    from lupa import lua52

    calls = [f"string.{name}(a, b)" for name in ("find", "match")] + ['string.gsub(a, b, "<%0>")']
    for call in calls:
        body = f"local r = {{pcall(function() return {call} end)}} if r[1] then return r end return {{false}}"
        wanted = lua52.LuaRuntime().execute(f"local a, b = ... {body}", subject, pattern)
        assert answers(body, subject, pattern)[0] == list(wanted.values()), call
