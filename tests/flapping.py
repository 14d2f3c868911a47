"""``python -m tests.flapping [--minutes N]``: whole members whose pods flap, and the numbers that ``status`` shows.

Three members with controllers, a scheduler and simulated pods hold Deployments, budgets, quotas, CronJobs and
autoscalers, while ``argosy run`` looks at them every 15 seconds. In the first half rules of a CronFederatedHPA fire,
CronJobs run and the numbers of autoscalers move; in the second half nothing but pods flaps. Every number that ``argosy
status`` shows has to be one that the member had since the last look but one, or to be shown with its age. The commits
of the status branch are counted for each half.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from .build import Repository, a_cluster, a_policy, on_clusters
from .clusters import Member
from .controllers import controller
from .waiting import eventually, joined

NAMES = ("member1", "member2", "member3")
SPACE = "shop"
DRIFT = 15.0
LOOK = 2.0
"""The seconds between two looks of this test at what members have."""
TOLD = 3 * DRIFT
"""The seconds for which a number that a member had counts as last seen: a look at it, and one that is under way."""
MERGE = "application/merge-patch+json"
KINDS = {
    "deployment/web": "/apis/apps/v1/namespaces/shop/deployments/web",
    "deployment/flappy": "/apis/apps/v1/namespaces/shop/deployments/flappy",
    "pdb/flappy": "/apis/policy/v1/namespaces/shop/poddisruptionbudgets/flappy",
    "resourcequota/room": "/api/v1/namespaces/shop/resourcequotas/room",
    "cronjob/report": "/apis/batch/v1/namespaces/shop/cronjobs/report",
    "hpa/web": "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/web",
}


class WholeMember(Member):
    """A member whose autoscalers nobody scales by, so that their numbers are those that this test gives them."""

    def _launch(self, name: str, command: list[str]) -> None:
        if name == "kube-controller-manager":
            command = [*command, "--controllers=*,-horizontal-pod-autoscaler-controller"]
        super()._launch(name, command)


def a_workload(name: str, replicas: int) -> dict[str, Any]:
    resources = {"requests": {"cpu": "100m", "memory": "64Mi"}}
    pod = {"containers": [{"name": "main", "image": "example.org/app:1", "resources": resources}]}
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": {"app": name}}, "spec": pod},
    }
    metadata = {"name": name, "namespace": SPACE, "labels": {"app": name}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def _object(api_version: str, kind: str, name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, "namespace": SPACE},
        "spec": dict(spec),
    }


def the_source() -> dict[str, Any]:
    """The files of the fleet: everything in every member, and a rule that scales a workload every minute."""
    job = {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "a:1"}]}}}}
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    scaled = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "scaled"}
    rules = [
        {"name": "up", "schedule": "*/2 * * * *", "targetReplicas": 4},
        {"name": "down", "schedule": "1-59/2 * * * *", "targetReplicas": 2},
    ]
    objects = {
        "web": a_workload("web", 3),
        "flappy": a_workload("flappy", 4),
        "scaled": a_workload("scaled", 2),
        "budget": _object(
            "policy/v1",
            "PodDisruptionBudget",
            "flappy",
            {"minAvailable": 1, "selector": {"matchLabels": {"app": "flappy"}}},
        ),
        "quota": _object("v1", "ResourceQuota", "room", {"hard": {"requests.cpu": "20", "pods": "200"}}),
        "cron": _object("batch/v1", "CronJob", "report", {"schedule": "* * * * *", "jobTemplate": job}),
        "hpa": _object(
            "autoscaling/v2", "HorizontalPodAutoscaler", "web", {"scaleTargetRef": target, "maxReplicas": 20}
        ),
    }
    kinds = sorted({(each["apiVersion"], each["kind"]) for each in objects.values()})
    selectors = [{"apiVersion": api_version, "kind": kind} for api_version, kind in kinds]
    cron = {"scaleTargetRef": scaled, "rules": rules}
    return {
        **{f"clusters/{name}.yaml": a_cluster(name) for name in NAMES},
        **{f"{name}.yaml": each for name, each in objects.items()},
        "policy.yaml": a_policy("all", selectors=selectors, namespace=SPACE, placement=on_clusters(*NAMES)),
        "rules.yaml": _object("autoscaling.karmada.io/v1alpha1", "CronFederatedHPA", "scaled", cron),
    }


@dataclass
class Look:
    """The statuses that members have had lately, by member and object, and the numbers that were shown otherwise."""

    members: tuple[Member, ...]
    lately: dict[tuple[str, str], deque[tuple[float, Any]]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    checked: Counter[str] = field(default_factory=Counter)

    def see(self) -> None:
        now = time.monotonic()
        for member in self.members:
            for name, path in KINDS.items():
                seen = self.lately.setdefault((member.name, name), deque())
                status = (member.read(path) or {}).get("status") or {}
                if not seen or seen[-1][1] != status:
                    seen.append((now, status))
                while len(seen) > 1 and seen[1][0] < now - TOLD:
                    seen.popleft()

    def check(self, name: str, shown: Mapping[str, Any]) -> None:
        """Compare what ``argosy status`` shows of an object with what its members have had since the last look."""
        for each in shown["clusters"]:
            key = each["cluster"], name
            aged = bool(each.get("unsettledSince"))
            self.checked["with its age" if aged else "as last seen"] += 1
            known = [status for _, status in self.lately.get(key, ())]
            if not aged and not any(_is_told(each.get("status"), status) for status in known):
                self.wrong.append(f"{each['cluster']} {name}: {each.get('status')} is none of {known[-3:]}")


def _is_told(shown: Any, live: Mapping[str, Any]) -> bool:
    """Return whether every number shown is the member's; an absent one is 0 to Kubernetes."""
    if not isinstance(shown, Mapping):
        return not _numbers(live)
    numbers = _numbers(live)
    return all(numbers.get(path, number * 0) == number for path, number in _numbers(shown).items())


