"""No ciphertext of SOPS is delivered as a value: not by a list, and by nothing that makes objects of others."""

import base64
import json
import re
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.edit.importing import import_of_folder
from reconciler.source.broken import CIPHERTEXT
from reconciler.source.ciphertext import may_hold_ciphertext
from reconciler.source.karmada_objects import source_kinds
from reconciler.source.loading import Loaded
from render.documents import emit
from render.errors import ConfigError
from render.federations import FEDERATIONS
from render.settings.source import RenderedRelease
from tests import sops, test_building_charts
from tests.build import a_config_map
from tests.sources import Content
from tests.tables import each_row
from tests.test_building_flux import MAP, WEB, a_kustomization
from tests.test_building_kustomize import loaded, objects_of, said
from tests.test_import_hostile import documents
from tests.test_locked_reading import including

TOKEN = "ENC[AES256_GCM,data:Zg==,iv:aXY=,tag:dGFn,type:str]"
SOPS = {"age": [], "mac": TOKEN.replace("Zg==", "bWFj"), "encrypted_regex": "^(data|stringData|values)$"}
SETTINGS = {"render": list(RenderedRelease), "federations": []}
FLEET = {"argosy.yaml": emit({"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": {"source": SETTINGS}})}
BESIDE = (
    "  hint: encrypt a Secret as a file of its own, and refer to it by its name: only what is delivered is decrypted"
)
APART = "  hint: encrypt each object in a file of its own"


def read(files: Mapping[str, Content]) -> Loaded:
    """A source in which everything of other tools is read that can be."""
    return loaded({**FLEET, **files})


def delivered_ciphertext(found: Loaded) -> list[str]:
    """The templates that would be delivered with ciphertext, and that nothing would decrypt."""
    return [
        str(template.ref)
        for template in found.desired.templates
        if not template.text and may_hold_ciphertext(json.dumps(template.manifest).encode())
    ]


class Row(NamedTuple):
    why: str
    files: Mapping[str, Content]
    said: str


def doc(api_version: str, kind: str, name: str = "x", **fields: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **fields}


SECRET = doc("v1", "Secret", stringData={"a": TOKEN})
LISTS = [
    Row(
        "a List of anything",
        {"a.yaml": emit({"apiVersion": "v1", "kind": "List", "items": [SECRET], "sops": SOPS})},
        f"a.yaml:10: sops: SOPS encrypted the List as a whole, so that no item of it can be decrypted alone\n{APART}",
    ),
    Row(
        "a List of one kind",
        {"a.yaml": emit({"apiVersion": "v1", "kind": "SecretList", "items": [{"metadata": {}}], "sops": SOPS})},
        "a.yaml:5: sops: SOPS encrypted the SecretList as a whole, so that no item of it can be decrypted alone\n"
        f"{APART}",
    ),
    Row(
        "a List in a List",
        {"a.json": json.dumps({"apiVersion": "v1", "kind": "List", "items": [
            {"apiVersion": "v1", "kind": "List", "items": [SECRET], "sops": SOPS}]})},
        "a.json:1: sops: SOPS encrypted the List as a whole, so that no item of it can be decrypted alone\n"
        f"{APART}",
    ),
    Row(
        "several documents with one signature",
        {"a.yaml": b"---\n".join(emit({**doc("v1", "Secret", name), "stringData": {"a": TOKEN}, "sops": SOPS})
                                 for name in "abc")},
        "a.yaml:5: sops: SOPS signed 3 documents of this file together, so that none is decrypted without the others\n"
        f"{APART}",
    ),
    Row(
        "a document that lost its block",
        {"a.yaml": emit({**SECRET, "stringData": {"a": TOKEN, "b": f"x {TOKEN}", "c d": [TOKEN]}})},
        "a.yaml:6: stringData.a: holds ciphertext of SOPS, and no sops block tells how to decrypt it, and so do 2 more"
        " fields\n  hint: encrypt the file anew: sops encrypt FILE",
    ),
    Row(
        "in base64",
        {"a.yaml": emit(doc("v1", "Secret", data={"a": base64.b64encode(f"xy{TOKEN}".encode()).decode()}))},
        "a.yaml:6: data.a: holds ciphertext of SOPS, and no sops block tells how to decrypt it\n"
        "  hint: encrypt the file anew: sops encrypt FILE",
    ),
    Row(
        "in a patch of an override",
        {"a.yaml": emit(doc("policy.karmada.io/v1alpha1", "ClusterOverridePolicy", spec={"overrideRules": [
            {"overriders": {"labelsOverrider": [{"operator": "add", "value": {"a": TOKEN}}]}}]}))},
        "a.yaml:11: spec.overrideRules[0].overriders.labelsOverrider[0].value.a: holds ciphertext of SOPS, and no sops"
        " block tells how to decrypt it\n  hint: encrypt the file anew: sops encrypt FILE",
    ),
]  # fmt: skip


