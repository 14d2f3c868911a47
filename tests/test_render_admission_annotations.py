"""Annotations of resource templates that are as they should be; mistakes are in ``vectors/fleet_mistakes.yaml``."""

from render.admission.findings import Findings
from render.admission.template_annotations import check_template_annotations

from .tables import each_row

FINE = [
    ("argosy.dev/prune", "False"),
    ("argosy.dev/recreate", "true"),
    ("argosy.dev/own-fields", "spec.replicas, .metadata.labels.app.kubernetes.io/*"),
    ("argosy.dev/own-fields", '.metadata.finalizers[="example.com/hold"]\n.spec.template.spec.containers[*].image'),
    ("argosy.dev/yield-fields", '.spec.containers[name=web].ports[containerPort=80, protocol="TCP"].name'),
    ("argosy.dev/yield-fields", ".spec.containers[name='a b'],.data.*.yaml"),
    ("argosy.dev/ignore-fields", ".data"),
    ("work.karmada.io/conflict-resolution", "Overwrite"),
    ("example.com/own-fields", "/spec"),
]


@each_row(("name", "value"), FINE)
def test_an_annotation_is_fine(name: str, value: str) -> None:
    findings = Findings()
    check_template_annotations({"metadata": {"annotations": {name: value}}}, findings)
    assert (findings.problems, findings.warnings) == ([], [])
