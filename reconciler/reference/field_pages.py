"""Fields of a kind as ``kubectl explain`` shows them: a path such as ``pp.spec.placement``, without any server."""

import textwrap
from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

from reconciler.names.kinds import names_of_kind
from reconciler.names.subjects import error_of_unknown_name
from render.admission.schema import DecimalNumber, Flag, ListOf, MapOf, Node, Portion, Quantity, Record, Text, Whole
from render.model import ARGOSY_API_VERSION, ObjectRef, group_of

from .karmada import OF_ALL_KINDS, karmada_kinds
from .schemas import INPUTS, FieldAt, field_of_karmada

_WIDTH = 80
_INDENT = " " * 4


class DescribedKind(NamedTuple):
    """A kind whose fields are known: its schema below the root, and what there is to say about the field at a path."""

    api_version: str
    kind: str
    about: str
    schema: Record
    field_at: FieldAt

    def sentence(self, path: str) -> str:
        """Return the sentence about a field."""
        field = self.field_at(path)
        return field.about if field else OF_ALL_KINDS.get(path, "")

    def default(self, path: str, node: Node) -> Any:
        """Return the value that counts where a field is left out; None where nothing does."""
        field, known = self.field_at(path), getattr(node, "default", None)
        return known if field is None or field.default is None else field.default


class DescribedField(NamedTuple):
    """A field: the kind that it is of, its path, and its schema."""

    kind: DescribedKind
    path: str
    node: Node

    @property
    def about(self) -> str:
        """The sentence about it."""
        return self.kind.sentence(self.path) if self.path else self.kind.about


@cache
def _kinds_by_typed_name() -> Mapping[str, DescribedKind]:
    """Return the kinds by every name that people type for them, in lower case."""
    described = [
        *(
            DescribedKind(each.api_version, name, each.about, each.schema, partial(field_of_karmada, each))
            for name, each in karmada_kinds().items()
        ),
        *(
            DescribedKind(ARGOSY_API_VERSION, name, each.about, each.schema, each.fields.get)
            for name, each in INPUTS.items()
        ),
    ]
    found: dict[str, DescribedKind] = {}
    for kind in described:
        group, _, version = kind.api_version.rpartition("/")
        for word in names_of_kind(ObjectRef(group, kind.kind, "", ""), version, {}):
            found.setdefault(word, kind)
    return found


def kind_of_noun(noun: str) -> str | None:
    """Return the kind that a short name, a plural or a name with its group means; None where none is known by it.

    >>> kind_of_noun("pp"), kind_of_noun("pods")
    ('PropagationPolicy', None)
    """
    found = _kinds_by_typed_name().get(noun.lower())
    return found.kind if found else None


def is_field_path(words: tuple[str, ...]) -> bool:
    """Say whether what was typed is the path of a field of a known kind, or the kind alone."""
    return len(words) == 1 and "/" not in words[0] and words[0].lower().partition(".")[0] in _kinds_by_typed_name()


def described_field(text: str) -> DescribedField:
    """Return the field of a path; UnknownName says what there is instead.

    >>> described_field("pp.spec.placement.clusterAffinity.exclude").about
    'The names of clusters that are not selected, whatever else says.'
    """
    noun, *names = text.split(".")
    kind = _kinds_by_typed_name()[noun.lower()]
    path, node = "", kind.schema
    found: Node = node
    for name in filter(None, names):
        fields = _child_fields_of_node(found)
        if name not in fields:
            where = f"{kind.kind}.{path}" if path else kind.kind
            raise error_of_unknown_name(f"{where} has no field {name!r}", name, list(fields))
        suffix = _path_suffix_of_items(found)
        path, found = f"{path}{suffix}.{name}".removeprefix("."), fields[name]
    return DescribedField(kind, path, found)


def _path_suffix_of_items(node: Node) -> str:
    match node:
        case ListOf():
            return f"[]{_path_suffix_of_items(node.items)}"
        case MapOf():
            return f".*{_path_suffix_of_items(node.values)}"
    return ""


def _child_fields_of_node(node: Node) -> Mapping[str, Node]:
    """Return the fields below a node: those of its items, where it is a list or a map."""
    match node:
        case Record():
            return {name.removesuffix("!"): each for name, each in node.fields.items()}
        case ListOf():
            return _child_fields_of_node(node.items)
        case MapOf():
            return _child_fields_of_node(node.values)
    return {}


