"""Manifests that earlier runs checked: a load that knows of them says what one says that knows nothing."""

import marshal
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from reconciler.source import karmada_objects, templates
from reconciler.source.loading import Loaded, load_source
from reconciler.source.reading import Caches, SourceReading
from tests.broken_repositories import BROKEN, Broken
from tests.build import a_cluster, a_config_map, a_policy, as_bytes, on_clusters
from tests.sources import Content, source_of
from tests.tables import each_row

EXAMPLES = Path(__file__).parent.parent / "examples"


class Checked:
    """Results as the cache keeps them: plain data, made anew whenever it is asked for."""

    def __init__(self) -> None:
        self.values: dict[bytes, bytes] = {}

    def get_many(self, keys: Iterable[bytes]) -> Mapping[bytes, Any]:
        return {key: marshal.loads(self.values[key]) for key in keys if key in self.values}

    def put_many(self, values: Mapping[bytes, Any]) -> None:
        self.values.update({key: marshal.dumps(value) for key, value in values.items()})


def load(files: Mapping[str, Content], checked: Checked) -> Loaded:
    source = source_of(files)
    return load_source(source.files, SourceReading(source.read, caches=Caches(checked=checked)))


def assert_same_cold_and_warm(files: Mapping[str, Content]) -> Checked:
    """Load files with nothing known, with what that found, and with nothing again; return what is known then."""
    checked = Checked()
    cold, warm, anew = load(files, checked), load(files, checked), load(files, Checked())
    assert cold == warm == anew
    assert [str(each) for each in warm.warnings] == [str(each) for each in cold.warnings]
    assert emitted(warm) == emitted(cold)
    return checked


def emitted(loaded: Loaded) -> list[str]:
    """Return the values of a source as texts, in which the order of fields counts."""
    return [repr(each) for each in (loaded.desired.policies, loaded.desired.override_policies, loaded.desired.clusters)]


@each_row("case", BROKEN)
def test_what_is_wrong_is_said_each_time(case: Broken) -> None:
    assert_same_cold_and_warm(case.files)


@pytest.mark.parametrize("folder", sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir()))
def test_examples_are_loaded_alike(folder: str) -> None:
    files = {
        str(path.relative_to(EXAMPLES / folder)): path.read_bytes()
        for path in sorted((EXAMPLES / folder).rglob("*"))
        if path.is_file() and "rendered" not in path.parts
    }
    assert_same_cold_and_warm(files)


A_FLEET: dict[str, dict[str, Any]] = {
    "cluster.yaml": a_cluster("member1"),
    "policy.yaml": a_policy(selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}], placement=on_clusters("member1")),
    "web.yaml": a_config_map("web", a="1"),
}


def test_what_is_right_is_not_checked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {path: as_bytes([document]) for path, document in A_FLEET.items()}
    checked = assert_same_cold_and_warm(files)
    assert len(checked.values) == len(files)
    loaded = load(files, checked)
    monkeypatch.setattr(templates, "check_identity", lambda *_: pytest.fail("a template is checked again"))
    monkeypatch.setattr(karmada_objects, "admit_as_kind", lambda *_, **__: pytest.fail("an object is admitted again"))
    assert load(files, checked) == loaded


def test_a_default_namespace_that_changed_counts() -> None:
    files = {path: as_bytes([document]) for path, document in A_FLEET.items()}
    policy = {**A_FLEET["policy.yaml"], "metadata": {"name": "p"}}
    files["policy.yaml"] = as_bytes([policy])
    checked = assert_same_cold_and_warm(files)
    settings = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": {"defaultNamespace": "team"}}
    files["argosy.yaml"] = as_bytes([settings])
    found = load(files, checked)
    assert found == load(files, Checked())
    assert [each.namespace for each in found.desired.policies] == ["team"]


def test_what_is_secret_is_not_kept() -> None:
    secret = {"name": "PASSWORD", "value": "hunter2"}
    overriders = {"plaintext": [{"path": "/spec/env/0", "operator": "add", "value": secret}]}
    override = {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "ClusterOverridePolicy",
        "metadata": {"name": "o"},
        "spec": {"overrideRules": [{"overriders": overriders}]},
    }
    files = {"cluster.yaml": as_bytes([a_cluster("member1")]), "override.yaml": as_bytes([override])}
    checked = assert_same_cold_and_warm(files)
    assert len(load(files, checked).desired.override_policies) == 1
    assert b"hunter2" not in b"".join(checked.values.values())


def test_what_is_known_in_another_shape_is_taken_for_nothing() -> None:
    files = {path: as_bytes([document]) for path, document in A_FLEET.items()}
    checked = Checked()
    cold = load(files, checked)
    checked.values = dict.fromkeys(checked.values, marshal.dumps([1]))
    assert load(files, checked) == cold
