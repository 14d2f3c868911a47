"""Every kind of file that Argosy reads, edited at random and read: a bug is what nobody may make of it.

Sources are loaded, rendered, checked and tried in memory. Branches, their commit messages, caches, the checkpoint and
git's own files are edited in a repository that holds all of them, and commands are run on it. Settings are parsed, and
so are answers and files from outside: `outside.py`. What is found is an error that nobody thought of, whether it ends
the command (exit 70) or is caught at a boundary, and what takes too long.
"""

import contextlib
import hashlib
import io
import json
import marshal
import os
import subprocess
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, Protocol

from reconciler.branches.agent_settings import parse_agent_settings
from reconciler.building.builder import SourceBuilder
from reconciler.cli import run
from reconciler.gitops.tools import GitOpsTools
from reconciler.members.kubeconfig import load_kubeconfig
from reconciler.pipeline.pass_values import Inputs
from reconciler.pipeline.stages import render_pass
from reconciler.run.settings import RunSettings
from reconciler.run.settings_file import SettingsFile
from reconciler.source.loading import load_source
from reconciler.source.reading import Caches, SourceReading
from reconciler.trial.trials import run_trial
from render.boundary import INTERNAL
from render.errors import ReconcileError
from tests.build import Repository, a_cluster, a_config_map, a_deployment, a_policy, on_clusters
from tests.fakes import FakeCluster
from tests.growth_of_fleets import warnings_of
from tests.served import serving_members
from tests.sources import source_of
from tests.waiting import SECONDS
from tests.workflows import ROOT

from .mutating import mutated, mutated_text, mutated_value
from .outside import OUTSIDE

MOST_SECONDS = 30.0
_UNEXPECTED = "an unexpected "
_LARGEST = 60_000
_READ = (".yaml", ".yml", ".json", ".lock", ".tpl", ".txt", "ignore")


class Found(NamedTuple):
    """A bug: the kind of file, the number of the case, and its outcome."""

    kind: str
    case: int
    error: str


def example_files() -> dict[str, dict[str, bytes]]:
    """Return the sources among the examples, by folder: their files by path."""
    found: dict[str, dict[str, bytes]] = {}
    for folder in sorted((ROOT / "examples").iterdir()):
        files = {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and "rendered" not in path.parts and path.stat().st_size < _LARGEST
        }
        files = {
            path: content
            for path, content in files.items()
            if path.endswith((".yaml", ".yml", ".json", ".lock", ".tpl", ".txt", "ignore"))
        }
        if any(path.endswith(".yaml") for path in files):
            found[folder.name] = files
    seeds = ROOT / "tests" / "vectors" / "fuzz"
    found |= {path.name: {path.name: path.read_bytes()} for path in sorted(seeds.glob("*.yaml"))}
    return found


class Sources:
    """Sources in memory, of the examples and of what once found a bug."""

    def __init__(self) -> None:
        self.examples = example_files()

    def case(self, rng: Random) -> str | None:
        name = rng.choice(list(self.examples))
        files = dict(self.examples[name])
        for _ in range(rng.choice((1, 1, 2))):
            path = rng.choice(list(files))
            files[path] = mutated(files[path], rng)
        return read_source(files, is_cached=rng.random() < 0.2, rng=rng)


class _Remembered:
    """A cache whose values have other shapes than were put there."""

    def __init__(self, rng: Random) -> None:
        self.rng, self.values = rng, dict[bytes, Any]()

    def get_many(self, ids: Any) -> dict[bytes, Any]:
        return {id_: mutated_value(self.values[id_], self.rng) for id_ in ids if id_ in self.values}

    def put_many(self, values: Mapping[bytes, Any]) -> None:
        self.values.update(values)


