"""Folders that objects of other tools deploy, built with what these objects add to the kustomization of a folder.

The addition is made as the tool makes it: the kustomization is written anew, in the private copy alone. A folder
without one gets one that lists its manifests.
"""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.source.broken import CIPHERTEXT, Broken
from reconciler.source.built_files import Origin
from reconciler.source.files import FILE_MODE, KUSTOMIZATIONS, SourceFile
from reconciler.source.lines import Lines
from reconciler.source.manifests import FieldProblem, LocatedManifest, ParseCache
from reconciler.source.uncommitted import UncommittedFile
from render.documents import document_texts, emit, read_documents
from render.errors import Problem
from render.gitobjects import git_object_id

from .budget import BuildBudget
from .builds import MISSING, BuildOutcome, Builds, KnownOutcomes
from .closures import Closure, bounded_closure
from .remote import kustomizations_with_locked_content
from .requests import BuiltFolder, FolderRequest
from .source_trees import LockedTrees, SourceTree
from .tree import Kustomizations, StandIn, is_readable_by_builds

INSTALL = "install kustomize and put it on PATH (https://kubectl.docs.kubernetes.io/installation/kustomize), or kubectl"

_HEAD = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
_SCANNED = (".yaml", ".yml")
_BY_NAME = frozenset({"images", "replicas"})
"""Lists of which an item takes the place of another one of the same name."""


class _UneditableError(Exception):
    """The kustomization of a folder cannot be written anew."""


class _Prepared(Struct, frozen=True, kw_only=True):
    """A request whose closure is found."""

    request: FolderRequest
    closure: Closure

    @property
    def inputs(self) -> frozenset[tuple[str, bytes]]:
        """The files of the repository that are read, with those that something else was written for."""
        return frozenset(self.request.tree.inputs_at(self.closure.inputs))

    @property
    def claimed_paths(self) -> frozenset[str]:
        """The paths of these files, without those that only say which content the tree has."""
        found = frozenset(self.request.tree.inputs_at(self.closure.claimed_files))
        return frozenset(path for path, _ in found - set(self.request.tree.inputs))


class FolderBuilds(Struct, kw_only=True):
    """The builds of folders; ``path`` is where the tool is looked for, ``budget`` what all of them may take.

    ``known_outcomes`` are those of builds that this process has made.
    """

    path: str
    locked: LockedTrees
    cache: ParseCache | None = None
    budget: BuildBudget = field(default_factory=BuildBudget)
    known_outcomes: KnownOutcomes = field(default_factory=dict)
    _known: dict[str, Kustomizations] = field(default_factory=dict)

    def outcomes(self, requests: Sequence[FolderRequest]) -> list[BuiltFolder]:
        """Return the outcome of each request, in order."""
        prepared = [self._prepare_folder(request) for request in requests]
        wanted = [each for each in prepared if isinstance(each, _Prepared) and each.closure.refusal is None]
        builds = Builds(path=self.path, cache=self.cache, budget=self.budget, known=self.known_outcomes)
        made = builds.outcomes([each.closure for each in wanted])
        built = dict(zip(map(id, wanted), made, strict=True))
        return [
            each if isinstance(each, BuiltFolder) else _built_folder_of(each, built.get(id(each))) for each in prepared
        ]

    def _prepare_folder(self, request: FolderRequest) -> "_Prepared | BuiltFolder":
        tree, folder = request.tree, request.folder
        known = self._kustomizations(tree, folder)
        found = known.kustomizations_at(folder) if folder in known.folders else []
        base = f"{folder}/" if folder else ""
        if not found and not any(file.path.startswith(base) for file in tree.files):
            where = f" in {tree.name}" if tree.name else ""
            return BuiltFolder(complaint=f"there is no folder {folder or '.'!r}{where}")
        if request.resources is not None:
            return _built_folder_of_plain_files(tree, [f"{base}{each}" for each in request.resources])
        if found and not request.additions:
            closure = replace(self._closure_of_folder(known, folder), is_printed=request.is_printed)
            return _Prepared(request=request, closure=closure)
        try:
            document = (
                _kustomization_document(found[0][0], known) if found else _kustomization_listing_manifests(request)
            )
        except _UneditableError as error:
            return BuiltFolder(complaint=str(error))
        edited = _document_with_additions(document, request.additions)
        content = emit(edited)
        path = found[0][0].path if found else f"{base}{KUSTOMIZATIONS[0]}"
        file = UncommittedFile(path, FILE_MODE, git_object_id("blob", content), len(content))
        before = StandIn(tuple((each.path, each.id) for each, _ in found), path)
        stand_in = known.stand_ins.get(path) or before
        own = known.copy()
        own.edit(file, edited, content, stand_in)
        closure = self._closure_of_folder(kustomizations_with_locked_content(own, self.locked, [folder]), folder)
        return _Prepared(request=request, closure=replace(closure, is_printed=request.is_printed))

    def _closure_of_folder(self, known: Kustomizations, folder: str) -> Closure:
        return bounded_closure(known, folder, self.budget.takes_files)

    def _kustomizations(self, tree: SourceTree, folder: str) -> Kustomizations:
        """Return the kustomizations of a tree, with what the one of a folder needs of other repositories."""
        known = self._known.get(tree.name) or Kustomizations.of(tree.files, tree.read, self.cache)
        self._known[tree.name] = (
            kustomizations_with_locked_content(known, self.locked, [folder]) if known.has_remote_bases else known
        )
        return self._known[tree.name]


