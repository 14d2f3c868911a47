"""The syntax that Kubernetes allows in names, keys, values and pointers."""

from collections.abc import Callable
from typing import NamedTuple

from render.syntax import (
    dns_label_fault,
    label_key_fault,
    label_value_fault,
    pointer_fault,
    quoted,
    subdomain_fault,
)
from render.words import nearest

from .tables import each_row

RULE = "use letters, digits, '-', '_' and '.' only, with a letter or digit at both ends"
DNS_RULE = "use lower-case letters, digits and '-' only, with a letter or digit at both ends"
X63, X64 = "x" * 63, "x" * 64


class Text(NamedTuple):
    why: str
    fault_of: Callable[[str], str]
    text: str
    want: str


TEXTS = [
    Text("a plain key", label_key_fault, "team", ""),
    Text("a key with a prefix", label_key_fault, "example.com/team_1.x", ""),
    Text("the longest key", label_key_fault, f"{'a.' * 126}a/{X63}", ""),
    Text(
        "a longer prefix",
        label_key_fault,
        f"{'a.' * 126}aa/x",
        f"{quoted('a.' * 126 + 'aa/x')} is no label key: the part before the '/' is longer than 253 characters",
    ),
    Text("a longer name", label_key_fault, X64, f"'{X64}' is no label key: it is longer than 63 characters"),
    Text("no key", label_key_fault, "", "'' is no label key: it is empty"),
    Text("a dash at the end", label_key_fault, "a-", f"'a-' is no label key: {RULE}"),
    Text("a line break at the end", label_key_fault, "a\n", f"'a\\n' is no label key: {RULE}"),
    Text("letters beyond ASCII", label_key_fault, "größe", f"'größe' is no label key: {RULE}"),
    Text("digits beyond ASCII", label_value_fault, "٣", f"'٣' is no label value: {RULE}"),
    Text("no value", label_value_fault, "", ""),
    Text("the longest value", label_value_fault, X63, ""),
    Text("a longer value", label_value_fault, X64, f"'{X64}' is no label value: it is longer than 63 characters"),
    Text(
        "bytes are counted",
        label_value_fault,
        "ä" * 32,
        f"'{'ä' * 32}' is no label value: it is longer than 63 characters",
    ),
    Text("the longest DNS label", dns_label_fault, X63, ""),
    Text("a longer DNS label", dns_label_fault, X64, f"'{X64}' is longer than 63 characters"),
    Text("a DNS label with a dot", dns_label_fault, "a.b", f"'a.b' is no such name: {DNS_RULE}"),
    Text("a subdomain with a dot", subdomain_fault, "a-1.b", ""),
    Text(
        "a subdomain with an empty part", subdomain_fault, "a..b", f"'a..b' is no such name: between dots, {DNS_RULE}"
    ),
    Text("the longest subdomain", subdomain_fault, "x" * 253, ""),
    Text("a pointer to everything", pointer_fault, "", ""),
    Text("a pointer", pointer_fault, "/a/b~1c", ""),
    Text("a path with dots", pointer_fault, "a.b", "'a.b' is no JSON pointer: it must begin with '/'"),
]


@each_row("case", TEXTS, ids=lambda case: case.why)
def test_text(case: Text) -> None:
    assert case.fault_of(case.text) == case.want


@each_row(
    ("word", "want"),
    [
        ("clusterName", "clusterNames"),
        ("CLUSTERNAMES", "clusterNames"),
        ("exlude", "exclude"),
        ("replicas", ""),
        ("", ""),
    ],
)
def test_the_nearest_word_is_suggested_and_none_that_is_far(word: str, want: str) -> None:
    assert nearest(word, ["clusterNames", "exclude", "labelSelector"]) == want
