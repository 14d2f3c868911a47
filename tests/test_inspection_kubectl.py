"""kubectl run for members: whose words are whose, what is printed of many at once, and who is asked."""

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from reconciler.commands.kubectl_outcomes import blocks_of_outcomes, is_streaming, table_of_outcomes
from reconciler.commands.options.kubectl_commands import command_of_kubectl
from reconciler.inspection.kubectl import Ran
from reconciler.members.kubeconfig import Context
from reconciler.members.merged_kubeconfig import kubeconfig_of_contexts
from reconciler.members.options import AccessOptions
from render.documents import emit, parse_documents

from .build import Ended, Repository, argosy
from .fakes import FakeCluster
from .served import asked_again_at_once, serving_members
from .tables import each_row
from .test_inspection import NAMES, applied
from .waiting import SECONDS

SCRIPT = """#!/bin/sh
# It prints how it was called; rome has nothing, and a pod called broken breaks it everywhere.
for word in "$@"; do
  case "$word" in
    --kubeconfig=*) [ "$(stat -c %a "${word#--kubeconfig=}")" = 600 ] || exit 9 ;;
    --context=rome) echo 'Error from server (NotFound): pods "web" not found' >&2; exit 1 ;;
    --context=*) context="${word#--context=}" ;;
    broken) echo "it broke" >&2; exit 4 ;;
  esac
done
shift 2
case "$1" in
  events)
    row='5m          Normal   all is well'
    case "$*" in
      *--no-headers*) echo '5m   Normal   all is well' ;;
      *) printf 'LAST SEEN   TYPE     MESSAGE\\n%s\\n' "$row" ;;
    esac ;;
  api-resources) printf 'deployments.apps\nsecrets\n'; echo "metrics are away" >&2; exit 1 ;;
  logs) printf 'one\\ntwo of %s\\n' "$context" ;;
  *) echo "$@" ;;
esac
"""


class Fleet(NamedTuple):
    repository: Repository
    kubeconfigs: Path
    capsys: pytest.CaptureFixture[str]

    def run(self, command: str, *words: str) -> Ended:
        reach = ("--kubeconfigs", str(self.kubeconfigs))
        return argosy(self.repository, self.capsys, command, *reach, *words)


