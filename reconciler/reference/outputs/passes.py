"""The output of rendering, comparing and applying."""

from reconciler.reference.shapes import (
    anything,
    flag,
    manifest,
    mapping,
    nullable,
    number,
    record,
    records,
    sequence,
    text,
    texts,
    whole,
)

from .parts import (
    CLUSTER,
    MESSAGE,
    OBJECT,
    PENDING,
    PREVIOUS,
    PROBLEM,
    PROBLEMS,
    REASON,
    REF,
    REFUSAL,
    RELEASED,
    RENDERED,
    SKIPPED,
    SOURCE,
)

RENDERING = {
    "source": SOURCE,
    "previous": PREVIOUS,
    "tree": text("The id of the Git tree that was rendered."),
    "changed": flag("True if the tree differs from the previous one."),
    "clusters?": mapping(sequence(manifest()), "With `--as manifests`: the objects of each cluster."),
    "works?": sequence(manifest(), "With `--as works`: Karmada's Work objects."),
    "skipped": SKIPPED,
    "disconnected": texts("The clusters that left the source and keep what they have."),
    "bindings": sequence(manifest(), "A ResourceBinding or ClusterResourceBinding for each object."),
    "decisions": mapping(text(), "For each object: the event that asked for a scheduling decision, or `None`."),
    "released": RELEASED,
    "pending": PENDING,
    "unmatched": records(
        {"object": OBJECT, "namespace": text(), "reason": REASON, "message": MESSAGE, "path": text("Its file.")},
        "The templates that no policy propagates.",
    ),
    "problems": PROBLEMS,
    "warnings": texts("The warnings about the source."),
}

