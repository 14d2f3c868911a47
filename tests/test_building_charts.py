"""Charts rendered by helm: their objects are templates, equal in each render, and everything else is said."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.building.builder import INSTALL_HELM, SourceBuilder
from reconciler.building.chart_schemas import checkable_chart
from reconciler.building.requests import NEWEST_KUBERNETES
from reconciler.gitops.tools import GitOpsTools
from reconciler.source.loading import Loaded, load_source
from reconciler.source.reading import SourceReading
from reconciler.source.schemas.kubernetes import KubernetesSchemas
from render.documents import emit
from tests.build import a_config_map
from tests.helm import VERSION
from tests.sources import LINK, Content, Entry, packed, source_of
from tests.tables import each_row
from tests.test_building_kustomize import a_script, objects_of, said
from tests.test_source_loading import Memory

CHART: dict[str, Content] = {
    "charts/web/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.2.3\n",
    "charts/web/values.yaml": "replicas: 1\ngreeting: hello\n",
    "charts/web/crds/crd.yaml": (
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: gadgets.example.com}\n"
        "spec:\n  group: example.com\n  scope: Namespaced\n  names: {kind: Gadget, plural: gadgets}\n"
        "  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]\n"
    ),
    "charts/web/templates/web.yaml": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n"
        "data:\n  greeting: {{ .Values.greeting }}\n  kubernetes: {{ .Capabilities.KubeVersion.Version }}\n"
        '  monitored: {{ .Capabilities.APIVersions.Has "monitoring.coreos.com/v1" | quote }}\n'
    ),
    "charts/web/templates/migrate.yaml": (
        "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: migrate\n"
        "  annotations: {helm.sh/hook: 'pre-install, pre-upgrade'}\n"
        "spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}\n"
    ),
    "charts/web/templates/tests/check.yaml": (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: check, annotations: {helm.sh/hook: test}}\n"
        "spec: {containers: [{name: a, image: a}]}\n"
    ),
}


def a_chart(name: str = "shop", namespace: str = "team", **spec: Any) -> bytes:
    metadata = {"name": name, "namespace": namespace}
    head = {"apiVersion": "argosy.dev/v1alpha1", "kind": "HelmChart", "metadata": metadata}
    return emit({**head, "spec": {"chart": {"path": "charts/web"}, **spec}})


def loaded(files: Mapping[str, Content], path: Path | str, cache: Memory | None = None) -> Loaded:
    source = source_of(files)
    return load_source(
        source.files, SourceReading(source.read, other_tools=GitOpsTools(SourceBuilder(path=str(path), cache=cache)))
    )


def data_of(found: Loaded, name: str) -> dict[str, str]:
    """The data of a ConfigMap among templates."""
    return next(dict(each.manifest["data"]) for each in found.desired.templates if each.ref.name == name)


def warned(found: Loaded) -> list[str]:
    return [str(warning) for warning in found.desired.warnings]


HOOKS = (
    "shop.yaml:1: 1 hook left out: Job migrate (pre-install, pre-upgrade)\n"
    "  hint: hooks: Include makes them objects like all others"
)


@pytest.mark.cluster
def test_the_objects_of_a_chart_are_templates(helm: Path) -> None:
    found = loaded({**CHART, "shop.yaml": a_chart()}, helm)
    assert said(found) == ""
    assert objects_of(found) == [
        "ConfigMap team/shop",
        "CustomResourceDefinition.apiextensions.k8s.io gadgets.example.com",
    ]
    web = found.desired.templates[0]
    assert (web.path, web.origin) == ("shop.yaml", "charts/web/templates/web.yaml")
    assert web.manifest["data"] == {"greeting": "hello", "kubernetes": f"v{NEWEST_KUBERNETES}", "monitored": "false"}
    assert found.desired.tools == (f"helm {VERSION}",)
    assert warned(found) == [HOOKS]


@pytest.mark.cluster
def test_values_come_from_files_then_config_maps_then_the_chart_itself(helm: Path) -> None:
    files = {
        **CHART,
        "values/eu.yaml": "greeting: file\n",
        "settings.yaml": emit(a_config_map("settings", namespace="team", **{"values.yaml": "greeting: map\n"})),
    }
    spec: dict[str, Any] = {"valuesFiles": ["values/eu.yaml"]}
    assert data_of(loaded({**files, "shop.yaml": a_chart(**spec)}, helm), "shop")["greeting"] == "file"
    spec |= {"valuesFrom": [{"configMap": "settings"}, {"configMap": "none", "optional": True}]}
    assert data_of(loaded({**files, "shop.yaml": a_chart(**spec)}, helm), "shop")["greeting"] == "map"
    spec |= {"values": {"greeting": "inline"}}
    assert data_of(loaded({**files, "shop.yaml": a_chart(**spec)}, helm), "shop")["greeting"] == "inline"


@pytest.mark.cluster
def test_a_release_has_the_name_the_versions_the_hooks_and_the_crds_that_are_asked_for(helm: Path) -> None:
    apis = ["monitoring.coreos.com/v1"]
    chart = a_chart(releaseName="other", kubeVersion="1.30", apiVersions=apis, hooks="Include", crds="Exclude")
    found = loaded({**CHART, "shop.yaml": chart}, helm)
    assert objects_of(found) == ["ConfigMap team/other", "Job.batch team/migrate"]
    assert data_of(found, "other") == {"greeting": "hello", "kubernetes": "v1.30", "monitored": "true"}


class Hostile(NamedTuple):
    why: str
    template: str
    said: str


RANDOM = "two renders differ: charts/web/templates/web.yaml:{line}: {call} makes up a value"
MADE_UP = "\n  hint: give the value that it makes up among the values, so that each render is the same"
HOSTILE = [
    Hostile(
        "a value of chance",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: {{ randAlphaNum 20 }}\n",
        f"{RANDOM.format(line=5, call='randAlphaNum')}{MADE_UP}",
    ),
    Hostile(
        "a certificate that is made anew",
        '{{- $ca := genCA "a" 365 }}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n'
        "data: {a: {{ $ca.Cert | b64enc }}}\n",
        f"{RANDOM.format(line=1, call='genCA')}{MADE_UP}",
    ),
    Hostile(
        "a file of the machine",
        'a: {{ .Files.Get "/etc/passwd" | quote }}{{ .Files.Get "../../../../../../etc/passwd" | quote }}\n',
        "",
    ),
    Hostile(
        "a template that fails", '{{ fail "no way" }}\n', "execution error at (web/templates/web.yaml:1:3): no way"
    ),
]


@pytest.mark.cluster
@pytest.mark.parametrize("case", HOSTILE, ids=lambda case: case.why)
def test_a_hostile_chart_is_refused_or_finds_nothing(case: Hostile, helm: Path) -> None:
    found = loaded({**CHART, "charts/web/templates/web.yaml": case.template, "shop.yaml": a_chart()}, helm)
    wanted = f"shop.yaml: helm {VERSION} cannot render charts/web: {case.said}" if case.said else ""
    assert said(found) == wanted or not case.said
    assert not any("root:" in json.dumps(template.manifest) for template in found.desired.templates)


@pytest.mark.cluster
def test_a_chart_that_asks_the_clock_or_a_cluster_is_named(helm: Path) -> None:
    template = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n"
        '  day: {{ now | date "2006" | quote }}\n  is: {{ lookup "v1" "Secret" "a" "b" | toJson | quote }}\n'
        "  not: {{/* now */}} now\n"
    )
    found = loaded({**CHART, "charts/web/templates/web.yaml": template, "shop.yaml": a_chart()}, helm)
    web = "charts/web/templates/web.yaml"
    assert (
        f"shop.yaml:1: {web}:5: now asks the clock, so that a later render may differ, "
        f"{web}:6: lookup asks a cluster, and a render has none: it finds nothing"
    ) in warned(found)


class Wrong(NamedTuple):
    why: str
    files: Mapping[str, Content]
    said: str


SAME = "\n  hint: a render reads files of the same commit alone"
WRONG = [
    Wrong(
        "no chart there",
        {"shop.yaml": a_chart(chart={"path": "charts/x"})},
        "shop.yaml:8: spec.chart.path: there is no chart at 'charts/x'\n"
        "  hint: it would be charts/x/Chart.yaml, seen from argosy.yaml",
    ),
    Wrong(
        "a chart outside",
        {"shop.yaml": a_chart(chart={"path": "../x"})},
        f"shop.yaml:8: spec.chart.path: '../x' leads out of the repository{SAME}",
    ),
    Wrong(
        "values outside",
        {"shop.yaml": a_chart(valuesFiles=["/etc/passwd"])},
        f"shop.yaml:10: spec.valuesFiles[0]: '/etc/passwd' leads out of the repository{SAME}",
    ),
    Wrong(
        "values that are a link",
        {"shop.yaml": a_chart(valuesFiles=["v.yaml"]), "v.yaml": Entry(b"/etc/passwd", LINK)},
        "shop.yaml:10: spec.valuesFiles[0]: 'v.yaml' is a link, or too large; only files of the repository are read",
    ),
    Wrong(
        "a chart with a link",
        {"shop.yaml": a_chart(), "charts/web/templates/l.yaml": Entry(b"/etc/passwd", LINK)},
        "shop.yaml:8: spec.chart.path: charts/web/templates/l.yaml is a link; links are never followed",
    ),
    Wrong(
        "a ConfigMap that is not there",
        {"shop.yaml": a_chart(valuesFrom=[{"configMap": "x"}])},
        "shop.yaml:10: spec.valuesFrom[0]: there is no ConfigMap team/x in the source\n"
        "  hint: optional: true goes on without",
    ),
    Wrong(
        "a Source that is not there",
        {"shop.yaml": a_chart(chart={"source": "x"})},
        "shop.yaml:8: spec.chart.source: there is no Source 'x'\n  hint: write one: kind: Source",
    ),
    Wrong(
        "an option in place of an API version",
        {"shop.yaml": a_chart(apiVersions=["--post-renderer=/bin/sh"])},
        "shop.yaml:8: spec.apiVersions[0]: '--post-renderer=/bin/sh' is no API version\n"
        "  hint: such as 'monitoring.coreos.com/v1' or 'monitoring.coreos.com/v1/ServiceMonitor'",
    ),
    Wrong(
        "an option in place of a release",
        {"shop.yaml": a_chart(releaseName="--post-renderer=x")},
        "shop.yaml:9: spec.releaseName: '--post-renderer=x' is no name of a release: a DNS label of at most "
        "53 characters",
    ),
    Wrong(
        "no chart at all",
        {"shop.yaml": a_chart(chart={})},
        "shop.yaml:7: spec.chart: must name a path, a source or both",
    ),
]


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case.why)
def test_a_wrong_chart_is_a_problem_at_its_field(case: Wrong, tmp_path: Path) -> None:
    path = a_script(tmp_path / "bin", "helm", "exit 1")
    assert said(loaded({**CHART, **case.files}, path)) == case.said


OUTPUT = "echo 'apiVersion: v1'; echo 'kind: ConfigMap'; echo 'metadata: {name: a}'"


def test_a_schema_that_refers_to_something_else_is_left_out_and_said_once(tmp_path: Path) -> None:
    path = a_script(tmp_path / "bin", "helm", f"[ -e chart/values.schema.json ] && exit 1; {OUTPUT}")
    schema = '{"properties": {"a": {"$ref": "file:///etc/passwd"}}}'
    files = {**CHART, "charts/web/values.schema.json": schema, "shop.yaml": a_chart(), "x.yaml": a_chart("x", "x")}
    found = loaded(files, path)
    assert (said(found), objects_of(found)) == ("", ["ConfigMap team/a", "ConfigMap x/a"])
    said_once = "refers to another file or address, which no render reads, so that no values are compared with it"
    assert warned(found) == [f"shop.yaml:1: charts/web/values.schema.json {said_once}"]


class Schema(NamedTuple):
    why: str
    text: str
    is_kept: bool


SCHEMAS = [
    Schema("of values alone", '{"type": "object"}', True),
    Schema("that refers to a part of itself", '{"$ref": "#/$defs/a", "$defs": {"a": {}}}', True),
    Schema("of a dialect that helm knows", '{"$schema": "https://json-schema.org/draft/2020-12/schema"}', True),
    Schema("of an older one", '{"$schema": "http://json-schema.org/draft-07/schema#"}', True),
    Schema("that refers to a file", '{"items": [{"$ref": "file:///etc/passwd"}]}', False),
    Schema("that refers to a file beside it", '{"$ref": "other.json"}', False),
    Schema("that refers to an address", '{"$dynamicRef": "https://schemas.example.com/a"}', False),
    Schema("that writes the word in another way", '{"\\u0024ref": "file:///etc/passwd"}', False),
    Schema("that says the word twice", '{"$ref": "file:///etc/passwd", "$ref": "#"}', False),
    Schema("of a dialect that is a file", '{"$schema": "file:///etc/passwd"}', False),
    Schema("that nobody can read", "{", False),
]


@each_row("case", SCHEMAS, ids=lambda case: case.why)
def test_a_schema_is_only_kept_where_it_refers_to_itself_alone(case: Schema) -> None:
    schema = case.text.encode()
    inner = packed(("sub/Chart.yaml", b"name: sub\n", ""), ("sub/values.schema.json", schema, ""))
    files = {"values.schema.json": schema, "charts/sub.tgz": inner, "files/sub.tgz": inner}
    left = {"charts/sub.tgz.d/Chart.yaml": b"name: sub\n", "files/sub.tgz": inner}
    found = checkable_chart(files)
    missing = () if case.is_kept else ("values.schema.json", "charts/sub.tgz/values.schema.json")
    assert (found.files, found.left_out) == (files if case.is_kept else left, missing)
    assert checkable_chart(files, has_schemas=False) == (left, ())


def test_without_helm_one_problem_names_the_command_and_the_rest_is_read(tmp_path: Path) -> None:
    files = {**CHART, "shop.yaml": a_chart(), "b.yaml": a_chart("b"), "x.yaml": emit(a_config_map("x"))}
    found = loaded(files, tmp_path)
    assert said(found) == (
        f"b.yaml: helm is not installed, so 2 charts cannot be rendered: b, shop\n  hint: {INSTALL_HELM}"
    )
    assert objects_of(found) == ["ConfigMap default/x"]


def test_what_helm_is_asked_for_is_all_that_is_declared(tmp_path: Path) -> None:
    path = a_script(tmp_path / "bin", "helm", 'echo "$@" >&2; exit 1')
    assert said(loaded({**CHART, "shop.yaml": a_chart(values={"a": 1}, apiVersions=["a/v1"])}, path)) == (
        "shop.yaml: helm v9.9.9 cannot render charts/web: template shop chart --namespace team --kube-version 1.37.0 "
        "--api-versions apiregistration.k8s.io/v1 --api-versions a/v1 --values values-0.yaml --include-crds"
    )


def test_a_chart_is_rendered_twice_once_and_not_again_while_it_stays(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    path = a_script(tmp_path / "bin", "helm", f"echo x >> {calls}; {OUTPUT}")
    cache, files = Memory(), {**CHART, "shop.yaml": a_chart()}
    first = loaded(files, path, cache)
    assert (objects_of(first), calls.read_text().count("x")) == (["ConfigMap team/a"], 2)
    assert loaded(files, path, cache).desired.templates == first.desired.templates
    assert calls.read_text().count("x") == 2
    loaded({**files, "charts/web/values.yaml": "replicas: 2\n"}, path, cache)
    assert calls.read_text().count("x") == 4


def test_a_second_render_that_fails_is_told_as_what_it_is(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    fails = f"[ -e {calls} ] && {{ echo 'Error: no space left' >&2; exit 1; }}"
    path = a_script(tmp_path / "bin", "helm", f"{fails}; echo > {calls}; {OUTPUT}")
    assert said(loaded({**CHART, "shop.yaml": a_chart()}, path)) == (
        "shop.yaml: helm v9.9.9 cannot render charts/web: no space left"
    )


def test_a_chart_without_its_dependencies_is_told_what_to_commit(tmp_path: Path) -> None:
    path = a_script(
        tmp_path / "bin",
        "helm",
        "echo 'Error: it is missing in charts/ directory: redis' >&2; exit 1",
    )
    assert said(loaded({**CHART, "shop.yaml": a_chart()}, path)) == (
        "shop.yaml: helm v9.9.9 cannot render charts/web: it is missing in charts/ directory: redis\n"
        "  hint: commit what 'helm dependency build' puts into its folder charts/, as nothing is fetched"
    )


def test_output_with_secrets_is_remembered_and_not_in_clear_text(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    secret = "echo 'apiVersion: v1'; echo 'kind: Secret'; echo 'metadata: {name: a}'; echo 'stringData: {a: hidden}'"
    path = a_script(tmp_path / "bin", "helm", f"echo x >> {calls}; {secret}")
    cache, files = Memory(), {**CHART, "shop.yaml": a_chart()}
    assert objects_of(loaded(files, path, cache)) == ["Secret team/a"]
    assert objects_of(loaded(files, path, cache)) == ["Secret team/a"]
    assert (calls.read_text().count("x"), "hidden" in repr(cache.values)) == (2, False)


def test_a_chart_that_nothing_renders_is_said() -> None:
    assert warned(loaded(CHART, "")) == [
        ".: no file here holds a Kubernetes manifest",
        "charts/web: not read: a Helm chart that no HelmChart renders",
    ]


def test_charts_are_rendered_for_the_newest_kubernetes_that_there_are_schemas_of() -> None:
    assert f"1.{KubernetesSchemas().newest}.0" == NEWEST_KUBERNETES


EXAMPLE = Path(__file__).parent.parent / "examples" / "sources"


@pytest.mark.cluster
def test_the_chart_of_the_example_is_divided_like_a_file(helm: Path) -> None:
    files: dict[str, Content] = {
        path.relative_to(EXAMPLE).as_posix(): path.read_bytes()
        for folder in ("charted", "clusters", "policies")
        for path in (EXAMPLE / folder).rglob("*")
        if path.is_file()
    }
    found = loaded(files, helm)
    assert (said(found), warned(found)) == ("", [])
    (greeter,) = found.desired.templates
    assert (str(greeter.ref), greeter.manifest["spec"]["replicas"]) == ("Deployment.apps shop/greeter", 3)
    assert greeter.manifest["spec"]["template"]["spec"]["containers"][0]["env"] == [
        {"name": "GREETING", "value": "Welcome"}
    ]
