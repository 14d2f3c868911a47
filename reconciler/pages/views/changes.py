"""The timeline: which commits changed something, and what each moved."""

import re
from typing import TYPE_CHECKING

from reconciler.history.subjects import Subject, refuse_unknown_cluster_of_history
from reconciler.history.timeline import timeline_of_subject
from reconciler.outputs.lists import namespace_list_document
from reconciler.outputs.timeline import timeline_document
from reconciler.pages.look import Look, ViewAnswer
from reconciler.pages.view import PageView, ViewGroup
from reconciler.survey.choosing import Choice
from reconciler.survey.lists import ListPart, list_namespaces
from render.errors import ConfigError

if TYPE_CHECKING:
    from reconciler.outputs.document import OutputDocument
    from reconciler.pages.reader import FleetReading

_ENTRIES = 20
_MOST_COPIES = 50_000
"""Copies of objects in clusters; of a fleet with more of them, a process of its own reads what commits moved."""
_COMMIT = re.compile("[0-9a-f]{7,64}")


def _answer(look: Look) -> ViewAnswer:
    cluster, namespace = look.asked("cluster"), look.asked("namespace")
    subject = Subject(cluster=cluster) if cluster else Subject(namespace=namespace)
    tip = look.asked("from") or look.commits.rendered or ""
    if not _COMMIT.fullmatch(tip):
        raise ConfigError("nothing is rendered here, or that is no commit", hint="argosy reconcile --bootstrap")

    def document(reading: "FleetReading") -> "OutputDocument":
        commit = reading.repository.resolve(tip)
        if cluster:
            refuse_unknown_cluster_of_history(reading.repository, commit, cluster)
        return timeline_document(timeline_of_subject(reading.repository, commit, subject, _ENTRIES))

    named = (f"cluster/{cluster}",) if cluster else (f"namespace/{namespace}",) if namespace else ()
    command, shown = ("history", *named, "--commits", f"--rev={tip}"), {"cluster": cluster, "namespace": namespace}
    if _is_large(look):
        return look.answer_of_command(command, **shown)
    return ViewAnswer(document=look.document(("timeline", subject, tip), document), command=command, shown=shown)


def _is_large(look: Look) -> bool:
    """Say whether a commit may change so much that reading it takes seconds."""

    def document(reading: "FleetReading") -> "OutputDocument":
        return namespace_list_document(list_namespaces(reading.survey(), Choice(), ListPart()))

    namespaces = look.document("all namespaces", document)["namespaces"]
    return bool(sum(each["objects"] * each["clusters"] for each in namespaces) > _MOST_COPIES)


VIEW = PageView(
    name="changes",
    path="/changes",
    question="What changed?",
    template="changes.html",
    answer=_answer,
    group=ViewGroup.WHEN,
    label="Changes",
    key="h",
    icon="changes",
)
