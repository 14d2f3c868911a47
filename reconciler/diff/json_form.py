"""A difference as one JSON value of a stable shape: kind ``Difference`` of ``argosy.dev/v1alpha1``.

Fields may be added, none is renamed or removed within v1alpha1. Objects are named by group, kind, namespace and name;
a field's ``before`` is left out where it is added, its ``after`` where it is removed.
"""

from typing import Any

from overrides.changes import ChangedField
from reconciler.console.json_values import as_json
from reconciler.pipeline.movements import Movement, ReplicaChange
from reconciler.publish.problems import ObjectProblem
from render.fleet_settings import plain_setting_change
from render.model import ARGOSY_API_VERSION, ObjectRef

from .difference import ChangeAction, ClusterTotal, Difference, OriginChange, PendingChange
from .words import causes_of, summary


def difference_json(difference: Difference) -> str:
    """Return the difference as JSON text."""
    return as_json(plain_difference(difference))


def plain_difference(difference: Difference) -> dict[str, Any]:
    """Return the difference as plain data."""
    return {
        "apiVersion": ARGOSY_API_VERSION,
        "kind": "Difference",
        "base": difference.base or None,
        "head": difference.head or None,
        "previous": difference.previous or None,
        "different": not difference.is_empty,
        "summary": _summary(difference),
        **_plain_settings(difference),
        **_plain_clusters(difference),
        "objects": [
            {
                "object": plain_ref(change.ref),
                "action": str(change.action),
                "clusters": list(change.clusters),
                **({"origin": difference.origins[change.ref]} if change.ref in difference.origins else {}),
                **({"preserved": True} if change.is_preserved else {}),
                **_plain_causes(difference, change.ref, is_number=not change.fields),
                "fields": [plain_field(field) for field in change.fields],
            }
            for change in difference.objects
        ],
        **_plain_sources(difference),
        "takeovers": [
            {"object": plain_ref(each.ref), "before": each.before or None, "after": each.after or None}
            for each in difference.takeovers
        ],
        "released": [
            {"object": plain_ref(each.ref), "clusters": list(each.clusters), "outdated": each.is_outdated}
            for each in difference.released
        ],
        "pending": [_plain_pending(each) for each in difference.pending],
        "ended": [_plain_pending(each) for each in difference.ended],
        "movements": [_plain_movement(difference, movement) for movement in difference.movements],
        "problems": [_plain_problem(difference, each) for each in difference.problems],
        "solved": [_plain_problem(difference, each) for each in difference.solved],
    }


def _plain_clusters(difference: Difference) -> dict[str, Any]:
    return {
        "clusters": [_plain_total(total) for total in difference.clusters],
        "joined": list(difference.joined),
        "renamed": dict(difference.renamed),
        "disconnected": list(difference.left),
    }


def _plain_settings(difference: Difference) -> dict[str, Any]:
    return {
        "settings": [plain_setting_change(each) for each in difference.settings],
        "allowances": [{"commit": each.commit, "trailer": each.trailer} for each in difference.allowances],
    }


def _plain_sources(difference: Difference) -> dict[str, Any]:
    """Return the builds that differ, and what the kustomizations of other folders have taken over, if anything."""
    taken = [{"object": plain_ref(ref), "by": taker} for ref, taker in sorted(difference.taken.items())]
    return {"origins": [_plain_origin(each) for each in difference.builds], **({"taken": taken} if taken else {})}


def _summary(difference: Difference) -> dict[str, Any]:
    counts = {str(action): difference.count(action) for action in ChangeAction}
    return {
        "text": summary(difference),
        "settings": len(difference.settings),
        "clusters": len(difference.clusters),
        **counts,
        "takeovers": len(difference.takeovers),
        "replicas": difference.replicas,
        "moved": difference.moved,
        "placedAnew": difference.placed_anew,
        "pending": len({each.ref for each in difference.pending}),
        "problems": len(difference.problems),
    }


def _plain_total(total: ClusterTotal) -> dict[str, Any]:
    return {
        "name": total.name,
        "added": total.added,
        "changed": total.changed,
        "removed": total.removed,
        "replicas": {"before": total.replicas_before, "after": total.replicas_after},
    }


def _plain_pending(change: PendingChange) -> dict[str, Any]:
    return {
        "object": plain_ref(change.ref),
        "reason": change.reason,
        "message": change.message,
        "clusters": list(change.clusters),
        "action": None if change.action is None else str(change.action),
        "fields": [plain_field(field) for field in change.fields],
    }


def _plain_causes(difference: Difference, ref: ObjectRef, *, is_number: bool = False) -> dict[str, Any]:
    """Return the inputs of an object that are others; nothing where none is known."""
    causes = [
        {"name": each.name, "path": each.path, "action": str(each.action)}
        for each in causes_of(difference, ref, is_number=is_number)
    ]
    return {"causes": causes} if causes else {}


def _plain_movement(difference: Difference, movement: Movement) -> dict[str, Any]:
    return {
        "object": plain_ref(movement.ref),
        **_plain_causes(difference, movement.ref, is_number=True),
        "before": movement.before,
        "after": movement.after,
        "moved": movement.moved,
        "placedAnew": movement.placed_anew,
        "clusters": [_plain_change(change) for change in movement.changes],
    }


def _plain_change(change: ReplicaChange) -> dict[str, Any]:
    numbers = {"name": change.cluster, "before": change.before, "after": change.after}
    return {**numbers, "disconnected": True} if change.is_disconnected else numbers


def plain_ref(ref: ObjectRef) -> dict[str, str]:
    """Return an object's identity as plain data."""
    return {"group": ref.group, "kind": ref.kind, "namespace": ref.namespace, "name": ref.name}


def plain_field(field: ChangedField) -> dict[str, Any]:
    """Return a changed field as plain data."""
    value: dict[str, Any] = {"path": field.path, "operator": field.operator}
    if field.operator != "add":
        value["before"] = field.before
    if field.operator != "remove":
        value["after"] = field.after
    return value


def _plain_origin(change: OriginChange) -> dict[str, Any]:
    """Return a build that differs; a part has the versions it had and has, null where it has none."""
    parts = [
        {
            "role": part.role,
            "name": part.name,
            "action": str(part.action),
            "before": part.before or None,
            "after": part.after or None,
        }
        for part in change.parts
    ]
    return {"build": change.build, "path": change.path, "objects": change.objects, "parts": parts}


def _plain_problem(difference: Difference, problem: ObjectProblem) -> dict[str, Any]:
    return {
        "object": plain_ref(problem.ref),
        **({"origin": difference.origins[problem.ref]} if problem.ref in difference.origins else {}),
        "clusters": list(problem.clusters),
        "reason": problem.reason,
        "message": problem.message,
    }
