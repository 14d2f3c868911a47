"""The fleet of chaos: a repository, three members behind faulty servers, and a fourth that kubectl writes alone."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from render.documents import parse_documents
from tests.build import AUTHOR, Repository, a_cluster, a_policy, on_clusters
from tests.clusters import Member
from tests.wires import a_certificate

from .faulty_server import FaultyServer, standing_before
from .objects import KINDS, SELECTORS, SPACE, custom_definition, objects_of

ROOT = Path(__file__).parent.parent.parent
NAMES = ("member1", "member2", "member3")
MOST_SECONDS = 600
_SERVERS_OWN = ("managedFields", "uid", "resourceVersion", "creationTimestamp", "generation")
_ALLOCATED = ("clusterIP", "clusterIPs", "ipFamilies")
_SET = "applyset.kubernetes.io/part-of"
Objects = Mapping[str, Any]


class Run(NamedTuple):
    """A command that has ended."""

    code: int
    said: str


class ChaosFleet:
    """A fleet whose objects change in turns; ``foreign``: what somebody else made in each member."""

    def __init__(self, folder: Path, servers: list[FaultyServer], reference: Member) -> None:
        self.folder, self.servers, self.reference, self.turn = folder, servers, reference, 0
        self.repository = Repository.create(folder / "fleet")
        self.kubeconfigs = folder / "kubeconfigs"
        self.kubeconfigs.mkdir()
        for server in servers:
            text = server.member.kubeconfig.read_text().replace(server.member.host, f"https://127.0.0.1:{server.port}")
            path = self.kubeconfigs / f"{server.member.name}.yaml"
            path.write_text(text)
            path.chmod(0o600)
            space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}}
            server.member.request("POST", "/api/v1/namespaces", space)
        self.foreign = {server.member.name: _made(server.member) for server in servers}

    def begin(self) -> str:
        """Commit the clusters, the policies and the objects of the first turn."""
        placement = on_clusters(*NAMES)
        crds = [{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}]
        everywhere = a_policy("crds", selectors=crds, placement=placement)
        everywhere["kind"] = "ClusterPropagationPolicy"
        del everywhere["metadata"]["namespace"]
        return self.repository.commit(
            {
                **{f"clusters/{name}.yaml": a_cluster(name) for name in NAMES},
                "policies/all.yaml": a_policy("all", namespace=SPACE, selectors=SELECTORS, placement=placement),
                "policies/crds.yaml": everywhere,
                "apps/crd.yaml": custom_definition(),
                **{f"apps/{path}": content for path, content in objects_of(0).items()},
            }
        )

    def change(self) -> str:
        """Commit the objects of the next turn."""
        before, self.turn = objects_of(self.turn), self.turn + 1
        after = objects_of(self.turn)
        files = {f"apps/{path}": after.get(path) for path in sorted({*before, *after})}
        return self.repository.commit(files, f"turn {self.turn}")

    def command(self, *options: str) -> list[str]:
        """Return the command of a pass."""
        program = [sys.executable, "-m", "reconciler", "-C", str(self.repository.path), "reconcile"]
        return [*program, "--kubeconfigs", str(self.kubeconfigs), "--allow-removal", "*=1000", *options]

    def run(self, *options: str) -> Run:
        """Run a pass to its end."""
        done = subprocess.run(
            self.command(*options),
            cwd=ROOT,
            env={**os.environ, **AUTHOR},
            capture_output=True,
            text=True,
            check=False,
            timeout=MOST_SECONDS,
        )
        return Run(done.returncode, done.stdout + done.stderr)

    def tips(self) -> list[str]:
        """Return the commits of the branches that Argosy writes."""
        return [self.repository.git("rev-parse", branch) for branch in ("argosy/rendered", "argosy/status")]

    def refer(self, repository: Repository | None = None) -> Objects:
        """Have kubectl make the reference what the newest rendered commit says of a member, and return its objects."""
        rendered = repository or self.repository
        wanted: set[str] = set()
        with tempfile.TemporaryDirectory() as folder:
            for path in rendered.files(under=f"clusters/{NAMES[0]}"):
                content = f"{rendered.show(path)}\n"
                (Path(folder) / f"{len(wanted)}.yaml").write_text(content)
                manifest = parse_documents(content.encode())[0].value
                wanted.add(f"{manifest['kind']}/{manifest['metadata']['name']}")
            apply = ("apply", "--server-side", "--force-conflicts", "-f", folder)
            with suppress(AssertionError):  # custom resources come before their definition is established
                self.reference.kubectl(*apply)
            self.reference.kubectl(*apply)
        for name in sorted({*live_objects(self.reference)} - wanted):
            kind, _, own = name.partition("/")
            self.reference.kubectl("delete", "-n", SPACE, kind, own)
        return live_objects(self.reference)

    def differences(self, wanted: Objects, member: Member) -> Iterator[str]:
        """Yield how a member is other than the reference, and what of others was touched."""
        live, foreign = live_objects(member), self.foreign[member.name]
        for name in sorted({*wanted, *live} - {*foreign}):
            yield from (f"{member.name}: {name} {line}" for line in different_values(wanted.get(name), live.get(name)))
        for name, before in foreign.items():
            if live.get(name) != before:
                yield f"{member.name}: {name}, which is somebody else's, was touched"


def different_values(want: Any, live: Any, path: str = "") -> Iterator[str]:
    """Yield the places at which two values differ, each with both values."""
    if isinstance(want, dict) and isinstance(live, dict):
        for key in sorted({*want, *live}):
            yield from different_values(want.get(key), live.get(key), f"{path}.{key}")
    elif want != live:
        yield f"{path or 'as a whole'}: {str(live)[:200]}, not {str(want)[:200]}"


def live_objects(member: Member) -> Objects:
    """Return the objects of a member by kind and name, without what its server alone says of them."""
    listed = member.kubectl("get", "-n", SPACE, "-o=json", "--ignore-not-found", ",".join(_served(member)))
    items = parse_documents(listed.encode())[0].value["items"] if listed.strip() else []
    kept = [each for each in items if each["metadata"]["name"] not in {"kube-root-ca.crt", "default"}]
    return {f"{each['kind']}/{each['metadata']['name']}": _compared(each) for each in kept}


def _served(member: Member) -> Iterator[str]:
    served = member.read("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/routes.chaos.example.com")
    return (kind for kind in KINDS if served or not kind.startswith("routes"))


def _compared(live: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = {name: value for name, value in live["metadata"].items() if name not in _SERVERS_OWN}
    labels = {name: value for name, value in metadata.pop("labels", {}).items() if name != _SET}
    content = {name: value for name, value in live.items() if name not in {"metadata", "status"}}
    if live["kind"] == "Service":
        content["spec"] = {name: value for name, value in live["spec"].items() if name not in _ALLOCATED}
    return {**content, "metadata": {**metadata, "labels": labels}}


def _made(member: Member) -> Objects:
    for number in range(3):
        body = {"metadata": {"name": f"theirs-{number}"}, "data": {"a": "1"}}
        status, answer = member.request("POST", f"/api/v1/namespaces/{SPACE}/configmaps", body)
        assert status == 201, answer
    return live_objects(member)


@contextmanager
def chaos_fleet() -> Iterator[ChaosFleet]:
    """Start the members, the faulty servers before them and the reference, for as long as the block."""
    with tempfile.TemporaryDirectory() as name, Member("reference") as reference:
        folder = Path(name)
        impostor = a_certificate(folder)
        members: list[Member] = []
        try:
            for each in NAMES:
                members.append(Member(each, beside=reference))
                members[-1].__enter__()
            with standing_before(members, impostor) as servers:
                yield ChaosFleet(folder, servers, reference)
        finally:
            for member in members:
                member.close()
