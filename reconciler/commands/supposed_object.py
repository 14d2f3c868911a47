"""``argosy simulate`` about one object: why it would be where it would be, and how many more of its replicas fit."""

from reconciler.commands.options.simulate_options import SimulateOptions
from reconciler.commands.options.suppositions import Suppositions
from reconciler.commands.supposed_changes import open_supposition
from reconciler.console.log import VERBOSE, Log
from reconciler.console.printing import print_data, print_output, print_text
from reconciler.console.text import sections_for_terminal
from reconciler.explain.answers import ExplainRequest, explain_request
from reconciler.explain.replay import Replay
from reconciler.names.kinds import parse_kind_and_name, ref_of_named_object
from reconciler.outputs.document import document_text
from reconciler.outputs.explanation_parts import explanation_document
from reconciler.outputs.headroom import headroom_document
from reconciler.outputs.object_explanation import ObjectExplanationDocument
from reconciler.simulation.headroom import headroom_report, sections_of_headroom, summary_of_headroom
from reconciler.simulation.passes import Simulation
from reconciler.simulation.simulated_pass import SimulatedPass
from reconciler.simulation.supposed_fleet import SupposedFleet
from render.model import ObjectRef
from render.scheduling.decisions import Trigger
from render.timing import instant_text


def show_headroom(log: Log, supposed: Suppositions, options: SimulateOptions) -> int:
    """Print the headroom of an object; return 1 where not one more replica fits for certain."""
    with open_supposition(log, supposed, options) as supposition:
        source = supposition.fleet.source_in_force
        noun, name = parse_kind_and_name([options.headroom])
        ref = ref_of_named_object(noun, name, options.namespace, source.desired.templates)
        with log.timed("find room"):
            report = headroom_report(supposition.fleet, ref, supposition.alterations, supposition.added)
    if options.output == "json":
        print_output(document_text(headroom_document(report, source=source.commit)), "json")
    else:
        sections = sections_for_terminal(sections_of_headroom(report))
        print_text((f"{summary_of_headroom(report)}\n\n", *sections), end="")
    return 1 if report.headroom.fits == 0 else 0


def show_simulated_explanation(
    log: Log, options: SimulateOptions, fleet: SupposedFleet, simulation: Simulation
) -> None:
    """Print the explanation of the object that is asked about."""
    noun, name = parse_kind_and_name([options.explained])
    ref = ref_of_named_object(noun, name, options.namespace, fleet.source_in_force.desired.templates)
    found, words = _deciding_pass(simulation, ref)
    request = ExplainRequest(noun=noun, name=name, namespace=options.namespace, seats=log.level >= VERBOSE)
    answer = explain_request(request, _replay_of_simulated_pass(fleet, found, log))
    if options.output == "json":
        print_data(document_text(explanation_document(ObjectExplanationDocument, answer.value)))
        return
    print_text(f"{words}\n")
    print_output(sections_for_terminal(answer.sections), options.output)


def _deciding_pass(simulation: Simulation, ref: ObjectRef) -> tuple[SimulatedPass, str]:
    """Return the pass that decides on an object last, and which that is in words.

    Where the passes that would come decide nothing about it, it is the one that places everything anew.
    """
    for each in reversed(simulation.configured):
        decision = each.rendered.built.schedule.decisions.get(ref)
        if decision is not None and decision.trigger is not Trigger.NONE:
            return each, f"as the pass at {instant_text(each.at)} would decide, which comes by itself:"
    return simulation.ideal.rendered_pass(), "by itself it stays where it is; placed anew, this would be decided:"


def _replay_of_simulated_pass(fleet: SupposedFleet, found: SimulatedPass, log: Log) -> Replay:
    """Return a simulated pass as one that is explained."""
    outcome = fleet.outcome_of_pass(found)
    facts = fleet.repository.commit_info(fleet.facts_commit) if fleet.facts_commit else None
    return Replay(repository=fleet.repository, log=log, outcome=outcome, facts=facts)
