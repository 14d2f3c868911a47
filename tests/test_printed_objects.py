"""Objects of every admitted kind are taken as ``kubectl get -o yaml`` prints them: with status and nulls."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from overrides.admission import all_admitted_kinds
from render.admission import AdmittedKind, admit_as_kind
from render.admission.clusters import CLUSTER_STATUS
from render.admission.findings import Findings
from render.admission.run_settings import run_settings_kind
from render.admission.schema import ListOf, Node, Record
from render.admission.webhooks import WEBHOOKS, check_webhooks
from render.documents import parse_documents

from .clusters import Member
from .tables import each_row

OBJECTS = [
    each.value for each in parse_documents((Path(__file__).parent / "vectors/printed_objects.yaml").read_bytes())
]
WEBHOOK_CONFIGURATION = "ResourceInterpreterWebhookConfiguration"
KINDS: Mapping[str, AdmittedKind] = {**all_admitted_kinds(), "RunSettings": run_settings_kind()}
OF_A_SERVER = {
    "creationTimestamp": None,
    "deletionTimestamp": None,
    "deletionGracePeriodSeconds": None,
    "generation": 7,
    "labels": None,
    "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}\n"},
    "finalizers": None,
    "ownerReferences": None,
    "managedFields": [{"manager": "kubectl", "operation": "Update", "apiVersion": "v1", "fieldsV1": {"f:spec": {}}}],
    "resourceVersion": "1234",
    "selfLink": "/apis/example.io/v1/things/web",
    "uid": "0b9b9ab0-0000-4000-8000-000000000000",
}
CHANGELOG = Path(__file__).parents[1] / "CHANGELOG.md"
READ_STATUS = {"Cluster", "ClusterResourceBinding", "ResourceBinding", "WorkloadRebalancer"}
ANY_STATUS = {"observedGeneration": 7, "conditions": [{"type": "Ready", "status": "True"}], "phase": None}


def name_of(manifest: Any) -> str:
    return str(manifest["kind"])


class Said(NamedTuple):
    """The object that admission makes of a document, and the problems that it has."""

    stored: Any
    problems: list[str]


def said_of(manifest: Any) -> Said:
    if manifest["kind"] == WEBHOOK_CONFIGURATION:
        findings = Findings()
        check_webhooks(manifest, findings)
        return Said(None, [str(each) for each in findings.problems])
    outcome = admit_as_kind(manifest, KINDS[manifest["kind"]])
    return Said(outcome.object, [str(each) for each in outcome.problems])


def schema_of(kind: str) -> Record:
    """Return the fields of a kind below its root, as far as there are rules for them."""
    if kind == WEBHOOK_CONFIGURATION:
        return Record({"webhooks!": WEBHOOKS})
    more = {"status": CLUSTER_STATUS} if kind == "Cluster" else {}
    return Record({"spec!": KINDS[kind].schema, **more})


def without_values(node: Node, value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every optional field of the records that a value has, whether it is there or not."""
    if isinstance(node, ListOf):
        for index, each in enumerate(value):
            yield from without_values(node.items, each, (*path, index))
    elif isinstance(node, Record):
        for marked, child in node.fields.items():
            name = marked.rstrip("!")
            if name == marked:
                yield (*path, name)
            if name in value:
                yield from without_values(child, value[name], (*path, name))


def planted(manifest: Any, path: tuple[Any, ...], *, is_there: bool) -> Any:
    """Return a copy with null at a path, or with nothing there."""
    changed = deepcopy(manifest)
    inner = changed
    for step in path[:-1]:
        inner = inner[step]
    inner.pop(path[-1], None)
    if is_there:
        inner[path[-1]] = None
    return changed


def nulls(manifest: Any) -> list[tuple[Any, ...]]:
    return list(without_values(schema_of(manifest["kind"]), manifest))


def test_the_table_has_every_kind() -> None:
    assert {each["kind"] for each in OBJECTS} == {*KINDS, WEBHOOK_CONFIGURATION}
    assert sum(len(nulls(each)) for each in OBJECTS) > 400


@each_row("manifest", OBJECTS, ids=name_of)
def test_an_object_is_taken_as_it_is_printed(manifest: Any) -> None:
    before = said_of(manifest)
    assert before.problems == []
    printed = {**manifest, "metadata": {**OF_A_SERVER, **manifest["metadata"]}}
    printed["status"] = {**ANY_STATUS, **manifest.get("status", {})}
    after = said_of(printed)
    assert after.problems == []
    if after.stored is not None:
        assert after.stored["spec"] == before.stored["spec"]


@each_row("manifest", OBJECTS, ids=name_of)
def test_a_null_of_an_optional_field_is_no_value(manifest: Any) -> None:
    for path in nulls(manifest):
        with_null, without = (said_of(planted(manifest, path, is_there=here)) for here in (True, False))
        assert with_null == without, path


def test_of_kinds_whose_status_is_read_an_unknown_field_of_it_is_a_warning() -> None:
    told, left_out = set[str](), set[str]()
    for manifest in OBJECTS:
        if rules := KINDS.get(manifest["kind"]):
            outcome = admit_as_kind({**manifest, "status": {"zork": 1}}, rules)
            assert (outcome.problems, bool(outcome.object)) == ((), True), rules.kind
            fields = [each.field for each in outcome.warnings]
            (told if "status.zork" in fields else left_out).add(rules.kind)
            assert "status.zork" in fields or "status" not in (outcome.object or {}), rules.kind
    assert told == READ_STATUS
    assert {"FederatedHPA", "CronFederatedHPA", "FederatedResourceQuota", "ClusterPropagationPolicy"} <= left_out


@each_row("kind", sorted(READ_STATUS))
def test_the_changelog_names_the_kinds_whose_status_is_read(kind: str) -> None:
    (line,) = (each for each in CHANGELOG.read_text().splitlines() if "What `kubectl get -o yaml` prints" in each)
    assert f"`{kind}`" in line


def test_an_unknown_field_of_a_status_is_a_warning_that_a_mistyped_one_can_be_found_by() -> None:
    cluster = next(each for each in OBJECTS if each["kind"] == "Cluster")
    outcome = admit_as_kind({**cluster, "status": {"nodeSumary": {}, "remedyActions": []}}, KINDS["Cluster"])
    assert outcome.problems == ()
    assert [str(each) for each in outcome.warnings] == [
        "status.nodeSumary: is not known here, so it is left out\n  hint: did you mean 'nodeSummary'?"
    ]


@pytest.mark.cluster
def test_a_server_with_karmadas_definitions_takes_the_same_nulls(members: tuple[Member, ...], karmada: Path) -> None:
    """Cluster has no definition, and Argosy's own kinds are on no server."""
    stored = [each for each in OBJECTS if ".karmada.io/" in each["apiVersion"] and each["kind"] != "Cluster"]
    refused = []
    with Member("hub", beside=members[0]) as server:
        server.kubectl("apply", "--server-side", "-R", "-f", str(karmada))
        server.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
        if server.read("/api/v1/namespaces/shop") is None:
            server.kubectl("create", "namespace", "shop")
        for manifest, path in [(each, path) for each in stored for path in nulls(each)]:
            # What is newer than the definitions is pruned.
            address = f"{server.path_of(manifest)}?dryRun=All&fieldValidation=Ignore"
            status, answer = server.request("POST", address, planted(manifest, path, is_there=True))
            if status != HTTPStatus.CREATED:
                refused.append((manifest["kind"], path, answer["message"]))
    assert refused == []
