"""Applications of Argo CD that deploy folders, as requests: kustomizations with what they add, and plain manifests.

The meaning of each field is that of Argo CD's repository server. Applications with charts are ``releases``.
"""

import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.building.requests import FolderRequest, UnusableRequest
from reconciler.building.source_trees import LockedTrees, SourceTree, comparable_repository_address
from reconciler.gitops.tool_kind import ToolKind
from reconciler.gitops.wildcards import matching_lengths
from reconciler.locked.model import SourceType, UnavailableSource
from reconciler.source.external import revision_place
from reconciler.source.files import KUSTOMIZATIONS, SUFFIXES
from reconciler.source.manifests import LocatedManifest
from render.expressions import lazy_expression
from render.model import list_or_empty, mapping_or_empty
from render.settings.source import RenderedRelease

from .application_sets import named_repositories
from .destinations import Destinations

_AS_THEY_ARE = ("namePrefix", "nameSuffix", "namespace", "commonAnnotations", "patches")
_JSONNET = ".jsonnet"
_MOST_CHOICES = 64
_BRACES = lazy_expression(r"\{([^{}]*)\}")
_IMAGE = lazy_expression(r"^(?:([^=]+)=)?([^@=]*?)(?::([^/@:]+))?(?:@(.+))?$")
_READ = frozenset(
    {
        *("namePrefix", "nameSuffix", "namespace", "images", "replicas", "patches", "components", "version"),
        *("commonLabels", "labelWithoutSelector", "labelIncludeTemplates", "forceCommonLabels"),
        *("commonAnnotations", "forceCommonAnnotations", "ignoreMissingComponents"),
    }
)


class ArgoSources(Struct, frozen=True, kw_only=True):
    """Everything that an Application may take its folders from: this repository, of address ``own``, and Sources.

    ``charts`` are the folders of charts, and ``destinations`` the clusters that it may be for.
    """

    repository: SourceTree
    own: str = ""
    locked: LockedTrees
    charts: frozenset[str] = frozenset()
    destinations: Destinations = field(default_factory=Destinations)

    def requests(self, place: LocatedManifest, default_namespace: str) -> list[FolderRequest]:
        """Return what an Application deploys; UnusableRequest says why it cannot be read."""
        spec = place.manifest["spec"]
        namespace = str(mapping_or_empty(spec.get("destination")).get("namespace") or default_namespace)
        clusters = self.destinations.of_application(spec)
        return [
            replace(self._request_of_source(place, path, source), namespace=namespace, destination=clusters)
            for path, source in folder_sources(spec, self.charts)
        ]

    def _request_of_source(self, place: LocatedManifest, path: str, source: Mapping[str, Any]) -> FolderRequest:
        tree, folder = self._tree_and_folder_of_source(path, source)
        base = f"{folder}/" if folder else ""
        files = {file.path.removeprefix(base) for file in tree.files if file.path.startswith(base)}
        if not files:
            raise UnusableRequest(f"{path}.path", f"there is no folder {folder or '.'!r}")
        options = mapping_or_empty(source.get("kustomize"))
        if options or (not source.get("directory") and files & {*KUSTOMIZATIONS}):
            additions = dict(_additions_to_kustomization(f"{path}.kustomize", options, tree, folder))
            return FolderRequest(place=place, tree=tree, folder=folder, additions=additions, field=f"{path}.path")
        chosen = tuple(_files_of_manifests(f"{path}.directory", mapping_or_empty(source.get("directory")), files))
        return FolderRequest(place=place, tree=tree, folder=folder, resources=chosen, field=f"{path}.path")

    def _tree_and_folder_of_source(self, path: str, source: Mapping[str, Any]) -> tuple[SourceTree, str]:
        """Return the tree of a source, and the folder in there."""
        folder = _path_in_repository(f"{path}.path", str(source.get("path") or ""))
        tree, inside = self.tree_and_path(f"{path}.repoURL", source.get("repoURL"), source.get("targetRevision"))
        if inside and folder != inside and not folder.startswith(f"{inside}/"):
            raise UnusableRequest(f"{path}.path", f"the Source of its repository has the folder {inside!r} alone")
        return tree, folder.removeprefix(inside).strip("/")

    def tree_and_path(self, path: str, url: Any, revision: Any) -> tuple[SourceTree, str]:
        """Return the tree of the repository with an address, and the folder of the repository that it begins at."""
        try:
            locked = self.locked.tree_and_path_of_address(SourceType.GIT, url)
            if locked is None and comparable_repository_address(url) != self.own:
                tree = self.locked.tree_without_source(SourceType.GIT, revision_place(str(url), str(revision or "")))
                locked = (tree, "") if tree else None
        except UnavailableSource as error:
            raise UnusableRequest(path, error.message, error.hint) from error
        return locked or (self.repository, "")


