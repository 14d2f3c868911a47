"""ResourceInterpreterCustomization: its schema, and the rule that every script must compile."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from render.errors import Problem
from render.interpretation.operations import Operation
from render.interpreter.customization_keys import FUNCTION, RULES

from .findings import Findings
from .policy_warnings import WITHOUT_COMPONENTS
from .schema import Record
from .shared_schema import TEXT

CUSTOMIZATION_SPEC = Record(
    {
        "target!": Record({"apiVersion!": TEXT, "kind!": TEXT}),
        "customizations!": Record({rule.key: Record({"luaScript!": TEXT}) for rule in RULES}),
    }
)


def check_scripts(customization: dict[str, Any], findings: Findings) -> None:
    """Report scripts that are no Lua."""
    from render.interpreter.lua.sandbox import script_problem  # most sources have no scripts

    for path, _, script in _scripts_with_their_paths(customization):
        if script and (fault := script_problem(script)):
            findings.problem(path, f"is no Lua: {fault}")


def warn_of_ineffective_customization(customization: dict[str, Any], findings: Findings) -> None:
    """Warn of a target that matches nothing, and of scripts without the function they are called for."""
    for part, value in customization["spec"]["target"].items():
        if not value:
            findings.warning(f"spec.target.{part}", "is empty, so the scripts are used for no object")
    for path, function, script in _scripts_with_their_paths(customization):
        if not script.strip():
            findings.warning(path, "is empty, so the rule is not customized")
        elif not re.search(rf"\b{function}\b", script):
            findings.warning(path, f"does not define the function {function}")
        elif function == FUNCTION[Operation.INTERPRET_COMPONENT]:
            findings.warning(path, f"is asked for nothing {WITHOUT_COMPONENTS}")


def customization_conflicts(customizations: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], Problem]]:
    """Yield each admitted customization that customizes what an earlier one, by name, already does for its target.

    Scripts for dependencies are exempt: all of them run, and their answers are united.
    """
    holders: dict[tuple[str, str, str], str] = {}
    for customization in sorted(customizations, key=lambda each: str(each["metadata"]["name"])):
        name = customization["metadata"]["name"]
        for path, customized in _customized_functions_with_paths(customization):
            holder = holders.setdefault(customized, name)
            if holder != name:
                api_version, kind, function = customized
                message = f"{holder!r} already has a script for {function} of {api_version} {kind}"
                yield customization, Problem("", 0, path, message, "keep one of them", "Invalid")


CustomizedFunction = tuple[str, str, str]
"""The apiVersion and the kind of a target, and a function that has a script for it."""


def functions_of_customization(customization: Mapping[str, Any]) -> frozenset[CustomizedFunction]:
    """Return what an admitted customization customizes and no other one may."""
    return frozenset(customized for _, customized in _customized_functions_with_paths(customization))


def _customized_functions_with_paths(customization: Mapping[str, Any]) -> Iterator[tuple[str, CustomizedFunction]]:
    target = customization["spec"]["target"]
    for path, function, script in _scripts_with_their_paths(customization):
        if script and function != "GetDependencies":
            yield path, (target["apiVersion"], target["kind"], function)


def _scripts_with_their_paths(customization: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the path, the function and the script of every rule that is customized."""
    customizations = customization["spec"].get("customizations") or {}
    for rule in RULES:
        if rule.key in customizations:
            path = f"spec.customizations.{rule.key}.luaScript"
            yield path, rule.function, customizations[rule.key].get("luaScript") or ""
