"""Emitting manifests together gives the bytes that emitting each alone gives."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from render.documents import Hole, emit_together

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.text(max_size=12), st.just(Hole("replicas")))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=3)),
    max_leaves=12,
)
MANIFESTS = st.dictionaries(st.sampled_from(["apiVersion", "kind", "metadata", "spec", "a"]), VALUES, min_size=1)


@given(MANIFESTS, VALUES)
def test_manifests_that_share_parts_are_emitted_as_if_alone(manifest: dict[str, Any], shared: Any) -> None:
    several = [
        {**manifest, "spec": shared},
        {**manifest, "spec": [shared, {"deeper": shared}]},
        {**manifest, "metadata": {"name": "x", "annotations": shared}, "z": shared},
    ]
    assert emit_together(several) == [emit_together([each])[0] for each in several]