@pytest.fixture
def kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kubectl that says how it was called."""
    program = tmp_path / "bin" / "kubectl"
    program.parent.mkdir()
    program.write_text(SCRIPT)
    program.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return program


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str], kubectl: Path) -> Iterator[Fleet]:
    assert kubectl.exists()
    members = [FakeCluster(name) for name in NAMES]
    repository = applied(tmp_path, capsys, members)
    with serving_members(members, tmp_path / "kubeconfigs") as served:
        yield Fleet(repository=repository, kubeconfigs=served.kubeconfigs, capsys=capsys)


def test_the_words_of_kubectl_come_to_it_as_they_are(fleet: Fleet) -> None:
    ended = fleet.run("describe", "deploy/web", "-nshop", "--cluster", "eu-oslo", "-l", "a=b", "--show-events=false")
    assert ended == Ended(0, "Cluster:  eu-oslo\ndescribe deploy/web -nshop -l a=b --show-events=false\n", "")


def test_a_member_without_the_object_is_passed_over(fleet: Fleet) -> None:
    ended = fleet.run("describe", "pod", "web")
    assert ended == Ended(0, "Cluster:  eu-oslo\ndescribe pod web\n\nCluster:  eu-paris\ndescribe pod web\n", "")
    alone = fleet.run("describe", "pod", "web", "--cluster", "rome")
    assert alone == Ended(1, "", 'Error from server (NotFound): pods "web" not found\n')


def test_tables_of_members_are_one(fleet: Fleet) -> None:
    assert fleet.run("events", "-A").out == (
        "CLUSTER    LAST SEEN   TYPE     MESSAGE\n"
        "eu-oslo    5m          Normal   all is well\n"
        "eu-paris   5m          Normal   all is well\n"
    )


def test_tables_without_titles_have_none(fleet: Fleet) -> None:
    for word in ("--no-headers", "--no-headers=true"):
        assert fleet.run("events", "-A", word).out == (
            "eu-oslo    5m   Normal   all is well\neu-paris   5m   Normal   all is well\n"
        )


@pytest.mark.parametrize("words", [("-o", "name"), ("-oname",), ("-o=name",), ("--output=name",)])
def test_what_is_printed_beside_a_failure_is_shown_with_it(fleet: Fleet, words: tuple[str, ...]) -> None:
    ended = fleet.run("api-resources", "--cluster", "eu-oslo", *words)
    assert ended == Ended(1, "eu-oslo   deployments.apps\neu-oslo   secrets\n", "warning: eu-oslo: metrics are away\n")


def test_where_nobody_can_be_asked_that_is_no_success(fleet: Fleet) -> None:
    for command in ("get", "describe", "logs", "exec", "kubeconfig"):
        words = ("pods",) if command != "kubeconfig" else ()
        ended = fleet.run(command, *words, "--cluster", "bergen")
        assert (ended.code, ended.out, "there is no cluster to ask" in ended.err) == (5, "", True)


def test_lines_have_their_members_before_them(fleet: Fleet) -> None:
    ended = fleet.run("logs", "deploy/web", "--cluster", "eu-*")
    assert (ended.code, sorted(ended.out.splitlines())) == (
        0,
        ["eu-oslo  | one", "eu-oslo  | two of eu-oslo", "eu-paris | one", "eu-paris | two of eu-paris"],
    )


def test_what_breaks_in_a_member_is_said_with_its_words(fleet: Fleet) -> None:
    for command in ("describe", "logs"):
        ended = fleet.run(command, "broken", "--cluster", "eu-*")
        assert (ended.code, ended.out) == (1, "")
        assert ended.err == "warning: eu-oslo: it broke\nwarning: eu-paris: it broke\n"


def test_a_command_for_one_member_gets_everything_behind_two_hyphens(fleet: Fleet) -> None:
    words = ("exec", "-it", "web", "--cluster", "eu-oslo", "--", "sh", "-c", "x", "--cluster", "--context=y")
    program = Path(sys.executable).with_name("argosy")
    place = ("-C", str(fleet.repository.path), "--kubeconfigs", str(fleet.kubeconfigs))
    ended = subprocess.run(
        [program, words[0], *place, *words[1:]], capture_output=True, check=False, text=True, timeout=SECONDS
    )
    assert (ended.returncode, ended.stdout) == (0, "exec -it web -- sh -c x --cluster --context=y\n")


def test_a_command_for_one_member_is_refused_for_two(fleet: Fleet) -> None:
    ended = fleet.run("port-forward", "web", "80", "--cluster", "eu-*")
    assert (ended.code, "this is for one cluster, and 2 are chosen: name it with --cluster" in ended.err) == (2, True)


def test_another_user_is_acted_as(fleet: Fleet) -> None:
    ended = fleet.run("describe", "pod", "--cluster", "eu-oslo", "--as", "anna", "--as-group", "dev")
    assert ended.out == "Cluster:  eu-oslo\n--as=anna --as-group=dev describe pod\n"


@pytest.mark.parametrize("word", ["--context=oslo", "--server", "-s", "--token=x", "--user=me"])
def test_nobody_but_members_is_asked(fleet: Fleet, word: str) -> None:
    ended = fleet.run("describe", "pod", word)
    assert (ended.code, "members are chosen by --cluster and --cluster-selector" in ended.err) == (2, True)


def test_output_for_programs_is_refused_where_it_would_be_none(fleet: Fleet) -> None:
    for words in (("-o", "json"), ("-o=json",), ("-ojson",), ("--output=yaml",)):
        ended = fleet.run("events", *words)
        assert (ended.code, "argosy get events -o json has them for programs" in ended.err) == (2, True)


def test_a_member_that_is_gone_is_named_and_costs_the_others_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kubectl: Path
) -> None:
    assert kubectl.exists()
    members = [FakeCluster(name) for name in NAMES]
    repository = applied(tmp_path, capsys, members)
    with asked_again_at_once(), serving_members(members[1:], tmp_path / "kubeconfigs") as served:
        fleet = Fleet(repository=repository, kubeconfigs=served.kubeconfigs, capsys=capsys)
        ended = fleet.run("describe", "pod", "--cluster", "eu-*")
        assert (ended.code, ended.out) == (7, "Cluster:  eu-paris\ndescribe pod\n")
        assert ended.err.startswith("warning: eu-oslo: ")
        assert fleet.run("exec", "web", "--cluster", "eu-oslo").code == 5
        assert fleet.run("logs", "web", "--cluster", "eu-oslo").code == 5


def test_without_kubectl_it_is_said_what_to_install(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    git = shutil.which("git")
    assert git is not None
    folder = fleet.kubeconfigs.with_name("git-alone")
    folder.mkdir()
    (folder / "git").symlink_to(git)
    monkeypatch.setenv("PATH", str(folder))
    ended = fleet.run("describe", "pod")
    assert (ended.code, "there is no kubectl on the PATH" in ended.err) == (3, True)


def test_one_kubeconfig_has_every_member(fleet: Fleet) -> None:
    ended = fleet.run("kubeconfig")
    document = parse_documents(ended.out.encode())[0].value
    assert (ended.code, [each["name"] for each in document["contexts"]]) == (0, sorted(NAMES))
    alone = json.loads(fleet.run("kubeconfig", "--cluster", "rome", "-o", "json").out)
    assert (alone["current-context"], [each["name"] for each in alone["users"]]) == ("rome", ["rome"])


def test_paths_of_a_merged_kubeconfig_are_absolute() -> None:
    context = Context(
        name="of-the-file",
        cluster={"server": "https://oslo", "certificate-authority": "ca.crt"},
        user={"client-key": "/keys/a", "tokenFile": "token", "exec": {"command": "./login", "args": ["a"]}},
        cluster_folder=Path("/etc/fleet"),
        user_folder=Path("/home/me"),
    )
    assert kubeconfig_of_contexts({"oslo": context}) == {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "oslo",
        "contexts": [{"name": "oslo", "context": {"cluster": "oslo", "user": "oslo"}}],
        "clusters": [
            {"name": "oslo", "cluster": {"server": "https://oslo", "certificate-authority": "/etc/fleet/ca.crt"}}
        ],
        "users": [
            {
                "name": "oslo",
                "user": {
                    "client-key": "/keys/a",
                    "tokenFile": "/home/me/token",
                    "exec": {"command": "/home/me/login", "args": ["a"]},
                },
            }
        ],
    }


class Parsed(NamedTuple):
    words: list[str]
    rest: tuple[str, ...]
    clusters: tuple[str, ...]


PARSED = [
    Parsed(["web", "-n", "shop"], ("web", "-n", "shop"), ()),
    Parsed(["--cluster", "a", "web", "--cluster=b", "-f"], ("web", "-f"), ("a", "b")),
    Parsed(["-nshop", "-hx", "web"], ("-nshop", "-hx", "web"), ()),
    Parsed(["web", "--", "--cluster", "a", "--"], ("web", "--", "--cluster", "a", "--"), ()),
    Parsed(["--as", "me", "--since=1h", "-"], ("--since=1h", "-"), ()),
]


@each_row("case", PARSED, ids=lambda case: " ".join(case.words))
def test_words_are_divided_between_argosy_and_kubectl(case: Parsed) -> None:
    found: list[tuple[tuple[str, ...], tuple[str, ...]]] = []

    @command_of_kubectl("WORDS", epilog="")
    def command(_log: object, /, *, words: tuple[str, ...], access: AccessOptions) -> int:
        found.append((words, access.clusters))
        return 0

    command.main(case.words, standalone_mode=False)
    assert found == [(case.rest, case.clusters)]


KUBECTLS_OPTIONS = {
    "logs": "--all-containers --all-pods -c=web --container=web -f --follow --ignore-errors --limit-bytes=9 -l=app=web"
    " --insecure-skip-tls-verify-backend --max-log-requests=9 --pod-running-timeout=5s --prefix -p --previous"
    " --selector=app=web --since=1h --since-time=2026-01-01T00:00:00Z --tail=9 --timestamps -n=shop --namespace=shop",
    "events": "-A --all-namespaces --chunk-size=9 --for=pod/web --no-headers -n=shop --types=Warning -w --watch"
    " --show-managed-fields --allow-missing-template-keys",
    "describe": "-A --all-namespaces --chunk-size=9 -f=web.yaml --filename=web.yaml -k=. --kustomize=. -R --recursive"
    " -l=app=web --selector=app=web --show-events=false -n=shop",
    "top": "pods -A --containers --no-headers --sort-by=cpu --sum --use-protocol-buffers -l=app=web --show-capacity",
    "api-resources": "--api-group=apps --cached --categories=all --namespaced=false --no-headers --sort-by=name"
    " --verbs=list -o=name -o=wide",
}
"""The options that kubectl 1.36 lists for the commands that run it for each member."""


@pytest.mark.parametrize("name", KUBECTLS_OPTIONS)
def test_every_option_of_kubectl_comes_to_it(name: str, fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each by itself, with its value behind an equals sign and, where it has one, in a word of its own."""
    handed: list[tuple[str, ...]] = []

    def take(_log: object, words: tuple[str, ...], *_others: object) -> int:
        handed.append(words if words[:1] == (name,) else (name, *words))
        return 0

    for function in ("run_for_each", "stream_lines", "describe_for_each"):
        monkeypatch.setattr(f"reconciler.commands.{name.replace('-', '_')}.{function}", take, raising=False)
    for each in KUBECTLS_OPTIONS[name].split():
        option, equals, value = each.partition("=")
        for words in ((f"{option}={value}",), (option, value)) if equals else ((option,),):
            handed.clear()
            ended = fleet.run(name, *words)
            assert (ended.code, handed) == (0, [(name, *words)]), (words, ended.err)


