"""The example of overrides: a registry for each region, a feature flag for each environment, and nothing to warn of."""

from pathlib import Path
from typing import Any

from overrides.engine import OverrideEngine
from overrides.lint import lint_overrides
from overrides.parsing import parse_override_policy
from render.bits import indexes_of_mask
from render.documents import parse_documents
from render.model import ObjectRef, Template
from render.parsing.clusters import parse_cluster

EXAMPLE = Path(__file__).parent.parent / "examples" / "overrides"
SOURCES = sorted(path for folder in ("apps", "clusters", "policies") for path in (EXAMPLE / folder).glob("*.yaml"))
DOCUMENTS = [document.value for path in SOURCES for document in parse_documents(path.read_bytes())]
POLICIES = [parse_override_policy(document) for document in DOCUMENTS if document["kind"].endswith("OverridePolicy")]
CLUSTERS = sorted((parse_cluster(each) for each in DOCUMENTS if each["kind"] == "Cluster"), key=lambda each: each.name)
TEMPLATES = {document["kind"]: document for document in DOCUMENTS if document["kind"] in {"Deployment", "ConfigMap"}}


def by_cluster(kind: str) -> dict[str, Any]:
    engine = OverrideEngine(POLICIES, CLUSTERS)
    return {
        CLUSTERS[index].name: overridden.manifest
        for overridden in engine.override(TEMPLATES[kind], (1 << len(CLUSTERS)) - 1)
        for index in indexes_of_mask(overridden.clusters)
    }


def test_every_region_has_its_registry_and_staging_its_own_server() -> None:
    def told(manifest: dict[str, Any]) -> tuple[str, list[str], int]:
        (container,) = manifest["spec"]["template"]["spec"]["containers"]
        return container["image"], container["args"], manifest["spec"]["replicas"]

    flags = "--flags=/etc/shop/flags.yaml"
    assert {name: told(manifest) for name, manifest in by_cluster("Deployment").items()} == {
        "dublin": ("registry.eu.example.com/shop/web:1.4.2", [flags, "--log-level=debug"], 1),
        "oregon": ("registry.us.example.com/shop/web:1.4.2", [flags], 2),
        "paris": ("registry.eu.example.com/shop/web:1.4.2", [flags], 2),
    }


def test_every_environment_has_its_flags() -> None:
    off = {"flags.yaml": "features:\n  gift-cards: true\n  new-checkout: false\n"}
    on = {"flags.yaml": "features:\n  gift-cards: true\n  new-checkout: true\n"}
    assert {name: manifest["data"] for name, manifest in by_cluster("ConfigMap").items()} == {
        "dublin": on,
        "oregon": off,
        "paris": off,
    }


def test_lint_has_nothing_to_say() -> None:
    templates = [Template(ref=ObjectRef.of(manifest), manifest=manifest) for manifest in TEMPLATES.values()]
    assert lint_overrides(POLICIES, templates, CLUSTERS) == ()
