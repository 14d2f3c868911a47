"""Checks of gates in a source: what is refused where, what is read, and whom argosy.yaml has to name."""

from typing import Any

from overrides.admission import admit
from reconciler.source.loading import Loaded, load_source
from reconciler.source.reading import SourceReading
from render.addresses import is_below
from render.fleet_settings import setting_changes
from render.rollouts.checks import GateCheck, HttpSource, PrometheusSource
from render.rollouts.parsing import parse_rollout_policy, plain_rollout_spec
from tests.build import as_bytes
from tests.sources import source_of
from tests.tables import each_row

PROMETHEUS = {"address": "https://prometheus.example.com", "query": "sum(errors)", "is": "< 0.01"}
TOKEN = {"tokenFile": "/run/token"}
HTTP = {"url": "https://ready.example.com/api?x=1"}


def a_check(**fields: Any) -> dict[str, Any]:
    source = (
        {} if {"http", "prometheus", "object", "job", "commitStatus"} & fields.keys() else {"prometheus": PROMETHEUS}
    )
    return {"name": "errors", **source, **fields}


def a_rollout(*checks: Any, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "ClusterRolloutPolicy",
        "metadata": {"name": "web"},
        "spec": {
            "resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}],
            "gate": {"checks": list(checks)},
            **spec,
        },
    }


def a_fleet(*addresses: str, **more: Any) -> dict[str, Any]:
    sources = [{"address": each, **more} for each in addresses]
    spec = {"rollouts": {"sources": sources}}
    return {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}, "spec": spec}


def loaded(fleet: Any, *documents: Any) -> Loaded:
    source = source_of({"argosy.yaml": as_bytes([fleet]), "all.yaml": as_bytes(list(documents))})
    return load_source(source.files, SourceReading(source.read))


OBJECT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "namespace": "shop",
    "name": "web",
    "jsonPath": "{.status.readyReplicas}",
    "equals": "2",
}
JOB = {"namespace": "shop", "spec": {"template": {"spec": {"containers": []}}, "backoffLimit": 0}}