def read_source(files: Mapping[str, bytes], *, is_cached: bool = False, rng: Random | None = None) -> str | None:
    """Load a source, render it, try its tests and look for its warnings; return the words for a bug."""
    source, cache = source_of(files), _Remembered(rng or Random(0)) if is_cached else None
    caches = Caches(parsed=cache, right=cache)
    reading = SourceReading(source.read, caches=caches, other_tools=GitOpsTools(SourceBuilder(path="", cache=cache)))

    def work() -> str | None:
        loaded = load_source(source.files, reading)
        if is_cached:
            loaded = load_source(source.files, reading)
        bugs = [str(each) for each in loaded.problems if each.kind == INTERNAL]
        if bugs and not is_cached:
            return bugs[0]
        desired = loaded.desired
        rendered = render_pass(Inputs(desired=desired, facts={}, previous=None, source=""))
        for binding in rendered.built.bindings:
            bugs += (each.message for each in binding.conditions if _UNEXPECTED in each.message)
        bugs += (str(error) for _, error in rendered.built.claims.failed if _UNEXPECTED in str(error))
        for test in loaded.tests[:3]:
            bugs += (each.message for each in run_trial(test, desired).mismatches if _UNEXPECTED in each.message)
        list(warnings_of(desired))
        # Values of a cache may be of types that no file has: then a boundary has to catch what comes of it, no more.
        return bugs[0] if bugs and not is_cached else None

    return bug_of(work)


def bug_of(work: Callable[[], str | None]) -> str | None:
    """Return the words for a bug that something ends in, or that it tells of."""
    begun = time.process_time()
    try:
        said = work()
    except ReconcileError:
        said = None
    except Exception as error:  # noqa: BLE001 - this is what is looked for
        frames = traceback.extract_tb(error.__traceback__)[-4:]
        said = f"{type(error).__name__}: {str(error)[:100]} " + " < ".join(
            f"{Path(each.filename).name}:{each.lineno} {each.name}" for each in reversed(frames)
        )
    seconds = time.process_time() - begun
    return said or (f"took {seconds:.0f} s" if seconds > MOST_SECONDS else None)


