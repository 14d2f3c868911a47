"""Stories: a fleet is committed and rendered, something changes, and all that commands say and all that is then held.

A row of a table is a story. Commit ids are the only thing that cannot be written down beforehand: what is said names
commits by the branch they are on, as ``<main>``, ``<main~1>`` (the one before), ``<rendered>`` and ``<rendered~1>``.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from render.documents import parse_documents

from .build import Ended, Repository, a_cluster, argosy

Files = Mapping[str, Any]
BRANCHES = {"main": "main", "rendered": "argosy/rendered"}
_STEPS_BACK = 3
_AN_ID = re.compile("[0-9a-f]{12}")


class Run(NamedTuple):
    """A command and everything about how it ends."""

    command: str
    code: int = 0
    out: str = ""
    err: str = ""


class Story(NamedTuple):
    """A source that is rendered, a change to it, the words of some commands, and the clusters' objects at the end.

    ``holds`` has a line for every object of every cluster: cluster, namespace, kind and name, and for a Deployment its
    replicas and image. ``trailers`` close the message of the second commit.
    """

    why: str
    first: Files
    then: Files
    runs: tuple[Run, ...]
    holds: tuple[str, ...]
    trailers: str = ""


def a_fleet(path: Path, members: int = 3) -> Repository:
    """A repository with so many members, not committed yet."""
    made = Repository.create(path)
    made.write({f"clusters/member{number}.yaml": a_cluster(f"member{number}") for number in range(1, members + 1)})
    return made


def play(story: Story, repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """Tell a story from its beginning and compare every word."""
    repository.commit(story.first)
    begun = argosy(repository, capsys, "reconcile", "--bootstrap")
    assert begun.code in {0, 1}, begun.err
    message = f"change\n\n{story.trailers}" if story.trailers else "change"
    repository.commit(story.then, message)
    check_runs(story.runs, repository, capsys)
    assert held(repository) == story.holds


def check_runs(runs: tuple[Run, ...], repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """Run commands one after the other; only one that says so moves the rendered branch, and by one commit."""
    before = tips(repository)
    for run in runs:
        ended = told(argosy(repository, capsys, *run.command.split()), repository)
        assert Run(run.command, *ended) == run
        after = tips(repository)
        is_committed = run.out.startswith("committed <rendered>")
        assert after[1:] == before if is_committed else after == before, run.command
        before = after


def tips(repository: Repository) -> list[str]:
    """The rendered commits, newest first; none before the first of them."""
    return repository.git("rev-list", BRANCHES["rendered"], "--", check=False).splitlines()


def failed(code: int, *lines: str) -> Ended:
    """Return the end of a run that says these lines on stderr and nothing else."""
    return Ended(code, "", "".join(f"{line}\n" for line in lines))


def told(ended: Ended, repository: Repository) -> Ended:
    """Return the end of a run with commits called by their branches."""
    return Ended(ended.code, named(ended.out, repository), named(ended.err, repository))


def named(text: str, repository: Repository) -> str:
    """Put the names of commits in the place of their ids."""
    if not _AN_ID.search(text):
        return text
    for name, branch in BRANCHES.items():
        history = repository.git("rev-list", f"--max-count={_STEPS_BACK}", branch, "--", check=False).splitlines()
        for back, commit in enumerate(history):
            called = f"<{name}~{back}>" if back else f"<{name}>"
            text = text.replace(commit, called).replace(commit[:12], called)
    return text


def held(repository: Repository, revision: str = BRANCHES["rendered"]) -> tuple[str, ...]:
    """Return the clusters' objects, each a line so readable that a wrong one shows its mistake."""
    paths = repository.files(revision, "clusters")
    return tuple(_described(path, repository, revision) for path in paths)


def _described(path: str, repository: Repository, revision: str) -> str:
    _, cluster, *parts = path.removesuffix(".yaml").split("/")
    line = f"{cluster} {'/'.join(parts)}"
    if parts[1] != "Deployment.apps":
        return line
    spec = parse_documents(f"{repository.show(path, revision)}\n".encode())[0].value["spec"]
    image = spec["template"]["spec"]["containers"][0]["image"]
    return f"{line} {spec.get('replicas', '-')} {image}"


def settings(**spec: Any) -> dict[str, Any]:
    """An argosy.yaml."""
    return {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}, "spec": spec}
