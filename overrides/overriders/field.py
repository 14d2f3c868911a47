"""The field overrider: patches inside a JSON or YAML text that is the value of a field.

The text is read, patched by the rules of the plaintext overrider and written again: JSON compactly, with the order of
its keys and the spelling of its numbers and strings; YAML without comments, keys sorted, its first document alone.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from msgspec import Struct

from overrides.draft import Draft, Key
from overrides.errors import Refused
from overrides.jsontext import json_text, parse_json
from overrides.pointer import first_field_of_pointer, index_of_token, refusal_of_missing_segment, tokens_of_pointer
from render.admission.findings import Findings
from render.admission.schema import ListOf, Record
from render.admission.shared_schema import TEXT
from render.documents import read_documents
from render.model import Manifest

from .overrider_type import Change, OverriderType, compile_one_by_one, no_settings
from .plaintext import (
    PatchOperation,
    PlaintextOverrider,
    parse_plaintext_operation,
    patch_draft,
    patch_operations_of,
    plain_plaintext_operation,
)
from .shared_admission import check_json_pointer, schema_of_patch_operation, warn_of_unusable_pointer

_FORMATS = ("json", "yaml")


class FieldOverrider(Struct, frozen=True, kw_only=True):
    """Patch operations inside a JSON or YAML text that is the value of ``field_path``."""

    field_path: str
    json: tuple[PlaintextOverrider, ...] = ()
    yaml: tuple[PlaintextOverrider, ...] = ()


def parse_yaml(text: str) -> Any:
    """Return the value of a text's first document; None if there is none."""
    documents, errors = read_documents(text.encode())
    first = documents[0] if documents else None
    if errors and (first is None or errors[0].line < first.line):
        raise Refused(f"cannot be read as YAML: line {errors[0].line}: {errors[0].message}", hint=errors[0].hint)
    return first.value if first else None


class FieldPatch(Struct, frozen=True):
    """A compiled field overrider: the path of the text, its format (``yaml`` or ``json``) and the patch."""

    path: str
    tokens: tuple[str, ...]
    format: str
    patch: tuple[PatchOperation, ...]


def field_patch(overrider: FieldOverrider) -> FieldPatch:
    """Compile a field overrider; if both formats have operations YAML wins, as in Karmada."""
    name, patch = ("yaml", overrider.yaml) if overrider.yaml else ("json", overrider.json)
    tokens = tokens_of_pointer(overrider.field_path) if overrider.field_path.startswith("/") else None
    return FieldPatch(overrider.field_path, tokens or (), name, patch_operations_of(patch))


def override_field(draft: Draft, overrider: FieldPatch) -> None:
    """Patch the text at the overrider's path."""
    keys, text = _text_at_field_path(draft.root, overrider)
    new = _patched_yaml(text, overrider) if overrider.format == "yaml" else _patched_json(text, overrider)
    if new != text:
        draft.writable_container(keys[:-1])[keys[-1]] = new


def _text_at_field_path(manifest: Any, overrider: FieldPatch) -> tuple[list[Key], str]:
    if not overrider.tokens:
        raise Refused(f"{overrider.path!r} is not a JSON pointer to a field", within=".fieldPath")
    node, keys = manifest, list[Key]()
    for token in overrider.tokens:
        key = _key_of_token(node, token)
        if key is None:
            raise refusal_of_missing_segment(keys, token, node, within=".fieldPath")
        node = node[key]
        keys.append(key)
    if not isinstance(node, str):
        raise Refused(f"{overrider.path} is not a string, so there is no text to patch", within=".fieldPath")
    return keys, node


def _key_of_token(node: Any, token: str) -> Key | None:
    if isinstance(node, dict):
        return token if token in node else None
    return index_of_token(token, len(node)) if isinstance(node, list) and not token.startswith("-") else None


def _patched_json(text: str, overrider: FieldPatch) -> str:
    if not text:
        return text
    try:
        return json_text(_value_after_operation(parse_json(text), overrider))
    except Refused as refusal:
        raise _refusal_with_place(refusal, overrider) from None
    except RecursionError:
        raise _refusal_with_place(Refused("is nested too deep"), overrider) from None


