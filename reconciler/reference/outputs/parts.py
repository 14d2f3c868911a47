"""Shapes that several documents share."""

from collections.abc import Mapping

from reconciler.reference.shapes import Shape, flag, nullable, record, records, sequence, text, texts, whole

SOURCE = nullable(text("The source commit; null stands for the files in the work tree."))
PREVIOUS = nullable(text("The rendered commit that decided what stays where it is; null if there was none."))
RENDERED = text("The rendered commit.")
OBJECT = text("The object, such as `Deployment.apps shop/web`.")
SKIPPED = whole("How many files were skipped because they hold no Kubernetes object.")
CLUSTER = text("The name of the cluster.")
REASON = text("The reason, in one word.")
MESSAGE = text("The reason, in a sentence.")
REF = record({"group": text(), "kind": text(), "namespace": text(), "name": text()}, "The object.")
TARGETS = records({"name": text(), "replicas": whole()}, "The clusters it goes to, with their replicas.")
PAIRS = sequence(texts(), "Each filter that refused the cluster, with its reason.")

RELEASED = records(
    {
        "object": OBJECT,
        "clusters": texts("The clusters that keep it."),
        "outdated": flag("True if its template or its overrides would change it by now."),
    },
    "Objects that no policy selects any more, and that clusters therefore keep as they are.",
)
PENDING = records(
    {
        "object": OBJECT,
        "clusters": texts("The suspended clusters that miss it or a change of it; none for other reasons."),
        "reason": text("`SuspendDispatching`, `LazyActivation`, `SuspendScheduling` or `OtherScheduler`."),
        "message": MESSAGE,
    },
    "What is decided and not carried out, because somebody suspended that, or a lazy policy waits.",
)
PROBLEM: Mapping[str, Shape] = {
    "object": OBJECT,
    "clusters": texts("The clusters this is about; none if it is about the object as a whole."),
    "reason": REASON,
    "message": MESSAGE,
}
REFUSAL = {
    "source": text("The source commit that is refused."),
    "since": nullable(text("The time of the first pass that refused it; null if no pass has recorded that.")),
    "code": whole("The exit code of passes that refuse it: 3 or 6."),
    "message": text("The reason, in a sentence."),
    "details": texts("The files and lines of problems, or what a guard counted."),
    "hint": text("What to do about it; it may be empty."),
}
PROBLEMS = records(PROBLEM, "What could not be placed or built, and why.")

CONDITION = {
    "type": text(),
    "status": text(),
    "reason?": text(),
    "message?": text(),
    "lastTransitionTime?": text(),
    "observedGeneration?": whole(),
}
