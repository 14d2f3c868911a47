"""From commits to values: the source of a revision, the facts, and the previous rendered commit."""

import hashlib
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.gitops.tools import GitOpsTools, LaterBuild
from reconciler.ledger.branch_file import DamagedFile
from reconciler.ledger.facts import Facts
from reconciler.ledger.health import HealthFile, ObservedHealth
from reconciler.ledger.rollout_checks import ChecksFile
from reconciler.ledger.rollout_pauses import PausesFile
from reconciler.ledger.table import checked_path
from reconciler.ledger.webhook_answers import Answers, AnswersFile, read_answers
from reconciler.locked.store import content_store
from reconciler.pipeline.binding_files import PlainBinding
from reconciler.pipeline.previous import Previous, RenderedTree, StoredBindings
from reconciler.repository import Repository
from reconciler.repository.cache import Cache
from reconciler.repository.objects import Snapshot
from reconciler.repository.trailers import BRANCH, SOURCE, TOOL, VERSION, commit_written_by_argosy, engine_version
from reconciler.source.broken import Broken
from reconciler.source.desired import Desired, desired_without_objects
from reconciler.source.facts import FactsOf
from reconciler.source.files import MAX_FILE_SIZE, SourceFile, may_be_looked_at, may_start_build
from reconciler.source.fleet_file import FleetSource, load_fleet
from reconciler.source.lines import PlacedLines
from reconciler.source.loading import Loaded, load_source
from reconciler.source.manifests import ParseCache, ParsedBlob
from reconciler.source.policy_tests import PolicyTest
from reconciler.source.reading import Caches, SourceReading
from reconciler.source.schemas.observed import ObservedSchemas
from render.binding import Binding
from render.errors import GitError, InputError, Problem
from render.fleet_settings import fleet_with_stricter_limits_of
from render.gitobjects import TREE_MODE, TreeEntry, git_object_id
from render.model import ObjectRef
from render.rollouts.checks import Answers as CheckAnswers
from render.rollouts.policy import RolloutControl
from render.settings.fleet import Fleet
from render.values import SelectiveStruct

from .kept_facts import read_facts
from .looks import known_looks
from .publication import publication_of
from .schemas import recorded_schemas

if TYPE_CHECKING:
    from reconciler.building.builds import KnownOutcomes


class Source(SelectiveStruct, frozen=True, kw_only=True):
    """The source at one commit ("" for a work tree as it stands), loaded and checked.

    ``broken`` is what was left out of it, ``files`` are all there are, ``ignore`` the lines that leave files out.
    ``tests`` are the PolicyTests in it, on which nothing depends that is rendered.
    """

    UNSHOWN = ("files", "lines", "tests")
    UNCOMPARED = ("lines", "tests")

    commit: str
    desired: Desired
    broken: tuple[Broken, ...] = ()
    files: tuple[SourceFile, ...] = ()
    ignore: tuple[str, ...] = ()
    lines: PlacedLines | None = None
    tests: tuple[PolicyTest, ...] = ()

    def warnings_beside(self, problems: Iterable[Problem]) -> tuple[Problem, ...]:
        """Return the warnings without those that are problems after all."""
        known = {each.warning for each in self.broken if each.problem in set(problems)}
        return tuple(each for each in self.desired.warnings if each not in known)

    @property
    def objects_left_out(self) -> tuple[Problem, ...]:
        """The warnings about objects that are left out though somebody meant them to be delivered."""
        return tuple(sorted({each.warning for each in self.broken if each.is_answered_no}))

    def without_objects_never_delivered(self, delivered: Container[ObjectRef]) -> "Source":
        """Return the source without what its schema does not allow, but for what was delivered so before."""
        new = {id(each) for each in self.broken if each.is_kept and not any(ref in delivered for ref in each.refs)}
        if not new:
            return self
        broken = tuple(replace(each, is_kept=False) if id(each) in new else each for each in self.broken)
        said = {before.warning: after.warning for before, after in zip(self.broken, broken, strict=True)}
        refs = (ref for each in self.broken if id(each) in new for ref in each.refs)
        desired = desired_without_objects(self.desired, refs)
        warnings = tuple(sorted(said.get(each, each) for each in desired.warnings))
        return replace(self, desired=replace(desired, warnings=warnings), broken=broken)


