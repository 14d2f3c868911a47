"""Changes that a rollback does not undo, told from the manifests before and after."""

from typing import Any

from render.model import ObjectRef
from render.rollouts.one_way import one_way_changes
from tests.tables import each_row

DEFINITION = ("apiextensions.k8s.io", "CustomResourceDefinition")


def a_definition(*versions: str) -> dict[str, Any]:
    """A definition whose first version is the one that is stored."""
    served = [{"name": name, "served": True, "storage": name == versions[0]} for name in versions]
    return {"spec": {"names": {"kind": "Backup"}, "scope": "Namespaced", "versions": served}}


def a_claim(storage: str, **spec: Any) -> dict[str, Any]:
    return {"spec": {"resources": {"requests": {"storage": storage}}, **spec}}


FIXED = "{} cannot be changed back without creating the object again"

CHANGES: tuple[tuple[str, tuple[str, str], Any, Any, list[str]], ...] = (
    ("another stored version", DEFINITION, a_definition("v1", "v2"), a_definition("v2", "v1"), [
        "objects that are stored as v2 stay so, and cannot be read where that version is not served"
    ]),
    ("a version that is only served", DEFINITION, a_definition("v1"), a_definition("v1", "v2"), []),
    ("a definition without versions", DEFINITION, {"spec": {}}, {"spec": None}, []),
    ("a Job", ("batch", "Job"), {"spec": {"template": 1}}, {"spec": {"template": 2}}, [
        "what a Job has done is not undone"
    ]),
    ("the labels of a Job", ("batch", "Job"), {"spec": {"template": 1}}, {"spec": {"template": 1}, "a": 1}, []),
    ("a claim that grows", ("", "PersistentVolumeClaim"), a_claim("900Mi"), a_claim("1Gi"), [
        "a claim that has grown stays as large"
    ]),
    ("a claim as it was", ("", "PersistentVolumeClaim"), a_claim("1Gi"), a_claim("1024Mi"), []),
    ("a claim of no size", ("", "PersistentVolumeClaim"), a_claim("1Gi"), a_claim("much"), []),
    ("a claim of another class", ("", "PersistentVolumeClaim"), a_claim("1Gi"), a_claim("1Gi", storageClassName="x"), [
        FIXED.format("spec.storageClassName")
    ]),
    ("another selector", ("apps", "Deployment"), {"spec": {"selector": 1}}, {"spec": {"selector": 2}}, [
        FIXED.format("spec.selector")
    ]),
    ("an image", ("apps", "Deployment"), {"spec": {"selector": 1, "x": 1}}, {"spec": {"selector": 1, "x": 2}}, []),
    ("another role", ("rbac.authorization.k8s.io", "RoleBinding"), {"roleRef": 1}, {"roleRef": 2}, [
        FIXED.format("roleRef")
    ]),
    ("content that becomes immutable", ("", "ConfigMap"), {"data": 1}, {"data": 2, "immutable": True}, [
        "it is immutable from then on, so that its server refuses what was before"
    ]),
    ("content that was immutable", ("", "ConfigMap"), {"immutable": True}, {"immutable": True}, []),
    ("a kind of somebody else", ("example.com", "Job"), {"spec": 1}, {"spec": 2}, []),
    ("a field of another shape", ("apps", "Deployment"), {"spec": []}, {"spec": []}, []),
)  # fmt: skip


@each_row("why, kind, before, after, reasons", CHANGES, ids=lambda row: row[0])
def test_what_does_not_go_back(why: str, kind: tuple[str, str], before: Any, after: Any, reasons: list[str]) -> None:
    ref = ObjectRef(*kind, "shop", "web")
    assert [each.reason for each in one_way_changes(ref, before, after)] == reasons, why
