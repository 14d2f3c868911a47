"""Folders that objects of other tools deploy, built round after round until nothing changes any more.

What a folder makes may be objects that deploy further folders, changed by patches on the way, or ConfigMaps with
variables for others. So every round reads the objects as the last one left them. An object that stands in a file which
another one deploys is read as that one makes it.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.building.requests import BuiltFolder, FolderRequest, UnusableRequest
from reconciler.building.source_trees import LockedTrees
from reconciler.gitops.argo.application_sets import APPLICATION_SET
from reconciler.gitops.charts.classes import record_of_deciding_rules
from reconciler.gitops.flux.after_build import (
    Finished,
    LeftOut,
    Settings,
    Variables,
    objects_finished_by_flux,
    variables_of,
)
from reconciler.gitops.flux.kustomizations import KUSTOMIZATION
from reconciler.locked.model import ExternalSource
from reconciler.source.broken import Broken
from reconciler.source.built_files import BuiltFile, BuiltVariant, Origin, is_made_by_chart, source_files_behind
from reconciler.source.files import SourceFile
from reconciler.source.lines import Lines
from reconciler.source.manifests import FieldProblem, LocatedManifest, ParseCache, load_manifests
from reconciler.source.provenance import name_of_builder
from reconciler.source.reading import BuiltSource
from render.documents import emit
from render.errors import Problem
from render.gitobjects import git_object_id
from render.model import ObjectRef
from render.values import DiscreetStruct
from render.words import first_few

from .readers import KINDS, FolderSources, Readers

_MOST_ROUNDS = 12
_MOST_DEPLOYERS = 2_000
"""Objects that deploy folders; there may be any number of others."""
_SET = str(APPLICATION_SET.name)
_FREE_BITS = 20
"""Bits of the numbers of manifests that are built for one object."""

Asked = tuple[ObjectRef, int]
"""An object that deploys folders, and which of them is meant."""
BuildFolders = Callable[[Sequence[FolderRequest], LockedTrees], Sequence[BuiltFolder]]
"""Build folders, and return the outcome of each."""


class DeployedFolder(DiscreetStruct, frozen=True, kw_only=True):
    """The outcome of one object: the file with what its folder makes, and what is wrong with the rest.

    ``sealed`` are objects in it that SOPS encrypted: only what they are called is read.
    """

    UNSHOWN = ("output",)

    file: BuiltFile | None = None
    output: bytes = b""
    places: tuple[LocatedManifest, ...] = ()
    sealed: tuple[LocatedManifest, ...] = ()
    claimed: frozenset[str] = frozenset()
    broken: tuple[Broken, ...] = ()


class _Deployment(Struct, frozen=True, kw_only=True):
    """A folder that was deployed in an earlier round, and all that it was made of."""

    request: FolderRequest
    variables: Variables | None
    folder: DeployedFolder

    def is_made_of(self, request: FolderRequest, variables: Variables | None) -> bool:
        """Say whether it would be the same again: what it makes is long to read, and few rounds change any of it."""
        mine = self.request
        return mine.place is request.place and (self.variables, *_what_is_asked(mine)) == (
            variables,
            *_what_is_asked(request),
        )


def _what_is_asked(request: FolderRequest) -> tuple[Any, ...]:
    return request.key, request.namespace, request.destination, request.field


class Rounds(Struct):
    """The rounds over one snapshot; every folder is built once for the same request."""

    readers: Readers
    build: BuildFolders
    cache: ParseCache | None = None
    _built: dict[bytes, BuiltFolder] = field(default_factory=dict)
    _deployments: dict[Asked, _Deployment] = field(default_factory=dict)
    _implied: tuple[ExternalSource, ...] = ()
    _implied_in_builds: dict[str, ExternalSource] = field(default_factory=dict)

    @property
    def default_namespace(self) -> str:
        """The namespace of objects that name none."""
        return self.readers.home.fleet.default_namespace

    def source_after_last_round(
        self, entries: Sequence[LocatedManifest], sealed: Sequence[LocatedManifest] = ()
    ) -> BuiltSource:
        """Return what is deployed in the end, from the objects that stand in files of the fleet.

        ``sealed`` are those that SOPS encrypted, of which nothing is made.
        """
        first = {ObjectRef.of(each.manifest): each for each in reversed(entries) if self.readers.reads(each)}
        known, outcomes = first, dict[Asked, DeployedFolder]()
        for _ in range(_MOST_ROUNDS):
            before = [place for each in outcomes.values() for place in each.places]
            hidden = [*sealed, *(place for each in outcomes.values() for place in each.sealed)]
            settings = _config_maps_and_secrets([*entries, *before, *hidden], self.default_namespace)
            outcomes = self._deployed_folders_by_request(
                known, settings, self.readers.sources(entries, [*entries, *before])
            )
            after = _objects_after_round(first, outcomes, self.readers)
            if len(after) > _MOST_DEPLOYERS:
                break
            made = [place.manifest for each in outcomes.values() for place in each.places]
            if _are_rounds_equal(after, known) and made == [place.manifest for place in before]:
                return self._source_with_deployed_folders(known, outcomes)
            known = after
        unusable = self._source_with_deployed_folders(known, outcomes)
        return replace(
            unusable, files=(), contents={}, claimed=frozenset(), broken=tuple(self._broken_endless_folders(known))
        )

    def _deployed_folders_by_request(
        self,
        known: Mapping[ObjectRef, LocatedManifest],
        settings: Settings,
        sources: FolderSources,
    ) -> dict[Asked, DeployedFolder]:
        requests: dict[Asked, FolderRequest] = {}
        outcomes: dict[Asked, DeployedFolder] = {}
        for ref, place in sorted(known.items()):
            try:
                if APPLICATION_SET.is_of(place.manifest):
                    outcomes[ref, 0] = self._generated_applications((ref, 0), place, sources)
                else:
                    requests |= {(ref, number): each for number, each in enumerate(sources.requests(place))}
            except UnusableRequest as error:
                outcomes[ref, 0] = DeployedFolder(broken=(self._broken_unusable_request(place, error),))
        fresh = {each.key: each for each in requests.values() if each.key not in self._built}
        self._build_new_requests(fresh, sources.locked)
        made: set[ObjectRef] = set()
        for asked, request in requests.items():
            if len(made) > _MOST_DEPLOYERS:
                break
            try:
                outcomes[asked] = self._deployed_folder_of_request(asked, request, settings)
                made |= {ObjectRef.of(each.manifest) for each in outcomes[asked].places if self.readers.reads(each)}
            except UnusableRequest as error:
                claimed = self._built[request.key].claimed
                outcomes[asked] = DeployedFolder(
                    broken=(self._broken_unusable_request(request.place, error),), claimed=claimed
                )
        return dict(sorted(outcomes.items()))

    def _build_new_requests(self, fresh: Mapping[bytes, FolderRequest], trees: LockedTrees) -> None:
        """Build folders, and note the Sources that objects imply, and those that kustomizations did when they were."""
        asked = trees.locked.implied_sources if trees.locked else ()
        self._built.update(zip(fresh, self.build(list(fresh.values()), trees), strict=True))
        every = trees.locked.implied_sources if trees.locked else ()
        self._implied_in_builds |= {each.name: each for each in every if each not in asked}
        self._implied = tuple({each.name: each for each in (*asked, *self._implied_in_builds.values())}.values())

    def _deployed_folder_of_request(self, asked: Asked, request: FolderRequest, settings: Settings) -> DeployedFolder:
        built, place = self._built[request.key], request.place
        inputs = {*built.inputs, *source_files_behind(place.file)}
        if built.broken is not None:
            return DeployedFolder(
                broken=(replace(built.broken, makes=_path_of_object_file(place)),), claimed=built.claimed
            )
        if built.complaint:
            fault = place.problem(request.field, built.complaint, hint=built.hint)
            return DeployedFolder(broken=(self._broken_folder(fault, inputs, built.tool),), claimed=built.claimed)
        is_of_flux = KUSTOMIZATION.is_of(place.manifest)
        variables = variables_of(place, settings, self.default_namespace) if is_of_flux else None
        before = self._deployments.get(asked)
        if before is not None and before.is_made_of(request, variables):
            return before.folder
        done = objects_finished_by_flux(place, built, variables) if is_of_flux else built
        folder = self._folder_with_objects(asked, request, done)
        self._deployments[asked] = _Deployment(request=request, variables=variables, folder=folder)
        return folder

    def _folder_with_objects(
        self, asked: Asked, request: FolderRequest, done: BuiltFolder | Finished
    ) -> DeployedFolder:
        """Return the objects of a folder, read from what it makes."""
        built, place = self._built[request.key], request.place
        inputs = {*built.inputs, *source_files_behind(place.file), *done.inputs}
        file = BuiltFile(
            path=_path_of_object_file(place),
            id=git_object_id("blob", done.output),
            size=len(done.output),
            inputs=tuple(sorted(inputs)),
            origins=done.origins,
            first=_number_of_first_manifest(asked),
            namespace=request.namespace,
            destination=_variant_of_destination(request),
            maker=name_of_builder(place, self.default_namespace) if is_made_by_chart(place.file) else "",
        )
        found = load_manifests([file], read=lambda _: {file.id: done.output}, cache=self.cache)
        left_out = done.left_out if isinstance(done, Finished) else ()
        broken = tuple(replace(each, makes=_path_of_object_file(place)) for each in built.left_out)
        broken += tuple(self._broken_left_out(place, each, inputs) for each in left_out)
        return DeployedFolder(
            file=file,
            output=done.output,
            places=found.manifests,
            sealed=found.sealed,
            claimed=built.claimed,
            broken=broken,
        )

    def _generated_applications(self, asked: Asked, place: LocatedManifest, sources: FolderSources) -> DeployedFolder:
        """Return the Applications of an ApplicationSet, which are read like those that stand in files."""
        made, inputs = sources.applications(place)
        output = b"".join(b"---\n" + emit(each) for each in made)
        origin = Origin(_path_of_object_file(place), Lines(self.readers.repository.read).line_of(place))
        file = BuiltFile(
            path=_path_of_object_file(place),
            id=git_object_id("blob", output),
            size=len(output),
            inputs=tuple(sorted({*inputs, *source_files_behind(place.file)})),
            origins=(origin,) * len(made),
            first=_number_of_first_manifest(asked),
            maker=f"{_SET} {place.manifest['metadata']['name']}",
        )
        places = load_manifests([file], read=lambda _: {file.id: output}, cache=self.cache).manifests
        return DeployedFolder(file=file, output=output, places=places)

    def _broken_unusable_request(self, place: LocatedManifest, error: UnusableRequest) -> Broken:
        is_made = isinstance(place.file, BuiltFile) and place.file.maker.startswith(_SET)
        name = f"Application {place.manifest['metadata']['name']}: " if is_made else ""
        found = place.problem(error.path, f"{name}{error.message}", hint=error.hint, kind=error.kind)
        return self._broken_folder(found, source_files_behind(place.file))

    def _broken_left_out(self, place: LocatedManifest, each: LeftOut, inputs: Iterable[tuple[str, bytes]]) -> Broken:
        name = place.manifest["metadata"]["name"]
        message = f"{each.name} is not made by {place.manifest['kind']} {name}: {each.reason}"
        problem = Problem(each.origin.path, each.origin.line, "", message, each.hint, each.kind)
        return Broken(problem=problem, files=tuple(sorted(inputs)), makes=_path_of_object_file(place))

    def _broken_folder(self, found: FieldProblem, inputs: Iterable[tuple[str, bytes]], tool: str = "") -> Broken:
        problem = Lines(self.readers.repository.read).located_problem(found)
        return Broken(problem=problem, files=tuple(sorted(inputs)), tool=tool, makes=_path_of_object_file(found.place))

    def _broken_endless_folders(self, known: Mapping[ObjectRef, LocatedManifest]) -> Iterator[Broken]:
        place = known[min(known)]
        message = (
            f"more than {_MOST_DEPLOYERS} objects deploy folders, or they still change after {_MOST_ROUNDS} rounds:"
            " objects deploy each other in a circle"
        )
        yield self._broken_folder(place.problem("", message), source_files_behind(place.file))

    def _source_with_deployed_folders(
        self, known: Mapping[ObjectRef, LocatedManifest], outcomes: Mapping[Asked, DeployedFolder]
    ) -> BuiltSource:
        made = [(each.file, each.output) for each in outcomes.values() if each.file is not None]
        return BuiltSource(
            files=tuple(file for file, _ in made),
            contents={file.id: output for file, output in made},
            claimed=frozenset().union(*(each.claimed for each in outcomes.values())),
            broken=tuple(broken for each in outcomes.values() for broken in each.broken),
            warnings=(
                *_warnings_of_unread_fields([place for _, place in sorted(known.items())]),
                *_warnings_of_idle_application_sets(known, outcomes),
            ),
            tools=tuple(sorted({each.tool for each in self._built.values() if each.output and each.tool})),
            implied=self._implied,
        )


def _objects_after_round(
    first: Mapping[ObjectRef, LocatedManifest],
    outcomes: Mapping[Asked, DeployedFolder],
    readers: Readers,
) -> dict[ObjectRef, LocatedManifest]:
    """Return the objects that deploy folders as a round leaves them: as another one makes them, or as they stand."""
    made: dict[ObjectRef, dict[ObjectRef, LocatedManifest]] = {}
    for (maker, _), outcome in outcomes.items():
        for place in outcome.places:
            if readers.reads(place):
                made.setdefault(ObjectRef.of(place.manifest), {}).setdefault(maker, place)
    after = {ref: by[each] for ref, by in made.items() for each in reversed(by) if each != ref}
    for ref, place in first.items():
        is_taken = any(maker != ref and place.file.path in each.claimed for (maker, _), each in outcomes.items())
        if ref not in after and (is_made_by_chart(place.file) or not is_taken):
            own = made.get(ref, {}).get(ref)
            after[ref] = place._replace(manifest=own.manifest) if own else place
    return after


def _are_rounds_equal(one: Mapping[ObjectRef, LocatedManifest], other: Mapping[ObjectRef, LocatedManifest]) -> bool:
    return one.keys() == other.keys() and all(one[ref].manifest == other[ref].manifest for ref in one)


def _variant_of_destination(request: FolderRequest) -> BuiltVariant | None:
    if request.destination is None:
        return None
    return BuiltVariant(
        request.destination, record_of_deciding_rules(request.place.manifest, request.place, ("spec.destination",))
    )


def _number_of_first_manifest(asked: Asked) -> int:
    """Return the number of the first manifest of a folder; it stays, whatever stands beside it."""
    ref, number = asked
    digest = hashlib.sha256(f"{ref} {number}".encode()).digest()
    return (1 + int.from_bytes(digest[:4])) << _FREE_BITS


def _path_of_object_file(place: LocatedManifest) -> str:
    """Return the path of the file that an object stands in, or was made from."""
    if isinstance(place.file, BuiltFile) and not is_made_by_chart(place.file):
        return place.file.origin_of(place.position).path
    return place.file.path


def _config_maps_and_secrets(
    manifests: Iterable[LocatedManifest], default_namespace: str
) -> dict[tuple[str, str, str], LocatedManifest]:
    """Return the ConfigMaps and Secrets among manifests; of two, the later one counts."""
    found: dict[tuple[str, str, str], LocatedManifest] = {}
    for place in manifests:
        metadata: Any = place.manifest.get("metadata")
        if place.manifest["kind"] in {"ConfigMap", "Secret"} and isinstance(metadata, dict):
            namespace = str(metadata.get("namespace") or default_namespace)
            found[place.manifest["kind"], namespace, str(metadata.get("name"))] = place
    return found


def _warnings_of_unread_fields(places: Iterable[LocatedManifest]) -> Iterator[FieldProblem]:
    """Yield one warning for each field that is not read, whatever the number of objects that set it."""
    by_field: dict[tuple[str, str], list[LocatedManifest]] = {}
    for place in places:
        fields = (kind.ignored_fields(place.manifest["spec"]) for kind in KINDS if kind.is_of(place.manifest))
        for name, reason in chain.from_iterable(fields):
            by_field.setdefault((name, reason), []).append(place)
    for (name, reason), found in by_field.items():
        names = first_few([str(each.manifest["metadata"]["name"]) for each in found])
        yield found[0].problem(name, f"not read, for {names}: {reason}")


def _warnings_of_idle_application_sets(
    known: Mapping[ObjectRef, LocatedManifest], outcomes: Mapping[Asked, DeployedFolder]
) -> Iterator[FieldProblem]:
    """Yield one warning for all ApplicationSets whose generators find nothing, for nothing else would tell of them."""
    found = [
        place
        for ref, place in sorted(known.items())
        if APPLICATION_SET.is_of(place.manifest)
        and (ref, 0) in outcomes
        and not (outcomes[ref, 0].places or outcomes[ref, 0].broken)
    ]
    if found:
        names = first_few([str(each.manifest["metadata"]["name"]) for each in found])
        hint = "of clusters, they find the Clusters of the source, by their labels"
        yield found[0].problem(
            "spec.generators", f"find nothing, so that no Application is made, for {names}", hint=hint
        )


def plain_files(files: Iterable[SourceFile], claimed: Collection[str]) -> list[SourceFile]:
    """Return the files that no folder is built from."""
    return [file for file in files if file.path not in claimed]
