"""argosy.yaml, a Fleet of argosy.dev/v1alpha1: its schema and its rules, made of what its settings say of themselves.

Names that become folders, branches and arguments must be harmless.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from render.settings.fields import SettingField, setting_fields
from render.settings.fleet import Fleet
from render.syntax import fault_of_dns_subdomain, quoted_text

from .findings import Findings
from .schema import INT32, ListOf, Node, Portion, Record, Text, Whole
from .shared_schema import POINTER_FLAG

NAME_LIMIT = 108
"""The longest name of a fleet: servers take field managers of 128 bytes, and its own has 20 beside the name."""


def _schema_of_section(struct: type[Struct]) -> Record:
    """Return the schema of a section."""
    return Record(_nodes_of_struct(struct))


def _nodes_of_struct(struct: type[Struct]) -> dict[str, Node]:
    nodes: dict[str, Node] = {}
    for field in setting_fields(struct):
        name = field.setting.name
        if not name and field.section:
            nodes |= _nodes_of_struct(field.section)
        elif "." not in name:  # of metadata, which all kinds have
            nodes[f"{name}!" if field.is_required else name] = _node_of_field(field)
    return nodes


def _node_of_field(field: SettingField) -> Node:
    node = _schema_of_section(field.section) if field.section else _schema_of_value(field)
    return ListOf(node) if field.is_list else node


def _schema_of_value(field: SettingField) -> Node:
    if field.is_portion:
        return Portion(minimum=field.setting.minimum)
    if field.choices is not None:
        return Text(choices=tuple(field.choices))
    if field.holds is bool:
        return POINTER_FLAG
    if field.holds is int:
        least = field.setting.minimum
        return Whole(INT32, minimum=least, keep=not least)
    return Text(min_length=field.setting.min_length)


FLEET_SPEC = _schema_of_section(Fleet)


def fleet_name_fault(name: str) -> str:
    """Say what is wrong with the name of a fleet, which is part of a field manager and of branches."""
    if fault := fault_of_dns_subdomain(name):
        return fault
    if len(name) > NAME_LIMIT:
        return f"{quoted_text(name)} is longer than {NAME_LIMIT} characters"
    return (
        f"{quoted_text(name)} is no such name: Git has no branches that end with '.lock'"
        if name.endswith(".lock")
        else ""
    )


def set_fleet_name(fleet: dict[str, Any], _findings: Findings) -> None:
    """Give a fleet without a name the name ``default``."""
    fleet["metadata"].setdefault("name", "default")


def check_fleet(fleet: Mapping[str, Any], findings: Findings) -> None:
    """Report mistakes that the schema cannot express."""
    _check_section(Fleet, fleet["spec"], "spec", findings)


def _check_section(struct: type[Struct], plain: Mapping[str, Any], path: str, findings: Findings) -> None:
    for field in setting_fields(struct):
        name = field.setting.name
        if not name and field.section:
            _check_section(field.section, plain, path, findings)
        if (value := plain.get(name)) is None:
            continue
        for fault in field.setting.faults(value):
            findings.problem(f"{path}.{name}{fault.path}", fault.message, hint=fault.hint, kind=fault.kind)
        if field.section and not field.is_list:
            _check_section(field.section, value, f"{path}.{name}", findings)
