"""A fleet in the forms of other tools: what delivers a rendered commit, Karmada's objects of a source, its Works."""

from collections.abc import Container, Iterable, Iterator
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct
from msgspec.structs import replace

from reconciler.branches.fleet_context import FleetContext, context_and_source_of_commit
from reconciler.branches.publication import Publication
from reconciler.branches.reading import read_loaded, reader_of_recorded_facts
from reconciler.console.log import Log
from reconciler.deliver.rendered_commits import RenderedCommits
from reconciler.emission.karmada import karmada_objects
from reconciler.emission.making import objects_of, rendered_place
from reconciler.emission.model import ClusterTree, Emission, EmissionOptions, RenderedPlace
from reconciler.emission.trees import TreeRules, cluster_tree
from reconciler.names.subjects import refuse_unknown_clusters
from reconciler.rendering.memory import SourceMemory
from reconciler.rendering.problems import problems_by_object
from reconciler.repository import Repository
from reconciler.repository.location import is_address
from reconciler.source.desired import Desired, clusters_of_unknown_health
from render.errors import ConfigError, InputError
from render.model import Manifest
from render.settings.emission import Deployer
from render.words import first_few

from .outputs import Selection, works_as_manifests
from .rendering import PreviewOptions, preview_outcome


class EmissionRequest(Struct, frozen=True, kw_only=True):
    """The tool to emit objects for, the rendered commit and the clusters (none: all); ``address`` is the repository's.

    Without an address it is that of the remote on which the rendered branch is published.
    """

    deployer: Deployer
    options: EmissionOptions
    revision: str = ""
    clusters: tuple[str, ...] = ()
    address: str = ""


def emit_objects(repository: Repository, request: EmissionRequest) -> Emission:
    """Return the objects by which a tool delivers a rendered commit."""
    context, desired, commit = context_and_source_of_commit(repository, request.revision)
    commits = RenderedCommits(repository, context.members)
    known = {*commits.commit_contents(commit).tree.clusters, *(cluster.name for cluster in context.members)}
    refuse_unknown_clusters(request.clusters, known)
    if request.address and not is_address(request.address):
        hint = "write one as https://HOST/PATH, ssh://HOST/PATH or USER@HOST:PATH"
        raise ConfigError(f"{request.address!r} is no address of a repository", hint=hint)
    fleet = context.fleet
    secret = fleet.decryption.secret.name if fleet.decryption.secret else ""
    options = replace(request.options, prefix=fleet.branch_prefix, decryption_secret=secret)
    address = request.address or address_of_publication(context.publication)
    chosen = request.clusters or tuple(sorted(commits.commit_contents(commit).tree.clusters))
    trees = _trees_of_clusters(
        commits, commit, context, [(name, rendered_place(fleet, name, address, options)) for name in chosen]
    )
    emission = objects_of(request.deployer, trees, options)
    return replace(emission, notes=(*emission.notes, *_notes_on_rollouts(desired, chosen)))


def _notes_on_rollouts(desired: Desired, clusters: Container[str]) -> Iterator[str]:
    """Yield a line for each rollout policy whose gates nobody answers where the tool applies."""
    unknown = [name for name in sorted(clusters_of_unknown_health(desired)) if name in clusters]
    for policy in desired.rollout_policies if unknown else ():
        yield (
            f"{policy} is not told what the tool did: its gates have no answer in {first_few(unknown)}, unless"
            " spec.emit[].status of argosy.yaml says how passes read that"
        )


def _trees_of_clusters(
    commits: RenderedCommits, commit: str, context: FleetContext, chosen: Iterable[tuple[str, RenderedPlace]]
) -> Iterator[ClusterTree]:
    bindings = commits.commit_contents(commit).bindings
    preserved = frozenset(ref for ref, binding in bindings.items() if binding.preserve_resources_on_deletion)
    rules = TreeRules(fields=context.fleet.field_rules, preserved=preserved)
    for cluster, place in chosen:
        yield cluster_tree(cluster, commits.desired(cluster, commit).objects, place, rules)


def address_of_publication(publication: Publication) -> str:
    """Return the address of the remote where branches are published, without the account that it may name."""
    remote = publication.remote
    address = remote if is_address(remote) else publication.repository.settings.last(f"remote.{remote}.url")
    if not remote or not is_address(address):
        raise ConfigError("the repository has no remote that others could read", hint="name its address with --url")
    return address_safe_to_publish(address)


def address_safe_to_publish(address: str) -> str:
    """Return an address that may be written down: over https without an account, and over SSH as a URL.

    >>> (
    ...     address_safe_to_publish("https://me:token@git.example.com/fleet.git"),
    ...     address_safe_to_publish("git@git.example.com:team/fleet"),
    ... )
    ('https://git.example.com/fleet.git', 'ssh://git@git.example.com/team/fleet')
    """
    if "://" not in address:
        host, _, path = address.partition(":")
        return f"ssh://{host}/{path.removeprefix('/')}"
    parts = urlsplit(address)
    account, _, host = parts.netloc.rpartition("@")
    kept = account.partition(":")[0] if parts.scheme == "ssh" else ""
    return urlunsplit(parts._replace(netloc=f"{kept}@{host}" if kept else host, query="", fragment=""))


def exported_source(repository: Repository, revision: str) -> Emission:
    """Return Karmada's objects of a source; InputError lists what is wrong with it."""
    loaded = read_loaded(repository, repository.resolve(revision or "HEAD"), facts=reader_of_recorded_facts(repository))
    if loaded.problems_that_block:
        raise InputError(loaded.problems, warnings=loaded.desired.warnings)
    emission = karmada_objects(loaded.desired, loaded.karmada)
    left = tuple(sorted({f"left out: {each.warning}" for each in loaded.broken}))
    return Emission(files=emission.files, notes=(*emission.notes, *left))


def exported_works(repository: Repository, revision: str, clusters: tuple[str, ...], log: Log) -> Emission:
    """Return the Works of a source, by the namespace of each cluster, and the objects that have none."""
    outcome = preview_outcome(repository, revision, SourceMemory(), log, PreviewOptions(is_first=True))
    refuse_unknown_clusters(clusters, [each.name for each in outcome.source.desired.clusters])
    found: dict[str, list[Manifest]] = {}
    for work in works_as_manifests(outcome, Selection(clusters=clusters)):
        found.setdefault(f"{work['metadata']['namespace']}.yaml", []).append(work)
    files = tuple((path, tuple(manifests)) for path, manifests in sorted(found.items()))
    return Emission(files=files, notes=tuple(map(str, problems_by_object(outcome))))
