"""The index of a pack: git reads from it what was put in, also beyond two gigabytes."""

import hashlib
import subprocess

from hypothesis import given
from hypothesis import strategies as st

from reconciler.repository.pack_index import encode_index, index_line_of_object
from tests.waiting import SECONDS

CHECKSUM = hashlib.sha1(b"pack").digest()


def as_git_reads_it(index: bytes) -> list[str]:
    command = ["git", "show-index"]
    shown = subprocess.run(command, input=index, capture_output=True, check=True, timeout=SECONDS)
    return shown.stdout.decode().split("\n")


def test_an_index_of_three_objects() -> None:
    ids = [bytes([first]) * 20 for first in (0xFF, 0x00, 0x7F)]
    records = [
        index_line_of_object(id_, crc, offset)
        for id_, crc, offset in zip(ids, (1, 2, 0xFFFFFFFF), (12, 99, 300), strict=True)
    ]
    index = encode_index(records, CHECKSUM)
    assert as_git_reads_it(index) == [
        "99 " + "00" * 20 + " (00000002)",
        "300 " + "7f" * 20 + " (ffffffff)",
        "12 " + "ff" * 20 + " (00000001)",
        "",
    ]
    assert index[-40:-20] == CHECKSUM
    assert index[-20:] == hashlib.sha1(index[:-20]).digest()


LARGE = st.integers(12, 2**40) | st.sampled_from([2**31 - 1, 2**31, 2**32 - 1, 2**32])


@given(st.dictionaries(st.binary(min_size=20, max_size=20), st.tuples(st.integers(0, 2**32 - 1), LARGE), max_size=30))
def test_columns_are_those_of_the_records(objects: dict[bytes, tuple[int, int]]) -> None:
    index = encode_index([index_line_of_object(id_, *where) for id_, where in objects.items()], CHECKSUM)
    count, table = len(objects), 8 + 1024
    ids = [index[table + at * 20 : table + at * 20 + 20] for at in range(count)]
    crcs, offsets, large = table + count * 20, table + count * 24, table + count * 28
    found = {}
    for at, id_ in enumerate(ids):
        offset = int.from_bytes(index[offsets + at * 4 : offsets + at * 4 + 4], "big")
        if offset >= 2**31:
            place = large + (offset - 2**31) * 8
            offset = int.from_bytes(index[place : place + 8], "big")
        found[id_] = (int.from_bytes(index[crcs + at * 4 : crcs + at * 4 + 4], "big"), offset)
    assert (ids, found) == (sorted(objects), objects)
    fanout = [int.from_bytes(index[8 + byte * 4 : 12 + byte * 4], "big") for byte in range(256)]
    assert fanout == [sum(id_[0] <= byte for id_ in ids) for byte in range(256)]


def test_git_reads_offsets_of_more_than_31_bits() -> None:
    records = [index_line_of_object(bytes([at]) * 20, at, offset) for at, offset in enumerate((12, 2**31, 2**40 + 5))]
    read = as_git_reads_it(encode_index(records, CHECKSUM))
    assert [line.split(" ")[0] for line in read] == ["12", str(2**31), str(2**40 + 5), ""]
