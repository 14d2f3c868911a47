"""The plaintext overrider: RFC 6902 patches that add, replace and remove, with Karmada's leniencies.

All operations of a rule are one patch, which is applied as a whole after the overriders of every other type.

An operation is compiled once per rule into one of jsonpatch's, its path normalised to RFC 6902. To apply it, the path
is resolved against the document - a path that Karmada refuses is refused here, with a reason - the containers on the
way are made writable, and jsonpatch does the edit in place.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import jsonpatch
from msgspec import Struct

from overrides.draft import Draft, Key
from overrides.errors import Refused
from overrides.pointer import (
    escaped_pointer,
    first_field_of_pointer,
    index_of_token,
    keys_and_container_of_last_token,
    pointer_meant_by_path,
    refusal_of_missing_segment,
    tokens_of_pointer,
)
from render.admission.findings import Findings
from render.expressions import lazy_expression
from render.model import Manifest

from .overrider_type import REMOVED, Change, OverriderType, compile_all_at_once
from .shared_admission import schema_of_patch_operation, warn_of_unusable_pointer

_KINDS: Mapping[str, type[jsonpatch.PatchOperation]] = {
    "add": jsonpatch.AddOperation,
    "replace": jsonpatch.ReplaceOperation,
    "remove": jsonpatch.RemoveOperation,
}
_LENIENT_INDEX = lazy_expression(r"[+-][0-9]+|0[0-9]+")


class PlaintextOverrider(Struct, frozen=True, kw_only=True):
    """One RFC 6902 operation (add, remove, replace); a missing value is null, as in Karmada."""

    path: str
    operator: str
    value: Any = None


class PatchOperation(Struct, frozen=True):
    """A compiled operation.

    ``tokens`` are the segments of its path, None if no slash makes it a path. ``patch`` is None where the meaning of
    the path in RFC 6902 depends on the document.
    """

    operator: str
    path: str
    tokens: tuple[str, ...] | None
    value: Any
    patch: jsonpatch.PatchOperation | None


def parse_plaintext_operation(plain: Manifest, *, pointer: str) -> PlaintextOverrider:
    """Return the operation of an entry; ``pointer`` is the name of its path."""
    return PlaintextOverrider(path=plain[pointer], operator=plain["operator"], value=plain.get("value"))


def plain_plaintext_operation(overrider: PlaintextOverrider, *, pointer: str) -> dict[str, Any]:
    """Return an operation as an entry; ``pointer`` is the name of its path."""
    return {pointer: overrider.path, "operator": overrider.operator, "value": overrider.value}


def patch_operations_of(overriders: Sequence[PlaintextOverrider]) -> tuple[PatchOperation, ...]:
    """Compile the operations of a patch; a missing value is null, as in Karmada."""
    return tuple(_patch_operation(overrider) for overrider in overriders)


def patch_draft(draft: Draft, patch: Sequence[PatchOperation]) -> None:
    """Apply a patch; the first operation that cannot be applied refuses it all."""
    for index, operation in enumerate(patch):
        try:
            _apply_operation(draft, operation)
        except Refused as refusal:
            raise Refused(refusal.message, hint=refusal.hint, within=f"[{index}]") from None


def _patch_operation(overrider: PlaintextOverrider) -> PatchOperation:
    operator, value, tokens = overrider.operator, overrider.value, tokens_of_pointer(overrider.path)
    is_plain = tokens and not any(_LENIENT_INDEX.fullmatch(token) for token in tokens)
    patch = _jsonpatch_operation(operator, tokens, value) if tokens and is_plain else None
    return PatchOperation(operator, overrider.path, tokens, value, patch)


def _jsonpatch_operation(operator: str, keys: Sequence[Key], value: Any) -> jsonpatch.PatchOperation:
    if operator == "replace" and keys[-1] == "":
        operator = "add"
    return _KINDS[operator]({"op": operator, "path": escaped_pointer(keys), "value": value})


def _apply_operation(draft: Draft, operation: PatchOperation) -> None:
    tokens = operation.tokens
    if tokens is None:
        raise Refused(
            f"{operation.path!r} is not a JSON pointer", hint=f"write {pointer_meant_by_path(operation.path)!r}"
        )
    if not tokens:
        draft.root = _document_after_root_operation(operation)
        return
    keys, container = keys_and_container_of_last_token(draft.root, tokens)
    key = _key_of_last_token(operation.operator, keys, tokens[-1], container)
    draft.writable_container(keys)
    patch = operation.patch or _jsonpatch_operation(operation.operator, (*keys, key), operation.value)
    patch.apply(draft.root)


def _key_of_last_token(operator: str, keys: Sequence[Key], token: str, container: Any) -> Key:
    if isinstance(container, list):
        if operator == "add" and token == "-":  # noqa: S105 (a path segment)
            return token
        index = index_of_token(token, len(container) + (operator == "add"))
        if index is None:
            raise refusal_of_missing_segment(keys, token, container)
        return index
    # Karmada's replace finds an empty key in every mapping, so that it adds it.
    is_settable = operator == "add" or (operator == "replace" and not token)
    if not is_settable and token not in container:
        raise refusal_of_missing_segment(keys, token, container)
    return token


def _document_after_root_operation(operation: PatchOperation) -> Any:
    if operation.operator == "remove":
        raise Refused("the whole object cannot be removed", hint="leave the cluster out of the propagation policy")
    if not isinstance(operation.value, dict | list):
        raise Refused("the empty path replaces the whole object, and the value is no object")
    return operation.value


def _change_of_overriders(overriders: Sequence[PlaintextOverrider]) -> Change:
    return partial(patch_draft, patch=patch_operations_of(overriders))


def _settings_of_overrider(overrider: PlaintextOverrider) -> Iterator[tuple[str, Any]]:
    tokens = tokens_of_pointer(overrider.path)
    if tokens and not _is_list_insertion(overrider.operator, tokens[-1]):
        yield escaped_pointer(tokens), REMOVED if overrider.operator == "remove" else overrider.value


def _is_list_insertion(operator: str, last: str) -> bool:
    return operator != "replace" and (last == "-" or last.lstrip("+-").isdigit())


def _warn_of_ineffective_operation(operation: Manifest, path: str, findings: Findings) -> None:
    pointer, operator = operation["path"], operation["operator"]
    has_value = operation.get("value") is not None
    warn_of_unusable_pointer(pointer, f"{path}.path", findings)
    if not pointer:
        findings.warning(f"{path}.path", "is empty: it means the whole object")
    if operator == "remove" and has_value:
        findings.warning(f"{path}.value", "means nothing with operator remove")
    elif operator != "remove" and not has_value:
        findings.warning(f"{path}.value", f"without a value, {operator} sets null")


def _fields_reached(overrider: PlaintextOverrider) -> Iterable[str | None]:
    return first_field_of_pointer(overrider.path)


def _pointer_of_overrider(overrider: PlaintextOverrider) -> str:
    return overrider.path


PLAINTEXT = OverriderType(
    name="plaintext",
    item=schema_of_patch_operation("path"),
    parse=partial(parse_plaintext_operation, pointer="path"),
    plain=partial(plain_plaintext_operation, pointer="path"),
    edits=compile_all_at_once(_change_of_overriders),
    reach=_fields_reached,
    pointer=_pointer_of_overrider,
    settings=_settings_of_overrider,
    warn=_warn_of_ineffective_operation,
    is_recorded_first=True,
)