HERE = "spec.gate.checks[0]"
LABEL_RULE = "use lower-case letters, digits and '-' only, with a letter or digit at both ends"
NO_NAME = (
    f"{HERE}.name: 'Error Rate' is no such name: use lower-case letters, digits and '-' only, with a letter or digit at"
    " both ends"
)
PROBLEMS: tuple[tuple[str, dict[str, Any], list[str]], ...] = (
    ("a query", a_check(), []),
    ("every field of a query", a_check(**{"for": "5m"}, interval="30s", timeout="5s", beforeWave=True), []),
    ("an address", a_check(http=HTTP), []),
    (
        "every field of an address",
        a_check(http={**HTTP, "status": 204, "jsonPath": "{.state}", "matches": "ok|fine"}, interval="1h"),
        [],
    ),
    ("an empty value that is asked for", a_check(http={**HTTP, "jsonPath": "{.error}", "equals": ""}), []),
    ("about each cluster", a_check(http={"url": "https://x.example/$(cluster)"}), []),
    ("a live object", a_check(object=OBJECT), []),
    (
        "a live object in no namespace",
        a_check(object={"apiVersion": "v1", "kind": "Node", "name": "n", "jsonPath": "{.x}", "matches": "a.*"}),
        [],
    ),
    ("a Job", a_check(job=JOB), []),
    ("a status of the commit", a_check(commitStatus={"context": "ci/smoke test"}, beforeWave=True), []),
    (
        "a Secret",
        a_check(object={**OBJECT, "apiVersion": "v1", "kind": "Secret"}),
        [f"{HERE}.object.kind: a value of a Secret would be written to branches"],
    ),
    (
        "a name of no object",
        a_check(object={**OBJECT, "name": "../x"}),
        [f"{HERE}.object.name: '../x' is no such name: between dots, {LABEL_RULE}"],
    ),
    (
        "an object without a value",
        a_check(object={**OBJECT, "equals": None}),
        [f"{HERE}.object: does not say which value is good"],
    ),
    (
        "an object before a wave",
        a_check(object=OBJECT, beforeWave=True),
        [f"{HERE}.beforeWave: means nothing for a check about each cluster by itself"],
    ),
    (
        "a Job without pods",
        a_check(job={"namespace": "shop", "spec": {"backoffLimit": 1}}),
        [f"{HERE}.job.spec: is not the spec of a Job"],
    ),
    (
        "a Job of text",
        a_check(job={"namespace": "shop", "spec": "run"}),
        [f"{HERE}.job.spec: is not the spec of a Job"],
    ),
    ("a Job nowhere", a_check(job={"spec": JOB["spec"]}), [f"{HERE}.job.namespace: required, but missing"]),
    ("no source", {"name": "errors"}, [f"{HERE}: does not say who is asked"]),
    ("two sources", a_check(http=HTTP, prometheus=PROMETHEUS), [f"{HERE}: says several sources"]),
    (
        "a name that is none",
        a_check(name="Error Rate"),
        [NO_NAME],
    ),
    ("a time that is none", a_check(interval="often"), [f"{HERE}.interval: 'often' is no time in whole seconds"]),
    ("no time between two questions", a_check(interval="0s"), [f"{HERE}.interval: must be at least 1s"]),
    (
        "an endless patience",
        a_check(timeout="1h"),
        [f"{HERE}.timeout: must be at most 30s: a pass waits for no source longer than that"],
    ),
    (
        "a comparison with no number",
        a_check(prometheus={**PROMETHEUS, "is": "low"}),
        [f"{HERE}.prometheus.is: 'low' compares with no number"],
    ),
    (
        "an address that is none",
        a_check(prometheus={**PROMETHEUS, "address": "prometheus:9090"}),
        [f"{HERE}.prometheus.address: is no address that begins with https:// or http://"],
    ),
    (
        "a password in an address",
        a_check(http={"url": "https://me:secret@example.com"}),
        [f"{HERE}.http.url: must not have a password in it"],
    ),
    (
        "a host that is none",
        a_check(http={"url": "https://exa$mple/"}),
        [f"{HERE}.http.url: names no host that there can be"],
    ),
    (
        "a cluster for a host",
        a_check(http={"url": "https://$(cluster).example.com/"}),
        [f"{HERE}.http.url: names no host that there can be"],
    ),
    ("a status that is none", a_check(http={**HTTP, "status": 20}), [f"{HERE}.http.status: 20 is no status of HTTP"]),
    (
        "a path without a value",
        a_check(http={**HTTP, "jsonPath": "{.a}"}),
        [f"{HERE}.http: does not say which value is good"],
    ),
    (
        "a value without a path",
        a_check(http={**HTTP, "equals": "ok"}),
        [f"{HERE}.http.jsonPath: required, but missing"],
    ),
    (
        "two values",
        a_check(http={**HTTP, "jsonPath": "{.a}", "equals": "b", "matches": "b"}),
        [f"{HERE}.http.matches: means nothing beside equals"],
    ),
    (
        "a path everywhere",
        a_check(http={**HTTP, "jsonPath": "{..a}", "equals": "b"}),
        [f"{HERE}.http.jsonPath: must say where the value stands: '..' looks everywhere"],
    ),
    (
        "a path of letters alone",
        a_check(http={**HTTP, "jsonPath": "a", "equals": "b"}),
        [f"{HERE}.http.jsonPath: takes nothing out of an answer without braces"],
    ),
    (
        "an expression that is none",
        a_check(http={**HTTP, "jsonPath": "{.a}", "matches": "("}),
        [f"{HERE}.http.matches: '(' is no regular expression: missing ), unterminated subpattern at position 0"],
    ),
    (
        "each cluster before its wave",
        a_check(beforeWave=True, http={"url": "https://x.example/$(cluster)"}),
        [f"{HERE}.beforeWave: means nothing for a check about each cluster by itself"],
    ),
    ("a field of nobody", a_check(retries=3), [f"{HERE}.retries: unknown field"]),
)


@each_row("why, check, problems", PROBLEMS)
def test_what_is_wrong_is_said_where_it_stands(why: str, check: dict[str, Any], problems: list[str]) -> None:
    assert [str(each).split("\n")[0] for each in admit(a_rollout(check)).problems] == problems, why


def test_two_checks_of_one_name_are_a_problem() -> None:
    found = admit(a_rollout(a_check(), a_check(http=HTTP, beforeWave=True))).problems
    assert [str(each) for each in found] == ["spec.gate.checks[1].name: another check is called 'errors'"]


@each_row("why, check, problems", [row for row in PROBLEMS if not row[2]])
def test_a_plan_with_a_check_is_read_back_as_it_is(why: str, check: dict[str, Any], problems: list[str]) -> None:
    waves = [{"name": "first", "size": 1, "gate": {"checks": []}}, {"name": "rest", "rest": True}]
    admitted = admit(a_rollout(check, waves=waves)).object
    assert admitted is not None, (why, problems)
    policy = parse_rollout_policy(admitted)
    assert [len(wave.gate.checks) for wave in policy.waves] == [0, 1]
    assert parse_rollout_policy({"metadata": {"name": "web"}, "spec": plain_rollout_spec(policy)}) == policy


