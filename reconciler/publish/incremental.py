"""What the last pass stood on, kept beside the repository's cache so that a small change need not cost a whole pass.

It is disposable: without it, or with anything in it that is not expected, the next pass looks at everything. It is
never trusted over Git: it holds for one rendered commit, and names contents by their ids.
"""

import json
from contextlib import suppress
from dataclasses import replace

from reconciler.pipeline.previous import Previous, StoredBindings
from reconciler.pipeline.readme import parse_front_page
from reconciler.pipeline.scope import Footing, Scope, refs_to_look_at
from reconciler.repository import Repository
from reconciler.repository.cache import write_privately
from reconciler.repository.trailers import engine_version
from reconciler.source.desired import Desired
from reconciler.source.facts import ClusterFacts
from render.errors import GitError
from render.gitobjects import TreeEntry
from render.model import ObjectRef

_FILE = "last-footing.json"


def write_footing(repository: Repository, footing: Footing) -> None:
    """Leave a footing for the next pass, for this user alone."""
    value = {
        "version": engine_version(),
        "folder": repository.folder.under,
        "rendered": footing.rendered,
        "ground": footing.ground,
        "digests": [[*_words(ref), digest] for ref, digest in footing.digests.items()],
        "restless": sorted(map(_words, footing.restless)),
        "facts": footing.facts,
    }
    with suppress(OSError):
        write_privately(repository.cache_dir / _FILE, json.dumps(value).encode())


def read_footing(repository: Repository) -> Footing | None:
    """Return the last footing of this engine and this folder of the repository, None if there is none to trust."""
    try:
        value = json.loads((repository.cache_dir / _FILE).read_text(encoding="utf-8"))
        if (value["version"], value["folder"]) != (engine_version(), repository.folder.under):
            return None
        return Footing(
            rendered=value["rendered"],
            ground=value["ground"],
            digests={ObjectRef(*words): digest for *words, digest in value["digests"]},
            restless=frozenset(ObjectRef(*words) for words in value["restless"]),
            facts=value["facts"],
        )
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _words(ref: ObjectRef) -> tuple[str, str, str, str]:
    return ref.group, ref.kind, ref.namespace, ref.name


def on_footing(repository: Repository, previous: Previous, desired: Desired, facts: bytes | None) -> Previous:
    """Return the previous commit with the part to look at, where the last footing leaves out anything.

    ``facts`` is the folder of the facts this pass goes by (None: none). But for capacity they must be those of the last
    pass: a cluster that serves or is something else concerns whatever may be placed there.
    """
    # What webhooks answered is recorded for all objects at once, so a pass by their answers looks at all of them.
    footing = None if desired.webhooks else read_footing(repository)
    refs = refs_to_look_at(footing, desired, previous.commit) if footing else None
    if footing is None or refs is None or previous.version != engine_version():
        return previous
    entries = previous.tree.trees.entries(previous.tree.root)
    changed = _facts_to_write(repository, entries.get("facts"), facts)
    is_as_seen = are_equal_but_for_capacity(repository, bytes.fromhex(footing.facts) or None, facts)
    if (
        changed is None
        or not is_as_seen
        or "README.md" not in entries
        or not isinstance(previous.bindings, StoredBindings)
    ):
        return previous
    page = entries["README.md"].id
    tally = parse_front_page(repository.read_blobs([page])[page])
    previous.bindings.load(refs)
    previous.tree.load(refs)
    is_declared = any(cluster.resource_summary is not None for cluster in desired.clusters)
    others = tuple(each for ref, each in previous.bindings.items() if ref not in refs) if is_declared else ()
    return replace(previous, part=Scope(refs=refs, tally=tally, others=others, facts=changed))


def are_equal_but_for_capacity(repository: Repository, before: bytes | None, after: bytes | None) -> bool:
    """Say whether two folders of facts tell the same of the same clusters, but for how much room there is."""
    if before is None or after is None or before == after:
        return before == after
    try:
        old, new = (_ids(repository, tree_id) for tree_id in (before, after))
        if old.keys() != new.keys():
            return False
        differing = [name for name in old if old[name] != new[name]]
        contents = repository.read_blobs([ids[name] for name in differing for ids in (old, new)])
    except GitError:  # the status branch may have been squashed since
        return False
    pairs = [(ClusterFacts.parse(contents[old[name]]), ClusterFacts.parse(contents[new[name]])) for name in differing]
    return all(one.beside_capacity() == other.beside_capacity() for one, other in pairs)


def _facts_to_write(repository: Repository, there: TreeEntry | None, facts: bytes | None) -> frozenset[str] | None:
    """Return the clusters whose facts are not those of the rendered commit; None where it has others as well."""
    if facts is None:
        return None if there else frozenset()
    if there is not None and there.id == facts:
        return frozenset()
    old, new = _ids(repository, there.id) if there else {}, _ids(repository, facts)
    differing = {name for name in new if old.get(name) != new[name]}
    return frozenset(name.removesuffix(".yaml") for name in differing) if old.keys() <= new.keys() else None


def _ids(repository: Repository, tree_id: bytes) -> dict[str, bytes]:
    return {entry.name.decode(): entry.id for entry in repository.read_trees([tree_id])[tree_id]}
