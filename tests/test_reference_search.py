"""``argosy help --search``: the whole reference by words, ranked by where they are, plain in a pipe."""

import subprocess
import sys
from typing import NamedTuple

import click
import pytest
from click.shell_completion import ShellComplete

from reconciler.cli import COMMANDS, argosy, run
from reconciler.commands import help as help_command
from reconciler.reference.other_words import ELSEWHERE, OTHERWISE
from reconciler.reference.search import ReferenceEntry, entries_with, reference_entries
from reconciler.reference.topics import TOPICS, load_topic
from tests.tables import each_row


def entry(name: str, about: str = "Something.") -> ReferenceEntry:
    return ReferenceEntry(name=name, about=about, command="argosy help")


class Search(NamedTuple):
    why: str
    words: str
    entries: tuple[ReferenceEntry, ...]
    want: tuple[str, ...]


INSIDE, BEGUN, SAID = entry("a", "Ungated."), entry("b", "It has gates."), entry("c", "It is a gate.")
SEARCHES = [
    Search(
        "a name counts more than a part of it, and that more than a sentence",
        "gate",
        (SAID, entry("featureGates.x"), entry("spec.gate"), entry("gate"), entry("agated")),
        ("gate", "spec.gate", "featureGates.x", "agated", "c"),
    ),
    Search("a whole word of a sentence counts more than a part", "gat", (INSIDE, BEGUN), ("b", "a")),
    Search("a plural finds one, and one finds the plural", "gates", (SAID, BEGUN), ("c", "b")),
    Search("every word must be there", "gate it", (INSIDE, SAID), ("c",)),
    Search(
        "one word in a name counts more than all in a sentence",
        "gate it",
        (SAID, entry("gate", "Of items.")),
        ("gate", "c"),
    ),
    Search("capitals count for nothing", "GATE", (SAID,), ("c",)),
    Search("signs are no pattern", "g.te", (SAID,), ()),
    Search("an s that is no plural stays", "class", (entry("clas"), entry("className")), ("className",)),
    Search(
        "equal ones stay in the order of the reference",
        "gate",
        (entry("z.gate"), entry("a.gate")),
        ("z.gate", "a.gate"),
    ),
]


@each_row("search", SEARCHES)
def test_entries_are_ranked_by_where_they_have_the_words(search: Search) -> None:
    assert tuple(each.name for each in entries_with(search.words.split(), search.entries)) == search.want


def lines(capsys: pytest.CaptureFixture[str], *words: str) -> list[list[str]]:
    """Return the columns of what a search prints into a pipe."""
    capsys.readouterr()
    assert run(["help", "--search", *words]) == 0
    return [line.split("\t") for line in capsys.readouterr().out.splitlines()]


FIRST = {
    "removal guard": ("spec.removalGuard", "argosy help argosy.yaml"),
    "apply allow older": ("argosy apply --allow-older", "argosy apply --help"),
    "exit codes": ("exit-codes", "argosy help exit-codes"),
    "clusterAffinities": (
        "PropagationPolicy.spec.placement.clusterAffinities",
        "argosy explain PropagationPolicy.spec.placement.clusterAffinities",
    ),
    "undo": ("undo", "argosy help undo"),
    "rollback": ("rollbacks", "argosy help rollbacks"),
    "alerts": ("alert", "argosy help alert"),
    "KUBECONFIG": ("KUBECONFIG", "argosy help environment"),
    "ignore-fields": ("argosy.dev/ignore-fields", "argosy help annotations"),
    "FleetStatus clusters": ("FleetStatus.clusters", "argosy schema FleetStatus"),
    "cluster uncordon": ("argosy cluster uncordon", "argosy cluster uncordon --help"),
}
"""The words that people type, each with the name and the command of the first entry that they get."""


