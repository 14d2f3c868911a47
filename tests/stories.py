"""Stories: a fleet is committed and rendered, something changes, and all that commands say and all that is then held.

A row of a table is a story. Commit ids are the only thing that cannot be written down beforehand: what is said names
commits by the branch they are on, as ``<main>``, ``<main~1>`` (the one before), ``<rendered>`` and ``<rendered~1>``.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from render.documents import parse_documents

from .build import Ended, Repository, a_cluster, argosy

Files = Mapping[str, Any]
BRANCHES = {"main": "main", "rendered": "argosy/rendered"}
_STEPS_BACK = 3
_AN_ID = re.compile("[0-9a-f]{12}")


NO_CLUSTER_OF_THREE = "no cluster (1 template, 1 propagation policy, 3 clusters)"
"""The words for the commit of one template and one policy that fills none of three clusters."""
UNPLACED = (
    "warning: nothing is rendered of 1 template: no cluster takes any of them\n"
    "  hint: argosy explain KIND/NAME says why\n"
)
UNBUILT = UNPLACED.replace("no cluster takes any of them", "what policies select of them waits, or could not be built")


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
    before = histories(repository)["rendered"]
    for run in runs:
        ended, known = argosy(repository, capsys, *run.command.split()), histories(repository)
        assert Run(run.command, *_told(ended, known)) == run
        after = known["rendered"]
        is_committed = run.out.startswith("committed <rendered>")
        assert after[1:] == before if is_committed else after == before, run.command
        before = after


def histories(repository: Repository) -> dict[str, list[str]]:
    """The commits of the branches, newest first; none before the first of them."""
    parents: dict[str, str] = {}
    tips: dict[str, str] = {}
    for line in repository.git("log", "--all", "--format=%H %P,%D", "--decorate=full", check=False).splitlines():
        commits, _, refs = line.partition(",")
        commit, _, before = commits.partition(" ")
        parents[commit] = before.partition(" ")[0]
        tips |= {ref.rpartition(" ")[2]: commit for ref in refs.split(", ")}
    found: dict[str, list[str]] = {}
    for name, branch in BRANCHES.items():
        commit, found[name] = tips.get(f"refs/heads/{branch}", ""), []
        while commit:
            found[name].append(commit)
            commit = parents[commit]
    return found


def failed(code: int, *lines: str) -> Ended:
    """Return the end of a run that says these lines on stderr and nothing else."""
    return Ended(code, "", "".join(f"{line}\n" for line in lines))


def tips(repository: Repository) -> list[str]:
    """The rendered commits, newest first."""
    return histories(repository)["rendered"]


def told(ended: Ended, repository: Repository) -> Ended:
    """Return the end of a run with commits called by their branches."""
    return _told(ended, histories(repository))


def _told(ended: Ended, known: Mapping[str, Sequence[str]]) -> Ended:
    return Ended(ended.code, _named(ended.out, known), _named(ended.err, known))


def _named(text: str, known: Mapping[str, Sequence[str]]) -> str:
    """Put the names of commits in the place of their ids."""
    if not _AN_ID.search(text):
        return text
    for name, history in known.items():
        for back, commit in enumerate(history[:_STEPS_BACK]):
            called = f"<{name}~{back}>" if back else f"<{name}>"
            text = text.replace(commit, called).replace(commit[:12], called)
    return text


def held(repository: Repository, revision: str = BRANCHES["rendered"]) -> tuple[str, ...]:
    """Return the clusters' objects, each a line so readable that a wrong one shows its mistake."""
    files = repository.contents(revision, "clusters/")
    return tuple(_described(path, text) for path, text in files.items())


def _described(path: str, text: str) -> str:
    _, cluster, *parts = path.removesuffix(".yaml").split("/")
    line = f"{cluster} {'/'.join(parts)}"
    if parts[1] != "Deployment.apps":
        return line
    spec = parse_documents(text.encode())[0].value["spec"]
    image = spec["template"]["spec"]["containers"][0]["image"]
    return f"{line} {spec.get('replicas', '-')} {image}"


def settings(**spec: Any) -> dict[str, Any]:
    """An argosy.yaml."""
    return {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}, "spec": spec}


def allowing(otherwise: str, *trailers: str) -> str:
    """Return the words of a guard about trailers that let a change pass: the sentence, and a commit that has them."""
    named = ", ".join(f"'{each}'" for each in trailers)
    ready = " ".join(f"--trailer '{each}'" for each in trailers)
    said = f"if it is meant, say so in a source commit with the trailer {named}, or {otherwise}"
    return f"{said}\n    git commit --allow-empty -m 'Allow it' {ready}"


def removal_hint(*allowances: str) -> str:
    """Return the hint of a refused removal as a line, such as of ``member1 11``."""
    return f"  hint: {allowing('pass --allow-removal', *(f'Argosy-Allow-Removal: {each}' for each in allowances))}\n"


LOST_PLACE_HINT = "  hint: argosy validate says what no cluster meets; to remove an object, delete its template\n"
"""The first hint of a refused removal in which last copies go because no cluster meets their policies."""


def movement_hint(*allowances: str) -> str:
    """Return the hint of a refused movement as a line."""
    return f"  hint: {allowing('pass --allow-movement', *(f'Argosy-Allow-Movement: {each}' for each in allowances))}\n"


def refused_section(refusal: str) -> str:
    """Return the section of a difference that has the refusal of a pass."""
    lines = refusal.replace("; nothing was committed", "").splitlines()
    return "".join(["\nREFUSED\n", *(f"  {line}\n" for line in lines)])
