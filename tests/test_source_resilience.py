"""ResiliencePolicies in a source: what is refused where, what is read, and what they name."""

from typing import Any

from reconciler.source.loading import Loaded, load_source
from reconciler.source.reading import SourceReading
from render.limits import Limit
from render.placement import SpreadField
from render.resilience.losses import Loss, clusters_lost_together, losses_of_fleet
from render.resilience.policy import CountingTime, SurvivedLoss
from render.resilience.selection import ResilienceIndex
from tests.build import a_cluster, a_deployment, as_bytes
from tests.sources import source_of
from tests.tables import each_row

DEPLOYMENTS = {"apiVersion": "apps/v1", "kind": "Deployment"}
ANY_CLUSTER = {"loss": "cluster"}


def a_resilience(
    *survive: dict[str, Any], name: str = "web", namespace: str = "shop", selector: Any = None, **spec: Any
) -> dict[str, Any]:
    return {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "ResiliencePolicy" if namespace else "ClusterResiliencePolicy",
        "metadata": {"name": name, **({"namespace": namespace} if namespace else {})},
        "spec": {"resourceSelectors": [selector or DEPLOYMENTS], "survive": list(survive or (ANY_CLUSTER,)), **spec},
    }


def loaded(*documents: Any) -> Loaded:
    source = source_of({"all.yaml": as_bytes(list(documents))})
    return load_source(source.files, SourceReading(source.read))


PROBLEMS: tuple[tuple[str, dict[str, Any], list[str]], ...] = (
    ("any cluster", a_resilience(), []),
    ("every field", a_resilience(
        {"loss": "region", "count": 2, "minReplicas": "80%", "minCopies": 2, "when": "AtOnce"},
        {"loss": "zone", "minReplicas": 3}, {"loss": "provider", "minCopies": "50%"},
    ), []),
    ("one loss, counted at both times", a_resilience(ANY_CLUSTER, {**ANY_CLUSTER, "when": "AtOnce"}), []),
    ("one loss, of one and of two", a_resilience(ANY_CLUSTER, {**ANY_CLUSTER, "count": 2}), []),
    ("one loss twice", a_resilience(ANY_CLUSTER, {**ANY_CLUSTER, "count": 1, "minCopies": 2}), [
        "all.yaml:13: spec.survive[1].loss: another entry is about the same loss\n  hint: keep one of them"
    ]),
    ("the loss of a planet", a_resilience({"loss": "planet"}), [
        ("all.yaml:11: spec.survive[0].loss: unknown value 'planet'\n"
         "  hint: write 'cluster', 'region', 'zone' or 'provider'")
    ]),
    ("a loss of nothing that is named", a_resilience({"count": 1}), [
        ("all.yaml:11: spec.survive[0].loss: required, but missing\n"
         "  hint: write 'cluster', 'region', 'zone' or 'provider'")
    ]),
    ("three at once", a_resilience({**ANY_CLUSTER, "count": 3}), [
        "all.yaml:11: spec.survive[0].count: must be at most 2, not 3"
    ]),
    ("none at once", a_resilience({**ANY_CLUSTER, "count": 0}), [
        "all.yaml:11: spec.survive[0].count: must be at least 1, not 0"
    ]),
    ("more than there is", a_resilience({**ANY_CLUSTER, "minReplicas": "101%"}), [
        "all.yaml:12: spec.survive[0].minReplicas: must be at most 100%, not 101%"
    ]),
    ("nothing left", a_resilience({**ANY_CLUSTER, "minCopies": 0}), [
        "all.yaml:12: spec.survive[0].minCopies: must be between 1 and 2147483647, not 0"
    ]),
    ("a share in words", a_resilience({**ANY_CLUSTER, "minReplicas": "most"}), [
        ("all.yaml:12: spec.survive[0].minReplicas: must be a number or a percentage\n"
         "  hint: write it as 3 or '25%'")
    ]),
    ("a time that nobody knows", a_resilience({**ANY_CLUSTER, "when": "Later"}), [
        "all.yaml:12: spec.survive[0].when: unknown value 'Later'\n  hint: write 'Rescheduled' or 'AtOnce'"
    ]),
    ("what nobody judges is no field", a_resilience({**ANY_CLUSTER, "within": "5m"}), [
        ("all.yaml:12: spec.survive[0].within: unknown field\n"
         "  hint: known here: count, loss, minCopies, minReplicas, when")
    ]),
    ("objects of another namespace", a_resilience(selector={**DEPLOYMENTS, "namespace": "team"}), [
        ("all.yaml:10: spec.resourceSelectors[0].namespace: 'team' is not the policy's own namespace, 'shop'\n"
         "  hint: leave it out, or use the cluster-scoped kind of policy")
    ]),
)  # fmt: skip


