"""The order in which kinds are applied and deleted, and the identity of a fleet's ApplySet."""

from typing import NamedTuple

from reconciler.plans.applyset import ApplySet
from reconciler.plans.stages import deletion_wave, needs_confirmation, stage_of
from render.model import ObjectRef

from .tables import each_row


class Kind(NamedTuple):
    kind: str
    group: str
    stage: int
    wave: int


KINDS = [
    Kind("Namespace", "", 0, 6),
    Kind("CustomResourceDefinition", "apiextensions.k8s.io", 1, 5),
    Kind("StorageClass", "storage.k8s.io", 2, 4),
    Kind("PriorityClass", "scheduling.k8s.io", 2, 4),
    Kind("ClusterRoleBinding", "rbac.authorization.k8s.io", 2, 4),
    Kind("ServiceAccount", "", 2, 4),
    Kind("ResourceQuota", "", 2, 4),
    Kind("ConfigMap", "", 3, 3),
    Kind("Service", "", 3, 3),
    Kind("PersistentVolumeClaim", "", 3, 3),
    Kind("Deployment", "apps", 4, 2),
    Kind("Ingress", "networking.k8s.io", 4, 2),
    Kind("PodDisruptionBudget", "policy", 4, 2),
    Kind("Prometheus", "monitoring.coreos.com", 4, 1),
    Kind("WidgetClass", "example.com", 4, 1),
    Kind("ValidatingWebhookConfiguration", "admissionregistration.k8s.io", 5, 0),
    Kind("ValidatingAdmissionPolicyBinding", "admissionregistration.k8s.io", 5, 0),
    Kind("APIService", "apiregistration.k8s.io", 5, 0),
]


@each_row("case", KINDS, ids=lambda case: case.kind)
def test_what_others_need_comes_first_and_leaves_last(case: Kind) -> None:
    ref = ObjectRef(case.group, case.kind, "", "x")
    assert (stage_of(ref), deletion_wave(ref)) == (case.stage, case.wave)


def test_kinds_that_take_others_with_them_need_confirmation() -> None:
    asked = {case.kind for case in KINDS if needs_confirmation(ObjectRef(case.group, case.kind, "", "x"))}
    assert asked == {"Namespace", "CustomResourceDefinition", "StorageClass", "PersistentVolumeClaim"}


def test_a_sets_identity_is_the_one_kubectl_computes() -> None:
    """base64url(sha256("<name>.<namespace>.<kind>.<group>")), worked out by hand with openssl."""
    assert ApplySet().id == "applyset-6BGRA9XwqLcXaKL2oARq1GQwvhTGH2FarZWEQYLVZh8-v1"


def test_fleets_that_share_a_cluster_have_a_set_each() -> None:
    one, other = ApplySet.of_fleet("edge", "3f9c2d1a0b4c5d6e"), ApplySet.of_fleet("edge", "81be07a4c9d2e1f0")
    assert (one.name, one.manager) == ("argosy-edge-3f9c2d1a0b4c", "argosy-edge-3f9c2d1a0b4c")
    assert len({one.id, other.id, ApplySet.of_fleet("default", "3f9c2d1a0b4c5d6e").id, ApplySet().id}) == 4


def test_a_parent_says_what_its_set_contains_and_which_member_and_commit_it_is_of() -> None:
    refs = (ObjectRef("apps", "Deployment", "shop", "web"), ObjectRef("", "ConfigMap", "argosy-system", "x"))
    made = ApplySet(name="argosy", member="eu", commit="c0ffee").set_with_kinds_of(
        (*refs, ObjectRef("apps", "Deployment", "blog", "web"))
    )
    assert made.manifest("1.2.3") == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "argosy",
            "namespace": "argosy-system",
            "labels": {"applyset.kubernetes.io/id": "applyset-6BGRA9XwqLcXaKL2oARq1GQwvhTGH2FarZWEQYLVZh8-v1"},
            "annotations": {
                "applyset.kubernetes.io/tooling": "argosy/1.2.3",
                "applyset.kubernetes.io/contains-group-kinds": "ConfigMap,Deployment.apps",
                "applyset.kubernetes.io/additional-namespaces": "blog,shop",
                "argosy.dev/member": "eu",
                "argosy.dev/rendered": "c0ffee",
            },
        },
    }