@each_row("case", LISTS, ids=lambda case: case.why)
def test_what_cannot_be_decrypted_object_by_object_is_a_problem(case: Row) -> None:
    found = read(case.files)
    assert (said(found), objects_of(found)) == (case.said, [])


def test_documents_that_sops_signed_one_by_one_are_delivered_as_they_stand(tmp_path: Path) -> None:
    texts = [sops.encrypted({**SECRET, "metadata": {"name": name, "namespace": "x"}}, tmp_path) for name in "ab"]
    found = read({"a.yaml": "---\n".join(texts)})
    assert (said(found), [each.text.decode().strip() for each in found.desired.templates]) == (
        "",
        [text.strip() for text in texts],
    )


def test_sops_itself_signs_the_documents_of_a_file_together(tmp_path: Path) -> None:
    plain = b"---\n".join(emit({**SECRET, "metadata": {"name": name, "namespace": "x"}}) for name in "ab")
    found = read({"a.yaml": sops.encrypted(plain.decode(), tmp_path)})
    assert said(found).partition(": ")[2].startswith("sops: SOPS signed 2 documents of this file together")
    assert objects_of(found) == []


def test_an_item_of_a_list_that_was_encrypted_by_itself_keeps_the_order_of_its_fields() -> None:
    item = {**doc("v1", "Secret"), "stringData": {"b": TOKEN, "a": TOKEN}, "sops": SOPS}
    item["metadata"] = {"name": "x", "namespace": "y"}
    found = read({"a.json": json.dumps({"apiVersion": "v1", "kind": "List", "items": [item]})})
    (template,) = found.desired.templates
    assert (said(found), list(json.loads(template.text)["stringData"])) == ("", ["b", "a"])


def test_an_encrypted_file_that_a_program_of_the_cluster_decrypts_may_stand_in_an_object() -> None:
    files = {
        "yaml": f"a: {TOKEN}\nsops:\n  mac: x\n",
        "json": json.dumps({"a": TOKEN, "sops": {}}, indent=1),
        "line": json.dumps({"a": TOKEN, "sops": {}}),
        "env": f"A={TOKEN}\nsops_mac={TOKEN}\n",
        "ini": f"[a]\nb = {TOKEN}\n\n[sops]\nmac = {TOKEN}\n",
    }
    data = {name: base64.b64encode(text.encode()).decode() for name, text in files.items()}
    found = read({"a.yaml": emit(a_config_map("a", **files)), "b.yaml": emit(doc("v1", "Secret", data=data))})
    assert objects_of(found) == ["ConfigMap default/a", "Secret default/x"]


def test_a_text_about_ciphertext_is_none() -> None:
    found = read({"a.yaml": emit(a_config_map("a", help="values begin with ENC[AES256_GCM,data:...,type:str]"))})
    assert (said(found), objects_of(found)) == ("", ["ConfigMap default/a"])


def sealed_of(kind: str, api_version: str) -> bytes:
    return emit({**doc(api_version, kind, spec={"values": {"a": TOKEN}}), "sops": SOPS})


