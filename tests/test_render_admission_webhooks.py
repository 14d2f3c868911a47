"""ResourceInterpreterWebhookConfigurations: what Karmada's webhook refuses, field by field."""

import base64
from copy import deepcopy
from typing import Any, NamedTuple

from render.admission.findings import Findings
from render.admission.webhooks import check_webhooks

from .tables import each_row

BUNDLE = base64.b64encode(b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n").decode()
OPERATIONS = (
    "write '*', 'InterpretReplica', 'InterpretComponent', 'ReviseReplica', 'Retain', 'AggregateStatus', "
    "'InterpretDependency', 'InterpretStatus' or 'InterpretHealth'"
)


def a_configuration() -> dict[str, Any]:
    rule = {"operations": ["*"], "apiGroups": ["example.io"], "apiVersions": ["v1"], "kinds": ["Widget"]}
    service = {"namespace": "shop", "name": "hooks", "path": "/interpret/widgets", "port": 8443}
    versions = {"interpreterContextVersions": ["v1alpha1"]}
    webhooks: list[dict[str, Any]] = [
        {"name": "a.example.io", "clientConfig": {"url": "https://hooks.example.io/a", "caBundle": BUNDLE}, **versions},
        {"name": "b.example.io", "clientConfig": {"service": service}, "timeoutSeconds": 30, **versions},
    ]
    return {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterWebhookConfiguration",
        "metadata": {"name": "hooks"},
        "webhooks": [{**webhook, "rules": [deepcopy(rule)]} for webhook in webhooks],
    }


def found(configuration: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The problems and the warnings of a configuration."""
    findings = Findings()
    check_webhooks(configuration, findings)
    return [str(each) for each in findings.problems], [str(each) for each in findings.warnings]


def test_what_karmada_accepts_is_accepted() -> None:
    assert found(a_configuration()) == ([], [])
    assert found({**a_configuration(), "webhooks": []}) == ([], [])


class Fault(NamedTuple):
    """A mistake: a value put at a path below ``webhooks`` (``...`` takes it out), and the message."""

    why: str
    path: tuple[Any, ...]
    value: Any
    want: list[str]


URL, SERVICE, RULE = (0, "clientConfig", "url"), (1, "clientConfig", "service"), (0, "rules", 0)
NO_ADDRESS = "webhooks[0].clientConfig.url: no address of a webhook: "
FAULTS = [
    Fault("no name", (0, "name"), ..., ["webhooks[0].name: required, but missing"]),
    Fault(
        "a name without a dot",
        (0, "name"),
        "hooks",
        ["webhooks[0].name: 'hooks' has no dot: write a full name, such as hooks.example.com"],
    ),
    Fault(
        "a name that is none",
        (0, "name"),
        "Hooks.io",
        [
            (
                "webhooks[0].name: 'Hooks.io' is no such name: between dots, use lower-case letters, digits "
                "and '-' only, with a letter or digit at both ends"
            )
        ],
    ),
    Fault(
        "a name twice", (1, "name"), "a.example.io", ["webhooks[1].name: another webhook here is called 'a.example.io'"]
    ),
    Fault("too short", (0, "timeoutSeconds"), 0, ["webhooks[0].timeoutSeconds: must be from 1 to 30 seconds, not 0"]),
    Fault("too long", (0, "timeoutSeconds"), 31, ["webhooks[0].timeoutSeconds: must be from 1 to 30 seconds, not 31"]),
    Fault(
        "no number",
        (0, "timeoutSeconds"),
        "5",
        ["webhooks[0].timeoutSeconds: must be a whole number, not a string\n  hint: write it without quotes"],
    ),
    Fault(
        "neither url nor service",
        URL,
        ...,
        ["webhooks[0].clientConfig: exactly one of url and service is required"],
    ),
    Fault(
        "both",
        (1, "clientConfig", "url"),
        "https://hooks.example.io",
        ["webhooks[1].clientConfig: exactly one of url and service is required"],
    ),
    Fault("http", URL, "http://hooks.example.io", [NO_ADDRESS + "it must begin with https://"]),
    Fault("no host", URL, "https:///a", [NO_ADDRESS + "it names no host"]),
    Fault("a user", URL, "https://me:secret@example.io", [NO_ADDRESS + "a user or password must not stand in it"]),
    Fault("a query", URL, "https://example.io?a=b", [NO_ADDRESS + "what follows a '?' is not passed on"]),
    Fault("a fragment", URL, "https://example.io#a", [NO_ADDRESS + "what follows a '#' is not passed on"]),
    Fault("no port", URL, "https://example.io:https", [NO_ADDRESS + "':https' is no port"]),
    Fault("no service name", (*SERVICE, "name"), "", ["webhooks[1].clientConfig.service.name: required, but missing"]),
    Fault("port 0", (*SERVICE, "port"), 0, ["webhooks[1].clientConfig.service.port: must be from 1 to 65535, not 0"]),
    Fault(
        "a path without a slash",
        (*SERVICE, "path"),
        "interpret",
        ["webhooks[1].clientConfig.service.path: 'interpret' is no path: write one such as '/interpret'"],
    ),
    Fault(
        "a path with a hole",
        (*SERVICE, "path"),
        "/a//b",
        ["webhooks[1].clientConfig.service.path: '/a//b' is no path: write one such as '/interpret'"],
    ),
    Fault(
        "PEM itself",
        (0, "clientConfig", "caBundle"),
        "-----BEGIN CERTIFICATE-----",
        ["webhooks[0].clientConfig.caBundle: is no base64\n  hint: write what 'base64 -w0 ca.crt' prints"],
    ),
    Fault(
        "something else",
        (0, "clientConfig", "caBundle"),
        "YWJj",
        [
            (
                "webhooks[0].clientConfig.caBundle: holds no certificate in PEM form\n"
                "  hint: write what 'base64 -w0 ca.crt' prints"
            )
        ],
    ),
    Fault(
        "no versions",
        (0, "interpreterContextVersions"),
        [],
        ["webhooks[0].interpreterContextVersions: must contain 'v1alpha1', the only version there is"],
    ),
    Fault(
        "another version",
        (0, "interpreterContextVersions"),
        ["v1"],
        ["webhooks[0].interpreterContextVersions: must contain 'v1alpha1', the only version there is"],
    ),
    Fault(
        "a version twice",
        (0, "interpreterContextVersions"),
        ["v1alpha1", "v1alpha1"],
        ["webhooks[0].interpreterContextVersions[1]: 'v1alpha1' stands here twice"],
    ),
    Fault("no kinds", (*RULE, "kinds"), [], ["webhooks[0].rules[0].kinds: required, but missing"]),
    Fault("an empty kind", (*RULE, "kinds"), ["A", ""], ["webhooks[0].rules[0].kinds[1]: required, but missing"]),
    Fault("the core group", (*RULE, "apiGroups"), ["", "apps"], []),
    Fault(
        "a star among others",
        (*RULE, "apiGroups"),
        ["*", "apps"],
        ["webhooks[0].rules[0].apiGroups: '*' is everything and must stand alone"],
    ),
    Fault(
        "another operation",
        (*RULE, "operations"),
        ["Prune"],
        [f"webhooks[0].rules[0].operations[0]: unknown value 'Prune'\n  hint: {OPERATIONS}"],
    ),
    Fault(
        "a typo",
        (0, "timeoutSecond"),
        5,
        ["webhooks[0].timeoutSecond: unknown field\n  hint: did you mean 'timeoutSeconds'?"],
    ),
]


@each_row("case", FAULTS, ids=lambda case: case.why)
def test_faults(case: Fault) -> None:
    configuration = a_configuration()
    *parents, last = case.path
    place: Any = configuration["webhooks"]
    for step in parents:
        place = place[step]
    if case.value is ...:
        del place[last]
    else:
        place[last] = case.value
    assert found(configuration) == (case.want, [])


def test_a_configuration_has_its_webhooks_at_the_root() -> None:
    configuration = a_configuration()
    configuration["spec"] = {"webhooks": configuration.pop("webhooks")}
    assert found(configuration)[0] == [
        "spec: unknown field\n  hint: known here: apiVersion, kind, metadata, webhooks",
        "webhooks: required, but missing",
    ]


def test_a_rule_for_secrets_is_told_that_it_is_never_asked() -> None:
    configuration = a_configuration()
    configuration["webhooks"][0]["rules"][0] |= {"apiGroups": ["", "example.io"], "kinds": ["Widget", "Secret"]}
    assert found(configuration) == (
        [],
        ["webhooks[0].rules[0].kinds: no webhook is asked about Secrets: their content would leave the fleet"],
    )
