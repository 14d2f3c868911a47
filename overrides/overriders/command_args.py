"""The command and args overriders: words added to or removed from those of the containers with a name.

Karmada's traps are kept: a container without the field gets one (an empty list, if words are removed); no container of
that name is no error.
"""

from typing import Any

from overrides.draft import Draft
from overrides.errors import Refused
from overrides.pointer import escaped
from overrides.policy import CommandArgsOverrider

from .containers import containers_of


def override_words(draft: Draft, overrider: CommandArgsOverrider, *, field: str) -> None:
    """Edit ``field`` (``command`` or ``args``) of every container the overrider names."""
    for keys, container in containers_of(draft.root):
        if container.get("name") != overrider.container_name:
            continue
        words = container.get(field)
        if words is not None and not _are_words(words):
            raise Refused(f"{escaped((*keys, field))} is not a list of strings")
        new = _edited(words or [], overrider)
        if new != words:
            draft.writable(keys)[field] = new


def _are_words(words: Any) -> bool:
    return isinstance(words, list) and all(isinstance(word, str) for word in words)


def _edited(words: list[str], overrider: CommandArgsOverrider) -> list[str]:
    match overrider.operator:
        case "add":
            return [*words, *overrider.value]
        case "remove":
            return [word for word in words if word not in overrider.value]
        case _:  # Karmada's API refuses replace; past the API it changes nothing.
            return list(words)
