"""The names of clusters that come from contexts: those of clouds, of installers, and of people."""

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from reconciler.edit.context_names import LONGEST, contexts_by_cluster_name
from render.syntax import fault_of_dns_label

from .tables import each_row

EKS = "arn:aws:eks:{}:{}:cluster/{}"


class Named(NamedTuple):
    why: str
    contexts: tuple[str, ...]
    names: tuple[str, ...]


NAMES = [
    Named("EKS", (EKS.format("eu-west-1", "123456789012", "shop"),), ("shop",)),
    Named("EKS of China", ("arn:aws-cn:eks:cn-north-1:123456789012:cluster/shop",), ("shop",)),
    Named(
        "EKS, one name in two regions",
        tuple(EKS.format(region, "123456789012", "shop") for region in ("eu-west-1", "us-east-1")),
        ("eu-west-1-shop", "us-east-1-shop"),
    ),
    Named(
        "EKS, one name in two accounts",
        tuple(EKS.format("eu-west-1", account, "shop") for account in ("123456789012", "210987654321")),
        ("eu-west-1-shop", "eu-west-1-shop-2"),
    ),
    Named("eksctl", ("jane@shop.eu-west-1.eksctl.io",), ("shop",)),
    Named("GKE", ("gke_acme-prod_europe-west1-b_shop",), ("shop",)),
    Named(
        "GKE, one name in two projects",
        ("gke_acme_europe-west1_shop", "gke_acme-test_europe-west1_shop"),
        ("acme-europe-west1-shop", "acme-test-europe-west1-shop"),
    ),
    Named("GKE through Connect", ("connectgateway_123456789012_global_shop",), ("shop",)),
    Named(
        "GKE, projects by number",
        ("connectgateway_123456789012_global_shop", "connectgateway_210987654321_global_shop"),
        ("global-shop", "global-shop-2"),
    ),
    Named("AKS", ("shop-eu-admin",), ("shop-eu-admin",)),
    Named("OpenShift", ("web/api-shop-example-com:6443/kube:admin",), ("shop-example-com",)),
    Named("OpenShift by a host", ("web/api.shop.example.com:6443/jane",), ("shop-example-com",)),
    Named("kind and k3d", ("kind-eu", "k3d-eu"), ("kind-eu", "k3d-eu")),
    Named("kubeadm", ("kubernetes-admin@shop",), ("kubernetes-admin-shop",)),
    Named("a user and a cluster", ("admin@Prod.US",), ("admin-prod-us",)),
    Named("Rancher", ("shop", "shop-node1.example.com"), ("shop", "shop-node1-example-com")),
    Named("DigitalOcean", ("do-fra1-shop",), ("do-fra1-shop",)),
    Named("Tencent", ("cls-1a2b3c4d-100012345678-context-default",), ("cls-1a2b3c4d-context-default",)),
    Named("a subscription", ("00000000-1111-2222-3333-444444444444_shop",), ("shop",)),
    Named("an account before it", ("123456789012_shop", "123456789012-shop"), ("shop", "shop-2")),
    Named("an account alone", ("123456789012",), ("cluster",)),
    Named("a number that is no account", ("shop-2026", "k8s-1-30"), ("shop-2026", "k8s-1-30")),
    Named(
        "a long one keeps its end", ("the-" * 15 + "europe-west-production",), ("the-" * 6 + "europe-west-production",)
    ),
    Named("one long word", ("a" * 70 + "z",), ("a" * 47 + "z",)),
    Named("two long ones", ("x" + "a" * 60, "y" + "a" * 60), ("a" * 48, "a" * 46 + "-2")),
    Named("two that differ in what no name has", ("a.b", "a-b", "A_B", "@"), ("a-b", "a-b-2", "a-b-3", "cluster")),
    Named("one that is called like the second of another", ("a", "A", "a-2"), ("a", "a-2", "a-2-2")),
]


@each_row("case", NAMES, ids=lambda case: case.why)
def test_clusters_are_called_by_the_end_of_their_contexts(case: Named) -> None:
    assert tuple(contexts_by_cluster_name(case.contexts)) == case.names


def test_names_that_others_have_are_not_given_again() -> None:
    assert contexts_by_cluster_name(["eu", "us"], {"eu", "eu-2"}) == {"eu-3": "eu", "us": "us"}


PART = st.text(alphabet="ab1-_.:/@Zä", min_size=1, max_size=40)
CONTEXT = st.one_of(
    PART,
    st.builds(EKS.format, PART, st.just("123456789012"), PART),
    st.builds("gke_{}_{}_{}".format, PART, PART, PART),
    st.builds("{}_123456789012_{}".format, PART, PART),
)


@given(st.lists(CONTEXT, max_size=8, unique=True))
def test_every_context_has_a_name_of_its_own_without_an_account(contexts: list[str]) -> None:
    named = contexts_by_cluster_name(contexts)
    assert sorted(named.values()) == sorted(contexts)
    for name in named:
        assert not fault_of_dns_label(name), name
        assert len(name) <= LONGEST
        assert "123456789012" not in name.split("-"), name
