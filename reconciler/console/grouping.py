"""Lines that say the same of many things: one line with their count, so that whatever differs is not lost among them.

Two lines are alike where nothing but the things differ that they are about: the file and line, the cluster or the
object before the first colon, objects by their names, files and addresses anywhere, how many of these are named, and
places in lists. A line that differs in anything else, such as the name of a field or a hint, stands for itself.
"""

from collections.abc import Iterable, Iterator, Sequence

from render.expressions import lazy_expression
from render.words import first_few

_MOST_APART = 2
"""So many lines that are alike are told one by one, for each is soon read."""
_MOST_NAMED = 3
_KIND = r"(?<![A-Za-z0-9])[A-Z][A-Za-z0-9]++(?:\.[a-z0-9-]++)*"
"""It begins where a word does and gives nothing back, so that a long word without a name is read once."""
_NAME = r"[a-z0-9][a-z0-9.:-]*[a-z0-9]|[a-z0-9]"
_OBJECT = lazy_expression(rf"{_KIND} (?:{_NAME})/(?:{_NAME})")
_FIRST_OBJECT = lazy_expression(rf"{_KIND} (?:(?:{_NAME})/)?(?:{_NAME})(?=[ ,:;]|$)")
_OBJECT_OF_GROUP = lazy_expression(r"(?<![A-Za-z0-9])[A-Z][A-Za-z0-9]++(?:\.[a-z0-9-]++)+ [a-z0-9][a-z0-9.:-]*+")
"""An object without a namespace is told from words of a sentence by its group."""
_ADDRESS = lazy_expression(r"\b(?:https?|oci|ssh|git)://[^\s,]+")
_FILE = lazy_expression(r"(?<![\w.@+/-])'?[\w.@+/-]++(?:(?<=\.yaml)|(?<=\.yml)|(?<=\.json)|(?<=\.env))(?::\d+)?'?")
_OBJECTS, _FILES, _ADDRESSES = "\0", "\1", "\2"
"""They stand for things that may differ."""
_LIST = lazy_expression(r"([\0\1\2])(?:, \1)*(?: and (?:\1|\d+ more))?")
_NUMBERED = (
    (lazy_expression(r"\b(?:it|them|they)\b"), "it"),
    (lazy_expression(r"\b(?:its|their)\b"), "its"),
    (lazy_expression(r"\bgoes\b"), "go"),
)
"""Words that only tell one thing from many."""
_ITEM = lazy_expression(r"\[\d+\]")
_SUBJECT = lazy_expression(rf"(?:{_FIRST_OBJECT.pattern}|[^\n:]+\.\w+(?::\d+)?|[^\s:]+)(?=: )")


def lines_grouped_by_wording(lines: Iterable[str]) -> Iterator[str]:
    r"""Yield lines in their order, three or more that are alike as one, and a line that is repeated once.

    >>> list(lines_grouped_by_wording(f"{name}.yaml:3: is odd\n  hint: mend it" for name in "abcde"))
    ['a.yaml:3: is odd (and 4 like it: b.yaml:3, c.yaml:3, d.yaml:3 and 1 more; -v names all)\n  hint: mend it']
    """
    groups: dict[str, list[str]] = {}
    for line in dict.fromkeys(lines):
        groups.setdefault(_line_without_names(line), []).append(line)
    group_by_line = {line: group for group in groups.values() for line in group}
    for line, group in group_by_line.items():
        if len(group) <= _MOST_APART:
            yield line
        elif line == group[0]:
            yield _line_with_count_of_group(group)


def number_of_kinds(lines: Iterable[str]) -> int:
    """Return how many lines there are of which no two are alike."""
    return len(set(map(_line_without_names, lines)))


def _line_with_count_of_group(group: list[str]) -> str:
    first, end, rest = group[0].partition("\n")
    subject = _first_object_of_line if any(map(_names_objects_in_a_row, group)) else _subject_of_line
    others = [subject(line) for line in group]
    if len(set(others)) == 1:
        others = _things_that_differ(group)
    others = others[1:]
    all_of_them = "; -v names all" if len(others) > _MOST_NAMED else ""
    return f"{first} (and {len(others)} like it: {first_few(others, _MOST_NAMED)}{all_of_them}){end}{rest}"


def _line_without_names(line: str) -> str:
    """Return a line without all that may differ in one that is alike."""
    subject = _SUBJECT.match(line)
    text = line[subject.end() :] if subject else f": {line}"
    text = f": {_FIRST_OBJECT.sub(_OBJECTS, text[2:], count=1)}" if _FIRST_OBJECT.match(text, 2) else text
    text = _LIST.sub(r"\1", _text_without_things(text))
    for pattern, word in _NUMBERED:
        text = pattern.sub(word, text)
    return _ITEM.sub("[]", text)


def _text_without_things(text: str) -> str:
    """Return a text with a sign in place of each object, file and address."""
    text = _OBJECT_OF_GROUP.sub(_OBJECTS, _OBJECT.sub(_OBJECTS, text))
    return _FILE.sub(_FILES, _ADDRESS.sub(_ADDRESSES, text))


def _things_that_differ(lines: Sequence[str]) -> list[str]:
    """Return the first object, file or address of each line that not all of them name, else what the line is about."""
    named = [
        [found[0] for pattern in (_OBJECT, _OBJECT_OF_GROUP, _ADDRESS, _FILE) for found in pattern.finditer(line)]
        for line in lines
    ]
    shared = set(named[0]).intersection(*named)
    return [
        next((each for each in things if each not in shared), _subject_of_line(line))
        for line, things in zip(lines, named, strict=True)
    ]


def _names_objects_in_a_row(line: str) -> bool:
    """Say whether a line is about several objects, so that the place of the first one tells little."""
    return f"{_OBJECTS}, {_OBJECTS}" in _text_without_things(line)


def _first_object_of_line(line: str) -> str:
    found = _OBJECT.search(line) or _OBJECT_OF_GROUP.search(line)
    return found[0] if found else _subject_of_line(line)


def _subject_of_line(line: str) -> str:
    """Return the thing that a line is about: what stands before its first colon, or the first object in it."""
    found = _SUBJECT.match(line) or _FIRST_OBJECT.match(line) or _OBJECT.search(line)
    return found[0] if found else line.partition("\n")[0]
