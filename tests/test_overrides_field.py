"""Fields that hold a JSON or YAML text, patched inside."""

from typing import Any, NamedTuple

import pytest

from overrides.draft import Draft
from overrides.errors import Refused
from overrides.overriders.field import FieldOverrider, field_patch, override_field
from overrides.overriders.plaintext import PlaintextOverrider

from .tables import each_row


def patch(*operations: tuple[Any, ...]) -> tuple[PlaintextOverrider, ...]:
    return tuple(
        PlaintextOverrider(operator=operator, path=path, value=value[0] if value else None)
        for operator, path, *value in operations
    )


def overridden(text: Any, path: str = "/data/t", /, **formats: Any) -> Any:
    draft = Draft({"kind": "ConfigMap", "data": {"t": text}, "spec": {"replicas": 1, "args": ["{}"], "": "{}"}})
    override_field(draft, field_patch(FieldOverrider(field_path=path, **formats)))
    return draft.root


class Text(NamedTuple):
    why: str
    format: str
    text: str
    patch: tuple[PlaintextOverrider, ...]
    want: str


NEW = patch(("replace", "/key/key1", "updated_value"))
ON = patch(("add", "/on", True))
TEXTS = [
    Text("V72 a value of a YAML text", "yaml", "key: \n  key1: value\n", NEW, "key:\n  key1: updated_value\n"),
    Text("V73 a value of a JSON text", "json", '{"key":{"key1":"value"}}', NEW, '{"key":{"key1":"updated_value"}}'),
    Text("V76 YAML loses comments and sorts its keys", "yaml", "# x\nb: 1 # y\na: 2\n", patch(("remove",
         "/b")), "a: 2\n"),
    Text("YAML keys are sorted whatever their meaning", "yaml",
         "kind: K\napiVersion: v1\nmetadata: {name: x, a: 1}\n", ON,
         'apiVersion: v1\nkind: K\nmetadata:\n  a: 1\n  name: x\n"on": true\n'),
    Text("only the first YAML document stays", "yaml", "a: 1\n---\nb: 1\n", patch(("add", "/c", 1)), "a: 1\nc: 1\n"),
    Text("an error behind it does not matter", "yaml", "a: 1\n---\nb: [\n", patch(("add", "/c", 1)), "a: 1\nc: 1\n"),
    Text("an empty YAML text can be replaced", "yaml", "", patch(("add", "", {"a": 1})), "a: 1\n"),
    Text("a YAML list", "yaml", "- 1\n- 2\n", patch(("remove", "/0")), "- 2\n"),
    Text("a multi-line text in YAML", "yaml", "a: |\n  x\n\n    y\n", patch(("add", "/b", 1)),
         "a: |\n  x\n\n    y\nb: 1\n"),
    Text("YAML 1.1 words are booleans", "yaml", "a: yes\n", patch(("add", "/b", "yes")), 'a: true\nb: "yes"\n'),
    Text("V77 an empty JSON text stays", "json", "", ON, ""),
    Text("JSON keeps the order of its keys", "json", '{ "b": 1,\n "a": [1, 2] }', ON, '{"b":1,"a":[1,2],"on":true}'),
    Text("and the spelling of its numbers", "json", "[1.50, 1e3, -0, 12345678901234567890]", patch(("add", "/-", 0.5)),
         "[1.50,1e3,-0,12345678901234567890,0.5]"),
    Text("and of the strings that it does not change", "json", r'{"a":"\/\u00e9","b":["<\b"],"c\u00e9":1}',
         patch(("add", "/b/-", "é/<")), r'{"a":"\/\u00e9","b":["\u003c\b","é/\u003c"],"cé":1}'),
    Text("quotes and folds of a YAML text are Karmada's", "yaml", f"a: 'x: {'y ' * 50}z'\nb10: 1\nb2: '1'\n", ON,
         f"a: 'x: {'y ' * 37}y\n  {'y ' * 12}z'\nb2: \"1\"\nb10: 1\n\"on\": true\n"),
    Text("angle brackets are escaped as Go does", "json", '{"a":"<b> & é"}', ON,
         '{"a":"\\u003cb\\u003e \\u0026 é","on":true}'),
    Text("white space before an object", "json", ' {"a":null}', ON, '{"a":null,"on":true}'),
]  # fmt: skip


