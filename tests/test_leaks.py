"""A canary in every place a secret can be, and everything the command line says, commits and keeps about it."""

import base64
import json
import sys
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.cli import COMMANDS, run
from tests.assistants import a_server
from tests.build import (
    Repository,
    a_cluster,
    a_deployment,
    a_policy,
    argosy,
    on_clusters,
)
from tests.clusters import Member, remove_namespaces
from tests.wires import Reply, answering

CANARY = "canary-8f14e45f"
ENCODED = base64.b64encode(CANARY.encode()).decode()
LAST = "kubectl.kubernetes.io/last-applied-configuration"
SPACE = "leaks"
MAY_HOLD_IT = ("Secret", "Deployment.apps")
"""Kinds whose own manifests hold the canary; the rendered tree is there to hold them."""


def a_secret(name: str, **content: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": SPACE, "annotations": {LAST: f'{{"data":{{"a":"{ENCODED}"}}}}'}}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, **content}


def a_workload(value: str) -> dict[str, Any]:
    web = a_deployment("web", namespace=SPACE)
    web["metadata"]["annotations"] = {LAST: f'{{"value":"{value}"}}'}
    (container,) = web["spec"]["template"]["spec"]["containers"]
    container["env"] = [{"name": "LEVEL", "value": "info"}, {"name": "DB_PASSWORD", "value": value}]
    return web


COPY = "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration"


def overrides() -> list[dict[str, Any]]:
    """Policies that put the canary into a Secret, a variable and a copy, change it there and take it away."""
    environment, variable = "/spec/template/spec/containers/0/env", {"name": "API_TOKEN", "value": CANARY}
    changed, moved = f"{CANARY}-new", {"name": "OTHER_TOKEN", "value": CANARY}
    return [
        an_override(
            ("apps/v1", "Deployment", "web"),
            [("replace", COPY, CANARY), ("replace", f"{environment}/0", variable)],
            [("replace", f"{environment}/1/value", changed), ("remove", COPY)],
            [("remove", f"{environment}/1"), ("add", f"{environment}/0", moved)],
        ),
        an_override(
            ("v1", "Secret", "coded"),
            [("add", "/data/b", ENCODED), ("replace", COPY, CANARY)],
            [("replace", "/data", {"c": ENCODED}), ("remove", COPY)],
        ),
        an_override(("v1", "Secret", "plain"), [("replace", "/stringData/b", changed)]),
    ]


def an_override(selected: tuple[str, str, str], *rules: list[tuple[Any, ...]]) -> dict[str, Any]:
    """A policy of one object, whose rules are lists of operations."""
    words = ("operator", "path", "value")
    patches = [[dict(zip(words, edit, strict=False)) for edit in rule] for rule in rules]
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy",
        "metadata": {"name": f"to-{selected[2]}", "namespace": SPACE},
        "spec": {
            "resourceSelectors": [dict(zip(("apiVersion", "kind", "name"), selected, strict=True))],
            "overrideRules": [{"overriders": {"plaintext": patch}} for patch in patches],
        },
    }