OURS = ("Fleet", "HelmChart", "PolicyTest", "Source")
GROUPS = {
    "HelmRelease": "helm.toolkit.fluxcd.io/v2",
    "Kustomization": "kustomize.toolkit.fluxcd.io/v1",
    "Application": "argoproj.io/v1alpha1",
    "ApplicationSet": "argoproj.io/v1alpha1",
}
READ_KINDS = {
    **dict.fromkeys(OURS, "argosy.dev/v1alpha1"),
    **{kind: GROUPS[kind] for kind in RenderedRelease},
    **{kind: of.api_version for kind, of in source_kinds().items()},
    "ResourceInterpreterWebhookConfiguration": "config.karmada.io/v1alpha1",
    "GitRepository": "source.toolkit.fluxcd.io/v1",
    "ArtifactGenerator": "source.extensions.fluxcd.io/v1beta1",
}


@pytest.mark.parametrize("kind", READ_KINDS)
def test_an_encrypted_object_that_is_read_is_a_problem(kind: str) -> None:
    found = read({"a.yaml": sealed_of(kind, READ_KINDS[kind])})
    assert f"sops: SOPS encrypted this {kind}, and nothing decrypts what is read to make others of it" in said(found)
    assert (objects_of(found), found.desired.policies, found.desired.override_policies) == ([], (), ())


def test_an_object_of_another_tool_that_is_not_read_is_delivered_and_decrypted() -> None:
    release = {**doc("helm.toolkit.fluxcd.io/v2", "HelmRelease", spec={"values": {"a": TOKEN}}), "sops": SOPS}
    release["metadata"] = {"name": "x", "namespace": "y"}
    found = loaded({"a.yaml": emit(release)})
    assert (said(found), [bool(each.text) for each in found.desired.templates]) == ("", [True])


RENDERED = [each for each in FEDERATIONS if each.setting]


@pytest.mark.parametrize("federation", RENDERED, ids=lambda each: each.name)
def test_an_encrypted_object_of_another_federation_is_a_problem(federation: Any) -> None:
    """Each federation that is rendered where it stands: nothing of it may take ciphertext for a value."""
    given = [deepcopy(dict(each)) for each in documents()[federation.name]]
    settings = {"render": [], "federations": [federation.setting]}
    fleet = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": {"source": settings}}
    plain = {f"{number}.yaml": emit(each) for number, each in enumerate(given)}
    taken = [template.path for template in loaded({**plain, "argosy.yaml": emit(fleet)}).desired.templates]
    paths = sorted({path for path in taken if path.split(".")[0].isdecimal()})[:5]
    assert paths, "some objects are made of them"
    sealed = {path: emit({**given[int(path.split(".")[0])], "sops": SOPS, "note": TOKEN}) for path in paths}
    found = loaded({**plain, **sealed, "argosy.yaml": emit(fleet)})
    assert not {template.path for template in found.desired.templates if not template.text} & set(paths)
    assert delivered_ciphertext(found) == []
    problems = said(found)
    assert [path for path in paths if f"{path}:" not in problems] == []


def test_manifests_of_another_repository_are_judged_like_those_of_this_one(tmp_path: Path) -> None:
    item = {**doc("v1", "Secret"), "stringData": {"b": TOKEN, "a": TOKEN}, "sops": SOPS}
    item["metadata"] = {"name": "x", "namespace": "y"}
    whole = {"apiVersion": "v1", "kind": "List", "items": [SECRET], "sops": SOPS}
    content = {
        "a.json": json.dumps({"apiVersion": "v1", "kind": "List", "items": [item]}).encode(),
        "b.yaml": emit({**item, "metadata": {"name": "z", "namespace": "y"}}),
        "c.yaml": emit(whole),
    }
    found = including(content, tmp_path)
    texts = {each.ref.name: each.text for each in found.desired.templates if each.ref.kind == "Secret"}
    assert list(json.loads(texts["x"].removeprefix(b"---\n"))["stringData"]) == ["b", "a"]
    assert texts["z"].strip() == content["b.yaml"].strip()
    (problem,) = found.problems
    assert "c.yaml: sops: SOPS encrypted the List as a whole" in str(problem)


