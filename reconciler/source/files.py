"""The files of a snapshot that are read as manifests, and the reasons why others are not.

Only names, modes and sizes decide here; no file is opened. A *fleet* is the folder of its ``argosy.yaml``: another
``argosy.yaml`` further down is another fleet, and its folder is left alone.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from reconciler.locked.model import LOCK_FILE
from reconciler.locked.reading import MARKER as VENDORED_MARKER
from reconciler.locked.reading import VENDOR_FOLDER, StoredFile

from .ignoring import predicate_of_ignored_paths

FLEET_FILE = "argosy.yaml"
IGNORE_FILE = ".argosyignore"
WRITTEN_LIST = ".argosy-files"
SUFFIXES = (".yaml", ".yml", ".json")
MAX_FILE_SIZE = 8 * 1024 * 1024
FILE_MODE, SYMLINK, SUBMODULE = 0o100644, 0o120000, 0o160000
KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
"""The names of files that make a folder one that kustomize builds."""
_OTHER_NAMES = frozenset({IGNORE_FILE, LOCK_FILE, *KUSTOMIZATIONS})
_HELM = ("Chart.yaml",)
_LOGIN_NAMES = frozenset(
    {
        *("kubeconfig", "admin.conf", "super-admin.conf", "kubelet.conf"),
        *("controller-manager.conf", "scheduler.conf"),
    }
)
"""The names of kubeconfigs that say nothing of YAML, by kubectl's and kubeadm's habits."""
_LOGIN_ENDING = ".kubeconfig"


class SourceFile(StoredFile, Protocol):
    """A file of a snapshot, as far as it is known without reading it."""

    @property
    def size(self) -> int:
        """Bytes."""


class Reason(StrEnum):
    """The reason why a file or folder is not read; the text completes "not read: ..."."""

    DOT_FOLDER = "below a folder whose name begins with a dot"
    IGNORED = "ignored"
    OTHER_FLEET = "another fleet, with an argosy.yaml of its own"
    HELM = "a Helm chart that no HelmChart renders"
    KUSTOMIZE = "a kustomization, and nothing here builds those"
    UNLISTED = "in the folder of a kustomization that does not list it"
    WRITTEN = "written by argosy render --output-dir"
    VENDORED = "the content of a Source, written by argosy vendor"
    SYMLINK = "a symbolic link; links are never followed"
    SUBMODULE = "a submodule; submodules are never followed"
    LFS = "a Git LFS pointer; only what Git itself holds is read"
    NO_MANIFEST = "no document in it has apiVersion and kind"
    HALF_MANIFEST = "a document in it has apiVersion or kind, but none has both"
    NO_OBJECT = "no Kubernetes object, but the configuration of a tool"
    CREDENTIALS = "the configuration of a tool, with credentials in clear text for everyone who can read the repository"
    TEMPLATE = "a template; what stands in {{ }} is not filled in"
    YTT = "a template of ytt, which is not run: commit what it makes"
    ENCRYPTED = "encrypted as a whole by SOPS, so that nothing tells what it is"


_WRITTEN = {WRITTEN_LIST: Reason.WRITTEN, VENDORED_MARKER: Reason.VENDORED}
MARKERS = {
    Reason.OTHER_FLEET: (FLEET_FILE,),
    Reason.HELM: _HELM,
    Reason.KUSTOMIZE: KUSTOMIZATIONS,
    Reason.UNLISTED: KUSTOMIZATIONS,
    Reason.WRITTEN: (WRITTEN_LIST,),
    Reason.VENDORED: (VENDORED_MARKER,),
}
"""The names of the files that make their folder one that is not read as it stands, by the reason."""

WARNED = frozenset(
    {
        Reason.HELM,
        Reason.KUSTOMIZE,
        Reason.SYMLINK,
        Reason.SUBMODULE,
        Reason.LFS,
        Reason.HALF_MANIFEST,
        Reason.CREDENTIALS,
        Reason.TEMPLATE,
        Reason.YTT,
        Reason.ENCRYPTED,
    }
)
"""Reasons an author may not expect: the rest is left out as they asked, or holds no manifest."""


NO_OBJECTS = frozenset({Reason.NO_MANIFEST, Reason.NO_OBJECT})
"""Reasons that are counted alone: there is nothing in it that Argosy could have read."""


class Skipped(Struct, frozen=True, order=True):
    """A file, or a whole folder, that is not read."""

    path: str
    reason: Reason


class FileSelection(Struct, frozen=True, kw_only=True):
    """The files to read, those too big to read, and those left out, by path; a folder stands for all below it.

    ``kustomizations`` are the files of folders to build, ``beside`` those that stand in such folders, and ``named`` the
    folders that the fleet's paths name, if it has any. ``logins`` are kubeconfigs by name: they are looked at for
    credentials, and never for manifests.
    """

    files: tuple[SourceFile, ...]
    too_big: tuple[SourceFile, ...]
    skipped: tuple[Skipped, ...]
    kustomizations: tuple[SourceFile, ...] = ()
    beside: tuple[SourceFile, ...] = ()
    named: tuple[str, ...] = ()
    logins: tuple[SourceFile, ...] = ()

    @property
    def files_deciding_on_reading(self) -> tuple[SourceFile, ...]:
        """The files that are read, or that say what is built."""
        return (*self.files, *self.kustomizations)


def select_files(
    files: Iterable[SourceFile],
    *,
    folder: str = "",
    paths: Sequence[str] = (),
    ignore: Sequence[str] = (),
    is_building: bool = False,
) -> FileSelection:
    """Select the files of the fleet at ``folder``, a path from the root ("" is the root itself).

    ``paths`` narrows it to these files and folders (``.`` or none: all of it); ``ignore`` holds lines of gitignore
    syntax; both are relative to it. A folder left out is listed once, and only if it holds a file that would be read.
    ``is_building``: folders with a kustomization are built, so that they are not left out.
    """
    base = f"{folder}/" if folder else ""
    below = [file for file in sorted(files, key=lambda file: file.path) if file.path.startswith(base)]
    roots = _folders_to_read(base, paths)
    refused = _Refusals(base, ignore, _reasons_by_left_out_folder(below, base, is_building=is_building))
    chosen: list[SourceFile] = []
    skipped: set[Skipped] = set()
    within = [file for file in below if _is_below_any(file.path, roots)]
    for file in (each for each in within if _may_be_expected_to_be_read(each, is_building=is_building)):
        left_out = refused.of(file)
        if left_out is None:
            chosen.append(file)
        else:
            skipped.add(left_out)
    readable = [file for file in chosen if file.size <= MAX_FILE_SIZE]
    building = [file for file in readable if is_building and _file_name(file) in KUSTOMIZATIONS]
    inside = _predicate_of_paths_below({file.path.rpartition("/")[0] for file in building} - {folder})
    plain = [file for file in readable if not is_building or _file_name(file) not in KUSTOMIZATIONS]
    return FileSelection(
        files=tuple(file for file in plain if not inside(file.path)),
        too_big=tuple(file for file in chosen if file.size > MAX_FILE_SIZE),
        skipped=tuple(sorted(skipped)),
        kustomizations=tuple(building),
        beside=tuple(file for file in plain if inside(file.path)),
        named=_folders_named_one_by_one(base, paths),
        logins=tuple(file for file in within if _is_kubeconfig_by_name(file) and refused.of(file) is None),
    )


def _is_kubeconfig_by_name(file: SourceFile) -> bool:
    """Say whether a file is a kubeconfig by its name alone."""
    is_plain = file.mode not in {SYMLINK, SUBMODULE} and file.size <= MAX_FILE_SIZE
    return is_plain and _has_login_name(file.path)


def _has_login_name(path: str) -> bool:
    return path.rpartition("/")[2] in _LOGIN_NAMES or path.endswith(_LOGIN_ENDING)


def _file_name(file: SourceFile) -> str:
    return file.path.rpartition("/")[2]


def _predicate_of_paths_below(folders: Collection[str]) -> Callable[[str], bool]:
    """Return what says whether a file stands below one of these folders, however deep."""
    known = dict.fromkeys(folders, True)

    def is_below(path: str) -> bool:
        unknown, above = [], path.rpartition("/")[0]
        while above and above not in known:
            unknown.append(above)
            above = above.rpartition("/")[0]
        verdict = known.get(above, False)
        known.update(dict.fromkeys(unknown, verdict))
        return verdict

    return is_below


def may_start_build(path: str) -> bool:
    """Say whether a file of a kustomization, a chart or locked content tells that builds read files of any name."""
    return path.rpartition("/")[2] in {*KUSTOMIZATIONS, *_HELM, LOCK_FILE}


def may_be_read(path: str, size: int) -> bool:
    """Say whether the content of a file may be asked for at all, whatever else decides."""
    if f"/{VENDOR_FOLDER}/" in f"/{path}":
        return size <= MAX_FILE_SIZE
    name = path.rpartition("/")[2]
    return size <= MAX_FILE_SIZE and (path.endswith(SUFFIXES) or name in _OTHER_NAMES)


def may_be_looked_at(path: str, size: int) -> bool:
    """Say whether the content of a file may be asked for, for manifests or for credentials alone."""
    return may_be_read(path, size) or (size <= MAX_FILE_SIZE and _has_login_name(path))


def _may_be_expected_to_be_read(file: SourceFile, *, is_building: bool) -> bool:
    """Say whether a user may expect this entry to be read: by its suffix, or as a link that may be a folder."""
    name = file.path.rpartition("/")[2]
    if file.mode == SUBMODULE or (is_building and name in KUSTOMIZATIONS):
        return True
    return name.endswith(SUFFIXES) or (file.mode == SYMLINK and "." not in name)


def _folders_to_read(base: str, paths: Sequence[str]) -> tuple[str, ...]:
    inner = tuple(path.removeprefix("./").strip("/") for path in paths)
    return () if "." in inner else tuple(base + path for path in inner)


def _folders_named_one_by_one(base: str, paths: Sequence[str]) -> tuple[str, ...]:
    """Return the folders that paths name one by one, beside all of the fleet's where they name that, too."""
    return _folders_to_read(base, [path for path in paths if path.removeprefix("./").strip("/") not in {".", ""}])