_ORIGIN = text("The file and line that the object was built from; absent if it stands in a file.")
_MISPLACED = records(
    {**PROBLEM, "object": REF, "origin?": _ORIGIN}, "What can no longer be placed or built after the change."
)
_BEFORE_AFTER = {"before": whole("Replicas before."), "after": whole("Replicas afterwards.")}
FIELDS = records(
    {
        "path": text("The JSON pointer of the field."),
        "operator": text("`add`, `replace` or `remove`."),
        "before?": anything("The value before; absent if the field is added."),
        "after?": anything("The value afterwards; absent if the field is removed."),
    },
    "The fields that change; none if only the divided replicas do.",
)
_PENDING_CHANGES = records(
    {
        "object": REF,
        "reason": text("`SuspendDispatching`, `LazyActivation`, `SuspendScheduling` or `OtherScheduler`."),
        "message": text("The reason, in a sentence; empty for `SuspendDispatching`."),
        "clusters": texts("The suspended clusters this is about."),
        "action": nullable(text("`added` or `changed`: what would happen there; null if nothing would.")),
        "fields": FIELDS,
    },
    "What the change leaves pending: suspended clusters do not get it, or a lazy policy waits.",
)
CAUSES = records(
    {
        "name": text("A policy, a customization, webhooks, a build; or `its template`."),
        "path": text("The file that it stands in."),
        "action": text("`added`, `changed` or `removed`."),
    },
    "The inputs of the object that are others.",
)
DIFFERENCE = {
    "base": nullable(text("The commit on the left side; null stands for the files in the work tree.")),
    "head": nullable(text("The commit on the right side; null stands for the files in the work tree.")),
    "previous": PREVIOUS,
    "different": flag("True if there is any difference."),
    "summary": record(
        {
            "text": text("The summary in words."),
            "settings": whole("How many settings change."),
            "clusters": whole("How many clusters change."),
            "added": whole("How many objects are added."),
            "changed": whole("How many objects change."),
            "removed": whole("How many objects are removed."),
            "takeovers": whole("How many objects another policy claims."),
            "replicas": whole("How many replicas all workloads have together."),
            "moved": whole("How many replicas leave a cluster for another."),
            "placedAnew": whole("How many replicas are placed again because their cluster is disconnected."),
            "pending": whole("How many objects have something pending that had not."),
            "problems": whole("How many problems are new."),
        },
        "The counts.",
    ),
    "settings": records(
        {
            "field": text(
                "The field of argosy.yaml; a webhook of the interpreter, or another argosy.yaml, by its name."
            ),
            "before": nullable(text("The value it had; null where there was none.")),
            "after": nullable(text("The value it has; null where there is none.")),
            "waits": flag("True if a pass refuses it until somebody accepts it."),
        },
        "The settings that change.",
    ),
    "allowances": records(
        {"commit": text("The commit, one of the change itself."), "trailer": text("Its trailer.")},
        "What the change allows itself beyond the guards.",
    ),
    "clusters": records(
        {"name": CLUSTER, "added": whole(), "changed": whole(), "removed": whole(), "replicas": record(_BEFORE_AFTER)},
        "The clusters that change, with the number of their objects and replicas.",
    ),
    "joined": texts("The clusters that join the fleet."),
    "renamed": mapping(text(), "The new names of clusters that are renamed, by the former ones."),
    "disconnected": texts("The clusters that leave the source."),
    "objects": records(
        {
            "object": REF,
            "action": text("`added`, `changed` or `removed`."),
            "clusters": texts("The clusters in which this happens."),
            "origin?": _ORIGIN,
            "preserved?": flag("True if the clusters keep the object although it leaves their folders."),
            "causes?": CAUSES,
            "fields": FIELDS,
        },
        "The objects that change, cluster by cluster where they differ.",
    ),
    "origins": records(
        {
            "build": text("The object that asks for the build, or the file of a kustomization."),
            "path": text("The file that it stands in."),
            "objects": whole("How many of the objects that differ it made."),
            "parts": records(
                {
                    "role": text("`chart`, `chart file`, `values`, `Kubernetes`, `APIs`, `release` or `file`."),
                    "name": text("The part's name, such as a path; it may be empty."),
                    "action": text("`added`, `changed` or `removed`."),
                    "before": nullable(text("The version it had; null if it has none.")),
                    "after": nullable(text("The version it has; null if it has none.")),
                },
                "The parts that are others.",
            ),
        },
        "The builds of charts and kustomizations that made objects which differ, with what is other in them.",
    ),
    "taken?": records(
        {"object": REF, "by": text("The file of the kustomization that builds upon what the object came from.")},
        "The objects whose file is not read by itself any more, as the kustomization of another folder builds upon it.",
    ),
    "takeovers": records(
        {
            "object": REF,
            "before": nullable(text("The policy that claimed it before.")),
            "after": nullable(text("The policy that claims it afterwards.")),
        },
        "The objects that another policy claims.",
    ),
    "released": records({"object": REF, "clusters": texts(), "outdated": flag()}, str(RELEASED["description"])),
    "pending": _PENDING_CHANGES,
    "ended": {**_PENDING_CHANGES, "description": "What was pending before the change, and is not any more."},
    "movements": records(
        {
            "object": REF,
            "causes?": CAUSES,
            **_BEFORE_AFTER,
            "moved": whole("How many replicas leave a cluster for another."),
            "placedAnew": whole("How many replicas go on in a disconnected cluster and are placed again."),
            "clusters": records({"name": CLUSTER, **_BEFORE_AFTER, "disconnected?": flag()}),
        },
        "The workloads whose replicas change, cluster by cluster.",
    ),
    "problems": _MISPLACED,
    "solved": {**_MISPLACED, "description": "What could not be placed or built before the change, and can be now."},
}
_FAILURE = record({"reason": REASON, "message": MESSAGE}, "The reason why the cluster was not finished.")
_LIVE_OBJECTS = records(
    {
        "object": OBJECT,
        "action": text("What applying would do, such as `created`, `configured` or `conflict`."),
        "reason": REASON,
        "message": text("The reason in a sentence; it may be empty."),
        "fields": records(
            {
                "path": text(),
                "change": text("`Lost`, `Dropped`, `Modified`, `Foreign` or `Rewritten`."),
                "live": text("The value in the cluster, hidden if it is secret."),
                "want": text("The value in the commit, hidden if it is secret."),
                "manager": text("The field manager that owns it now."),
                "time": text("The time when that manager wrote it."),
            },
            "The fields that differ.",
        ),
        "yielded?": sequence(mapping(text()), "The fields of the commit that others decide, alike."),
        "foreign?": sequence(mapping(text()), "The fields that people added, alike."),
    }
)
LIVE_DIFFERENCE = {
    "rendered": RENDERED,
    "clusters": mapping(
        record(
            {
                "state": text("`Planned`, or the word for what stopped it."),
                "failure?": _FAILURE,
                "objects": _LIVE_OBJECTS,
            }
        ),
        "For each cluster: the objects that are not as the commit says.",
    ),
}
IMPORT_OF_CLUSTERS = {
    "failures?": mapping(
        record({"reason": REASON, "message": MESSAGE}), "The clusters that could not be read, with the reason."
    ),
    "proof?": record(
        {
            "proven": flag("True if taking over every cluster that was looked at changes nothing in it."),
            "problems": texts("The reasons why the files cannot be rendered, or objects not be placed."),
            "clusters": mapping(
                record(
                    {
                        "proven": whole("How many objects are taken over as they are."),
                        "failure?": _FAILURE,
                        "objects": {**_LIVE_OBJECTS, "description": "The objects that are not as wanted."},
                    }
                )
            ),
        },
        "Of clusters that were read: the comparison of what the files give them with what they hold.",
    ),
}

