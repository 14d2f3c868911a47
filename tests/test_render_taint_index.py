"""Clusters that tolerate all taints, found at once: the same as each taint tried with each toleration."""

from hypothesis import given
from hypothesis import strategies as st

from render.bits import indexes_of_mask
from render.cluster import Taint, first_untolerated_taint
from render.placement import Toleration
from render.taint_index import TaintIndex

KEYS, VALUES, EFFECTS = ("a", "b", "c"), ("", "x", "y"), ("NoSchedule", "NoExecute", "PreferNoSchedule")
taints = st.builds(Taint, key=st.sampled_from(KEYS), value=st.sampled_from(VALUES), effect=st.sampled_from(EFFECTS))
tolerations = st.builds(
    Toleration,
    key=st.sampled_from(("", *KEYS)),
    operator=st.sampled_from(("", "Equal", "Exists", "Lt")),
    value=st.sampled_from(VALUES),
    effect=st.sampled_from(("", *EFFECTS)),
)
effects = st.frozensets(st.sampled_from(EFFECTS))


@given(
    clusters=st.lists(st.lists(taints, max_size=4), max_size=40), own=st.lists(tolerations, max_size=5), asked=effects
)
def test_clusters_tolerate_what_each_tolerates(
    clusters: list[list[Taint]], own: list[Toleration], asked: frozenset[str]
) -> None:
    found = indexes_of_mask(TaintIndex(clusters).clusters_tolerated_by(own, asked))
    assert found == [
        place for place, each in enumerate(clusters) if first_untolerated_taint(each, own, effects=asked) is None
    ]
