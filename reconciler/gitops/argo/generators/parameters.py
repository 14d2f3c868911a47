"""The sets of parameters that generators make, each for one Application: from lists, files, folders and Clusters.

What asks a forge, a service or another cluster is refused by name, as a render asks nobody.
"""

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct, ValidationError, field

from reconciler.building.requests import UnusableRequest
from reconciler.building.source_trees import SourceTree
from reconciler.source.broken import CIPHERTEXT
from reconciler.source.ciphertext import fault_of_ciphertext
from reconciler.source.files import MAX_FILE_SIZE, SUBMODULE, SYMLINK, SourceFile
from render.documents import read_documents
from render.model import list_or_empty, mapping_or_empty
from render.parsing.placement_fields import checked_label_selector
from render.parsing.selectors import parse_label_selector
from render.selectors import has_valid_values, matches_labels

from .combining import (
    Parameters,
    UncombinableError,
    checked_number_of_sets,
    combined_parameters,
    flat_parameters,
    merged_sets,
)
from .functions import kubernetes_name
from .syntax import TemplateError
from .texts import TemplateTexts
from .values import go_value

_DEEPEST = 4
_MOST_FILES, _LONGEST_PATTERN = 5_000, 1_024
_REFUSED = {
    "pullRequest": "it asks a forge for its pull requests",
    "scmProvider": "it asks a forge for its repositories",
    "plugin": "it asks a service",
    "clusterDecisionResource": "it asks for objects of the cluster that Argo CD runs in",
}
_BESIDE = frozenset({"selector", "template"})
_CLUSTER_LABEL = ("argocd.argoproj.io/secret-type", "cluster")
TreeOf = Callable[[str, Any, Any], SourceTree]
"""Return the tree of a repository that a field names by its address; UnusableRequest where there is none."""


