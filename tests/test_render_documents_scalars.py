"""Plain scalars as kubectl reads them, values and keys; a real kubectl reads the same rows."""

from typing import Any, NamedTuple

from render.documents import parse_documents

from .kubectl import head, objects_read
from .tables import each_row


class Plain(NamedTuple):
    why: str
    text: str
    want: Any


VALUES = [
    Plain("nothing is null", "", None),
    Plain("a tilde is null", "~", None),
    Plain("null in three casings", "NULL", None),
    Plain("null in another casing is text", "nULL", "nULL"),
    Plain("y is true", "y", True),
    Plain("Y is true", "Y", True),
    Plain("on is true", "on", True),
    Plain("YES is true", "YES", True),
    Plain("n is false", "n", False),
    Plain("Off is false", "Off", False),
    Plain("oN is text", "oN", "oN"),
    Plain("a leading zero is octal", "0777", 511),
    Plain("0o is octal", "0o17", 15),
    Plain("0O is octal", "0O17", 15),
    Plain("an octal number with an 8 is a decimal one", "08", 8),
    Plain("two zeros are zero", "00", 0),
    Plain("hexadecimal in either casing", "0X1f", 31),
    Plain("0x without digits is text", "0x", "0x"),
    Plain("binary", "0b11", 3),
    Plain("binary with a 2 is text", "0b2", "0b2"),
    Plain("a sign inside a binary number", "0b-11", -3),
    Plain("a plus inside a binary number", "0b+11", 3),
    Plain("a sign before and inside is text", "-0b-1", "-0b-1"),
    Plain("a sign before hexadecimal", "-0x1F", -31),
    Plain("underscores between digits", "1_000", 1000),
    Plain("underscores anywhere after a digit", "1__0_", 10),
    Plain("an underscore first is text", "_1", "_1"),
    Plain("a plus", "+1", 1),
    Plain("two signs are text", "+-1", "+-1"),
    Plain("minus zero is zero", "-0", 0),
    Plain("minus zero as a float is zero", "-0.0", 0),
    Plain("a whole float is an integer", "1.0", 1),
    Plain("a float that ends with its point", "1.", 1),
    Plain("an exponent needs no point", "1e3", 1000),
    Plain("a negative exponent", "1E-3", 0.001),
    Plain("an exponent without digits is text", "1e", "1e"),
    Plain("a float that starts with its point", ".5", 0.5),
    Plain("underscores after a point", ".8_4", 0.84),
    Plain("an underscore right after the point is text", "._5", "._5"),
    Plain("an underscore at the end after a point is text", ".5_", ".5_"),
    Plain("an underscore in an exponent after a point", ".5e1_0", 5000000000),
    Plain("a sign before the point lets underscores be", "+._5", 0.5),
    Plain("a float too small is zero", "1e-400", 0),
    Plain("a float too large is text", "1e400", "1e400"),
    Plain("the largest int64", "9223372036854775807", 9223372036854775807),
    Plain("one more is a float", "9223372036854775808", 9.223372036854775807e18),
    Plain("the smallest int64", "-9223372036854775808", -9223372036854775808),
    Plain("one less is a float", "-9223372036854775809", -9.223372036854775808e18),
    Plain("more than uint64 is a float", "18446744073709551616", 1.8446744073709552e19),
    Plain("more than uint64 in hexadecimal is text", "0x10000000000000000", "0x10000000000000000"),
    Plain("a whole float takes the digits Go writes", "1152921504606846976.0", 1152921504606847000),
    Plain("a whole float beyond int64 stays one", "1e19", 1e19),
    Plain("minutes and seconds are text", "1:30", "1:30"),
    Plain("a date is text", "2024-01-01", "2024-01-01"),
    Plain("a point in time is text", "2001-12-14t21:59:43.10-05:00", "2001-12-14t21:59:43.10-05:00"),
    Plain("an equals sign is text", "=", "="),
    Plain("a merge sign as a value is text", "<<", "<<"),
    Plain("infinity without its point is text", "inf", "inf"),
    Plain("an amount is text", "500m", "500m"),
    Plain("a version is text", "1.2.3", "1.2.3"),
    Plain("an unknown tag is ignored, and nothing resolved", "!mine 12", "12"),
    Plain("the tag without a name resolves nothing", "! 12", "12"),
    Plain("a string by its tag", "!!str 12", "12"),
    Plain("an empty string by its tag", "!!str", ""),
    Plain("an integer by its tag, though quoted", '!!int "0x10"', 16),
    Plain("a float by its tag", "!!float 1", 1),
    Plain("a boolean by its tag, though quoted", "!!bool 'on'", True),
    Plain("null by its tag", "!!null ''", None),
    Plain("a date by its tag is text", "!!timestamp 2024-01-01", "2024-01-01"),
    Plain("base64 by its tag is decoded", "!!binary aGVsbG8=", "hello"),
    Plain("base64 of bytes that are no text", "!!binary /w==", "\ufffd"),
    Plain("a verbatim tag", "!<tag:yaml.org,2002:str> 12", "12"),
]

KEYS = [
    Plain("true in any spelling", "on", "true"),
    Plain("false in any spelling", "n", "false"),
    Plain("an integer in decimal", "0x1F", "31"),
    Plain("the largest int64", "9223372036854775807", "9223372036854775807"),
    Plain("a float has the digits of a float32", "3.14159265358979", "3.1415927"),
    Plain("a whole float is not an integer", "1.0", "1"),
    Plain("a large float has an exponent", "1234567.0", "1.234567e+06"),
    Plain("a float from an exponent", "1e6", "1e+06"),
    Plain("a float below a million has none", "1e5", "100000"),
    Plain("a small float has an exponent", "1e-5", "1e-05"),
    Plain("a float less small has none", "1e-4", "0.0001"),
    Plain("a float too large for float32", "1e39", ".inf"),
    Plain("infinity", "-.INF", "-.inf"),
    Plain("not-a-number", ".NaN", ".nan"),
    Plain("a date is text", "2024-01-01", "2024-01-01"),
    Plain("quoted it is text", '"on"', "on"),
    Plain("a tag of its own", "!!str 12", "12"),
]


def file_with(number: int, body: str) -> bytes:
    return f"{head(number)}{body}\n".encode()


@each_row("case", VALUES, ids=lambda case: case.why)
def test_a_scalar_as_a_value(case: Plain) -> None:
    (document,) = parse_documents(f"v: {case.text}\nw:\n- {case.text}\nx: {{a: {case.text} }}\n".encode())
    want = repr(case.want)
    assert [repr(document.value[key]) for key in "vwx"] == [want, f"[{want}]", f"{{'a': {want}}}"]


@each_row("case", KEYS, ids=lambda case: case.why)
def test_a_scalar_as_a_key(case: Plain) -> None:
    (document,) = parse_documents(f"v:\n  {case.text}: 1\nw: {{{case.text}: 1}}\n".encode())
    assert document.value == {"v": {case.want: 1}, "w": {case.want: 1}}


def test_kubectl_reads_the_same_scalars() -> None:
    bodies = [f"v: {case.text}" for case in VALUES] + [f"v:\n  {case.text}: 1" for case in KEYS]
    wants = [repr(case.want) for case in VALUES] + [repr({case.want: 1}) for case in KEYS]
    files = [file_with(number, body) for number, body in enumerate(bodies)]
    read = [[repr(value["v"]) for value in objects] for objects in objects_read(files) if isinstance(objects, list)]
    assert read == [[want] for want in wants]