def _is_below_any(path: str, roots: Collection[str]) -> bool:
    return not roots or any(path == root or path.startswith(f"{root}/") for root in roots)


def _reasons_by_left_out_folder(files: Iterable[SourceFile], base: str, *, is_building: bool) -> dict[str, Reason]:
    """Return the folders whose content is not ours to read, by the file that marks them."""
    marks: dict[str, Reason] = {}
    for file in files:
        parent, _, name = file.path.rpartition("/")
        if name == FLEET_FILE and f"{parent}/" != base and parent:
            marks[parent] = Reason.OTHER_FLEET
        elif f"{parent}/" == base or not parent:
            continue  # at the root of a fleet neither a chart nor a kustomization hides all that is below
        elif name in _HELM:
            marks.setdefault(parent, Reason.HELM)
        elif name in KUSTOMIZATIONS and not is_building:
            marks.setdefault(parent, Reason.KUSTOMIZE)
        elif name in _WRITTEN:
            marks.setdefault(parent, _WRITTEN[name])
    return marks


class _Refusals:
    """The reasons why files are left out; each folder is judged once."""

    def __init__(self, base: str, ignore: Sequence[str], marks: Mapping[str, Reason]) -> None:
        self._base = base
        self._ignores = predicate_of_ignored_paths(ignore)
        self._marks = marks
        self._by_folder: dict[str, Skipped | None] = {}

    def of(self, file: SourceFile) -> Skipped | None:
        """Return the entry that leaves this file out: itself, or the outermost folder above it."""
        parent = file.path.rpartition("/")[0]
        left_out = self._entry_of_skipped_folder(parent)
        if left_out is not None:
            return left_out
        reason = self._reason_to_leave_out(file)
        return Skipped(file.path, reason) if reason else None

    def _reason_to_leave_out(self, file: SourceFile) -> Reason | None:
        if self._ignores(file.path[len(self._base) :]):
            return Reason.IGNORED
        if file.mode == SYMLINK:
            return Reason.SYMLINK
        return Reason.SUBMODULE if file.mode == SUBMODULE else None

    def _entry_of_skipped_folder(self, folder: str) -> Skipped | None:
        # One after the other from the outermost on: folders of a commit may be nested more deeply than calls may be.
        unknown, above = [], folder
        while above not in self._by_folder:
            unknown.append(above)
            if not above:
                break
            above = above.rpartition("/")[0]
        for each in reversed(unknown):
            self._by_folder[each] = self._entry_if_folder_skipped(each)
        return self._by_folder[folder]

    def _entry_if_folder_skipped(self, folder: str) -> Skipped | None:
        inner = folder[len(self._base) :]
        if inner:
            above = self._by_folder[folder.rpartition("/")[0]]
            if above is not None:
                return above
            if folder.rpartition("/")[2].startswith("."):
                return Skipped(folder, Reason.DOT_FOLDER)
            if self._ignores(f"{inner}/"):
                return Skipped(folder, Reason.IGNORED)
        reason = self._marks.get(folder)
        return Skipped(folder or ".", reason) if reason else None
