"""The pods of an object in its members as they are now, with events, and the end of a log."""

from msgspec.structs import replace

from reconciler.members.exchange import ASTRAY, FailureKind
from reconciler.pages.look import Look, ViewAnswer
from reconciler.pages.shown_object import ShownObject
from reconciler.pages.templating import may_have_pods
from reconciler.pages.view import PageView
from render.errors import ConfigError, UnknownName

from .recorded import is_in_a_cluster, rows_of_object

_SECONDS = 30.0
"""So long an answer of members is shown before they are asked again."""
_LINES, _MOST_LINES = 100, 1000
NEVER_ASKED = frozenset({*ASTRAY, FailureKind.CREDENTIALS, FailureKind.WRONG_CLUSTER})
"""The failures for which no request came to the member at all."""


def _answer(look: Look) -> ViewAnswer:
    shown = ShownObject.of_look(look)
    if not may_have_pods(shown.kind):
        raise UnknownName(
            f"objects of kind {shown.kind} have no pods", hint=f"argosy {' '.join(shown.command('status'))}"
        )
    options = [f"--{name}={value}" for name in ("cluster", "pod") if (value := look.asked(name))]
    if look.asked("pod"):
        options += [f"--container={name}" for name in [look.asked("container")] if name]
        options += [f"--tail={look.number_asked('tail', _LINES, _MOST_LINES)}"]
        options += ["--previous"] if look.asked("previous") else []
    words = shown.command("pods", *options, "--timeout=10s")
    if not look.reader.asks_members:
        raise ConfigError("this page asks no members", hint=f"argosy {' '.join(words)}")
    answer = look.answer_of_members(words, _SECONDS)
    rows = rows_of_object(look, shown)
    asked = answer.document.get("clusters", {})
    return replace(
        answer,
        title=f"How are the pods of {shown.title}?",
        shown={
            "placed": [each["cluster"] for each in rows],
            "is_placed": is_in_a_cluster(rows),
            "recorded": [] if look.asked("cluster") else [each for each in rows if each["cluster"] not in asked],
            "never_asked": NEVER_ASKED,
        },
    )


VIEW = PageView(
    name="object_pods",
    path="/objects/{kind}/{namespace}/{name}/pods",
    question="How are the pods of {kind} {namespace}/{name}?",
    template="object_pods.html",
    answer=_answer,
    under="objects",
)
