"""Nonsense in any option of any command ends at once, with what is wrong: no option of another word does nothing."""

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from reconciler.cli import argosy as main_command

from .build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters

ARGUMENTS = {
    "rollout expedite": ("--reason", "on fire"),
    "agent": (".", "--cluster", "m1", "--once"),
    "cluster agent": ("m2", "--repository", "https://git.example.com/fleet"),
    "cluster cordon": ("m1",),
    "cluster drain": ("m1",),
    "cluster join": ("new",),
    "cluster label": ("m1", "a=b"),
    "cluster rejoin": ("m1",),
    "cluster release": ("m1",),
    "cluster rename": ("m1", "m9"),
    "cluster set": ("m1", "--cpu", "4"),
    "cluster taint": ("m1", "a=b:NoSchedule"),
    "cluster uncordon": ("m1",),
    "cluster unjoin": ("m1",),
    "backtest": ("--since", "90d"),
    "bisect": ("deploy/nginx", "--unplaced"),
    "blame": ("deploy/nginx",),
    "diff": ("--live",),
    "explain": ("deploy/nginx",),
    "api-resources": (),
    "attach": ("web",),
    "describe": ("deployments",),
    "events": (),
    "exec": ("web",),
    "get": ("deployments",),
    "kubeconfig": (),
    "logs": ("deploy/web",),
    "pods": ("deploy/nginx",),
    "port-forward": ("deploy/web", "80"),
    "top": ("nodes",),
    "history": ("deploy/nginx",),
    "list": ("objects",),
    "search": ("nginx",),
    "import": (".",),
    "interpret": ("-f", "web.yaml"),
    "rebalance": ("deploy/nginx",),
    "report": ("--one-file", "-"),
    "rollout emergency": ("--reason", "hotfix"),
    "simulate": ("--cordon", "m1"),
    "status": ("deploy/nginx",),
    "test": (),
    "ui": ("--listen", "0.0.0.0:0"),
    "wait": ("deploy/nginx",),
}
"""The words by which a command gets as far as the option."""
WITHOUT = {
    ("bisect", "--cluster"): ("deploy/nginx", "--value", "spec.replicas=1"),
    ("bisect", "--on"): ("deploy/nginx",),
    ("bisect", "--replicas"): ("deploy/nginx",),
    ("bisect", "--value"): ("deploy/nginx", "--cluster", "m1"),
    ("backtest", "--since"): (),
    ("lock", "--base"): ("--fetch",),
    ("emit flux", "--interval"): ("--url", "https://git.example.com/fleet"),
    ("diff", "--allow-removal"): ("--check",),
    ("diff", "--allow-movement"): ("--check",),
    ("diff", "--allow-cost"): ("--check",),
    ("diff", "--allow-fragile"): ("--check",),
    ("diff", "--max-bytes"): ("-o", "markdown"),
    ("diff", "--now"): (),
    ("report", "--moves"): ("-",),
    ("diff", "--output"): (),
}
"""The words of options that go without those of the command."""
NONSENSE = {
    "--add": "nowhere.yaml",
    "--accepted-settings": "nowhere.yaml",
    "--allow-cost": "plenty",
    "--allow-fragile": "Deployment.apps default/nowhere",
    "--allow-movement": "Deployment.apps default/nowhere=1",
    "--allow-removal": "nowhere=1",
    "--allowed-signers": "nowhere",
    "--app": "nowhere",
    "--at": "nowhere",
    "--base": "nowhere",
    "--moves": "nowhere",
    "--capacity": "gpu",
    "--cluster": "nowhere",
    "--confirm": "nowhere",
    "--cordon": "nowhere",
    "--cpu": "much",
    "--desired-file": "nowhere.yaml",
    "--drift": "often",
    "--filename": "nowhere.yaml",
    "--cluster-selector": "a b c",
    "--field-selector": "a b c",
    "--sort-by": "a[b",
    "--subresource": "nowhere",
    "--explain": "nonsense",
    "--flap-within": "soon",
    "--fleet": "Not_A_Name",
    "--grace": "long",
    "--heartbeat": "often",
    "--in-cluster": "nowhere",
    "--horizon": "far",
    "--inside": "nowhere",
    "--interval": "often",
    "--known-hosts": "nowhere",
    "--kind": "nowhere",
    "--label": "a b=c",
    "--label-columns": "a b",
    "--lease": "a/b/c/d",
    "--listen": "nowhere",
    "--token-file": "nowhere",
    "--trust-header": "a b",
    "--trusted-proxy": "nowhere",
    "--allowed-host": "a b",
    "--ui-token-file": "nowhere",
    "--ui-trust-header": "a b",
    "--ui-trusted-proxy": "nowhere",
    "--ui-allowed-host": "a b",
    "--memory": "much",
    "--namespace": "Not_A_Name",
    "--new-cluster": "Not_A_Name",
    "--notify": "nonsense",
    "--now": "today",
    "--observed-file": "nowhere.yaml",
    "--pass-timeout": "long",
    "--path": "../elsewhere",
    "--pods": "1.5",
    "--policy": "nowhere.yaml",
    "--poll": "often",
    "--on": "nowhere",
    "--output": "nonsense",
    "--replicas": "nonsense",
    "--rev": "nowhere",
    "--scale": "nonsense",
    "--schedule": "often",
    "--secret": "Not_A_Name",
    "--selector": "a b c",
    "--service-account": "Not/A/Name",
    "--settings": "nowhere.yaml",
    "--shard": "4/3",
    "--since": "nowhere",
    "--status-file": "nowhere.yaml",
    "--taint": "a=b:Never",
    "--take-from": "nonsense",
    "--timeout": "long",
    "--to": "nowhere",
    "--until": "soon",
    "--update": "nowhere",
    "--wave": "nowhere",
    "--url": "nonsense",
    "--value": "nonsense",
    "--webhook": "nonsense",
    "--webhook-secret": "nowhere",
    "--without-cluster": "nowhere",
    "--without-provider": "nowhere",
    "--without-region": "nowhere",
    "--without-zone": "nowhere",
}
"""Words that no option means, by option: they are refused wherever it is."""
ANY_TEXT = {
    "--accept-uid": "A UID is compared with that of the cluster, which says that it is another one.",
    "--as": "Any text may be the name of a user: the server knows.",
    "--as-group": "Any text may be the name of a group: the server knows.",
    "--branch": "Git knows which names branches may have: the tests of rollback try others.",
    "--context": "A context is looked up in kubeconfigs that may be on another machine, where passes run.",
    "--container": "A member knows the containers of its pods.",
    "--credentials": "Other repositories are asked with it, and say what is wrong.",
    "--git-secret": "It is the name of an object that another tool looks up.",
    "--group": "It is one of a rollout, which says what groups it has: its own tests try others.",
    "--headroom": "deploy/nowhere",
    "--image": "A registry knows its images.",
    "--kubeconfig": "That it is not there is said of each cluster that it should lead to, with exit code 5.",
    "--kubeconfigs": "That it is not there is said of each cluster that it should lead to, with exit code 5.",
    "--text": "Any text may be in a name.",
    "--kubeconfig-secret": "It is the name of an object that another tool looks up.",
    "--man-pages": "The folder is made.",
    "--migrate-from": "Any printable text may be a field manager; that it owns nothing is said after an apply.",
    "--output-dir": "The folder is made.",
    "--pod": "A member knows its pods.",
    "--project": "It is the name of an object that another tool looks up.",
    "--provider": "Any text may be the name of a provider.",
    "--reason": "It is for people.",
    "--region": "Any text may be the name of a region.",
    "--repository": "It is an address that an agent speaks to.",
    "--sign-key": "Git signs with it, and says what is wrong.",
    "--zone": "Any text may be the name of a zone.",
}
"""Options that take any text, and why."""
WARNED = {
    ("agent", "--cluster"): "it has to be given, once",
    ("cluster agent", "--allowed-signers"): "it is the content of a file, as for --known-hosts",
    ("emit argocd", "--namespace"): "the namespace is another tool's",
    ("emit flux", "--namespace"): "the namespace is another tool's",
    ("import", "--cluster"): "it names contexts",
    ("import", "--namespace"): "the namespace is that of policies to be written",
    ("render", "--namespace"): "an empty namespace is warned of, as for kubectl",
    ("run", "--cluster"): "passes name it, and go on: the fleet may get such a cluster",
    ("rollout confirm", "--namespace"): "it is one of an emergency, and there is none: its own tests try it",
    ("rollout approve", "--wave"): "a wave is one of a rollout, and there is none: tests of these commands try it",
    ("ui", "--in-cluster"): "the page of pods names it, and no other page asks members",
    ("run", "--in-cluster"): "passes name it, and go on: the fleet may get such a cluster",
}
"""Pairs of a command and an option that takes other words there than elsewhere, and why."""


