"""Charts per class of clusters: rendered once for all that ask for the same, and one template of what comes of it.

The stand-in for helm prints the values that it is given, so values are the objects that a chart makes.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from overrides.binding_record import RecordWriter
from reconciler.explain.object import object_explanation
from reconciler.explain.sections import object_sections
from reconciler.ledger.facts import ClusterFacts
from reconciler.pipeline.pass_values import Inputs, Rendered
from reconciler.pipeline.stages import render_pass
from reconciler.source.loading import Loaded
from render.documents import emit, parse_documents
from render.gitobjects import content_of_blob
from tests.build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters, weighted
from tests.sources import Content
from tests.test_building_charts import CHART, a_chart, loaded, warned
from tests.test_building_kustomize import a_script, objects_of, said
from tests.test_source_loading import Memory

CLUSTERS = {
    f"clusters/{name}.yaml": emit(a_cluster(name, region=name.partition("-")[0])) for name in ("eu-1", "eu-2", "us-1")
}
IN_EU = {"fieldSelector": {"matchExpressions": [{"key": "region", "operator": "In", "values": ["eu"]}]}}
WEB = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
HOME = a_config_map("greeting", namespace="team", text="hello")


@pytest.fixture
def bin_folder(tmp_path: Path) -> str:
    """A search path with the stand-in, which writes a line for each run beside itself."""
    script = f'echo "$@" >> {tmp_path}/calls\n[ ! -e values-0.yaml ] || /bin/cat values-0.yaml'
    return a_script(tmp_path / "bin", "helm", script)


def calls(tmp_path: Path) -> int:
    return (tmp_path / "calls").read_text().count("\n")


def in_eu(**values: Any) -> dict[str, Any]:
    return {"targetCluster": IN_EU, "values": values}


def an_override(kind: str, api_version: str, path: str, value: Any, *, name: str = "platform") -> bytes:
    rule = {
        "targetCluster": {"clusterNames": ["us-1"]},
        "overriders": {"plaintext": [{"path": path, "operator": "replace", "value": value}]},
    }
    spec = {"resourceSelectors": [{"apiVersion": api_version, "kind": kind}], "overrideRules": [rule]}
    head = {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "ClusterOverridePolicy", "metadata": {"name": name}}
    return emit({**head, "spec": spec})


def made_for(found: Loaded, name: str) -> dict[str, Any]:
    """Return the content of an object by the clusters that have it so: "" for all others, None for nothing."""
    (template,) = (each for each in found.desired.templates if each.ref.name == name)
    variants = {" ".join(sorted(each.clusters)): each.manifest for each in template.variants}
    return {key: _content(each) for key, each in {"": template.manifest, **variants}.items()}


def _content(manifest: Any) -> Any:
    return None if manifest is None else manifest.get("data") or manifest["spec"]["replicas"]


class ValueCase(NamedTuple):
    why: str
    files: Mapping[str, Content]
    want: Mapping[str, Any]
    renders: int


HELLO, HALLO, HOWDY = {"text": "hello"}, {"text": "hallo"}, {"text": "howdy"}
CASES = [
    ValueCase("no rule: all clusters are one", {"shop.yaml": a_chart(values=HOME)}, {"": HELLO}, 2),
    ValueCase(
        "a rule of the chart adds to its values",
        {"shop.yaml": a_chart(values=HOME, overrideRules=[in_eu(data=HALLO)])},
        {"": HELLO, "eu-1 eu-2": HALLO},
        4,
    ),
    ValueCase(
        "an override policy changes what the chart asks for, after its own rules",
        {
            "shop.yaml": a_chart(values=HOME, overrideRules=[in_eu(data=HALLO)]),
            "us.yaml": an_override("HelmChart", "argosy.dev/v1alpha1", "/spec/values/data/text", "howdy"),
        },
        {"": HALLO, "us-1": HOWDY},
        4,
    ),
    ValueCase(
        "rules that lead to the same values are one class",
        {
            "shop.yaml": a_chart(values=HOME, overrideRules=[in_eu(data=HALLO)]),
            "us.yaml": an_override("HelmChart", "argosy.dev/v1alpha1", "/spec/values/data/text", "hallo"),
        },
        {"": HALLO},
        2,
    ),
    ValueCase(
        "a policy that selects other kinds, or all of them, is no rule of a chart",
        {
            "shop.yaml": a_chart(values=HOME),
            "us.yaml": an_override("ConfigMap", "v1", "/data/text", "howdy"),
        },
        {"": HELLO},
        2,
    ),
    ValueCase(
        "a rule without target is for all clusters",
        {"shop.yaml": a_chart(values=HOME, overrideRules=[{"values": {"data": HALLO}}])},
        {"": HALLO},
        2,
    ),
    ValueCase(
        "files of a rule come after those of the chart, and count less than values",
        {
            "shop.yaml": a_chart(
                valuesFiles=["v/all.yaml"], overrideRules=[{"targetCluster": IN_EU, "valuesFiles": ["v/eu.yaml"]}]
            ),
            "v/all.yaml": emit({**HOME, "data": HELLO}),
            "v/eu.yaml": emit({"data": HALLO}),
        },
        {"": HELLO},
        4,
    ),
    ValueCase(
        "an object that only some clusters have",
        {
            "shop.yaml": a_chart(
                overrideRules=[in_eu(**HOME), {"targetCluster": {"clusterNames": ["eu-2"]}, "values": {"data": HALLO}}]
            )
        },
        {"": HELLO, "us-1": None, "eu-2": HALLO},
        6,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.why)
def test_a_chart_is_rendered_once_for_each_class_of_clusters(case: ValueCase, tmp_path: Path, bin_folder: str) -> None:
    """Each distinct rendering takes two runs, which are compared."""
    found = loaded({**CHART, **CLUSTERS, **case.files}, bin_folder)
    assert (said(found), made_for(found, "greeting"), calls(tmp_path)) == ("", case.want, case.renders)


def test_classes_are_remembered_one_by_one(tmp_path: Path, bin_folder: str) -> None:
    cache, files = Memory(), {**CHART, **CLUSTERS}
    first = a_chart(values=HOME, overrideRules=[in_eu(data=HALLO)])
    loaded({**files, "shop.yaml": first}, bin_folder, cache)
    changed = a_chart(values=HOME, overrideRules=[in_eu(data=HOWDY)])
    found = loaded({**files, "shop.yaml": changed}, bin_folder, cache)
    assert (made_for(found, "greeting"), calls(tmp_path)) == ({"": HELLO, "eu-1 eu-2": HOWDY}, 6)
    assert loaded({**files, "shop.yaml": changed}, bin_folder, cache).desired.templates == found.desired.templates
    assert calls(tmp_path) == 6


def test_a_digest_changes_with_what_any_cluster_gets(bin_folder: str) -> None:
    def digest(*rules: Any) -> str:
        found = loaded({**CHART, **CLUSTERS, "shop.yaml": a_chart(values=HOME, overrideRules=list(rules))}, bin_folder)
        return found.desired.templates[0].digest

    digests = [digest(), digest(in_eu(data=HALLO)), digest(in_eu(data=HOWDY)), digest(in_eu(data=HALLO))]
    assert (len(set(digests)), digests[1] == digests[3]) == (3, True)


FLUX = {
    "apiVersion": "helm.toolkit.fluxcd.io/v2",
    "kind": "HelmRelease",
    "metadata": {"name": "shop", "namespace": "team"},
    "spec": {
        "chart": {"spec": {"chart": "charts/web", "sourceRef": {"kind": "GitRepository", "name": "fleet"}}},
        "values": HOME,
    },
}
ARGO = {
    "apiVersion": "argoproj.io/v1alpha1",
    "kind": "Application",
    "metadata": {"name": "shop", "namespace": "argocd"},
    "spec": {"source": {"path": "charts/web", "helm": {"valuesObject": HOME}}, "destination": {"namespace": "team"}},
}
FLEET = {
    "apiVersion": "argosy.dev/v1alpha1",
    "kind": "Fleet",
    "spec": {"source": {"render": ["HelmRelease", "Application"]}},
}
RELEASES = [
    (FLUX, "HelmRelease", "helm.toolkit.fluxcd.io/v2", "/spec/values/data/text"),
    (ARGO, "Application", "argoproj.io/v1alpha1", "/spec/source/helm/valuesObject/data/text"),
]


@pytest.mark.parametrize(("release", "kind", "api_version", "path"), RELEASES, ids=["Flux", "Argo CD"])
def test_policies_that_select_a_release_change_its_values(
    release: Any, kind: str, api_version: str, path: str, bin_folder: str
) -> None:
    files = {
        "argosy.yaml": emit(FLEET),
        "r.yaml": emit(release),
        "us.yaml": an_override(kind, api_version, path, "howdy"),
    }
    found = loaded({**CHART, **CLUSTERS, **files}, bin_folder)
    assert (said(found), made_for(found, "greeting")) == ("", {"": HELLO, "us-1": HOWDY})


class WrongRule(NamedTuple):
    why: str
    files: Mapping[str, Content]
    said: str


WRONG = [
    WrongRule(
        "a rule without a change",
        {"shop.yaml": a_chart(overrideRules=[{"targetCluster": IN_EU}])},
        "shop.yaml:10: spec.overrideRules[0]: changes nothing: it has neither values nor valuesFiles",
    ),
    WrongRule(
        "a property that clusters do not have",
        {
            "shop.yaml": a_chart(
                overrideRules=[
                    {
                        "targetCluster": {"fieldSelector": {"matchExpressions": [{"key": "colour", "operator": "In"}]}},
                        "values": HOME,
                    }
                ]
            )
        },
        "shop.yaml:11: spec.overrideRules[0].targetCluster.fieldSelector: unknown key 'colour'\n"
        "  hint: write 'provider', 'region' or 'zone'",
    ),
    WrongRule(
        "a policy that changes what is not there",
        {
            "shop.yaml": a_chart(values=HOME),
            "us.yaml": an_override("HelmChart", "argosy.dev/v1alpha1", "/spec/values/replicas", 2),
        },
        "us.yaml:9: spec.overrideRules[0].overriders.plaintext[0]: 'replicas' does not exist in /spec/values "
        "(in HelmChart.argosy.dev team/shop)",
    ),
    WrongRule(
        "a policy that makes a chart wrong",
        {
            "shop.yaml": a_chart(values=HOME, hooks="Exclude"),
            "us.yaml": an_override("HelmChart", "argosy.dev/v1alpha1", "/spec/hooks", "Some"),
        },
        "shop.yaml:9: spec.hooks: unknown value 'Some' (in us-1, by ClusterOverridePolicy platform "
        "spec.overrideRules[0])\n  hint: write 'Exclude' or 'Include'",
    ),
    WrongRule(
        "values of a file that is not there",
        {"shop.yaml": a_chart(overrideRules=[{"targetCluster": IN_EU, "valuesFiles": ["x.yaml"]}])},
        "shop.yaml:6: spec.valuesFiles[0]: there is no 'x.yaml' (in eu-1, eu-2, by spec.overrideRules[0])\n"
        "  hint: it would be x.yaml, seen from argosy.yaml",
    ),
]


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case.why)
def test_a_wrong_rule_is_a_problem_at_its_field(case: WrongRule, bin_folder: str) -> None:
    assert said(loaded({**CHART, **CLUSTERS, **case.files}, bin_folder)) == case.said


def test_a_rule_for_clusters_that_are_not_there_is_a_warning(bin_folder: str) -> None:
    rule = {"targetCluster": {"clusterNames": ["eu-3"]}, "values": {"data": HALLO}}
    found = loaded({**CHART, **CLUSTERS, "shop.yaml": a_chart(values=HOME, overrideRules=[rule])}, bin_folder)
    assert warned(found) == [
        "shop.yaml:11: spec.overrideRules[0].targetCluster.clusterNames: no cluster of the source is called 'eu-3'"
    ]


def test_a_policy_that_selects_a_chart_is_no_probable_mistake(
    tmp_path: Path, bin_folder: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}{os.environ['PATH']}")
    repository = Repository.create(tmp_path / "fleet")
    policy = an_override("HelmChart", "argosy.dev/v1alpha1", "/spec/values/data/text", "howdy")
    repository.commit({**CHART, **CLUSTERS, "shop.yaml": a_chart(values=HOME), "us.yaml": policy})
    assert "selects no template" not in argosy(repository, capsys, "validate").out
    repository.commit({"us.yaml": policy.replace(b"HelmChart", b"HelmChrat")})
    said_now = argosy(repository, capsys, "validate").out
    assert (
        "us.yaml:16: spec.resourceSelectors[0]: selects no template\n  hint: did you mean kind 'HelmChart'?" in said_now
    )


FAILS = "helm v9.9.9 cannot render charts/web for {}: it ended with exit code 1"


@pytest.mark.parametrize(
    ("text", "problem", "objects"),
    [
        ("hallo", f"shop.yaml: {FAILS.format('eu-1, eu-2')}", ["ConfigMap team/greeting"]),
        ("hello", f"shop.yaml: {FAILS.format('us-1')}", []),
    ],
    ids=["for those of a rule: only they have none", "for those that no rule targets: nobody has any"],
)
def test_a_chart_that_fails_for_some_clusters(text: str, problem: str, objects: list[str], tmp_path: Path) -> None:
    path = a_script(tmp_path / "bin", "helm", f"/bin/cat values-0.yaml; ! /bin/grep -q {text} values-0.yaml")
    found = loaded({**CHART, **CLUSTERS, "shop.yaml": a_chart(values=HOME, overrideRules=[in_eu(data=HALLO)])}, path)
    assert (said(found), objects_of(found), found.problems_that_block) == (problem, objects, ())
    errors = {" ".join(sorted(v.clusters)): v.error for each in found.desired.templates for v in each.variants}
    failed = {"eu-1 eu-2": "helm v9.9.9 cannot render HelmChart team/shop for it"}
    assert errors == (failed if objects else {})


PASSED: Mapping[str, Content] = {
    **CHART,
    **CLUSTERS,
    "policy.yaml": emit(
        a_policy(
            "all",
            namespace="team",
            selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}],
            placement=on_clusters("eu-1", "eu-2", "us-1"),
        )
    ),
    "argosy.yaml": emit({"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet"}),
}


def test_clusters_for_which_a_chart_fails_keep_what_they_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The others get the new one, and the binding says which clusters do not, and why."""
    path = a_script(tmp_path / "bin", "helm", "/bin/cat values-0.yaml; ! /bin/grep -q fail values-0.yaml")
    monkeypatch.setenv("PATH", f"{path}:{os.environ['PATH']}")
    repository = Repository.create(tmp_path / "fleet")
    before = a_chart(values=HOME, overrideRules=[in_eu(data=HALLO)])
    repository.commit({**PASSED, "shop.yaml": before})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    changed = a_config_map("greeting", namespace="team", text="hi")
    after = a_chart(values=changed, overrideRules=[in_eu(data={"text": "fail"})])
    repository.commit({"shop.yaml": after})
    ended = argosy(repository, capsys, "reconcile")
    assert f"shop.yaml: {FAILS.format('eu-1, eu-2')}" in ended.err
    objects = {
        name: parse_documents(repository.show(f"clusters/{name}/team/ConfigMap/greeting.yaml").encode())[0].value
        for name in ("eu-1", "eu-2", "us-1")
    }
    texts = {name: each["data"]["text"] for name, each in objects.items()}
    assert texts == {"eu-1": "hallo", "eu-2": "hallo", "us-1": "hi"}
    binding = parse_documents(repository.show("bindings/team/ConfigMap/greeting.yaml").encode())[0].value
    (condition,) = (each for each in binding["status"]["conditions"] if each["type"] == "Rendered")
    error = "helm v9.9.9 cannot render HelmChart team/shop for it"
    assert (condition["reason"], condition["message"]) == ("BuildFailed", f"eu-1, eu-2: {error}")
    assert argosy(repository, capsys, "verify").code == 0


