"""Dependencies by name and by labels: what follows a workload to its clusters."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reconciler.pipeline.dependencies import followers_of_bindings
from render.binding import Binding
from render.bits import indexes_of_mask
from render.cluster_index import LabelIndex
from render.interpretation.operations import Interpretation
from render.interpreter import Interpreter
from render.model import ObjectRef, TargetCluster, Template
from render.resources import DependentObject
from render.selectors import matches_labels
from tests.test_render_matching_selector_index import KEYS, VALUES, label_selectors

OWNER = ObjectRef("", "Pod", "shop", "web")
labels = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES))


def a_template(ref: ObjectRef, **own: str) -> Template:
    metadata = {"name": ref.name, "namespace": ref.namespace, "labels": own}
    return Template(ref=ref, manifest={"apiVersion": "v1", "kind": ref.kind, "metadata": metadata})


def followers(**dependency: Any) -> list[str]:
    """The names of the ConfigMaps that follow the workload, of those with each of some labels."""
    wanted = DependentObject(api_version="v1", kind="ConfigMap", namespace="shop", **dependency)
    asked = Interpreter(customized={("v1", "Pod"): Interpretation(dependencies=lambda _pod: [wanted])})
    refs = {name: ObjectRef("", "ConfigMap", "shop", name) for name in ("a", "b", "c")}
    elsewhere = ObjectRef("", "ConfigMap", "other", "a")
    made = [a_template(OWNER), a_template(refs["a"], app="x"), a_template(refs["b"], app="y"), a_template(refs["c"])]
    template_by_ref = {each.ref: each for each in [*made, a_template(elsewhere, app="x")]}
    owner = Binding(ref=OWNER, api_version="v1", propagate_deps=True, targets=(TargetCluster("m"),))
    return [ref.name for ref in followers_of_bindings([owner], template_by_ref, asked).snapshots]


def test_a_dependency_is_found_by_its_name() -> None:
    assert followers(name="b") == ["b"]
    assert followers(name="z") == []


def test_dependencies_are_found_by_their_labels() -> None:
    assert followers(label_selector={"matchLabels": {"app": "x"}}) == ["a"]
    expression = {"key": "app", "operator": "NotIn", "values": ["x"]}
    assert sorted(followers(label_selector={"matchExpressions": [expression]})) == ["b", "c"]
    assert sorted(followers(label_selector={})) == ["a", "b", "c"]
    assert followers(label_selector=None) == []


@given(selector=label_selectors, things=st.lists(labels, max_size=80))
def test_an_index_finds_what_each_one_is_found_by(selector: Any, things: list[dict[str, str]]) -> None:
    found = indexes_of_mask(LabelIndex(things).indexes_with_labels(selector))
    assert found == [place for place, own in enumerate(things) if matches_labels(selector, own)]
