"""Kustomizations that are made to cost time here, beside what the tool takes for them.

Each function makes input of a size and returns what is timed.
"""

from collections.abc import Callable, Mapping

from reconciler.building.builder import SourceBuilder
from reconciler.building.closures import Closure, closure_of
from reconciler.building.layout import private_copy
from reconciler.building.origins import Origins
from reconciler.building.tree import Kustomizations
from reconciler.gitops.tools import GitOpsTools
from reconciler.locked.content import content_digest
from reconciler.locked.store import ContentStore
from reconciler.source.loading import Loaded, load_source
from reconciler.source.reading import Caches, SourceReading
from render.documents import emit
from tests.build import a_config_map
from tests.sources import Content, Source, source_of

Work = Callable[[], object]


def _loading(files: Mapping[str, Content]) -> Callable[[], Loaded]:
    source = source_of(files)
    build = SourceBuilder(path="")
    return lambda: load_source(source.files, SourceReading(source.read, other_tools=GitOpsTools(build)))


def _listing(*resources: str, head: str = "") -> str:
    return head + "resources:\n" + "".join(f"- {each}\n" for each in resources)


def kustomizations(size: int) -> Work:
    """Kustomizations that each build upon the one before."""
    made = {f"k{number}/kustomization.yaml": _listing(f"../k{number - 1}") for number in range(1, size)}
    return _loading({"k0/kustomization.yaml": _listing("a.yaml"), "k0/a.yaml": emit(a_config_map("c")), **made})


def resources_of_a_kustomization(size: int) -> Work:
    """A kustomization that lists as many files."""
    made = {f"{number}.yaml": emit(a_config_map(f"c{number}")) for number in range(size)}
    return _loading({**made, "kustomization.yaml": _listing(*made)})


def folders_of_a_kustomization(size: int) -> Work:
    """A kustomization that lists as many folders, each a kustomization of its own."""
    objects = {f"k{number}/a.yaml": emit(a_config_map(f"c{number}")) for number in range(size)}
    made = {f"k{number}/kustomization.yaml": f"# {number}\n{_listing('a.yaml')}" for number in range(size)}
    above = _listing(*(f"../k{number}" for number in range(size)))
    return _loading({**objects, **made, "all/kustomization.yaml": above})


def _built(files: Mapping[str, Content]) -> tuple[Source, Closure]:
    source = source_of(files)
    return source, closure_of(Kustomizations.of(source.files, source.read), "o")


def renamed_objects(size: int) -> Work:
    """Objects whose names a build changes, so that their manifests have to be found by parts of these."""
    text = b"---\n".join(emit(a_config_map(f"c{number}")) for number in range(size))
    source, closure = _built({"o/kustomization.yaml": _listing("a.yaml", head="namePrefix: a-\n"), "o/a.yaml": text})
    built = [a_config_map(f"a-c{number}") for number in range(size)]
    return lambda: Origins(source.read).of(built, closure.files, "o/kustomization.yaml")


def files_beside(size: int) -> Work:
    """Files of another folder in a build that writes down where objects come from, and a long line of data in it."""
    names = [f"../b/f{number}.yaml" for number in range(size)]
    files = {f"b/f{number}.yaml": f"a: {number}\n" for number in range(size)}
    head = _listing(*names, head="buildMetadata: [originAnnotations]\n")
    source, closure = _built({"o/kustomization.yaml": head, **files})
    contents = source.read(file.id for file in closure.files)

    def work() -> bytes:
        copy = private_copy(closure, contents)
        places = "".join(f"    config.kubernetes.io/origin: |\n      path: {each.place}\n" for each in copy.moved)
        return copy.shown_output(f"x: {'a: ' * size}{copy.moved[0].place}\n{places}".encode())

    return work


def overlays_of_a_locked_base(size: int, store: ContentStore) -> Callable[[], Loaded]:
    """Kustomizations that each build upon one of another repository, whose content a store has."""
    content = {"base/kustomization.yaml": b"resources: [one.yaml]\n", "base/one.yaml": emit(a_config_map("one"))}
    spec = {"git": {"url": "https://github.com/org/repo", "tag": "v1"}}
    own = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Source", "metadata": {"name": "lib"}, "spec": spec}
    resolved = {"commit": "a" * 40, "tag": "v1"}
    entry = {"name": "lib", "spec": spec, "resolved": resolved, "content": content_digest(content)}
    lock = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Lock", "sources": [entry]}
    store.put(content)
    made = {
        f"a{number}/kustomization.yaml": _listing("github.com/org/repo/base?ref=v1", head=f"namespace: n{number}\n")
        for number in range(size)
    }
    source = source_of({"lib.yaml": emit(own), "argosy.lock": emit(lock), **made})
    reading = SourceReading(source.read, caches=Caches(contents=store), other_tools=GitOpsTools(SourceBuilder(path="")))
    return lambda: load_source(source.files, reading)


BUILDS: tuple[tuple[str, int, Callable[[int], Work]], ...] = (
    ("kustomizations upon each other", 20, kustomizations),
    ("resources of a kustomization", 100, resources_of_a_kustomization),
    ("folders of a kustomization", 200, folders_of_a_kustomization),
    ("objects that a build renames", 500, renamed_objects),
    ("files beside a kustomization", 300, files_beside),
)
"""The rows of SECURITY.md about builds, a size to begin at, and what makes one of a size."""
