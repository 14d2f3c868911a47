"""The output of ``argosy explain``."""

from reconciler.reference.shapes import anything, flag, mapping, number, record, records, sequence, text, texts, whole

from .parts import CLUSTER, CONDITION, MESSAGE, OBJECT, PAIRS, PREVIOUS, REASON, SOURCE, TARGETS

_SELECTORS = records({"selector": text(), "objects": whole()}, "Its selectors, and how many objects each selects.")
_CHANGE = {"path": text(), "operator": text(), "before?": anything(), "after?": anything()}
_STEPS = records(
    {
        "policy": text(),
        "rule": text(),
        "path": text("The file of the policy."),
        "changes": records(_CHANGE),
        "error?": text(),
    },
    "The rules that apply, in order, with what each changes.",
)
_OVERRIDDEN = {"clusters?": texts(), "steps?": _STEPS, "error?": text()}
_ATTEMPT = {
    "affinity?": text("The name of the affinity group."),
    "rejected?": records({"cluster": CLUSTER, "reasons": PAIRS}),
    "candidates?": records(
        {
            "cluster": CLUSTER,
            "tier": whole(),
            "score": whole(),
            "room?": whole(),
            "held?": whole(),
            "isSelected": flag(),
            "replicas": whole(),
        }
    ),
    "regions?": records({"name": text(), "clusters": texts(), "score": whole(), "isChosen": flag()}),
    "divisions?": records(
        {
            "mode": text(),
            "replicas": whole(),
            "votes?": records({"cluster": CLUSTER, "base": whole(), "votes": whole(), "more": whole()}),
            "isDescending": flag(),
        }
    ),
    "refusal?": record({"reason": REASON, "message": MESSAGE}),
}
_DECISION = {
    "ref": OBJECT,
    "trigger": text("The event that asked for the decision, or `None`."),
    "strategy": text("How replicas are assigned."),
    "decision": record(
        {
            "ref": OBJECT,
            "trigger": text(),
            "targets?": TARGETS,
            "condition?": record(CONDITION),
            "observedAffinity?": text(),
            "lastScheduledAt?": text(),
            "hint?": text(),
            "hasComponents": flag(),
        },
        "What was decided.",
    ),
    "attempts?": records(_ATTEMPT, "Each affinity group that was tried: filters, candidates, regions, divisions."),
    "terminating?": texts("The clusters that are being deleted."),
}
_UNMET = records(
    {"field": text(), "message": text(), "hint?": text()},
    "What the placement asks for and no cluster meets, or too few.",
)
OBJECT_EXPLANATION = {
    "source": SOURCE,
    "previous": PREVIOUS,
    "ref": OBJECT,
    "path?": text("The file of the template."),
    "origin?": text("The file and line that a tool made the object from, where `path` is what asks for that."),
    "scaled?": text("The rule of a CronFederatedHPA that set its replicas, and the one that fires next."),
    "interpreters?": texts("The customizations and webhooks of the source that are asked about its kind."),
    "descheduled?": text("What the descheduler last took from clusters."),
    "moved?": text("When it last left clusters by itself, and why."),
    "left?": texts("The clusters that it left by itself in the pass that decided."),
    "waits?": text("What becomes of it by itself, and when, because clusters or the object in them fail."),
    "verdict": text("What claims the object, in one sentence."),
    "policies?": records(
        {
            "policy": text(),
            "path": text(),
            "selectsBy": text("`name`, `labels` or `kind`."),
            "priority": whole(),
            "holds": flag("True if it claims the object."),
            "why?": text("The reason why it does not."),
        },
        "The propagation policies that select it.",
    ),
    "replicas?": whole("How many replicas it asks for."),
    "targets?": TARGETS,
    "requiredBy?": records({"namespace?": text(), "name": text(), "clusters?": TARGETS}, "What it follows."),
    "decision?": record(_DECISION, "The scheduling decision, with all it rests on."),
    "decidedIn?": text("The rendered commit in which it was taken, if that is an earlier one."),
    "decidedFrom?": text("The source commit of that one."),
    "rooms?": records(
        {
            "cluster": CLUSTER,
            "origin": text("`declared`, `observed` or `unknown`."),
            "bySummary": whole(),
            "taken": whole(),
            "held": whole(),
            "room": whole(),
            "resources?": records(
                {"resource": text(), "request": whole(), "allocatable": whole(), "used": whole(), "fits": whole()}
            ),
            "byGrades?": flag("True if `bySummary` counts node by node, and is not what fits the scarcest resource."),
        },
        "The room of each candidate, and what it is made of.",
    ),
    "facts?": text("In which commit what was observed of the members is recorded, and when it was seen."),
    "overrides?": records(_OVERRIDDEN, "What override rules change, by class of clusters."),
    "kept?": records({"clusters?": texts(), "reason?": text(), "message?": text()}, "The clusters with older bytes."),
    "unmet?": _UNMET,
    "pending?": texts("What is decided and not carried out, because it is suspended or a lazy policy waits."),
    "seats?": sequence(
        records({"number": whole(), "cluster": CLUSTER, "average": number(), "tied?": texts()}),
        "With `-v`: each division, replica by replica.",
    ),
}
CLUSTER_EXPLANATION = {
    "source": SOURCE,
    "previous": PREVIOUS,
    "name": CLUSTER,
    "disconnected?": flag("True if it left the source."),
    "path?": text("Its file."),
    "region?": text(),
    "provider?": text(),
    "zones?": texts(),
    "labels?": mapping(text()),
    "formerNames?": texts("The names it had before it was renamed, the last one last."),
    "taints?": texts(),
    "served?": whole("How many APIs are recorded of it."),
    "origin?": text("Where its capacity comes from: `declared`, `observed` or `unknown`."),
    "capacity?": records(
        {"resource": text(), "allocatable": text(), "allocated?": text(), "allocating?": text(), "reserved?": text()},
        "Its capacity.",
    ),
    "held?": records({"ref": OBJECT, "replicas": whole(), "why": text()}, "What it holds, and why."),
    "absent?": records({"ref": OBJECT, "refused?": PAIRS, "why?": text()}, "What goes elsewhere, and why."),
}
POLICY_EXPLANATION = {
    "source": SOURCE,
    "previous": PREVIOUS,
    "policies": records(
        {
            "policy": text(),
            "path": text(),
            "priority": whole(),
            "preemption": text(),
            "selectors?": _SELECTORS,
            "objects?": records(
                {
                    "ref": OBJECT,
                    "holds": flag("True if it claims the object."),
                    "selectsBy": text(),
                    "targets?": TARGETS,
                    "holder?": text("The policy that claims it instead."),
                    "why?": text(),
                }
            ),
            "unmet?": _UNMET,
        },
        "The propagation policies of that name.",
    ),
    "overridePolicies": records(
        {
            "policy": text(),
            "path": text(),
            "selectors?": _SELECTORS,
            "rules?": records({"rule": text(), "clusters?": texts()}),
            "objects?": records({"ref": OBJECT, "classes?": records(_OVERRIDDEN), "why?": text()}),
        },
        "The override policies of that name.",
    ),
}