@each_row("why, policy, problems", PROBLEMS)
def test_a_policy_that_asks_for_nothing_sensible_is_refused(
    why: str, policy: dict[str, Any], problems: list[str]
) -> None:
    assert [str(each) for each in loaded(policy).problems] == problems, why


def test_nothing_to_survive_is_refused() -> None:
    policy = a_resilience()
    policy["spec"]["survive"] = []
    assert [each.field for each in loaded(policy).problems] == ["spec.survive"]


def test_a_policy_is_read_with_its_defaults() -> None:
    (policy,) = loaded(a_resilience(ANY_CLUSTER, {"loss": "region", "minReplicas": "80%"})).desired.resilience_policies
    assert str(policy) == "ResiliencePolicy shop/web"
    assert policy.survive == (
        SurvivedLoss(
            field=SpreadField.CLUSTER,
            count=1,
            min_replicas=Limit(100, is_percentage=True),
            min_copies=Limit(1),
            when=CountingTime.RESCHEDULED,
        ),
        SurvivedLoss(field=SpreadField.REGION, min_replicas=Limit(80, is_percentage=True)),
    )


def test_every_policy_that_selects_an_object_counts() -> None:
    documents = (
        a_resilience(name="a"),
        a_resilience(name="b", selector={**DEPLOYMENTS, "name": "web"}),
        a_resilience(name="c", selector={**DEPLOYMENTS, "name": "other"}),
        a_resilience(name="all", namespace=""),
    )
    desired = loaded(*documents, a_deployment("web", namespace="shop"), a_deployment("web", namespace="team")).desired
    index = ResilienceIndex(desired.resilience_policies)
    named = {each.ref.namespace: list(map(str, index.policies_for_template(each))) for each in desired.templates}
    assert named["shop"] == ["ClusterResiliencePolicy all", "ResiliencePolicy shop/a", "ResiliencePolicy shop/b"]
    assert named["team"] == ["ClusterResiliencePolicy all"]


def test_a_policy_is_no_template() -> None:
    assert [each.ref.kind for each in loaded(a_resilience(), a_deployment()).desired.templates] == ["Deployment"]


def test_a_slip_in_the_kind_is_a_problem() -> None:
    policy = {**a_resilience(), "kind": "ResiliencyPolicy"}
    (problem,) = loaded(policy).problems
    assert problem.hint == "did you mean 'ResiliencePolicy'?"


def test_clusters_go_with_their_places() -> None:
    documents = (
        a_cluster("a", region="eu", zones=["eu-1", "eu-2"], provider="north"),
        a_cluster("b", region="eu", zones=["eu-2"]),
        a_cluster("c"),
    )
    clusters = loaded(*documents).desired.clusters
    assert {field: dict(clusters_lost_together(clusters, field)) for field in SpreadField} == {
        SpreadField.CLUSTER: {"a": {"a"}, "b": {"b"}, "c": {"c"}},
        SpreadField.REGION: {"eu": {"a", "b"}},
        SpreadField.ZONE: {"eu-1": {"a"}, "eu-2": {"a", "b"}},
        SpreadField.PROVIDER: {"north": {"a"}},
    }


def test_two_places_are_lost_together_or_all_there_are() -> None:
    together = {"x": frozenset({"a"}), "y": frozenset({"b"}), "z": frozenset({"c"})}
    found = losses_of_fleet(together, SpreadField.ZONE, 2)
    assert [(str(each), set(each.clusters)) for each in found] == [
        ("zones x and y", {"a", "b"}),
        ("zones x and z", {"a", "c"}),
        ("zones y and z", {"b", "c"}),
    ]
    only = losses_of_fleet({"x": frozenset({"a"})}, SpreadField.ZONE, 2)
    assert list(only) == [Loss(field=SpreadField.ZONE, names=("x",), clusters=frozenset({"a"}))]
    assert list(losses_of_fleet({}, SpreadField.ZONE, 2)) == []
