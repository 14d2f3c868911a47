"""``spec.fieldRules``: who gets the fields that others write as well."""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any

from msgspec import Struct

from render.rule_paths import rule_path_fault

from .setting import FleetSetting, SettingFault


class FieldRuling(StrEnum):
    """The claim on a field: set at creation alone, left to whoever else owns it, or always as committed."""

    IGNORE = "Ignore"
    YIELD = "Yield"
    OWN = "Own"


class FieldRule(Struct, frozen=True, kw_only=True):
    """A rule about one field of some objects; an empty part of these means any, ``*`` in them stands for any text.

    ``path`` is written as in messages, such as ``.spec.template.spec.containers[*].image``. ``manager``: the field
    manager that owns the field, where it matters.
    """

    rule: Annotated[
        FieldRuling,
        FleetSetting(
            "rule",
            "`Ignore`: the field is set when the object is created, and never afterwards. `Yield`: a manager that owns"
            " it with another value keeps it. `Own`: it is always as committed.",
        ),
    ]
    path: Annotated[
        str,
        FleetSetting(
            "path",
            "The field with all in it, such as `.spec.replicas`. An item of a list is named by its keys or some of"
            ' them, as in `.spec.ports[port=80].nodePort`, or by `[*]` for each; a value of a set is `[="a"]`. `*` in a'
            " name stands for any text. A list that servers do not merge is one field.",
        ),
    ]
    group: Annotated[str, FleetSetting("group", "The API group of the objects; left out means any.")] = ""
    kind: Annotated[str, FleetSetting("kind", "The kind of the objects; left out means any.")] = ""
    namespace: Annotated[str, FleetSetting("namespace", "The namespace of the objects; left out means any.")] = ""
    name: Annotated[str, FleetSetting("name", "The name of the objects; left out means any.")] = ""
    manager: Annotated[
        str, FleetSetting("manager", "The field manager that owns the field now; left out means any.")
    ] = ""


def _faults_of_field_rules(rules: Iterable[Mapping[str, Any]]) -> Iterator[SettingFault]:
    for index, rule in enumerate(rules):
        if fault := rule_path_fault(rule["path"]):
            yield SettingFault(f"[{index}].path", *fault)


FIELD_RULES = FleetSetting(
    "fieldRules",
    "Who gets fields that others write as well. The first rule that fits counts; annotations of an object count before"
    " them. `*` stands for any text in all but `rule`.",
    in_karmada="a retain rule of a ResourceInterpreterCustomization comes near it",
    faults=_faults_of_field_rules,
)
