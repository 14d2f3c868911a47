"""Commands of karmadactl, kubefedctl, kubectl and others: the one of ours that was meant, or how it is done here."""

from collections.abc import Mapping

from .subjects import SUBJECTS

ELSEWHERE: Mapping[str, str] = {
    "version": "--version",
    "options": "--help",
    **{
        word: f"cluster {word}"
        for word in ("join", "unjoin", "label", "taint", "cordon", "uncordon", "drain", "rename")
    },
    "new": "init",
    "ls": "list",
    "find": "search",
    "list-targets": "status",
    "tree": "explain KIND/NAME",
    "trace": "explain KIND/NAME",
    "deploy": "reconcile",
    "prune": "reconcile",
    "sync": "reconcile",
    "lint": "validate",
    "build": "render",
    "kustomize": "render",
    **dict.fromkeys(("plan", "preview"), "diff"),
    **dict.fromkeys(("whatif", "what-if", "simulation", "n-1"), "simulate"),
    "members": "status",
    "controller": "run",
    "watch": "run",
    "daemon": "run",
    "leave": "help leaving",
    "uninstall": "help leaving",
    **dict.fromkeys(("release", "unhold", "unpin"), "cluster release"),
}
"""Names that other tools have for a command or option of ours."""

_EDITED = "Edit the file in the source and commit it; 'argosy diff' shows what that does."
_ASK_THE_MEMBER = "Ask the member: 'kubectl --context CLUSTER {}'."
_FEDERATED = "Every object is federated as it stands: put its file into the source, and have a policy select it."

OTHERWISE: Mapping[str, str] = {
    **dict.fromkeys(
        ("undo", "revert"),
        "'argosy rollback' puts files and replicas back as they were, and 'git revert' files alone; 'argosy apply"
        " --allow-older COMMIT' goes back at once, and holds the clusters there until a newer source or 'argosy cluster"
        " release'.",
    ),
    **dict.fromkeys(
        ("hold", "pin"),
        "'argosy apply --allow-older COMMIT --cluster NAME' gives a cluster an older rendered commit, and holds it"
        " there until a newer source or 'argosy cluster release'.",
    ),
    "log": "'argosy history' tells what passes changed; 'git log argosy/status' has what they saw. Those of"
    " containers are printed by 'argosy logs'.",
    "create": "Write the file into the source and commit it; 'argosy init' writes the first files of a fleet.",
    "delete": "Take the files out of the source with 'git rm', and see 'argosy diff'.",
    **dict.fromkeys(("annotate", "autoscale", "edit", "expose", "patch", "replace", "set"), _EDITED),
    "scale": "Edit the replicas in the file of the template and commit it; 'argosy diff' shows how many each cluster"
    " gets.",
    **dict.fromkeys(
        ("adopt", "takeover", "take-over"),
        "'argosy apply' adopts an object that is equal. One that differs is taken over with 'conflictResolution:"
        " Overwrite' in its policy, and one of another tool with 'argosy apply --take-from TOOL'.",
    ),
    "promote": "'argosy import --cluster CONTEXT' takes the objects of a member into the source. To have more clusters"
    " get a version, add these to the rule of the override policy that sets it; 'argosy diff' shows what that does.",
    **dict.fromkeys(
        ("dashboard", "gui"),
        "'argosy ui' shows the fleet in a browser, and 'argosy status --watch' on a terminal as it changes. 'argosy"
        " run' serves metrics, for which"
        " examples/deploy/monitoring has a dashboard of Grafana.",
    ),
    **dict.fromkeys(
        ("freeze", "unfreeze"),
        "'argosy apply --allow-older argosy/rendered --until TIME --reason WHY' freezes the fleet: it holds all"
        " clusters where they are, whatever is merged and rendered, while drift is still taken back. 'argosy cluster"
        " release NAME' ends that; --cluster NAME holds some. For one application write 'suspension: {dispatching:"
        " true}' into the spec of its policy.",
    ),
    **dict.fromkeys(
        ("suspend", "pause", "resume"),
        "'argosy rollout pause' and 'argosy rollout resume' are about a change that goes out by waves. To have nothing"
        " dispatched, write 'suspension: {dispatching: true}' into the spec of the policy. A cluster gets"
        " nothing new placed after 'argosy cluster cordon NAME', until 'argosy cluster uncordon NAME', and stays at an"
        " older commit by 'argosy apply --allow-older COMMIT --cluster NAME --until released', until 'argosy cluster"
        " release NAME'.",
    ),
    **dict.fromkeys(
        ("wave", "canary", "stage"),
        "A RolloutPolicy lets a change out wave by wave: 'argosy help rollouts' has its fields, and 'argosy rollout"
        " status' says what goes out. To have one cluster differ for good, write an override policy.",
    ),
    **dict.fromkeys(
        ("alert", "monitor", "prometheus", "metrics", "notify", "notification", "slack", "email"),
        "'argosy run --inside PORT' serves metrics, for which examples/deploy/monitoring has rules of Prometheus and a"
        " dashboard, and 'argosy run --notify KIND=FILE' tells people what changed.",
    ),
    **{
        word: _ASK_THE_MEMBER.format(word)
        for word in (*("api-versions", "auth", "certificate", "cluster-info", "cp", "debug", "proxy"),)
    },
    "addons": "There is nothing to install: what Argosy has of them, settings turn on ('argosy help argosy.yaml').",
    "deinit": "There is no control plane to take down: 'argosy help leaving' tells what stays, and what to do with it.",
    "register": "'argosy cluster join NAME --mode pull' writes the member, and 'argosy cluster agent NAME' its agent.",
    "unregister": "'argosy cluster unjoin NAME' takes the member out; then delete what 'argosy cluster agent NAME' had"
    " made.",
    "token": "No token is made: an agent logs in to Git alone, as 'argosy cluster agent --help' tells.",
    "enable": _FEDERATED,
    "federate": f"{_FEDERATED} 'argosy import --from kubefed' converts what KubeFed has.",
    "disable": "Take the kind out of the policies that select it, or list it in skippedAPIs of argosy.yaml.",
    "orphaning-deletion": "Write 'preserveResourcesOnDeletion: true' into the spec of the policy.",
    **SUBJECTS,
    **dict.fromkeys(
        ("config", "plugin"),
        "Members are contexts of the kubeconfig; 'argosy kubeconfig' prints one of all, and 'argosy help argosy.yaml'"
        " has the settings.",
    ),
}
"""Commands for what Argosy leaves to Git, policies or kubectl, each with how it is done here."""
