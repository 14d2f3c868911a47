"""Committed bindings record every change of an override: whole files, as a reviewer reads them."""

from pathlib import Path
from typing import Any

import pytest

from render.documents import emit
from tests.build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy

KINDS = [("apps/v1", "Deployment"), ("v1", "ConfigMap"), ("v1", "Secret")]
EVERYWHERE = a_policy(
    "everywhere",
    namespace="shop",
    selectors=[{"apiVersion": version, "kind": kind} for version, kind in KINDS],
    placement={"clusterAffinity": {}},
)
IN_EUROPE = {"fieldSelector": {"matchExpressions": [{"key": "region", "operator": "In", "values": ["eu"]}]}}


def an_override(name: str, *rules: dict[str, Any], kind: str = "", namespace: str = "") -> dict[str, Any]:
    versions = {each: version for version, each in KINDS}
    selectors = {"resourceSelectors": [{"apiVersion": versions[kind], "kind": kind}]} if kind else {}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy" if namespace else "ClusterOverridePolicy",
        "metadata": {"name": name} | ({"namespace": namespace} if namespace else {}),
        "spec": {**selectors, "overrideRules": list(rules)},
    }


def a_rule(on: dict[str, Any] | None = None, **overriders: Any) -> dict[str, Any]:
    return {"overriders": overriders, **({"targetCluster": on} if on else {})}


def patching(path: str, operator: str, *value: Any) -> list[dict[str, Any]]:
    return [{"path": path, "operator": operator, **({"value": value[0]} if value else {})}]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository.create(tmp_path / "fleet")
    clusters = [a_cluster(name, region=name[:2]) for name in ("eu-1", "eu-2", "us-1")]
    made.write({f"clusters/{cluster['metadata']['name']}.yaml": cluster for cluster in clusters})
    made.write({"policies/everywhere.yaml": EVERYWHERE})
    return made


def reconciled(repository: Repository, capsys: pytest.CaptureFixture[str], *options: str, code: int = 0) -> str:
    """Run a pass; return what it said."""
    ended = argosy(repository, capsys, "reconcile", *options)
    assert ended.code == code, ended
    return ended.out + ended.err


def status_of(repository: Repository, path: str) -> str:
    """The status of a binding, as it stands in its file."""
    _, _, status = repository.show(f"bindings/shop/{path}.yaml").partition("\nstatus:\n")
    return f"{status}\n"


REGISTRY = an_override(
    "registry",
    a_rule(IN_EUROPE, imageOverrider=[{"component": "Registry", "operator": "replace", "value": "r.eu.example.com"}]),
    a_rule({"clusterNames": ["us-1"]}, labelsOverrider=[{"operator": "remove", "value": {"tier": ""}}]),
    a_rule(annotationsOverrider=[{"operator": "add", "value": {"example.com/owner": "shop"}}]),
    kind="Deployment",
)
STAGING = an_override(
    "staging",
    a_rule({"clusterNames": ["eu-1"]}, plaintext=patching("/spec/replicas", "replace", 1)),
    a_rule({"exclude": ["eu-2"]}, argsOverrider=[{"containerName": "web", "operator": "add", "value": ["--debug"]}]),
    kind="Deployment",
    namespace="shop",
)
WEB = a_deployment("web", namespace="shop", image="r.example.com/shop/web:1.4.2")
WEB["metadata"]["labels"] = {"app": "web", "tier": "front"}

WEB_BINDING = """\
apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata:
  name: web-deployment
  namespace: shop
  annotations:
    policy.karmada.io/applied-placement: "{\\"clusterAffinity\\":{}}"
    propagationpolicy.karmada.io/name: everywhere
    propagationpolicy.karmada.io/namespace: shop
spec:
  clusters:
  - {name: eu-1, replicas: 2}
  - {name: eu-2, replicas: 2}
  - {name: us-1, replicas: 2}
  placement:
    clusterAffinity: {}
  replicas: 2
  resource:
    apiVersion: apps/v1
    kind: Deployment
    name: web
    namespace: shop
  schedulerName: default-scheduler
status:
  appliedOverrides:
  - policy: ClusterOverridePolicy registry
    rule: spec.overrideRules[0]
    clusters: [eu-1, eu-2]
    changes:
    - path: /spec/template/spec/containers/0/image
      operator: replace
      before: r.example.com/shop/web:1.4.2
      after: r.eu.example.com/shop/web:1.4.2
  - policy: ClusterOverridePolicy registry
    rule: spec.overrideRules[1]
    clusters: [us-1]
    changes:
    - path: /metadata/labels/tier
      operator: remove
      before: front
  - policy: ClusterOverridePolicy registry
    rule: spec.overrideRules[2]
    changes:
    - path: /metadata/annotations
      operator: add
      after:
        example.com/owner: shop
  - policy: OverridePolicy shop/staging
    rule: spec.overrideRules[0]
    clusters: [eu-1]
    changes:
    - path: /spec/replicas
      operator: replace
      before: (replicas)
      after: 1
  - policy: OverridePolicy shop/staging
    rule: spec.overrideRules[1]
    clusters: [eu-1, us-1]
    changes:
    - path: /spec/template/spec/containers/0/args
      operator: add
      after:
      - --debug
  conditions:
  - message: Binding has been scheduled successfully.
    reason: Success
    status: "True"
    type: Scheduled
  overriddenReplicas:
  - clusters:
    - eu-1
    replicas: 1
"""


