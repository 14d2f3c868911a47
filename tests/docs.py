"""The README's runs, made: ``python -m tests.docs`` runs its console blocks and writes what they print into it.

A block fenced as ``console`` holds commands after ``$`` and what they print. All blocks run in one repository made from
``examples/quickstart``; authors and times are fixed, so that even the commit ids come out the same everywhere. A block
below ``<!-- made by python -m tests.NAME -->`` is what that prints.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.build import AUTHOR, Repository

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
BLOCK = re.compile(r"```console\n(.*?)```\n", re.DOTALL)
MADE = re.compile(r"(<!-- made by python -m (tests\.\w+) -->\n```text\n)(.*?)(```\n)", re.DOTALL)
MOMENT = "2026-01-15T09:00:00+0000"


def made(text: str) -> str:
    """Return the text with the output of every console block as it is today."""
    with tempfile.TemporaryDirectory() as folder:
        fleet = Path(folder) / "fleet"
        environment = fixed_environment(Path(folder))
        shutil.copytree(ROOT / "examples" / "quickstart", fleet, ignore=shutil.ignore_patterns("rendered"))
        repository = Repository.create(fleet)
        run("git add -A", fleet, environment)
        run("git commit -q -m 'The shop'", fleet, environment)
        del repository
        text = BLOCK.sub(lambda block: f"```console\n{_block(block.group(1), fleet, environment)}```\n", text)
        return MADE.sub(lambda block: f"{block[1]}{_printed(block[2])}{block[4]}", text)


def fixed_environment(folder: Path) -> dict[str, str]:
    """Return an environment in which a run depends on nothing around it."""
    scripts = str(Path(sys.executable).parent)
    return {
        **AUTHOR,
        "GIT_AUTHOR_DATE": MOMENT,
        "GIT_COMMITTER_DATE": MOMENT,
        "ARGOSY_AUTHOR_NAME": "Ada",
        "ARGOSY_AUTHOR_EMAIL": "ada@example.com",
        "PATH": f"{scripts}:{os.environ['PATH']}",
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
        "COLUMNS": "120",
    }


def _block(text: str, fleet: Path, environment: dict[str, str]) -> str:
    commands = [line.removeprefix("$ ") for line in text.splitlines() if line.startswith("$ ")]
    shown = []
    for command in commands:
        output = run(command, fleet, environment)
        shown.append(f"$ {command}\n{output}")
    return "".join(shown)


def _printed(module: str) -> str:
    return run(f"{sys.executable} -m {module}", ROOT, dict(os.environ))


def run(command: str, fleet: Path, environment: dict[str, str]) -> str:
    """Run one command line and return what it prints, both streams."""
    done = subprocess.run(
        shlex.split(command),
        cwd=fleet,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=60,
    )
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    README.write_text(made(README.read_text(encoding="utf-8")), encoding="utf-8")
