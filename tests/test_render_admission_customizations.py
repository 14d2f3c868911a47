"""Interpreter customizations among each other: one script for an operation of a kind, except for dependencies."""

from typing import Any

from render.admission.customizations import customization_conflicts


def a_customization(name: str, *rules: str, kind: str = "Widget") -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "spec": {
            "target": {"apiVersion": "example.io/v1", "kind": kind},
            "customizations": {rule: {"luaScript": "return"} for rule in rules},
        },
    }


def test_the_second_script_for_an_operation_is_refused_by_name() -> None:
    second = a_customization("b", "retention", "healthInterpretation", "dependencyInterpretation")
    first = a_customization("a", "retention", "dependencyInterpretation")
    other = a_customization("c", "retention", kind="Gadget")
    assert [(found, str(problem)) for found, problem in customization_conflicts([second, other, first])] == [
        (
            second,
            (
                "spec.customizations.retention.luaScript: 'a' already has a script for Retain of example.io/v1 Widget\n"
                "  hint: keep one of them"
            ),
        )
    ]


def test_an_empty_script_takes_nothing() -> None:
    empty = a_customization("a", "retention")
    empty["spec"]["customizations"]["retention"]["luaScript"] = ""
    assert list(customization_conflicts([empty, a_customization("b", "retention")])) == []
