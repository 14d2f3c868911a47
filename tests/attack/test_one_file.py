"""One file or record never ends a pass in a bug, never makes it hang, and never takes objects away."""

import json
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from reconciler.check import validation
from reconciler.locked import fetching
from reconciler.locked.lock_file import check_fetchable, parse_lock
from reconciler.locked.model import UnavailableSource
from reconciler.pipeline import claims, decisions, rounds, template_works
from reconciler.source import karmada_objects, loading, manifests, templates
from reconciler.source.schemas import checks as schema_checks
from render.binding import Binding
from render.model import Template
from tests.build import Repository, a_cluster, a_config_map, a_policy, argosy, on_clusters

SECONDS = 10.0
AUTOSCALING = "autoscaling.karmada.io/v1alpha1"


def a_schedule(text: str) -> dict[str, Any]:
    return {
        "apiVersion": AUTOSCALING,
        "kind": "CronFederatedHPA",
        "metadata": {"name": "c", "namespace": "default"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "rules": [{"name": "r", "schedule": text, "targetReplicas": 1}],
        },
    }


def a_chain(length: int) -> dict[str, str]:
    """Kustomizations that build upon each other, one after another."""
    files = {f"k{number}/kustomization.yaml": f"resources: [../k{number - 1}]\n" for number in range(1, length)}
    first = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
    return {"k0/kustomization.yaml": "resources: [a.yaml]\n", "k0/a.yaml": first, **files}


SCHEDULES = {
    "ones without an end": f"@every {'1' * 50_000}!",
    "ones with a unit": f"@every {'1' * 900}s",
    "a zone and a zone": "TZ=a " * 190 + "* * * * *",
    "more zones than a stack is deep": "TZ=a " * 990 + "* * * * *",
    "more digits than a float has": f"@every {'9' * 400}h",
    "a number of more digits than Python reads": f"{'1' * 4_400} * * * *",
    "a step of digits": f"*/{'1' * 900} * * * *",
    "a million minutes": "1," * 500_000 + "1 * * * *",
    "digits of another alphabet": "@every \u0661s",
}


@pytest.mark.parametrize("why", SCHEDULES)
def test_a_schedule_is_a_problem_with_its_place(
    why: str, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({"cron.yaml": a_schedule(SCHEDULES[why])})
    begun = time.process_time()
    ended = argosy(repository, capsys, "validate")
    assert time.process_time() - begun < SECONDS
    assert ended.code == 3
    assert ended.out.startswith("cron.yaml:")
    assert "spec.rules[0].schedule" in ended.out
    assert "bug" not in ended.out + ended.err
    assert len(ended.out) < 2_000


def test_many_kustomizations_that_build_upon_each_other_are_built_or_a_problem(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit(a_chain(1_000))
    ended = argosy(repository, capsys, "validate")
    assert ended.code in {0, 3}
    assert "bug" not in ended.out + ended.err


Fails = Callable[[Any], bool]


def failing(real: Callable[..., Any], is_meant: Fails) -> Callable[..., Any]:
    """A function that fails as nobody thought of, for what is meant."""

    def call(*arguments: Any, **named: Any) -> Any:
        if is_meant(arguments[0]):
            raise ZeroDivisionError("a value that may be secret")
        return real(*arguments, **named)

    return call


def stumble(monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str, is_meant: Fails) -> None:
    """Have a function of a module fail."""
    monkeypatch.setattr(module, name, failing(getattr(module, name), is_meant))


def is_boom(value: Any) -> bool:
    """Say whether a manifest, or a list of templates, has the one that is meant."""
    if isinstance(value, Template | Binding):
        return value.ref.name == "boom"
    if isinstance(value, dict):
        return isinstance(value.get("metadata"), dict) and value["metadata"].get("name") == "boom"
    return any(is_boom(each) if isinstance(each, Binding) else is_boom(each[0].manifest) for each in value)


STUMBLES = {
    "a document": (manifests, "reason_not_kubernetes_object"),
    "a template": (templates, "check_identity"),
    "a default of a template": (templates, "manifest_with_namespace"),
    "a template compared with others": (loading, "kinds_of_equal_letters"),
    "a template whose schema is checked": (schema_checks, "manifest_without_pruned_fields"),
}
BOOM, WEB = a_config_map("boom", a="secret"), a_config_map("web")
REPORTED = "this is a bug of Argosy, so please report it with these lines:"


@pytest.fixture
def fleet(repository: Repository, capsys: pytest.CaptureFixture[str]) -> Repository:
    """A fleet of which both objects are rendered."""
    policy = a_policy(selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}], placement=on_clusters("member1"))
    repository.commit({"cluster.yaml": a_cluster("member1"), "policy.yaml": policy, "web.yaml": WEB, "boom.yaml": BOOM})
    assert argosy(repository, capsys, "render", "--commit", "--bootstrap").code == 0
    return repository


