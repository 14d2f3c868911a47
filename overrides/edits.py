"""The edits of a rule, compiled once: type by type in the order they apply, each watched where it could rename."""

from typing import Any

from msgspec import Struct

from .draft import Draft
from .errors import Refused
from .identity import check_identity, identity_of, touches_identity
from .overriders.overrider_type import Change, OverriderEdit, OverriderType
from .pointer import tokens_of_pointer
from .policy import OverriderList, Overriders


class CompiledEdit(Struct, frozen=True):
    """An edit of a type of overriders; ``field`` is its place in the policy."""

    field: str
    change: Change
    type: OverriderType[Any]
    overriders: tuple[object, ...]


def compiled_edits(overriders: Overriders, path: str) -> tuple[CompiledEdit, ...]:
    """Compile the overriders at a field path of a policy, in the order they run."""
    return tuple(
        CompiledEdit(
            f"{path}.{each.type.name}{edit.place}", _change_that_observes_effect(each, edit), each.type, edit.overriders
        )
        for each in overriders.lists
        for edit in each.type.edits(each.overriders)
    )


def _change_that_observes_effect(given: OverriderList, edit: OverriderEdit) -> Change:
    pointers = [given.type.pointer(overrider) for overrider in edit.overriders]
    risky = [
        index
        for index, pointer in enumerate(pointers)
        if pointer is not None and touches_identity(tokens_of_pointer(pointer) or ())
    ]
    if not risky:
        return edit.change
    return _change_that_names_its_place(edit.change, within="" if edit.place else f"[{risky[-1]}]")


def _change_that_names_its_place(change: Change, *, within: str) -> Change:
    def run(draft: Draft) -> None:
        before = identity_of(draft.root)
        change(draft)
        try:
            check_identity(before, draft.root)
        except Refused as refusal:
            raise Refused(refusal.message, hint=refusal.hint, within=within) from None

    return run