def commands() -> Iterator[tuple[str, click.Command]]:
    """Yield every command by its words."""

    def below(command: click.Command, words: tuple[str, ...]) -> Iterator[tuple[str, click.Command]]:
        if not isinstance(command, click.Group):
            yield " ".join(words), command
            return
        context = click.Context(command)
        for name in command.list_commands(context):
            if (found := command.get_command(context, name)) is not None:
                yield from below(found, (*words, name))

    yield from below(main_command, ())


def options_with_values() -> Iterator[tuple[str, str, click.Option]]:
    """Yield every option that takes a value, with its command and its long form."""
    for words, command in commands():
        for option in command.params:
            if isinstance(option, click.Option) and not option.is_flag and not option.hidden:
                yield words, max(option.opts, key=len), option


def nonsense_for(option: click.Option, name: str) -> str:
    """Return a word that is none of an option's; "" where any text is."""
    if isinstance(option.type, click.Choice):
        return "nonsense"
    if isinstance(option.type, click.IntRange):
        return "-7"
    return NONSENSE.get(name, "")


def test_every_option_is_tried_or_takes_any_text() -> None:
    known = {(words, name) for words, name, option in options_with_values() if nonsense_for(option, name)}
    others = {name for words, name, _ in options_with_values() if (words, name) not in known}
    assert sorted(others) == sorted(ANY_TEXT)
    assert WARNED.keys() <= known


