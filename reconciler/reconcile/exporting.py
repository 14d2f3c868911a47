"""A fleet in the forms of other systems: Karmada's objects of its source, or its Works."""

from reconciler.console.log import Log
from reconciler.emission.karmada import karmada_objects
from reconciler.emission.model import Emission
from reconciler.preview.outputs import Selection, works
from reconciler.preview.rendering import PreviewOptions, previewed
from reconciler.publish.memory import SourceMemory
from reconciler.publish.problems import problems_of
from reconciler.publish.reading import read_loaded, recorded_facts
from reconciler.repository import Repository
from render.errors import InputError
from render.model import Manifest


def exported_source(repository: Repository, revision: str) -> Emission:
    """Return Karmada's objects of a source; InputError lists what is wrong with it."""
    loaded = read_loaded(repository, repository.resolve(revision or "HEAD"), facts=recorded_facts(repository))
    if loaded.blocking:
        raise InputError(loaded.problems, warnings=loaded.desired.warnings)
    emission = karmada_objects(loaded.desired, loaded.karmada)
    left = tuple(sorted({f"left out: {each.warning}" for each in loaded.broken}))
    return Emission(files=emission.files, notes=(*emission.notes, *left))


def exported_works(repository: Repository, revision: str, clusters: tuple[str, ...], log: Log) -> Emission:
    """Return the Works of a source, by the namespace of each cluster, and the objects that have none."""
    outcome = previewed(repository, revision, SourceMemory(), log, PreviewOptions(is_first=True))
    found: dict[str, list[Manifest]] = {}
    for work in works(outcome, Selection(clusters=clusters)):
        found.setdefault(f"{work['metadata']['namespace']}.yaml", []).append(work)
    files = tuple((path, tuple(manifests)) for path, manifests in sorted(found.items()))
    return Emission(files=files, notes=tuple(map(str, problems_of(outcome))))