@pytest.mark.parametrize("words", FIRST)
def test_what_people_look_for_stands_first(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    name, _, command = lines(capsys, *words.split())[0]
    assert (name, command) == FIRST[words]


GUESSED = {
    "alert": "argosy run --notify",
    "notify": "argosy run --notify",
    "slack": "argosy run --notify",
    "metrics": "argosy run --inside",
    "prometheus": "examples/deploy/monitoring",
    "dashboard": "argosy status --watch",
    "ui": "argosy ui",
    "static site": "argosy report",
    "pause": "argosy cluster cordon",
    "pause a cluster": "argosy cluster cordon",
    "freeze": "suspension: {dispatching: true}",
    "suspend": "suspension: {dispatching: true}",
    "hold": "argosy apply --allow-older",
    "log": "argosy history",
    "history": "argosy history",
    "audit": "argosy verify",
    "undo": "argosy rollback",
    "revert": "argosy apply --allow-older",
    "canary": "'argosy help rollouts' has its fields",
    "wave": "'argosy help rollouts' has its fields",
    "blue/green": "Argosy shifts no traffic",
    "blue green": "Argosy shifts no traffic",
    "promote": "the rule of the override policy",
    "backup": "second remote",
    "restore": "argosy cluster rejoin",
    "disaster": "argosy cluster rejoin",
    "disaster recovery": "argosy cluster rejoin",
    "multi-tenant": "ClusterPropagationPolicy",
    "multi tenant": "ClusterPropagationPolicy",
    "tenant": "ClusterPropagationPolicy",
    "drift": "argosy diff --live",
    "dry run": "Do everything but commit and apply",
    "dry-run": "argosy diff",
    "force": "conflictResolution: Overwrite",
    "conflict": "conflictResolution: Overwrite",
    "ownership": "spec.fieldRules",
    "adopt": "argosy apply --take-from",
    "orphan": "argosy apply --help",
    "prune": "argosy reconcile",
    "unlock": "argosy lock",
    "lock": "argosy lock --help",
    "maintenance": "argosy cluster drain --help",
    "decommission": "argosy cluster unjoin NAME --drain",
    "remove cluster": "argosy cluster unjoin NAME --drain",
    "delete cluster": "argosy cluster forget",
    "add cluster": "argosy cluster join",
    "forget": "argosy cluster forget --help",
    "migrate": "argosy import",
    "helm": "argosy help charts",
    "chart": "argosy help charts",
    "kustomize": "argosy render",
    "sops": "spec.decryption",
    "secret": "spec.decryption",
    "secrets": "spec.decryption",
    "encryption": "spec.decryption",
    "quota": "argosy explain FederatedResourceQuota",
    "cost": "static weights",
    "latency": "argosy run --inside",
    "slow": "--max-parallel",
    "upgrade": "examples/compatibility",
    "install": "pipx install",
    "uninstall": "argosy help leaving",
    "approve": "spec.rendered.push",
    "pull request": "spec.rendered.push",
    "gitops": "argosy emit argocd",
    "permission": "argosy rbac",
    "airgap": "argosy vendor",
    "offline": "argosy doctor --offline",
    "retry": "tried again by the next pass",
    "stuck": "argosy doctor",
    "sharding": "--shard I/N",
    "high availability": "argosy run --lease",
    "leader": "argosy run --lease",
    "hpa": "argosy explain FederatedHPA",
    "scale": "Edit the replicas",
    "failover": "argosy help argosy.yaml",
    "dns": "left to what you have",
    "health": "argosy wait --for healthy",
    "storage": "volumes need a backup",
    "region": "argosy explain Cluster.spec.region",
    "schedule": "argosy explain CronFederatedHPA",
}
"""Words that people guess who have read nothing, each with what one of the first three answers must name."""


@pytest.mark.parametrize("words", GUESSED)
def test_one_of_the_first_three_answers_leads_to_what_does_it(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    first = ["\t".join(columns) for columns in lines(capsys, *words.split())[:3]]
    assert [line for line in first if GUESSED[words] in line] != [], first


def test_everything_that_has_a_name_is_found_by_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Topics, their entries, commands, options and words of other tools, each by its own name."""
    root = click.Context(argosy, info_name="argosy")
    entries = tuple(help_command._reference_entries_of_commands(root))
    names = {each.name for each in entries}
    of_topics = {found.name for name in TOPICS for section in load_topic(name).sections for found in section.entries}
    wanted = {*of_topics, *TOPICS, *ELSEWHERE, *OTHERWISE, *(f"argosy {name}" for name in COMMANDS)}
    assert wanted - names == set()
    assert {"argosy --version", "argosy cluster join --region", "argosy -C", "argosy reconcile -C"} & names == {
        "argosy --version",
        "argosy cluster join --region",
    }
    assert [each.name for each in entries if not each.about] == []
    assert lines(capsys, "argosy help argosy.yaml")


@each_row("command", sorted({each.command for each in reference_entries() if "explain" not in each.command}))
def test_the_command_of_an_entry_shows_something(command: str) -> None:
    context = argosy.make_context("argosy", command.split()[1:])
    assert argosy.invoke(context) == 0


def test_a_pipe_gets_every_entry_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    found = lines(capsys, "cluster")
    assert len(found) > 100
    assert {len(columns) for columns in found} == {3}


def test_a_terminal_gets_the_first_and_a_count(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert run(["help", "--search", "removalGuard"]) == 0
    few = capsys.readouterr().out
    assert few.startswith("spec.removalGuard  (argosy help argosy.yaml)\n  (object) The limits on what one commit ")
    assert run(["help", "--search", "cluster"]) == 0
    many = capsys.readouterr().out
    assert many.splitlines()[-1].endswith(" more: a further word narrows them down, and a pipe gets all")
    assert max(len(line) for line in many.splitlines() if line.startswith("  ")) <= 80


NOTHING = {
    "removl": ("argosy: no entry of the reference has 'removl'\n  hint: nearest here: removal, removals, remove\n"),
    "guard removl": (
        "argosy: no entry of the reference has all of 'guard removl'\n"
        "  hint: 'removl' is nowhere; nearest here: removal, removals, remove\n"
    ),
}


@pytest.mark.parametrize("words", NOTHING)
def test_a_search_that_finds_nothing_names_what_is_near(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(["help", "--search", words]) == 1
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", NOTHING[words])


def test_words_that_are_only_found_apart_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["help", "--search", "zip", "rewind"]) == 1
    assert run(["help", "--search", "schema", "rewind"]) == 1
    err = capsys.readouterr().err
    assert "hint: each is there alone: 'schema' in " in err
    assert "entries, 'rewind' in " in err


def test_a_search_for_nothing_is_a_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["help", "--search"]) == 2
    assert run(["help", "--search", " "]) == 2
    assert "Error: --search needs words, such as 'argosy help --search removal guard'." in capsys.readouterr().err


def test_the_list_of_topics_says_that_they_can_be_searched(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["help"]) == 0
    assert capsys.readouterr().out.endswith("\n\n'argosy help --search WORDS' finds words in all of it.\n")


def test_a_word_of_another_tool_has_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    pages = {}
    for word in (*ELSEWHERE, *OTHERWISE):
        capsys.readouterr()
        assert (word, run(["help", word])) == (word, 0)
        pages[word] = capsys.readouterr().out
    assert pages["lint"] == "Here this is 'argosy validate'.\n"
    assert pages["undo"].startswith("'argosy rollback' puts files and replicas back")
    assert [word for word, page in pages.items() if not page.strip()] == []


def completed(*words: str) -> list[str]:
    *before, last = words
    return [
        item.value for item in ShellComplete(argosy, {}, "argosy", "_ARGOSY_COMPLETE").get_completions(before, last)
    ]


def test_words_to_search_for_are_completed() -> None:
    assert "removal" in completed("help", "--search", "remo")
    assert "guard" in completed("help", "--search", "removal", "gua")
    assert "removal" not in completed("help", "remo")
    assert completed("help", "--se") == ["--search"]


def test_the_list_of_topics_does_not_load_what_searches() -> None:
    program = "import sys; from reconciler.cli import run; run(['help', 'exit-codes']); print('\\0', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert "reconciler.reference.search" not in done.stdout.partition("\0")[2].split()
