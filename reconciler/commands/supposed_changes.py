"""Suppositions as people type them: clusters, regions, taints, amounts, replicas and files, understood or refused.

Whatever is asked about a fleet with them, its source is read here, with all that is supposed.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import click
from msgspec import Struct
from msgspec.structs import replace

from reconciler.branches.in_force import fleet_source_at
from reconciler.branches.reading import fleet_source_of_worktree
from reconciler.commands.options.simulate_options import SimulateOptions
from reconciler.commands.options.suppositions import Suppositions
from reconciler.console.idle_options import refuse_given_options
from reconciler.console.log import Log
from reconciler.edit.labels import parse_taints
from reconciler.edit.member_fields import parse_capacity
from reconciler.edit.member_selection import MemberSelection, names_selected_among
from reconciler.names.kinds import parse_kind_and_name, ref_of_named_object
from reconciler.names.subjects import error_of_unknown_name, refuse_unknown_clusters
from reconciler.overview.instants import repository_meant
from reconciler.repository import Repository, open_repository
from reconciler.simulation.alterations import (
    Alteration,
    ChangedCapacity,
    CordonedClusters,
    LostClusters,
    ScaledObject,
    TaintedCluster,
)
from reconciler.simulation.supposed_fleet import SupposedFleet, SupposedSource, read_supposed_fleet
from reconciler.source.desired import Desired
from reconciler.source.files import may_be_read
from render.cluster import Cluster, Taint
from render.errors import UnknownName

_BESIDE = "argosy-simulate"
"""The folder in which files from elsewhere are supposed to stand."""


class Supposition(Struct, frozen=True, kw_only=True):
    """A fleet with what is supposed of it; ``added`` are the paths of files that are supposed to be in its source."""

    fleet: SupposedFleet
    alterations: tuple[Alteration, ...]
    added: tuple[str, ...]


@contextmanager
def open_supposition(log: Log, supposed: Suppositions, options: SimulateOptions) -> Iterator[Supposition]:
    """Read the fleet that is asked about, with what is supposed; its repository is open for as long."""
    if options.worktree:
        refuse_given_options(["rev", "at"], "goes without --worktree")
    with open_repository(log.repository, progress=log.transfer) as opened:
        repository, instant = repository_meant(opened, log, options.at)
        now = options.now or (datetime.fromtimestamp(instant.now, UTC) if instant and instant.now else None)
        commit = "" if options.worktree else repository.resolve(options.rev or "HEAD")
        added = _added_files(repository, commit, supposed.added) if supposed.added else {}
        with log.timed("read source"):
            wanted = SupposedSource(commit=commit, added=added)
            fleet = read_supposed_fleet(repository, wanted, log, now=now, allowed=options.allowed)
        if fleet.after is not None and _says_the_same(fleet.source.desired, fleet.after.desired):
            log.warning(
                "the files of --add change nothing: the source says the same already, or they are none that it reads"
                "\n  hint: it reads .yaml, .yml and .json below spec.source.paths"
            )
        alterations = _alterations_of_words(supposed, options.namespace, fleet.source_in_force.desired)
        yield Supposition(fleet=fleet, alterations=alterations, added=tuple(sorted(added)))


def _says_the_same(before: Desired, after: Desired) -> bool:
    """Say whether a source says the same, whatever else stands beside what it reads."""
    if (after.charts, after.builds) != (before.charts, before.builds):
        return False
    return replace(after, skipped=before.skipped, warnings=before.warnings) == before


def _alterations_of_words(supposed: Suppositions, namespace: str, desired: Desired) -> tuple[Alteration, ...]:
    """Return what is supposed of a source; UnknownName for a name that nothing there goes by, with the nearest one."""
    found: list[Alteration] = []
    if lost := frozenset(_lost_clusters(supposed, desired.clusters)):
        found.append(LostClusters(names=lost))
    if supposed.cordoned:
        selection = MemberSelection(names=supposed.cordoned)
        found.append(CordonedClusters(names=frozenset(names_selected_among(desired.clusters, selection))))
    known = [cluster.name for cluster in desired.clusters]
    for name, text in supposed.tainted:
        refuse_unknown_clusters([name], known)
        found += [TaintedCluster(name=name, taint=each) for each in _wanted_taints(text)]
    for name, text in supposed.sized:
        refuse_unknown_clusters([name], known)
        found.append(ChangedCapacity(name=name, resources=parse_capacity({}, [text])))
    found += [_scaled_object(each, namespace, desired) for each in supposed.scaled]
    return tuple(found)


def _wanted_taints(text: str) -> tuple[Taint, ...]:
    change = parse_taints([text])
    if change.removed:
        raise click.UsageError(f"--taint {text!r} takes a taint away; write KEY=VALUE:EFFECT")
    return change.wanted


def _lost_clusters(supposed: Suppositions, clusters: Sequence[Cluster]) -> Iterator[str]:
    if supposed.without_clusters:
        yield from names_selected_among(clusters, MemberSelection(names=supposed.without_clusters))
    places: tuple[tuple[str, tuple[str, ...], Callable[[Cluster], Iterable[str]]], ...] = (
        ("region", supposed.without_regions, lambda each: [each.region]),
        ("zone", supposed.without_zones, lambda each: each.zones),
        ("provider", supposed.without_providers, lambda each: [each.provider]),
    )
    for what, names, places_of in places:
        for name in names:
            found = [each.name for each in clusters if name in places_of(each)]
            if not found:
                known = {place for each in clusters for place in places_of(each) if place}
                raise error_of_unknown_name(f"no cluster of the source is in {what} {name!r}", name, known)
            yield from found


def _scaled_object(text: str, namespace: str, desired: Desired) -> ScaledObject:
    subject, sign, count = text.rpartition("=")
    if not (sign and subject and count.isdigit() and count.isascii() and len(count) < 10):
        raise click.UsageError(f"--scale {text!r}: write KIND/NAME=N, such as deploy/web=40")
    noun, name = parse_kind_and_name([subject])
    return ScaledObject(ref=ref_of_named_object(noun, name, namespace, desired.templates), replicas=int(count))


def _added_files(repository: Repository, commit: str, words: Iterable[str]) -> dict[str, bytes]:
    """Return the contents of files that are supposed to be in a source, by their paths there.

    A file of the work tree keeps its path, and stands for the one that the source has there. Others stand in a folder
    of their own, below the first that the fleet reads.
    """
    beside = _folder_beside(repository, commit)
    found: dict[str, bytes] = {}
    for word in words:
        named = Path(word)
        if not named.exists():
            raise UnknownName(f"there is no file or folder {word!r}")
        files = sorted(_files_below(named)) if named.is_dir() else [named]
        if not files:
            raise UnknownName(f"no file in {word!r} is named like a manifest: .yaml, .yml or .json")
        for path in files:
            found[_path_in_source(repository, path, named, beside)] = path.read_bytes()
    return found


def _files_below(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink() and may_be_read(path.name, path.stat().st_size):
            yield path


def _folder_beside(repository: Repository, commit: str) -> str:
    """Return the folder in which files from elsewhere are supposed to stand, with a / at its end."""
    home = fleet_source_at(repository, commit) if commit else fleet_source_of_worktree(repository)
    base = home.path.rpartition("/")[0]
    first = next((path.removeprefix("./").strip("/") for path in home.fleet.source.paths), ".")
    parts = [base, "" if first in {"", "."} or Path(first).suffix else first, _BESIDE]
    return "/".join(filter(None, parts)) + "/"


def _path_in_source(repository: Repository, path: Path, named: Path, beside: str) -> str:
    work_tree = repository.folder.work_tree
    absolute = path.resolve()
    if work_tree is not None and absolute.is_relative_to(work_tree.resolve()):
        return absolute.relative_to(work_tree.resolve()).as_posix()
    below = path.relative_to(named.parent) if named.is_dir() else Path(path.name)
    return f"{beside}{below.as_posix()}"
