"""The files of examples/deploy: a real API server takes them, and the program takes every command line in them."""

import configparser
import json
import re
import secrets
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from reconciler.cli import run
from reconciler.run.metrics import RunMetrics
from reconciler.run.settings import RunSettings
from reconciler.run.settings_file import SettingsFile
from reconciler.run.web.webhooks import UNSIGNED
from render.documents import parse_documents

from .clusters import Member
from .kubectl import kubectl_path
from .waiting import SECONDS

DEPLOY = Path(__file__).parent.parent / "examples" / "deploy"
OVERLAYS = ("controller", "cron-job", "shards", "cells", "controller with members")
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
VALUES = {"REPOSITORY": "https://git.example.com/fleet.git", "CLUSTER": "member1", "JOB_COMPLETION_INDEX": "3"}
MEMBERS = """apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [../controller]
components: [../members]
"""


def built(name: str, tmp_path: Path) -> str:
    """The manifests of an overlay, as kubectl makes them."""
    folder = tmp_path / "deploy"
    shutil.copytree(DEPLOY, folder)
    (folder / "controller with members").mkdir()
    (folder / "controller with members" / "kustomization.yaml").write_text(MEMBERS)
    command = [str(kubectl_path()), "kustomize", str(folder / name)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=SECONDS).stdout


def manifests(text: str) -> list[dict[str, Any]]:
    return [document.value for document in parse_documents(text.encode())]


def pod_of(manifest: Mapping[str, Any]) -> dict[str, Any] | None:
    """The Pod that a workload makes."""
    spec = manifest.get("spec") or {}
    template = (spec.get("jobTemplate") or {}).get("spec", spec).get("template")
    return template and {**template["spec"], "labels": template["metadata"]["labels"]}


@pytest.fixture(params=OVERLAYS)
def overlay(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return built(request.param, tmp_path)


def pods(text: str) -> list[dict[str, Any]]:
    return [pod for each in manifests(text) if (pod := pod_of(each))]


def is_taken(arguments: list[str]) -> bool:
    """Say whether the program knows a command with these options; nothing is carried out."""
    return run([*arguments, "--help"]) == 0


def test_the_program_takes_the_command_line_of_every_pod(overlay: str) -> None:
    (pod,) = pods(overlay)
    (container,) = pod["containers"]
    set_here = {each["name"] for each in container["env"]} | {"REPOSITORY", "CLUSTER"}
    # The script of a cell hands its options on to a pass.
    words = ["reconcile", *container["args"]] if "command" in container else container["args"]
    arguments = [re.sub(r"\$\((\w+)\)", lambda match: VALUES[match[1]], each) for each in words]
    used = set(re.findall(r"\$\((\w+)\)", " ".join([*container.get("command", ()), *container["args"]])))
    assert (is_taken(arguments), used - set_here) == (True, set())


def test_every_pod_is_as_restricted_as_a_namespace_may_ask(overlay: str) -> None:
    (pod,) = pods(overlay)
    (container,) = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert (pod["securityContext"]["runAsNonRoot"], pod["securityContext"]["runAsUser"]) == (True, 65532)
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    mounted = {each["name"] for each in container["volumeMounts"]}
    assert mounted == {each["name"] for each in pod["volumes"]}


def test_policies_and_budgets_select_the_pods(overlay: str) -> None:
    (pod,) = pods(overlay)
    (policy,) = (each for each in manifests(overlay) if each["kind"] == "NetworkPolicy")
    budgets = [each for each in manifests(overlay) if each["kind"] == "PodDisruptionBudget"]
    wanted = {"app.kubernetes.io/name": "argosy"}
    assert (policy["spec"]["podSelector"], pod["labels"]) == ({"matchLabels": wanted}, wanted)
    assert [each["spec"]["selector"] for each in budgets] == [{"matchLabels": wanted}] * len(budgets)
    assert policy["spec"]["policyTypes"] == ["Ingress", "Egress"]


@pytest.fixture(scope="module")
def host(members: tuple[Member, ...]) -> Iterator[Member]:
    """A member without controllers, so that no workload makes Pods that nobody would end."""
    with Member("host", beside=members[0]) as member:
        yield member


@pytest.mark.cluster
def test_a_real_api_server_takes_every_manifest(overlay: str, host: Member) -> None:
    """Strictly: no field is unknown, no value is refused, and the policy for Pods warns of none."""
    space = f"t{secrets.token_hex(4)}"
    labels = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn")}
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space, "labels": labels}}
    assert host.request("POST", "/api/v1/namespaces", body)[0] == 201
    text = overlay.replace("namespace: argosy-system", f"namespace: {space}")
    words = ("--validate=strict", "--warnings-as-errors", "-o", "name", "-f", "-")
    names = host.kubectl("apply", *words, stdin=text)
    assert len(names.splitlines()) == len(manifests(text))


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_the_program_takes_the_command_line_of_every_unit(unit: Path, tmp_path: Path) -> None:
    """The parser of systemd says what else is wrong with a unit, where it is installed."""
    read = configparser.ConfigParser(strict=False, interpolation=None, delimiters=("=",))
    read.optionxform = str  # type: ignore[assignment, method-assign]  # names of settings keep their capitals
    read.read_string(unit.read_text(encoding="utf-8"))
    program, *arguments = shlex.split(read["Service"]["ExecStart"])
    values = {"REPOSITORY": VALUES["REPOSITORY"], "CREDENTIALS_DIRECTORY": "/run/credentials"}
    arguments = [re.sub(r"\$\{(\w+)\}", lambda match: values[match[1]], each) for each in arguments]
    assert (program, is_taken(arguments)) == ("/usr/local/bin/argosy", True)
    if shutil.which("systemd-analyze"):
        copy = tmp_path / unit.name
        copy.write_text(unit.read_text(encoding="utf-8").replace("/usr/local/bin/argosy", sys.executable))
        verify = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(copy)]
        found = subprocess.run(verify, capture_output=True, text=True, check=False, timeout=SECONDS)
        assert (found.returncode, found.stderr) == (0, "")