def test_a_check_is_read_with_its_defaults() -> None:
    checks = [a_check(), a_check(name="ready", http={**HTTP, "url": "https://x.example/$(cluster)"}, interval="90s")]
    admitted = admit(a_rollout(*checks)).object
    assert admitted is not None
    assert parse_rollout_policy(admitted).gate.checks == (
        GateCheck(
            name="errors",
            source=PrometheusSource(address="https://prometheus.example.com", query="sum(errors)", threshold="< 0.01"),
        ),
        GateCheck(name="ready", source=HttpSource(url="https://x.example/$(cluster)"), interval=90, is_of_cluster=True),
    )


def test_an_address_that_argosy_yaml_does_not_name_is_a_problem() -> None:
    waves = [{"name": "first", "size": 1, "gate": {"checks": [a_check(http=HTTP)]}}]
    policy = a_rollout(a_check(), waves=waves)
    hint = "  hint: name it there, under spec.rollouts.sources: a person accepts whom passes may ask"
    assert [str(each) for each in loaded(a_fleet("https://prometheus.example.com"), policy).problems] == [
        f"all.yaml:20: spec.waves[0].gate.checks[0].http.url: argosy.yaml does not name this address\n{hint}"
    ]
    both = a_fleet("https://prometheus.example.com/", "https://ready.example.com/api")
    assert loaded(both, policy).problems == ()


SOURCES: tuple[tuple[str, dict[str, Any], list[str]], ...] = (
    ("files by their whole path", {"tokenFile": "/run/token", "caFile": "/run/ca.pem"}, []),
    ("a file of the repository", {"caFile": "ca.pem"}, ["spec.rollouts.sources[0].caFile: must be a whole path"]),
)


@each_row("why, fields, problems", SOURCES)
def test_what_is_wrong_with_a_source_is_said(why: str, fields: dict[str, Any], problems: list[str]) -> None:
    found = loaded(a_fleet("https://prometheus.example.com", **fields)).problems
    assert [str(each).split("\n")[0].partition(": ")[2] for each in found] == problems, why


def test_a_token_goes_through_tls_alone() -> None:
    (found,) = loaded(a_fleet("http://prometheus.example.com", tokenFile="/run/token")).problems
    assert str(found).split("\n")[0].endswith("tokenFile: a token is sent through TLS alone")
    assert loaded(a_fleet("http://127.0.0.1:9090", tokenFile="/run/token")).problems == ()


BELOW: tuple[tuple[str, str, bool], ...] = (
    ("https://a.example", "https://a.example", True),
    ("https://a.example/x?y=/z", "https://a.example/", True),
    ("https://A.example/x", "https://a.example", True),
    ("https://a.example/api/v1", "https://a.example/api/", True),
    ("https://a.example/apis", "https://a.example/api", False),
    ("https://a.example", "https://a.example/api", False),
    ("https://a.example.evil.example/", "https://a.example", False),
    ("https://a.example:8443/", "https://a.example", False),
    ("http://a.example/", "https://a.example", False),
    ("https://a.example@evil.example/", "https://a.example", False),
    ("https://a.example/api/../admin", "https://a.example/api", False),
    ("https://a.example/api/%2e%2e/admin", "https://a.example/api", False),
    ("https://a.example/api/..;/admin", "https://a.example/api", False),
    ("https://a.example\\.evil.example/", "https://a.example", False),
    ("https://a.example?@evil.example", "https://a.example", True),
)


@each_row("address, other, is_allowed", BELOW)
def test_an_address_is_below_another_of_the_same_host_alone(address: str, other: str, is_allowed: bool) -> None:
    assert is_below(address, other) == is_allowed, address


def test_whom_checks_may_ask_is_a_setting_that_a_person_accepts() -> None:
    """Another address, and another file of the machine, wait; one that nobody may ask any more does not."""
    before, after = (loaded(a_fleet("https://a.example", **more)).desired.fleet for more in ({}, TOKEN))
    more = loaded(a_fleet("https://a.example", "https://b.example")).desired.fleet
    assert [(each.field, each.after, each.waits) for each in setting_changes(before, after)] == [
        ("spec.rollouts.sources[https://a.example].tokenFile", "/run/token", True)
    ]
    assert [(each.field, each.waits) for each in setting_changes(before, more)] == [
        ("spec.rollouts.sources[https://b.example].address", True)
    ]
    assert not any(each.waits for each in setting_changes(more, before))
