"""The sources of a recorded time, each read from the one before it where nothing but ordinary templates changed.

A source of thousands of files takes a tenth of a second to load, and of thousands of commits each is another one. Most
change a file that holds nothing but templates. Such a file is loaded alone, as it was and as it is. Where it alone
gives what the whole source had of it before, it does so afterwards, too; where not, the whole source is loaded.
"""

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.branches.reading import ObservedInputs, Source, read_source
from reconciler.repository import Repository
from reconciler.source.desired import Desired
from reconciler.source.digests import is_ordinary_template
from reconciler.source.fleet_file import FleetSource
from reconciler.source.loading import Loaded, load_source
from reconciler.source.manifests import ParsedBlob, may_decide_on_others
from reconciler.source.reading import SourceReading
from render.gitobjects import BLOB_MODE
from render.model import ObjectRef, Template

from .proposed import GivenFile
from .trees import changed_paths

Templates = Mapping[ObjectRef, Template]


class SourceReader(Struct):
    """The sources of commits, the last one of which is remembered."""

    repository: Repository
    _parsed: dict[bytes, ParsedBlob] = field(default_factory=dict)
    _last: Source | None = None
    _alone: dict[tuple[str, bytes], Templates | None] = field(default_factory=dict)

    def source(self, commit: str, observed: ObservedInputs) -> Source:
        """Return the source of a commit as passes with these facts read it; nothing is emitted for other tools."""
        last = self._last
        depends_on_facts = last is None or last.desired.fact_scoped_kinds or last.desired.is_built_by_facts
        if last is None or depends_on_facts:
            found = self._read(commit, observed)
        elif last.commit == commit:
            return last
        else:
            found = self._with_changed_templates(last, commit) or self._read(commit, observed)
        self._last = found
        return found

    def _read(self, commit: str, observed: ObservedInputs) -> Source:
        read = read_source(self.repository, commit, self._parsed, facts=lambda _fleet: observed.facts)
        fleet = read.desired.fleet
        return replace(read, desired=replace(read.desired, fleet=replace(fleet, emit=()))) if fleet.emit else read

    def _with_changed_templates(self, last: Source, commit: str) -> Source | None:
        """Return a source as the last one with other templates; None where more than these is another one."""
        before, after = (self.repository.commit_info(each).tree for each in (last.commit, commit))
        desired, position = last.desired, {each.ref: number for number, each in enumerate(last.desired.templates)}
        templates = list(desired.templates)
        for path, old, new in changed_paths(self.repository, before, after):
            was, is_ = (self._templates_alone(last, path, each) for each in (old, new))
            if was is None or is_ is None or was.keys() != is_.keys():
                return None
            known = {ref: templates[position[ref]] for ref in was if ref in position}
            if known != was or any(each.ref.group in _groups_of_definitions(desired) for each in was.values()):
                return None
            for ref, template in is_.items():
                templates[position[ref]] = template
        return replace(last, commit=commit, desired=replace(desired, templates=tuple(templates)))

    def _templates_alone(self, source: Source, path: str, blob: bytes | None) -> Templates | None:
        """Return the templates of a file that is loaded alone; None where it has, or says, anything else."""
        if blob is None:
            return None
        if (path, blob) not in self._alone:
            self._alone[path, blob] = self._loaded_alone(source, path, blob)
        return self._alone[path, blob]

    def _loaded_alone(self, source: Source, path: str, blob: bytes) -> Templates | None:
        content = self.repository.read_blobs([blob])[blob]
        if may_decide_on_others(path, content):
            return None
        fleet = source.desired.fleet
        home = FleetSource(fleet=fleet, folder=self.repository.folder.under, path=fleet.path, ignore=source.ignore)
        file = GivenFile(path, BLOB_MODE, blob, len(content))
        loaded = load_source([file], SourceReading(lambda _ids: {blob: content}), folder=home)
        if not _has_only_templates(loaded):
            return None
        return {each.ref: each for each in loaded.desired.templates}


def _has_only_templates(loaded: Loaded) -> bool:
    """Say whether a file holds plain templates, of which there is nothing to say."""
    desired = loaded.desired
    bare = replace(Desired(), fleet=desired.fleet, templates=desired.templates, files=desired.files)
    is_bare = replace(desired, warnings=()) == bare and not (loaded.warnings or loaded.broken or loaded.problems)
    return is_bare and not loaded.tests and all(map(_is_plain, desired.templates))


def _is_plain(template: Template) -> bool:
    return is_ordinary_template(template) and not (template.variants or template.origin)


def _groups_of_definitions(desired: Desired) -> frozenset[str]:
    specs = (each.manifest.get("spec") for each in desired.crds)
    return frozenset(str(spec.get("group")) for spec in specs if isinstance(spec, dict))
