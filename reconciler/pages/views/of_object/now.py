"""An object on one page: from its template over the policy that claims it to its clusters, each step a link."""

from reconciler.pages.look import Look, ViewAnswer
from reconciler.pages.shown_object import ShownObject
from reconciler.pages.view import PageView
from reconciler.status.branches import NotSelected

from .history import history_of_object
from .recorded import document_of_object, is_in_a_cluster
from .why import answer_why

_LATEST = 5


def _answer(look: Look) -> ViewAnswer:
    shown = ShownObject.of_look(look)
    try:
        document = document_of_object(look, shown)
    except NotSelected:
        return answer_why(look).in_template("object_why.html")
    return ViewAnswer(
        document=document,
        command=look.words(*shown.command("status")),
        shown={
            "latest": history_of_object(look, shown, _LATEST),
            "is_placed": is_in_a_cluster(document["clusters"]),
        },
        title=f"How is {shown.title}?",
    )


VIEW = PageView(
    name="object",
    path="/objects/{kind}/{namespace}/{name}",
    question="How is {kind} {namespace}/{name}?",
    template="object.html",
    answer=_answer,
    under="objects",
)