@pytest.mark.parametrize("why", STUMBLES)
@pytest.mark.parametrize("is_changed", [True, False], ids=["changed", "as it was"])
def test_what_a_bug_stumbles_over_is_a_problem_and_stays_where_it_is(
    why: str,
    is_changed: bool,
    fleet: Repository,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    module, name = STUMBLES[why]
    stumble(monkeypatch, module, name, is_boom)
    fleet.commit(
        {"boom.yaml": a_config_map("boom", a="other")} if is_changed else {"web.yaml": a_config_map("web", a="x")}
    )
    before = fleet.git("rev-parse", "argosy/rendered")
    ended = argosy(fleet, capsys, "render", "--commit")
    # What an earlier run found to be right is not looked at again.
    if name in {"check_identity", "manifest_without_pruned_fields"} and not is_changed:
        assert ended.code == 0
        return
    assert ended.code == 3
    assert "boom.yaml" in ended.err
    assert "an unexpected ZeroDivisionError came up" in ended.err
    assert REPORTED in ended.err
    assert "secret" not in ended.err
    assert fleet.git("rev-parse", "argosy/rendered") == before
    assert "boom.yaml" in argosy(fleet, capsys, "validate").out


@pytest.mark.parametrize("why", STUMBLES)
def test_what_a_bug_stumbles_over_at_first_is_left_out_alone(
    why: str, repository: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module, name = STUMBLES[why]
    stumble(monkeypatch, module, name, is_boom)
    policy = a_policy(selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}], placement=on_clusters("member1"))
    repository.commit({"cluster.yaml": a_cluster("member1"), "policy.yaml": policy, "web.yaml": WEB, "boom.yaml": BOOM})
    ended = argosy(repository, capsys, "render", "--commit", "--bootstrap")
    assert "boom.yaml" in ended.err
    assert "ConfigMap/web.yaml" in repository.git("ls-tree", "-r", "--name-only", "argosy/rendered")


