"""Whole passes of ``argosy reconcile`` over members in memory behind real HTTP, for tests of rollouts."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from render.documents import parse_documents

from .build import Ended, Repository, a_cluster, a_config_map, a_policy, argosy, on_clusters
from .fakes import FakeCluster
from .memory_fleet import add_node, settle
from .rolling import WEB, a_rollout_policy, a_wave, web
from .served import serving_members

NAMES = ("oslo", "paris", "rome")
WAVES = [a_wave("canary", "oslo"), a_wave("second", "paris"), a_wave("rest")]
EXTRA = [f"c{number:02}" for number in range(12)]


class ServedRollouts:
    """Members in memory behind real HTTP; each has version 1 of the Deployment web, and twelve ConfigMaps."""

    def __init__(self, folder: Path, kubeconfigs: Path, members: dict[str, FakeCluster], capsys: Any) -> None:
        self.repository, self.members, self._out = Repository.create(folder), members, capsys
        self.branch = "argosy/rendered"
        head = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}}
        placed = a_policy("web", selectors=[WEB, {"apiVersion": "v1", "kind": "ConfigMap"}], placement=on_clusters())
        self.repository.commit(
            {
                "argosy.yaml": {**head, "spec": {"kubeconfigs": str(kubeconfigs)}},
                "policy.yaml": placed,
                "web.yaml": web(1),
                **{f"{name}.yaml": a_config_map(name, color="red") for name in EXTRA},
                **{f"clusters/{name}.yaml": a_cluster(name) for name in NAMES},
            }
        )

    def begin(self, **policy: Any) -> None:
        """Have every member well with version 1."""
        self.repository.commit({"rollout.yaml": a_rollout_policy(**{"waves": WAVES, **policy})})
        assert self.run("--bootstrap").code == 0
        self.settle()
        self.run()
        self.run()

    def settle(self, *names: str) -> None:
        for name in names or NAMES:
            settle(self.members[name])

    def run(self, *words: str) -> Ended:
        return argosy(self.repository, self._out, "reconcile", *words)

    def step(self) -> Ended:
        """Let members settle, and one pass go by that sees them so; its end."""
        self.settle()
        return self.run()

    def verify(self) -> str:
        return argosy(self.repository, self._out, "verify", "-n", "20").out

    def rollout(self, *words: str) -> Ended:
        return argosy(self.repository, self._out, "rollout", *words)

    def live(self) -> str:
        """The version of web in each member, as one digit for each of the names."""
        found = (self.members[name].objects["deployments.apps", "default", "web"] for name in NAMES)
        images = (each["spec"]["template"]["spec"]["containers"][0]["image"] for each in found)
        return "".join(image.removeprefix("web:") for image in images)

    def rendered(self) -> str:
        """The version of web that the rendered branch has for each member."""
        paths = (f"clusters/{name}/default/Deployment.apps/web.yaml" for name in NAMES)
        found = (self.repository.show(path, self.branch) for path in paths)
        return "".join(text.split("image: web:")[1].splitlines()[0] for text in found)

    def states(self) -> list[Any]:
        """The states of all rollouts."""
        files = self.repository.files(self.branch)
        return [self.state(path[:-5].rpartition("/")[2]) for path in files if path.startswith("rollouts/")]

    def state(self, name: str = "web") -> Any:
        """The state of a rollout."""
        text = self.repository.show(f"rollouts/default/{name}.yaml", self.branch)
        return parse_documents((text + "\n").encode())[0].value


@contextmanager
def served_rollouts(folder: Path, capsys: Any) -> Iterator[ServedRollouts]:
    """A fleet whose members answer until the end of the block."""
    members = {name: FakeCluster(name=name) for name in NAMES}
    for member in members.values():
        add_node(member, "node", cpu="4", memory="8Gi", pods="110")
    with serving_members(members.values(), folder / "kubeconfigs") as served:
        yield ServedRollouts(folder / "fleet", served.kubeconfigs, members, capsys)
