"""The reasons for the place of an object, step by step, and what overrides change of it."""

from reconciler.pages.look import Look, ViewAnswer
from reconciler.pages.shown_object import ShownObject
from reconciler.pages.view import PageView

from .recorded import is_in_a_cluster, rows_of_object


def answer_why(look: Look) -> ViewAnswer:
    """Return why an object is where it is, or in no cluster."""
    shown = ShownObject.of_look(look)
    is_placed = is_in_a_cluster(rows_of_object(look, shown))
    answer = look.answer_of_command(shown.command("explain", f"--rev={look.commits.source}"), is_placed=is_placed)
    return answer.with_title(f"Why is {shown.title} where it is?")


VIEW = PageView(
    name="object_why",
    path="/objects/{kind}/{namespace}/{name}/why",
    question="Why is {kind} {namespace}/{name} where it is?",
    template="object_why.html",
    answer=answer_why,
    under="objects",
)