def test_a_policy_that_a_bug_stumbles_over_is_a_problem(
    fleet: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stumble(monkeypatch, karmada_objects, "admit_as_kind", is_boom)
    fleet.commit({"more.yaml": a_policy("boom", placement=on_clusters("member1"))})
    ended = argosy(fleet, capsys, "render", "--commit")
    assert (ended.code, "more.yaml:1: is not read: an unexpected ZeroDivisionError came up" in ended.err) == (3, True)


def test_an_object_that_the_interpreter_stumbles_over_keeps_what_it_has(
    fleet: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = fleet.git("rev-parse", "argosy/rendered:clusters")
    stumble(monkeypatch, claims, "interpreted_workload", is_boom)
    fleet.commit({"boom.yaml": a_config_map("boom", a="other")})
    ended = argosy(fleet, capsys, "render", "--commit")
    assert ended.code in {0, 1}
    assert fleet.git("rev-parse", "argosy/rendered:clusters") == before
    binding = fleet.git("show", "argosy/rendered:bindings/default/ConfigMap/boom.yaml")
    assert "an unexpected ZeroDivisionError" in binding


def test_an_object_that_cannot_be_built_keeps_what_it_has(
    fleet: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = fleet.git("rev-parse", "argosy/rendered:clusters")
    stumble(monkeypatch, template_works, "render_works", is_boom)
    fleet.commit({"boom.yaml": a_config_map("boom", a="other")})
    ended = argosy(fleet, capsys, "render", "--commit")
    assert ended.code == 1
    assert fleet.git("rev-parse", "argosy/rendered:clusters") == before
    binding = fleet.git("show", "argosy/rendered:bindings/default/ConfigMap/boom.yaml")
    assert "member1: ConfigMap default/boom: an unexpected ZeroDivisionError" in binding


def test_bindings_that_cannot_be_scheduled_together_are_a_problem(
    fleet: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = fleet.git("rev-parse", "argosy/rendered")
    stumble(monkeypatch, rounds, "bindings_after_failover", is_boom)
    fleet.commit({"boom.yaml": a_config_map("boom", a="other")})
    ended = argosy(fleet, capsys, "render", "--commit")
    assert ended.code == 3
    assert "boom.yaml:1: ConfigMap default/boom together with nginx cannot be rendered: an unexpected" in ended.err
    assert fleet.git("rev-parse", "argosy/rendered") == before


def test_a_bug_that_no_record_leads_to_is_still_one(
    fleet: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stumble(monkeypatch, decisions, "clusters_with_taints", lambda _clusters: True)
    fleet.commit({"boom.yaml": a_config_map("boom", a="other")})
    ended = argosy(fleet, capsys, "render", "--commit")
    assert (ended.code, ended.err.splitlines()[0]) == (
        70,
        "argosy: a bug: ZeroDivisionError; please report it with these lines",
    )


def test_a_test_that_cannot_be_tried_fails(
    fleet: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    expect = [{"kind": "ConfigMap", "name": "web", "clusters": ["member1"]}]
    test = {"apiVersion": "argosy.dev/v1alpha1", "kind": "PolicyTest", "metadata": {"name": "t"}}
    fleet.commit({"test.yaml": {**test, "spec": {"expect": expect}}})
    stumble(monkeypatch, decisions, "clusters_with_taints", lambda _clusters: True)
    ended = argosy(fleet, capsys, "test")
    assert ended.code == 1
    assert "an unexpected ZeroDivisionError" in ended.out


def test_a_warning_that_cannot_be_looked_for_ends_no_other(
    fleet: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stumble(monkeypatch, validation, "idle_rule_warnings", lambda _desired: True)
    ended = argosy(fleet, capsys, "validate")
    assert ended.code == 0
    assert "some warnings are missing: an unexpected ZeroDivisionError came up" in ended.out


UNFETCHABLE = {
    "no place": ({}, {}),
    "a number for a place": ({"git": 5}, {"commit": "a"}),
    "no address": ({"git": {}}, {"commit": "a"}),
    "a number for an address": ({"git": {"url": 5}}, {"commit": "a"}),
    "two places": ({"git": {"url": "file:///a"}, "http": {"url": "https://[::1]/a"}}, {"commit": "a", "digest": "a"}),
    "an address that no git takes": ({"git": {"url": "ext::sh -c true"}}, {"commit": "a"}),
    "no commit": ({"git": {"url": "file:///nowhere/at/all"}}, {}),
    "an empty commit": ({"git": {"url": "file:///nowhere/at/all"}}, {"commit": ""}),
    "a commit with a zero byte": ({"git": {"url": "file:///nowhere/at/all"}}, {"commit": "a\0b"}),
    "an address with a zero byte": ({"git": {"url": "file:///\0"}}, {"commit": "a"}),
    "half an address": ({"http": {"url": "https://[::1"}}, {"digest": "a"}),
    "no host in brackets": ({"http": {"url": "https://a:b@[x]:1/"}}, {"digest": "a"}),
    "no digest of a file": ({"http": {"url": "http://127.0.0.1:1/"}}, {}),
    "no registry": ({"oci": {}}, {"digest": "a"}),
    "no digest of an artifact": ({"oci": {"url": "oci://127.0.0.1:1/a"}}, {}),
    "no address of a chart": ({"helm": {"url": "http://127.0.0.1:1/", "chart": "a"}}, {"digest": "a"}),
    "half an address of a chart": (
        {"helm": {"url": "http://127.0.0.1:1/", "chart": "a"}}, {"url": "https://[", "digest": "a"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("why", UNFETCHABLE)
def test_an_entry_of_the_lock_that_nobody_can_fetch_ends_no_pass(
    why: str, fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where its addresses are accepted and a Source is locked as the entry says, whatever that says."""
    spec, resolved = UNFETCHABLE[why]
    entry = {"name": "web", "spec": spec, "resolved": resolved, "content": f"sha256:{'a' * 64}"}
    lock = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Lock", "sources": [entry]}
    source = {**lock, "kind": "Source", "metadata": {"name": "web"}, "spec": spec}
    source.pop("sources")
    fleet.commit({"argosy.lock": lock, "web.yaml": a_config_map("web", a="new")})
    assert argosy(fleet, capsys, "reconcile", "--dry-run", "--accept-settings").code == 0
    fleet.commit({"source.yaml": source})
    ended = argosy(fleet, capsys, "reconcile", "--dry-run", "--accept-settings")
    assert ended.code in {0, 3}
    assert "unexpected" not in ended.out + ended.err
    with pytest.raises(UnavailableSource, match="Source 'web'"):
        check_fetchable(parse_lock(json.dumps(lock).encode()).sources["web"])


def test_an_entry_of_the_lock_that_leads_to_a_bug_is_a_warning(
    fleet: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stumble(monkeypatch, fetching, "commit_files", lambda _: True)
    spec = {"git": {"url": "file:///a"}}
    entry = {"name": "web", "spec": spec, "resolved": {"commit": "a" * 40}, "content": f"sha256:{'a' * 64}"}
    source = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Source", "metadata": {"name": "web"}, "spec": spec}
    lock = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Lock", "sources": [entry]}
    fleet.commit({"argosy.lock": lock, "source.yaml": source})
    ended = argosy(fleet, capsys, "reconcile", "--dry-run", "--accept-settings")
    assert ended.code == 0
    assert "Source 'web' cannot be had: an unexpected ZeroDivisionError" in ended.err
    assert "secret" not in ended.err
