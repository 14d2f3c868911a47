"""Charts that would not end, take all there is, or read what is not theirs: the real helm is bounded, and refused."""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.building.builder import SourceBuilder
from reconciler.building.sandbox import RunLimits
from reconciler.gitops.tools import GitOpsTools
from reconciler.source.loading import Loaded, load_source
from reconciler.source.reading import SourceReading
from render.documents import emit
from tests.sources import Content, packed, source_of
from tests.test_building_charts import CHART, a_chart
from tests.test_building_kustomize import a_script, said
from tests.test_building_releases import FLEET, an_application

LIMITS = RunLimits(seconds=4, output=1 << 20, memory=2 << 30)
MOST_SECONDS = 60
CANARY = "c4n4ry-of-this-machine"
WEB = "charts/web/templates/web.yaml"


def loaded(files: Mapping[str, Content], path: Path | str) -> Loaded:
    source = source_of(files)
    build = SourceBuilder(path=str(path), limits=LIMITS)
    return load_source(source.files, SourceReading(source.read, other_tools=GitOpsTools(build)))


def a_config_map(text: str) -> str:
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n  a: {text}\n"


class Endless(NamedTuple):
    why: str
    template: str
    values: Mapping[str, Any] = {}


ENDLESS = [
    Endless("loops in loops", "{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}"),
    Endless("a loop over more than there is memory", "{{ range until 2000000000 }}x{{ end }}"),
    Endless("a template that includes itself", '{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}'),
    Endless(
        "a text that is a template of itself",
        "{{ tpl .Values.again . }}",
        {"again": "{{ tpl .Values.again . }}"},
    ),
    Endless(
        "templates that grow by each other",
        '{{ define "a" }}{{ tpl .Values.again . }}{{ end }}{{ include "a" . }}',
        {"again": '{{ include "a" . }}'},
    ),
    Endless("output without end", '{{ range until 100000 }}{{ repeat 1000 "x" }}{{ end }}'),
    Endless("a text that is repeated more often than there is memory", '{{ repeat 2000000000 "xx" | sha256sum }}'),
    Endless("a pattern that takes long", '{{ regexMatch "(a+)+$" (printf "%sb" (repeat 1000000 "a")) }}{{ fail "x" }}'),
    Endless("a key that is derived for hours", '{{ derivePassword 2000000000 "long" "a" "b" "c" }}{{ fail "x" }}'),
]


@pytest.mark.cluster
@pytest.mark.parametrize("case", ENDLESS, ids=lambda case: case.why)
def test_a_chart_that_takes_all_there_is_ends_at_a_bound(case: Endless, helm: Path) -> None:
    begun = time.monotonic()
    found = loaded({**CHART, WEB: case.template, "shop.yaml": a_chart(values=case.values)}, helm)
    assert "shop.yaml: helm " in said(found)
    assert " cannot render charts/web: " in said(found)
    assert (len(said(found)) < 2000, found.desired.templates) == (True, ())
    assert time.monotonic() - begun < MOST_SECONDS


class Reading(NamedTuple):
    why: str
    files: Mapping[str, Content]
    chart: Mapping[str, Any] = {}


def reading(expression: str) -> dict[str, Content]:
    return {WEB: a_config_map(f"{{{{ {expression} | quote }}}}")}


SUBCHART = b"apiVersion: v2\nname: sub\nversion: 1.0.0\n"
SUBTEMPLATE = a_config_map('{{ .Files.Get "secret.txt" | quote }}').encode()


