"""The same edits delivered twice: to one API server by ``kubectl apply --server-side``, to another by whole passes.

Nobody else writes to either server. After every batch the two must hold equal objects, and what Argosy says of each
object must be true.
"""

import http.client
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tests.build import Repository, a_cluster, a_cluster_policy, a_policy, on_clusters
from tests.clusters import Member
from tests.kubectl import kubectl_path
from tests.waiting import SECONDS

from .changes import Draft, edited
from .comparison import Side, untruth, version
from .objects import CLUSTER_SCOPED, SPACE, Manifest, definitions, named, whole_objects

SPACES = (SPACE, "quotas")
_REFUSED_OF_TEN = 1


class Difference(NamedTuple):
    """One edit that did not come to the same, with all that is needed to see why."""

    name: str
    what: str
    before: Manifest
    after: Manifest
    theirs: Any
    ours: Any


class Outcome(NamedTuple):
    """The outcome of a batch of edits, each delivered both ways."""

    pairs: int
    refused: int
    unchanged: int
    differences: tuple[Difference, ...]


class BothWays:
    """A fleet of one member and a server beside it that kubectl applies to."""

    def __init__(self, ours: Member, theirs: Member, folder: Path, *, seed: int, copies: int) -> None:
        self.ours, self.theirs, self.random = ours, theirs, Random(seed)
        self.repository = Repository.create(folder / "fleet")
        self.kubeconfigs = folder / "kubeconfigs"
        self.kubeconfigs.mkdir(exist_ok=True)
        (self.kubeconfigs / f"{ours.name}.yaml").write_text(ours.kubeconfig.read_text())
        wholes = [named(each, number) for number, each in enumerate(whole_objects() * copies)]
        self.whole = {each["metadata"]["name"]: each for each in wholes}
        self.current: dict[str, Manifest] = {}
        self._begin()

    def _begin(self) -> None:
        kinds = sorted({(each["apiVersion"], each["kind"]) for each in (*self.whole.values(), *definitions())})
        selectors = [{"apiVersion": version, "kind": kind} for version, kind in kinds]
        inside = [each for each in selectors if each["kind"] not in CLUSTER_SCOPED]
        outside = [each for each in selectors if each["kind"] in CLUSTER_SCOPED]
        placement = on_clusters(self.ours.name)
        policies = {
            f"policies/{space}.yaml": a_policy("all", namespace=space, selectors=inside, placement=placement)
            for space in SPACES
        }
        policies["policies/cluster.yaml"] = a_cluster_policy("all", selectors=outside, placement=placement)
        spaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}} for space in SPACES]
        shared = [*spaces, *definitions()]
        files = {f"shared/{each['metadata']['name']}.yaml": json.dumps(each) for each in shared}
        self.repository.commit({f"clusters/{self.ours.name}.yaml": a_cluster(self.ours.name), **policies, **files})
        self._kubectl(shared)
        self._wait_for_kinds()

    def _wait_for_kinds(self) -> None:
        names = [f"crd/{each['metadata']['name']}" for each in definitions()]
        self.theirs.kubectl("wait", "--for=condition=Established", "--timeout=60s", *names)

    def first(self) -> Outcome:
        """Deliver every object for the first time, each with a few things left out."""
        self.current = {name: edited(Draft(whole, whole, {}), self.random) for name, whole in self.whole.items()}
        self.current |= self._accepted_beginnings()
        return self._delivered({}, self.current, "--bootstrap")

    def _accepted_beginnings(self) -> dict[str, Manifest]:
        with ThreadPoolExecutor(4) as pool:
            accepted = pool.map(lambda name: self._is_accepted(self.current[name]), self.current)
            refused = [name for name, is_accepted in zip(self.current, accepted, strict=True) if not is_accepted]
        # A new template whose text is null where it must not be is left out with a warning, not refused.
        refused += [name for name, manifest in self.current.items() if ": null" in json.dumps(manifest)]
        return {name: self.whole[name] for name in refused}

    def _is_accepted(self, manifest: Manifest) -> bool:
        try:
            return bool(self.theirs.dry_apply(manifest)[0] < HTTPStatus.MULTIPLE_CHOICES)
        except http.client.HTTPException:
            # The server hung up: it fell over what it was sent, which says nothing of whoever sent it.
            return False

    def batch(self) -> Outcome:
        """Edit every object, and deliver the edits both ways."""
        lives = self._lives(self.theirs, self.current)
        seeds = {name: self.random.randrange(1 << 30) for name in self.current}

        def drawn(name: str) -> Manifest:
            random = Random(seeds[name])
            tries = 1 if random.randrange(10) < _REFUSED_OF_TEN else 6
            for _ in range(tries):
                made = edited(Draft(self.current[name], self.whole[name], lives[name] or {}), random)
                if self._is_accepted(made):
                    break
            return made

        with ThreadPoolExecutor(4) as pool:
            after = dict(zip(self.current, pool.map(drawn, self.current), strict=True))
        return self._delivered(self.current, after)

    def unrest(self) -> list[str]:
        """Take back what was refused, and return what one more pass does, which has nothing to do."""
        self._pass(self.current)
        before = self._lives(self.ours, self.current)
        said = self._pass({})
        after = self._lives(self.ours, self.current)
        # Below stand the values that servers write otherwise than they are stated, such as a text that is empty.
        shown = self._argosy("diff", "--live").stdout.partition("\n")[0]
        written = [f"{name} was written" for name in after if version(before[name]) != version(after[name])]
        words = [f"{name} is {said[name]}" for name in after if said.get(name, "unchanged") != "unchanged"]
        return [*written, *words, *([] if shown == f"{self.ours.name}: equal" else [shown])]

    def _delivered(self, before: Mapping[str, Manifest], after: Mapping[str, Manifest], *options: str) -> Outcome:
        theirs_before, ours_before = self._lives(self.theirs, before), self._lives(self.ours, before)
        accepted = self._kubectl(after.values())
        said = self._pass(after, *options)
        theirs_after, ours_after = self._lives(self.theirs, after), self._lives(self.ours, after)
        found = []
        for name, manifest in after.items():
            theirs = Side(theirs_before.get(name), theirs_after[name], manifest)
            ours = Side(ours_before.get(name), ours_after[name], manifest)
            what = untruth(said.get(name, "unchanged"), theirs, ours, is_accepted=name in accepted)
            if what:
                found.append(Difference(name, what, before.get(name, {}), manifest, theirs.after, ours.after))
        stricter = {name for name in accepted if said.get(name, "").startswith("refused")}
        self._carry_on(before, after, accepted, {each.name for each in found} | stricter)
        unchanged = sum(1 for name in after if name not in said)
        return Outcome(len(after), len(after) - len(accepted), unchanged, tuple(found))

    def _carry_on(
        self, before: Mapping[str, Manifest], after: Mapping[str, Manifest], accepted: set[str], given_up: set[str]
    ) -> None:
        """Go on from what was accepted; an object that differs is given up, for no later edit of it would tell."""
        reached = {**before, **{name: after[name] for name in accepted}}
        self.current = {name: manifest for name, manifest in reached.items() if name not in given_up}

    def _pass(self, after: Mapping[str, Manifest], *options: str) -> dict[str, str]:
        """Commit and run one whole pass; return the word about each object, ``refused`` where the source was."""
        if after:
            self.repository.commit({_file(name): json.dumps(manifest) for name, manifest in after.items()})
        refused: dict[str, str] = {}
        for _ in range(3):
            run = self._argosy("reconcile", "-o", "json", "--allow-removal", "*=1000", *options)
            if run.returncode != 3:
                break
            found = {name: said for name, said in _refused_files(run.stderr).items() if name in after}
            assert found, run.stderr + run.stdout
            refused |= found
            back = {name: self.current.get(name, self.whole[name]) for name in found}
            self.repository.commit({_file(name): json.dumps(manifest) for name, manifest in back.items()})
        assert run.returncode in {0, 1}, run.stderr + run.stdout
        objects = json.loads(run.stdout)["clusters"][self.ours.name]
        return _words(objects) | refused

    def _argosy(self, *words: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "reconciler", "-q", "-C", str(self.repository.path), *words]
        command += ["--kubeconfigs", str(self.kubeconfigs)]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS * 4)

    def _kubectl(self, manifests: Iterable[Manifest]) -> set[str]:
        """Apply manifests and return the names of those that were accepted."""
        items = {"apiVersion": "v1", "kind": "List", "items": list(manifests)}
        command = [str(kubectl_path()), "--kubeconfig", str(self.theirs.kubeconfig), "apply", "--server-side"]
        command += ["--force-conflicts", "--validate=false", "-f", "-"]
        run = subprocess.run(
            command, input=json.dumps(items), capture_output=True, text=True, check=False, timeout=SECONDS * 4
        )
        return {line.split()[0].partition("/")[2] for line in run.stdout.splitlines() if "serverside-applied" in line}

    def _lives(self, member: Member, manifests: Mapping[str, Manifest]) -> dict[str, Manifest | None]:
        paths = {name: f"{member.path_of(manifest)}" for name, manifest in manifests.items()}
        lists = {path: member.read(path) for path in sorted(set(paths.values()))}
        by_name = {path: {item["metadata"]["name"]: item for item in found["items"]} for path, found in lists.items()}
        return {name: by_name[path].get(name) for name, path in paths.items()}


def _file(name: str) -> str:
    return f"objects/{name}.yaml"


def _refused_files(text: str) -> dict[str, str]:
    """Return the objects whose files the source's checks refuse, each with ``refused: `` and the reason."""
    lines = (line.removeprefix("objects/").partition(".yaml:1: ") for line in text.splitlines())
    return {name: f"refused: {why}" for name, is_problem, why in lines if is_problem}


def _words(cluster: Mapping[str, Any]) -> dict[str, str]:
    return {each["object"].split()[-1].rpartition("/")[2]: each["action"] for each in cluster["objects"]}
