"""RolloutControls: requests of people about a change that goes out, each in a file of its own."""

from render.documents import emit
from render.model import ARGOSY_API_VERSION, Manifest
from render.rollouts.policy import RolloutVerb
from render.rollouts.state import RolloutState
from render.values import SelectiveStruct

from .cluster_files import MemberSource, SourceChange
from .new_files import free_path_and_name, refuse_unread_file

_FOLDER = "rollouts"


class ControlRequest(SelectiveStruct, frozen=True, kw_only=True):
    """A request about a rollout: the verb, the wave of an approval, why, who it is, and when, as RFC 3339 text.

    ``change`` is the digest of one that waits ("": the request is about the one that goes out).
    """

    verb: RolloutVerb
    wave: str = ""
    reason: str = ""
    by: str
    at: str
    change: str = ""


def change_that_asks(source: MemberSource, state: RolloutState, request: ControlRequest) -> SourceChange:
    """Return the change that adds a RolloutControl about the change that a rollout lets out."""
    names = {each.name for each in source.loaded.desired.rollout_controls}
    path, name = free_path_and_name(source, _FOLDER, f"{state.plan.name}-{request.verb.lower()}", names)
    subject = f"{request.verb} {state.name}{f': wave {request.wave}' if request.wave else ''}"
    change = SourceChange(contents={path: emit(_control_manifest(name, state, request))}, subject=subject)
    after = source.checked_source(change.contents).desired
    refuse_unread_file(source, path, {each.path for each in after.rollout_controls})
    return change


def _control_manifest(name: str, state: RolloutState, request: ControlRequest) -> Manifest:
    plan = state.plan
    kind, _, _ = str(plan).partition(" ")
    words = {"wave": request.wave, "reason": request.reason, "by": request.by}
    return {
        "apiVersion": ARGOSY_API_VERSION,
        "kind": "RolloutControl",
        "metadata": {"name": name},
        "spec": {
            "rollout": {
                "kind": kind,
                **({"namespace": plan.namespace} if plan.is_namespaced else {}),
                "name": plan.name,
                **({"group": state.group} if state.group else {}),
            },
            "change": request.change or state.change,
            "verb": str(request.verb),
            **{field: text for field, text in words.items() if text},
            "at": request.at,
        },
    }