def attempts(secret: Path) -> list[Reading]:
    """Everything that would show what stands in a file of this machine, or in its environment."""
    up, tagged = "../" * 12, f"a: !include {secret}\nb: !!python/object/apply:open ['{secret}']\n"
    return [
        Reading("an absolute path", reading(f'.Files.Get "{secret}"')),
        Reading("a path that leads up", reading(f'.Files.Get "{up}{str(secret)[1:]}"')),
        Reading("a pattern that leads up", reading(f'(.Files.Glob "{up}**").AsConfig')),
        Reading("lines of a file", reading(f'.Files.Lines "{secret}" | toJson')),
        Reading("the environment", reading('env "CANARY"')),
        Reading("the environment in a text", reading('expandenv "$CANARY"')),
        Reading(
            "a link in a packed chart",
            {
                "charts/web/charts/sub.tgz": packed(
                    ("sub/Chart.yaml", SUBCHART, ""),
                    ("sub/secret.txt", b"", str(secret)),
                    ("sub/templates/a.yaml", SUBTEMPLATE, ""),
                )
            },
        ),
        Reading(
            "a packed chart that leads out",
            {
                "charts/web/charts/sub.tgz": packed(
                    ("sub/Chart.yaml", SUBCHART, ""), (f"sub/{up}tmp/argosy-escaped", b"x", "")
                )
            },
        ),
        Reading(
            "a schema that is a file",
            {"charts/web/values.schema.json": json.dumps({"properties": {"a": {"$ref": f"file://{secret}"}}})},
            {"values": {"a": 1}},
        ),
        Reading(
            "a schema that is a file, written in another way",
            {"charts/web/values.schema.json": f'{{"\\u0024ref": "file://{secret}"}}'},
            {"values": {"a": 1}},
        ),
        Reading(
            "a schema in a packed chart whose dialect is a file",
            {
                "charts/web/charts/sub.tgz": packed(
                    ("sub/Chart.yaml", SUBCHART, ""),
                    ("sub/values.schema.json", json.dumps({"$schema": f"file://{secret}"}).encode(), ""),
                )
            },
            {"values": {"sub": {"a": 1}}},
        ),
        Reading(
            "a dependency that is a folder",
            {
                "charts/web/Chart.yaml": f"apiVersion: v2\nname: web\nversion: 1.0.0\n"
                f"dependencies: [{{name: sub, version: 1.0.0, repository: 'file://{secret.parent}'}}]\n"
            },
        ),
        Reading("values that are a file", {}, {"valuesFiles": [str(secret)]}),
        Reading("values that are a file, by a rule", {}, {"overrideRules": [{"valuesFiles": [f"{up}{secret}"]}]}),
        Reading(
            "values with a tag",
            {"v.yaml": tagged},
            {"valuesFiles": ["v.yaml"]},
        ),
        Reading("what a cluster has", reading('lookup "v1" "Secret" "kube-system" "" | toJson')),
        Reading("a name on the network", reading('getHostByName "localhost"')),
    ]


@pytest.mark.cluster
def test_no_chart_shows_what_is_not_its_own(helm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY", CANARY)
    secret = tmp_path / "secret.txt"
    secret.write_text(CANARY)
    (tmp_path / "Chart.yaml").write_bytes(SUBCHART)
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "a.yaml").write_text(a_config_map(CANARY))
    for case in attempts(secret):
        found = loaded({**CHART, **case.files, "shop.yaml": a_chart(**case.chart)}, helm)
        shown = said(found) + json.dumps([template.manifest for template in found.desired.templates])
        assert CANARY not in shown, case.why
        assert "failing loading" not in shown, case.why
        assert "127.0.0.1" not in shown, case.why
    assert not Path("/tmp/argosy-escaped").exists()


OPTION = "--post-renderer=/bin/sh"


@pytest.mark.parametrize(
    "chart",
    [
        a_chart(kubeVersion=OPTION),
        a_chart(apiVersions=[OPTION]),
        a_chart(releaseName=OPTION),
        a_chart(name=OPTION),
        a_chart(namespace=OPTION),
        a_chart(valuesFiles=[OPTION]),
        a_chart(chart={"path": OPTION}),
        an_application(path="charts/web", helm={"kubeVersion": OPTION}),
        an_application(path="charts/web", helm={"apiVersions": [OPTION]}),
        an_application(path="charts/web", helm={"releaseName": OPTION}),
        an_application(path="charts/web", helm={"valueFiles": [OPTION]}),
    ],
)
def test_no_option_is_passed_to_helm(chart: bytes, tmp_path: Path) -> None:
    """The stand-in would fail for any run, and say with which words."""
    path = a_script(tmp_path / "bin", "helm", 'echo "RAN $@" >&2; exit 1')
    found = loaded({**CHART, **FLEET, "shop.yaml": chart}, path)
    assert said(found) != ""
    assert "RAN" not in said(found)


@pytest.mark.cluster
def test_plugins_and_settings_of_this_machine_mean_nothing(
    helm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = tmp_path / "plugins" / "evil"
    plugin.mkdir(parents=True)
    (plugin / "plugin.yaml").write_bytes(
        emit({"name": "evil", "version": "1.0.0", "command": f"touch {tmp_path}/ran", "hooks": {"install": "true"}})
    )
    for name, value in {"HELM_PLUGINS": plugin.parent, "HELM_DEBUG": "true", "HELM_NAMESPACE": "other"}.items():
        monkeypatch.setenv(name, str(value))
    found = loaded({**CHART, "shop.yaml": a_chart()}, helm)
    assert said(found) == ""
    assert {template.ref.namespace for template in found.desired.templates} == {"team", ""}
    assert not (tmp_path / "ran").exists()
