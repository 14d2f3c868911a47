"""Objects of Karmada's kinds: each kind has its field, and of two customizations of one operation one must go."""

from typing import Any

from reconciler.source.desired import KarmadaObjects
from reconciler.source.karmada_objects import FAMILIES, source_kinds
from reconciler.source.loading import load_source
from reconciler.source.reading import SourceReading
from tests.build import as_bytes
from tests.sources import source_of

SCRIPT = "function GetReplicas(desiredObj)\n  return 1, nil\nend\n"


def a_customization(name: str, *, kind: str = "Workload") -> dict[str, Any]:
    return {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": name},
        "spec": {
            "target": {"apiVersion": "example.io/v1", "kind": kind},
            "customizations": {"replicaResource": {"luaScript": SCRIPT}},
        },
    }


def problems(*customizations: dict[str, Any]) -> list[str]:
    source = source_of({"all.yaml": as_bytes(list(customizations))})
    return [str(each) for each in load_source(source.files, SourceReading(source.read)).problems]


def test_the_later_name_of_two_that_conflict_is_the_problem() -> None:
    assert problems(a_customization("b"), a_customization("a")) == [
        (
            "all.yaml:8: spec.customizations.replicaResource.luaScript: 'a' already has a script for GetReplicas of"
            " example.io/v1 Workload\n  hint: keep one of them"
        )
    ]


def test_other_kinds_do_not_conflict() -> None:
    assert problems(a_customization("a"), a_customization("b", kind="Other")) == []


def test_each_kind_that_decides_on_others_is_read_into_one_field() -> None:
    kinds = [kind for family in FAMILIES for kind in family.kinds]
    assert sorted(kinds) == sorted(source_kinds().keys() - {"Fleet", "HelmChart", "PolicyTest", "Source"})
    assert sorted(family.field for family in FAMILIES) == sorted(KarmadaObjects.__struct_fields__)
