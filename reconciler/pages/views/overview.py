"""The first page: what is unwell, and what each cluster holds."""

from reconciler.pages.look import Look, ViewAnswer
from reconciler.pages.view import PageView, ViewGroup


def _answer(look: Look) -> ViewAnswer:
    return ViewAnswer(document=look.fleet_status(), command=look.words("status"))


VIEW = PageView(
    name="overview",
    path="/overview",
    question="Is the fleet well?",
    template="overview.html",
    answer=_answer,
    group=ViewGroup.NOW,
    label="Overview",
    key="o",
    icon="overview",
)
