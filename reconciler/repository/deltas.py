"""Differences between objects of one pack, in Git's delta format, where they are cheap to find.

A delta is the base's size, the result's size, and instructions: copy a range of the base, or insert literal bytes.
Five kinds of similarity are looked for, none of which needs a long search: blobs that share all segments and differ in
integers, long contents whose middles are the same (bindings that share a list of clusters) or that share stretches in
one order (bindings that share a placement), contents of equal length that differ in places (trees of two clusters), and
contents with a common beginning and end. Every base is a whole object, so that no chain is ever longer than one.
"""

from collections.abc import Iterable
from functools import lru_cache
from itertools import islice

from render.expressions import lazy_expression
from render.gitobjects import Spliced

_COPY_LIMIT = 0x10000
_INSERT_LIMIT = 127
_SMALLEST_SAVING = 2
_PROBE, _MOST, _PLACES = 64, 4, 8
LONG = 4096
"""From so many bytes on it is worth looking for a middle that contents share."""

_MOST_INSTRUCTIONS = 600
_MOST_REMEMBERED = 1 << 14
"""Sizes and ranges whose bytes are kept: similar contents differ in the same places."""
_LENGTHS = [bytes((length,)) for length in range(_INSERT_LIMIT + 1)]

# Stretches in which two contents of equal length differ, after what is equal; up to seven equal bytes cost less
# inserted than copied. A match begins where the last one ended: searching byte by byte takes four times as long.
_DIFFERENCES = lazy_expression(rb"\0*+([^\0]*+(?>(?:\0{1,7}+[^\0]++)*))")


@lru_cache(maxsize=_MOST_REMEMBERED)
def encode_delta_size(size: int) -> bytes:
    """Return a size as a delta states it: seven bits a byte, the lowest first."""
    encoded = bytearray()
    while size > 0x7F:
        encoded.append(0x80 | size & 0x7F)
        size >>= 7
    encoded.append(size)
    return bytes(encoded)


@lru_cache(maxsize=_MOST_REMEMBERED)
def encode_copy_instructions(start: int, size: int) -> bytes:
    """Return the instructions that copy ``size`` bytes of the base from ``start``."""
    encoded = bytearray()
    while size > 0:
        step = min(size, _COPY_LIMIT)
        encoded += _encode_copy_instruction(start, step)
        start, size = start + step, size - step
    return bytes(encoded)


def _encode_copy_instruction(start: int, size: int) -> bytes:
    flags, operands = 0x80, bytearray()
    # A size of exactly 0x10000 is written as no size bytes at all.
    for bit, byte in enumerate(start.to_bytes(4, "little") + (size & 0xFFFF).to_bytes(3, "little")):
        if byte:
            flags |= 1 << bit
            operands.append(byte)
    return bytes((flags, *operands))


def encode_insert_instructions(data: bytes) -> bytes:
    """Return the instructions that insert ``data``."""
    if len(data) <= _INSERT_LIMIT:
        return _LENGTHS[len(data)] + data if data else b""
    chunks = [data[start : start + _INSERT_LIMIT] for start in range(0, len(data), _INSERT_LIMIT)]
    return b"".join([_LENGTHS[len(chunk)] + chunk for chunk in chunks])


class SplicedDeltas:
    """Deltas of all blobs with the same segments against one of them, at a few byte strings each."""

    __slots__ = ("_base_size", "_copies", "_fixed", "_starts")

    def __init__(self, base: Spliced) -> None:
        position = 0
        copies = []
        for segment, value in zip(base.segments, (*base.values, None), strict=True):
            copies.append(encode_copy_instructions(position, len(segment)))
            position += len(segment) + (0 if value is None else len(b"%d" % value))
        self._copies = copies
        self._base_size = encode_delta_size(position)
        self._fixed = sum(map(len, base.segments))
        self._starts: dict[int, bytes] = {}

    def delta(self, values: tuple[int, ...]) -> bytes:
        """Return the delta of the blob with these integers."""
        digits = [b"%d" % value for value in values]
        size = sum(map(len, digits))
        start = self._starts.get(size)
        if start is None:
            start = self._starts[size] = self._base_size + encode_delta_size(self._fixed + size) + self._copies[0]
        if len(digits) == 1 and size <= _INSERT_LIMIT:
            return start + _LENGTHS[size] + digits[0] + self._copies[1]
        pairs = zip(digits, self._copies[1:], strict=True)
        return start + b"".join([encode_insert_instructions(number) + copy for number, copy in pairs])


def find_cheap_delta(base: bytes, data: bytes) -> bytes | None:
    """Return a delta of ``data`` against ``base`` less than half its size, or None where none is found cheaply."""
    if base == data or min(len(base), len(data)) < 64:
        return None
    return _delta_if_small(
        base,
        data,
        _instructions_for_equal_length(base, data)
        if len(base) == len(data)
        else _instructions_replacing_middle(base, data),
    )


