"""The branches of pull-mode agents, read: from each agent's branch its own cluster's files, and nothing else.

An agent may push its own branch alone, but what is on it is still checked: another cluster's path, a file that names
another cluster, is larger than any that agents write or cannot be read, a branch of a cluster that does not pull - all
that is left out and reported, and what was recorded of the cluster before stays in its place.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec import field

from reconciler.ledger.branch_file import MOST_BYTES, BranchFile, FileFault, object_of_content
from reconciler.ledger.cluster import ClusterRecord
from reconciler.ledger.facts import ClusterFacts
from reconciler.ledger.inventory import Inventory
from reconciler.ledger.table import STRANGE, struct_of_file_at
from reconciler.repository import Fetching, File, Repository
from render.cluster import Cluster, is_applied_by_own_agent
from render.errors import GitError
from render.gitobjects import BLOB_MODE, TREE_MODE
from render.settings.fleet import Fleet
from render.values import DiscreetStruct

from .publication import Publication

MOST_FILES = 20_000
"""The files that are read of one agent: a cluster with more objects than that has none that is known."""
_MOST_NAMED = 5
_FOREIGN = "is not this cluster's to say"


class AgentFiles(DiscreetStruct, frozen=True, kw_only=True):
    """The files that agents gave, by path on the status branch, and why others were left out.

    A file is None where its agent took it back. ``unreached_tools`` says of other tools why they could not be asked;
    ``reported_by_tools`` are the clusters about which tools were.
    ``tips`` are the commits of the branches of all agents of members that pull; ``faulty`` are the members of which a
    file was left out.
    """

    UNSHOWN = ("files",)

    files: Mapping[str, bytes | None] = field(default_factory=dict)
    tips: Mapping[str, str] = field(default_factory=dict)
    faulty: frozenset[str] = frozenset()
    ignored: tuple[str, ...] = ()
    unreached_tools: tuple[str, ...] = ()
    reported_by_tools: frozenset[str] = frozenset()


class _Read(DiscreetStruct, frozen=True):
    """The files of one agent that are its own, and the paths of others by why they are left out.

    One that is not ``is_whole`` could not be read, so that what was recorded before stays.
    """

    UNSHOWN = ("own",)

    own: Mapping[str, bytes] = field(default_factory=dict)
    ignored: tuple[tuple[str, str], ...] = ()
    is_whole: bool = True

    def lines(self, branch: str) -> list[str]:
        """Return a line for each file that is left out, of those with the same fault no more than a few."""
        by_fault: dict[str, list[str]] = {}
        for path, fault in self.ignored:
            by_fault.setdefault(fault, []).append(path if path.isprintable() else repr(path))
        lines = []
        for fault, paths in by_fault.items():
            lines += [f"{branch}: {path} {fault}" for path in paths[:_MOST_NAMED]]
            more = len(paths) - _MOST_NAMED
            lines += [f"{branch}: {more} more, each of which {fault}"] if more > 0 else []
        return sorted(lines)


def files_from_agents(
    publication: Publication, fleet: Fleet, members: Iterable[Cluster], known: Iterable[str]
) -> AgentFiles:
    """Return what the branches of all agents give. ``known`` are the paths the status branch has now."""
    prefix = fleet.agent_branch("")
    files: dict[str, bytes | None] = {}
    ignored: list[str] = []
    tips: dict[str, str] = {}
    faulty: set[str] = set()
    pulling = {cluster.name for cluster in members if is_applied_by_own_agent(cluster)}
    before = list(known)
    for branch, tip in sorted(agent_tips(publication, prefix).items() if pulling else ()):
        name = branch.removeprefix(prefix)
        if name not in pulling:
            # The agent of a member that does not pull may say that it lives (``heartbeats_of``), and nothing else.
            if not _time_of_last_heartbeat(publication.repository, tip, name):
                ignored.append(f"{branch}: {name!r} is no member that pulls")
            continue
        tips[name] = tip
        found = _read_branch(publication.repository, tip, name)
        faulty |= {name} if found.ignored else set()
        ignored += found.lines(branch)
        if found.is_whole:
            kept = {path for path, _ in found.ignored}
            files |= {path: None for path in before if is_own_path(path, name) and path not in kept}
            files |= found.own
    return AgentFiles(files=files, tips=tips, faulty=frozenset(faulty), ignored=tuple(ignored))


class AgentBeat(NamedTuple):
    """The newest commit of an agent that says it lives, and when that was by its own clock."""

    commit: str
    time: str


def heartbeats_of(publication: Publication, fleet: Fleet, names: Iterable[str]) -> dict[str, AgentBeat]:
    """Return the last heartbeats of the agents of some members, of those that ever had any."""
    prefix = fleet.agent_branch("")
    branches = {f"{prefix}{name}": name for name in names}
    tips = agent_tips(publication, prefix) if branches else {}
    said = {branches[branch]: tip for branch, tip in tips.items() if branch in branches}
    heartbeats = {
        name: AgentBeat(tip, _time_of_last_heartbeat(publication.repository, tip, name)) for name, tip in said.items()
    }
    return {name: heartbeat for name, heartbeat in heartbeats.items() if heartbeat.time}


def _time_of_last_heartbeat(repository: Repository, tip: str, cluster: str) -> str:
    """Return when an agent last said that its cluster lives; empty where it did not."""
    path = ClusterRecord.at(cluster)
    own = _read_branch(repository, tip, cluster).own.get(path)
    return ClusterRecord.read(path, own).heartbeat if own is not None else ""


def is_own_path(path: str, cluster: str) -> bool:
    """Return whether a path of the status branch belongs to one cluster alone.

    >>> is_own_path("works/eu-1/shop/Service/web.yaml", "eu-1"), is_own_path("facts/eu-10.yaml", "eu-1")
    (True, False)
    """
    own_files = {ClusterRecord.at(cluster), ClusterFacts.at(cluster), Inventory.at(cluster)}
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


def _read_branch(repository: Repository, tip: str, cluster: str) -> _Read:
    """Return what an agent's commit has of its own cluster; whatever is wrong with it is that agent's alone."""
    try:
        tree = repository.commit_info(tip).tree
        if not any(entry.mode == TREE_MODE for entry in repository.read_trees([tree])[tree]):
            return _Read()
        listed = repository.snapshot(tip).files
        if len(listed) > MOST_FILES:
            return _Read(ignored=((f"commit {tip[:12]}", f"has more than {MOST_FILES} files"),), is_whole=False)
        faults = {file.path: _fault_of_file_place(file, cluster) for file in listed if file.path != "README.md"}
        own = {file.path: file.id for file in listed if faults.get(file.path) == ""}
        contents = repository.read_blobs(own.values())
    except GitError as error:
        return _Read(ignored=((f"commit {tip[:12]}", f"cannot be read: {error.message}"),), is_whole=False)
    faults |= {path: _fault_of_content(cluster, path, contents[blob_id]) for path, blob_id in own.items()}
    ignored = ((path, fault) for path, fault in sorted(faults.items()) if fault)
    return _Read({path: contents[own[path]] for path in own if not faults[path]}, tuple(ignored))


def _fault_of_file_place(file: File, cluster: str) -> str:
    """Return why a file is not even read; empty for one that is."""
    if not is_own_path(file.path, cluster):
        return _FOREIGN
    if file.mode != BLOB_MODE:
        return "is no plain file"
    return f"has {file.size} bytes, but at most {MOST_BYTES} are read" if file.size > MOST_BYTES else ""


def _fault_of_content(cluster: str, path: str, content: bytes) -> str:
    """Return why a file is left out: it says that it is of another cluster, or is not as agents write it."""
    try:
        value = object_of_content(content)
    except FileFault:
        return "holds no object"
    kind = struct_of_file_at(path)
    if kind is None:
        return f"is not as agents write it: {STRANGE}"
    try:
        named = _cluster_named_in(kind.of(value))
    except FileFault as error:
        return error.fault if error.is_newer else f"is not as agents write it: {error.fault}"
    return "" if named in {None, cluster} else _FOREIGN


def _cluster_named_in(file: BranchFile) -> str | None:
    """Return the cluster that a file names: a Work's status names none, only its path does."""
    match file:
        case ClusterRecord():
            return file.state.name
        case ClusterFacts():
            return file.name
        case Inventory():
            return file.cluster
    return None