def test_an_object_that_is_made_nowhere_any_more_stops_the_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = a_script(tmp_path / "bin", "helm", "/bin/cat values-0.yaml; ! /bin/grep -q fail values-0.yaml")
    monkeypatch.setenv("PATH", f"{path}:{os.environ['PATH']}")
    repository = Repository.create(tmp_path / "fleet")
    only_there = a_config_map("notice", namespace="team", text="hallo")
    repository.commit({**PASSED, "shop.yaml": a_chart(values=HOME, overrideRules=[in_eu(**only_there)])})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    repository.commit({"shop.yaml": a_chart(values=HOME, overrideRules=[in_eu(data={"text": "fail"})])})
    ended = argosy(repository, capsys, "reconcile")
    want = f"shop.yaml: {FAILS.format('eu-1, eu-2')}; ConfigMap team/notice came from it"
    assert (ended.code, want in ended.err) == (3, True)


def of_version(version: str, *apis: str) -> dict[str, Any]:
    enablements = [{"groupVersion": each, "resources": [{"kind": "Monitor", "name": "monitors"}]} for each in apis]
    return {"kubernetesVersion": version, "apiEnablements": enablements}


PLAIN_CHART = {**CHART, "charts/web/templates/web.yaml": "a: b\n"}
FACTS = {"eu-1": of_version("v1.31.2"), "eu-2": of_version("v1.31.9"), "us-1": of_version("v1.33.0", "example.com/v1")}