def _built_folder_of(each: _Prepared, built: BuildOutcome | None) -> BuiltFolder:
    tree, inputs, claimed = each.request.tree, tuple(sorted(each.inputs)), each.claimed_paths
    if built is None:
        return BuiltFolder(broken=_broken_by_refused_folder(each), claimed=claimed, inputs=inputs)
    folder = each.request.folder or "."
    if built.complaint and not built.tool:
        message = f"{MISSING}, so {folder} cannot be built"
        return BuiltFolder(complaint=message, hint=INSTALL, claimed=claimed, inputs=inputs, tool="kustomize")
    if built.complaint:
        name = built.tool.partition(" ")[0] if built.is_bounded else built.tool
        message = f"{built.tool} cannot build {folder}: {built.complaint}"
        return BuiltFolder(complaint=message, claimed=claimed, inputs=inputs, tool=name)
    origins = tuple(tree.origin(origin) for origin in built.origins)
    left_out = tuple(replace(broken, files=inputs) for broken in objects_left_out_of_build(built))
    return BuiltFolder(
        output=built.output, origins=origins, claimed=claimed, inputs=inputs, tool=built.tool, left_out=left_out
    )


def objects_left_out_of_build(built: BuildOutcome) -> Iterator[Broken]:
    """Yield the objects of a build that cannot be delivered."""
    for origin, message, hint in built.left_out:
        problem = Problem(origin.path, origin.line, "", message, hint, CIPHERTEXT)
        yield Broken(
            problem=problem, files=built.closure.inputs, makes=built.closure.shown_path(built.closure.kustomizations[0])
        )


def _built_folder_of_plain_files(tree: SourceTree, paths: Sequence[str]) -> BuiltFolder:
    """Return manifests as they stand in files."""
    files = [file for file in tree.files if file.path in set(paths) and is_readable_by_builds(file)]
    contents, texts, origins = tree.read({file.id for file in files}), [], []
    for file in files:
        data = contents[file.id]
        documents, errors = read_documents(data)
        if errors:
            inputs = tuple(tree.inputs_at([(file.path, file.id)]))
            origin = tree.origin(Origin(file.path, errors[0].line))
            problem = Problem(origin.path, origin.line, "", errors[0].message, errors[0].hint)
            return BuiltFolder(broken=Broken(problem=problem, files=inputs), inputs=inputs)
        for document, text in zip(documents, document_texts(data), strict=True):
            texts.append(b"---\n" + text.strip(b"\n").removeprefix(b"---\n") + b"\n")
            origins.append(tree.origin(Origin(file.path, document.line)))
    inputs = tuple(sorted(tree.inputs_at((file.path, file.id) for file in files)))
    claimed = frozenset(path for path, _ in {*inputs} - {*tree.inputs})
    return BuiltFolder(output=b"".join(texts), origins=tuple(origins), claimed=claimed, inputs=inputs)


def broken_by_refusal(closure: Closure) -> Broken:
    """Return a build that may not be run; what was written for it has no lines."""
    assert closure.refusal is not None
    file, problem = closure.refusal
    found = Lines(closure.read).located_problem(FieldProblem(LocatedManifest(None, file, 0, 0), problem))
    is_written = file.path in closure.stand_ins and closure.shown_path(file.path) == file.path
    line = 0 if is_written else problem.line or found.line
    problem = replace(found, path=closure.shown_path(file.path), line=line)
    makes = closure.shown_path(closure.kustomizations[0]) if closure.kustomizations else problem.path
    return Broken(problem=problem, files=closure.inputs, makes=makes)


def _broken_by_refused_folder(each: _Prepared) -> Broken:
    """Return a refused build, at the file in the repository if it stands there."""
    found = broken_by_refusal(each.closure)
    origin = each.request.tree.origin(Origin(found.problem.path, found.problem.line))
    problem = replace(found.problem, path=origin.path)
    return Broken(problem=problem, files=tuple(sorted(each.inputs)))


def _kustomization_document(file: SourceFile, known: Kustomizations) -> dict[str, Any]:
    """Return the kustomization of a folder, which something is added to."""
    documents, errors = read_documents(known.read([file.id])[file.id])
    value = documents[0].value if documents else {}
    if errors or not isinstance(value, dict):
        raise _UneditableError(f"{file.path} is no YAML object, so that nothing can be added to it")
    return {**_HEAD, **value}


def _kustomization_listing_manifests(request: FolderRequest) -> dict[str, Any]:
    """Return a kustomization that lists the manifests of a folder which has none."""
    return {**_HEAD, "resources": list(_files_below(request.tree, request.folder))}


def _files_below(tree: SourceTree, folder: str) -> Iterator[str]:
    """Yield the YAML files below a folder, and folders with a kustomization instead of what is in them."""
    base = f"{folder}/" if folder else ""
    inner = sorted(
        file.path.removeprefix(base)
        for file in tree.files
        if file.path.startswith(base) and is_readable_by_builds(file)
    )
    built = {posixpath.dirname(path) for path in inner if posixpath.basename(path) in KUSTOMIZATIONS}
    yield from sorted(each for each in built if not any(each.startswith(f"{above}/") for above in built))
    for path in inner:
        is_inside = any(path.startswith(f"{each}/") for each in built)
        if path.endswith(_SCANNED) and not is_inside and not posixpath.basename(path).startswith(".sops."):
            yield path


def _document_with_additions(document: Mapping[str, Any], additions: Mapping[str, Any]) -> dict[str, Any]:
    """Return a kustomization with additions: lists grow, objects are merged, anything else is replaced."""
    merged = dict(document)
    for key, value in additions.items():
        before = merged.get(key)
        if isinstance(value, list) and isinstance(before, list):
            names = {each.get("name") for each in value if isinstance(each, dict)} if key in _BY_NAME else set()
            kept = [each for each in before if not (isinstance(each, dict) and each.get("name") in names)]
            merged[key] = [*kept, *value]
        elif isinstance(value, dict) and isinstance(before, dict):
            merged[key] = {**before, **value}
        else:
            merged[key] = value
    return merged
