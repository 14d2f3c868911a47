"""JSON pointers as Karmada reads them, resolved against a document.

Karmada is more lenient than RFC 6901: text before the first slash is ignored, an index may count from the end of a list
(``-1``) or carry a sign or zeros, and a ``~`` that escapes nothing stands for itself.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from render.expressions import lazy_expression
from render.words import counted_noun, most_similar_word

from .draft import Key
from .errors import Refused

_STEPS = lazy_expression(r"[.\[\]]")
_INDEX = lazy_expression(r"[+-]?[0-9]{1,18}")
_ESCAPE = lazy_expression("~[01]")
_MEANING = {"~0": "~", "~1": "/"}
_MOST_COMPARED = 1000
"""So many keys are compared with one that is missing; each rule may miss another one."""


def tokens_of_pointer(path: str) -> tuple[str, ...] | None:
    """Return the decoded segments of a path, none for the whole document; None if no slash makes it a path.

    >>> tokens_of_pointer("/metadata/labels/app~1tier"), tokens_of_pointer("x/replicas"), tokens_of_pointer("replicas")
    (('metadata', 'labels', 'app/tier'), ('replicas',), None)
    """
    if not path:
        return ()
    _, slash, rest = path.partition("/")
    if not slash:
        return None
    return tuple(unescaped_token(token) for token in rest.split("/"))


def first_field_of_pointer(path: str) -> Iterator[str | None]:
    """Yield the top-level field that a path leads through: None for the whole document, nothing if it leads nowhere.

    >>> (
    ...     list(first_field_of_pointer("/metadata/labels")),
    ...     list(first_field_of_pointer("")),
    ...     list(first_field_of_pointer("replicas")),
    ... )
    (['metadata'], [None], [])
    """
    tokens = tokens_of_pointer(path)
    if tokens is not None:
        yield tokens[0] if tokens else None


def unescaped_token(token: str) -> str:
    """Return the decoded text of a segment."""
    return _ESCAPE.sub(lambda match: _MEANING[match[0]], token) if "~" in token else token


def escaped_pointer(keys: Sequence[Key]) -> str:
    """Return the RFC 6901 pointer of a path of keys.

    >>> escaped_pointer(["metadata", "labels", "app/tier", 0])
    '/metadata/labels/app~1tier/0'
    """
    return "".join(f"/{str(key).replace('~', '~0').replace('/', '~1')}" for key in keys)


def index_of_token(token: str, length: int) -> int | None:
    """Return the index a segment means in a list that may hold ``length`` items there, or None.

    >>> index_of_token("1", 3), index_of_token("-1", 3), index_of_token("3", 3), index_of_token("-", 3)
    (1, 2, None, None)
    """
    if not _INDEX.fullmatch(token):
        return None
    index = int(token)
    if index < 0:
        index += length
    return index if 0 <= index < length else None


def keys_and_container_of_last_token(document: Any, tokens: Sequence[str]) -> tuple[list[Key], Any]:
    """Return the keys that lead to the container of the last segment, and the container.

    Every segment before the last must lead to a mapping or a list: nothing is created on the way.
    """
    keys: list[Key] = []
    node = document
    for token in tokens[:-1]:
        key = _existing_key(node, token)
        if key is None:
            raise refusal_of_missing_segment(keys, token, node)
        keys.append(key)
        node = node[key]
    if not isinstance(node, dict | list):
        raise refusal_of_missing_segment(keys, tokens[-1], node)
    return keys, node


def refusal_of_missing_segment(keys: Sequence[Key], token: str, container: Any, *, within: str = "") -> Refused:
    """Return the refusal for a segment that leads nowhere in its container."""
    is_short = isinstance(container, dict) and len(container) <= _MOST_COMPARED
    near = most_similar_word(token, map(str, container)) if is_short else ""
    return Refused(
        _reason_token_is_missing(keys, token, container), hint=f"did you mean {near!r}?" if near else "", within=within
    )


def pointer_meant_by_path(path: str) -> str:
    """Return the JSON pointer that must have been meant by a path that is none.

    >>> pointer_meant_by_path("spec/replicas"), pointer_meant_by_path(".spec.containers[0].image")
    ('/spec/replicas', '/spec/containers/0/image')
    """
    if "/" in path:
        return f"/{path}"
    return "/" + "/".join(filter(None, _STEPS.split(path)))


def _existing_key(node: Any, token: str) -> Key | None:
    if isinstance(node, dict):
        # An empty segment never leads anywhere in Karmada, even if there is such a key.
        return token if token and token in node else None
    return index_of_token(token, len(node)) if isinstance(node, list) else None


def _reason_token_is_missing(keys: Sequence[Key], token: str, container: Any) -> str:
    place = escaped_pointer(keys) or "the top level"
    if isinstance(container, dict):
        return f"{token!r} does not exist in {place}"
    if not isinstance(container, list):
        return f"{place} is neither mapping nor list, so it has no {token!r}"
    if not _INDEX.fullmatch(token):
        return f"{place} is a list, and {token!r} is no index of it"
    return f"{place} has {counted_noun(len(container), 'item')}, so {token} is no index of it"