_FIELD = {
    "path": text(),
    "live": text("The value in the cluster, hidden if it is secret."),
    "want": text("The value in the commit, hidden if it is secret; empty if it has none."),
    "manager": text("The field manager that owns it."),
}
REPORTS = mapping(
    record(
        {
            "state": text("`Converged`, `Incomplete`, `Interrupted`, or the word for what stopped it."),
            "seconds": number("How long the cluster took."),
            "counts": mapping(whole(), "How many objects there were of each action."),
            "failure?": _FAILURE,
            "hold?": text("The reason why nothing was deleted."),
            "objects": records(
                {
                    "object": OBJECT,
                    "action": text("What was done, such as `created`, `configured`, `deleted`, `kept` or `conflict`."),
                    "reason": REASON,
                    "message": text("The reason in a sentence; it may be empty."),
                    "hint?": text("What to do about it."),
                    "warnings": texts("The warnings of the API server."),
                    "yielded?": records(_FIELD, "The fields of the commit that are left to another manager."),
                    "foreign?": records(_FIELD, "The fields that people added."),
                },
                "The objects with which anything was done, those that were kept, and those with fields of others.",
            ),
        }
    ),
    "For each cluster: what was done in it.",
)
RECONCILIATION = {
    "source": text("The source commit that is rendered."),
    "previous": PREVIOUS,
    "rendered": nullable(text("The rendered commit that holds the source now.")),
    "branch": text("The rendered branch."),
    "remote": nullable(text("The remote that has the branch: its name, or its address; null for this repository.")),
    "changed": flag("True if the source renders to something new."),
    "skipped?": SKIPPED,
    "removals": records(
        {"cluster": CLUSTER, "objects": texts("The paths that leave."), "held": whole("How many it had before.")},
        "What leaves which cluster.",
    ),
    "proposal?": record(
        {
            "commit": text("The commit that is proposed."),
            "branch": text("The branch that it is pushed to."),
            "state": text(
                "The state of its pull request: `Opened`, `Renewed`, `Unchanged`, `Closed` by somebody, or `Failed`."
            ),
            "url": text("The address of the pull request; empty where there is none."),
        },
        "With `rendered.push: PullRequest`: the commit that a person is asked to merge.",
    ),
    "heldBack?": records(
        {
            "cluster": CLUSTER,
            "objects": texts("The paths that would leave."),
            "held": whole("How many it has."),
            "reasons": texts("The limits that this breaks."),
        },
        "With `removalGuard.scope: Cluster`: the clusters that keep what they have, because too much would leave them.",
    ),
    "released": RELEASED,
    "pending": PENDING,
    "problems": PROBLEMS,
    "next?": record(
        {"at": text("The time, as RFC 3339."), "what": text("The change, such as `web leaves paris`.")},
        "The next change that happens by itself while nothing else changes.",
    ),
    "refused?": record(REFUSAL, "The refusal of a newer source: the last good commit was applied again."),
    "clusters?": {**REPORTS, "description": "Where the pass applied: what was done in each cluster."},
}