class ObservedInputs(Struct, frozen=True, kw_only=True):
    """The observed inputs of a pass: facts of the members, and answers of webhooks.

    ``folder`` is the id of the tree they were read from (None: from members, or there are none), and ``rendered_ids``
    are the ids that the files in it have in a rendered commit, where they have no version. ``schemas`` are those of
    members' custom kinds; they decide what is refused, and nothing of what is rendered. ``health`` is that of clusters
    and workloads, with the time since when. ``checks`` are the answers to checks of rollouts, ``pauses``
    those of them that somebody has paused at once. ``looks`` are the times at which clusters were looked at last, as
    far as this machine knows.
    """

    facts: Facts = field(default_factory=dict)
    answers: Answers = field(default_factory=dict)
    folder: bytes | None = None
    rendered_ids: Mapping[str, bytes] = field(default_factory=dict)
    schemas: ObservedSchemas = field(default_factory=ObservedSchemas)
    health: ObservedHealth = field(default_factory=ObservedHealth)
    checks: CheckAnswers = field(default_factory=dict)
    pauses: tuple[RolloutControl, ...] = ()
    looks: Mapping[str, datetime] = field(default_factory=dict)


class MemoryCache(Struct, frozen=True):
    """A parse cache in memory before the one on disk: for a process that loads more than one source."""

    parsed: dict[bytes, ParsedBlob]
    cache: ParseCache

    def get_many(self, ids: Iterable[bytes]) -> Mapping[bytes, ParsedBlob]:
        """Return what is known, remembering what the disk knew."""
        wanted = set(ids)
        self.parsed.update(self.cache.get_many(wanted - self.parsed.keys()))
        return {id_: self.parsed[id_] for id_ in wanted & self.parsed.keys()}

    def put_many(self, values: Mapping[bytes, ParsedBlob]) -> None:
        """Remember what was parsed, here and on disk."""
        self.parsed.update(values)
        self.cache.put_many(values)


def read_source(
    repository: Repository,
    commit: str,
    parsed: dict[bytes, ParsedBlob] | None = None,
    *,
    facts: FactsOf | None = None,
    judged_by: Fleet | None = None,
    contents: Mapping[str, bytes | None] | None = None,
) -> Source:
    """Load the source of a commit, or of the work tree for ""; InputError lists every problem.

    ``contents`` are those that some of its files would get by an edit (None: such a file is gone).

    ``parsed`` holds the blobs this process has parsed already, and is added to. ``facts`` tell the scope of kinds that
    nothing better tells; without, those that the status branch holds here. ``judged_by`` has limits that go before
    weaker ones of the source's own.
    """
    recorded = reader_of_recorded_facts(repository)
    if judged_by is not None:
        recorded = partial(lambda known, _fleet: reader_of_recorded_facts(repository)(known), judged_by)
    snapshot = None if contents is None else _edited_snapshot(repository, commit, contents)
    loaded = read_loaded(repository, commit, parsed, facts=facts or recorded, judged_by=judged_by, snapshot=snapshot)
    return checked_source(commit if snapshot is None else "", loaded)


def _edited_snapshot(repository: Repository, commit: str, contents: Mapping[str, bytes | None]) -> Snapshot:
    return repository.edited_snapshot(commit or snapshot_of_worktree(repository), contents)


def read_again_with_facts(repository: Repository, source: Source, facts: Facts) -> Source:
    """Return a source with the scopes and the charts that facts tell, loaded again only if one depends on them."""
    if not is_read_by_facts(source.desired):
        return source
    return read_source(repository, source.commit, facts=lambda _fleet: facts)


def is_read_by_facts(desired: Desired) -> bool:
    """Say whether a source reads otherwise where other facts are known: by scopes of kinds, or what is built of it."""
    return bool(desired.fact_scoped_kinds) or desired.is_built_by_facts


def checked_source(commit: str, loaded: Loaded) -> Source:
    """Return a source without what is left out of it; InputError for problems that nothing can be left out for."""
    if loaded.problems_that_block:
        raise InputError(loaded.problems, warnings=loaded.desired.warnings)
    return source_of_loaded(commit, loaded)


