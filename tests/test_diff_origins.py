"""The origins of what differs: a chart of another version is told apart from other values, build by build."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.console.text import escape_markdown
from tests.build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters
from tests.test_building_charts import a_chart
from tests.test_building_kustomize import a_script

EU = {"clusterNames": ["eu"]}
HALLO = {"text": "hallo"}
FLEET: dict[str, Any] = {
    "clusters/eu.yaml": a_cluster("eu"),
    "clusters/us.yaml": a_cluster("us"),
    "policy.yaml": a_policy(
        "all",
        namespace="team",
        selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}],
        placement=on_clusters("eu", "us"),
    ),
    "charts/web/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.2.3\n",
    "charts/web/templates/web.yaml": "hello\n",
    "values/all.yaml": "text: hello\n",
    "shop.yaml": a_chart(valuesFiles=["values/all.yaml"], overrideRules=[{"targetCluster": EU, "values": HALLO}]),
}
# The stand-in for helm merges nothing: the last values have the text, and the chart has a word and a version.
SCRIPT = """
echo "# Source: web/templates/web.yaml"
echo "{apiVersion: v1, kind: ConfigMap, metadata: {name: greeting, namespace: team}, data: {"
for values in values-*.yaml; do last="$values"; done
echo "$(/bin/grep text: $last), word: $(/bin/cat chart/templates/web.yaml),"
echo "version: $(/bin/sed -n 's/^version: //p' chart/Chart.yaml)}}"
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    path = a_script(tmp_path / "bin", "helm", SCRIPT)
    monkeypatch.setenv("PATH", f"{path}{os.pathsep}{os.environ['PATH']}")
    repository = Repository.create(tmp_path / "fleet")
    repository.commit(FLEET)
    return repository


class Change(NamedTuple):
    why: str
    files: Mapping[str, Any]
    said: str


CHANGES = [
    Change(
        "a version of the chart",
        {"charts/web/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.3.0\n"},
        "chart charts/web 1.2.3 -> 1.3.0",
    ),
    Change(
        "a template, and no version",
        {"charts/web/templates/web.yaml": "goodbye\n"},
        "chart charts/web, still 1.2.3: charts/web/templates/web.yaml",
    ),
    Change(
        "a file of values",
        {"values/all.yaml": "text: good morning\n"},
        "values values/all.yaml",
    ),
    Change(
        "values of a rule",
        {
            "shop.yaml": a_chart(
                valuesFiles=["values/all.yaml"],
                overrideRules=[{"targetCluster": EU, "values": {"text": "servus"}}],
            )
        },
        "values spec.values for eu",
    ),
    Change(
        "a version together with values",
        {
            "charts/web/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.3.0\n",
            "values/all.yaml": "text: good morning\n",
        },
        "chart charts/web 1.2.3 -> 1.3.0; values values/all.yaml",
    ),
    Change(
        "the version of Kubernetes",
        {
            "shop.yaml": a_chart(
                valuesFiles=["values/all.yaml"],
                overrideRules=[{"targetCluster": EU, "values": {"text": "servus"}}],
                kubeVersion="1.33",
            )
        },
        "Kubernetes 1.37.0 -> 1.33; Kubernetes for eu 1.37.0 -> 1.33; values spec.values for eu",
    ),
]


@pytest.mark.parametrize("case", CHANGES, ids=lambda case: case.why)
def test_each_form_of_a_difference_says_what_of_a_build_is_other(
    case: Change, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit(case.files)
    text = argosy(repository, capsys, "diff", "HEAD~1", "--bootstrap")
    assert (text.code, text.err) == (1, "")
    assert f"\nORIGINS\n  HelmChart team/shop: {case.said}\n" in text.out
    assert "ConfigMap team/greeting (from charts/web/templates/web.yaml) in " in text.out
    markdown = argosy(repository, capsys, "diff", "HEAD~1", "--bootstrap", "-o", "markdown").out
    assert f"| <code>HelmChart team/shop</code> | {escape_markdown(case.said)} |\n" in markdown
    assert "@@ ConfigMap team/greeting (from charts/web/templates/web.yaml) in " in markdown


def test_json_has_the_parts_of_a_build_and_the_origin_of_each_object(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit(CHANGES[0].files)
    found = json.loads(argosy(repository, capsys, "diff", "HEAD~1", "--bootstrap", "-o", "json").out)
    file = {"role": "chart file", "name": "charts/web/Chart.yaml", "action": "changed", "before": None, "after": None}
    chart = {"role": "chart", "name": "charts/web", "action": "changed", "before": "1.2.3", "after": "1.3.0"}
    assert found["origins"] == [
        {"build": "HelmChart team/shop", "path": "shop.yaml", "objects": 1, "parts": [chart, file]}
    ]
    assert {each["origin"] for each in found["objects"]} == {"charts/web/templates/web.yaml"}


def test_a_change_of_a_chart_that_changes_no_object_is_no_origin(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({"charts/web/NOTES.txt": "read me\n", "values/all.yaml": FLEET["values/all.yaml"]})
    assert "ORIGINS" not in argosy(repository, capsys, "diff", "HEAD~1", "--bootstrap").out


def test_problems_name_the_file_that_their_object_was_built_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository.create(tmp_path / "kustomized")
    policy = a_policy(
        "web", placement={**on_clusters("eu")}, selectors=[{"apiVersion": "apps/v1", "kind": "Deployment"}]
    )
    files = {
        "clusters/eu.yaml": a_cluster("eu"),
        "policy.yaml": policy,
        "web/kustomization.yaml": "resources: [web.yaml]\n",
        "web/web.yaml": a_deployment("web"),
    }
    repository.commit(files)
    nowhere = {**policy, "spec": {**policy["spec"], "placement": on_clusters("mars")}}
    repository.commit({"policy.yaml": nowhere})
    found = argosy(repository, capsys, "diff", "HEAD~1", "--bootstrap").out
    assert "(from web/web.yaml:1)" in found.partition("PROBLEMS")[2]
    repository.commit({"policy.yaml": policy, "web/web.yaml": a_deployment("web", image="nginx:2")})
    found = argosy(repository, capsys, "diff", "HEAD~2", "--bootstrap").out
    assert "\nORIGINS\n  web/kustomization.yaml: files web/web.yaml\n" in found