@pytest.mark.parametrize(
    ("chart", "spec", "want"),
    [
        (CHART, {}, ["1.31.0", "1.33.0 --api-versions example.com/v1 --api-versions example.com/v1/Monitor"]),
        (
            CHART,
            {"kubeVersion": "1.30"},
            ["1.30", "1.30 --api-versions example.com/v1 --api-versions example.com/v1/Monitor"],
        ),
        (CHART, {"kubeVersion": "1.30", "apiVersions": ["a/v1"]}, ["1.30 --api-versions a/v1"]),
        (PLAIN_CHART, {}, ["1.37.0"]),
    ],
    ids=["neither is declared", "APIs are not", "both are", "the chart asks for neither"],
)
def test_a_chart_counts_on_what_is_declared_and_then_on_what_members_are(
    chart: Mapping[str, Content], spec: Mapping[str, Any], want: list[str], tmp_path: Path, bin_folder: str
) -> None:
    clusters = {f"clusters/{name}.yaml": emit({**a_cluster(name), "status": status}) for name, status in FACTS.items()}
    found = loaded({**chart, **clusters, "shop.yaml": a_chart(values=HOME, **spec)}, bin_folder)
    lines = (tmp_path / "calls").read_text().splitlines()
    asked = {line.partition("--kube-version ")[2].partition(" --values")[0] for line in lines}
    aggregated = " --api-versions apiregistration.k8s.io/v1"
    assert (said(found), all(aggregated in each for each in asked)) == ("", True)
    assert sorted(each.replace(aggregated, "", 1) for each in asked) == sorted(want)
    assert found.desired.is_built_by_facts == (len(spec) < 2 and chart is CHART)


