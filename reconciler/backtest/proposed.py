"""The proposed policies, overrides, clusters, templates and settings, laid over the source of each time.

A proposed object takes the place of the one with its kind, namespace and name, wherever that stands, or is one more. A
Cluster never is one more, for nothing of it was observed. Of a proposed argosy.yaml the settings count that decide
where objects go; how files are read, and where branches are, is that of each time.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.source.desired import Desired, KarmadaObjects
from reconciler.source.digests import is_ordinary_template
from reconciler.source.files import FLEET_FILE, MAX_FILE_SIZE
from reconciler.source.fleet_file import FleetSource
from reconciler.source.loading import Loaded, load_source
from reconciler.source.reading import SourceReading
from render.cluster import Cluster
from render.errors import ConfigError, InputError, Problem
from render.gitobjects import BLOB_MODE, git_object_id
from render.model import Template
from render.settings.fleet import Fleet
from render.settings.trials import settings_that_trials_may_set

_FIELDS = ("policies", "override_policies", "taint_policies", "quotas", "clusters", "templates")
"""The fields of a source whose objects can be proposed."""
_ONLY_KNOWN = frozenset({"clusters"})
"""The fields of which a proposed object counts only while the source of a time has one of that name."""
_PLACING = ("policies", "override_policies", "taint_policies", "quotas")
"""The fields of a source that decide where objects go: not who asks, nor which clusters there are."""
_MORE_SETTINGS = ("moves", "movement_guard")
_SUFFIXES = frozenset({".yaml", ".yml", ".json"})
_KINDS = "policies, override policies, ClusterTaintPolicies, FederatedResourceQuotas, Clusters and templates"
_OF_ROLLOUTS = "a rollout goes by what clusters say of each version, and nobody knows it of those that they never had"
_REASONS: Mapping[str, str] = {
    "templates": "other objects are read or placed by it",
    "webhooks": "what it would have answered is not recorded",
    "customizations": "what objects reported is recorded as it was read then",
    "rollout_policies": _OF_ROLLOUTS,
    "rollout_controls": _OF_ROLLOUTS,
    "rollback_requests": "it asks once, at a time that no file tells",
    "reschedule_requests": "it asks once, at a time that no file tells",
    "remedies": "it acts on conditions that are not all recorded",
    "federated_autoscalers": "what members autoscaled by it is not recorded",
    "cron_autoscalers": "when it fired last is not recorded",
}
"""The reasons why objects of other fields cannot be proposed: the replay could not honour them exactly."""


class ProposedChanges(Struct, frozen=True, kw_only=True):
    """The objects that are proposed, by the field of a source that they belong to, and settings of the fleet."""

    objects: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what is proposed, for people."""
        named = (_name_of_object(each) for found in self.objects.values() for each in found)
        return (*named, *(["argosy.yaml"] if self.settings else []))

    def laid_over(self, desired: Desired) -> Desired:
        """Return a source with what is proposed; the same value where it has all of it already."""
        fleet = desired.fleet
        if any(getattr(fleet, name) != value for name, value in self.settings.items()):
            fleet = replace(fleet, **self.settings)
        fields = {
            name: _objects_with(getattr(desired, name), found, is_added=name not in _ONLY_KNOWN)
            for name, found in self.objects.items()
        }
        if fleet is desired.fleet and all(getattr(desired, name) is found for name, found in fields.items()):
            return desired
        return replace(desired, fleet=fleet, **fields)


def _objects_with(known: tuple[Any, ...], proposed: Iterable[Any], *, is_added: bool) -> tuple[Any, ...]:
    """Return objects with those that are proposed, in their order; the same value where nothing is another one.

    ``is_added``: they count also where no object has their name.
    """
    by_name = {_identity(each): each for each in known}
    meant = [each for each in proposed if is_added or _identity(each) in by_name]
    changed = {_identity(each): each for each in meant if not _is_same(by_name.get(_identity(each)), each)}
    if not changed:
        return known
    found = {**by_name, **changed}
    return tuple(found[key] for key in sorted(found))


def _is_same(known: Any, proposed: Any) -> bool:
    """Say whether an object says what one that is proposed does, wherever the two stand."""
    if known is None or isinstance(proposed, Template):
        return known is not None and proposed.manifest == known.manifest
    return bool(replace(proposed, path=known.path, document=known.document) == known)


def _identity(each: Any) -> Any:
    """Return by what an object is another one than each other of its field, and by what these are in order."""
    return each.ref if isinstance(each, Template) else (getattr(each, "namespace", ""), each.name)


def _name_of_object(each: Any) -> str:
    if isinstance(each, Cluster):
        return f"Cluster {each.name}"
    return str(getattr(each, "ref", each))


