"""Words in messages: counts and lists, and the nearest known word to an unknown one."""

from collections.abc import Iterable, Sequence

_MOST_LISTED = 3


def counted_noun(count: int, one: str, many: str = "") -> str:
    """Return a number of things; ``many`` where an s is not enough.

    >>> counted_noun(1, "cluster"), counted_noun(2, "cluster"), counted_noun(0, "policy", "policies")
    ('1 cluster', '2 clusters', '0 policies')
    """
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def first_few(names: Sequence[str], most: int = _MOST_LISTED) -> str:
    """Return the first names of a list and how many follow.

    >>> first_few(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    more = len(names) - most
    first = ", ".join(names[:most])
    return f"{first} and {more} more" if more > 0 else first


def words_in_sentence(words: Sequence[str], conjunction: str = "and") -> str:
    """Return all words of a list as a sentence has them.

    >>> words_in_sentence(["a", "b", "c"])
    'a, b and c'
    """
    *others, last = words
    return f"{', '.join(others)} {conjunction} {last}" if others else last


_FEW = 6


def hint_of_most_similar_words(word: str, known: Iterable[str], what: str = "known", most: int = _MOST_LISTED) -> str:
    """Return a few known words, or those of many that are most similar to this one, as a hint names them.

    >>> (
    ...     hint_of_most_similar_words("x", ["b", "a"]),
    ...     hint_of_most_similar_words("poro", ["porto", *"abcdef", "oslo"], most=1),
    ... )
    ('known here: a, b', 'nearest here: porto')
    """
    names = sorted(known)
    if len(names) <= max(most, _FEW):
        return f"{what} here: {', '.join(names)}"
    from difflib import SequenceMatcher  # only those who mistyped wait for it

    compared = SequenceMatcher(b=word.lower(), autojunk=False)

    def likeness(name: str) -> float:
        compared.set_seq1(name.lower())
        return compared.ratio()

    nearest_names = sorted(names, key=lambda name: (-likeness(name), name))[:most]
    return f"{'nearest' if what == 'known' else f'nearest {what}'} here: {', '.join(nearest_names)}"


_SHORT = 6


def most_similar_word(word: str, known: Iterable[str], *, cutoff: float = 0.7) -> str:
    """Return the known word most similar to this one, ignoring case; empty when none is near.

    ``cutoff`` is the least similarity, up to 1.

    Short words whose letters are swapped share too little to be near otherwise.

    >>> (
    ...     most_similar_word("clusterAfinity", ["clusterAffinities", "clusterAffinity"]),
    ...     most_similar_word("x", ["clusterAffinity"]),
    ... )
    ('clusterAffinity', '')
    >>> most_similar_word("wbe", ["api", "web"])
    'web'
    """
    from difflib import get_close_matches

    by_lower = {each.lower(): each for each in sorted(known, reverse=True)}
    close = get_close_matches(word.lower(), by_lower, n=1, cutoff=cutoff)
    if close:
        return by_lower[close[0]]
    letters = sorted(word.lower())
    swapped = (each for each in sorted(by_lower) if sorted(each) == letters and each[:1] == word[:1].lower())
    found = next(swapped, None) if 2 < len(word) <= _SHORT else None
    return by_lower[found] if found else ""