DEPLOYMENT = a_deployment("web", replicas=6, namespace="team")
PLACED = a_policy("web", namespace="team", selectors=[WEB], placement=on_clusters("eu-1", "eu-2", "us-1"))
DIVIDED = a_policy(
    "web",
    namespace="team",
    selectors=[WEB],
    placement=on_clusters("eu-1", "eu-2", "us-1", replicaScheduling=weighted(**{"eu-1": 1, "eu-2": 1, "us-1": 1})),
)


def rendered(found: Loaded) -> Rendered:
    assert said(found) == ""
    return render_pass(Inputs(desired=found.desired, facts=dict[str, ClusterFacts](), previous=None, source="s"))


def in_clusters(pass_: Rendered) -> dict[str, tuple[Any, Any]]:
    """Replicas and image of the Deployment in each cluster."""
    (works,) = (works for ref, works in pass_.built.works.items() if ref.kind == "Deployment")
    outcome = {}
    for clusters, blob_id in works.variants:
        blob = works.blobs[blob_id]
        spec = parse_documents(content_of_blob(blob))[0].value["spec"]
        for position, name in enumerate(pass_.built.index.names):
            if clusters >> position & 1:
                outcome[name] = (spec.get("replicas"), spec["template"]["spec"]["containers"][0]["image"])
    return dict(sorted(outcome.items()))


