"""The grades of an import are those of what ``argosy validate`` loads of its files, for every federation."""

import json
from pathlib import Path
from typing import Any

import pytest

from reconciler.cli import run
from render.documents import emit

from .build import Repository, argosy
from .test_commands_import import EVERYWHERE, MEMBERS, NAMESPACE, federated
from .test_import_hostile import documents

LOADED_WORSE = ("refused-by-validate", "left-out-by-loading")
LONG = "a-name-that-is-far-longer-than-names-of-policies-may-be-here"


def overridden(kind: str, name: str, api: str = "v1", **template: Any) -> dict[str, Any]:
    """Return a federated object that is changed in one cluster."""
    overrides = [{"clusterName": "c1", "clusterOverrides": [{"path": "/metadata/labels", "value": {"a": "b"}}]}]
    return federated(kind, name, EVERYWHERE, {"apiVersion": api, **template}, overrides=overrides)


def in_namespace(namespace: str, document: dict[str, Any]) -> dict[str, Any]:
    """Return a document in another namespace."""
    return {**document, "metadata": {**document["metadata"], "namespace": namespace}}


def report_and_repository(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *given: dict[str, Any], system: str = "kubefed"
) -> tuple[int, dict[str, Any], Repository]:
    """Import documents; return the exit code, the report, and a repository with the files."""
    source = tmp_path / "given"
    source.mkdir()
    (source / "all.yaml").write_bytes(b"---\n".join(emit(each) for each in given))
    arguments = ["--from", system, "--output-dir", str(tmp_path / "fleet"), "-o", "json"]
    code = run(["import", str(source), *arguments])
    report = json.loads(capsys.readouterr().out)
    repository = Repository.create(tmp_path / "fleet")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "import")
    return code, report, repository


def told_of(report: dict[str, Any], document: str) -> list[tuple[str, str, str]]:
    """Return the grade, the code and the reason of each line about a document."""
    lines = [each for each in report["documents"] if each["document"] == document]
    return [(each["grade"], each.get("code", ""), each.get("message", "")) for each in lines]


def test_objects_whose_names_would_give_one_policy_name_have_policies_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    api = "rbac.authorization.k8s.io/v1"
    roles = [overridden("Role", name, api, rules=[]) for name in ("x:a", "x-a", "X-a", f"{LONG}:a", f"{LONG}-a")]
    code, report, repository = report_and_repository(tmp_path, capsys, NAMESPACE, *MEMBERS, *roles)
    ended = argosy(repository, capsys, "validate", "-o", "json")
    assert (code, ended.code, json.loads(ended.out)["problems"]) == (0, 0, [])
    assert {each["grade"] for each in report["documents"]} == {"exact"}
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    assert all(
        "a: b" in repository.show(path)
        for path in repository.files()
        if path.startswith("clusters/c1/shop/Role.rbac.authorization.k8s.io/")
    )


def test_a_document_is_refused_if_validate_refuses_what_becomes_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = federated("Deployment", "web", EVERYWHERE, {"spec": {"replicas": "8"}})
    code, report, repository = report_and_repository(tmp_path, capsys, NAMESPACE, *MEMBERS, wrong)
    why = "argosy validate refuses it: templates/shop/deployment-web.yaml: spec.replicas"
    assert told_of(report, "FederatedDeployment shop/web") == [
        ("refused", "refused-by-validate", f"{why}: must be a whole number, not a string")
    ]
    assert told_of(report, "FederatedNamespace shop/shop") == [("exact", "", "")]
    assert (code, argosy(repository, capsys, "validate").code) == (3, 3)


def test_documents_that_loading_leaves_out_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = federated("ConfigMap", "twice", EVERYWHERE, {"data": {"a": "2"}})
    twice = federated("ConfigMap", "twice", EVERYWHERE)
    same = federated("ConfigMap", "same", EVERYWHERE)
    system = [in_namespace("kube-public", each) for each in (federated("Namespace", "kube-public", EVERYWHERE), same)]
    code, report, _ = report_and_repository(tmp_path, capsys, NAMESPACE, *MEMBERS, twice, other, same, same, *system)
    assert code == 3
    lost = "templates/shop/configmap-twice-3bfc2695.yaml:2 and templates/shop/configmap-twice.yaml:2 define it"
    line = ("refused", "left-out-by-loading", f"{lost} differently, and none of these is used")
    assert told_of(report, "FederatedConfigMap shop/twice") == [line, line]
    assert told_of(report, "FederatedConfigMap shop/same") == [("exact", "", "")] * 2
    reason = "ConfigMap kube-public/same is left out: nothing in the namespace kube-public is propagated"
    assert told_of(report, "FederatedConfigMap kube-public/same") == [("refused", "left-out-by-loading", reason)]


def test_what_validate_warns_of_is_told_and_lowers_no_grade(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, report, repository = report_and_repository(
        tmp_path, capsys, NAMESPACE, federated("ConfigMap", "a", {"clusters": [{"name": "c9"}]})
    )
    validated = json.loads(argosy(repository, capsys, "validate", "-o", "json").out)
    assert code == 0
    assert report["warnings"] == validated["warnings"] != []
    assert told_of(report, "FederatedConfigMap shop/a")[0][0] != "refused"


@pytest.mark.parametrize("system", documents())
def test_no_document_of_any_federation_is_told_as_exact_that_validate_refuses(
    system: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each document stands there twice, the second time with a label more, so that names meet everywhere."""
    given = documents()[system]
    again = [
        {**each, "metadata": {**each["metadata"], "labels": {**(each["metadata"].get("labels") or {}), "more": "1"}}}
        for each in given
        if isinstance(each.get("metadata"), dict)
    ]
    code, report, repository = report_and_repository(tmp_path, capsys, *given, *again, system=system)
    validated = json.loads(argosy(repository, capsys, "validate", "-o", "json").out)
    refused = {each.get("code") for each in report["documents"] if each["grade"] == "refused"}
    assert ("refused-by-validate" in refused) == bool(validated["problems"])
    assert not validated["lost"] or "left-out-by-loading" in refused | {"refused-by-validate"}
    assert code == 3 or not (validated["problems"] or validated["lost"])
    lost = {(each["document"], each["from"]) for each in report["documents"] if each.get("code") in LOADED_WORSE}
    exact = {(each["document"], each["from"]) for each in report["documents"] if each["grade"] == "exact"}
    assert system == "karmada" or not lost & exact
