"""``python -m tests.afternoon``: what happens to three members, and how the histories of both branches tell it.

The members are in memory and the clock is the story's own, so that even the commit ids come out the same everywhere.
"""

import os
import shlex
import tempfile
from pathlib import Path

from .build import AUTHOR, a_deployment, a_policy, on_clusters
from .docs import fixed_environment, run
from .memory_fleet import MemoryFleet, settle

WEB = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
NODE = {"cpu": "8", "memory": "32Gi", "pods": "110"}
DYNAMIC = {
    "replicaSchedulingType": "Divided",
    "replicaDivisionPreference": "Weighted",
    "weightPreference": {"dynamicWeight": "AvailableReplicas"},
}
LOGS = (
    "git log --format='%h %s' argosy/status",
    "git log --stat --format='%h %s' argosy/status -- clusters/member2.yaml facts/member2.yaml",
    "git log --stat --format='%h %s' argosy/rendered -- bindings clusters",
)


def main() -> None:
    """Print both histories as git does."""
    with tempfile.TemporaryDirectory() as folder:
        environment = fixed_environment(Path(folder))
        AUTHOR.update({name: text for name, text in environment.items() if name.startswith("GIT_")})
        os.environ.update(environment)
        fleet = lived_through(Path(folder) / "fleet")
        for command in LOGS:
            print(f"$ {command}\n{run(shlex.split(command), fleet.repository.path, environment)}", end="")


def lived_through(folder: Path) -> MemoryFleet:
    """Divide a workload by capacity; then a node leaves, a member dies, the workload grows, the member is back."""
    placement = on_clusters("member1", "member2", "member3", replicaScheduling=DYNAMIC)
    names = {"member1": (3, NODE), "member2": (2, NODE), "member3": (1, NODE)}
    policy = a_policy("web", selectors=[WEB], placement=placement)
    fleet = MemoryFleet.create(folder, names, {"web.yaml": workload(6), "policy.yaml": policy})
    fleet.run()
    pass_with(fleet)
    del fleet.members["member1"].objects["nodes.", "", "node-2"]
    fleet.run(60)
    fleet.down = {"member2"}
    fleet.run(60)
    fleet.run(60)
    fleet.repository.commit({"web.yaml": workload(12)}, "Run 12 of web")
    fleet.run(60)
    pass_with(fleet)
    fleet.down = set()
    fleet.run(60)
    return fleet


def pass_with(fleet: MemoryFleet) -> None:
    """Let what is reachable become as it should be, and look again."""
    for name, member in fleet.members.items():
        if name not in fleet.down:
            settle(member)
    fleet.run(60)


def workload(replicas: int) -> dict[str, object]:
    made = a_deployment("web", replicas=replicas)
    made["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    return made


if __name__ == "__main__":
    main()