def of_eu(**spec: Any) -> dict[str, Any]:
    pod = {"spec": {"containers": [{"name": "web", "image": "eu/nginx"}]}}
    return in_eu(spec={"template": pod, **spec})


def a_shop(*rules: Any, policy: Any = DIVIDED, values: Any = DEPLOYMENT) -> dict[str, Content]:
    chart = a_chart(values=values, overrideRules=list(rules))
    return {**CHART, **CLUSTERS, "shop.yaml": chart, "policy.yaml": emit(policy)}


def test_the_policy_divides_the_replicas_of_the_chart_and_values_decide_the_rest(bin_folder: str) -> None:
    found = loaded(a_shop(of_eu(replicas=60)), bin_folder)
    assert in_clusters(rendered(found)) == {"eu-1": (2, "eu/nginx"), "eu-2": (2, "eu/nginx"), "us-1": (2, "nginx:1.29")}


def test_where_nothing_is_divided_the_replicas_are_those_of_the_values(bin_folder: str) -> None:
    policy = {**PLACED, "spec": {**PLACED["spec"]}}
    policy["spec"]["placement"] = {
        **policy["spec"]["placement"],
        "replicaScheduling": {"replicaSchedulingType": "Duplicated"},
    }
    found = loaded(a_shop(of_eu(replicas=9), policy=policy), bin_folder)
    assert in_clusters(rendered(found)) == {"eu-1": (9, "eu/nginx"), "eu-2": (9, "eu/nginx"), "us-1": (6, "nginx:1.29")}


