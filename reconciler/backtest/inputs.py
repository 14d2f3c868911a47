"""The recorded inputs of passes: facts, health and answers, as a rendered commit or the status branch has them.

Each file is read once, for most are the same in one commit and the next.
"""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from msgspec import Struct, field

from reconciler.branches.reading import ObservedInputs
from reconciler.ledger.branch_file import BranchFile, content_without_version
from reconciler.ledger.cluster import ClusterRecord
from reconciler.ledger.facts import ClusterFacts
from reconciler.ledger.health import HealthFile, ObservedHealth
from reconciler.ledger.rollout_checks import ChecksFile
from reconciler.ledger.rollout_pauses import PausesFile
from reconciler.ledger.webhook_answers import AnswersFile, read_answers
from reconciler.pipeline.health import cluster_conditions
from reconciler.repository import Repository
from render.cluster import ClusterCondition
from render.gitobjects import git_object_id

_BESIDE_FACTS = frozenset({AnswersFile.NAME, HealthFile.NAME, ChecksFile.NAME, PausesFile.NAME})
_File = TypeVar("_File", bound=BranchFile)
Conditions = Mapping[str, tuple[ClusterCondition, ...]]


class InputsReader(Struct):
    """Files of rendered commits and of the status branch, each read once."""

    repository: Repository
    _parsed: dict[bytes, BranchFile] = field(default_factory=dict)
    _rendered_ids: dict[bytes, bytes] = field(default_factory=dict)
    _folders: dict[bytes, dict[str, bytes]] = field(default_factory=dict)
    _digests: dict[bytes, bytes] = field(default_factory=dict)

    def observed_inputs(self, tree: bytes) -> ObservedInputs:
        """Return what the tree of a commit records of the members, and of what was answered."""
        files = self._files_in(tree, "facts")
        facts = self._read(ClusterFacts, {path: id_ for path, id_ in files.items() if path not in _BESIDE_FACTS})
        health = self._read_one(HealthFile, files.get(HealthFile.NAME))
        checks = self._read_one(ChecksFile, files.get(ChecksFile.NAME))
        pauses = self._read_one(PausesFile, files.get(PausesFile.NAME))
        answers = files.get(AnswersFile.NAME)
        return ObservedInputs(
            facts={each.name: each for each in facts},
            answers=read_answers(self.repository.read_blobs([answers])[answers]) if answers else {},
            health=health.health if health else ObservedHealth(),
            checks=checks.answers if checks else {},
            pauses=pauses.controls if pauses else (),
        )

    def conditions(self, tree: bytes) -> Conditions:
        """Return the conditions of clusters that the tree of a commit of the status branch records."""
        records = self._read(ClusterRecord, self._files_in(tree, "clusters"))
        return {each.state.name: cluster_conditions(each.state.status) for each in records}

    def facts_digest(self, tree: bytes) -> bytes:
        """Return what is the same for the same facts, in a rendered commit and on the status branch."""
        if tree not in self._digests:
            files = {name: id_ for name, id_ in self._files_in(tree, "facts").items() if name not in _BESIDE_FACTS}
            unknown = {id_ for id_ in files.values() if id_ not in self._rendered_ids}
            for id_, content in self.repository.read_blobs(unknown).items() if unknown else ():
                self._rendered_ids[id_] = git_object_id("blob", content_without_version(content))
            ids = (name.encode() + b"\0" + self._rendered_ids[id_] for name, id_ in sorted(files.items()))
            self._digests[tree] = git_object_id("blob", b"".join(ids))
        return self._digests[tree]

    def _files_in(self, tree: bytes, folder: str) -> dict[str, bytes]:
        """Return the files of a folder at the root of a tree by name."""
        found = next((entry.id for entry in self.repository.read_trees([tree])[tree] if entry.text == folder), None)
        if found is None:
            return {}
        if found not in self._folders:
            self._folders[found] = {entry.text: entry.id for entry in self.repository.read_trees([found])[found]}
        return self._folders[found]

    def _read_one(self, kind: type[_File], blob: bytes | None) -> _File | None:
        return next(iter(self._read(kind, {kind.PATH: blob})), None) if blob is not None else None

    def _read(self, kind: type[_File], files: Mapping[str, bytes]) -> Iterable[_File]:
        """Return the files of a kind, parsing those that were not read before."""
        unread = {id_: path for path, id_ in files.items() if id_ not in self._parsed}
        for id_, content in self.repository.read_blobs(unread).items() if unread else ():
            self._parsed[id_] = kind.read(unread[id_], content)
        found = (self._parsed[id_] for id_ in files.values())
        return [each for each in found if isinstance(each, kind)]
