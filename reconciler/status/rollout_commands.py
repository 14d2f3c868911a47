"""The commands that answer what waits for a person, each whole: to be copied and run as it stands."""

import shlex

from render.rollouts.commands import rollout_command
from render.rollouts.state import RolloutPhase, RolloutReason, RolloutState

from .rollouts import wave_to_approve

_VERBS = {RolloutReason.APPROVAL_MISSING: "approve", RolloutReason.PAUSED_BY_CONTROL: "resume"}
_VERBS_OF_PHASES = {RolloutPhase.FAILED: "retry"}
"""The requests that let a rollout go on that waits for a person, by its reason and else by its phase."""


def command_letting_rollout_go_on(state: RolloutState) -> str:
    """Return the command by which a person lets a rollout go on that waits for one; an empty text where none does."""
    wave = wave_to_approve(state) if state.reason is RolloutReason.APPROVAL_MISSING else ""
    verb, more = _VERBS.get(state.reason) or _VERBS_OF_PHASES.get(state.phase, ""), ("--wave", wave) if wave else ()
    return committing_command(verb, str(state.plan), state.group, *more) if verb else ""


def committing_command(verb: str, policy: str, group: str = "", *more: str) -> str:
    """Return the command that says something about the change of a rollout policy, as a commit.

    ``policy`` is named with its kind; an empty text for what goes by no policy, of which no command says anything.

    >>> committing_command("retry", "ClusterRolloutPolicy web", "app=web")
    'argosy rollout retry web --group app=web --commit'
    >>> committing_command("retry", "Fleet default")
    ''
    """
    return rollout_command(verb, policy, group, *more, "--commit") if "RolloutPolicy " in policy else ""


def explain_command(kind: str, namespace: str, name: str) -> str:
    """Return the command that explains an object.

    >>> explain_command("Deployment", "shop", "web")
    'argosy explain deployment/web -n shop'
    """
    return shlex.join(["argosy", "explain", f"{kind.lower()}/{name}", *(["-n", namespace] if namespace else [])])
