"""Whole objects of members, as JSON, YAML, names, or what JSONPath and columns of it take from them.

Each object says which cluster it is of, in a field ``cluster`` beside ``kind``. The contents of Secrets are hidden, and
so are the fields that servers keep of field managers, unless they are asked for.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click
from msgspec import Struct

from reconciler.console.json_values import as_json
from reconciler.members.masking import HIDDEN
from render.documents import emit
from render.jsonpath import JsonPathError, fault_of_jsonpath, jsonpath_text, jsonpath_values

from .tables import NONE, text_of_columns

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_SECRET_FIELDS = ("data", "stringData")


class ObjectOutput(Struct, frozen=True, kw_only=True):
    """A form in which whole objects are printed, and the template or the columns that it takes."""

    form: str
    template: str = ""
    columns: tuple[tuple[str, str], ...] = ()
    has_header: bool = True

    @property
    def is_data(self) -> bool:
        """True where the text is for programs as it is."""
        return self.form in {"json", "yaml"}


def parse_object_output(text: str, *, has_header: bool = True) -> ObjectOutput | None:
    """Read what ``-o`` asks for; None where it asks for tables. A usage error says what is wrong with it."""
    form, _, rest = text.partition("=")
    if text in {"", "wide"}:
        return None
    if text in {"json", "yaml", "name"}:
        return ObjectOutput(form=text)
    if form == "jsonpath" and rest:
        template = rest if "{" in rest else f"{{{rest}}}"
        if fault := fault_of_jsonpath(template):
            raise click.UsageError(f"-o jsonpath: {fault}")
        return ObjectOutput(form=form, template=template)
    if form == "custom-columns" and rest:
        return ObjectOutput(form=form, columns=_parse_columns(rest), has_header=has_header)
    raise click.UsageError(
        f"-o {text!r}: write wide, json, yaml, name, jsonpath=TEMPLATE or custom-columns=NAME:.path,NAME:.path"
    )


def _parse_columns(text: str) -> tuple[tuple[str, str], ...]:
    columns = []
    for each in text.split(","):
        title, colon, path = each.partition(":")
        path = path.strip().removeprefix("{").removesuffix("}")
        path = path if path.startswith((".", "[", "$")) else f".{path}"
        if not (title and colon and path != "."):
            raise click.UsageError(f"-o custom-columns: {each!r} is no column; write NAME:.metadata.name")
        if fault := fault_of_jsonpath(f"{{{path}}}"):
            raise click.UsageError(f"-o custom-columns: {each!r}: {fault}")
        columns.append((title, path))
    return tuple(columns)


def shown_object(cluster: str, item: Mapping[str, Any], *, has_managers: bool) -> dict[str, Any]:
    """Return an object as it is shown: with its cluster, and without what is secret."""
    metadata = dict(item.get("metadata") or {})
    if not has_managers:
        metadata.pop("managedFields", None)
    shown = {"cluster": cluster, **item, "metadata": metadata}
    if item.get("kind") == "Secret" and item.get("apiVersion") == "v1":
        for name in _SECRET_FIELDS:
            if item.get(name):
                shown[name] = dict.fromkeys(item[name], HIDDEN)
        if LAST_APPLIED in (metadata.get("annotations") or {}):
            metadata["annotations"] = {**metadata["annotations"], LAST_APPLIED: HIDDEN}
    return shown


def text_of_objects(objects: Sequence[tuple[str, Mapping[str, Any]]], output: ObjectOutput) -> str:
    """Return objects in a form; ``objects`` are pairs of the kind as names are prefixed with it, and the object."""
    if output.form == "name":
        return "".join(f"{each['cluster']} {kind}/{each['metadata']['name']}\n" for kind, each in objects)
    items = [each for _, each in objects]
    if output.form == "custom-columns":
        return _text_of_columns(items, output)
    document = {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": items}
    if output.form == "jsonpath":
        try:
            return jsonpath_text(output.template, document, allows_missing=True)
        except JsonPathError as error:
            raise click.UsageError(f"-o jsonpath: {error}") from error
    return emit(document).decode() if output.form == "yaml" else as_json(document)


def _text_of_columns(items: Iterable[Mapping[str, Any]], output: ObjectOutput) -> str:
    header = ("CLUSTER", *(title for title, _ in output.columns))
    rows = [(each["cluster"], *(_cell_at_path(path, each) for _, path in output.columns)) for each in items]
    lines = [header, *rows] if output.has_header else rows
    return text_of_columns(lines) if lines else ""


def _cell_at_path(path: str, item: Mapping[str, Any]) -> str:
    try:
        if not (found := jsonpath_values(path, item)):
            return NONE
        return ",".join(jsonpath_text("{@}", each) for each in found)
    except JsonPathError:
        return NONE
