"""Words of other command lines lead to the command that does it here, or to a sentence that says how it is done."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler.cli import COMMANDS, run
from reconciler.console.meant_commands import question_for_similar_command
from reconciler.reference.other_words import ELSEWHERE, OTHERWISE
from reconciler.reference.topics import TOPICS
from render.documents import parse_documents

LISTED = parse_documents((Path(__file__).parent / "vectors" / "karmada_features.yaml").read_bytes())[0].value
KARMADACTL = {
    "addons": "There is nothing to install",
    "annotate": "Edit the file in the source and commit it; 'argosy diff'",
    "api-resources": "",
    "api-versions": "'kubectl --context CLUSTER api-versions'",
    "apply": "",
    "attach": "",
    "completion": "",
    "cordon": "'argosy cluster cordon'",
    "create": "Write the file into the source and commit it; 'argosy init'",
    "deinit": "There is no control plane to take down: 'argosy help leaving'",
    "delete": "Take the files out of the source with 'git rm', and see 'argosy diff'",
    "describe": "",
    "edit": "Edit the file in the source and commit it; 'argosy diff'",
    "exec": "",
    "explain": "",
    "get": "",
    "init": "",
    "interpret": "",
    "join": "'argosy cluster join'",
    "label": "'argosy cluster label'",
    "logs": "",
    "options": "'argosy --help'",
    "patch": "Edit the file in the source and commit it; 'argosy diff'",
    "promote": "'argosy import --cluster CONTEXT'",
    "register": "'argosy cluster join NAME --mode pull'",
    "taint": "'argosy cluster taint'",
    "token": "No token is made: an agent logs in to Git alone",
    "top": "",
    "uncordon": "'argosy cluster uncordon'",
    "unjoin": "'argosy cluster unjoin'",
    "unregister": "'argosy cluster unjoin NAME'",
    "version": "'argosy --version'",
}
GUESSED = {
    "scale": "Edit the replicas in the file of the template and commit it; 'argosy diff'",
    "log": "'argosy history'",
    "adopt": "'argosy apply --take-from TOOL'",
    "members": "'argosy status'",
    "dashboard": "'argosy ui'",
    "whatif": "'argosy simulate'",
    "set": "Edit the file in the source and commit it; 'argosy diff'",
    "promote": "add these to the rule of the override policy",
    "freeze": "'suspension: {dispatching: true}'",
    "pause": "'argosy cluster cordon NAME', until 'argosy cluster uncordon NAME'",
    "canary": "'argosy help rollouts' has its fields",
    "prometheus": "examples/deploy/monitoring has rules",
}
"""Words that people try who have read nothing, each with a part of its answer."""

KUBEFEDCTL = {
    "enable": "Every object is federated as it stands",
    "disable": "Take the kind out of the policies that select it",
    "federate": "'argosy import --from kubefed'",
    "join": "'argosy cluster join'",
    "unjoin": "'argosy cluster unjoin'",
    "orphaning-deletion": "preserveResourcesOnDeletion: true",
    "version": "'argosy --version'",
}
"""Each word of the two with a part of its answer; "" where there is a command of that name that is meant."""


def answer_to(word: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert run([word, "x", "--flag"]) == 2
    return " ".join(capsys.readouterr().err.split())


def test_every_command_of_karmadactl_is_listed() -> None:
    assert list(KARMADACTL) == LISTED["commands"]


@pytest.mark.parametrize(("word", "part"), [*KARMADACTL.items(), *KUBEFEDCTL.items(), *GUESSED.items()])
def test_a_word_leads_to_what_is_meant(word: str, part: str, capsys: pytest.CaptureFixture[str]) -> None:
    if part:
        said = answer_to(word, capsys)
        assert f"No such command '{word}'." in said
        assert part in said
    else:
        assert word in COMMANDS


def named_commands() -> Iterator[str]:
    yield from (line.split()[0] for line in ELSEWHERE.values() if not line.startswith("-"))
    for sentence in OTHERWISE.values():
        yield from re.findall(r"'argosy ([a-z]+)", sentence)


def test_every_command_and_topic_that_an_answer_names_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(named_commands()) <= COMMANDS.keys()
    assert not (ELSEWHERE.keys() | OTHERWISE.keys()) & COMMANDS.keys()
    assert not ELSEWHERE.keys() & OTHERWISE.keys()
    texts = " ".join((*(f"'argosy {line}'" for line in ELSEWHERE.values()), *OTHERWISE.values()))
    assert set(re.findall(r"'argosy help ([a-z.]+)'", texts)) <= TOPICS.keys()
    for name in set(re.findall(r"'argosy cluster ([a-z]+)", texts)):
        assert run(["cluster", name, "--help"]) == 0
    capsys.readouterr()


def test_a_word_that_is_not_near_is_not_taken_for_a_command() -> None:
    words = ("create", "enable", "federate", "helth", "token", "sample")
    assert [question_for_similar_command("argosy", word, COMMANDS, {}) for word in words] == [""] * len(words)
    assert (
        question_for_similar_command("argosy", "reconsile", COMMANDS, ELSEWHERE) == "Did you mean 'argosy reconcile'?"
    )


@pytest.mark.parametrize("option", ["-f", "-k"])
def test_apply_tells_where_a_file_goes(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["apply", option, "a.yaml"]) == 2
    said = "apply reads rendered commits, and no files: put it into the source and commit it; 'argosy diff' shows what"
    assert said in " ".join(capsys.readouterr().err.split())
