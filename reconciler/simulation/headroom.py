"""The headroom of an object of a fleet: how many more of its replicas fit, and what gives out first, for people too."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec import Struct

from reconciler.console.text import Section, section_with_table
from reconciler.pipeline.decisions import decisions_of_pass
from render.errors import UnknownName
from render.model import ObjectRef
from render.scheduling.headroom import Headroom, headroom_of_binding
from render.scheduling.losses import SchedulerAfterPass
from render.words import counted_noun, first_few

from .alterations import Alteration, LostClusters, altered, lost_clusters
from .assumptions import assumptions_of_headroom, words_of_pass_before
from .outcome import FactAge, ages_of_facts
from .supposed_fleet import SupposedFleet
from .text import lines_of_facts, supposed_words

_UNKNOWN = "unknown"


class HeadroomReport(Struct, frozen=True, kw_only=True):
    """The headroom of an object, with what was supposed, and how old each fact is."""

    ref: ObjectRef
    headroom: Headroom
    supposed: tuple[str, ...]
    facts: tuple[FactAge, ...]
    now: datetime
    assumptions: tuple[str, ...] = ()


def headroom_report(
    fleet: SupposedFleet, ref: ObjectRef, alterations: Sequence[Alteration], added: Iterable[str] = ()
) -> HeadroomReport:
    """Return the headroom of an object of a fleet with some alterations, without the clusters that are lost by them.

    UnknownName where the object has no number of replicas that a policy places.
    """
    lost, others = lost_clusters(alterations), [each for each in alterations if not isinstance(each, LostClusters)]
    inputs = altered(fleet.inputs_of(fleet.source_in_force), others, fleet.now)
    schedule = decisions_of_pass(inputs).schedule
    binding = next((each for each in schedule.bindings if each.ref == ref), None)
    if binding is None or binding.placement is None:
        raise UnknownName(f"no policy places {ref}", hint=_hint_of_explanation(ref))
    if not binding.is_workload or binding.components:
        raise UnknownName(f"{ref} has no number of replicas that could grow")
    after = SchedulerAfterPass(schedule.scheduler, schedule.bindings, schedule.context)
    facts, files = tuple(ages_of_facts(inputs, fleet.now)), tuple(added)
    return HeadroomReport(
        ref=ref,
        headroom=headroom_of_binding(after, binding, lost),
        supposed=supposed_words(alterations, files),
        facts=facts,
        now=fleet.now,
        assumptions=(
            *words_of_pass_before(fleet.previous, fleet.source_in_force.commit, files),
            *assumptions_of_headroom(facts, fleet.given.observed.facts, lost),
        ),
    )


def _hint_of_explanation(ref: ObjectRef) -> str:
    namespace = f" -n {ref.namespace}" if ref.namespace else ""
    return f"argosy explain {ref.kind}/{ref.name}{namespace} says why"


def summary_of_headroom(report: HeadroomReport) -> str:
    """Return the answer in a line: how many more fit, and what gives out first."""
    found, first = report.headroom, report.headroom.first
    if found.unknown:
        names = first_few(sorted(found.unknown))
        least = f"{_words_of_fitting(found.fits)}, and " if found.fits else ""
        return f"{report.ref}: {least}nobody can tell how many more: no capacity is known of {names}"
    fits = _words_of_fitting(found.fits)
    if found.copies is not None:
        fits += f" in each copy, and {counted_noun(found.copies, 'more copy', 'more copies')} in other clusters"
    gives_out = f"; {first.cluster} gives out first, by {first.resource}" if first is not None else ""
    return f"{report.ref}: {fits}{gives_out}"


def _words_of_fitting(count: int | None) -> str:
    if count == 1:
        return "1 more replica fits"
    number = "any number of" if count is None else str(count or "no")
    return f"{number} more replicas fit"


def sections_of_headroom(report: HeadroomReport) -> tuple[Section, ...]:
    """Return the rest of the answer: each cluster that it may go to, and how old the facts are."""
    found, sections = report.headroom, list[Section]()
    if report.supposed:
        sections.append(Section(title="SUPPOSED", after=report.supposed))
    rows = [
        (each.cluster, str(each.replicas), _UNKNOWN if each.fits is None else str(each.fits), each.resource)
        for each in found.clusters
    ]
    sections.append(section_with_table("CLUSTERS", ("CLUSTER", "REPLICAS", "MORE FIT", "THEN IT LACKS"), rows))
    if found.reason:
        sections.append(Section(title="ONE MORE", after=(found.reason,)))
    sections.append(Section(title="FACTS", after=tuple(lines_of_facts(report.facts, report.now))))
    sections.append(Section(title="ASSUMED", after=report.assumptions))
    return tuple(sections)
