"""Selectors found by the templates they select: the same as each tried with each, however many there are."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from render.matching.selector_index import Met, SelectorIndex
from render.model import ObjectRef, Template
from render.selectors import LabelSelector, Requirement, ResourceSelector, implicit_priority_for_template

KEYS, VALUES, NAMES, NAMESPACES = "abc", ("x", "y", "z", ""), ("web", "api", "x"), ("shop", "d", "")
requirements = st.builds(
    Requirement,
    key=st.sampled_from(KEYS),
    operator=st.sampled_from(("In", "In", "NotIn", "NotIn", "Exists", "DoesNotExist", "Gt")),
    values=st.lists(st.sampled_from(VALUES), max_size=3).map(tuple),
)
label_selectors = st.builds(
    LabelSelector,
    match_labels=st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(VALUES)), max_size=2).map(tuple),
    match_expressions=st.lists(requirements, max_size=3).map(tuple),
)
selectors = st.builds(
    ResourceSelector,
    api_version=st.sampled_from(("v1", "v1", "v2")),
    kind=st.just("K"),
    namespace=st.sampled_from(("", "", *NAMESPACES)),
    name=st.sampled_from(("", "", "", *NAMES)),
    label_selector=st.none() | label_selectors,
)
entries = st.lists(st.tuples(st.sampled_from(NAMESPACES), selectors), max_size=60)


def a_template(name: str, namespace: str, labels: dict[str, str]) -> Template:
    ref = ObjectRef("", "K", namespace, name)
    metadata: dict[str, Any] = {"name": name, "labels": labels}
    return Template(ref=ref, manifest={"apiVersion": "v1", "kind": "K", "metadata": metadata})


templates = st.builds(
    a_template,
    st.sampled_from(NAMES),
    st.sampled_from(NAMESPACES),
    st.dictionaries(st.sampled_from((*KEYS, "metadata.name")), st.sampled_from((*VALUES, *NAMES))),
)


@given(given=entries, template=templates)
def test_a_template_meets_what_selects_it(given: list[tuple[str, ResourceSelector]], template: Template) -> None:
    index = SelectorIndex((namespace, selector, place) for place, (namespace, selector) in enumerate(given))
    met = index.selecting_entries_by_bucket(template)
    wanted = [
        place
        for place, (namespace, selector) in enumerate(given)
        if namespace in {"", template.ref.namespace} and implicit_priority_for_template(selector, template)
    ]
    assert sorted(entry.owner for each in met for entry in each.all_entries()) == wanted
    for each in met:
        first = each.first_entry()
        assert first is not None
        assert first.owner == min(entry.owner for entry in each.all_entries())
        assert Met(each.bucket, 0).first_entry() is None