def test_an_import_makes_no_files_of_ciphertext(tmp_path: Path) -> None:
    placement = {"clusters": [{"name": "a"}]}
    template = {"metadata": {"labels": {"a": "b"}}, "data": {"a": TOKEN}}
    settings = doc(
        "types.kubefed.io/v1beta1", "FederatedConfigMap", spec={"template": template, "placement": placement}
    )
    (tmp_path / "a.yaml").write_bytes(emit({**settings, "sops": SOPS}))
    secret = {**settings, "kind": "FederatedSecret", "sops": SOPS}
    (tmp_path / "b.yaml").write_bytes(emit(secret))
    with pytest.raises(ConfigError) as refused:
        import_of_folder(tmp_path)
    said = "a.yaml:1: sops: SOPS encrypted it, and nothing decrypts what is imported\n"
    said += "  hint: decrypt what is to be imported first: sops decrypt FILE"
    assert str(refused.value) == said, "Secrets are never copied"


VALUES = f"greeting: {TOKEN}\nsops:\n  mac: x\n"
CHART = test_building_charts.CHART
CHARTS = [
    Row(
        "a file of values",
        {"a.yaml": test_building_charts.a_chart(valuesFiles=["v.yaml"]), "v.yaml": VALUES},
        f"a.yaml:10: spec.valuesFiles[0]: v.yaml holds ciphertext of SOPS, and nothing decrypts what is read\n{BESIDE}",
    ),
    Row(
        "values of a ConfigMap that is encrypted",
        {
            "a.yaml": test_building_charts.a_chart(valuesFrom=[{"configMap": "v", "optional": True}]),
            "c.yaml": emit({**a_config_map("v", namespace="team", **{"values.yaml": TOKEN}), "sops": SOPS}),
        },
        "a.yaml:10: spec.valuesFrom[0]: SOPS encrypted ConfigMap team/v, and nothing decrypts what values come from\n"
        f"{BESIDE}",
    ),
    Row(
        "an encrypted file in a ConfigMap",
        {
            "a.yaml": test_building_charts.a_chart(valuesFrom=[{"configMap": "v"}]),
            "c.yaml": emit(a_config_map("v", namespace="team", **{"values.yaml": VALUES})),
        },
        "a.yaml:10: spec.valuesFrom[0]: ConfigMap team/v holds ciphertext of SOPS, and nothing decrypts what is read\n"
        f"{BESIDE}",
    ),
    Row(
        "values of the chart itself",
        {"a.yaml": test_building_charts.a_chart(), "charts/web/values.yaml": VALUES},
        "a.yaml:7: spec.chart: values.yaml of it holds ciphertext of SOPS, and nothing decrypts what is read\n"
        f"{BESIDE}",
    ),
    Row(
        "a file that a template of the chart reads",
        {
            "a.yaml": test_building_charts.a_chart(),
            "charts/web/s.yaml": f"password: {TOKEN}\n",
            "charts/web/templates/s.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"
            'data: {s: {{ .Files.Get "s.yaml" | b64enc }}}\n',
        },
        "charts/web/templates/s.yaml: data.s: holds ciphertext of SOPS as a value, which nobody decrypts, as a.yaml"
        f" builds it\n{BESIDE}",
    ),
    Row(
        "a release of Flux",
        {
            "a.yaml": emit({**doc("helm.toolkit.fluxcd.io/v2", "HelmRelease"), "spec": {
                "chart": {"spec": {"chart": "./charts/web", "sourceRef": {"kind": "GitRepository", "name": "x"}}},
                "values": {"greeting": TOKEN}}}),
        },
        "a.yaml:13: spec.values.greeting: holds ciphertext of SOPS, and no sops block tells how to decrypt it",
    ),
    Row(
        "a file of values of Argo CD",
        {
            "a.yaml": emit({**doc("argoproj.io/v1alpha1", "Application"), "spec": {
                "source": {"repoURL": "https://x", "path": "charts/web", "helm": {"valueFiles": ["../../v.yaml"]}},
                "destination": {"namespace": "team"}}}),
            "v.yaml": VALUES,
        },
        "holds ciphertext of SOPS, and nothing decrypts what is read",
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CHARTS, ids=lambda case: case.why)
def test_no_chart_is_given_ciphertext(case: Row, helm: Path) -> None:
    found = test_building_charts.loaded({**FLEET, **CHART, **case.files}, helm)
    assert case.said in said(found)
    assert [each for each in delivered_ciphertext(found) if each != "ConfigMap team/v"] == []


SET = {
    "generators": [{"git": {"repoURL": "https://git.example.com/fleet.git", "files": [{"path": "eu/*.json"}]}}],
    "template": {
        "metadata": {"name": "{{name}}"},
        "spec": {"source": {"repoURL": "https://git.example.com/fleet.git", "path": "apps", "namePrefix": "{{name}}"}},
    },
}
SECRET_OF_VARIABLES = {"kind": "Secret", "name": "v", "optional": True}
FROM = {"substituteFrom": [{"kind": "ConfigMap", "name": "v"}]}
FOLDERS = [
    Row(
        "variables of Flux",
        {
            "a.yaml": a_kustomization(postBuild=FROM),
            "v.yaml": emit({**a_config_map("v", namespace="flux-system", A=TOKEN), "sops": SOPS}),
            "apps/one.yaml": MAP.replace("b}", "'${A}'}"),
        },
        "a.yaml:11: spec.postBuild.substituteFrom[0]: SOPS encrypted ConfigMap flux-system/v, and nothing decrypts what"
        " variables come from",
    ),
    Row(
        "variables of a Secret, which are never read",
        {
            "a.yaml": a_kustomization(postBuild={"substituteFrom": [SECRET_OF_VARIABLES]}),
            "v.yaml": emit({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "v", "namespace": "flux-system"},
                            "stringData": {"A": TOKEN}, "sops": SOPS}),
            "apps/one.yaml": MAP.replace("b}", "'${A:-x}'}"),
        },
        "ConfigMap one is not made by Kustomization apps: ${A} of Secret flux-system/v",
    ),
    Row(
        "variables that the Kustomization has itself",
        {"a.yaml": a_kustomization(postBuild={"substitute": {"A": TOKEN}}), "apps/one.yaml": MAP},
        "a.yaml:11: spec.postBuild.substitute.A: holds ciphertext of SOPS, and no sops block tells how to decrypt it",
    ),
    Row(
        "a file that an ApplicationSet generates from",
        {
            "a.yaml": emit(doc("argoproj.io/v1alpha1", "ApplicationSet", spec=SET)),
            "eu/a.json": json.dumps({"name": TOKEN, "sops": SOPS}),
            "apps/one.yaml": MAP,
        },
        "spec.generators[0].git: eu/a.json holds ciphertext of SOPS, and nothing decrypts what is read",
    ),
    Row(
        "a replacement of a kustomization",
        {
            "kustomization.yaml": "resources: [s.yaml, c.yaml]\nreplacements:\n"
            "- source: {kind: Secret, fieldPath: stringData.a}\n"
            "  targets: [{select: {kind: ConfigMap}, fieldPaths: [data.a]}]\n",
            "s.yaml": emit({**doc("v1", "Secret"), "stringData": {"a": TOKEN}, "sops": SOPS}),
            "c.yaml": MAP,
        },
        "c.yaml:1: ConfigMap one has a file that SOPS encrypted, and nobody decrypts: data.a",
    ),
    Row(
        "a replacement in something else than a ConfigMap",
        {
            "kustomization.yaml": "resources: [s.yaml, c.yaml]\nreplacements:\n"
            "- source: {kind: Secret, fieldPath: stringData.a}\n  targets: [{select: {kind: Deployment},"
            " fieldPaths: ['spec.template.spec.containers.[name=web].image']}]\n",
            "s.yaml": emit({**doc("v1", "Secret"), "stringData": {"a": TOKEN}, "sops": SOPS}),
            "c.yaml": WEB,
        },
        "c.yaml:1: spec.template.spec.containers[0].image: holds ciphertext of SOPS as a value, which nobody decrypts,"
        f" as kustomization.yaml builds it\n{BESIDE}",
    ),
    Row(
        "a patch of a kustomization",
        {
            "kustomization.yaml": json.dumps({"resources": ["c.yaml"], "patches": [
                {"patch": json.dumps({**a_config_map("one", a=TOKEN), "metadata": {"name": "one"}})}]}),
            "c.yaml": MAP,
        },
        "c.yaml:1: ConfigMap one has a file that SOPS encrypted, and nobody decrypts: data.a",
    ),
    Row(
        "an encrypted patch of a kustomization",
        {
            "kustomization.yaml": "resources: [c.yaml]\npatches: [{path: p.yaml}]\n",
            "p.yaml": emit({**a_config_map("one", a=TOKEN), "sops": SOPS}),
            "c.yaml": MAP.replace("b}", "b, z: y}"),
        },
        "ConfigMap one is signed by SOPS, and the build changes",
    ),
    Row(
        "a file that a generator of a kustomization takes",
        {
            "kustomization.yaml": "secretGenerator: [{name: s, files: [p.yaml]}, {name: t, envs: [p.env]}]\n",
            "p.yaml": VALUES,
            "p.env": f"A={TOKEN}\nsops_mac={TOKEN}\n",
        },
        "has a file that SOPS encrypted, and nobody decrypts",
    ),
    Row(
        "documents of one signature in a kustomization",
        {
            "kustomization.yaml": "resources: [p.yaml]\nnamePrefix: x-\n",
            "p.yaml": b"---\n".join(emit({**doc("v1", "Secret", name), "stringData": {"a": TOKEN}, "sops": SOPS})
                                    for name in "ab"),
        },
        "is signed by SOPS together with other documents of p.yaml, and cannot be decrypted without them",
    ),
    Row(
        "documents of one signature that a kustomization lists",
        {
            "kustomization.yaml": "resources: [p.yaml]\n",
            "p.yaml": b"---\n".join(emit({**doc("v1", "Secret", name), "stringData": {"a": TOKEN}, "sops": SOPS})
                                    for name in "ab"),
        },
        "SOPS",
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", FOLDERS, ids=lambda case: case.why)
def test_no_build_makes_values_of_ciphertext(case: Row) -> None:
    found = read(case.files)
    assert case.said in said(found)
    assert delivered_ciphertext(found) == []
    unset = case.why == "variables of a Secret, which are never read"
    assert (CIPHERTEXT in {each.problem.kind for each in found.broken}) is not unset, "validate says no to it"


BY_THEMSELVES = {
    "gitops/argo/application_sets.py": "a patch with parameters filled in, made of generators and of the set",
    "gitops/argo/generators/functions.py": "texts that stand in the set itself",
    "gitops/argo/generators/parameters.py": "files, which are refused with ciphertext, and texts of the set",
    "gitops/charts/helm_charts.py": "the version of a chart",
    "gitops/argo/releases.py": "values, which are refused with ciphertext",
    "gitops/flux/after_build.py": "what was built, of which encrypted documents are handed on",
    "source/manifests.py": "the place that all documents pass",
    "source/scopes/definitions.py": "names of kinds alone",
    "source/shared_parsing.py": "documents for the cache of source/manifests.py, which hands on none without its check",
}
"""The modules that read documents of a source by themselves, each with the reason why no ciphertext goes on there."""
SEE_SEALED = {
    *("gitops/folders.py", "gitops/rendering.py", "gitops/rounds.py", "gitops/tools.py", "source/digests.py"),
    *("source/federations.py", "source/fleet_file.py", "source/included.py", "source/loading.py"),
    *("source/manifests.py", "source/read_objects.py", "source/reading.py"),
}
"""The modules that see encrypted documents at all: to deliver them, to name them, or to say that they are not read."""
ROOT = Path(__file__).parent.parent / "reconciler"


def modules_with(pattern: str) -> set[str]:
    paths = [path for folder in ("gitops", "source") for path in (ROOT / folder).rglob("*.py")]
    return {path.relative_to(ROOT).as_posix() for path in paths if re.search(pattern, path.read_text())}


def test_whatever_reads_documents_has_a_reason_why_no_ciphertext_goes_on_there() -> None:
    """A new front end fails here: it reads ``Contents.manifests``, or says how it refuses ciphertext."""
    assert modules_with(r"\bread_documents\(") == set(BY_THEMSELVES)
    assert modules_with(r"\.(?:sealed|all_manifests|refuse_encrypted_where_read)\b") == SEE_SEALED
