"""Everything worth a warning in a source that loads: warnings of loading, policies that lose, overrides that miss."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from overrides.lint import LineOf, lint_overrides
from reconciler.branches.in_force import (
    changes_of_fleet_source,
    fleet_source_at,
    published_fleet,
    rendered_tip_or_none,
    settings_in_force,
    words_on_renaming_fleet,
)
from reconciler.branches.publication import publication_of
from reconciler.branches.reading import (
    ObservedInputs,
    Source,
    read_loaded,
    read_observed_inputs,
    reader_of_recorded_facts,
    source_of_loaded,
    source_reading,
)
from reconciler.branches.schemas import recorded_schemas
from reconciler.console.cleaning import without_passwords
from reconciler.console.clock import given_or_current_time
from reconciler.console.log import Log
from reconciler.guards.continuity import clusters_renamed_by_hand, problems_of_continuity
from reconciler.ledger.facts import Facts
from reconciler.pipeline.claims import claims_of
from reconciler.pipeline.previous import Previous
from reconciler.rendering.memory import SourceMemory
from reconciler.repository import Repository
from reconciler.source.broken import LostObject
from reconciler.source.desired import Desired
from reconciler.source.facts import clusters_corrected_by_facts
from reconciler.source.files import Skipped
from reconciler.source.fleet_file import FleetSource, load_fleet
from reconciler.source.loading import Loaded
from reconciler.source.read_objects import NO_OBJECT_READ, ReadObjects, objects_read
from reconciler.source.schemas.checks import SchemaChecks
from reconciler.source.schemas.observed import ObservedSchemas
from reconciler.source.unread_forms import NOTHING_READ, warning_of_nothing_read
from reconciler.trial.names import problems_of_unknown_names
from render.binding import Binding
from render.boundary import result_or_substitute, unexpected_problem
from render.errors import GitError, Problem
from render.model import ObjectRef
from render.settings.fleet import Fleet
from render.settings.switches import TemplateValidation
from render.words import first_few

from .dependencies import warnings_of_missing_dependencies
from .divisions import division_problems
from .lost_places import lost_place_warnings
from .policies import policy_warnings, released_warnings
from .rollouts import move_problems, rollout_problems, rollout_warnings
from .source_warnings import (
    idle_rule_warnings,
    named_workload_warnings,
    price_warnings,
    protection_warnings,
    pruned_field_warnings,
    warnings_of_unfilled_texts,
)
from .unselected import unselected_warnings
from .webhooks import unanswered_webhooks

if TYPE_CHECKING:
    from reconciler.rendering.rendered_objects import RenderedProblems

    from .resilience import ResilienceFindings

OVERRIDE, RENAMED, SETTING = "Override", "RenamedByHand", "Setting"
SETTING_HINT = "it waits until somebody accepts it: argosy reconcile --accept-settings"
NO_BINDINGS: Mapping[ObjectRef, Binding] = {}


class Validation(Struct, frozen=True, kw_only=True):
    """The problems and warnings of a source; ``desired`` is None where it cannot be used.

    ``skipped`` are the files that hold no Kubernetes object, ``lost`` the objects of which nothing is used.
    ``objects`` is how many objects there are, and how many are read.
    """

    commit: str
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    desired: Desired | None
    skipped: tuple[Skipped, ...] = ()
    lost: tuple[LostObject, ...] = ()
    objects: ReadObjects = NO_OBJECT_READ

    @property
    def is_nothing_read(self) -> bool:
        """Say whether there is something that objects could be made of, and nothing of it is read."""
        return any(each.kind == NOTHING_READ for each in self.warnings)


def validation_of(
    repository: Repository, commit: str, log: Log, memory: SourceMemory | None = None, *, base: str = ""
) -> Validation:
    """Check the source of a commit ("": the work tree). A source with problems is not looked at any further.

    Its settings are compared with those of ``base`` ("": those in force, as far as this clone has them). The limits of
    a base that is named go before weaker ones.
    """
    memory, home = memory or SourceMemory(), _fleet_source_before(repository, commit, base)
    judge = home.fleet if base and home is not None else None
    loaded = read_loaded(repository, commit, memory.parsed, facts=reader_of_recorded_facts(repository), judged_by=judge)
    objects = _objects_of_repository(repository, loaded, memory)
    if home is not None:
        settings = setting_warnings(repository, home, loaded)
        loaded = replace(loaded, desired=replace(loaded.desired, warnings=(*settings, *loaded.desired.warnings)))
    with suppress(GitError):  # what is rendered is looked for where the settings in force say
        fleet = published_fleet(repository, base or commit, loaded.desired.fleet, is_first=True)
        loaded = replace(loaded, desired=replace(loaded.desired, fleet=fleet))
    new = _problems_of_continuity(repository, commit, loaded, memory)
    problems = tuple(sorted((*loaded.problems_that_block, *new)))
    if problems:
        left_out = {each.warning for each in loaded.broken if each.problem not in new}
        warnings = tuple(sorted((*loaded.desired.warnings, *left_out)))
    else:
        unread = warning_of_nothing_read(loaded.files, loaded.desired)
        warnings = tuple(sorted((*loaded.warnings, *unread, *_warnings_of_source(repository, loaded, memory))))
    found = Validation(
        commit=commit,
        problems=problems,
        warnings=warnings,
        desired=None if problems else loaded.desired,
        skipped=loaded.desired.without_objects,
        objects=objects,
        lost=loaded.lost,
    )
    return found if problems else _validation_of_outcome(found, repository, loaded, memory, log)


def _objects_of_repository(repository: Repository, loaded: Loaded, memory: SourceMemory) -> ReadObjects:
    """Return how many objects a repository has, and how many of them are read."""
    folder = load_fleet(loaded.files, folder=repository.folder.under, read=repository.read_blobs).folder
    with source_reading(repository, memory.parsed) as reading:
        return objects_read(loaded.files, loaded, folder, reading)


def _fleet_source_before(repository: Repository, commit: str, base: str) -> FleetSource | None:
    """Return the argosy.yaml of a base, or the one in force; None where there is none, or it cannot be read."""
    if base:
        home = fleet_source_at(repository, base)
        return None if home.problems else home
    with suppress(GitError):
        found = settings_in_force(repository, commit or repository.resolve("HEAD"), rendered_tip_or_none)
        return found.home if found is not None else None
    return None


def setting_warnings(repository: Repository, before: FleetSource, loaded: Loaded) -> tuple[Problem, ...]:
    """Return a warning for each setting that waits until somebody accepts it."""
    home = load_fleet(loaded.files, folder=repository.folder.under, read=repository.read_blobs)
    if home.problems or not loaded.files:
        return ()
    line_of = loaded.lines.line_of if loaded.lines else None
    changes = changes_of_fleet_source(before, home)
    return tuple(
        Problem(
            home.expected_path,
            line_of(home.path, 0, each.field) if line_of else 0,
            each.field,
            without_passwords(f"is another setting: {str(each).removeprefix(f'{each.field}: ')}"),
            words_on_renaming_fleet(before.fleet, home.fleet) if each.field == "metadata.name" else SETTING_HINT,
            SETTING,
        )
        for each in changes
        if each.waits
    )


def _validation_of_outcome(
    found: Validation, repository: Repository, loaded: Loaded, memory: SourceMemory, log: Log
) -> Validation:
    """Return a validation with what is wrong with rollouts, with resilience, or with objects as clusters get them."""
    stuck = tuple(sorted(_problems_of_rollouts(repository, loaded)))
    if stuck:
        return replace(found, problems=stuck, desired=None)
    source = source_of_loaded(found.commit, loaded)
    survived = _resilience_of_source(repository, source, memory, loaded.lines.line_of if loaded.lines else None)
    if survived is not None:
        if survived.problems:
            return replace(found, problems=survived.problems, desired=None)
        found = replace(found, warnings=tuple(sorted((*found.warnings, *survived.warnings))))
    rendered = _problems_of_rendering(repository, source, memory, log)
    return _validation_with_rendered(found, rendered) if rendered else found


def _resilience_of_source(
    repository: Repository, source: Source, memory: SourceMemory, line_of: LineOf | None
) -> "ResilienceFindings | None":
    """Return what is wrong with the resilience that the source asks for, as after the last rendered commit known here.

    None where it asks for none.
    """
    if not source.desired.resilience_policies:
        return None
    from .resilience import resilience_of_source

    last = partial(_last_rendered_commit, repository, source.desired.fleet, memory)
    return resilience_of_source(repository, source, last, line_of)


def _validation_with_rendered(validation: Validation, rendered: "RenderedProblems") -> Validation:
    """Add what is wrong with objects as their clusters get them."""
    if rendered.refused:
        return replace(validation, problems=rendered.refused, desired=None)
    return replace(validation, warnings=tuple(sorted((*validation.warnings, *rendered.warned))))


def _problems_of_rendering(
    repository: Repository, source: Source, memory: SourceMemory, log: Log
) -> "RenderedProblems | None":
    """Return what is wrong with objects as their clusters get them; None where the templates tell all of it.

    They are made as after the last rendered commit that is known here.
    """
    desired = source.desired
    if desired.fleet.validation is TemplateValidation.OFF or not desired.policies:
        return None
    with suppress(GitError):
        status = publication_of(repository, desired.fleet).ref(desired.fleet.status_branch)
        observed = read_observed_inputs(repository, repository.tip(status))
        kinds = (each.versioned_kind for each in desired.templates)
        if _may_clusters_refuse_more(desired, observed.facts) or observed.schemas.has(kinds):
            from reconciler.rendering.inputs import RenderInputs
            from reconciler.rendering.outcome import run_pass
            from reconciler.rendering.rendered_objects import problems_of_rendered_objects

            previous = _last_rendered_commit(repository, desired.fleet, memory)
            given = RenderInputs(observed=observed, now=given_or_current_time())
            return problems_of_rendered_objects(run_pass(repository, source, previous, given, log))
    return None


def _problems_of_rollouts(repository: Repository, loaded: Loaded) -> Iterator[Problem]:
    """Yield what is wrong with rollouts and moves, given the clusters that passes have seen as far as is known here."""
    desired, seen = loaded.desired, frozenset[str]()
    if not desired.rollout_policies and not desired.fleet.moves.is_make_before_break:
        return
    with suppress(GitError):
        status = publication_of(repository, desired.fleet).ref(desired.fleet.status_branch)
        seen = frozenset(read_observed_inputs(repository, repository.tip(status)).facts)
    line_of = loaded.lines.line_of if loaded.lines else None
    yield from (*rollout_problems(desired, seen, line_of), *move_problems(desired, seen, line_of))


def _may_clusters_refuse_more(desired: Desired, facts: Facts) -> bool:
    """Say whether clusters may refuse what templates do not show: a rule changes it, or their version is known."""
    rules = (rule for policy in desired.override_policies for rule in policy.rules)
    versions = (cluster.kubernetes_version for cluster in clusters_corrected_by_facts(desired.clusters, facts))
    return any(rule.overriders.may_annotate for rule in rules) or any(versions)


def _problems_of_continuity(
    repository: Repository, commit: str, loaded: Loaded, memory: SourceMemory
) -> frozenset[Problem]:
    """Return what may not be left out, judged by the last rendered commit as far as this clone has it.

    Whoever asks for a check is told no of each object that is meant and left out, also where a pass goes on without it.
    Before a first run, or where the branch was not fetched, none was delivered as it is.
    """
    source = source_of_loaded(commit, loaded)
    with suppress(GitError):
        previous = _last_rendered_commit(repository, loaded.desired.fleet, memory)
        if previous is not None:
            problems = problems_of_continuity(repository, source, previous)
            source = source.without_objects_never_delivered(previous.bindings)
            return frozenset((*problems, *(each.problem for each in source.broken if each.is_answered_no)))
    source = source.without_objects_never_delivered(())
    return frozenset(each.problem for each in source.broken if each.is_answered_no)


def _last_rendered_commit(repository: Repository, fleet: Fleet, memory: SourceMemory) -> Previous | None:
    """Return the last rendered commit as far as this clone has it."""
    tip = publication_of(repository, fleet).known_tip(fleet.rendered_branch, is_first=True)
    return memory.previous(repository, tip) if tip else None


def _warnings_of_source(repository: Repository, loaded: Loaded, memory: SourceMemory) -> tuple[Problem, ...]:
    desired, line_of = loaded.desired, loaded.lines.line_of if loaded.lines else None
    policies, clusters = desired.override_policies, desired.clusters
    overrides = partial(lint_overrides, policies, desired.templates, clusters, line_of=line_of, charts=desired.charts)
    observed = partial(_observed_schemas, repository, desired.fleet)
    looks: tuple[Callable[[], Iterable[Problem]], ...] = (
        lambda: _warning_of_unchecked_kinds(desired, observed(), line_of),
        partial(warnings_of_unfilled_texts, desired.templates, line_of),
        partial(pruned_field_warnings, desired.templates, line_of),
        partial(protection_warnings, desired.templates, line_of),
        partial(_warnings_of_policies, repository, desired, memory, line_of),
        partial(_warnings_of_renames_by_hand, repository, desired, memory, line_of),
        partial(named_workload_warnings, desired, line_of),
        partial(idle_rule_warnings, desired, line_of),
        partial(price_warnings, desired, line_of),
        lambda: rollout_warnings(desired, line_of, given_or_current_time()),
        lambda: (replace(each, kind=each.kind or OVERRIDE) for each in overrides()),
        lambda: problems_of_unknown_names(loaded.tests, desired, line_of) if line_of else (),
    )
    return tuple(each for look in looks for each in _problems_of_look(look))


def _problems_of_look(look: Callable[[], Iterable[Problem]]) -> tuple[Problem, ...]:
    """Return what one look finds; an error that nobody thought of is a warning, and ends no other look."""
    return result_or_substitute(
        lambda: tuple(look()), lambda error: (unexpected_problem("", error, what="some warnings are missing"),)
    )


def _observed_schemas(repository: Repository, fleet: Fleet) -> ObservedSchemas:
    """Return the schemas of members as the status branch is known here."""
    with suppress(GitError):
        return recorded_schemas(repository, repository.tip(publication_of(repository, fleet).ref(fleet.status_branch)))
    return ObservedSchemas()


def _warning_of_unchecked_kinds(
    desired: Desired, observed: ObservedSchemas, line_of: LineOf | None
) -> tuple[Problem, ...]:
    """Return one warning about all kinds without a schema, at the first object of one; none if nothing is checked."""
    if desired.fleet.validation is TemplateValidation.OFF:
        return ()
    checks = SchemaChecks(lambda: (), desired.templates)
    found = [
        each
        for each in desired.templates
        if not checks.has_schema(each.ref.group, each.ref.kind) and not observed.has([each.versioned_kind])
    ]
    if not found:
        return ()
    kinds, first = sorted({each.ref.group_kind for each in found}), found[0]
    line = line_of(first.path, first.document, "kind") if line_of else 0
    message = f"there is no schema of {first_few(kinds)}, so their fields are not checked"
    return (Problem(first.path, line, "kind", message, "add their CustomResourceDefinitions to the templates"),)


def _warnings_of_renames_by_hand(
    repository: Repository, desired: Desired, memory: SourceMemory, line_of: LineOf | None
) -> Iterator[Problem]:
    """Yield a warning at each Cluster that is described like one that left since the last rendered commit."""
    with suppress(GitError):
        tip = publication_of(repository, desired.fleet).known_tip(desired.fleet.rendered_branch)
        if tip is None:
            return
        place_by_name = {cluster.name: (cluster.path, cluster.document) for cluster in desired.clusters}
        for old, new in clusters_renamed_by_hand(repository, desired, memory.previous(repository, tip)).items():
            path, document = place_by_name[new]
            line = line_of(path, document, "metadata.name") if line_of else 0
            message = f"{old} left, and {new} is described alike: was it renamed?"
            hint = f"if it is the same cluster: argosy cluster rename {old} {new}"
            yield Problem(path, line, "metadata.name", message, hint, RENAMED)


def _warnings_of_policies(
    repository: Repository, desired: Desired, memory: SourceMemory, line_of: LineOf | None
) -> tuple[Problem, ...]:
    """Judge policies by the last rendered commit as well, as far as this clone has it and it can be read."""
    with suppress(GitError):
        tip = publication_of(repository, desired.fleet).known_tip(desired.fleet.rendered_branch)
        if tip is not None:
            previous, observed = memory.previous(repository, tip), read_observed_inputs(repository, tip)
            return (
                *_warnings_of_claims(desired, observed, previous.bindings, line_of),
                *released_warnings(desired, previous, facts=observed.facts, line_of=line_of),
            )
    return tuple(_warnings_of_claims(desired, ObservedInputs(), NO_BINDINGS, line_of))


def _warnings_of_claims(
    desired: Desired, observed: ObservedInputs, previous: Mapping[ObjectRef, Binding], line_of: LineOf | None
) -> Iterator[Problem]:
    """Yield what is probably mistaken in policies, or in what they claim."""
    yield from policy_warnings(desired, facts=observed.facts, previous=previous, line_of=line_of)
    claims = claims_of(desired, previous)
    yield from lost_place_warnings(desired, claims, previous, observed.facts, line_of)
    yield from division_problems(desired, claims, observed, line_of)
    yield from warnings_of_missing_dependencies(desired, claims, line_of)
    yield from unselected_warnings(desired, claims, previous, line_of)
    yield from unanswered_webhooks(desired, claims, observed.answers, line_of)