def test_replicas_that_a_variant_leaves_out_are_left_to_its_autoscaler(bin_folder: str) -> None:
    policy = {**PLACED, "spec": {**PLACED["spec"]}}
    policy["spec"]["placement"] = {
        **policy["spec"]["placement"],
        "replicaScheduling": {"replicaSchedulingType": "Duplicated"},
    }
    found = loaded(a_shop(of_eu(replicas=None), policy=policy), bin_folder)
    assert in_clusters(rendered(found)) == {
        "eu-1": (None, "eu/nginx"),
        "eu-2": (None, "eu/nginx"),
        "us-1": (6, "nginx:1.29"),
    }


def test_clusters_in_which_an_object_is_not_made_get_no_share_of_it(bin_folder: str) -> None:
    found = loaded(a_shop(in_eu(**DEPLOYMENT), values={}), bin_folder)
    pass_ = rendered(found)
    assert in_clusters(pass_) == {"eu-1": (3, "nginx:1.29"), "eu-2": (3, "nginx:1.29")}
    (ref,) = (template.ref for template in found.desired.templates)
    explained = "\n".join(
        "\n".join(map(str, (section.title, *section.before, *section.rows)))
        for section in object_sections(object_explanation(ref, found.desired, pass_))
    )
    assert "cluster(s) for which the object is not made" in explained


