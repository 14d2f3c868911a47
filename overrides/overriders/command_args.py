"""The command and args overriders: words added to or removed from those of the containers with a name.

Karmada's traps are kept: a container without the field gets one (an empty list, if words are removed); no container of
that name is no error.
"""

from functools import partial
from typing import Any

from msgspec import Struct

from overrides.draft import Draft
from overrides.errors import Refused
from overrides.pointer import escaped_pointer
from render.admission.findings import Findings
from render.admission.schema import Record, Text
from render.admission.shared_schema import TEXT, TEXTS
from render.model import Manifest

from .containers import containers_of
from .overrider_type import Change, OverriderType, compile_one_by_one, no_pointer, no_settings


class CommandArgsOverrider(Struct, frozen=True, kw_only=True):
    """Words added to or removed from the command or the args of a container."""

    container_name: str
    operator: str
    value: tuple[str, ...] = ()


def override_words(draft: Draft, overrider: CommandArgsOverrider, *, field: str) -> None:
    """Edit ``field`` (``command`` or ``args``) of every container the overrider names."""
    for keys, container in containers_of(draft.root):
        if container.get("name") != overrider.container_name:
            continue
        words = container.get(field)
        if words is not None and not _are_all_strings(words):
            raise Refused(f"{escaped_pointer((*keys, field))} is not a list of strings")
        new = _words_after(words or [], overrider)
        if new != words:
            draft.writable_container(keys)[field] = new


def _are_all_strings(words: Any) -> bool:
    return isinstance(words, list) and all(isinstance(word, str) for word in words)


def _words_after(words: list[str], overrider: CommandArgsOverrider) -> list[str]:
    match overrider.operator:
        case "add":
            return [*words, *overrider.value]
        case "remove":
            return [word for word in words if word not in overrider.value]
        case _:  # Karmada's API refuses replace; past the API it changes nothing.
            return list(words)


def _parse_command_args_overrider(plain: Manifest) -> CommandArgsOverrider:
    return CommandArgsOverrider(
        container_name=plain["containerName"], operator=plain["operator"], value=tuple(plain.get("value") or ())
    )


def _plain_overrider(overrider: CommandArgsOverrider) -> dict[str, Any]:
    words = {"value": list(overrider.value)} if overrider.value else {}
    return {"containerName": overrider.container_name, "operator": overrider.operator, **words}


def _with_words_changed(overrider: CommandArgsOverrider, *, field: str) -> Change:
    return partial(override_words, overrider=overrider, field=field)


def _fields_reached(_overrider: CommandArgsOverrider) -> tuple[str]:
    return ("spec",)


def _warn_of_idle_words(entry: Manifest, path: str, findings: Findings) -> None:
    if not entry.get("value"):
        findings.warning(f"{path}.value", f"without words, {entry['operator']} changes nothing")


def _overrider_type_of_words(field: str) -> OverriderType[CommandArgsOverrider]:
    return OverriderType(
        name=f"{field}Overrider",
        item=Record({"containerName!": TEXT, "operator!": Text(choices=("add", "remove")), "value": TEXTS}),
        parse=_parse_command_args_overrider,
        plain=_plain_overrider,
        edits=compile_one_by_one(partial(_with_words_changed, field=field)),
        reach=_fields_reached,
        pointer=no_pointer,
        settings=no_settings,
        warn=_warn_of_idle_words,
        idle_hint="check containerName and the kind of the objects",
        may_harm=False,
        may_annotate=False,
    )


COMMAND_OVERRIDER = _overrider_type_of_words("command")
ARGS_OVERRIDER = _overrider_type_of_words("args")