def source_of_loaded(commit: str, loaded: Loaded) -> Source:
    """Return a source without what is left out of it."""
    return Source(
        commit=commit,
        desired=replace(loaded.desired, warnings=loaded.warnings),
        broken=loaded.broken,
        files=loaded.files,
        ignore=loaded.ignore,
        lines=loaded.lines,
        tests=loaded.tests,
    )


def read_loaded(
    repository: Repository,
    commit: str,
    parsed: dict[bytes, ParsedBlob] | None = None,
    *,
    facts: FactsOf | None,
    judged_by: Fleet | None = None,
    snapshot: Snapshot | None = None,
) -> Loaded:
    """Load what can be loaded of a source, beside the problems of what cannot; all else as for ``read_source``.

    Without ``facts``, a scope that nothing tells is no problem yet. ``snapshot`` has the files where others count.
    """
    if snapshot is None:
        snapshot = repository.snapshot(commit) if commit else snapshot_of_worktree(repository)
        repository.listings.keep(commit)
    folder, read = repository.folder.under, repository.read_blobs
    with source_reading(repository, parsed) as reading:
        if judged_by is None:
            return load_source(snapshot.files, reading._replace(facts=facts), folder=folder)
        home = load_fleet(snapshot.files, folder=folder, read=read)
        home = replace(home, fleet=fleet_with_stricter_limits_of(home.fleet, judged_by))
        return load_source(snapshot.files, reading._replace(facts=facts), folder=home)


def snapshot_of_worktree(repository: Repository) -> Snapshot:
    """Return the work tree as it stands, with the contents of all files that may be manifests or be built from."""
    snapshot = repository.worktree_snapshot(wanted=may_be_looked_at)
    if not any(may_start_build(file.path) for file in snapshot.files):
        return snapshot
    return repository.worktree_snapshot(wanted=lambda _path, size: size <= MAX_FILE_SIZE)


def fleet_source_of_worktree(repository: Repository) -> FleetSource:
    """Return what argosy.yaml says in the work tree as it stands."""
    files = snapshot_of_worktree(repository).files
    return load_fleet(files, folder=repository.folder.under, read=repository.read_blobs)


@contextmanager
def source_reading(
    repository: Repository,
    parsed: dict[bytes, ParsedBlob] | None = None,
    builds_made: "KnownOutcomes | None" = None,
) -> Iterator[SourceReading]:
    """Open what a source is read with, facts aside, and write what is new into its caches at the end.

    ``parsed`` comes before the values of earlier runs, as ``builds_made`` does, which are the builds of this process.
    """
    # What this process has in memory, it does not ask the files for; and of builds, former ones are worth their space.
    is_whole = {"documents": parsed is None, "builds": False, "right": parsed is None, "checked": parsed is None}
    # Fleets in folders of one repository have files of their own, or each would forget what another one needs.
    under = repository.folder.under
    own = f".{hashlib.sha256(under.encode()).hexdigest()[:16]}" if under else ""
    with ExitStack() as opened:
        documents, builds, right, checked = (
            opened.enter_context(
                Cache(repository.cache_dir, f"{name}{own}", version=engine_version(), is_asked_whole=is_asked_whole)
            )
            for name, is_asked_whole in is_whole.items()
        )
        known: tuple[ParseCache, ParseCache] = (documents, builds)
        if parsed is not None:
            known = (MemoryCache(parsed, documents), MemoryCache(parsed, builds))
        build = LaterBuild(known[1], {} if builds_made is None else builds_made)
        contents = content_store(repository)
        caches = Caches(parsed=known[0], right=right, checked=checked, contents=contents)
        tools = GitOpsTools(build)
        yield SourceReading(repository.read_blobs, caches, other_tools=tools, processes=repository.processes)


def reader_of_recorded_facts(repository: Repository) -> FactsOf:
    """Return what reads the facts of a fleet as its status branch is known here."""

    def facts(fleet: Fleet) -> Facts:
        publication = publication_of(repository, fleet)
        return read_observed_inputs(repository, repository.tip(publication.ref(fleet.status_branch))).facts

    return facts


