"""YAML texts inside a field, byte for byte as the YAML library that Karmada uses writes them."""

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from overrides.yamltext import yaml_text
from render.documents import read_documents
from tests.tables import each_row

RECORDED = json.loads((Path(__file__).parent / "vectors" / "yaml_texts.json").read_text())
"""Values, and the texts that sigs.k8s.io/yaml 1.6.0 makes of them."""


@each_row("case", RECORDED, ids=lambda case: case["why"])
def test_a_text_is_written_as_karmada_writes_it(case: dict[str, Any]) -> None:
    assert yaml_text({"v": case["value"]}) == case["text"]


def test_the_outermost_value_may_be_empty_or_a_list() -> None:
    texts: dict[str, Any] = {
        "{}\n": {},
        "[]\n": [],
        "- a: 1\n- - x\n": [{"a": 1}, ["x"]],
        "- |\n  x\n": ["x\n"],
        "null\n": None,
    }
    assert {text: yaml_text(value) for text, value in texts.items()} == {text: text for text in texts}


_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r\x85\u2028\u2029\ufeff", exclude_categories=["Cc"]))
_LINES = st.lists(_TEXT, max_size=4).map("\n".join)
_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | _LINES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
)


@given(value=st.dictionaries(_TEXT, _PLAIN, max_size=4))
def test_what_is_written_is_read_back(value: dict[str, Any]) -> None:
    documents, errors = read_documents(yaml_text(value).encode())
    assert (errors, [each.value for each in documents]) == ((), [value])
