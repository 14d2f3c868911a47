"""Commands that somebody meant who wrote another word for one."""

from collections.abc import Iterable, Mapping

_NEAR = 0.75
"""The likeness of a slip: a word that shares fewer letters is another word, and means another command."""


def question_for_similar_command(program: str, word: str, commands: Iterable[str], others: Mapping[str, str]) -> str:
    """Return the question for the command that was meant, nothing where none is near.

    ``others`` are words of other tools, each with what it is here.

    >>> (
    ...     question_for_similar_command("argosy", "rendr", ["render", "diff"], {}),
    ...     question_for_similar_command("argosy", "x", ["render"], {}),
    ... )
    ("Did you mean 'argosy render'?", '')
    """
    from difflib import get_close_matches

    near = [word] if word in others else get_close_matches(word, [*others, *commands], n=1, cutoff=_NEAR)
    return f"Did you mean '{program} {others.get(near[0], near[0])}'?" if near else ""
