"""The output of tools as caches remember it: what holds secrets is readable to those alone who have what it is made of.

A tool may take minutes for what holds one Secret, so not to remember that costs everybody the same time again. But a
cache may be copied to where the repository is not, so that a secret must not stand in it. The output is therefore
covered by a stream of bytes that is made of the inputs: SHAKE256, of a digest over all of them and of a number that is
used once. Somebody with the inputs could make the output; somebody without them has to guess all of them at once.
"""

import hashlib
import os
import zlib
from collections.abc import Callable, Mapping

Stored = tuple[bytes, bytes]
"""The number that was used once ("": nothing is covered), and the output."""

_NUMBER_LENGTH = 16


def output_to_store(output: bytes, inputs: Mapping[str, bytes] | None) -> Stored:
    """Return output as it is remembered, compressed; readable only by the inputs where these are given.

    The inputs have the content of each file by path: all that the secrets in the output come from is among them.

    >>> output_of_stored(output_to_store(b"kind: Secret", {"a": b"x"}), lambda: {"a": b"x"})
    b'kind: Secret'
    """
    content = zlib.compress(output, 1)
    if inputs is None:
        return b"", content
    number = os.urandom(_NUMBER_LENGTH)
    return number, _bytes_covered(content, inputs, number)


def output_of_stored(stored: Stored, inputs: Callable[[], Mapping[str, bytes]]) -> bytes:
    """Return remembered output; the inputs are asked for only where it cannot be read without them."""
    number, content = stored
    return zlib.decompress(_bytes_covered(content, inputs(), number) if number else content)


def _bytes_covered(content: bytes, inputs: Mapping[str, bytes], number: bytes) -> bytes:
    """Return content with each bit turned that is set in the stream of the inputs; twice gives the content again."""
    digest = hashlib.sha256()
    for path, data in sorted(inputs.items()):
        digest.update(hashlib.sha256(path.encode("utf-8", "surrogateescape")).digest() + hashlib.sha256(data).digest())
    stream = hashlib.shake_256(digest.digest() + number).digest(len(content))
    covered = int.from_bytes(content, "big") ^ int.from_bytes(stream, "big")
    return covered.to_bytes(len(content), "big")