class _KeptBindings(NamedTuple):
    """Bindings that earlier passes read, which share lists of targets and placements; new ones are kept at once."""

    cache: Cache

    def get_many(self, ids: Iterable[bytes]) -> Mapping[bytes, PlainBinding]:
        found = self.cache.get_many(ids)
        texts = self.cache.get_many({text_id for _, _, text_ids in found.values() for text_id in text_ids})
        return {
            id_: PlainBinding(manifest, changes, *map(texts.__getitem__, text_ids))
            for id_, (manifest, changes, text_ids) in found.items()
            if texts.keys() >= set(text_ids)
        }

    def put_many(self, values: Mapping[bytes, PlainBinding]) -> None:
        id_by_text = {
            text: git_object_id("blob", text) for text in {text for each in values.values() for text in each[2:]}
        }
        with self.cache:
            self.cache.put_many({text_id: text for text, text_id in id_by_text.items()})
            self.cache.put_many(
                {
                    id_: (manifest, changes, tuple(map(id_by_text.__getitem__, texts)))
                    for id_, (manifest, changes, *texts) in values.items()
                }
            )


def read_previous(repository: Repository, commit: str, parsed: dict[bytes, Binding] | None = None) -> Previous:
    """Read a rendered commit as the state the next pass starts from; GitError when Argosy did not write it.

    ``parsed`` are bindings that were read of other commits, by blob id, to which those of this one are added.
    """
    info = commit_written_by_argosy(repository, commit)
    sources, versions, tools = info.trailer(SOURCE), info.trailer(VERSION), info.trailer(TOOL)
    if len(sources) != 1 or len(versions) != 1:
        raise GitError(
            f"commit {commit[:12]} on the rendered branch was not written by Argosy",
            hint="restore the branch to the last commit that has an Argosy-Source trailer"
            " (a pull request is merged by a merge commit, by rebasing or fast-forwarding, so that its trailers stay)",
        )
    tree = RenderedTree.of(info.tree, repository.read_trees, repository.read_blobs)
    cache = _KeptBindings(Cache(repository.cache_dir, "rendered-bindings", version=engine_version()))
    bindings = StoredBindings(commit, tree, repository.read_blobs, parsed=parsed, cache=cache)
    return Previous(
        commit=commit,
        source=sources[0],
        version=versions[0],
        bindings=bindings,
        tree=tree,
        tools=tools,
        branch="".join(info.trailer(BRANCH)[:1]),
        record=info.record,
    )


def read_observed_inputs(repository: Repository, commit: str | None) -> ObservedInputs:
    """Read the facts and answers that a commit of the status or the rendered branch holds; none without one."""
    if commit is None:
        return ObservedInputs()
    info = repository.commit_info(commit)
    try:
        return _observed_inputs_of_tree(repository, commit, info.tree)
    except DamagedFile as error:
        if not info.trailer(SOURCE):
            raise
        raise error.in_rendered_commit(commit) from error


def _observed_inputs_of_tree(repository: Repository, commit: str, root: bytes) -> ObservedInputs:
    folder = next((entry.id for entry in repository.read_trees([root])[root] if entry.name == b"facts"), None)
    schemas = recorded_schemas(repository, commit)
    if folder is None:
        return ObservedInputs(schemas=schemas)
    entries = repository.read_trees([folder])[folder]
    files = {_path_of_facts(entry): entry.id for entry in entries}
    answers, health, checks, pauses = (
        files.pop(kind.PATH, None) for kind in (AnswersFile, HealthFile, ChecksFile, PausesFile)
    )
    found = read_facts(repository, files)
    return ObservedInputs(
        facts={facts.name: facts for facts, _ in found.values()},
        answers=read_answers(repository.read_blobs([answers])[answers]) if answers else {},
        health=HealthFile.read(HealthFile.PATH, repository.read_blobs([health])[health]).health
        if health
        else ObservedHealth(),
        checks=ChecksFile.read(ChecksFile.PATH, repository.read_blobs([checks])[checks]).answers if checks else {},
        pauses=PausesFile.read(PausesFile.PATH, repository.read_blobs([pauses])[pauses]).controls if pauses else (),
        looks=known_looks(repository, health.hex() if health else ""),
        folder=folder,
        rendered_ids={path.removeprefix("facts/"): rendered_id for path, (_, rendered_id) in found.items()},
        schemas=schemas,
    )


def _path_of_facts(entry: TreeEntry) -> str:
    """Return the path of an entry of the folder of facts; GitError where passes write none there."""
    path = f"facts/{entry.text}"
    checked_path(path, is_file=entry.mode != TREE_MODE)
    return path
