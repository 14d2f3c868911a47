"""A fleet of one member that delivers objects of every kind, and what its member and others hold of them."""

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from reconciler.members.discovery import Resource
from reconciler.plans.payload import manifest_as_sent
from tests.build import Repository, a_cluster, a_cluster_policy, a_policy, on_clusters
from tests.clusters import Member
from tests.kubectl import kubectl_path
from tests.waiting import SECONDS

from .objects import CLUSTER_SCOPED, SPACE, Manifest, definitions, whole_objects

SPACES = (SPACE, "quotas")


class EditedFleet:
    """The repository of a fleet, and the commands that are run in it."""

    def __init__(self, member: Member, folder: Path) -> None:
        self.member = member
        self.repository = Repository.create(folder / "fleet")
        self.kubeconfigs = folder / "kubeconfigs"
        self.kubeconfigs.mkdir(exist_ok=True)
        (self.kubeconfigs / f"{member.name}.yaml").write_text(member.kubeconfig.read_text())
        kinds = sorted({(each["apiVersion"], each["kind"]) for each in (*whole_objects(), *definitions())})
        selectors = [{"apiVersion": version, "kind": kind} for version, kind in kinds]
        inside = [each for each in selectors if each["kind"] not in CLUSTER_SCOPED]
        outside = [each for each in selectors if each["kind"] in CLUSTER_SCOPED]
        placement = on_clusters(member.name)
        policies = {
            f"policies/{space}.yaml": a_policy("all", namespace=space, selectors=inside, placement=placement)
            for space in SPACES
        }
        policies["policies/cluster.yaml"] = a_cluster_policy("all", selectors=outside, placement=placement)
        files = {f"shared/{each['metadata']['name']}.yaml": json.dumps(each) for each in _shared()}
        self.repository.commit({f"clusters/{member.name}.yaml": a_cluster(member.name), **policies, **files})

    def commit(self, manifests: Mapping[str, Manifest]) -> None:
        """Commit objects by their names."""
        self.repository.commit({f"objects/{name}.yaml": json.dumps(each) for name, each in manifests.items()})

    def argosy(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run a command of Argosy."""
        command = [sys.executable, "-m", "reconciler", "-q", "-C", str(self.repository.path), *words]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS * 4)

    def reached(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run a command that reaches the member."""
        return self.argosy(*words, "--kubeconfigs", str(self.kubeconfigs))

    def words_of(self, output: str) -> dict[str, str]:
        """Return the word about each object that a command names; about the others it is ``unchanged``."""
        return {_name_in(each): each["action"] for each in self._objects(output)}

    def reasons_of(self, output: str) -> dict[str, str]:
        """Return the reason and the message about each object that a command names."""
        return {_name_in(each): f"{each['reason']}: {each.get('message', '')}" for each in self._objects(output)}

    def _objects(self, output: str) -> list[dict[str, Any]]:
        objects: list[dict[str, Any]] = json.loads(output)["clusters"][self.member.name]["objects"]
        return objects


def _name_in(told: Mapping[str, Any]) -> str:
    return str(told["object"]).split()[-1].rpartition("/")[2]


def _shared() -> list[Manifest]:
    spaces: list[Manifest] = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}} for space in SPACES
    ]
    return [*spaces, *definitions()]


def stated_for_kubectl(manifest: Manifest) -> Manifest:
    """Return a manifest in which no map has nothing but fields that are null, as far as Argosy leaves those out.

    To kubectl's server-side apply a null is a value, so that a server fills in the defaults of such a map. To Argosy it
    is what is not stated, and the map is empty.
    """
    group, _, version = manifest["apiVersion"].rpartition("/")
    is_namespaced = "namespace" in manifest["metadata"]
    kind = Resource(group=group, version=version, kind=manifest["kind"], plural="", is_namespaced=is_namespaced)
    sent = manifest_as_sent(manifest, kind, "")
    return {key: value if key == "metadata" else _stated(value, sent.get(key)) for key, value in manifest.items()}


def _stated(value: Any, sent: Any) -> Any:
    if isinstance(value, list) and isinstance(sent, list) and len(value) == len(sent):
        return [_stated(item, other) for item, other in zip(value, sent, strict=True)]
    if not isinstance(value, dict) or not isinstance(sent, dict):
        return value
    if value and not sent and all(item is None for item in value.values()):
        return {}
    return {key: _stated(item, sent.get(key)) for key, item in value.items()}


def prepare(member: Member) -> None:
    """Give a server the namespaces and the kinds of the fleet, by kubectl."""
    apply_by_kubectl(member, _shared(), "--server-side")
    names = [f"crd/{each['metadata']['name']}" for each in definitions()]
    member.kubectl("wait", "--for=condition=Established", "--timeout=60s", *names)


def apply_by_kubectl(member: Member, manifests: Iterable[Manifest], *options: str) -> set[str]:
    """Apply manifests with the real kubectl, and return the names of those that were accepted."""
    items = {"apiVersion": "v1", "kind": "List", "items": list(manifests)}
    command = [str(kubectl_path()), "--kubeconfig", str(member.kubeconfig), "apply", "--validate=false", "-f", "-"]
    run = subprocess.run(
        [*command, *options],
        input=json.dumps(items),
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS * 4,
    )
    lines = (line.split() for line in run.stdout.splitlines())
    return {words[0].partition("/")[2] for words in lines if words}


def lives_of(member: Member, manifests: Mapping[str, Manifest]) -> dict[str, Any]:
    """Return the live objects of some manifests by their names, None where there is none."""
    paths = {name: member.path_of(manifest) for name, manifest in manifests.items()}
    lists = {path: member.read(path)["items"] for path in sorted(set(paths.values()))}
    by_name = {path: {item["metadata"]["name"]: item for item in items} for path, items in lists.items()}
    return {name: by_name[path].get(name) for name, path in paths.items()}
