"""The timeline: which commits changed something, and what each moved."""

from functools import partial
from itertools import islice, pairwise, takewhile
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from reconciler.branches.rendered_history import rendered_commits
from reconciler.branches.source_commits import unrendered_commits
from reconciler.history.subjects import Subject, refuse_unknown_cluster_of_history
from reconciler.history.timeline import timeline_of_subject
from reconciler.outputs.lists import namespace_list_document
from reconciler.outputs.timeline import timeline_document
from reconciler.pages.look import Look, ViewAnswer
from reconciler.pages.view import PageView, ViewGroup
from reconciler.pages.views.rollouts import rollouts_document_of_fleet
from reconciler.repository import CommitInfo, Repository
from reconciler.survey.choosing import Choice
from reconciler.survey.lists import ListPart, list_namespaces
from render.errors import ConfigError
from render.expressions import lazy_expression
from render.timing import epoch_text

if TYPE_CHECKING:
    from reconciler.outputs.document import OutputDocument
    from reconciler.pages.reader import FleetReading, PlainDocument

_ENTRIES = 20
_MOST_RENDERED, _MOST_UNRENDERED = 300, 50
_MOST_COPIES = 50_000
"""Copies of objects in clusters; of a fleet with more of them, a process of its own reads what commits moved."""
_COMMIT = lazy_expression("[0-9a-f]{7,64}")


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
    command = ("history", *named, "--commits", f"--rev={tip}")
    shown = {"cluster": cluster, "namespace": namespace, **_beside(look, tip)}
    if _is_large(look):
        answer = look.answer_of_command(command, **shown)
    else:
        answer = ViewAnswer(document=look.document(("timeline", subject, tip), document), command=command, shown=shown)
    is_of_all = answer.is_ready and subject == Subject()
    still = look.reader.in_repository(partial(_still_commits, document=answer.document)) if is_of_all else []
    return replace(answer, shown={**answer.shown, "still": still})


def _still_commits(repository: Repository, document: "PlainDocument") -> list[dict[str, Any]]:
    """Return the rendered commits of other sources that changed no object, up to the last one that a timeline shows."""
    entries = {each["commit"] for each in document["entries"]}
    last = document["entries"][-1]["commit"] if "following" in document else ""
    found = islice(rendered_commits(repository, document["commit"]), _MOST_RENDERED)
    made = list(takewhile(lambda each: each.commit != last, found))
    several = [one for one, before in pairwise(made) if one.source != before.source and one.commit not in entries]
    shown = several[:_MOST_UNRENDERED]
    return [{"rendered": each.commit, **_words_of_commit(repository.commit_info(each.source))} for each in shown]


def _words_of_commit(info: CommitInfo) -> dict[str, str]:
    return {"commit": info.id, "time": epoch_text(info.time), "author": info.author, "subject": info.subject}


def _beside(look: Look, tip: str) -> dict[str, Any]:
    """Return what a timeline has no entry of: source commits without a rendered one, and rollouts under way."""
    if look.asked("from") or not look.commits.rendered:
        return {"quiet": [], "under_way": [], "current": True}

    def unrendered(repository: Repository) -> list[dict[str, str]]:
        made = islice(rendered_commits(repository, repository.resolve(tip)), _MOST_RENDERED)
        found = islice(unrendered_commits(repository, made, look.commits.source), _MOST_UNRENDERED)
        return [{"rendered": each.rendered, **_words_of_commit(each.info)} for each in found]

    rollouts = () if look.commits.is_past else look.document("rollouts", rollouts_document_of_fleet)["rollouts"]
    return {
        "quiet": look.reader.in_repository(unrendered),
        "under_way": [each for each in rollouts if each["phase"] != "Completed"],
        "current": look.fleet_status()["current"],
    }


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
