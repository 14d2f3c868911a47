"""The branches of pull-mode agents, read: from each agent's branch its own cluster's files, and nothing else.

An agent may push its own branch alone, but what is on it is still checked: another cluster's path, a file that names
another cluster, a branch of a cluster that does not pull - all that is left out and reported.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from reconciler.publish.branches import Publication
from reconciler.publish.file_shapes import fault_of
from reconciler.publish.status_branch import inventory_path
from reconciler.repository import Fetching, Repository
from render.cluster import Cluster
from render.documents import DocumentErrors, parse_documents
from render.fleet import Fleet
from render.gitobjects import TREE_MODE
from render.model import Manifest

from .recorded_status import cluster_path, facts_path


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFiles:
    """The files that agents gave, by path on the status branch, and why others were left out.

    A file is None where its agent took it back.
    """

    files: Mapping[str, bytes | None] = field(default_factory=dict, repr=False)
    ignored: tuple[str, ...] = ()


def files_from_agents(
    publication: Publication, fleet: Fleet, members: Iterable[Cluster], known: Iterable[str]
) -> AgentFiles:
    """Return what the branches of all agents give. ``known`` are the paths the status branch has now."""
    prefix = fleet.agent_branch("")
    files: dict[str, bytes | None] = {}
    ignored: list[str] = []
    pulling = {cluster.name for cluster in members if is_pulling(cluster)}
    before = list(known)
    for branch, tip in sorted(agent_tips(publication, prefix).items() if pulling else ()):
        name = branch.removeprefix(prefix)
        if name not in pulling:
            ignored.append(f"{branch}: {name!r} is no member that pulls")
            continue
        own, foreign = _own_files(publication.repository, tip, name)
        ignored += [f"{branch}: {path} is not this cluster's to say" for path in foreign]
        files |= {path: None for path in before if is_own_path(path, name) and path not in own}
        files |= own
    return AgentFiles(files=files, ignored=tuple(ignored))


def is_pulling(cluster: Cluster) -> bool:
    """Return whether a cluster's own agent applies to it."""
    return cluster.sync_mode == "Pull"


def is_own_path(path: str, cluster: str) -> bool:
    """Return whether a path of the status branch belongs to one cluster alone.

    >>> is_own_path("works/eu-1/shop/Service/web.yaml", "eu-1"), is_own_path("facts/eu-10.yaml", "eu-1")
    (True, False)
    """
    own_files = {cluster_path(cluster), facts_path(cluster), inventory_path(cluster)}
    return path in own_files or path.startswith(f"works/{cluster}/")


def agent_tips(publication: Publication, prefix: str) -> dict[str, str]:
    """Return the tips of all agents' branches, asking the remote once and fetching those that are new."""
    repository, remote = publication.repository, publication.remote
    if not remote:
        refs = repository.refs(f"refs/heads/{prefix}")
        return {ref.removeprefix("refs/heads/"): tip for ref, tip in refs.items()}
    tips = repository.remote_tips(remote).tips
    heads = {ref: tip for ref, tip in tips.items() if ref.startswith(f"refs/heads/{prefix}")}
    branches = {ref.removeprefix("refs/heads/"): tip for ref, tip in heads.items()}
    local = {branch: publication.ref(branch) for branch in branches}
    new = [branch for branch, tip in branches.items() if repository.tip(local[branch]) != tip]
    if new:
        repository.fetch(remote, Fetching(refspecs=[f"+refs/heads/{branch}:{local[branch]}" for branch in new]))
    return {branch: repository.tip(local[branch]) or tip for branch, tip in branches.items()}


def _own_files(repository: Repository, tip: str, cluster: str) -> tuple[dict[str, bytes], list[str]]:
    """Return the files of an agent's commit that are its own cluster's, and the paths of those that are not."""
    tree = repository.commit_info(tip).tree
    if not any(entry.mode == TREE_MODE for entry in repository.read_trees([tree])[tree]):
        return {}, []
    listed = repository.snapshot(tip).files
    own = {file.path: file.id for file in listed if is_own_path(file.path, cluster)}
    contents = repository.read_blobs(own.values())
    files = {path: contents[blob_id] for path, blob_id in own.items()}
    forged = [path for path, content in files.items() if not _is_of(cluster, path, content)]
    foreign = [file.path for file in listed if file.path not in own and file.path != "README.md"]
    return {path: content for path, content in files.items() if path not in forged}, sorted([*foreign, *forged])


def _is_of(cluster: str, path: str, content: bytes) -> bool:
    """Return whether a file says that it is of this cluster; a Work's status names none, only its path does."""
    value = _value(content)
    if value is None or fault_of(path, content, value):
        return False
    if path.startswith("works/"):
        return True
    return value.get("cluster") == cluster or (value.get("metadata") or {}).get("name") == cluster


def _value(content: bytes) -> Manifest | None:
    try:
        value = parse_documents(content)[0].value
    except (DocumentErrors, IndexError):
        return None
    return value if isinstance(value, dict) else None
