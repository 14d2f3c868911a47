"""``argosy diff`` of a revert: whether the split of replicas returns with the files, and the command if it does not."""

import json
from pathlib import Path

import pytest

from tests.build import Repository, argosy
from tests.test_rebalance import _sized
from tests.test_rollback import _move_web_to_rome, an_app, divided, rendered, shares

ELSEWHERE = "replicas are not where they were"


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    """Two apps divided by room; lyon has more of it since."""
    repository = Repository.create(tmp_path / "fleet")
    policies = [divided("web", "lyon", "paris", selects="web"), divided("api", "lyon", "paris", selects="api")]
    repository.commit(
        {
            "shop/web.yaml": an_app("web", 6),
            "shop/api.yaml": an_app("api", 4),
            "policies.yaml": policies,
            **{f"c/{name}.yaml": _sized(name, "20") for name in ("lyon", "paris", "rome")},
        },
        "Begin",
    )
    rendered(repository, capsys, "--bootstrap")
    repository.commit({"c/lyon.yaml": _sized("lyon", "90")}, "Larger lyon")
    return repository


def _section(text: str) -> list[str]:
    """Return the lines of the section about a revert."""
    lines = text.splitlines()
    if "REVERT" not in lines:
        return []
    after = lines[lines.index("REVERT") + 1 :]
    return [line.strip() for line in after[: after.index("") if "" in after else len(after)]]


def test_a_revert_whose_replicas_do_not_return_names_the_rollback(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    to = fleet.git("rev-parse", "--short=12", "argosy/rendered")
    _move_web_to_rome(fleet, capsys)
    fleet.git("revert", "--no-edit", "HEAD")
    # The files are those of a source that nothing was rendered of, so that one commit is what is taken back.
    ended = argosy(fleet, capsys, "diff", "HEAD~1", "HEAD")
    assert _section(ended.out) == [
        f"this takes back a commit after rendered commit {to}; {ELSEWHERE}, of Deployment.apps shop/web",
        f"hint: argosy rollback deployment/web -n shop --to {to} puts them back as well",
    ]
    words = _section(ended.out)[1].removeprefix("hint: argosy ").removesuffix(" puts them back as well").split()
    rendered(fleet, capsys, "--allow-removal", "*=9")
    assert argosy(fleet, capsys, *words, "--commit").code == 0
    rendered(fleet, capsys)
    assert shares(fleet) == {"lyon": 3, "paris": 3}
    markdown = argosy(fleet, capsys, "diff", "HEAD~2", "HEAD~1", "-o", "markdown").out
    assert f"<code>argosy rollback deployment/web -n shop --to {to}</code> puts them back as well" in markdown


def test_files_that_are_again_those_of_a_rendered_source_are_a_revert_whatever_its_message(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.commit({"shop/api.yaml": an_app("api", 5)}, "Scale api")
    to = rendered(fleet, capsys)
    _move_web_to_rome(fleet, capsys)
    fleet.git("checkout", "-q", "HEAD~1", "--", ".")
    shown = argosy(fleet, capsys, "diff")  # the work tree
    fleet.git("commit", "-q", "-m", "As it was")
    for ended in (shown, argosy(fleet, capsys, "diff", "HEAD~1", "HEAD")):
        assert _section(ended.out)[1:] == [f"hint: argosy rollback --to {to[:12]} puts them back as well"]
    document = json.loads(argosy(fleet, capsys, "diff", "HEAD~1", "HEAD", "-o", "json").out)
    assert document["revert"] == {
        "to": to,
        "source": fleet.git("rev-parse", "HEAD~2"),
        "whole": True,
        "split": [{"group": "apps", "kind": "Deployment", "namespace": "shop", "name": "web"}],
        "command": f"argosy rollback --to {to[:12]}",
    }


def test_a_revert_that_brings_all_back_says_so(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    to = fleet.git("rev-parse", "--short=12", "argosy/rendered")
    fleet.commit({"shop/web.yaml": an_app("web", 6, "app:2")}, "Release")
    rendered(fleet, capsys)
    fleet.git("revert", "--no-edit", "HEAD")
    assert _section(argosy(fleet, capsys, "diff", "HEAD~1", "HEAD").out) == [
        f"this takes back a commit after rendered commit {to}; replicas are where they were"
    ]


def test_a_rollback_and_an_ordinary_change_are_no_revert(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    _move_web_to_rome(fleet, capsys)
    assert _section(argosy(fleet, capsys, "diff", "HEAD~1", "HEAD").out) == []
    assert argosy(fleet, capsys, "rollback", "--commit").code == 0
    assert _section(argosy(fleet, capsys, "diff", "HEAD~1", "HEAD").out) == []