def _numbers(value: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Return the numbers and quantities of a status by their path, and the times at which something was done."""
    if isinstance(value, Mapping):
        return {key: number for name, inner in value.items() for key, number in _numbers(inner, (*path, name)).items()}
    is_number = isinstance(value, int) and not isinstance(value, bool)
    is_told = is_number or path[:1] in {("used",), ("hard",), ("lastScheduleTime",)}
    is_ours = path[-1:] not in {("generation",), ("observedGeneration",), ("resourceTemplateGeneration",)}
    return {path: value} if is_told and is_ours else {}


def flap(member: Member, chance: random.Random) -> None:
    """Have one pod of the flapping workload become ready, or cease to be."""
    pods = member.read(f"/api/v1/namespaces/{SPACE}/pods?labelSelector=app%3Dflappy")["items"]
    if not pods:
        return
    pod = chance.choice(pods)
    conditions = (pod.get("status") or {}).get("conditions") or []
    ready = next((each for each in conditions if each["type"] == "Ready"), None)
    if ready is None:
        return
    word = "False" if ready["status"] == "True" else "True"
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    after = [
        {**each, "status": word, "lastTransitionTime": now} if each["type"] in {"Ready", "ContainersReady"} else each
        for each in conditions
    ]
    path = f"/api/v1/namespaces/{SPACE}/pods/{pod['metadata']['name']}/status"
    member.request("PATCH", path, {"status": {"conditions": after}}, content_type=MERGE)


def scale(member: Member, chance: random.Random) -> None:
    """Have the autoscaler of a member want another number of replicas."""
    numbers = {"currentReplicas": 3, "desiredReplicas": chance.randint(1, 12)}
    path = f"/apis/autoscaling/v2/namespaces/{SPACE}/horizontalpodautoscalers/web/status"
    member.request("PATCH", path, {"status": numbers}, content_type=MERGE)


class Unrest(threading.Thread):
    """The unrest in members that is not of Argosy: pods flap, and in the first half autoscalers move."""

    def __init__(self, look: Look) -> None:
        super().__init__(daemon=True)
        self.look, self.is_calm, self.ended = look, threading.Event(), threading.Event()
        self._chance = random.Random(7)

    def run(self) -> None:
        until: dict[str, float] = {}
        while not self.ended.wait(LOOK):
            for member in self.look.members:
                if time.monotonic() >= until.get(member.name, 0.0):
                    until[member.name] = time.monotonic() + self._chance.uniform(5, 20)
                    flap(member, self._chance)
                    if not self.is_calm.is_set():
                        scale(member, self._chance)
            self.look.see()


@contextmanager
def whole_members(folder: Path) -> Iterator[tuple[tuple[Member, ...], Path]]:
    """Start the members, and make a folder with one kubeconfig a member."""
    kubeconfigs = folder / "kubeconfigs"
    kubeconfigs.mkdir()
    with ExitStack() as stack:
        members = tuple(stack.enter_context(WholeMember(name, nodes=2)) for name in NAMES)
        for member in members:
            (kubeconfigs / f"{member.name}.yaml").write_text(member.kubeconfig.read_text())
        yield members, kubeconfigs


def checked_until(end: float, repository: Repository, look: Look) -> None:
    """Ask ``argosy status`` about one object after the other until then."""
    while time.monotonic() < end:
        for name in KINDS:
            command = [sys.executable, "-m", "reconciler", "-q", "-C", str(repository.path), "status", name]
            asked = subprocess.run(
                [*command, "-n", SPACE, "-o", "json"], capture_output=True, text=True, check=False, timeout=120
            )
            if asked.returncode in {0, 1}:
                look.check(name, json.loads(asked.stdout))
            if time.monotonic() >= end:
                return
            look_at = time.monotonic() + 1
            eventually(partial(_is_past, look_at), "the next look", pause=0.1)


def _is_past(moment: float) -> bool:
    return time.monotonic() >= moment


def status_commits(repository: Repository) -> list[str]:
    return repository.git("log", "--format=%s", "argosy/status").splitlines()


def told_commits(subjects: list[str], seconds: float) -> str:
    """Return how many commits a half has made, by their first word, and how many a minute."""
    kinds = Counter(subject.partition(" ")[0] for subject in subjects)
    words = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "none"
    return f"{len(subjects)} commits on the status branch ({words}): {len(subjects) / seconds * 60:.2f} a minute"


def _written_objects(repository: Repository, commits: int) -> Iterator[str]:
    """Yield how often the newest commits have written each file."""
    names = repository.git("log", f"-{commits}", "--format=", "--name-only", "argosy/status").split() if commits else []
    for name, count in Counter(names).most_common():
        yield f"{count} x {name}"


def main() -> int:
    """Run it, say what was found, and return 1 where a number was wrong or the status branch was busier than it may."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=20.0)
    half = parser.parse_args().minutes * 30
    with tempfile.TemporaryDirectory(prefix="argosy-flapping-") as text:
        folder = Path(text)
        repository = Repository.create(folder / "fleet")
        repository.commit(the_source())
        with whole_members(folder) as (members, kubeconfigs):
            return _measured(folder, repository, Look(members), kubeconfigs, half)


def _measured(folder: Path, repository: Repository, look: Look, kubeconfigs: Path, half: float) -> int:
    options = ("--bootstrap", "--kubeconfigs", str(kubeconfigs), "--drift", f"{DRIFT:g}s")
    unrest = Unrest(look)
    with controller(folder, str(repository.path), *options, seconds=2 * half + 600) as running:
        running.says("pass ended", times=2)
        look.see()
        unrest.start()
        begun = len(status_commits(repository))
        checked_until(time.monotonic() + half, repository, look)
        busy = status_commits(repository)[: -begun or None]
        unrest.is_calm.set()
        suspended = the_source()["cron.yaml"]
        suspended["spec"]["suspend"] = True
        repository.commit({"rules.yaml": None, "cron.yaml": suspended})
        checked_until(time.monotonic() + 90, repository, look)
        before = len(status_commits(repository))
        checked_until(time.monotonic() + half, repository, look)
        calm = status_commits(repository)[: len(status_commits(repository)) - before]
        unrest.ended.set()
        joined(unrest)
        passes = running.said.count("pass ended")
        running.ended()
    print(f"while rules fire: {told_commits(busy, half)}")
    print(f"while nothing but pods flaps: {told_commits(calm, half)}")
    for line in _written_objects(repository, len(calm)):
        print(f"  {line}")
    print(f"{passes} passes; numbers {dict(look.checked)}; {len(look.wrong)} wrong")
    for line in look.wrong[:20]:
        print(f"  {line}")
    return int(bool(look.wrong) or len(calm) * 60 >= half)


if __name__ == "__main__":
    sys.exit(main())