def test_the_program_takes_the_settings() -> None:
    file = DEPLOY / "settings.yaml"
    read = SettingsFile(path=file, given={}).settings_over_options(RunSettings(locations=("here",)))
    assert read.locations == ("https://git.example.com/team/shop.git", "/srv/git")
    assert (read.names, read.drift, read.webhook) == ({read.locations[0]: "shop"}, 600.0, ("127.0.0.1", 8443))
    assert read.channels[0].file == str(DEPLOY / "secrets" / "slack")


def test_the_timer_starts_a_service_that_is_there() -> None:
    (timer,) = (DEPLOY / "systemd").glob("*.timer")
    assert timer.with_suffix(".service") in UNITS
    assert "OnCalendar=*:0/5\n" in timer.read_text(encoding="utf-8")


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Containerfile, lines joined and comments left out."""
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in joined.splitlines())]


def test_the_image_installs_by_hashes_and_runs_as_nobody() -> None:
    found = instructions()
    installs = [
        part for word, rest in found if word == "RUN" for part in re.split("&&|\\|\\|", rest) if " install " in part
    ]
    installs = [part for part in installs if "pip" in part]
    tools, dependencies, own = installs
    assert "uv==" in tools
    assert "--require-hashes" in dependencies
    assert "--no-index" in own
    assert [rest for word, rest in found if word == "USER"] == ["65532:65532"]
    assert found[-1] == ("ENTRYPOINT", '["argosy"]')
    assert all(":" in rest.split()[0] and "/" not in rest.split()[0] for word, rest in found if word == "FROM")
    copied = " ".join(rest for word, rest in found if word == "COPY" and "--from" not in rest)
    root = DEPLOY.parent.parent
    names = [name for name in copied.split() if name != "./" and "[" not in name]
    assert [name for name in names if not (root / name).exists()] == []


METRIC = re.compile(r"\bargosy_[a-z_]+")


def expressions() -> list[str]:
    """Every expression of the rules and of the dashboard."""
    rules = manifests((DEPLOY / "monitoring" / "rules.yaml").read_text(encoding="utf-8"))[0]
    dashboard = json.loads((DEPLOY / "monitoring" / "dashboard.json").read_text(encoding="utf-8"))
    asked = [rule["expr"] for group in rules["spec"]["groups"] for rule in group["rules"]]
    asked += [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    return asked + [each["query"] for each in dashboard["templating"]["list"]]


def test_every_metric_that_is_watched_is_served() -> None:
    served = set(RunMetrics().names())
    watched = {name for expression in expressions() for name in METRIC.findall(expression)}
    assert watched - served == set()
    assert {family(name) for name in served} - {family(name) for name in watched} == set()
    assert any(f'result="{UNSIGNED.result}"' in expression for expression in expressions())


def family(name: str) -> str:
    """The name of a metric, of which some have several series."""
    return re.sub("_(?:bucket|sum|count)$", "", name)


SELECTOR = re.compile(r"\b(argosy_[a-z_]+)(?:\{([^}]*)\})?")
GROUPING = re.compile(r"\b(?:by|on|without|ignoring) *\(([^)]*)\)")
WORD = re.compile(r"[a-z_]+")


def labels_of_metrics() -> dict[str, set[str]]:
    """The labels of every series that is served, by its name."""
    metrics = RunMetrics()
    found = {}
    collectors: list[Any] = [*metrics.registry._names_to_collectors.values()]
    for collector in collectors:
        labels = {*collector._labelnames}
        for family_of_metric in collector.describe():
            for ending in ("", "_total", "_count", "_sum", "_bucket"):
                found[f"{family_of_metric.name}{ending}"] = labels | ({"le"} if ending == "_bucket" else set())
    return found


def unknown_labels(expression: str, legend: str = "") -> list[str]:
    """The labels that an expression or its legend asks for, and that none of its metrics has."""
    known = labels_of_metrics()
    wrong, all_of_them = [], set[str]()
    for name, matchers in SELECTOR.findall(expression):
        all_of_them |= known[name]
        asked = {*re.findall(r"(\w+) *(?:=|!)", re.sub(r'"[^"]*"', "", matchers))}
        wrong += [f"{name}{{{label}}}" for label in sorted(asked - known[name])]
    groups = [{*WORD.findall(inner)} for inner in GROUPING.findall(expression)]
    shown = set(re.findall(r"\{\{(\w+)\}\}", legend))
    kept = all_of_them & set[str]().union(*groups) if groups else all_of_them
    return wrong + sorted(set[str]().union(*groups) - all_of_them) + sorted(shown - kept)


def test_every_label_that_is_asked_for_is_one_of_its_metric() -> None:
    """A matcher or legend of another label would show nothing, and an alert by it would never fire."""
    dashboard = json.loads((DEPLOY / "monitoring" / "dashboard.json").read_text(encoding="utf-8"))
    legends = {each["expr"]: each["legendFormat"] for panel in dashboard["panels"] for each in panel["targets"]}
    variables = [each for each in expressions() if not each.startswith("label_values") and each != "prometheus"]
    assert {each: wrong for each in variables if (wrong := unknown_labels(each, legends.get(each, "")))} == {}
    assert "label_values(argosy_source_up, fleet)" in expressions()
    assert "fleet" in labels_of_metrics()["argosy_source_up"]


def test_a_label_that_no_metric_has_is_found() -> None:
    assert unknown_labels('sum by (cluster) (argosy_reconcile_total{kind="x"})', "{{result}}") == [
        "argosy_reconcile_total{kind}",
        "cluster",
        "result",
    ]


def test_expressions_are_closed() -> None:
    for expression in expressions():
        assert [expression.count(pair[0]) - expression.count(pair[1]) for pair in ("()", "{}", "[]")] == [0, 0, 0]


def test_every_alert_says_what_to_do() -> None:
    rules = manifests((DEPLOY / "monitoring" / "rules.yaml").read_text(encoding="utf-8"))[0]
    alerts = [rule for group in rules["spec"]["groups"] for rule in group["rules"]]
    assert all(set(rule["annotations"]) == {"summary", "description"} for rule in alerts)
    assert {rule["labels"]["severity"] for rule in alerts} == {"critical", "warning"}
    guide = (DEPLOY / "README.md").read_text(encoding="utf-8")
    assert [rule["alert"] for rule in alerts if f"`{rule['alert']}`" not in guide] == []


def test_panels_of_the_dashboard_do_not_overlap() -> None:
    dashboard = json.loads((DEPLOY / "monitoring" / "dashboard.json").read_text(encoding="utf-8"))
    places = [each["gridPos"] for each in dashboard["panels"]]
    cells = [
        (each["x"] + column, each["y"] + row)
        for each in places
        for column in range(each["w"])
        for row in range(each["h"])
    ]
    assert (len(cells), max(column for column, _ in cells)) == (len(set(cells)), 23)


def test_the_port_of_the_probes_is_the_one_that_is_served() -> None:
    (deployment,) = manifests((DEPLOY / "controller" / "deployment.yaml").read_text(encoding="utf-8"))
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    arguments = container["args"]
    assert arguments[arguments.index("--inside") + 1] == f"0.0.0.0:{container['ports'][0]['containerPort']}"
    probes = [container[f"{name}Probe"]["httpGet"] for name in ("liveness", "readiness")]
    assert probes == [{"path": "/healthz", "port": "inside"}, {"path": "/readyz", "port": "inside"}]
    assert container["ports"][0]["name"] == "inside"