def test_overrides_see_what_the_values_made(bin_folder: str) -> None:
    rule = {"overriders": {"imageOverrider": [{"component": "Tag", "operator": "add", "value": "9"}]}}
    override = {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy",
        "metadata": {"name": "tag", "namespace": "team"},
        "spec": {"resourceSelectors": [WEB], "overrideRules": [{"targetCluster": IN_EU, **rule}]},
    }
    found = loaded({**a_shop(of_eu(replicas=60)), "tag.yaml": emit(override)}, bin_folder)
    pass_ = rendered(found)
    assert in_clusters(pass_) == {
        "eu-1": (2, "eu/nginx:9"),
        "eu-2": (2, "eu/nginx:9"),
        "us-1": (2, "nginx:1.29"),
    }
    (works,) = (works for ref, works in pass_.built.works.items() if ref.kind == "Deployment")
    assert RecordWriter(names=pass_.built.index.names).text_of(works) == (
        "  - policy: HelmChart team/shop\n    rule: spec.overrideRules[0]\n    clusters: [eu-1, eu-2]\n    changes:\n"
        "    - path: /spec/template/spec/containers/0/image\n      operator: replace\n      before: nginx:1.29\n"
        "      after: eu/nginx\n"
        "  - policy: OverridePolicy team/tag\n    rule: spec.overrideRules[0]\n    clusters: [eu-1, eu-2]\n"
        "    changes:\n"
        "    - path: /spec/template/spec/containers/0/image\n      operator: replace\n      before: eu/nginx\n"
        "      after: eu/nginx:9\n"
    )
    (ref,) = (template.ref for template in found.desired.templates)
    overrides = [
        (
            each.clusters,
            [(f"{step.applied.policy} {step.applied.rule}", list(map(str, step.changes))) for step in each.steps],
        )
        for each in object_explanation(ref, found.desired, pass_).overrides
    ]
    image = "/spec/template/spec/containers/0/image"
    assert overrides == [
        (
            ("eu-1", "eu-2"),
            [
                ("HelmChart team/shop spec.overrideRules[0]", [f'{image}: "nginx:1.29" -> "eu/nginx"']),
                ("OverridePolicy team/tag spec.overrideRules[0]", [f'{image}: "eu/nginx" -> "eu/nginx:9"']),
            ],
        )
    ]


def test_a_pass_over_values_per_cluster_commits_once_and_only_what_differs(
    tmp_path: Path, bin_folder: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}{os.environ['PATH']}")
    repository = Repository.create(tmp_path / "fleet")
    repository.commit(a_shop(in_eu(**DEPLOYMENT), values={}))
    first = argosy(repository, capsys, "reconcile", "--bootstrap")
    assert first.code == 0, first.err
    tip = repository.git("rev-parse", "argosy/rendered")
    assert argosy(repository, capsys, "reconcile").code == 0
    assert repository.git("rev-parse", "argosy/rendered") == tip
    assert argosy(repository, capsys, "verify").code == 0
    repository.commit(a_shop(in_eu(**DEPLOYMENT), {**of_eu(), "targetCluster": {"clusterNames": ["eu-2"]}}, values={}))
    assert argosy(repository, capsys, "reconcile").code == 0
    changed = repository.git("diff", "--name-only", tip, "argosy/rendered").splitlines()
    assert changed == [
        "bindings/team/Deployment.apps/web.yaml",
        "clusters/eu-2/team/Deployment.apps/web.yaml",
    ]


def test_another_helm_that_renders_otherwise_is_not_comparable_and_the_difference_is_shown(
    tmp_path: Path, bin_folder: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}{os.environ['PATH']}")
    repository = Repository.create(tmp_path / "fleet")
    repository.commit(a_shop())
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    program = Path(bin_folder) / "helm"
    script = (
        program.read_text().replace("v9.9.9", "v9.9.10").replace("cat values-0.yaml", "sed s/1.29/1.30/ values-0.yaml")
    )
    program.write_text(script)
    ended = argosy(repository, capsys, "verify")
    head, *lines = ended.out.splitlines()
    assert (ended.code, ": not comparable: helm v9.9.9 built its source, here helm v9.9.10 did; tree " in head) == (
        3,
        True,
    )
    image = '      spec.template.spec.containers[web].image: "nginx:1.29" -> "nginx:1.30"'
    paths = [f"clusters/{name}/team/Deployment.apps/web.yaml" for name in ("eu-1", "eu-2", "us-1")]
    assert lines == [line for path in paths for line in (f"  ~ {path}", image)]
    answer = json.loads(argosy(repository, capsys, "verify", "-o", "json").out)
    differences = answer["commits"][0]["differences"]
    assert [(each["path"], each["action"]) for each in differences] == [(path, "changed") for path in paths]