def _patched_yaml(text: str, overrider: FieldPatch) -> str:
    from overrides.yamltext import yaml_text  # its patterns take long to compile, for few fleets

    try:
        return yaml_text(_value_after_operation(parse_yaml(text), overrider))
    except Refused as refusal:
        raise _refusal_with_place(refusal, overrider) from None


def _value_after_operation(value: Any, overrider: FieldPatch) -> Any:
    if not (value is None or isinstance(value, dict | list)):
        raise Refused("holds a single value, which no patch can change")
    draft = Draft(value)
    patch_draft(draft, overrider.patch)
    return draft.root


def _refusal_with_place(refusal: Refused, overrider: FieldPatch) -> Refused:
    """Return a refusal that names the text it is about."""
    within = f".{overrider.format}{refusal.within}" if refusal.within else ""
    subject = f"the text at {overrider.path}"
    message = f"{subject}: {refusal.message}" if within else f"{subject} {refusal.message}"
    return Refused(message, hint=refusal.hint, within=within)


def _parse_field_overrider(plain: Manifest) -> FieldOverrider:
    patches = {
        name: tuple(parse_plaintext_operation(each, pointer="subPath") for each in plain.get(name) or ())
        for name in _FORMATS
    }
    return FieldOverrider(field_path=plain["fieldPath"], **patches)


def _plain_overrider(overrider: FieldOverrider) -> dict[str, Any]:
    patches = {"json": overrider.json, "yaml": overrider.yaml}
    formats = {
        name: [plain_plaintext_operation(each, pointer="subPath") for each in patch]
        for name, patch in patches.items()
        if patch
    }
    return {"fieldPath": overrider.field_path, **formats}


def _change_of_overrider(overrider: FieldOverrider) -> Change:
    return partial(override_field, overrider=field_patch(overrider))


def _fields_reached(overrider: FieldOverrider) -> Iterable[str | None]:
    return first_field_of_pointer(overrider.field_path)


def _pointer_of_overrider(overrider: FieldOverrider) -> str:
    return overrider.field_path


def _check_field_overrider(entry: Manifest, path: str, findings: Findings) -> None:
    patches = {name: entry.get(name) or () for name in _FORMATS}
    if all(patches.values()):
        findings.problem(path, "json and yaml exclude each other", hint="keep the one the field is written in")
    elif not any(patches.values()):
        findings.problem(path, "required: either json or yaml", hint="add the operations", kind="Required")
    check_json_pointer(entry.get("fieldPath") or "", f"{path}.fieldPath", findings)
    for here, each in _patches_by_place(patches, path):
        check_json_pointer(each.get("subPath") or "", f"{here}.subPath", findings)
        has_value = each.get("value") is not None
        if each.get("operator") == "remove" and has_value:
            findings.problem(f"{here}.value", "means nothing with operator remove", hint="leave it out")
        if each.get("operator") in {"add", "replace"} and not has_value:
            findings.problem(f"{here}.value", f"required with operator {each['operator']}")


def _patches_by_place(patches: Mapping[str, Iterable[Manifest]], path: str) -> Iterator[tuple[str, Manifest]]:
    for name, patch in patches.items():
        yield from ((f"{path}.{name}[{index}]", each) for index, each in enumerate(patch))


def _warn_of_unchecked_entry(entry: Manifest, path: str, findings: Findings) -> None:
    warn_of_unusable_pointer(entry["fieldPath"], f"{path}.fieldPath", findings)
    if not (entry.get("json") or entry.get("yaml")):
        findings.warning(path, "changes nothing: it has neither json nor yaml")


FIELD_OVERRIDER = OverriderType(
    name="fieldOverrider",
    item=Record({"fieldPath!": TEXT, **dict.fromkeys(_FORMATS, ListOf(schema_of_patch_operation("subPath")))}),
    parse=_parse_field_overrider,
    plain=_plain_overrider,
    edits=compile_one_by_one(_change_of_overrider),
    reach=_fields_reached,
    pointer=_pointer_of_overrider,
    settings=no_settings,
    check=_check_field_overrider,
    warn_unchecked=_warn_of_unchecked_entry,
    is_seen_beside_rules=False,
)