def refuse_clusters_of_no_source(proposed: ProposedChanges, known: Collection[str]) -> None:
    """Raise ConfigError for a proposed Cluster that no source of a time has: nobody knows what it would have taken."""
    unknown = sorted({each.name for each in proposed.objects.get("clusters", ())}.difference(known))
    if unknown:
        raise ConfigError(
            f"cluster {unknown[0]!r} cannot be proposed: no source of that time has it, so its health was not observed",
            hint="propose other labels, taints or places of clusters that the fleet had then",
        )


class GivenFile(NamedTuple):
    """A file outside of any commit, as a snapshot lists one."""

    path: str
    mode: int
    id: bytes
    size: int


def read_proposed_changes(paths: Sequence[Path], fleet_file: Path | None, fleet: Fleet) -> ProposedChanges:
    """Read what is proposed in files and folders; InputError lists all that is wrong with them.

    ``fleet`` has the namespace of policies that name none.
    """
    files = [found for path in paths for found in _files_at(path)]
    desired = _loaded_without_problems(files, FleetSource(fleet=fleet, folder="")).desired if paths else Desired()
    objects = {name: found for name in _FIELDS if (found := getattr(desired, name))}
    if paths and not objects:
        named = ", ".join(map(str, paths))
        raise ConfigError(f"nothing is proposed by {named}", hint=f"--policy takes files of {_KINDS}")
    return ProposedChanges(objects=objects, settings=_proposed_settings(fleet_file) if fleet_file else {})


def changes_to_source(desired: Desired, settings: Mapping[str, Any]) -> ProposedChanges:
    """Return the policies and settings of a whole source as what is proposed; some settings are others than its own.

    Clusters and templates are left as they were at each time: taints that came and went belong to what happened.
    """
    objects = {name: found for name in _PLACING if (found := getattr(desired, name))}
    fields = {name: getattr(desired.fleet, name) for name in _fields_of_settings()}
    return ProposedChanges(objects=objects, settings={**fields, **settings})


def _proposed_settings(path: Path) -> dict[str, Any]:
    content = _content_of(path)
    file = GivenFile(FLEET_FILE, BLOB_MODE, git_object_id("blob", content), len(content))
    loaded = load_source([file], SourceReading(lambda _ids: {file.id: content}))
    if loaded.problems:
        raise InputError([replace(each, path=str(path)) for each in loaded.problems])
    return {name: getattr(loaded.desired.fleet, name) for name in _fields_of_settings()}


@cache
def _fields_of_settings() -> tuple[str, ...]:
    """Return the fields of a fleet that decide where objects go, and what keeps them from moving."""
    tried = {name for found in settings_that_trials_may_set().values() for name in found}
    return tuple(sorted(tried.union(_MORE_SETTINGS)))


def _files_at(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    yield from (each for each in sorted(path.rglob("*")) if each.suffix in _SUFFIXES and each.is_file())


def _loaded_without_problems(paths: Sequence[Path], home: FleetSource) -> Loaded:
    """Load files that stand anywhere, as if each were alone in a folder; InputError names them as they were given."""
    contents = [_content_of(path) for path in paths]
    blobs = {git_object_id("blob", content): content for content in contents}
    files = [
        GivenFile(f"{number}/{path.name}", BLOB_MODE, git_object_id("blob", content), len(content))
        for number, (path, content) in enumerate(zip(paths, contents, strict=True))
    ]
    names = {file.path: str(path) for file, path in zip(files, paths, strict=True)}
    loaded = load_source(files, SourceReading(lambda ids: {id_: blobs[id_] for id_ in ids}), folder=home)
    problems = (*loaded.problems, *_problems_of_other_objects(loaded.desired))
    if problems:
        raise InputError([replace(each, path=names.get(each.path, each.path)) for each in problems])
    return loaded


def _content_of(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_FILE_SIZE:
            raise ConfigError(f"{path} is larger than the {MAX_FILE_SIZE} bytes that are read of a file")
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error


def _problems_of_other_objects(desired: Desired) -> Iterator[Problem]:
    """Yield a problem for each object that no backtest tries, with the reason."""
    names = ("templates", "webhooks", *KarmadaObjects.__struct_fields__)
    for name in names:
        for each in getattr(desired, name):
            if name not in _FIELDS or (name == "templates" and not is_ordinary_template(each)):
                reason = f": {_REASONS[name]}" if name in _REASONS else ""
                message = f"{_name_of_object(each)} cannot be proposed{reason}"
                yield Problem(getattr(each, "path", ""), 0, "", message, f"--policy takes {_KINDS}")
