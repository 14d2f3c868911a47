"""The status branch as values: read once, and each distinct file parsed once."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping
from functools import cached_property
from typing import Any, TypeVar

from msgspec import field
from msgspec.structs import replace

from reconciler.branches.schemas import FOLDER as SCHEMAS
from reconciler.branches.status_branch import StatusBranch, cluster_of_path
from reconciler.ledger.agents import AgentsFile, AgentWord
from reconciler.ledger.branch_file import BranchFile
from reconciler.ledger.cluster import ClusterRecord
from reconciler.ledger.conditions import condition_of_type
from reconciler.ledger.facts import ClusterFacts, Facts
from reconciler.ledger.health import HealthFile, ObservedHealth
from reconciler.ledger.holds import HOLD_KEY, ClusterHold
from reconciler.ledger.inventory import ApplyOutcome, Inventory
from reconciler.ledger.member_schemas import MemberSchemas
from reconciler.ledger.notices import NoticeRecord
from reconciler.ledger.refusal import SourceRefusal
from reconciler.ledger.rollout_checks import ChecksFile
from reconciler.ledger.rollout_pauses import PausesFile
from reconciler.ledger.table import is_written_without_content, root_entry_names, struct_of_file_at
from reconciler.ledger.webhook_answers import Answers, AnswersFile, read_answers
from render.layout import object_path
from render.model import Manifest, ObjectRef
from render.rollouts.checks import Answers as CheckAnswers
from render.rollouts.policy import RolloutControl
from render.values import DiscreetStruct

from .cluster_files import ClusterLine, ObjectReason
from .parsed_files import ParsedFiles
from .work_status import APPLIED, HEALTHY, STATUS_REFLECTED

_File = TypeVar("_File", bound=BranchFile)
_OF_ALL_CLUSTERS = frozenset({AnswersFile.PATH, HealthFile.PATH, ChecksFile.PATH, PausesFile.PATH})
"""The files among those of facts that are not about one cluster."""
_FOLDERS = {"_records_of_clusters": "clusters", "_works_of_objects": "works", "_works_not_well": "works"}
"""The folder of which all files are read for something that is made once."""
_AFTER_SLASH = "0"
"""The character after the one that ends the name of a folder."""


class RecordedStatus(DiscreetStruct, frozen=True, kw_only=True, dict=True):
    """The files of a status commit by path, and the time of that commit in seconds (0: there is none).

    A file of another shape than passes write is a GitError that names it, once it is read. What is made of many files
    is made once.
    """

    UNSHOWN = ("files", "_parsed")

    files: Mapping[str, bytes] = field(default_factory=dict)
    time: int = 0
    _parsed: ParsedFiles = field(default_factory=ParsedFiles)

    def manifest(self, path: str) -> Manifest | None:
        """Return the one object of a file; None when there is no such file."""
        content = self.files.get(path)
        return None if content is None else self._parsed.of(path, content)

    def file(self, kind: type[_File], path: str) -> _File | None:
        """Return a file as its value; None when there is no such file."""
        content = self.files.get(path)
        return None if content is None else self._parsed.file(kind, path, content)

    def file_of_content(self, kind: type[_File], path: str, content: bytes) -> _File:
        """Return a file of any commit of the branch as its value; what is known of this one is not parsed again."""
        return self._parsed.file(kind, path, content)

    def object_of_content(self, path: str, content: bytes) -> Manifest:
        """Return the one object of a file of any commit of the branch."""
        return self._parsed.of(path, content)

    def remember_parsed_object(self, path: str, content: bytes, manifest: Manifest) -> None:
        """Take in the object that a file was made of, so that the file need not be read; one at fault has to be."""
        if is_written_without_content(path, content, manifest):
            self._parsed.remember_parsed_object(content, manifest)

    def save_parsed_files(self) -> None:
        """Keep what was parsed for the next pass."""
        self._parsed.save()

    def of_other_commit(self, files: Mapping[str, bytes], time: int) -> "RecordedStatus":
        """Return the files of another commit; those that both have are not parsed again."""
        return RecordedStatus(files=files, time=time, _parsed=self._parsed.for_files(files.values()))

    def with_files(self, files: Mapping[str, bytes | None]) -> "RecordedStatus":
        """Return this with files put into it, and those that are None taken out."""
        after = {**self.files, **files}
        kept = {path: content for path, content in after.items() if content is not None}
        changed = {path.partition("/")[0] for path, content in files.items() if self.files.get(path) != content}
        made = RecordedStatus(files=kept, time=self.time, _parsed=self._parsed)
        # Most steps of a pass write few files, or none.
        known = {name for name, folder in _FOLDERS.items() if folder not in changed}
        known |= {"_paths_by_root_folder"} if kept.keys() == self.files.keys() else set()
        made.__dict__.update({name: self.__dict__[name] for name in known & self.__dict__.keys()})
        return made

    def with_files_of_agents(self, files: Mapping[str, bytes | None]) -> "RecordedStatus":
        """Return this with files of agents: no agent knows of a hold, nor has it a say in any, so that these stay."""
        kept = dict(files)
        for path, content in files.items():
            if struct_of_file_at(path) is not Inventory:
                continue
            known = self.file(Inventory, path)
            hold = known.hold if known is not None else None
            reported = Inventory.read(path, content) if content is not None else None
            if reported is not None and reported.hold != hold:
                kept[path] = replace(reported, hold=hold).content()
            elif reported is None and known is not None and hold is not None:
                kept[path] = Inventory(cluster=known.cluster, hold=hold).content()
        return self.with_files(kept)

    def without_clusters(self, gone: frozenset[str]) -> "RecordedStatus":
        """Return this without the files of some clusters."""
        if not gone:
            return self
        return self.with_files(dict.fromkeys(path for path in self.files if cluster_of_path(path) in gone))

    def paths_below(self, folder: str) -> list[str]:
        """Return the paths below a folder, sorted."""
        paths, begin = self._paths_by_root_folder.get(folder.partition("/")[0], []), f"{folder}/"
        return paths[bisect_left(paths, begin) : bisect_left(paths, f"{folder}{_AFTER_SLASH}")]

    @cached_property
    def _paths_by_root_folder(self) -> Mapping[str, list[str]]:
        """The paths of the files below each folder of the root, sorted."""
        found: dict[str, list[str]] = {}
        for path in sorted(self.files):
            found.setdefault(path.partition("/")[0], []).append(path)
        return found

    def facts(self) -> Facts:
        """Return the facts of every cluster."""
        facts_by_cluster = {}
        for path in self.paths_below("facts"):
            facts = self.file(ClusterFacts, path) if path not in _OF_ALL_CLUSTERS else None
            if facts is not None:
                facts_by_cluster[facts.name] = facts
        return facts_by_cluster

    def answers(self) -> Answers:
        """Return what interpreter webhooks answered."""
        return read_answers(self.files.get(AnswersFile.PATH, b""))

    def check_answers(self) -> CheckAnswers:
        """Return the answers to checks of rollouts."""
        file = self.file(ChecksFile, ChecksFile.PATH)
        return file.answers if file else {}

    def pauses(self) -> tuple[RolloutControl, ...]:
        """Return the pauses of rollouts that somebody asked for at once."""
        file = self.file(PausesFile, PausesFile.PATH)
        return file.controls if file else ()

    def health(self) -> ObservedHealth:
        """Return the health of clusters and workloads that rules of failover asked for."""
        file = self.file(HealthFile, HealthFile.PATH)
        return file.health if file else ObservedHealth()

    def agents(self) -> dict[str, AgentWord]:
        """Return the newest words of agents, and what is known of the clocks of members."""
        file = self.file(AgentsFile, AgentsFile.PATH)
        return file.clusters if file else {}

    def clusters(self) -> dict[str, ClusterRecord]:
        """Return the record of every cluster."""
        return dict(self._records_of_clusters)

    @cached_property
    def _records_of_clusters(self) -> Mapping[str, ClusterRecord]:
        found = (self.file(ClusterRecord, path) for path in self.paths_below("clusters"))
        return {record.state.name: record for record in found if record is not None}

    def cluster(self, name: str) -> ClusterRecord | None:
        """Return the record of one cluster; None where there is none."""
        return self.file(ClusterRecord, ClusterRecord.at(name))

    def time_of_report(self, name: str) -> str:
        """Return when an agent last said something: by itself, as a pass heard it, or since when it is as it is."""
        record, word = self.cluster(name), self.agents().get(name)
        said = record.heartbeat if record is not None else ""
        heard = word.heard if word is not None else ""
        return max(said, heard) or (record.since if record is not None else "")

    def refusal(self) -> SourceRefusal | None:
        """Return the refusal of the source commit that the last pass was asked to render; None if it was rendered."""
        return self.file(SourceRefusal, SourceRefusal.PATH)

    def works(self) -> Mapping[str, Mapping[str, Manifest]]:
        """Return the Works of every object by cluster, the objects by their path below a cluster's folder."""
        return self._works_of_objects

    @cached_property
    def _works_of_objects(self) -> Mapping[str, Mapping[str, Manifest]]:
        works: dict[str, dict[str, Manifest]] = {}
        for path in self.paths_below("works"):
            manifest = self.manifest(path)
            _, cluster, below = path.split("/", 2)
            if manifest is not None:
                works.setdefault(below, {})[cluster] = manifest
        return works

    def works_not_well(self) -> Mapping[str, Mapping[str, Manifest]]:
        """Return those Works of objects that do not say that the object is applied and healthy."""
        return self._works_not_well

    @cached_property
    def _works_not_well(self) -> Mapping[str, Mapping[str, Manifest]]:
        is_well_by_id: dict[int, bool] = {}  # most clusters have the same Work of an object

        def is_well(work: Manifest) -> bool:
            if id(work) not in is_well_by_id:
                is_well_by_id[id(work)] = is_applied_and_healthy(work)
            return is_well_by_id[id(work)]

        works = (
            (below, {cluster: work for cluster, work in by_cluster.items() if not is_well(work)})
            for below, by_cluster in self.works().items()
        )
        return {below: by_cluster for below, by_cluster in works if by_cluster}

    def converged_commit(self, cluster: str) -> str:
        """Return the commit a cluster's inventory says it converged at, or the tool that applies its folder."""
        record = self.cluster(cluster)
        if record is not None and record.deployer:
            return record.applied if record.outcome == ApplyOutcome.CONVERGED else ""
        inventory = self.file(Inventory, Inventory.at(cluster))
        return inventory.converged if inventory is not None else ""

    def holds(self, source: str, now: str) -> dict[str, ClusterHold]:
        """Return the holds that keep out what is rendered of a source, at a time, by cluster."""
        held = (path for path in self.paths_below("inventory") if HOLD_KEY in self.files[path])
        found = [each for path in held if (each := self.file(Inventory, path)) is not None]
        return {each.cluster: each.hold for each in found if each.hold and each.hold.keeps_out(source, now)}

    def schemas(self) -> dict[str, MemberSchemas]:
        """Return the schemas of every cluster, by the path of its index."""
        indexes = (
            (path, self.file(MemberSchemas, path)) for path in self.paths_below(SCHEMAS) if path.endswith(".yaml")
        )
        return {path: found for path, found in indexes if found is not None}

    def clusters_with_known_uid(self) -> tuple[str, ...]:
        """Return the clusters whose UID is known: those that have an inventory."""
        return tuple(path.removeprefix("inventory/").removesuffix(".yaml") for path in self.paths_below("inventory"))

    def uids(self) -> dict[str, str]:
        """Return the UIDs of the clusters that have an inventory which names one."""
        found = {name: self.file(Inventory, Inventory.at(name)) for name in self.clusters_with_known_uid()}
        return {name: each.uid for name, each in found.items() if each is not None and each.uid}

    def binding(self, ref: ObjectRef) -> Manifest | None:
        """Return the status file of a binding."""
        return self.manifest(binding_status_path(ref))


