"""Nothing installs Argosy by a name that somebody else may have: no file of ours, and no file that ``init`` writes.

An index may have anything by the name ``argosy`` one day. So files name a folder, an address with a commit, or words in
place of those that nobody can have.
"""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler.edit.pipelines import PIPELINES
from tests.tables import each_row
from tests.workflows import ROOT, parsed

_INSTALLS = re.compile(r"(?:pip3?|pipx|uv|uvx|pip) +(?:(?:tool|pip) +)?(?:install|inject|run)\b(.*)|\buvx +(.*)")
_OURS = re.compile(r"argosy(?:\[[\w,-]*\])?\s*(?:[<>=~!].*)?")
_USES = re.compile(r"^ *(?:- )?uses: *([^\s#]+)(.*)")
_OUR_ACTION = re.compile(r"__OWNER__/argosy/\.github/actions/\w+@__COMMIT__|\./\S+")
_IMAGE = re.compile(r"image: *['\"]?(argosy(?:[:@]\S*)?)['\"]?\s*$")


def strangers(line: str) -> Iterator[str]:
    """Names of ours in a line that a registry may give to anybody."""
    for found in _INSTALLS.finditer(line):
        words = (found[1] or found[2] or "").replace("`", " ; ").partition("&&")[0].partition(" ; ")[0]
        try:
            names = shlex.split(words, comments=True)
        except ValueError:
            names = words.split()
        if "inject" in found[0]:
            names = names[1:]  # the first names an environment that is there
        yield from (name for name in names if _OURS.fullmatch(name.strip("\"'")))
    if used := _USES.match(line):
        action, about = used[1], used[2]
        is_pinned = re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", action) and re.match(r" # v\d", about)
        if not is_pinned and not _OUR_ACTION.fullmatch(action):
            yield action
    if image := _IMAGE.search(line):
        yield image[1]


@each_row(
    ("line", "want"),
    [
        ("- run: pipx install argosy", ["argosy"]),
        ("    - pip install --quiet argosy", ["argosy"]),
        ("pip install 'argosy==0.1.0'", ["argosy==0.1.0"]),
        ('python -m pip install "argosy[test]>=1"', ["argosy[test]>=1"]),
        ("uv tool install argosy && argosy --version", ["argosy"]),
        ("uvx argosy validate", ["argosy"]),
        ("run `pip install argosy` first", ["argosy"]),
        ("- uses: OWNER/argosy/.github/actions/render@main", ["OWNER/argosy/.github/actions/render@main"]),
        ("- uses: OWNER/argosy/.github/actions/render@COMMIT", ["OWNER/argosy/.github/actions/render@COMMIT"]),
        ("  uses: actions/checkout@v4", ["actions/checkout@v4"]),
        ("        image: argosy:0.1.0", ["argosy:0.1.0"]),
        ("pipx install .", []),
        ("pip install ./argosy", []),
        ('pip install --quiet "argosy @ $ARGOSY_INSTALL"', []),
        ("pipx inject argosy PySocks", []),
    ],
)
def test_what_a_stranger_may_have_is_found(line: str, want: list[str]) -> None:
    assert list(strangers(line)) == want


def test_no_file_of_ours_installs_what_a_stranger_may_have() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, timeout=30
    ).stdout.decode()
    paths = [ROOT / name for name in listed.split("\0") if name and not name.startswith("tests/")]
    found = [f"{path.relative_to(ROOT)}: {name}" for path in paths for name in _in_file(path)]
    assert (found, len(paths) > 500) == ([], True)


def _in_file(path: Path) -> Iterator[str]:
    if not path.is_file() or path.is_symlink():
        return
    for line in path.read_bytes().decode(errors="replace").splitlines():
        yield from strangers(line)


def test_what_init_writes_installs_nothing_that_a_stranger_may_have() -> None:
    found = [
        name
        for files in PIPELINES.values()
        for text in files.values()
        for line in text.splitlines()
        for name in strangers(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("", 2),
        ("argosy", 2),
        ("argosy==0.1.0", 2),
        ("git+https://git.example.com/argosy.git@main", 2),
        ("git+https://git.example.com/argosy.git@0123456", 2),
        (f"argosy\ngit+https://git.example.com/argosy.git@{'0' * 40}", 2),
        (f"git+https://git.example.com/argosy.git@{'0' * 40}", 0),
    ],
)
@pytest.mark.parametrize("text", ["example", "init"])
def test_a_gitlab_pipeline_without_an_address_and_a_commit_fails(
    text: str, address: str, code: int, tmp_path: Path
) -> None:
    pipeline = tmp_path / "gitlab-ci.yml"
    pipeline.write_text(PIPELINES["gitlab"][".gitlab-ci.yml"])
    example = parsed(ROOT / "examples" / "ci" / "gitlab" / "gitlab-ci.yml")
    file = example if text == "example" else parsed(pipeline)
    check, install = (file[".argosy"] if text == "example" else file["default"])["before_script"]
    assert (install, file["variables"]["ARGOSY_INSTALL"]) == ('pip install --quiet "argosy @ $ARGOSY_INSTALL"', "")
    environment = {"PATH": "/usr/bin:/bin", "ARGOSY_INSTALL": address}
    done = subprocess.run(["bash", "-e", "-c", check], env=environment, capture_output=True, timeout=30, check=False)
    assert (done.returncode, b"into ARGOSY_INSTALL: git+https://" in done.stderr) == (code, code != 0)
