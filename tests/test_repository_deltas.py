"""Deltas: applying one to its base gives the result, and each is as small as its likeness allows."""

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from reconciler.repository.deltas import (
    SplicedDeltas,
    encode_copy_instructions,
    encode_delta_size,
    encode_insert_instructions,
    find_cheap_delta,
    find_delta_by_middle,
)
from render.gitobjects import Spliced

from .tables import each_row


def number(delta: bytes, position: int) -> tuple[int, int]:
    """Read a size as a delta states it; return it and where it ends."""
    value = shift = 0
    while True:
        byte = delta[position]
        value |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if not byte & 0x80:
            return value, position


def applied(base: bytes, delta: bytes) -> bytes:
    """Apply a delta the way git's pack format describes it."""
    base_size, position = number(delta, 0)
    size, position = number(delta, position)
    assert base_size == len(base)
    result = b""
    while position < len(delta):
        command = delta[position]
        position += 1
        if not command & 0x80:
            assert command > 0, "reserved"
            result += delta[position : position + command]
            position += command
            continue
        operands = [0] * 7
        for bit in range(7):
            if command >> bit & 1:
                operands[bit] = delta[position]
                position += 1
        start = int.from_bytes(bytes(operands[:4]), "little")
        length = int.from_bytes(bytes(operands[4:]), "little") or 0x10000
        assert start + length <= len(base)
        result += base[start : start + length]
    assert len(result) == size
    return result


class Encoded(NamedTuple):
    why: str
    made: bytes
    want: bytes


ENCODED = [
    Encoded("a small size is one byte", encode_delta_size(100), b"\x64"),
    Encoded("seven bits a byte, the lowest first", encode_delta_size(300), b"\xac\x02"),
    Encoded("a copy leaves out bytes that are zero", encode_copy_instructions(0x100, 5), b"\x92\x01\x05"),
    Encoded("a copy from the beginning has no offset", encode_copy_instructions(0, 3), b"\x90\x03"),
    Encoded("a copy of 64 KiB states no size", encode_copy_instructions(0, 0x10000), b"\x80"),
    Encoded("a longer copy is two", encode_copy_instructions(0, 0x10001), b"\x80\x94\x01\x01"),
    Encoded("nothing is copied by no instruction", encode_copy_instructions(7, 0), b""),
    Encoded("an insert states its length", encode_insert_instructions(b"abc"), b"\x03abc"),
    Encoded(
        "an insert holds at most 127 bytes", encode_insert_instructions(b"x" * 128), b"\x7f" + b"x" * 127 + b"\x01x"
    ),
    Encoded("nothing is inserted by no instruction", encode_insert_instructions(b""), b""),
]


@each_row("case", ENCODED, ids=lambda case: case.why)
def test_instructions(case: Encoded) -> None:
    assert case.made == case.want


SEGMENTS = st.lists(st.one_of(st.binary(max_size=40), st.just(b"z" * 0x10003)), min_size=2, max_size=4)


@given(SEGMENTS, st.data())
def test_a_spliced_delta_gives_the_other_integers(segments: list[bytes], data: st.DataObject) -> None:
    size = len(segments) - 1
    integers = st.lists(st.integers(-5, 10**9) | st.just(10**200), min_size=size, max_size=size).map(tuple)
    base = Spliced(tuple(segments), data.draw(integers))
    deltas = SplicedDeltas(base)
    for values in data.draw(st.lists(integers, min_size=1, max_size=4)):
        wanted = Spliced(base.segments, values)
        assert applied(base.data(), deltas.delta(values)) == wanted.data()


def a_tree(*ids: int) -> bytes:
    return b"".join(b"100644 app-%03d.yaml\0" % number + bytes([id_]) * 20 for number, id_ in enumerate(ids))


class Alike(NamedTuple):
    why: str
    base: bytes
    data: bytes
    at_most: int


ALIKE = [
    Alike("two ids of fifty differ", a_tree(*[1] * 50), a_tree(*[1] * 20, 2, *[1] * 20, 3, *[1] * 8), 70),
    Alike("a line is added in the middle", b"a" * 500 + b"z" * 500, b"a" * 500 + b"new line" + b"z" * 500, 30),
    Alike("a line is taken out", b"a" * 500 + b"old line" + b"z" * 500, b"a" * 500 + b"z" * 500, 20),
    Alike("something is appended", b"a" * 500, b"a" * 500 + b"the end", 25),
    Alike("something is put before", b"a" * 500, b"the beginning" + b"a" * 500, 25),
    Alike("only the end is cut off", b"a" * 500 + b"b" * 9, b"a" * 500, 15),
]


@each_row("case", ALIKE, ids=lambda case: case.why)
def test_a_likeness_is_found(case: Alike) -> None:
    delta = find_cheap_delta(case.base, case.data)
    assert delta is not None
    assert applied(case.base, delta) == case.data
    assert len(delta) <= case.at_most


UNLIKE = [
    ("nothing in common", b"a" * 500, b"b" * 400),
    ("nothing in common at equal length", b"a" * 500, b"b" * 500),
    ("less than half in common", b"a" * 200 + b"b" * 300, b"a" * 200 + b"c" * 280),
    ("too small to bother", b"a" * 63, b"a" * 63 + b"b"),
    ("no base", b"", b"a" * 500),
    ("the same", b"a" * 500, b"a" * 500),
    ("more differences than are worth writing", bytes(40_000), (bytes(15) + b"x") * 2500),
]


@each_row(("why", "base", "data"), UNLIKE, ids=lambda case: case if isinstance(case, str) else "")
def test_a_delta_that_would_not_pay_is_not_made(why: str, base: bytes, data: bytes) -> None:
    assert find_cheap_delta(base, data) is None, why


@given(st.binary(min_size=64, max_size=300), st.data())
def test_a_delta_that_is_found_is_right(base: bytes, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(base)))
    end = data.draw(st.integers(start, min(len(base), start + 20)))
    changed = base[:start] + data.draw(st.binary(max_size=20)) + base[end:]
    delta = find_cheap_delta(base, changed)
    if delta is not None:
        assert applied(base, delta) == changed
        assert len(delta) * 2 < len(changed)


MIDDLE = b"".join(b"  - {name: member%04d, replicas: 3}\n" % number for number in range(200))


@given(st.tuples(st.binary(max_size=400), st.binary(max_size=900)), st.tuples(st.binary(max_size=400), st.binary()))
def test_a_long_middle_is_found_wherever_it_stands(one: tuple[bytes, bytes], other: tuple[bytes, bytes]) -> None:
    base, data = one[0] + MIDDLE + one[1], other[0] + MIDDLE + other[1]
    delta = find_delta_by_middle(base, data)
    assert (delta is None) == (base == data)
    if delta is not None:
        assert applied(base, delta) == data
        assert len(delta) < len(other[0]) + len(other[1]) + 40


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_what_has_no_middle_in_common_has_no_delta_by_it(base: bytes, data: bytes) -> None:
    delta = find_delta_by_middle(base, data)
    assert delta is None or applied(base, delta) == data