class Generators(Struct):
    """The generators of one ApplicationSet, with what they ask for; ``inputs`` are the files that were read for it."""

    texts: TemplateTexts
    clusters: Sequence[Mapping[str, Any]]
    tree_of: TreeOf
    inputs: set[tuple[str, bytes]] = field(default_factory=set)

    def parameter_sets(
        self, path: str, written: Any, outer: Parameters | None = None, *, depth: int = 0
    ) -> Sequence[Parameters]:
        """Return the sets of parameters of a generator; ``outer`` are filled into its own texts before."""
        generator = mapping_or_empty(written)
        kinds = [key for key, value in generator.items() if value is not None and key not in _BESIDE]
        if len(kinds) != 1:
            raise UnusableRequest(path, "must be one generator")
        kind = kinds[0]
        if kind in _REFUSED:
            hint = "write a list of what it would find"
            raise UnusableRequest(f"{path}.{kind}", f"{_REFUSED[kind]}, which a render never does", hint)
        make = self._readers_by_kind().get(kind)
        if make is None:
            raise UnusableRequest(f"{path}.{kind}", "no generator that is known here")
        if depth > _DEEPEST:
            raise UnusableRequest(path, "generators stand in each other too deeply")
        try:
            generator = self.texts.filled_value(generator, outer) if outer else generator
            spec = generator[kind] if isinstance(generator[kind], dict) else {}
            found = checked_number_of_sets(make(f"{path}.{kind}", spec, depth))
        except (TemplateError, UncombinableError) as error:
            raise UnusableRequest(f"{path}.{kind}", str(error)) from error
        selector = generator.get("selector")
        return [each for each in found if do_labels_satisfy(f"{path}.selector", selector, flat_parameters(each))]

    def _readers_by_kind(self) -> "Mapping[str, Callable[[str, Mapping[str, Any], int], list[Parameters]]]":
        return {
            "list": self._sets_of_list,
            "clusters": self._sets_of_clusters,
            "git": self._sets_of_git,
            "matrix": self._sets_of_matrix,
            "merge": self._sets_of_merge,
        }

    def _sets_of_list(self, path: str, spec: Mapping[str, Any], _depth: int) -> list[Parameters]:
        elements = [
            *list_or_empty(spec.get("elements")),
            *_items_of_yaml_list(f"{path}.elementsYaml", spec.get("elementsYaml")),
        ]
        found = []
        for number, element in enumerate(elements):
            if not isinstance(element, dict):
                raise UnusableRequest(f"{path}.elements[{number}]", "must be an object")
            found.append(
                go_value(element) if self.texts.is_go else _flat_element(f"{path}.elements[{number}]", element)
            )
        return found

    def _sets_of_clusters(self, path: str, spec: Mapping[str, Any], _depth: int) -> list[Parameters]:
        """Return a set for each Cluster; the one that Argo CD runs in has no labels, and is no Cluster here."""
        selector = spec.get("selector")
        chosen = [
            each for each in self.clusters if do_labels_satisfy(f"{path}.selector", selector, _labels_of_cluster(each))
        ]
        found = [
            self._parameters_with_values(spec, _cluster_parameters(each, is_go=self.texts.is_go)) for each in chosen
        ]
        if not spec.get("flatList"):
            return found
        if not self.texts.is_go:
            raise UnusableRequest(f"{path}.flatList", "a list needs goTemplate: true")
        return [{"clusters": found}] if found else []

    def _sets_of_git(self, path: str, spec: Mapping[str, Any], _depth: int) -> list[Parameters]:
        tree = self.tree_of(f"{path}.repoURL", spec.get("repoURL"), spec.get("revision"))
        prefix = str(spec.get("pathParamPrefix") or "")
        if list_or_empty(spec.get("directories")):
            folders = _chosen_folders(f"{path}.directories", spec["directories"], tree)
            return [
                self._parameters_with_values(spec, self._with_place_parameters(prefix, folder, "", {}))
                for folder in folders
            ]
        if not list_or_empty(spec.get("files")):
            raise UnusableRequest(path, "names neither directories nor files")
        found: list[Parameters] = []
        for file in _chosen_files(f"{path}.files", spec["files"], tree):
            folder, _, name = file.path.rpartition("/")
            for values in self._objects_in(path, tree, file):
                own = go_value(values) if self.texts.is_go else dict(flat_parameters(go_value(values)))
                found.append(
                    self._parameters_with_values(spec, self._with_place_parameters(prefix, folder or ".", name, own))
                )
            checked_number_of_sets(found)
        return found

    def _objects_in(self, path: str, tree: SourceTree, file: SourceFile) -> list[dict[str, Any]]:
        """Return the objects of a file that parameters come from: one, or a list of them."""
        origin = f"{tree.name}:{file.path}" if tree.name else file.path
        if file.mode in {SYMLINK, SUBMODULE} or not file.id or not 0 <= file.size <= MAX_FILE_SIZE:
            raise UnusableRequest(path, f"{origin} is a link, or too large")
        self.inputs.update(tree.inputs_at([(file.path, file.id)]))
        content = tree.read([file.id])[file.id]
        if fault := fault_of_ciphertext(origin, content):
            raise UnusableRequest(path, fault, kind=CIPHERTEXT)
        documents, errors = read_documents(content)
        value = documents[0].value if documents else {}
        objects = value if isinstance(value, list) else [value]
        if errors or len(documents) > 1 or not all(isinstance(each, dict) for each in objects):
            raise UnusableRequest(path, f"{origin} is neither an object nor a list of objects")
        return objects

    def _with_place_parameters(self, prefix: str, folder: str, name: str, own: Parameters) -> Parameters:
        """Return parameters with those that tell where they come from; ``name`` is that of a file."""
        base = posixpath.basename(folder)
        parts = {"basename": base, "basenameNormalized": kubernetes_name(base)}
        parts |= {"filename": name, "filenameNormalized": kubernetes_name(name)} if name else {}
        segments = folder.split("/")
        if self.texts.is_go:
            place: Parameters = {"path": folder, **parts, "segments": segments}
            return {**own, **({prefix: {"path": place}} if prefix else {"path": place})}
        start = f"{prefix}.path" if prefix else "path"
        numbered = {f"{start}[{number}]": segment for number, segment in enumerate(segments)}
        return {**own, start: folder, **{f"{start}.{key}": value for key, value in parts.items()}, **numbered}

    def _parameters_with_values(self, spec: Mapping[str, Any], own: Parameters) -> Parameters:
        """Return parameters with the ``values`` of a generator, into which these are filled."""
        values = spec.get("values")
        if not isinstance(values, dict) or not values:
            return own
        filled = {str(key): self.texts.fill_text(str(value), own) for key, value in values.items()}
        return {**own, **({"values": filled} if self.texts.is_go else _keys_with_prefix("values", filled))}

    def _sets_of_matrix(self, path: str, spec: Mapping[str, Any], depth: int) -> list[Parameters]:
        """Return each set of the first generator with each of the second, which may use what the first one made."""
        children = list_or_empty(spec.get("generators"))
        if len(children) != 2:
            raise UnusableRequest(f"{path}.generators", "must be two generators")
        found: list[Parameters] = []
        for first in self.parameter_sets(f"{path}.generators[0]", children[0], depth=depth + 1):
            seconds = self.parameter_sets(f"{path}.generators[1]", children[1], first, depth=depth + 1)
            found += (combined_parameters(first, second, is_go=self.texts.is_go) for second in seconds)
            checked_number_of_sets(found)
        return found

    def _sets_of_merge(self, path: str, spec: Mapping[str, Any], depth: int) -> list[Parameters]:
        children, keys = list_or_empty(spec.get("generators")), list(map(str, list_or_empty(spec.get("mergeKeys"))))
        if len(children) < 2:
            raise UnusableRequest(f"{path}.generators", "must be two generators or more")
        if not keys:
            raise UnusableRequest(f"{path}.mergeKeys", "required, but missing")
        every = [
            self.parameter_sets(f"{path}.generators[{number}]", each, depth=depth + 1)
            for number, each in enumerate(children)
        ]
        return list(merged_sets(every, keys, is_go=self.texts.is_go))


def _keys_with_prefix(start: str, values: Mapping[str, str]) -> dict[str, str]:
    return {f"{start}.{key}": value for key, value in values.items()}