def find_delta_by_middle(base: bytes, data: bytes) -> bytes | None:
    """Return a delta of long contents that share a stretch around the middle of the base, None where they do not."""
    return _delta_if_small(base, data, _instructions_copying_middle(base, data)) if base != data else None


def find_delta_by_stretches(base: bytes, data: bytes) -> bytes | None:
    """Return a delta of long contents that share stretches of the base in its order, None where they do not."""
    return _delta_if_small(base, data, _instructions_copying_stretches(base, data)) if base != data else None


def _delta_if_small(base: bytes, data: bytes, instructions: Iterable[bytes] | None) -> bytes | None:
    if instructions is None:
        return None
    delta = encode_delta_size(len(base)) + encode_delta_size(len(data)) + b"".join(instructions)
    return delta if len(delta) * _SMALLEST_SAVING < len(data) else None


def _instructions_copying_middle(base: bytes, data: bytes) -> Iterable[bytes] | None:
    """Copy the stretch around the middle of the base, wherever it stands, and insert what is before and after it."""
    middle = len(base) // 2
    position = data.find(base[middle : middle + _PROBE])
    if position < 0:
        return None
    before = min(middle, position)
    head = _length_of_common_suffix(base[middle - before : middle], data[position - before : position])
    after = min(len(base) - middle, len(data) - position)
    tail = _length_of_common_prefix(base[middle : middle + after], data[position : position + after])
    if (head + tail) * _MOST < len(data) * (_MOST - 1):
        return None
    copied = encode_copy_instructions(middle - head, head + tail)
    return (
        encode_insert_instructions(data[: position - head]),
        copied,
        encode_insert_instructions(data[position + tail :]),
    )


def _instructions_copying_stretches(base: bytes, data: bytes) -> list[bytes]:
    """Copy the stretch around each of a few places of the base that stands further on in the data; insert the rest."""
    instructions: list[bytes] = []
    copied = written = 0
    for place in range(len(base) // _PLACES, len(base), len(base) // _PLACES):
        position = data.find(base[place : place + _PROBE], written) if place >= copied else -1
        if position < 0:
            continue
        before, after = min(place - copied, position - written), min(len(base) - place, len(data) - position)
        head = _length_of_common_suffix(base[place - before : place], data[position - before : position])
        tail = _length_of_common_prefix(base[place : place + after], data[position : position + after])
        instructions.append(encode_insert_instructions(data[written : position - head]))
        instructions.append(encode_copy_instructions(place - head, head + tail))
        copied, written = place + tail, position + tail
    instructions.append(encode_insert_instructions(data[written:]))
    return instructions


def _instructions_for_equal_length(base: bytes, data: bytes) -> Iterable[bytes] | None:
    """Insert what differs between two contents of equal length and copy the rest."""
    size = len(data)
    # One operation on two large integers finds every byte that differs; a loop over the bytes would cost more than the
    # delta saves.
    different = (int.from_bytes(base, "little") ^ int.from_bytes(data, "little")).to_bytes(size, "little")
    if different.count(0) * _SMALLEST_SAVING < size:
        return None
    spans = [match.span(1) for match in islice(_DIFFERENCES.finditer(different), _MOST_INSTRUCTIONS + 1)]
    if len(spans) > _MOST_INSTRUCTIONS:
        return None
    instructions: list[bytes] = []
    position = 0
    for start, end in spans:
        if start == end:
            break  # the expression matches once more, nothing, behind the last difference
        instructions += (
            encode_copy_instructions(position, start - position),
            encode_insert_instructions(data[start:end]),
        )
        position = end
    instructions.append(encode_copy_instructions(position, size - position))
    return instructions


def _instructions_replacing_middle(base: bytes, data: bytes) -> Iterable[bytes] | None:
    """Copy the common beginning and end, insert the middle."""
    size = min(len(base), len(data))
    head = _length_of_common_prefix(base[:size], data[:size])
    rest = size - head
    tail = rest and _length_of_common_suffix(base[-rest:], data[-rest:])
    if (head + tail) * _SMALLEST_SAVING < len(data):
        return None
    middle = data[head : len(data) - tail]
    return (
        encode_copy_instructions(0, head),
        encode_insert_instructions(middle),
        encode_copy_instructions(len(base) - tail, tail),
    )


def _length_of_common_prefix(left: bytes, right: bytes) -> int:
    """Return how many bytes two contents of one length begin with alike; halves that are equal are not looked into."""
    start, end = 0, len(left)
    if left == right:
        return end
    while end - start > 1:
        middle = (start + end) // 2
        if left[start:middle] == right[start:middle]:
            start = middle
        else:
            end = middle
    return start


def _length_of_common_suffix(left: bytes, right: bytes) -> int:
    """Return how many bytes two contents of one length end with alike."""
    start, end = 0, len(left)
    if left == right:
        return end
    while end - start > 1:
        middle = (start + end) // 2
        if left[middle:end] == right[middle:end]:
            end = middle
        else:
            start = middle
    return len(left) - end