TRIED = [
    pytest.param(words, name, nonsense_for(option, name), id=f"{words} {name}")
    for words, name, option in options_with_values()
    if nonsense_for(option, name) and (words, name) not in WARNED and name != "--verbose"
]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A fleet that is rendered, of which nothing is applied."""
    made = Repository.create(tmp_path_factory.mktemp("fleet"))
    modes = {"m1": "Push", "m2": "Pull"}
    clusters = {f"{name}.yaml": a_cluster(name, labels={"tier": "gold"}, syncMode=modes[name]) for name in modes}
    made.commit({**clusters, "web.yaml": a_deployment(), "policy.yaml": a_policy(placement=on_clusters("m1", "m2"))})
    return made


@pytest.fixture(autouse=True)
def folder_without_kubeconfig(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fleet: Repository) -> None:
    """Commands run in the fleet's folder, and find no kubeconfig."""
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.chdir(fleet.path)


@pytest.mark.parametrize(("words", "name", "value"), TRIED)
def test_nonsense_is_refused_and_changes_nothing(
    words: str, name: str, value: str, fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    if not fleet.git("rev-parse", "-q", "--verify", "argosy/rendered", check=False):
        assert argosy(fleet, capsys, "reconcile", "--bootstrap").code == 0
    before = fleet.git("for-each-ref"), fleet.git("status", "--porcelain")
    arguments = WITHOUT.get((words, name), ARGUMENTS.get(words, ()))
    ended = argosy(fleet, capsys, *words.split(), *arguments, name, value)
    expected = {4} if name in {"--at", "--base", "--rev", "--since", "--to"} else {2, 3}
    assert ended.code in expected, ended
    assert ended.out == ""
    said = value.partition("=")[0] if name != "--label" else "a b"
    assert said in ended.err or name in ended.err, ended
    assert (fleet.git("for-each-ref"), fleet.git("status", "--porcelain")) == before