def _flat_element(path: str, element: Mapping[str, Any]) -> Parameters:
    """Return an element of a list as texts; without templates of Go there are no others."""
    found: Parameters = {}
    for key, value in element.items():
        is_nested = key == "values" and isinstance(value, dict)
        for name, text in _keys_with_prefix(key, value).items() if is_nested else [(str(key), value)]:
            if not isinstance(text, str):
                raise UnusableRequest(f"{path}.{name}", "must be a text", "goTemplate: true takes any value")
            found[name] = text
    return found


def _items_of_yaml_list(path: str, text: Any) -> list[Any]:
    if not text:
        return []
    documents, errors = read_documents(str(text).encode("utf-8", "surrogatepass"))
    if errors or len(documents) > 1 or (documents and not isinstance(documents[0].value, list)):
        raise UnusableRequest(path, "must be a list of objects")
    return list(documents[0].value) if documents else []


def _labels_of_cluster(cluster: Mapping[str, Any]) -> dict[str, str]:
    """Return the labels of a Cluster as its Secret in Argo CD would have them."""
    labels = cluster["metadata"].get("labels")
    return {**(mapping_or_empty(labels)), _CLUSTER_LABEL[0]: _CLUSTER_LABEL[1]}


def server_of_cluster(cluster: Mapping[str, Any]) -> str:
    """Return the address of a Cluster; its name where none is written."""
    spec = cluster.get("spec")
    endpoint = spec.get("apiEndpoint") if isinstance(spec, dict) else None
    return endpoint if isinstance(endpoint, str) and endpoint else str(cluster["metadata"]["name"])


def _cluster_parameters(cluster: Mapping[str, Any], *, is_go: bool) -> Parameters:
    name, annotations = str(cluster["metadata"]["name"]), cluster["metadata"].get("annotations")
    found: Parameters = {
        "name": name,
        "nameNormalized": kubernetes_name(name),
        "server": server_of_cluster(cluster),
        "project": "",
    }
    labels, notes = _labels_of_cluster(cluster), mapping_or_empty(annotations)
    if is_go:
        return {**found, "metadata": {"labels": labels, **({"annotations": notes} if notes else {})}}
    return {**found, **_keys_with_prefix("metadata.labels", labels), **_keys_with_prefix("metadata.annotations", notes)}


def do_labels_satisfy(path: str, selector: Any, labels: Mapping[str, str]) -> bool:
    """Say whether labels satisfy the selector of a generator; one that is missing selects everything."""
    if selector is None:
        return True
    try:
        wanted = parse_label_selector(checked_label_selector(selector))
    except ValidationError as error:
        raise UnusableRequest(path, "is no selector of labels") from error
    assert wanted is not None
    if not all(map(has_valid_values, wanted.match_expressions)):
        raise UnusableRequest(path, "has an expression that Kubernetes does not read")
    return matches_labels(wanted, labels)


def _chosen_folders(path: str, wanted: Sequence[Any], tree: SourceTree) -> list[str]:
    """Return the folders that patterns name, where ``*`` stands for one step of a path; exclusions count more."""
    known = {folder for file in tree.files for folder in _folders_above(file.path)}
    visible = sorted(each for each in known if not any(part.startswith(".") for part in each.split("/")))
    patterns = [_pattern_and_exclusion(f"{path}[{number}].path", each) for number, each in enumerate(wanted)]
    included = [
        each for each in visible if any(_is_folder_matched(each, text) for text, is_out in patterns if not is_out)
    ]
    return [each for each in included if not any(_is_folder_matched(each, text) for text, is_out in patterns if is_out)]


def _chosen_files(path: str, wanted: Sequence[Any], tree: SourceTree) -> list[SourceFile]:
    """Return the files that patterns name, where ``*`` stands for any text, as git itself matches paths."""
    patterns = [_pattern_and_exclusion(f"{path}[{number}].path", each) for number, each in enumerate(wanted)]
    found = [
        file
        for file in sorted(tree.files, key=lambda each: each.path)
        if any(_is_file_matched(file.path, text) for text, is_out in patterns if not is_out)
        and not any(_is_file_matched(file.path, text) for text, is_out in patterns if is_out)
    ]
    if len(found) > _MOST_FILES:
        raise UnusableRequest(path, f"names more than {_MOST_FILES} files")
    return found


def _folders_above(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path


def _pattern_and_exclusion(path: str, wanted: Any) -> tuple[str, bool]:
    """Return the pattern of an item, and whether it leaves out what it matches."""
    text = str(wanted.get("path") or "") if isinstance(wanted, dict) else ""
    if len(text) > _LONGEST_PATTERN or "\\" in text:
        raise UnusableRequest(path, "is too long, or has a backslash")
    return text.replace("[^", "[!").removeprefix("./").rstrip("/"), bool(wanted.get("exclude") if text else False)


def _is_folder_matched(folder: str, pattern: str) -> bool:
    steps, wanted = folder.split("/"), pattern.split("/")
    return len(steps) == len(wanted) and all(map(fnmatchcase, steps, wanted))


def _is_file_matched(path: str, pattern: str) -> bool:
    return path == pattern or path.startswith(f"{pattern}/") or fnmatchcase(path, pattern)
