"""The reference searched by words: every entry that has all of them, those first that have them in their names."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from reconciler.outputs.documents import DOCUMENTS
from render.expressions import lazy_expression
from render.words import counted_noun, hint_of_most_similar_words

from .karmada import karmada_kinds
from .other_words import ELSEWHERE, OTHERWISE
from .schemas import json_schema_of_kind, nodes_by_field_path
from .topics import TOPICS, load_topic

_BETWEEN_WORDS = lazy_expression(r"[^\w-]+")
_PART = lazy_expression(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_SHORTEST_PLURAL = 4


class ReferenceEntry(Struct, frozen=True, kw_only=True):
    """An entry of the reference: a name, what is said of it, and the command that shows it."""

    name: str
    about: str
    command: str


def reference_entries() -> Iterator[ReferenceEntry]:
    """Yield the entries of all topics, kinds and documents; those of commands are not among them."""
    for word in (*ELSEWHERE, *OTHERWISE):
        yield ReferenceEntry(name=word, about=advice_for(word), command=f"argosy help {word}")
    for title, about in TOPICS.items():
        command = f"argosy help {title}"
        yield ReferenceEntry(name=title, about=about, command=command)
        for section in load_topic(title).sections:
            if section.before:
                yield ReferenceEntry(name=section.title or title, about=section.before, command=command)
            for entry in section.entries:
                yield ReferenceEntry(name=entry.name, about=entry.about, command=command)
    yield from _entries_of_karmada()
    for document in DOCUMENTS:
        command = f"argosy schema {document.kind}"
        for path, about in _described_paths(json_schema_of_kind(document.kind), document.kind):
            yield ReferenceEntry(name=path, about=about, command=command)


def advice_for(word: str) -> str:
    """Return how something is done here for which other tools have a command; an empty text where none has.

    >>> advice_for("lint"), advice_for("x")
    ("Here this is 'argosy validate'.", '')
    """
    return OTHERWISE.get(word) or (f"Here this is 'argosy {ELSEWHERE[word]}'." if word in ELSEWHERE else "")


def _entries_of_karmada() -> Iterator[ReferenceEntry]:
    """Yield the fields of Karmada's kinds; a field that several kinds share stands here with the first of them."""
    seen: set[tuple[str, str]] = set()
    for name, kind in karmada_kinds().items():
        yield ReferenceEntry(name=name, about=kind.about, command=f"argosy explain {name}")
        for path, _ in nodes_by_field_path(kind.schema, ""):
            field = path.removeprefix(".")
            about = kind.sentence(field)
            if about and (field, about) not in seen:
                seen.add((field, about))
                where = f"{name}.{field}".replace("[]", "").replace(".*", "")
                yield ReferenceEntry(name=f"{name}.{field}", about=about, command=f"argosy explain {where}")


def _described_paths(shape: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    """Yield the path of each part of a JSON Schema that has a sentence, and that sentence."""
    if "description" in shape:
        yield path, shape["description"]
    for name, each in shape.get("properties", {}).items():
        yield from _described_paths(each, f"{path}.{name}")
    for word, suffix in (("items", "[]"), ("additionalProperties", ".*")):
        if isinstance(shape.get(word), Mapping):
            yield from _described_paths(shape[word], f"{path}{suffix}")


def entries_with(words: Sequence[str], entries: Iterable[ReferenceEntry]) -> tuple[ReferenceEntry, ...]:
    """Return the entries that have every word, by where they have them: a name counts more than a sentence."""
    ranked = [(_rank(words, entry), number, entry) for number, entry in enumerate(entries)]
    found = sorted((rank, number, entry) for rank, number, entry in ranked if rank is not None)
    return tuple(entry for _, _, entry in found)


def _rank(words: Iterable[str], entry: ReferenceEntry) -> int | None:
    """Return how far an entry is from saying these words by name, 0 being the nearest; None if it lacks one."""
    places = [_place_of(_singular(word), entry) for word in words]
    found = [place for place in places if place is not None]
    return sum(found) if len(found) == len(places) else None


def _singular(word: str) -> str:
    """Return a word in lower case without the s of a plural, which is found with and without it."""
    lower = word.lower()
    is_plural = len(lower) > _SHORTEST_PLURAL and lower.endswith("s") and not lower.endswith("ss")
    return lower[:-1] if is_plural else lower


def _place_of(word: str, entry: ReferenceEntry) -> int | None:
    """Return the number of the place in which an entry has a word, of those from its name to within its sentence."""
    name, about = entry.name.lower(), entry.about.lower()
    whole = {word, f"{word}s"}
    checks = (
        name in whole,
        bool(whole & {name.rpartition(".")[2], name.rpartition(" ")[2]}),
        bool(whole & set(_parts_of_name(entry.name))),
        word in name,
        bool(whole & set(re.findall(r"[\w-]+", about))),
        re.search(rf"\b{re.escape(word)}", about) is not None,
        word in about,
    )
    return next((number for number, is_there in enumerate(checks) if is_there), None)


def _parts_of_name(name: str) -> list[str]:
    """Return the words that a name is made of.

    >>> _parts_of_name("spec.removalGuard.count"), _parts_of_name("--allow-older"), _parts_of_name("ARGOSY_SIGN_KEY")
    (['spec', 'removal', 'guard', 'count'], ['allow', 'older'], ['argosy', 'sign', 'key'])
    """
    return [part.lower() for part in _PART.findall(name)]


def words_of_names(entries: Iterable[ReferenceEntry]) -> frozenset[str]:
    """Return the words that names are made of, and the last name of every path."""
    names = [entry.name for entry in entries]
    return frozenset(word for name in names for word in (*_parts_of_name(name), *_last_word(name)) if len(word) > 1)


def _last_word(name: str) -> list[str]:
    last = _BETWEEN_WORDS.split(name.rpartition(".")[2])[-1]
    return [last] if last else []


def hint_where_nothing_is_found(words: Sequence[str], entries: Sequence[ReferenceEntry]) -> str:
    """Return a hint for words that no entry has all of: how often each is there, or the nearest to one that is not."""
    counts = {word: len(entries_with([word], entries)) for word in words}
    missing = next((word for word, count in counts.items() if not count), "")
    if missing:
        which = f"{missing!r} is nowhere; " if len(counts) > 1 else ""
        return f"{which}{hint_of_most_similar_words(missing, words_of_names(entries))}"
    each = (f"{word!r} in {counted_noun(count, 'entry', 'entries')}" for word, count in counts.items())
    return f"each is there alone: {', '.join(each)}"
