"""The end of a run to completion: by the word that a status has for it, or by the condition that is true."""

from collections.abc import Mapping

from render.model import Manifest

from .fields import objects_at, text_at

COMPLETE, FAILED = "Complete", "Failed"


def finish_of_status_word(word: str, finishes: Mapping[str, str]) -> str:
    """Return how a run ended by the word of a status; empty for any other word, by which it goes on."""
    return finishes.get(word, "")


def finish_of_true_condition(status: Manifest, finishes: Mapping[str, str]) -> str:
    """Return how a run ended by the first of some conditions that is true; empty while none is."""
    for condition in objects_at(status, "conditions"):
        if condition.get("status") == "True" and (finish := finishes.get(text_at(condition, "type"))):
            return finish
    return ""
