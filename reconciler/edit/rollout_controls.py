"""RolloutControls: requests of people about a change that goes out, each in a file of its own."""

from itertools import count

from render.documents import emit
from render.errors import ConfigError
from render.model import ARGOSY_API_VERSION, Manifest
from render.rollouts.policy import RolloutPolicy, RolloutVerb
from render.rollouts.state import RolloutState
from render.values import SelectiveStruct

from .cluster_files import MemberSource, SourceChange

_FOLDER = "rollouts"


class ControlRequest(SelectiveStruct, frozen=True, kw_only=True):
    """A request about a rollout: the verb, the wave of an approval, why, who it is, and when, as RFC 3339 text."""

    verb: RolloutVerb
    wave: str = ""
    reason: str = ""
    by: str
    at: str


def change_that_asks(source: MemberSource, state: RolloutState, request: ControlRequest) -> SourceChange:
    """Return the change that adds a RolloutControl about the change that a rollout lets out."""
    path, name = _free_path_and_name(source, state.plan, request.verb)
    subject = f"{request.verb} {state.plan}{f': wave {request.wave}' if request.wave else ''}"
    change = SourceChange(contents={path: emit(_control_manifest(name, state, request))}, subject=subject)
    after = source.checked_source(change.contents).desired
    if path not in {each.path for each in after.rollout_controls}:
        raise ConfigError(
            f"{path} would not be read: source.paths or an ignore file leaves it out",
            hint=f"add the folder to source.paths in {source.home.expected_path}",
        )
    return change


def _free_path_and_name(source: MemberSource, plan: RolloutPolicy, verb: RolloutVerb) -> tuple[str, str]:
    """Return the first path and name that nothing has: web-pause-1, web-pause-2 and so on."""
    taken = {file.path for file in source.files}
    names = {each.name for each in source.loaded.desired.rollout_controls}
    for number in count(1):
        name = f"{plan.name}-{verb.lower()}-{number}"
        path = "/".join(filter(None, (source.home.folder, _FOLDER, f"{name}.yaml")))
        if path not in taken and name not in names:
            return path, name
    raise AssertionError("numbers do not end")


def _control_manifest(name: str, state: RolloutState, request: ControlRequest) -> Manifest:
    plan = state.plan
    kind = "RolloutPolicy" if plan.is_namespaced else "ClusterRolloutPolicy"
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
            },
            "change": state.change,
            "verb": str(request.verb),
            **{field: text for field, text in words.items() if text},
            "at": request.at,
        },
    }
