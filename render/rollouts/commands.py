"""The commands by which people say something about a rollout, whole, so that a sentence can name them to be copied.

Whatever waits for a person names the command with the rollout that it is about, for there may be several.
"""

import shlex


def rollout_command(verb: str, policy: str, group: str = "", *more: str) -> str:
    """Return the command that says something about the change of a rollout policy, which is named with its kind.

    Without its name where a rollout goes by no policy: then there is one alone.

    >>> rollout_command("approve", "RolloutPolicy jobs/batch", "", "--wave", "canary", "--commit")
    'argosy rollout approve batch -n jobs --wave canary --commit'
    >>> rollout_command("retry", "ClusterRolloutPolicy web", "app=web")
    'argosy rollout retry web --group app=web'
    >>> rollout_command("retry", "Fleet default")
    'argosy rollout retry default'
    """
    namespace, _, name = policy.partition(" ")[2].rpartition("/")
    words = [name, *(["-n", namespace] if namespace else []), *(["--group", group] if group else []), *more]
    return shlex.join(["argosy", "rollout", verb, *words])
