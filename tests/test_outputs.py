"""The documents of ``-o json``: each is a struct, and what is printed and its schema are made of the same fields."""

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import pytest
from msgspec import UNSET, UnsetType

from reconciler.outputs.document import (
    DocumentPart,
    OutputDocument,
    document_schema,
    document_text,
    meaning_of_field,
    value_unless_empty,
)
from reconciler.outputs.documents import DOCUMENTS
from reconciler.reference.schemas import json_schema_of_kind

FOLDER = Path(__file__).parent.parent / "reconciler" / "outputs"


def _documents() -> Iterator[type[OutputDocument]]:
    """Yield the documents that modules of the folder define."""
    for path in sorted(FOLDER.glob("*.py")):
        module = import_module(f"reconciler.outputs.{path.stem}")
        for each in vars(module).values():
            if isinstance(each, type) and issubclass(each, OutputDocument) and each is not OutputDocument:
                yield each


def test_every_document_is_in_the_reference() -> None:
    """A new document fails here until it is listed; the tests below say what else it must have."""
    assert sorted(each.kind for each in set(_documents())) == sorted(each.kind for each in DOCUMENTS)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.kind)
def test_a_document_says_what_its_fields_mean(document: type[OutputDocument]) -> None:
    assert document.about.endswith(".")
    assert document.printed_by
    shape = json_schema_of_kind(document.kind)
    fields = {name: each for name, each in shape["properties"].items() if name not in {"apiVersion", "kind"}}
    assert [name for name, each in fields.items() if not each.get("description", "").endswith(".")] == []


class Step(DocumentPart, frozen=True, kw_only=True):
    """A part of the sample."""

    next_step: Annotated[str, meaning_of_field("The next step.")]
    hint: Annotated[str, meaning_of_field("A hint.")] | UnsetType = UNSET


class Sample(OutputDocument, frozen=True, kw_only=True):
    """A document with a field of each form."""

    kind = "Sample"
    about = "What a sample says."
    printed_by = ("sample",)

    source: Annotated[str | None, meaning_of_field("The source; null if there is none.")]
    steps: Annotated[tuple[Step, ...], meaning_of_field("The steps.")]
    last: Annotated[Step, meaning_of_field("The last step.")] | UnsetType = UNSET
    former: Annotated[Step | None, meaning_of_field("The former step.")] = None


STEP = {
    "type": "object",
    "properties": {
        "nextStep": {"description": "The next step.", "type": "string"},
        "hint": {"description": "A hint.", "type": "string"},
    },
    "required": ["nextStep"],
}


def test_a_document_prints_its_fields_and_leaves_out_what_is_not_given() -> None:
    steps = (
        Step(next_step="plan", hint=value_unless_empty("")),
        Step(next_step="apply", hint=value_unless_empty("wait")),
    )
    text = document_text(Sample(source=None, steps=steps))
    assert list(json.loads(text).items()) == [
        ("apiVersion", "argosy.dev/v1alpha1"),
        ("kind", "Sample"),
        ("source", None),
        ("steps", [{"nextStep": "plan"}, {"nextStep": "apply", "hint": "wait"}]),
        ("former", None),
    ]


def test_a_schema_has_every_part_where_it_stands() -> None:
    properties: dict[str, Any] = {
        "apiVersion": {"const": "argosy.dev/v1alpha1"},
        "kind": {"const": "Sample"},
        "source": {"description": "The source; null if there is none.", "type": ["string", "null"]},
        "steps": {"description": "The steps.", "type": "array", "items": STEP},
        "last": {"description": "The last step.", **STEP},
        "former": {"description": "The former step.", "default": None, **STEP, "type": ["object", "null"]},
    }
    assert document_schema(Sample) == {
        "description": "What a sample says.",
        "type": "object",
        "properties": properties,
        "required": ["apiVersion", "kind", "source", "steps"],
    }
