"""CI files run for a test: the commands of a job, on a checkout as a runner makes one, with the network denied at will.

A runner's own work - checking out, installing - is left to the test; everything else is run as it is written.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from render.documents import parse_documents
from tests.build import AUTHOR, Repository
from tests.prepared import prepared
from tests.waiting import SECONDS

ROOT = Path(__file__).parent.parent
ACTION = ROOT / ".github" / "actions" / "render"
_EXPRESSION = re.compile(r"\$\{\{ *(.*?) *\}\}")
_INSTALL = re.compile(r'(pipx|pip) install .*|"\$GITHUB_ACTION_PATH/install"\n')
_TALKS = "clone|fetch|ls-remote|push|remote-http|remote-https|send-pack|fetch-pack|upload-pack|receive-pack"


def parsed(path: Path) -> Any:
    """The YAML of a file."""
    return parse_documents(path.read_bytes())[0].value


def rendered(text: str, context: Mapping[str, str]) -> str:
    """Text with its expressions replaced; one that the context lacks is a KeyError."""
    return _EXPRESSION.sub(lambda found: context[found.group(1)], text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One command of a job with the environment it adds."""

    name: str
    command: str
    environment: Mapping[str, str] = field(default_factory=dict)


def job_steps(path: Path) -> Iterator[Step]:
    """The commands of a GitHub workflow's only job."""
    (job,) = parsed(path)["jobs"].values()
    for step in job["steps"]:
        if "run" in step and not _INSTALL.fullmatch(step["run"]):
            yield Step(name=step["name"], command=step["run"], environment=step.get("env") or {})


def action_steps(given: Mapping[str, str], github: Mapping[str, str]) -> Iterator[Step]:
    """The commands of the action, its inputs given or defaulted from the github context, installing left out."""
    action = parsed(ACTION / "action.yml")
    inputs = {name: rendered(spec.get("default", ""), github) for name, spec in action["inputs"].items()} | dict(given)
    context = {f"inputs.{name}": value for name, value in inputs.items()}
    for step in action["runs"]["steps"]:
        if "run" not in step or _INSTALL.match(step["run"]):
            continue
        values = {**context, **github}
        environment = {
            name: value if "steps." in value else rendered(value, values) for name, value in step["env"].items()
        }
        yield Step(name=step["name"], command=step["run"], environment=environment)


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """A machine that runs steps in a checkout: nothing of this one's configuration, and a fake ``gh``."""

    checkout: Repository
    home: Path

    @classmethod
    def create(cls, folder: Path, checkout: Repository) -> "Runner":
        (folder / "bin").mkdir(parents=True)
        (folder / "denied").mkdir()
        gh = folder / "bin" / "gh"
        gh.write_text(
            f'#!/bin/sh\nprintf "%s\\n" "$*" >>"{folder}/gh.log"\ncat "{folder}/gh.answer" 2>/dev/null\nexit 0\n'
        )
        git = folder / "denied" / "git"
        real = shutil.which("git")
        git.write_text(
            "#!/bin/sh\n"
            f'for word in "$@"; do case "$word" in {_TALKS}) echo "the network is denied: git $word" >&2; exit 97;; '
            f'esac; done\nexec {real} "$@"\n'
        )
        (folder / "denied" / "sitecustomize.py").write_text(
            "import socket\n\n\ndef _denied(*_arguments, **_options):\n    raise OSError('the network is denied')\n\n\n"
            "socket.socket.connect = socket.getaddrinfo = socket.create_connection = _denied\n"
        )
        for program in (gh, git):
            program.chmod(0o755)
        prepared().program(folder / "bin" / "argosy")
        return cls(checkout=checkout, home=folder)

    def run(self, step: Step, *, is_offline: bool = False) -> subprocess.CompletedProcess[str]:
        """Run a step as GitHub and GitLab do, with ``bash -eo pipefail``."""
        path = [str(self.home / "denied")] if is_offline else []
        path += [str(self.home / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
        denied = {"PYTHONPATH": str(self.home / "denied"), "https_proxy": "http://127.0.0.1:9"} if is_offline else {}
        environment = {
            **AUTHOR,
            "PATH": os.pathsep.join(path),
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
            "RUNNER_TEMP": str(self.home),
            "GITHUB_ACTION_PATH": str(ACTION),
            "GITHUB_REPOSITORY": "example/fleet",
            "GITHUB_OUTPUT": str(self.home / "output"),
            "GITHUB_STEP_SUMMARY": str(self.home / "summary"),
            **denied,
            **step.environment,
        }
        return subprocess.run(
            ["bash", "-eo", "pipefail", "-c", step.command],
            cwd=self.checkout.path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def output(self) -> dict[str, str]:
        """Return the outputs that the steps wrote."""
        pairs = (line.partition("=") for line in self.read("output").splitlines())
        return {name: value for name, _, value in pairs}

    def read(self, name: str) -> str:
        """A file beside the checkout, empty if there is none."""
        path = self.home / name
        return path.read_text(encoding="utf-8") if path.exists() else ""