def files(value: str, encoded: str) -> dict[str, Any]:
    kinds = [("v1", "Secret"), ("apps/v1", "Deployment")]
    selectors = [{"apiVersion": version, "kind": kind} for version, kind in kinds]
    listed = {"apiVersion": "v1", "kind": "SecretList", "items": [a_secret("listed", data={"a": encoded})]}
    return {
        "clusters/member1.yaml": a_cluster("member1"),
        "clusters/member2.yaml": a_cluster("member2"),
        "policy.yaml": a_policy("all", namespace=SPACE, selectors=selectors, placement=on_clusters("member1")),
        "secrets.yaml": [a_secret("coded", data={"a": encoded}), a_secret("plain", stringData={"b": value})],
        "list.yaml": listed,
        "web.yaml": a_workload(value),
    }


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A fleet full of canaries, after one of something harmless."""
    made = Repository.create(tmp_path / "fleet")
    made.commit(files("harmless-value", base64.b64encode(b"harmless-value").decode()))
    made.commit({**files(CANARY, ENCODED), "override.yaml": overrides()})
    return made


def assert_silent(text: str | bytes) -> None:
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    for secret in (CANARY.encode(), ENCODED.encode()):
        at = data.find(secret)
        assert at < 0, data[max(0, at - 200) : at + 40]


def may_hold_it(path: str, branch: str) -> bool:
    is_manifest = path.startswith("clusters/") and path.split("/")[-2] in MAY_HOLD_IT
    return is_manifest and branch.endswith("/rendered")


def assert_kept_nowhere(repository: Repository) -> None:
    """Look through what Argosy committed and keeps: messages, every file of its branches, its caches."""
    branches = repository.git("for-each-ref", "--format=%(refname)", "refs/heads/argosy").split()
    for branch in branches:
        assert_silent(repository.git("log", "--format=%B%an%ae", branch))
        paths = [path for path in repository.files(branch) if not may_hold_it(path, branch)]
        assert_silent("\n".join(paths))
        assert_silent(repository.git("grep", "--text", "", branch, "--", *paths))
    kept = [file for file in (repository.path / ".git" / "argosy").rglob("*") if file.is_file()]
    assert ".cache" in {file.suffix for file in kept}
    for file in kept:
        assert_silent(file.read_bytes())


SAID = [
    ("report", "--one-file", "-"),
    ("report", "--moves", "HEAD~1..HEAD", "-"),
    *(("validate", "-o", output) for output in ("text", "json", "sarif", "junit", "github")),
    ("render",),
    ("render", "-o", "name"),
    ("render", "--as", "bindings", "-o", "yaml"),
    *(("diff", "HEAD~1", "HEAD", "-o", output) for output in ("text", "json", "markdown")),
    ("diff", "HEAD", "HEAD~1"),
    ("diff", "HEAD~1", "HEAD", "--stat"),
    *(
        ("explain", kind, name, "-n", SPACE, "-o", output)
        for kind, name in (("Secret", "coded"), ("Deployment", "web"))
        for output in ("text", "json", "markdown")
    ),
    ("explain", "cluster", "member1"),
    *(
        (command, kind, name, "-n", SPACE, "-o", output)
        for command in ("history", "blame")
        for kind, name in (("Secret", "coded"), ("Deployment", "web"))
        for output in ("text", "json")
    ),
    *(("list", what, "-o", output) for what in ("objects", "policies", "namespaces") for output in ("table", "json")),
    *(("matrix", "--rows", "object", "--columns", "cluster", "-o", output) for output in ("table", "json")),
    *(("search", word, "-o", output) for word in ("web", "Secret") for output in ("table", "json")),
    *(("history", "--commits", "-o", output) for output in ("text", "json")),
    *(("backtest", "--since", "90d", "-o", output) for output in ("text", "json", "markdown")),
    ("bisect", "Deployment", "web", "-n", SPACE, "--on", "member1"),
    *(("simulate", "--without-cluster", "member1", "-o", output) for output in ("text", "json")),
    ("simulate", "--scale", "deploy/web=3", "-n", SPACE, "--explain", "deploy/web"),
    *(("simulate", "--headroom", "deploy/web", "-n", SPACE, "-o", output) for output in ("text", "json")),
    *(("simulate", "--n-minus", "1", "-o", output) for output in ("text", "json", "junit", "markdown")),
    ("reconcile",),
    *(("overview", "-o", output) for output in ("text", "json")),
    *(("status", "-o", output) for output in ("wide", "json", "yaml", "name")),
    ("verify",),
    ("doctor",),
    ("cluster", "cordon", "member2"),
    ("test",),
    ("lock", "--check"),
    ("rbac", "--cluster", "member1"),
    *(("emit", tool, "--url", "https://git.example.com/fleet.git") for tool in ("argocd", "flux")),
    ("export", "applicationset", "--url", "https://git.example.com/fleet.git"),
    ("rebalance", "deploy/web", "-n", SPACE),
    *(("rollback", "--to", "HEAD", "-o", output) for output in ("text", "json")),
    ("rollout", "status"),
]


def test_nothing_said_kept_or_committed_holds_it(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert argosy(repository, capsys, "-vv", "reconcile", "--bootstrap").code == 0
    assert CANARY in repository.show(f"clusters/member1/{SPACE}/Secret/plain.yaml")
    for name, count in (("Secret/coded", 6), ("Secret/plain", 1), ("Deployment.apps/web", 7)):
        assert repository.show(f"bindings/{SPACE}/{name}.yaml").count("\n    - path: ") == count
    for words, style in zip(SAID, cycle(("text", "json")), strict=False):
        ended = argosy(repository, capsys, "-vv", "--log-format", style, *words)
        assert ended.code in {0, 1}, (words, ended)
        assert_silent(ended.out + ended.err)
    assert_kept_nowhere(repository)


def test_no_tool_of_an_assistant_answers_with_it(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    subjects = [{"subject": subject, "namespace": SPACE} for subject in ("Secret/coded", "Deployment/web")]
    calls: list[tuple[str, dict[str, Any]]] = [
        ("status", {"verbose": True}),
        ("problems", {"verbose": True}),
        ("diff", {"base": "HEAD~1", "head": "HEAD"}),
        ("diff", {"base": "HEAD~1", "head": "HEAD", "stat": True}),
        ("simulate", {"without_cluster": ["member1"], "add": f"apiVersion: v1\nkind: Secret\ndata: [{CANARY}]\n"}),
        *((tool, each) for tool in ("status", "explain", "history", "blame") for each in subjects),
    ]
    secret = f"apiVersion: v1\nkind: Secret\nmetadata: {{name: more}}\nstringData: {{a: {CANARY}}}\n"
    files = [{"path": "more.yaml", "content": secret}]
    broken = [{"path": "more.yaml", "content": secret.replace("{name", f"{{namespace: [{CANARY}], name")}]
    with a_server(repository) as client:
        for tool, arguments in calls:
            for form in ("text", "json"):
                assert_silent(json.dumps(client.call(tool, **arguments, format=form, max_characters=100_000)))
        made = client.call("propose", branch="more", message="More", files=files)
        refused = client.call("propose", branch="less", message="Less", files=broken)
    assert (made["isError"], refused["isError"]) == (False, True)
    assert_silent(json.dumps([made, refused]))
    assert_kept_nowhere(repository)


class Broken(NamedTuple):
    why: str
    content: Any


BROKEN = [
    Broken(
        "a key twice", f"apiVersion: v1\nkind: Secret\nmetadata: {{name: x}}\ndata:\n  a: {ENCODED}\n  a: {CANARY}\n"
    ),
    Broken("no YAML", f"apiVersion: v1\nkind: Secret\ndata: {{a: {ENCODED}\nb: [{CANARY}\n"),
    Broken("a value where a mapping belongs", f"apiVersion: v1\nkind: Secret\nmetadata: {CANARY}\n"),
    Broken("text where a list belongs", f"apiVersion: v1\nkind: SecretList\nitems: {CANARY}\n"),
    Broken("a list of text", f"apiVersion: v1\nkind: SecretList\nitems: [{CANARY}]\n"),
    Broken("an unknown alias", f"apiVersion: v1\nkind: Secret\nmetadata: {{name: x}}\ndata: {{a: {CANARY}, b: *c}}\n"),
    Broken("a control character", f"apiVersion: v1\nkind: Secret\nmetadata: {{name: x}}\ndata:\n  a: {CANARY}\x01\n"),
    Broken("not UTF-8", f"apiVersion: v1\nkind: Secret\ndata: {{a: {CANARY}".encode() + b"\xff}\n"),
]


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.why)
def test_what_is_refused_is_not_quoted(
    case: Broken, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({"broken.yaml": case.content})
    commands = (("validate",), ("render",), ("cluster", "cordon", "member1"))
    for words, code in zip(commands, (3, 1, 0), strict=True):
        ended = argosy(repository, capsys, "-vv", *words)
        # Nothing was delivered from the file yet, so it is named and left out.
        assert (ended.code, "broken.yaml" in ended.out + ended.err) == (code, words[0] != "cluster")
        assert_silent(ended.out + ended.err)


class Unwritable:
    """A terminal that breaks when anything is written to it."""

    encoding = "utf-8"

    def write(self, _text: str) -> int:
        raise ZeroDivisionError(CANARY)

    def flush(self) -> None:
        return


def test_a_bug_names_places_and_no_values(
    repository: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    capsys.readouterr()
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", Unwritable())
        code = run(["-C", str(repository.path), "render", "-o", "yaml"])
    captured = capsys.readouterr()
    assert (code, "a bug: ZeroDivisionError" in captured.err) == (70, True)
    assert_silent(captured.out + captured.err)


def kubeconfig(server: str) -> str:
    """A kubeconfig whose token is a canary as well."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "it", "cluster": {"server": server}}],
        "users": [{"name": "it", "user": {"token": CANARY}}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        "current-context": "it",
    }
    return json.dumps(config)


