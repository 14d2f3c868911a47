"""Admitted override policies become values, field by field."""

from overrides.overriders.command_args import ARGS_OVERRIDER, COMMAND_OVERRIDER, CommandArgsOverrider
from overrides.overriders.field import FIELD_OVERRIDER, FieldOverrider
from overrides.overriders.image import IMAGE_OVERRIDER, ImageOverrider
from overrides.overriders.labels import ANNOTATIONS_OVERRIDER, LABELS_OVERRIDER, LabelAnnotationOverrider
from overrides.overriders.plaintext import PLAINTEXT, PlaintextOverrider
from overrides.parsing import parse_override_policy
from overrides.policy import OverridePolicy, OverriderList, Overriders, RuleWithCluster
from render.selectors import ClusterAffinity, ResourceSelector


def test_every_field_of_an_override_policy_is_read() -> None:
    manifest = {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy",
        "metadata": {"name": "eu", "namespace": "shop"},
        "spec": {
            "resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop"}],
            "overrideRules": [
                {"overriders": {}},
                {
                    "targetCluster": {"clusterNames": ["eu-1"]},
                    "overriders": {
                        "plaintext": [
                            {"path": "/a", "operator": "add", "value": None},
                            {"path": "/b", "operator": "replace", "value": False},
                        ],
                        "imageOverrider": [
                            {"component": "Tag", "operator": "remove"},
                            {"component": "Tag", "operator": "add", "value": "-eu", "predicate": {"path": "/spec/i"}},
                        ],
                        "commandOverrider": [{"containerName": "web", "operator": "add", "value": ["-v"]}],
                        "argsOverrider": [{"containerName": "web", "operator": "remove"}],
                        "labelsOverrider": [{"operator": "add", "value": {"region": "eu"}}],
                        "annotationsOverrider": [{"operator": "remove", "value": {"note": ""}}],
                        "fieldOverrider": [
                            {"fieldPath": "/data/x", "json": [{"subPath": "/y", "operator": "remove"}]},
                            {"fieldPath": "/data/z", "yaml": [{"subPath": "/y", "operator": "add", "value": [1]}]},
                        ],
                    },
                },
            ],
        },
    }
    assert parse_override_policy(manifest, path="overrides/eu.yaml", document=1) == OverridePolicy(
        name="eu",
        namespace="shop",
        resource_selectors=(ResourceSelector(api_version="apps/v1", kind="Deployment", namespace="shop"),),
        rules=(
            RuleWithCluster(overriders=Overriders(), path="spec.overrideRules[0]"),
            RuleWithCluster(
                overriders=Overriders(
                    (
                        OverriderList(
                            IMAGE_OVERRIDER,
                            (
                                ImageOverrider(component="Tag", operator="remove"),
                                ImageOverrider(component="Tag", operator="add", value="-eu", predicate="/spec/i"),
                            ),
                        ),
                        OverriderList(
                            COMMAND_OVERRIDER,
                            (CommandArgsOverrider(container_name="web", operator="add", value=("-v",)),),
                        ),
                        OverriderList(ARGS_OVERRIDER, (CommandArgsOverrider(container_name="web", operator="remove"),)),
                        OverriderList(
                            LABELS_OVERRIDER, (LabelAnnotationOverrider(operator="add", value={"region": "eu"}),)
                        ),
                        OverriderList(
                            ANNOTATIONS_OVERRIDER, (LabelAnnotationOverrider(operator="remove", value={"note": ""}),)
                        ),
                        OverriderList(
                            FIELD_OVERRIDER,
                            (
                                FieldOverrider(
                                    field_path="/data/x", json=(PlaintextOverrider(path="/y", operator="remove"),)
                                ),
                                FieldOverrider(
                                    field_path="/data/z",
                                    yaml=(PlaintextOverrider(path="/y", operator="add", value=[1]),),
                                ),
                            ),
                        ),
                        OverriderList(
                            PLAINTEXT,
                            (
                                PlaintextOverrider(path="/a", operator="add"),
                                PlaintextOverrider(path="/b", operator="replace", value=False),
                            ),
                        ),
                    )
                ),
                target_cluster=ClusterAffinity(cluster_names=("eu-1",)),
                path="spec.overrideRules[1]",
            ),
        ),
        path="overrides/eu.yaml",
        document=1,
    )


def test_the_deprecated_form_is_one_rule() -> None:
    manifest = {
        "kind": "ClusterOverridePolicy",
        "metadata": {"name": "all"},
        "spec": {
            "targetCluster": {"exclude": ["eu-1"]},
            "overriders": {"labelsOverrider": [{"operator": "add", "value": {"a": "b"}}]},
        },
    }
    assert parse_override_policy(manifest) == OverridePolicy(
        name="all",
        rules=(
            RuleWithCluster(
                overriders=Overriders(
                    (OverriderList(LABELS_OVERRIDER, (LabelAnnotationOverrider(operator="add", value={"a": "b"}),)),)
                ),
                target_cluster=ClusterAffinity(exclude=("eu-1",)),
                path="spec",
            ),
        ),
    )
