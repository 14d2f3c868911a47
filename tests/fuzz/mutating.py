"""Random edits of documents: values of other types and sizes, keys that are gone or misspelled, broken text."""

import json
import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from render.documents import emit, read_documents

VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63 - 1, -(2**63), 0.5, 1e308, "", " ", "x", "0", "-1", "1e400", "9" * 4400,
    "1" * 400 + "%", "٣", "²", "x" * 5000, "a/b/c", "../..", "\u202e", "\ud800", "true", "null", "{}", "[", "{{",
    "${A}",
    "2026-01-01T00:00:00Z", "2026-13-45T99:99:99Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.9Z", "@every 1h",
    "* * * * *", "1Ki", "500m", "-1Gi", "1e1000000", "(a+)+b", "https://[::1", "https://a:b@c", "oci://x/y", "sha256:0",
    [], {}, [None], [[]], [1, "a", {}], {"": ""}, {"a": None}, {"key": "a", "operator": "In", "values": [1]},
)  # fmt: skip
TEXTS = ("\t", "\x00", "\r", "- ", ": ", "&a ", "*a", "!!set ", "{", "}", "[", "]", "|\n", "---\n", "...\n", "#")
MARKS = ("'", '"', "\ufeff", "<<: ", "? ")
Path = tuple[Any, ...]


def mutated(content: bytes, rng: Random) -> bytes:
    """Return a file with some edits: of its documents where it can be read, or else and now and then of its text."""
    documents = [each.value for each in read_documents(content)[0]]
    if not documents or rng.random() < 0.15:
        return mutated_text(content, rng)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        documents = _edited(documents, rng)
    try:
        made = b"---\n".join(emit(each) for each in documents)
    except (TypeError, ValueError, RecursionError, AttributeError):
        made = b"\n---\n".join(json.dumps(each).encode("utf-8", "surrogatepass") for each in documents)
    return mutated_text(made, rng) if rng.random() < 0.05 else made


def mutated_value(value: Any, rng: Random) -> Any:
    """Return a value with one edit."""
    return _edited([value], rng)[0]


def mutated_text(content: bytes, rng: Random) -> bytes:
    """Return a text with some edits, whatever it says."""
    text = content.decode("utf-8", "surrogateescape")
    for _ in range(rng.choice((1, 1, 2, 4))):
        place, length = rng.randrange(len(text) + 1), rng.choice((0, 0, 1, 3, 20, 200))
        text = text[:place] + rng.choice(("", *TEXTS, *MARKS)) * rng.choice((1, 1, 2, 50)) + text[place + length :]
    return text.encode("utf-8", "surrogateescape")


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    unseen: list[tuple[Path, Any]] = [(path, value)]
    while unseen:
        here, each = unseen.pop()
        yield here
        if isinstance(each, dict):
            unseen += (((*here, key), inner) for key, inner in each.items())
        elif isinstance(each, list | tuple):
            unseen += (((*here, place), inner) for place, inner in enumerate(each))


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def _edited(documents: list[Any], rng: Random) -> list[Any]:
    """Return documents with one edit at a random place; nothing that is given is changed."""
    paths = list(_paths(documents))
    path = rng.choice(paths[1:] or paths)
    other = _at(documents, rng.choice(paths))
    edit = rng.choice(EDITS)
    made = _with(documents, path, lambda old: edit(old, other, rng))
    return made if isinstance(made, list) else [made]


def _with(value: Any, path: Path, change: Callable[[Any], Any]) -> Any:
    if not path:
        return change(value)
    if isinstance(value, dict):
        return {key: _with(each, path[1:], change) if key == path[0] else each for key, each in value.items()}
    made = [_with(each, path[1:], change) if place == path[0] else each for place, each in enumerate(value)]
    return tuple(made) if isinstance(value, tuple) else made


def _less(old: Any, _other: Any, rng: Random) -> Any:
    if isinstance(old, dict) and old:
        gone = rng.choice(list(old))
        return {key: each for key, each in old.items() if key != gone}
    return old[:-1] if isinstance(old, list | tuple | str | bytes) and old else None


def _renamed(old: Any, _other: Any, rng: Random) -> Any:
    if not isinstance(old, dict) or not old:
        return rng.choice(VALUES)
    chosen = rng.choice(list(old))
    text = str(chosen)
    name = rng.choice((text.capitalize(), text.lower(), text[1:], text + "s", text * 50, "", " " + text, "sops"))
    return {name if key == chosen else key: each for key, each in old.items()}


def _doubled(old: Any, _other: Any, rng: Random) -> Any:
    if isinstance(old, list) and old:
        return old * rng.choice((2, 2, 30))
    if isinstance(old, str):
        return old * rng.choice((2, 40))
    return [old, old]


def _changed_text(old: Any, _other: Any, rng: Random) -> Any:
    if not isinstance(old, str) or not old:
        return rng.choice(VALUES)
    place = rng.randrange(len(old))
    piece = rng.choice(("", "/", ".", "-", " ", "\n", "{", "%", "0" * 300, "é", old, *re.findall(r"\w+", old)[:3]))
    return old[:place] + piece + old[place + rng.randrange(3) :]


EDITS: tuple[Callable[[Any, Any, Random], Any], ...] = (
    lambda _old, _other, rng: rng.choice(VALUES),
    lambda _old, _other, rng: rng.choice(VALUES),
    lambda _old, other, _rng: other,
    lambda old, _other, _rng: [old],
    lambda old, _other, _rng: {"a": old},
    lambda old, other, _rng: {**old, "extra": other} if isinstance(old, dict) else other,
    lambda old, _other, _rng: str(old),
    _less,
    _less,
    _renamed,
    _doubled,
    _changed_text,
    _changed_text,
)