def _is_field_required(node: Node, name: str) -> bool:
    match node:
        case Record():
            return f"{name}!" in node.fields
        case ListOf():
            return _is_field_required(node.items, name)
        case MapOf():
            return _is_field_required(node.values, name)
    return False


def kubectl_type_name(node: Node) -> str:
    """Return the type of a field, as kubectl writes it.

    >>> kubectl_type_name(ListOf(Text())), kubectl_type_name(MapOf(Quantity())), kubectl_type_name(Record({}))
    ('[]string', 'map[string]Quantity', 'Object')
    """
    match node:
        case ListOf():
            return f"[]{kubectl_type_name(node.items)}"
        case MapOf():
            return f"map[string]{kubectl_type_name(node.values)}"
    simple: Mapping[type[Node], str] = {
        Text: "string",
        Whole: "integer",
        Flag: "boolean",
        Quantity: "Quantity",
        Portion: "IntOrString",
        DecimalNumber: "number",
        Record: "Object",
    }
    return simple.get(type(node), "any")


def page_about_field(field: DescribedField, *, is_recursive: bool = False) -> str:
    """Return the page about a field, with the fields below it; ``is_recursive``: with all below these, by name."""
    return (
        "\n".join(
            [*_head_lines(field), *(_lines_of_field_tree(field) if is_recursive else _lines_about_child_fields(field))]
        ).rstrip()
        + "\n"
    )


def _head_lines(field: DescribedField) -> Iterator[str]:
    kind, name = field.kind, field.path.rpartition(".")[2].removesuffix("[]")
    yield f"GROUP:      {group_of(kind.api_version)}"
    yield f"KIND:       {kind.kind}"
    yield f"VERSION:    {kind.api_version.rpartition('/')[2]}"
    yield ""
    if name:
        yield f"FIELD: {name} <{kubectl_type_name(field.node)}>"
        yield from _lines_of_choices_and_default(field.node, kind.default(field.path, field.node), "")
        yield ""
    yield "DESCRIPTION:"
    yield from _wrapped_and_indented_lines(field.about, _INDENT)
    yield ""


def _lines_about_child_fields(field: DescribedField) -> Iterator[str]:
    fields = {**_ROOT, **_child_fields_of_node(field.node)} if not field.path else _child_fields_of_node(field.node)
    if not fields:
        return
    yield "FIELDS:"
    for name, node in sorted(fields.items()):
        yield f"  {name}\t<{kubectl_type_name(node)}>{' -required-' if _is_field_required(field.node, name) else ''}"
        path = f"{field.path}{_path_suffix_of_items(field.node)}.{name}".removeprefix(".")
        yield from _lines_of_choices_and_default(node, field.kind.default(path, node), "  ")
        about = _ABOUT_ROOT.get(name, "") if not field.path and name in _ROOT else ""
        yield from _wrapped_and_indented_lines(about or field.kind.sentence(path), _INDENT)
        yield ""


_ROOT: Mapping[str, Node] = {"apiVersion": Text(), "kind": Text()}
_ABOUT_ROOT = {"apiVersion": "The group and the version of the kind.", "kind": "The kind."}


def _lines_of_field_tree(field: DescribedField) -> Iterator[str]:
    yield "FIELDS:"
    yield from _lines_of_subtree(field.node, "  ")


def _lines_of_subtree(node: Node, indent: str) -> Iterator[str]:
    for name, child in sorted(_child_fields_of_node(node).items()):
        yield f"{indent}{name}\t<{kubectl_type_name(child)}>{' -required-' if _is_field_required(node, name) else ''}"
        yield from _lines_of_subtree(child, f"{indent}  ")


def _lines_of_choices_and_default(node: Node, default: Any, indent: str) -> Iterator[str]:
    inner = node.items if isinstance(node, ListOf) else node
    if isinstance(inner, Text) and inner.choices:
        yield f"{indent}enum: {', '.join(inner.choices)}"
    if default is not None:
        yield f"{indent}default: {str(default).lower() if isinstance(default, bool) else default}"


def _wrapped_and_indented_lines(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text or "-", _WIDTH, initial_indent=indent, subsequent_indent=indent)
