"""Facts of clusters as a rendered commit has them: written together, each is what it would be alone."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reconciler.ledger.facts import ClusterFacts, FactsWriter

TEXTS = st.one_of(
    st.sampled_from(["apps/v1", "argosy-apis", "\n  apiEnablements: argosy-apis\n", "no", "1e3", "k" * 200, ""]),
    st.text(max_size=8),
)
LEAVES = st.one_of(TEXTS, st.booleans(), st.integers(-5, 5), st.just(1.0), st.none())
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=8
)
APIS = st.one_of(st.lists(VALUES, max_size=3), LEAVES)
STATUSES = st.fixed_dictionaries(
    {}, optional={"apiEnablements": APIS, "conditions": VALUES, "argosy": VALUES, "zone": VALUES}
)


@given(statuses=st.lists(STATUSES, min_size=1, max_size=4), name=TEXTS)
def test_facts_written_together_are_what_each_is_alone(statuses: list[dict[str, Any]], name: str) -> None:
    every = [ClusterFacts(name=name, status=status) for status in statuses]
    writer = FactsWriter()
    for _ in range(2):
        assert [writer.content_of(each) for each in every] == [each.rendered_content() for each in every]


def test_served_apis_that_clusters_have_alike_are_written_once() -> None:
    apis = [{"groupVersion": "apps/v1", "resources": [{"kind": "Deployment", "name": "deployments"}]}]
    writer = FactsWriter()
    for number in range(5):
        writer.content_of(ClusterFacts(name=f"m{number}", status={"apiEnablements": apis, "nodes": number}))
    assert len(writer.texts) == 1