@pytest.mark.parametrize(
    "reply",
    [Reply(400, CANARY), Reply(403, {"kind": "Status", "message": f"denied: {CANARY}"}), Reply(200, CANARY)],
    ids=["a page", "a refusal", "no API server"],
)
def test_what_a_server_answers_and_the_token_it_was_sent(
    reply: Reply, repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    with answering(reply) as wire:
        (tmp_path / "members").mkdir()
        (tmp_path / "members" / "member1.yaml").write_text(kubeconfig(wire.host))
        access = ("--cluster", "member1", "--kubeconfigs", str(tmp_path / "members"), "--timeout", "5s")
        for words in (("apply",), ("apply", "-o", "json"), ("diff", "--live"), ("reconcile",)):
            ended = argosy(repository, capsys, "-vv", *words, *access)
            assert ended.code, words
            assert_silent(ended.out + ended.err)
    assert_kept_nowhere(repository)


@pytest.fixture
def kubeconfigs(members: tuple[Member, ...], tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "kubeconfigs"
    folder.mkdir()
    for member in members[:2]:
        (folder / f"{member.name}.yaml").write_text(member.kubeconfig.read_text())
    yield folder
    remove_namespaces(members[:2], SPACE, "argosy-system")


@pytest.mark.cluster
def test_applying_drifting_and_being_refused(
    repository: Repository, members: tuple[Member, ...], kubeconfigs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    access = ("--kubeconfigs", str(kubeconfigs))

    def told(*words: str) -> None:
        ended = argosy(repository, capsys, "-vv", *words, *access)
        assert ended.out + ended.err
        assert ended.code != 70, ended.err
        assert_silent(ended.out + ended.err)

    told("reconcile", "--bootstrap")
    overridden = base64.b64encode(f"{CANARY}-new".encode()).decode()
    assert members[0].read(f"/api/v1/namespaces/{SPACE}/secrets/plain")["data"] == {"b": overridden}
    drift = json.dumps({"data": {"a": "eA==", "added": ENCODED}, "metadata": {"annotations": {"note": "seen"}}})
    members[0].kubectl("-n", SPACE, "patch", "secret", "coded", "-p", drift)
    env = json.dumps([{"op": "replace", "path": "/spec/template/spec/containers/0/env/1/value", "value": "x"}])
    members[0].kubectl("-n", SPACE, "patch", "deployment", "web", "--type=json", "-p", env)
    for words in (("diff", "--live"), ("diff", "--live", "-o", "json"), ("apply", "--dry-run", "server"), ("apply",)):
        told(*words)
    for output in ("text", "json"):
        told("import", "--cluster", "member1", "--cluster", "member2", "-n", SPACE, "-o", output)
    told("describe", "secrets", "-n", SPACE)
    for output in ("wide", "json", "yaml", "name", "jsonpath={.items[*]}"):
        told("get", "secrets", "-n", SPACE, "-o", output)
    frozen = a_secret("coded", data={"a": f"{CANARY}!"})
    repository.commit({"secrets.yaml": [frozen, a_secret("this-is-new", data={"no such key!": ENCODED})]})
    for words in (("reconcile", "--allow-removal", "*=9"), ("apply", "-o", "json"), ("status", "-o", "json")):
        told(*words) if words[0] != "status" else assert_silent(argosy(repository, capsys, *words).out)
    assert_kept_nowhere(repository)


def test_every_command_is_listened_to() -> None:
    """A new command is added to SAID, unless it can print no value of a source (import is tried with members)"""
    # The agent's words are those of apply.
    asked = {words[0] for words in SAID} | {"apply", "agent"}
    assert set(COMMANDS) - asked == {
        # What members hold is looked at with members, and the rest of these show nothing of a source.
        *(
            "api-resources",
            "attach",
            "describe",
            "events",
            "exec",
            "get",
            "kubeconfig",
            "logs",
            "pods",
            "port-forward",
            "top",
        ),
        "interpret",
        "completion",
        "help",
        "import",
        "init",
        "run",
        "ui",  # its pages are asked for in test_pages_attacks
        "schema",
        "mcp",  # its tools are called above
        "vendor",
        "wait",
    }
