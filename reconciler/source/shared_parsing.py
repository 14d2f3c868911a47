"""Files parsed ahead by several processes, where none was parsed before and there is much to parse.

Parsing is most of what a first pass and one in a fresh clone do about a source, and says nothing of one file by
another. So forked processes parse shares of the contents, and hand back what a cache would: lines and plain data. What
is wrong with a file is left to whoever reads it, for its problems to be found there.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from marshal import dumps, loads
from typing import Any

from reconciler.repository.processes import results_in_order
from render.boundary import result_or_substitute
from render.documents import read_documents

_WORTH_SHARING = 1 << 20
"""So many bytes are parsed in about half a second."""
_SHARE = 1 << 17

Documents = tuple[tuple[int, Any], ...]


def documents_parsed_ahead(
    contents: Mapping[bytes, bytes], is_parsed: Callable[[bytes], bool], processes: int
) -> dict[bytes, Documents]:
    """Return the documents of contents in which nothing is wrong, by blob id; none where there is little to parse.

    ``is_parsed`` says of a content whether anything in it is.
    """
    if processes < 2 or sum(map(len, contents.values())) < _WORTH_SHARING:
        return {}
    shares = list(_shares_of_contents({id_: each for id_, each in contents.items() if is_parsed(each)}))
    results = results_in_order(lambda share: _parsed_share([contents[id_] for id_ in share]), shares, processes)
    found: dict[bytes, Documents] = {}
    for share, result in zip(shares, results, strict=True):
        packed = zip(share, loads(result), strict=True)  # noqa: S302 - by a process that this one forked
        found.update((id_, loads(documents)) for id_, documents in packed if documents)  # noqa: S302
    return found


def _shares_of_contents(contents: Mapping[bytes, bytes]) -> Iterator[list[bytes]]:
    share: list[bytes] = []
    size = 0
    for id_, content in contents.items():
        share.append(id_)
        size += len(content)
        if size >= _SHARE:
            yield share
            share, size = [], 0
    if share:
        yield share


def _parsed_share(contents: Sequence[bytes]) -> bytes:
    """Return the documents of each content as bytes; none for one that is to be read again."""
    return dumps([result_or_substitute(partial(_packed_documents, each), _left_to_reader) for each in contents])


def _packed_documents(content: bytes) -> bytes:
    read, errors = read_documents(content)
    return b"" if errors else dumps(tuple((document.line, document.value) for document in read))


def _left_to_reader(_error: Exception) -> bytes:
    """Return nothing for a content where reading it leads to an error, or to more than plain data."""
    return b""