def read_recorded(
    status: StatusBranch, commit: str | None, folders: Collection[str] = (), known: RecordedStatus | None = None
) -> RecordedStatus:
    """Read all that a commit of the status branch holds, or some of its folders; nothing ``known`` is parsed again."""
    files = status.files(commit, folders or {"README.md", *root_entry_names()} - {NoticeRecord.PATH})
    time = status.repository.commit_info(commit).time if commit else 0
    if known is not None:
        return known.of_other_commit(files, time)
    return RecordedStatus(files=files, time=time, _parsed=ParsedFiles.of_repository(status.repository))


def read_refusal(status: StatusBranch, commit: str | None) -> SourceRefusal | None:
    """Read the refusal that a commit of the status branch records, and nothing else; None if there is none."""
    entries = status.entries(commit) if commit is not None else ()
    blob_id = next((entry.id for entry in entries if entry.name == SourceRefusal.PATH.encode()), None)
    files = {} if blob_id is None else {SourceRefusal.PATH: status.repository.read_blobs([blob_id])[blob_id]}
    return RecordedStatus(files=files).refusal()


def path_in_cluster(ref: ObjectRef) -> str:
    """Return the path of an object below the folder of a cluster."""
    return "/".join(object_path(ref))


def binding_status_path(ref: ObjectRef) -> str:
    """Return the path of the status of an object's binding."""
    return f"bindings/{path_in_cluster(ref)}"


