"""The uses that a repository makes of its folders: what its README has people apply, and where policies stand."""

from collections.abc import Collection, Iterable

from render.expressions import lazy_expression

from .files import SourceFile
from .manifests import LocatedManifest, ReadBlobs
from .variant_folders import FolderUses

_NAMES = frozenset({"readme", "readme.md", "readme.rst", "readme.txt", "readme.adoc"})
_MOST_BYTES = 1 << 20
_APPLIED = lazy_expression(r"(?:^|\s)(?:-f|-k|--filename|--kustomize)[ =]+['\"]?([^\s'\"`<>]+)")
_COMMAND = lazy_expression(r"\b(?:apply|create)\b")


def uses_of_folders(
    files: Iterable[SourceFile], folder: str, read: ReadBlobs, karmada: Iterable[tuple[str, LocatedManifest]]
) -> FolderUses:
    """Return the uses that the fleet of a folder makes of folders; ``karmada`` are the objects of Karmada's kinds."""
    policies = (place for _, place in karmada if place.manifest["kind"].endswith("PropagationPolicy"))
    return FolderUses(
        applied=paths_applied_by_readme(files, folder, read),
        of_policies={place.file.path.rpartition("/")[0] for place in policies},
    )


def paths_applied_by_readme(files: Iterable[SourceFile], folder: str, read: ReadBlobs) -> frozenset[str]:
    """Return the folders and files below a folder that its README names to kubectl."""
    paths = {file.path: file for file in files if file.path.startswith(f"{folder}/" if folder else "")}
    beside = len(folder) + 1 if folder else 0
    readmes = (file for path, file in paths.items() if path[beside:].lower() in _NAMES and file.size <= _MOST_BYTES)
    # A work tree has no id for a file that nothing reads as a manifest and that its index does not vouch for.
    texts = [file.id for file in readmes if file.id]
    contents = read(texts) if texts else {}
    known = {each for path in paths for each in _path_and_folders(path[beside:])}
    decoded = "\n".join(contents[text].decode("utf-8", "replace") for text in texts)
    found = paths_named_to_kubectl(decoded, known)
    return frozenset(f"{folder}/{each}" if folder else each for each in found)


def paths_named_to_kubectl(text: str, known: Collection[str]) -> frozenset[str]:
    r"""Return those of the known paths that a text has people apply, also by the address of one.

    >>> text = "kubectl apply -f ./web/ \\\n -f https://a.example/v1/db/all.yaml"
    >>> sorted(paths_named_to_kubectl(text, {"web", "db/all.yaml"}))
    ['db/all.yaml', 'web']
    """
    found = set()
    for line in text.replace("\\\n", " ").splitlines():
        if _COMMAND.search(line):
            for named in _APPLIED.findall(line):
                path = named.removeprefix("./").rstrip("/.,;)")
                while path not in known and "/" in path and "://" in named:
                    path = path.partition("/")[2]
                found.add(path)
    return frozenset(found & set(known))


def _path_and_folders(path: str) -> Iterable[str]:
    while path:
        yield path
        path = path.rpartition("/")[0]