class Settings:
    """Settings of a controller and of an agent, and kubeconfigs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        agent = {"apiVersion": "argosy.dev/v1alpha1", "kind": "AgentSettings", "metadata": {"name": "member1"}}
        self.seeds = {
            "run": RUN_SETTINGS,
            "agent": json.dumps(agent).encode() + b"\n---\n" + json.dumps(a_cluster("member1")).encode(),
            "kubeconfig": KUBECONFIG,
        }

    def case(self, rng: Random) -> str | None:
        kind = rng.choice(list(self.seeds))
        content = mutated(self.seeds[kind], rng)
        path = self.folder / f"{kind}.yaml"
        path.write_bytes(content)

        def work() -> None:
            if kind == "run":
                SettingsFile(path=path, given={}).settings_over_options(RunSettings(locations=()))
            elif kind == "agent":
                parse_agent_settings(content, "member1", "0" * 40)
            else:
                load_kubeconfig([path])

        return bug_of(work)


RUN_SETTINGS = b"""
apiVersion: argosy.dev/v1alpha1
kind: RunSettings
spec:
  fleets: [https://example.com/fleet.git]
  poll: 1m
  drift: 10m
  webhook: {address: ':8080', secrets: [{provider: github, file: /secret}]}
  inside: ':9090'
  members: {kubeconfigs: /members, maxParallel: 4, timeout: 30s}
"""
KUBECONFIG = b"""
apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: 'https://example.com', certificate-authority-data: YQ==}}]
contexts: [{name: a, context: {cluster: a, user: a, namespace: x}}]
users: [{name: a, user: {token: t, exec: {apiVersion: client.authentication.k8s.io/v1, command: x, args: [a]}}}]
current-context: a
"""


class Branches:
    """A repository with every kind of branch, cache and checkpoint, and members that answer."""

    def __init__(self, folder: Path, stack: contextlib.ExitStack) -> None:
        self.repository = Repository.create(folder / "fleet")
        policy = a_policy(placement=on_clusters("member1", "member2"), propagateDeps=True)
        files = {"c.yaml": a_cluster("member1"), "d.yaml": a_cluster("member2"), "a.yaml": a_deployment()}
        self.repository.commit({**files, "policy.yaml": policy, "b.yaml": a_config_map("b")})
        self.members = [FakeCluster(name="member1"), FakeCluster(name="member2")]
        served = stack.enter_context(serving_members(self.members, folder / "kubeconfigs"))
        self.reach = ("--kubeconfigs", str(served.kubeconfigs), "--timeout", "5")
        self.answers: Random | None = None
        for member in self.members:
            self._twist(member)
        self._run("reconcile", "--bootstrap", *self.reach)
        self._run("reconcile", *self.reach)
        git = self.repository.git
        self.tips = {ref: git("rev-parse", ref) for ref in ("argosy/rendered", "argosy/status")}
        self.cache = self.repository.path / ".git" / "argosy"
        self.kept = {path.name: path.read_bytes() for path in self.cache.iterdir() if path.is_file()}
        self.own = {name: (self.cache.parent / name).read_bytes() for name in ("config", "HEAD", "refs/heads/main")}

    def _twist(self, member: FakeCluster) -> None:
        real = member.request

        def request(*arguments: Any, **named: Any) -> tuple[int, Any]:
            status, body = real(*arguments, **named)
            rng = self.answers
            return (status, mutated_value(body, rng)) if rng is not None and rng.random() < 0.5 else (status, body)

        object.__setattr__(member, "request", request)

    def _run(self, *command: str) -> tuple[int, str]:
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = run(["-C", str(self.repository.path), *command])
        return code, said.getvalue()

    def case(self, rng: Random) -> str | None:
        self._restore()
        kind = rng.choice(("status", "status", "rendered", "agent", "cache", "answers", "message", "git"))
        what = self._edit(kind, rng)
        self.answers = rng if kind == "answers" else None
        commands = [("status",), ("status", "-o", "json"), ("verify",), ("diff",), ("explain", "deployment/nginx")]
        commands += [
            ("reconcile", *self.reach),
            ("diff", "--live", *self.reach),
            ("validate",),
            ("status", "-o", "wide"),
        ]
        commands += [("status", "deployment/nginx"), ("status", "cluster/member1", "-o", "wide"), ("doctor",)]
        for command in rng.sample(commands, 4) if kind != "answers" else (commands[5], commands[6]):
            begun = time.process_time()
            code, said = self._run(*command)
            if code == ReconcileError.exit_code or (_UNEXPECTED in said and kind != "answers"):
                return f"{what}: {' '.join(command[:2])}: {said[-700:]}"
            if time.process_time() - begun > MOST_SECONDS:
                return f"{what}: {command[0]} took long"
        return None

    def _restore(self) -> None:
        (self.cache.parent / "shallow").unlink(missing_ok=True)
        for name, content in self.own.items():
            (self.cache.parent / name).write_bytes(content)
        for ref, tip in self.tips.items():
            self.repository.git("update-ref", f"refs/heads/{ref}", tip)
        subprocess.run(
            ["git", "-C", str(self.repository.path), "update-ref", "-d", "refs/heads/argosy/agent/member1"],
            check=False,
            timeout=SECONDS,
        )
        for name, content in self.kept.items():
            (self.cache / name).write_bytes(content)

    def _edit(self, kind: str, rng: Random) -> str:
        if kind == "answers":
            return "an answer"
        if kind in {"cache", "git"}:
            return self._edit_cache(rng) if kind == "cache" else self._edit_files_of_git(rng)
        if kind == "message":
            return self._edit_message(rng)
        ref = {"status": "argosy/status", "rendered": "argosy/rendered", "agent": "argosy/status"}[kind]
        paths = self.repository.git("ls-tree", "-r", "--name-only", ref).splitlines()
        path = rng.choice(paths)
        content = mutated(self.repository.git("show", f"{ref}:{path}").encode(), rng)
        to = "argosy/agent/member1" if kind == "agent" else ref
        self._commit(ref, to, path, content)
        (self.repository.path.parent / "last").write_bytes(content)
        return f"{to}:{path}"

    def _edit_message(self, rng: Random) -> str:
        """Say in a commit something else than a pass said there, its trailers among it."""
        ref = rng.choice(("argosy/rendered", "argosy/status"))
        message = mutated_text(self.repository.git("log", "-1", "--format=%B", ref).encode(), rng)
        (path, *_) = self.repository.git("ls-tree", "-r", "--name-only", ref).splitlines()
        content = self.repository.git("show", f"{ref}:{path}").encode() + b"\n"
        self._commit(ref, ref, path, content, message.replace(b"\0", b""))
        return f"the message of {ref}"

    def _edit_files_of_git(self, rng: Random) -> str:
        """Edit the files of a clone that git and Argosy both read; programs are none of what is tried."""
        name = rng.choice((*self.own, "shallow"))
        content = self.own.get(name) or f"{self.tips['argosy/rendered']}\n".encode()
        edited = mutated_text(content, rng)
        if name != "config" or b"ommand" not in edited:
            (self.cache.parent / name).write_bytes(edited)
        return f".git/{name}"

    def _commit(self, ref: str, to: str, path: str, content: bytes, message: bytes | None = None) -> None:
        where = ["git", "-C", str(self.repository.path)]
        environment = {**os.environ, "GIT_INDEX_FILE": str(self.repository.path.parent / "index")}

        def git(*words: str, given: bytes = b"") -> str:
            done = subprocess.run(
                [*where, *words], input=given, capture_output=True, check=True, env=environment, timeout=SECONDS
            )
            return done.stdout.decode().strip()

        blob = git("hash-object", "-w", "--stdin", given=content)
        git("read-tree", ref)
        git("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")
        said = self.repository.git("log", "-1", "--format=%B", ref).encode() if message is None else message
        name = ("-c", "user.name=a", "-c", "user.email=a@b")
        commit = git(*name, "commit-tree", git("write-tree"), "-p", ref, given=said)
        self.repository.git("update-ref", f"refs/heads/{to}", commit)

    def _edit_cache(self, rng: Random) -> str:
        name = rng.choice(list(self.kept))
        content = self.kept[name]
        if name.endswith(".cache") and name.startswith(("documents-", "builds-", "right-")):
            table = marshal.loads(content[32:])
            key = rng.choice(list(table)) if table else None
            if key is not None:
                with contextlib.suppress(ValueError, TypeError):
                    table[key] = marshal.dumps(mutated_value(marshal.loads(table[key]), rng))
            encoded = marshal.dumps(table)
            content = hashlib.sha256(encoded).digest() + encoded
        else:
            content = mutated(content, rng)
        (self.cache / name).write_bytes(content)
        return f"cache {name}"


class Outside:
    """Answers and files from outside of a repository, of one kind."""

    def __init__(self, read: Callable[[Random], str | None]) -> None:
        self.read = read

    def case(self, rng: Random) -> str | None:
        return bug_of(lambda: self.read(rng))


KINDS = ("source", "settings", "branches", *OUTSIDE)


class Target(Protocol):
    """A kind of files, of which cases are made."""

    def case(self, rng: Random) -> str | None:
        """Do one case, and return the words for a bug."""


@contextlib.contextmanager
def targets_of(kinds: Iterable[str]) -> Iterator[dict[str, Target]]:
    """Make what each kind of files is read with, in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        makers: dict[str, Callable[[], Target]] = {
            "source": Sources,
            "settings": lambda: Settings(folder),
            "branches": lambda: Branches(folder, stack),
            **{kind: partial(_outside, kind, folder) for kind in OUTSIDE},
        }
        yield {kind: makers[kind]() for kind in kinds}


def _outside(kind: str, folder: Path) -> Target:
    return Outside(OUTSIDE[kind](folder))


def case_of(target: Target, kind: str, seed: int, case: int) -> Found | None:
    """Do a case again, or for the first time."""
    error = target.case(Random(f"{seed} {kind} {case}"))
    return Found(kind, case, error) if error else None


def found_in(minutes: float, seed: int, kinds: Iterable[str] = KINDS) -> Iterator[Found | int]:
    """Yield the bugs that are found in so many minutes, which the kinds of files share by turns; last, all cases."""
    end, case = time.monotonic() + 60 * minutes, 0
    with targets_of(kinds) as targets:
        while time.monotonic() < end:
            for kind, target in targets.items():
                for _ in range(1 if kind == "branches" else 10):
                    case += 1
                    found = case_of(target, kind, seed, case)
                    if found:
                        yield found
    yield case
