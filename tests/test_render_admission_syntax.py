"""The syntax that Kubernetes allows in names, keys, values and pointers."""

from collections.abc import Callable
from typing import NamedTuple

from render.syntax import (
    fault_of_dns_label,
    fault_of_dns_subdomain,
    fault_of_json_pointer,
    fault_of_label_key,
    fault_of_label_value,
    quoted_text,
)
from render.words import most_similar_word

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
    Text("a plain key", fault_of_label_key, "team", ""),
    Text("a key with a prefix", fault_of_label_key, "example.com/team_1.x", ""),
    Text("the longest key", fault_of_label_key, f"{'a.' * 126}a/{X63}", ""),
    Text(
        "a longer prefix",
        fault_of_label_key,
        f"{'a.' * 126}aa/x",
        f"{quoted_text('a.' * 126 + 'aa/x')} is no label key: the part before the '/' is longer than 253 characters",
    ),
    Text("a longer name", fault_of_label_key, X64, f"'{X64}' is no label key: it is longer than 63 characters"),
    Text("no key", fault_of_label_key, "", "'' is no label key: it is empty"),
    Text("a dash at the end", fault_of_label_key, "a-", f"'a-' is no label key: {RULE}"),
    Text("a line break at the end", fault_of_label_key, "a\n", f"'a\\n' is no label key: {RULE}"),
    Text("letters beyond ASCII", fault_of_label_key, "größe", f"'größe' is no label key: {RULE}"),
    Text("digits beyond ASCII", fault_of_label_value, "٣", f"'٣' is no label value: {RULE}"),
    Text("no value", fault_of_label_value, "", ""),
    Text("the longest value", fault_of_label_value, X63, ""),
    Text("a longer value", fault_of_label_value, X64, f"'{X64}' is no label value: it is longer than 63 characters"),
    Text(
        "bytes are counted",
        fault_of_label_value,
        "ä" * 32,
        f"'{'ä' * 32}' is no label value: it is longer than 63 characters",
    ),
    Text("the longest DNS label", fault_of_dns_label, X63, ""),
    Text("a longer DNS label", fault_of_dns_label, X64, f"'{X64}' is longer than 63 characters"),
    Text("a DNS label with a dot", fault_of_dns_label, "a.b", f"'a.b' is no such name: {DNS_RULE}"),
    Text("a subdomain with a dot", fault_of_dns_subdomain, "a-1.b", ""),
    Text(
        "a subdomain with an empty part",
        fault_of_dns_subdomain,
        "a..b",
        f"'a..b' is no such name: between dots, {DNS_RULE}",
    ),
    Text("the longest subdomain", fault_of_dns_subdomain, "x" * 253, ""),
    Text("a pointer to everything", fault_of_json_pointer, "", ""),
    Text("a pointer", fault_of_json_pointer, "/a/b~1c", ""),
    Text("a path with dots", fault_of_json_pointer, "a.b", "'a.b' is no JSON pointer: it must begin with '/'"),
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
    assert most_similar_word(word, ["clusterNames", "exclude", "labelSelector"]) == want
