"""Files that hold no Kubernetes object: counted once, named with ``-v``, and silent in pipes."""

import io
import json
from pathlib import Path

import pytest

from reconciler.branches.left_out import log_skipped_files
from reconciler.console.log import ERRORS_ONLY, NORMAL, VERBOSE, Log
from reconciler.source.desired import Desired
from reconciler.source.files import Reason, Skipped

from .build import Repository, a_cluster, a_config_map, argosy

KIND = {"apiVersion": "kind.x-k8s.io/v1alpha4", "kind": "Cluster", "nodes": [{"role": "control-plane"}]}
NAMED = [
    "kind.yaml: no Kubernetes object, but the configuration of a tool",
    "values.yaml: no document in it has apiVersion and kind",
]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository.create(tmp_path / "fleet")
    read = {"one.yaml": a_cluster("one"), "web.yaml": a_config_map("web")}
    made.commit({**read, "values.yaml": "replicas: 3\n", "kind.yaml": KIND})
    return made


def test_a_validation_counts_and_lists_them(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    said = argosy(repository, capsys, "validate").out.splitlines()[-1]
    assert said.endswith(" 1 cluster in 2 files; 2 more hold no Kubernetes object")
    listed = json.loads(argosy(repository, capsys, "validate", "-o", "json").out)["skipped"]
    assert [f"{each['path']}: {each['reason']}" for each in listed] == NAMED
    assert argosy(repository, capsys, "-v", "validate").err.splitlines()[-2:] == NAMED


def test_passes_and_previews_count_them(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    rendered = argosy(repository, capsys, "render", "--bootstrap", "-o", "json")
    assert (json.loads(rendered.out)["skipped"], "without a Kubernetes object" in rendered.err) == (2, False)
    passed = argosy(repository, capsys, "-v", "reconcile", "--bootstrap", "-o", "json")
    assert json.loads(passed.out)["skipped"] == 2
    lines = passed.err.splitlines()
    start = lines.index("skipped 2 files without a Kubernetes object")
    assert lines[start + 1 : start + 3] == NAMED


def test_one_line_is_for_people_at_a_terminal() -> None:
    desired = Desired(skipped=(Skipped("a", Reason.NO_MANIFEST), Skipped("b", Reason.IGNORED)))

    def told(level: int, *, is_terminal: bool) -> str:
        stream = io.StringIO()
        log_skipped_files(desired, Log(stream=stream, level=level, is_terminal=is_terminal))
        return stream.getvalue().replace("\r\x1b[2K", "")

    assert told(NORMAL, is_terminal=True) == "skipped 1 file without a Kubernetes object; -v names them\n"
    assert (told(NORMAL, is_terminal=False), told(ERRORS_ONLY, is_terminal=False)) == ("", "")
    named = "skipped 1 file without a Kubernetes object\na: no document in it has apiVersion and kind\n"
    assert told(VERBOSE, is_terminal=False) == named


FUNCTION = {"config.kubernetes.io/function": "exec: {path: ./made}"}
CONFIGURATIONS = [
    {"apiVersion": "config.karmada.io/v1alpha1", "kind": "KarmadaInitConfig", "spec": {}},
    {"apiVersion": "builtin", "kind": "NamespaceTransformer", "metadata": {"name": "a", "namespace": "shop"}},
    {"apiVersion": "builtin", "kind": "ConfigMapGenerator", "metadata": {"name": "a"}},
    {"apiVersion": "policy.open-cluster-management.io/v1", "kind": "PolicyGenerator", "metadata": {"name": "a"}},
    {"apiVersion": "viaduct.ai/v1", "kind": "ksops", "metadata": {"name": "a"}},
    {"apiVersion": "fn.kpt.dev/v1", "kind": "SetLabels", "metadata": {"name": "a"}},
    {"apiVersion": "acme.example/v1", "kind": "Maker", "metadata": {"name": "a", "annotations": FUNCTION}},
]


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=lambda each: each["kind"])
def test_what_a_tool_reads_from_a_file_is_none_of_the_objects(
    configuration: dict[str, object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No server would take it, or none would act on it: it stops nothing, and goes nowhere."""
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({"one.yaml": a_cluster("one"), "web.yaml": a_config_map("web"), "tool.yaml": configuration})
    ended = argosy(repository, capsys, "validate")
    assert (ended.code, "; 1 more hold" in ended.out) == (0, True)
    assert argosy(repository, capsys, "-v", "validate").err.splitlines()[-1] == NAMED[0].replace(
        "kind.yaml", "tool.yaml"
    )