def test_a_binding_says_what_every_rule_changed_and_where(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({"web.yaml": WEB, "overrides.yaml": [STAGING, REGISTRY]})
    reconciled(repository, capsys, "--bootstrap")
    assert repository.show("bindings/shop/Deployment.apps/web.yaml") + "\n" == WEB_BINDING


def test_a_second_pass_is_quiet_and_a_replay_equal(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.commit({"web.yaml": WEB, "overrides.yaml": [STAGING, REGISTRY]})
    reconciled(repository, capsys, "--bootstrap")
    repository.commit({"notes.txt": "nothing to render"})
    assert reconciled(repository, capsys).startswith("unchanged: ")
    repository.commit({"web.yaml": {**WEB, "metadata": {**WEB["metadata"], "labels": {"app": "web"}}}})
    reconciled(repository, capsys)
    assert "tier" not in repository.show("bindings/shop/Deployment.apps/web.yaml")
    assert argosy(repository, capsys, "verify").code == 0


SETTINGS = a_config_map("settings", namespace="shop", **{"flags.json": '{"banner":"none"}', "app.yaml": "a: 1\nb: 2\n"})
TEXTS = an_override(
    "texts",
    a_rule(
        {"clusterNames": ["eu-1"]},
        fieldOverrider=[
            {"fieldPath": "/data/flags.json", "json": [{"subPath": "/banner", "operator": "replace", "value": "sale"}]},
            {"fieldPath": "/data/app.yaml", "yaml": [{"subPath": "/b", "operator": "replace", "value": 3}]},
        ],
    ),
    kind="ConfigMap",
    namespace="shop",
)
SCHEDULED = """\
  conditions:
  - message: Binding has been scheduled successfully.
    reason: Success
    status: "True"
    type: Scheduled
"""


def test_a_text_that_was_patched_stands_before_and_after(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({"settings.yaml": SETTINGS, "overrides.yaml": TEXTS})
    reconciled(repository, capsys, "--bootstrap")
    want = f"""\
  appliedOverrides:
  - policy: OverridePolicy shop/texts
    rule: spec.overrideRules[0]
    clusters: [eu-1]
    changes:
    - path: /data/app.yaml
      operator: replace
      before: |
        a: 1
        b: 2
      after: |
        a: 1
        b: 3
    - path: /data/flags.json
      operator: replace
      before: "{{\\"banner\\":\\"none\\"}}"
      after: "{{\\"banner\\":\\"sale\\"}}"
{SCHEDULED}"""
    assert status_of(repository, "ConfigMap/settings") == want


def test_a_cluster_whose_override_failed_is_in_no_entry(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    tagged = a_rule(labelsOverrider=[{"operator": "add", "value": {"fleet": "shop"}}])
    broken = a_rule({"clusterNames": ["eu-2"]}, plaintext=patching("/data/nowhere", "replace", "x"))
    repository.commit({"settings.yaml": SETTINGS, "overrides.yaml": an_override("fleet", tagged, kind="ConfigMap")})
    reconciled(repository, capsys, "--bootstrap")
    source = repository.commit({"overrides.yaml": an_override("fleet", tagged, broken, kind="ConfigMap")})
    reconciled(repository, capsys, code=1)
    assert "fleet: shop" in repository.show("clusters/eu-2/shop/ConfigMap/settings.yaml")
    message = (
        "eu-2: ClusterOverridePolicy fleet: spec.overrideRules[1].overriders.plaintext[0]: 'nowhere' does not exist in"
        " /data"
    )
    want = f"""\
  appliedOverrides:
  - policy: ClusterOverridePolicy fleet
    rule: spec.overrideRules[0]
    clusters: [eu-1, us-1]
    changes:
    - path: /metadata/labels
      operator: add
      after:
        fleet: shop
{SCHEDULED}\
  - clusters:
    - eu-2
    message: "{message}"
    reason: OverrideFailed
    since: {emit(source).decode().rstrip()}
    status: "False"
    type: Rendered
"""
    assert status_of(repository, "ConfigMap/settings") == want


def test_the_values_of_a_secret_are_hidden(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "keys", "namespace": "shop"},
        "stringData": {"key": "canary-one"},
    }
    rules = [
        a_rule({"clusterNames": [name]}, plaintext=patching("/stringData/key", "replace", f"canary-{name}"))
        for name in ("eu-1", "eu-2")
    ]
    repository.commit({"secret.yaml": secret, "overrides.yaml": an_override("keys", *rules, kind="Secret")})
    reconciled(repository, capsys, "--bootstrap")
    want = f"""\
  appliedOverrides:
  - policy: ClusterOverridePolicy keys
    rule: spec.overrideRules[0]
    clusters: [eu-1]
    changes:
    - path: /stringData/key
      operator: replace
      before: (hidden)
      after: (hidden)
  - policy: ClusterOverridePolicy keys
    rule: spec.overrideRules[1]
    clusters: [eu-2]
    changes:
    - path: /stringData/key
      operator: replace
      before: (hidden)
      after: (hidden)
{SCHEDULED}"""
    assert status_of(repository, "Secret/keys") == want


def test_a_rule_that_found_two_values_says_what_it_made_of_each(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = [
        a_rule({"clusterNames": ["eu-1"]}, plaintext=patching("/data/flags.json", "replace", "one")),
        a_rule(plaintext=patching("/data/flags.json", "replace", "two")),
    ]
    repository.commit({"settings.yaml": SETTINGS, "overrides.yaml": an_override("flags", *rules, kind="ConfigMap")})
    reconciled(repository, capsys, "--bootstrap")
    want = f"""\
  appliedOverrides:
  - policy: ClusterOverridePolicy flags
    rule: spec.overrideRules[0]
    clusters: [eu-1]
    changes:
    - path: /data/flags.json
      operator: replace
      before: "{{\\"banner\\":\\"none\\"}}"
      after: one
  - policy: ClusterOverridePolicy flags
    rule: spec.overrideRules[1]
    clusters: [eu-1]
    changes:
    - path: /data/flags.json
      operator: replace
      before: one
      after: two
  - policy: ClusterOverridePolicy flags
    rule: spec.overrideRules[1]
    clusters: [eu-2, us-1]
    changes:
    - path: /data/flags.json
      operator: replace
      before: "{{\\"banner\\":\\"none\\"}}"
      after: two
{SCHEDULED}"""
    assert status_of(repository, "ConfigMap/settings") == want


def test_where_dispatching_is_suspended_nothing_was_applied(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    suspended = {"suspension": {"dispatchingOnClusters": {"clusterNames": ["eu-1"]}}}
    policy = {**EVERYWHERE, "spec": {**EVERYWHERE["spec"], **suspended}}
    tagged = a_rule(labelsOverrider=[{"operator": "add", "value": {"fleet": "shop"}}])
    repository.commit(
        {"settings.yaml": SETTINGS, "policies/everywhere.yaml": policy, "o.yaml": an_override("fleet", tagged)}
    )
    reconciled(repository, capsys, "--bootstrap")
    assert "    clusters: [eu-2, us-1]\n" in repository.show("bindings/shop/ConfigMap/settings.yaml")


def test_what_is_released_keeps_its_record_with_its_bytes(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({"settings.yaml": SETTINGS, "overrides.yaml": TEXTS})
    reconciled(repository, capsys, "--bootstrap")
    record, _, _ = status_of(repository, "ConfigMap/settings").partition("  conditions:\n")
    repository.commit({"policies/everywhere.yaml": None, "overrides.yaml": None})
    reconciled(repository, capsys)
    after = status_of(repository, "ConfigMap/settings")
    assert (after.partition("  conditions:\n")[0], "reason: NoPolicy" in after) == (record, True)


def test_a_policy_that_changes_nothing_commits_nothing(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({"settings.yaml": SETTINGS})
    reconciled(repository, capsys, "--bootstrap")
    idle = a_rule(labelsOverrider=[{"operator": "remove", "value": {"nowhere": ""}}])
    repository.commit({"overrides.yaml": an_override("idle", idle)})
    assert reconciled(repository, capsys).startswith("unchanged: ")


def test_bindings_are_shown_with_their_records(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.commit({"settings.yaml": SETTINGS, "overrides.yaml": TEXTS})
    shown = argosy(repository, capsys, "render", "--as", "bindings", "-o", "yaml").out
    assert '    - after: "{\\"banner\\":\\"sale\\"}"\n' in shown
