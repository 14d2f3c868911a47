"""Whole objects of members, as JSON, YAML, names, or what JSONPath and columns of it take from them.

Each object says which cluster it is of, in a field ``cluster`` beside ``kind``. The contents of Secrets are hidden, and
so are the fields that servers keep of field managers, unless they are asked for.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from msgspec import Struct

from reconciler.console.cleaning import json_safe_for_terminal
from reconciler.console.json_values import as_json
from reconciler.members.masking import HIDDEN
from render.documents import emit
from render.jsonpath import JsonPathError, fault_of_jsonpath, jsonpath_text, jsonpath_values

from .tables import NONE, text_of_columns

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_SECRET_FIELDS = ("data", "stringData")
_LARGEST_FILE = 256 << 10
_FORMS = "wide, json, yaml, name, jsonpath=TEMPLATE, jsonpath-as-json=PATH or custom-columns=NAME:.path,NAME:.path"


class ObjectOutput(Struct, frozen=True, kw_only=True):
    """A form in which whole objects are printed, and the template or the columns that it takes."""

    form: str
    template: str = ""
    columns: tuple[tuple[str, str], ...] = ()
    has_header: bool = True

    @property
    def is_data(self) -> bool:
        """True where the text is for programs as it is."""
        return self.form in {"json", "yaml", "jsonpath-as-json"}


def parse_object_output(text: str, *, has_header: bool = True) -> ObjectOutput | None:
    """Read what ``-o`` asks for; None where it asks for tables. A usage error says what is wrong with it."""
    form, _, rest = text.partition("=")
    if text in {"", "wide"}:
        return None
    if text in {"json", "yaml", "name"}:
        return ObjectOutput(form=text)
    if form in {"jsonpath-file", "custom-columns-file"} and rest:
        rest, form = _text_of_file(form, rest), form.removesuffix("-file")
        rest = _columns_of_file(rest) if form == "custom-columns" else rest
    if form == "jsonpath" and rest:
        return ObjectOutput(form=form, template=_parse_template(form, rest if "{" in rest else f"{{{rest}}}"))
    if form == "jsonpath-as-json" and rest:
        path = relaxed_path(rest)
        _parse_template(form, f"{{{path}}}")
        return ObjectOutput(form=form, template=path)
    if form == "custom-columns" and rest:
        return ObjectOutput(form=form, columns=_parse_columns(rest), has_header=has_header)
    if form in {"go-template", "go-template-file", "template", "templatefile", "kyaml"}:
        raise click.UsageError(f"-o {form}: Argosy has no such form; jsonpath, custom-columns and json take its place")
    raise click.UsageError(f"-o {text!r}: write {_FORMS}; jsonpath-file=FILE and custom-columns-file=FILE read a file")


def _text_of_file(form: str, path: str) -> str:
    """Return the text of a file that has a template or columns."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(_LARGEST_FILE + 1)
        if len(content) <= _LARGEST_FILE:
            return content.decode()
        fault = f"has more than {_LARGEST_FILE >> 10} KiB"
    except UnicodeDecodeError:
        fault = "is no text"
    except OSError as error:
        fault = f"cannot be read: {error.strerror}"
    raise click.UsageError(f"-o {form}: {path} {fault}")


def _columns_of_file(text: str) -> str:
    """Return the columns of a file with a line of titles and a line of paths, as one writes them on a command line."""
    titles, paths = (line.split() for line in [*text.splitlines(), "", ""][:2])
    if not titles or len(titles) != len(paths):
        raise click.UsageError(
            "-o custom-columns-file: write a line of titles, and below it one of as many paths, such as .metadata.name"
        )
    return ",".join(f"{title}:{path}" for title, path in zip(titles, paths, strict=True))


def _parse_template(form: str, template: str) -> str:
    if fault := fault_of_jsonpath(template):
        raise click.UsageError(f"-o {form}: {fault}")
    return template


def relaxed_path(text: str) -> str:
    """Return a path as JSONPath has it, however people write it: ``{.a.b}``, ``.a.b`` or ``a.b``.

    >>> relaxed_path("{.metadata.name}"), relaxed_path("metadata.name")
    ('.metadata.name', '.metadata.name')
    """
    path = text.strip().removeprefix("{").removesuffix("}")
    return path if path.startswith((".", "[", "$")) else f".{path}"


def _parse_columns(text: str) -> tuple[tuple[str, str], ...]:
    columns = []
    for each in text.split(","):
        title, colon, path = each.partition(":")
        path = relaxed_path(path)
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
    return text_of_document(
        {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": items}, output
    )


def text_of_document(document: Mapping[str, Any], output: ObjectOutput) -> str:
    """Return a document as JSON, as YAML, or what a template takes from it."""
    try:
        if output.form == "jsonpath":
            return jsonpath_text(output.template, document, allows_missing=True)
        if output.form == "jsonpath-as-json":
            values = jsonpath_values(output.template, document)
            return json_safe_for_terminal(json.dumps(values, indent=4, ensure_ascii=False)) + "\n"
    except JsonPathError as error:
        raise click.UsageError(f"-o {output.form}: {error}") from error
    return emit(document).decode() if output.form == "yaml" else as_json(document)


def _text_of_columns(items: Iterable[Mapping[str, Any]], output: ObjectOutput) -> str:
    rows = [(each["cluster"], *cells_of_columns(each, output)) for each in items]
    lines = [header_of_columns(output), *rows] if output.has_header else rows
    return text_of_columns(lines) if lines else ""


def header_of_columns(output: ObjectOutput) -> tuple[str, ...]:
    """Return the titles of columns, that of the cluster first."""
    return ("CLUSTER", *(title for title, _ in output.columns))


def cells_of_columns(item: Mapping[str, Any], output: ObjectOutput) -> tuple[str, ...]:
    """Return the cells that columns take from an object."""
    return tuple(_cell_at_path(path, item) for _, path in output.columns)


def _cell_at_path(path: str, item: Mapping[str, Any]) -> str:
    try:
        if not (found := jsonpath_values(path, item)):
            return NONE
        return ",".join(jsonpath_text("{@}", each) for each in found)
    except JsonPathError:
        return NONE
