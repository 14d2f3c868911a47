"""The fleet at a glance: which source is rendered, a line per cluster, how bindings are, and what is not well."""

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from typing import Any

from reconciler.console.text import table
from reconciler.pipeline.readme import ATTACHED, binding_state
from reconciler.record.binding_status import expected_clusters
from reconciler.record.cluster_files import DISCONNECTED, ClusterLine, UnhealthyObject
from reconciler.record.recorded_status import RecordedStatus, cluster_lines, unhealthy_objects
from render.binding import Binding

from .fleet import FleetStatus, as_value, binding_problems
from .objects import deviation_value

_OBSERVED = ("READY", "VERSION", "OBJECTS", "UNHEALTHY", "REPLICAS", "CONVERGED", "SINCE", "NOTE")


def fleet_text(fleet: FleetStatus, recorded: RecordedStatus, *, wide: bool) -> Iterator[str]:
    """Yield the tables of a fleet; without a status branch, those of what is rendered alone."""
    yield f"{fleet.branch} {fleet.previous.commit[:12]} holds source {fleet.previous.source[:12]}{fleet.lag}\n\n"
    lines = cluster_lines(recorded, fleet.members)
    if lines:
        yield table(("CLUSTER", *_OBSERVED), [_observed_row(name, fleet, lines.get(name)) for name in fleet.clusters])
    else:
        yield table(("CLUSTER", "OBJECTS", "REPLICAS", "NOTE"), [_row(name, fleet) for name in fleet.clusters])
    states = Counter(map(binding_state, fleet.bindings))
    yield "\nbindings: " + (", ".join(f"{number} {state}" for state, number in sorted(states.items())) or "none") + "\n"
    listed = [
        binding
        for binding in fleet.bindings
        if wide or binding_problems(binding) or binding_state(binding) == "NoPolicy"
    ]
    if listed:
        yield "\n" + table(("BINDING", "REASON", "MESSAGE"), [_binding_row(binding) for binding in listed])
    rows = [
        (each.object, each.cluster, each.reason, each.since, each.message) for each in unwell_objects(fleet, recorded)
    ]
    if rows:
        yield "\n" + table(("NOT WELL", "CLUSTER", "REASON", "SINCE", "MESSAGE"), rows)
    deviating = deviation_rows(recorded, fleet.members)
    if deviating:
        yield "\n" + table(("NOT AS COMMITTED", "CLUSTER", "ACTION", "REASON", "MESSAGE"), deviating)


def deviation_rows(recorded: RecordedStatus, members: Container[str]) -> list[tuple[str, ...]]:
    """Return a row for everything that the last pass over a member kept, left hanging or yielded, with the reason."""
    return [
        (str(each.ref), name, each.action, each.reason, each.message)
        for name, record in sorted(recorded.clusters().items())
        if name in members
        for each in record.deviations
    ]


def unwell_objects(fleet: FleetStatus, recorded: RecordedStatus) -> tuple[UnhealthyObject, ...]:
    """Return every object of a member that is not as it should be; those of other clusters are not observed."""
    return tuple(unhealthy_objects(recorded, fleet.members))


def is_well(fleet: FleetStatus, recorded: RecordedStatus) -> bool:
    """Return whether everything is placed, built and healthy, and every observed member ready."""
    late = any(
        record.state.ready not in {"", "True"} for name, record in recorded.clusters().items() if name in fleet.members
    )
    return not (late or any(map(binding_problems, fleet.bindings)) or unwell_objects(fleet, recorded))


def _row(name: str, fleet: FleetStatus) -> tuple[str, ...]:
    return name, str(fleet.objects.get(name, 0)), _replicas(name, fleet), _note(name, fleet, "")


def _observed_row(name: str, fleet: FleetStatus, line: ClusterLine | None) -> tuple[str, ...]:
    observed = line or ClusterLine()
    is_known = line is not None and name in fleet.members
    return (
        name,
        observed.ready if is_known else "",
        observed.version if is_known else "",
        str(fleet.objects.get(name, 0)),
        str(observed.unhealthy) if is_known else "",
        _replicas(name, fleet),
        observed.converged[:12],
        observed.since if is_known else "",
        _note(name, fleet, observed.outcome),
    )


def _replicas(name: str, fleet: FleetStatus) -> str:
    return str(fleet.replicas.get(name, 0)) if name in fleet.members else ""


def _note(name: str, fleet: FleetStatus, outcome: str) -> str:
    if name not in fleet.members:
        return DISCONNECTED
    reasons = Counter(map(binding_state, fleet.unbuilt.get(name, ())))
    parts = ["" if outcome == "Converged" else outcome]
    parts += [f"{number} not built: {reason}" for reason, number in sorted(reasons.items())]
    return ", ".join(filter(None, parts))


def _binding_row(binding: Binding) -> tuple[str, str, str]:
    state = binding_state(binding)
    messages = [each.message for each in binding.conditions if each.status == "False" and each.reason == state]
    return str(binding.ref), state, messages[0] if messages else placed_words(binding)


def placed_words(binding: Binding) -> str:
    """Return where an object is, with its replicas where it has some, and what it follows there."""
    replicas = {target.name: target.replicas for target in binding.targets}
    names = " ".join(f"{name}:{replicas[name]}" if replicas.get(name) else name for name in expected_clusters(binding))
    owners = ", ".join(f"{each.namespace}/{each.name}" for each in binding.required_by)
    return f"{names} (required by {owners})" if owners and binding_state(binding) == ATTACHED else names


def fleet_value(fleet: FleetStatus, recorded: RecordedStatus) -> dict[str, Any]:
    """Return the fleet as plain data: the rendered branch, and the observation of every member."""
    value, lines = as_value(fleet), cluster_lines(recorded, fleet.members)
    observed = {name: _observed_value(line) for name, line in lines.items()}
    value["clusters"] = {name: {**cluster, **observed.get(name, {})} for name, cluster in value["clusters"].items()}
    if recorded.files:
        value["unwell"] = [
            {
                "object": each.object,
                "cluster": each.cluster,
                "reason": each.reason,
                "since": each.since,
                "message": each.message,
            }
            for each in unwell_objects(fleet, recorded)
        ]
        value["deviations"] = [
            {"cluster": name, **deviation_value(each)}
            for name, record in sorted(recorded.clusters().items())
            if name in fleet.members
            for each in record.deviations
        ]
    return value


def _observed_value(line: ClusterLine) -> Mapping[str, Any]:
    return {
        "ready": line.ready,
        "version": line.version,
        "converged": line.converged or None,
        "outcome": line.outcome,
        "unhealthy": line.unhealthy,
        "since": line.since,
    }