def folder_sources(spec: Mapping[str, Any], charts: frozenset[str]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the sources of an Application that are folders, with their fields; none where a plugin makes some."""
    return [(path, source) for path, source in _sources_without_plugin(spec) if not is_chart(source, charts)]


def chart_sources(spec: Mapping[str, Any], has_chart: Callable[[str], bool]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the sources of an Application that are charts to be rendered; none where a plugin makes some."""
    found = _sources_without_plugin(spec)
    return [(path, source) for path, source in found if source.get("chart") or has_chart(_folder_of_chart(source))]


def _sources_without_plugin(spec: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the sources of an Application with their fields; none where a plugin makes some."""
    found = sources_of(spec)
    return [] if any(source.get("plugin") is not None for _, source in found) else found


def is_chart(source: Mapping[str, Any], charts: frozenset[str]) -> bool:
    """Say whether a source of an Application is a chart, as it says itself or as its folder is one."""
    return bool(source.get("chart")) or source.get("helm") is not None or _folder_of_chart(source) in charts


def _folder_of_chart(source: Mapping[str, Any]) -> str:
    folder = posixpath.normpath(str(source.get("path") or "").removeprefix("/"))
    return "" if folder == "." else folder


def _has_any_chart(spec: Mapping[str, Any], charts: frozenset[str]) -> bool:
    """Say whether some source of an Application is a chart, or would be."""
    return any(is_chart(source, charts) for _, source in sources_of(spec))


def _has_folders(spec: Mapping[str, Any], charts: frozenset[str]) -> bool:
    return bool(folder_sources(spec, charts))


def _has_charts(spec: Mapping[str, Any], charts: frozenset[str]) -> bool:
    return bool(chart_sources(spec, charts.__contains__))


APPLICATION = ToolKind(RenderedRelease.APPLICATION, "argoproj.io", _has_folders, _has_charts, _has_any_chart)


def address_of_this_repository(specs: Iterable[Mapping[str, Any]]) -> str:
    """Return the address of this repository: the one that most Applications and ApplicationSets in its files name."""
    named = [url for spec in specs for url in _repositories_named_by(spec) if url and "{{" not in str(url)]
    counts = Counter(map(comparable_repository_address, named))
    return max(counts, key=lambda each: (counts[each], each), default="")


def _repositories_named_by(spec: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the addresses of repositories of folders that an object names, those of its generators too."""
    for each in (spec, mapping_or_empty(mapping_or_empty(spec.get("template")).get("spec"))):
        yield from (source.get("repoURL") for _, source in sources_of(each, is_named=True) if not source.get("chart"))
    yield from named_repositories(spec.get("generators"))


def sources_of(spec: Mapping[str, Any], *, is_named: bool = False) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the sources of an Application with their fields; ``is_named``: also those that only name a repository."""
    many = spec.get("sources")
    if not isinstance(many, list) or not many:
        many = None
    return [
        (f"spec.sources[{number}]" if many else "spec.source", source)
        for number, source in enumerate(many or [spec.get("source")])
        if isinstance(source, dict) and (is_named or source.get("path") or source.get("chart") or not source.get("ref"))
    ]


def _additions_to_kustomization(
    path: str, options: Mapping[str, Any], tree: SourceTree, folder: str
) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a kustomization that an Application adds to it."""
    unknown = sorted(key for key, value in options.items() if value and key not in _READ)
    if unknown:
        raise UnusableRequest(f"{path}.{unknown[0]}", "no field that is read here, so that it might change anything")
    yield from ((key, options[key]) for key in _AS_THEY_ARE if options.get(key))
    yield from _label_additions(options)
    images = list_or_empty(options.get("images"))
    if images:
        yield "images", [_image(f"{path}.images[{number}]", each) for number, each in enumerate(images)]
    if list_or_empty(options.get("replicas")):
        yield "replicas", list(map(_with_whole_count, options["replicas"]))
    components = [str(each) for each in list_or_empty(options.get("components"))]
    if options.get("ignoreMissingComponents"):
        components = [each for each in components if tree.has_folder(posixpath.join(folder, each))]
    if components:
        yield "components", components


def _label_additions(options: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    labels = mapping_or_empty(options.get("commonLabels"))
    if labels and options.get("labelWithoutSelector"):
        yield "labels", [{"pairs": labels, "includeTemplates": bool(options.get("labelIncludeTemplates"))}]
    elif labels:
        yield "commonLabels", labels


def _with_whole_count(replicas: Any) -> Any:
    count = replicas.get("count") if isinstance(replicas, dict) else None
    return {**replicas, "count": int(count)} if isinstance(count, str) and count.isdigit() else replicas


def _image(path: str, text: Any) -> dict[str, str]:
    """Return an image as a kustomization writes it.

    >>> _image("", "nginx=registry.example.com:5000/web:2"), _image("", "nginx:2"), _image("", "nginx@sha256:0a")
    ({'name': 'nginx', 'newName': 'registry.example.com:5000/web', 'newTag': '2'}, {'name': 'nginx', 'newTag': '2'}, \
{'name': 'nginx', 'digest': 'sha256:0a'})
    """
    found = _IMAGE.match(str(text))
    if found is None or not (found[1] or found[2]):
        raise UnusableRequest(path, f"{text!r} is no image")
    old, new, tag, digest = found.groups()
    image = {"name": old or new}
    if old and new and new != "*":
        image["newName"] = new
    if tag and tag != "*":
        image["newTag"] = tag
    if digest:
        image["digest"] = digest
    return image


def _files_of_manifests(path: str, options: Mapping[str, Any], files: set[str]) -> Iterator[str]:
    """Yield the files of a folder of manifests that an Application reads."""
    unknown = sorted(key for key, value in options.items() if value and key not in {"recurse", "include", "exclude"})
    if unknown:
        raise UnusableRequest(f"{path}.{unknown[0]}", "jsonnet is not evaluated")
    for name in sorted(files):
        if "/" in name and not options.get("recurse"):
            continue
        if options.get("exclude") and _is_name_matched(f"{path}.exclude", str(options["exclude"]), name):
            continue
        if options.get("include") and not _is_name_matched(f"{path}.include", str(options["include"]), name):
            continue
        if name.endswith(_JSONNET):
            raise UnusableRequest(path, f"{name!r} is jsonnet, which is not evaluated")
        if name.endswith(SUFFIXES):
            yield name


def _is_name_matched(path: str, pattern: str, name: str) -> bool:
    """Say whether a name matches a pattern, whose wildcards stand for any text, slashes too."""
    if set(pattern) & set("[]\\"):
        raise UnusableRequest(path, f"{pattern!r} has a class of characters", "write * and {a,b} alone")
    return any(
        (not each and not name) or len(name) in matching_lengths(each, name)
        for each in _alternatives_of_braces(path, pattern)
    )


def _alternatives_of_braces(path: str, pattern: str) -> list[str]:
    """Return the patterns that braces with alternatives stand for."""
    unseen, found = [pattern], []
    while unseen:
        text = unseen.pop()
        braces = _BRACES.search(text)
        if braces is None:
            found.append(text)
        else:
            unseen += (f"{text[: braces.start()]}{each}{text[braces.end() :]}" for each in braces[1].split(","))
        if len(found) + len(unseen) > _MOST_CHOICES:
            raise UnusableRequest(path, f"{pattern!r} has more than {_MOST_CHOICES} alternatives")
    return found


def _path_in_repository(path: str, text: str) -> str:
    folder = posixpath.normpath(text.removeprefix("/") or ".")
    if folder == ".." or folder.startswith("../"):
        raise UnusableRequest(path, f"{text!r} leads out of the repository")
    return "" if folder == "." else folder
