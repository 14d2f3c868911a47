"""The commands that answer what waits for a person, each whole: to be copied and run as it stands."""

import shlex


def rollout_command(verb: str, policy: str, group: str = "", *more: str) -> str:
    """Return the command that says something about the change of a rollout policy, as a commit.

    ``policy`` is named with its kind; an empty text for what goes by no policy, of which no command says anything.

    >>> rollout_command("approve", "RolloutPolicy jobs/batch", "", "--wave", "canary")
    'argosy rollout approve batch -n jobs --wave canary --commit'
    >>> rollout_command("retry", "ClusterRolloutPolicy web", "app=web")
    'argosy rollout retry web --group app=web --commit'
    >>> rollout_command("retry", "Fleet default")
    ''
    """
    kind, _, rest = policy.partition(" ")
    namespace, _, name = rest.rpartition("/")
    if not kind.endswith("RolloutPolicy") or not name:
        return ""
    words = [name, *(["-n", namespace] if namespace else []), *(["--group", group] if group else []), *more]
    return shlex.join(["argosy", "rollout", verb, *words, "--commit"])


def explain_command(kind: str, namespace: str, name: str) -> str:
    """Return the command that explains an object.

    >>> explain_command("Deployment", "shop", "web")
    'argosy explain deployment/web -n shop'
    """
    return shlex.join(["argosy", "explain", f"{kind.lower()}/{name}", *(["-n", namespace] if namespace else [])])