def test_help_is_the_commands_own() -> None:
    with pytest.raises(click.exceptions.Exit):
        command_of_kubectl("WORDS", epilog="")(lambda _log, **_options: 0).parse_args(
            click.Context(click.Command("logs"), help_option_names=["-h", "--help"]), ["--help"]
        )


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["-w"], True),
        (["--watch"], True),
        (["--watch=false"], False),
        (["-f"], True),
        (["-Aw"], True),
        (["-nweb"], False),
        (["--", "-f"], False),
        (["web"], False),
    ],
)
def test_output_without_end_is_known(words: list[str], answer: bool) -> None:
    assert is_streaming(words) is answer


def test_tables_with_other_titles_stand_alone() -> None:
    outputs = {
        "a": Ran(code=0, out="NAME   VERSION\nx      v1\n"),
        "b": Ran(code=0, out="NAME   GROUP   AGE\ny      -       1\n"),
        "c": Ran(code=0, out="NAME   VERSION\nlong   v1 b\n"),
        "d": Ran(code=0, out=""),
    }
    assert table_of_outcomes(outputs) == (
        "CLUSTER   NAME   VERSION\n"
        "a         x      v1\n"
        "c         long   v1 b\n"
        "\n"
        "CLUSTER   NAME   GROUP   AGE\n"
        "b         y      -       1\n"
    )
    assert blocks_of_outcomes(outputs) == (
        "Cluster:  a\nNAME   VERSION\nx      v1\n"
        "\nCluster:  b\nNAME   GROUP   AGE\ny      -       1\n"
        "\nCluster:  c\nNAME   VERSION\nlong   v1 b\n"
    )


def test_a_context_of_the_repository_may_start_no_program(fleet: Fleet, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever can push to the source could otherwise run programs where people look into members."""
    inside = fleet.repository.path / "kubeconfigs"
    inside.mkdir()
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "./login", "interactiveMode": "Never"}
    config = parse_documents((fleet.kubeconfigs / "rome.yaml").read_bytes())[0].value
    users = [{"name": each["name"], "user": {"exec": plugin}} for each in config["users"]]
    (inside / "rome.yaml").write_bytes(emit({**config, "users": users}))
    for command in ("describe", "kubeconfig", "logs", "exec", "get"):
        words = ["pods"] if command != "kubeconfig" else []
        ended = argosy(fleet.repository, capsys, command, *words, "--cluster", "rome", "--kubeconfigs", str(inside))
        assert (ended.code, ended.out) == (5, ""), command
        assert "would run an exec plugin named in the source repository" in ended.err
