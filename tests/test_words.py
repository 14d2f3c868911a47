"""The words of messages, docstrings and guides: one cluster is never ``1 clusters``, and none are private."""

import re
from pathlib import Path

import pytest

from tests.build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters

NOUNS = "bindings clusters expectations files objects policies problems refs replicas rules templates tests warnings"
ONE_OF_MANY = re.compile(rf"\b1 (?:[a-z]+ )?(?:{NOUNS.replace(' ', '|')})\b")
PRIVATE_PHRASES = re.compile(
    r"\b(?:leaves?|left|leaving) (?:[\w{}().,' ]{1,50} )?by itself\b|\bwhat came of it\b|\bby the way of\b"
)
"""Phrases for which there are words: something is evicted, and has an outcome, a result or a report."""
COMMANDS = [
    ("validate",),
    ("render", "--bootstrap"),
    ("explain", "deploy/nginx", "--rev", "HEAD"),
    ("explain", "cluster", "member1"),
    ("explain", "policy", "nginx"),
    ("test",),
    ("reconcile", "--bootstrap"),
    ("doctor",),
    ("diff",),
    ("diff", "--stat", "--check"),
    ("diff", "-o", "markdown"),
    ("cluster", "unjoin", "member1"),
    ("cluster", "unjoin", "member1", "--drain"),
    ("status",),
]


def test_one_is_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = Repository.create(tmp_path / "fleet")
    repository.commit(
        {
            "fleet.yaml": [
                a_cluster("member1"),
                a_deployment(replicas=1),
                a_policy(placement=on_clusters("member1")),
            ]
        }
    )
    said = []
    for words in COMMANDS:
        if words[0] == "diff":
            changed = [a_cluster("member2"), a_deployment(replicas=1), a_policy(placement=on_clusters("member2"))]
            repository.write({"fleet.yaml": [a_cluster("member1"), *changed]})
        ended = argosy(repository, capsys, *words)
        said += [f"{' '.join(words)}: {line}" for line in (ended.out + ended.err).splitlines()]
        repository.git("checkout", "-q", ".")
    message = repository.git("log", "--format=%B", "argosy/rendered")
    assert [line for line in (*said, *message.splitlines()) if ONE_OF_MANY.search(line)] == []
    assert "1 of 1 cluster changes: member1" in message.splitlines()


def test_no_text_speaks_of_this_project_s_own_ideas_where_kubernetes_has_a_word() -> None:
    root = Path(__file__).parent.parent
    modules = (file for folder in ("render", "overrides", "reconciler") for file in (root / folder).rglob("*.py"))
    texts = {file: " ".join(file.read_text().split()) for file in (*modules, *(root / "examples").rglob("README.md"))}
    found = [
        f"{file.relative_to(root)}: {each.group()}"
        for file, text in texts.items()
        for each in PRIVATE_PHRASES.finditer(text)
    ]
    assert found == []
    assert PRIVATE_PHRASES.search("Deployment.apps default/web leaves paris, lyon by itself")