def line_by_cluster(
    recorded: RecordedStatus, members: Container[str], converged: Mapping[str, str] | None = None
) -> dict[str, ClusterLine]:
    """Return a line for every cluster; ``converged`` are commits that clusters reached after the record was written."""
    newer = converged or {}
    records = recorded.clusters()
    objects, unhealthy = (
        Counter(cluster for by_cluster in works.values() for cluster in by_cluster)
        for works in (recorded.works(), recorded.works_not_well())
    )
    return {
        name: ClusterLine(
            ready="Unknown" if record.state.condition_of_unseen_cluster else record.state.ready,
            version=record.version,
            is_connected=name in members,
            converged=newer.get(name) or recorded.converged_commit(name),
            outcome=record.outcome,
            objects=objects[name],
            unhealthy=unhealthy[name],
            remedies=record.remedies,
            since=max(record.since, record.ready_since),
        )
        for name, record in records.items()
    }


def is_applied_and_healthy(work: Manifest) -> bool:
    """Return whether an object is applied and healthy."""
    return all(_condition_of_work(work, kind).get("status") == "True" for kind in (APPLIED, HEALTHY))


def reason_in_work(work: Manifest, cluster: str, ref: str = "") -> ObjectReason:
    """Return why an object is not applied and healthy, or that it is, by its Work.

    ``ref`` names the object of a Work that names none.
    """
    applied, healthy, reflected = (_condition_of_work(work, kind) for kind in (APPLIED, HEALTHY, STATUS_REFLECTED))
    worst = next((each for each in (applied, healthy) if each.get("status") != "True"), reflected or healthy)
    return ObjectReason(
        cluster=cluster,
        object=object_named_in_work(work) or ref,
        reason=str(worst.get("reason") or ""),
        message=str(worst.get("message") or ""),
        since=str(worst.get("lastTransitionTime") or ""),
        is_applied=applied.get("status") == "True",
    )


def unhealthy_objects(recorded: RecordedStatus, members: Container[str]) -> Iterable[ObjectReason]:
    """Yield every object of a member that is not as it should be, with its most telling reason."""
    for below, by_cluster in sorted(recorded.works_not_well().items()):
        for cluster, work in sorted(by_cluster.items()):
            if cluster in members:
                yield reason_in_work(work, cluster, below)


def object_named_in_work(work: Manifest) -> str:
    """Return the object a Work's status is of, as ``Deployment.apps shop/web``."""
    entry: Mapping[str, Any] = next(iter((work.get("status") or {}).get("manifestStatuses") or ()), {})
    identity = entry.get("identifier") or {}
    if not identity:
        return ""
    return str(ObjectRef(identity.get("group", ""), identity["kind"], identity.get("namespace", ""), identity["name"]))


def _condition_of_work(work: Manifest, kind: str) -> Mapping[str, Any]:
    return condition_of_type((work.get("status") or {}).get("conditions"), kind)
