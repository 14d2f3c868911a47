"""RolloutPolicy, ClusterRolloutPolicy and RolloutControl of argosy.dev/v1alpha1: their schemas, and the rules for them.

Whatever a pass does not do is no field here, so that nobody relies on a gate that is not kept.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from render.cron.occurrences import time_zone
from render.model import ARGOSY_API_VERSION
from render.notations import WEEKDAYS, minutes_of_time, seconds_of_duration
from render.settings.moves import AT_ONCE, MAKE_BEFORE_BREAK
from render.syntax import fault_of_dns_label, fault_of_label_key, quoted_text
from render.timing import parse_instant

from .findings import Findings
from .placements import check_cluster_affinity
from .policies import check_selectors, set_selector_namespaces
from .policy_warnings import warn_of_affinity, warn_of_selectors
from .rollout_checks import CHECKS, check_checks
from .schema import INT32, Flag, ListOf, Node, Portion, Record, Text, Whole
from .shared_schema import CLUSTER_AFFINITY, RESOURCE_SELECTOR, TEXT
from .stages import AdmittedKind, Object
from .walking import Reading, walk_for_node

Plain = Mapping[str, Any]

IMPLICIT_WAVE = "others"
"""The name of the last wave, of clusters that no wave of a policy takes."""

ROLLOUT_KINDS = ("RolloutPolicy", "ClusterRolloutPolicy")
CONTROL_KIND = "RolloutControl"
FLEET_KIND = "Fleet"
"""The kind of the rollout that stands for what the calendar of argosy.yaml holds back."""

_GATE = Record(
    {"healthyFor": TEXT, "deadline": TEXT, "maxStatusAge": TEXT, "share": Portion(minimum=1), "checks": CHECKS}
)
_EVERYWHERE: Mapping[str, Node] = {
    "maxConcurrent": Portion(minimum=1),
    "maxConcurrentPer": ListOf(
        Record({"field!": Text(choices=("region", "zone", "provider")), "limit!": Portion(minimum=1)})
    ),
    "maxFailures": Portion(),
    "gate": _GATE,
}
ROLLOUT_SPEC = Record(
    {
        "resourceSelectors!": ListOf(RESOURCE_SELECTOR, min_items=1),
        "priority": Whole(INT32, default=0, keep=True),
        "waves": ListOf(
            Record(
                {
                    "name!": Text(min_length=1, max_length=32),
                    "clusterAffinity": CLUSTER_AFFINITY,
                    "size": Portion(minimum=1),
                    "rest": Flag(),
                    "approval": Flag(),
                    "approvals": Whole(INT32, minimum=1),
                    "allowEmpty": Flag(),
                    **_EVERYWHERE,
                }
            )
        ),
        **_EVERYWHERE,
        "maxUnreachable": Portion(),
        "approvers": ListOf(Text(min_length=1)),
        "onDeadline": Text(choices=("Fail", "Wait"), default="Fail"),
        "onFailure": Text(choices=("Pause", "Rollback"), default="Pause"),
        "rollback": Text(choices=("AtOnce", "ReverseWaves")),
        "onNewChange": Text(choices=("Supersede", "Wait", "Coalesce", "Expedite"), default="Supersede"),
        "windows": ListOf(
            Record({"days": ListOf(Text(choices=WEEKDAYS)), "from!": TEXT, "to!": TEXT, "timeZone": TEXT})
        ),
        "freezes": ListOf(Record({"from": TEXT, "until!": TEXT, "reason!": Text(min_length=1)})),
        "group": Record({"by": Text(choices=("Change", "Object", "Label"), default="Change"), "label": TEXT}),
        "alsoFor": ListOf(Text(choices=("FirstDeliveries", "Placements", "Removals"))),
        "moves": Text(choices=(AT_ONCE, MAKE_BEFORE_BREAK)),
        "surge": Portion(),
        "maxUnavailable": Portion(),
        "moveDeadline": TEXT,
    }
)
CONTROL_SPEC = Record(
    {
        "rollout!": Record(
            {
                "kind!": Text(choices=(*ROLLOUT_KINDS, FLEET_KIND)),
                "namespace": TEXT,
                "name!": Text(min_length=1),
                "group": TEXT,
            }
        ),
        "change!": Text(min_length=1),
        "verb!": Text(choices=("Pause", "Resume", "Approve", "Retry", "Abort", "Emergency", "Confirm", "Expedite")),
        "wave": TEXT,
        "reason": TEXT,
        "by": TEXT,
        "at!": TEXT,
    }
)


_VERBS_OF_CALENDAR = ("Emergency", "Confirm")


_VERBS_WITH_REASON = ("Emergency", "Expedite")
"""The requests that go past what a policy says."""


def rollout_kinds() -> tuple[AdmittedKind, ...]:
    """Return the kinds; closures are made when they are first asked for."""
    policies = (
        AdmittedKind(
            api_version=ARGOSY_API_VERSION,
            kind=kind,
            is_namespaced=kind == ROLLOUT_KINDS[0],
            schema=ROLLOUT_SPEC,
            spec=walk_for_node(ROLLOUT_SPEC, Reading(is_typed=False)),
            mutate=set_defaults_of_rollout_policy,
            check=check_rollout_policy,
            warn=warn_of_rollout_policy,
        )
        for kind in ROLLOUT_KINDS
    )
    control = AdmittedKind(
        api_version=ARGOSY_API_VERSION,
        kind=CONTROL_KIND,
        is_namespaced=False,
        schema=CONTROL_SPEC,
        spec=walk_for_node(CONTROL_SPEC, Reading(is_typed=False)),
        check=check_rollout_control,
    )
    return (*policies, control)


def set_defaults_of_rollout_policy(policy: Object, _findings: Findings) -> None:
    """Give selectors of a namespaced policy its namespace."""
    set_selector_namespaces(policy["spec"].get("resourceSelectors") or (), policy["metadata"].get("namespace"))


def check_rollout_policy(policy: Object, findings: Findings) -> None:
    """Report selectors of other namespaces, waves that cannot be told apart or take nothing, and unreadable times."""
    spec = policy["spec"]
    check_selectors(spec.get("resourceSelectors") or (), policy["metadata"].get("namespace"), findings)
    _check_gate(spec.get("gate") or {}, "spec.gate", findings)
    _check_calendar(spec, findings)
    if spec.get("onNewChange") == "Expedite" and not spec.get("approvers"):
        findings.required("spec.approvers", hint="name who may expedite a change")
    if spec.get("rollback") and spec.get("onFailure") != "Rollback":
        findings.problem("spec.rollback", "means nothing where nothing goes back", hint="write onFailure: Rollback")
    _check_group(spec.get("group") or {}, findings)
    if "Placements" in (spec.get("alsoFor") or ()) and spec.get("moves") == MAKE_BEFORE_BREAK:
        message = f"{MAKE_BEFORE_BREAK} does not go together with alsoFor: Placements, by which waves free replicas"
        findings.problem("spec.moves", message, hint="keep one of them")
    _check_move_deadline(spec, findings)
    waves = spec.get("waves") or ()
    _check_names_of_waves(waves, findings)
    for number, wave in enumerate(waves):
        here = f"spec.waves[{number}]"
        _check_gate(wave.get("gate") or {}, f"{here}.gate", findings)
        check_cluster_affinity(wave.get("clusterAffinity"), f"{here}.clusterAffinity", findings)
        _check_clusters_of_wave(wave, here, findings, is_last=number == len(waves) - 1)


def _check_names_of_waves(waves: Sequence[Plain], findings: Findings) -> None:
    seen: set[str] = set()
    for number, name in enumerate(wave["name"] for wave in waves):
        here = f"spec.waves[{number}].name"
        if fault := fault_of_dns_label(name) if name else "":
            findings.problem(here, fault)
        if name == IMPLICIT_WAVE:
            message = f"{IMPLICIT_WAVE!r} is the wave of all clusters that no wave takes"
            findings.problem(here, message, hint="give it another name")
        if name in seen:
            findings.problem(here, f"another wave is called {quoted_text(name)}", kind="Duplicate")
        seen.add(name)


def _check_clusters_of_wave(wave: Plain, path: str, findings: Findings, *, is_last: bool) -> None:
    """Report a wave that says nothing of its clusters, or two things; the rest comes last."""
    chosen = [name for name in ("clusterAffinity", "size") if wave.get(name) is not None]
    if not chosen and not wave.get("rest"):
        hint = "write clusterAffinity, size or both; or rest: true for all clusters that are left"
        findings.problem(path, "does not say which clusters it takes", hint=hint)
    if chosen and wave.get("rest"):
        findings.problem(f"{path}.rest", f"means nothing beside {' and '.join(chosen)}", hint="keep one of them")
    elif wave.get("rest") and not is_last:
        findings.problem(f"{path}.rest", "leaves no cluster for the waves after it", hint="make it the last wave")


def _check_group(group: Plain, findings: Findings) -> None:
    """Report groups by a label that is not named, or is none, and a label that nothing is grouped by."""
    by, label = group.get("by"), group.get("label") or ""
    if by == "Label" and not label:
        findings.required("spec.group.label", hint="name the label whose values make groups")
    elif by != "Label" and label:
        findings.problem("spec.group.label", "means nothing unless objects are grouped by it", hint="write by: Label")
    elif label and (fault := fault_of_label_key(label)):
        findings.problem("spec.group.label", fault)


def _check_move_deadline(spec: Plain, findings: Findings) -> None:
    text = spec.get("moveDeadline")
    found = None if text is None else seconds_of_duration(text)
    if text is not None and (not found or not found.is_integer()):
        message = f"{quoted_text(text)} is no time in whole seconds that could pass"
        findings.problem("spec.moveDeadline", message, hint="write it as '30m' or '2h'")


def _check_gate(gate: Plain, path: str, findings: Findings) -> None:
    seconds = {
        name: seconds_of_duration(gate[name]) for name in ("healthyFor", "deadline", "maxStatusAge") if name in gate
    }
    for name, found in seconds.items():
        if found is None or not found.is_integer():
            message = f"{quoted_text(gate[name])} is no time in whole seconds"
            findings.problem(f"{path}.{name}", message, hint="write it as '90s', '10m' or '2h'")
    healthy_for, deadline = seconds.get("healthyFor"), seconds.get("deadline")
    if deadline is not None and deadline <= (healthy_for or 0):
        hint = "a cluster can only be in time if the deadline is longer than healthyFor"
        findings.problem(f"{path}.deadline", "is over before any cluster can be through", hint=hint)
    if seconds.get("maxStatusAge") == 0:
        findings.problem(f"{path}.maxStatusAge", "no status is ever so new", hint="write it as '90s' or '5m'")
    check_checks(gate.get("checks") or (), f"{path}.checks", findings)


def _check_calendar(spec: Plain, findings: Findings) -> None:
    """Report windows and freezes of which nobody can say when they are."""
    for number, window in enumerate(spec.get("windows") or ()):
        here = f"spec.windows[{number}]"
        for name in ("from", "to"):
            if minutes_of_time(window[name]) is None:
                message = f"{quoted_text(window[name])} is no time of the day"
                findings.problem(f"{here}.{name}", message, hint="write it as '09:30'")
        try:
            time_zone(window.get("timeZone") or "UTC")
        except LookupError as error:
            findings.problem(f"{here}.timeZone", error.args[0], hint="write it as 'Europe/Berlin'")
    for number, freeze in enumerate(spec.get("freezes") or ()):
        _check_freeze(freeze, f"spec.freezes[{number}]", findings)


def _check_freeze(freeze: Plain, path: str, findings: Findings) -> None:
    times = {name: parse_instant(freeze[name]) for name in ("from", "until") if freeze.get(name)}
    for name, instant in times.items():
        if instant is None:
            message = f"{quoted_text(freeze[name])} is no time"
            findings.problem(f"{path}.{name}", message, hint="write it as '2026-03-01T14:05:00Z'")
    begins, ends = times.get("from"), times.get("until")
    if not freeze["until"]:
        findings.required(f"{path}.until", hint="a freeze ends by itself: say when")
    if begins and ends and begins >= ends:
        findings.problem(f"{path}.until", "is not after its beginning")


def warn_of_rollout_policy(policy: Plain, findings: Findings) -> None:
    """Warn of selectors and affinities that select nothing, or something else than they seem to."""
    spec = policy["spec"]
    warn_of_selectors(spec["resourceSelectors"], findings)
    for number, wave in enumerate(spec.get("waves") or ()):
        warn_of_affinity(wave.get("clusterAffinity"), f"spec.waves[{number}].clusterAffinity", findings)


def check_rollout_control(control: Object, findings: Findings) -> None:
    """Report a control of which nobody can say which rollout, which wave or which time it is about."""
    spec = control["spec"]
    rollout, verb = spec["rollout"], spec["verb"]
    is_namespaced = rollout["kind"] == ROLLOUT_KINDS[0]
    if is_namespaced and not rollout.get("namespace"):
        findings.required("spec.rollout.namespace", hint="name the namespace of the RolloutPolicy")
    if not is_namespaced and rollout.get("namespace"):
        findings.problem("spec.rollout.namespace", f"a {rollout['kind']} is in no namespace", hint="leave it out")
    if rollout["kind"] == FLEET_KIND and verb not in _VERBS_OF_CALENDAR:
        message = f"{verb} means nothing to what the calendar of argosy.yaml holds back"
        findings.problem("spec.verb", message, hint=f"write {' or '.join(_VERBS_OF_CALENDAR)}")
    if verb in _VERBS_WITH_REASON and not spec.get("reason"):
        findings.required("spec.reason", hint="say why it cannot wait")
    if verb == "Approve" and not spec.get("wave"):
        findings.required("spec.wave", hint="name the wave that is approved")
    if verb != "Approve" and spec.get("wave"):
        findings.problem("spec.wave", f"means nothing to {verb}, which is about all waves", hint="leave it out")
    if spec["at"] and parse_instant(spec["at"]) is None:
        message = f"{quoted_text(spec['at'])} is no time"
        findings.problem("spec.at", message, hint="write it as '2026-03-01T14:05:00Z'")