@each_row("case", TEXTS, ids=lambda case: case.why)
def test_a_text_is_patched(case: Text) -> None:
    new = overridden(case.text, **{case.format: case.patch})
    assert new == {"kind": "ConfigMap", "data": {"t": case.want}, "spec": {"replicas": 1, "args": ["{}"], "": "{}"}}


def test_yaml_wins_over_json() -> None:
    assert overridden("{}", json=ON, yaml=patch(("add", "/a", 1)))["data"] == {"t": "a: 1\n"}


def test_a_path_may_lead_into_a_list_or_to_an_empty_key() -> None:
    assert overridden("{}", "/spec/args/0", json=ON)["spec"]["args"] == ['{"on":true}']
    assert overridden("{}", "/spec/", json=ON)["spec"][""] == '{"on":true}'


class Bad(NamedTuple):
    why: str
    path: str
    text: Any
    format: str
    patch: tuple[PlaintextOverrider, ...]
    want: str
    within: str
    hint: str = ""


T = "/data/t"
SINGLE = "the text at /data/t holds a single value, which no patch can change"
BAD = [
    Bad("V74 a path that is missing", "/data/missing", "", "json", ON, "'missing' does not exist in /data",
        ".fieldPath"),
    Bad("V74 a number", "/spec/replicas", "", "json", ON,
        "/spec/replicas is not a string, so there is no text to patch", ".fieldPath"),
    Bad("V74 no path", "", "", "json", ON, "'' is not a JSON pointer to a field", ".fieldPath"),
    Bad("no leading slash", "data/t", "", "json", ON, "'data/t' is not a JSON pointer to a field", ".fieldPath"),
    Bad("an index from the end", "/spec/args/-1", "", "json", ON, "/spec/args has 1 item, so -1 is no index of it",
        ".fieldPath"),
    Bad("V75 a key that is missing", T, "a: 1", "yaml", patch(("add", "/b", 1), ("remove", "/key/absent")),
        "the text at /data/t: 'key' does not exist in the top level", ".yaml[1]"),
    Bad("JSON with a key that is missing", T, "{}", "json", patch(("replace", "/a", 1)),
        "the text at /data/t: 'a' does not exist in the top level", ".json[0]"),
    Bad("broken JSON", T, '{"a":', "json", ON, "the text at /data/t is not JSON", ""),
    Bad("JSON that is followed by more", T, "{} {}", "json", ON, "the text at /data/t is not JSON", ""),
    Bad("NaN is not JSON", T, "[NaN]", "json", ON, "the text at /data/t is not JSON", ""),
    Bad("a list after white space", T, " [1]", "json", ON,
        "the text at /data/t is a JSON list with white space before it, which Karmada cannot read", ""),
    Bad("a single JSON value", T, '"secret"', "json", patch(("add", "", {})), SINGLE, ""),
    Bad("deep JSON", T, "[" * 100_000, "json", ON, "the text at /data/t is nested too deep", ""),
    Bad("broken YAML", T, "a: [\n", "yaml", ON,
        "the text at /data/t cannot be read as YAML: line 2: no value where one must stand", "",
        "check brackets, quotes and indentation"),
    Bad("a single YAML value, such as base64", T, "c2VjcmV0", "yaml", ON, SINGLE, ""),
    Bad("an empty YAML text has no keys", T, "", "yaml", ON,
        "the text at /data/t: the top level is neither mapping nor list, so it has no 'on'", ".yaml[0]"),
    Bad("a document becomes a string", T, "{}", "json", patch(("replace", "", "x")),
        "the text at /data/t: the empty path replaces the whole object, and the value is no object", ".json[0]"),
]  # fmt: skip


@each_row("case", BAD, ids=lambda case: case.why)
def test_what_cannot_be_patched_is_refused(case: Bad) -> None:
    with pytest.raises(Refused) as refused:
        overridden(case.text, case.path, **{case.format: case.patch})
    assert (refused.value.message, refused.value.within, refused.value.hint) == (case.want, case.within, case.hint)
