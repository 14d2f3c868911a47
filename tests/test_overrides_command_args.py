"""Command and args: words of the containers of a name, with Karmada's traps."""

from typing import Any, NamedTuple

import pytest

from overrides.draft import Draft
from overrides.errors import Refused
from overrides.overriders.command_args import CommandArgsOverrider, override_words

from .tables import each_row


class Words(NamedTuple):
    why: str
    container: dict[str, Any]
    field: str
    operator: str
    value: tuple[str, ...]
    want: dict[str, Any]


NGINX = {"name": "nginx", "command": ["nginx", "-v", "-t"]}
WORDS = [
    Words("V50 words are appended", NGINX, "command", "add", ("&& echo 'hello karmada'",),
          {"name": "nginx", "command": ["nginx", "-v", "-t", "&& echo 'hello karmada'"]}),
    Words("V51 words are removed", NGINX, "command", "remove", ("-t",), {"name": "nginx", "command": ["nginx", "-v"]}),
    Words("V51 nothing is removed", NGINX, "command", "remove", (), NGINX),
    Words("V52 a missing field is created", NGINX, "args", "add", ("-t",), {**NGINX, "args": ["-t"]}),
    Words("V53 even by removing", NGINX, "args", "remove", ("x",), {**NGINX, "args": []}),
    Words("a null field is missing", {"name": "nginx", "args": None}, "args", "add", (), {"name": "nginx", "args": []}),
    Words("V54 another container stays", {"name": "other"}, "args", "add", ("-t",), {"name": "other"}),
    Words("V55 every equal word is removed", {"name": "nginx", "args": ["a", "b", "a", "c"]}, "args", "remove", ("a",),
          {"name": "nginx", "args": ["b", "c"]}),
    Words("V55 duplicates are kept", {"name": "nginx", "args": ["a", "b"]}, "args", "add", ("b",),
          {"name": "nginx", "args": ["a", "b", "b"]}),
    Words("replace changes nothing", NGINX, "command", "replace", ("x",), NGINX),
    Words("but creates the field", NGINX, "args", "replace", ("x",), {**NGINX, "args": []}),
]  # fmt: skip


@each_row("case", WORDS, ids=lambda case: case.why)
def test_words_of_a_container_are_edited(case: Words) -> None:
    draft = Draft({"kind": "Pod", "spec": {"containers": [case.container]}})
    overrider = CommandArgsOverrider(container_name="nginx", operator=case.operator, value=case.value)
    override_words(draft, overrider, field=case.field)
    assert draft.root == {"kind": "Pod", "spec": {"containers": [case.want]}}


ADD = CommandArgsOverrider(container_name="nginx", operator="add", value=("-t",))


def test_every_container_of_the_name_is_edited() -> None:
    draft = Draft({"kind": "Pod", "spec": {"containers": [{"name": "nginx"}, {"name": "x"}, {"name": "nginx"}]}})
    override_words(draft, ADD, field="args")
    containers = [{"name": "nginx", "args": ["-t"]}, {"name": "x"}, {"name": "nginx", "args": ["-t"]}]
    assert draft.root == {"kind": "Pod", "spec": {"containers": containers}}


def test_v54_other_kinds_and_init_containers_stay() -> None:
    pod = {"containers": [], "initContainers": [{"name": "nginx"}]}
    for manifest in (
        {"kind": "CronJob", "spec": {"jobTemplate": {"spec": {"template": {"spec": {"containers": [NGINX]}}}}}},
        {"kind": "Deployment", "spec": {"template": {"spec": pod}}},
        {"kind": "Deployment", "spec": {"template": {}}},
    ):
        draft = Draft(manifest)
        override_words(draft, ADD, field="args")
        assert draft.root is manifest


@pytest.mark.parametrize("words", ["-t", [1], {}, ["-v", None]], ids=str)
def test_words_of_another_type_are_refused(words: Any) -> None:
    draft = Draft({"kind": "Pod", "spec": {"containers": [{"name": "nginx", "args": words}]}})
    with pytest.raises(Refused) as refused:
        override_words(draft, ADD, field="args")
    assert refused.value.message == "/spec/containers/0/args is not a list of strings"
