"""Templates of pages: every text that is put in is escaped, and shows its control characters and marks of direction.

Only our own macros make markup. A name that a template does not know is an error, not an empty place.
"""

import hashlib
import json
import re
import shlex
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from reconciler.console.cleaning import with_visible_control_characters, without_passwords
from reconciler.console.clock import age_in_words
from reconciler.explain.decision import division_in_words, heading_of_votes, tie_rules_in_words, trigger_in_words
from reconciler.status.rollout_commands import committing_command
from render.kinds import BUILT_IN
from render.model import ObjectRef
from render.scheduling.rules import BEYOND_OVERFLOW
from render.timing import epoch_text, parse_instant
from render.words import counted_noun

_LONG = 400
_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}


class StaticFile:
    """A file of ours that pages load: its type, its content, and a version that is another one when its content is."""

    def __init__(self, name: str, content: bytes) -> None:
        self.name = name
        self.type = _TYPES[name[name.rindex(".") :]]
        self.content = content
        self.version = hashlib.sha256(content).hexdigest()[:12]


@cache
def static_files() -> Mapping[str, StaticFile]:
    """Return every file that pages load, by name."""
    folder = files("reconciler.pages") / "static"
    found = ((each.name, each.read_bytes()) for each in folder.iterdir() if each.is_file())
    return {name: StaticFile(name, content) for name, content in sorted(found)}


def rendered_page(template: str, values: Mapping[str, Any]) -> str:
    """Return a page as HTML."""
    return _environment().get_template(template).render(values)


@cache
def compile_templates() -> None:
    """Compile every template, once: the first page that needs one would wait for it."""
    environment = _environment()
    for name in environment.list_templates():
        environment.get_template(name)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("reconciler.pages"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        finalize=_shown_value,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters |= {**_filters_of_documents(), **_filters_of_explanations()}
    environment.tests |= {"kind_with_pods": may_have_pods}
    environment.globals |= {"static": static_files()}
    environment.globals["overflow_tiers"] = range(1, BEYOND_OVERFLOW)
    return environment


def _filters_of_documents() -> Mapping[str, Callable[..., Any]]:
    """Return what templates make of values of documents."""
    return {
        "short": short_commit,
        "duration": lambda seconds: age_in_words(int(seconds)),
        "seconds": seconds_of_time,
        "long": is_long,
        "cut": cut_text,
        "visible": _shown_value,
        "iso": epoch_text,
        "counted": counted_noun,
        "object_parts": object_parts,
        "shell_word": shlex.quote,
        "object_words": object_words,
        "value_words": value_words,
        "spaced_words": spaced_words,
        "author_name": author_name,
        "before_and_after": before_and_after,
        "before_and_ideally": before_and_ideally,
        "rollout_command": lambda policy, verb, group: committing_command(verb, policy, group),
    }


def _filters_of_explanations() -> Mapping[str, Callable[..., Any]]:
    """Return what templates say of a decision, in the words of ``argosy explain``."""
    return {
        "trigger_words": trigger_in_words,
        "division_words": division_in_words,
        "heading_of_votes": heading_of_votes,
        "tie_rules": tie_rules_in_words,
    }


def _shown_value(value: Any) -> Any:
    """Return a value as a page shows it; markup of our own macros stays as it is."""
    if isinstance(value, Markup):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return without_passwords(with_visible_control_characters(value)) if isinstance(value, str) else value


def short_commit(commit: str | None) -> str:
    """Return as much of a commit as people read."""
    return (commit or "")[:12]


def seconds_of_time(text: str) -> float | None:
    """Return a time of a document in seconds; None for what is none."""
    found = parse_instant(text)
    return None if found is None else found.timestamp()


def is_long(text: str, most: int = _LONG) -> bool:
    """Say whether a text is cut where it is shown."""
    return len(text) > most


def cut_text(text: str, most: int = _LONG) -> str:
    """Return a text, and of a long one its beginning."""
    return text if len(text) <= most else text[: most - 1] + "…"


def object_parts(text: str) -> Mapping[str, str] | None:
    """Return kind, namespace and name of an object as documents name it; None where it is none.

    >>> object_parts("Deployment.apps shop/web")
    {'kind': 'Deployment.apps', 'namespace': 'shop', 'name': 'web'}
    """
    kind, _, rest = text.partition(" ")
    namespace, slash, name = rest.partition("/")
    if not kind or not rest:
        return None
    return {"kind": kind, "namespace": namespace if slash else "", "name": name if slash else rest}


def may_have_pods(group_kind: str) -> bool:
    """Say whether objects of a kind may own pods: of Kubernetes' kinds it is known, and any other may.

    >>> [may_have_pods(each) for each in ("Deployment.apps", "Namespace", "Widget.example.com")]
    [True, False, True]
    """
    kind, _, group = group_kind.partition(".")
    built_in = BUILT_IN.get((group, kind))
    return built_in is None or bool(built_in.pod_spec)


def object_words(ref: Mapping[str, str]) -> str:
    """Return an object whose parts a document gives one by one as others name it."""
    return str(ObjectRef(ref["group"], ref["kind"], ref["namespace"], ref["name"]))


def author_name(author: str) -> str:
    """Return the name of an author, whose address is left out.

    >>> author_name("Ada <ada@example.com>")
    'Ada'
    """
    return author.partition(" <")[0]


def spaced_words(word: str) -> str:
    """Return a word of the API as words.

    >>> spaced_words("ExpiredFreeze")
    'Expired freeze'
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", word).capitalize()


def value_words(value: object) -> str:
    """Return the value of a field as JSON has it, cut where it is long."""
    return cut_text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), _LONG)


def before_and_after(simulated: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the replicas of a simulated object in each cluster, and those that passes leave it with."""
    return _compared_replicas(simulated["before"], simulated["after"])


def before_and_ideally(simulated: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the replicas of a simulated object in each cluster, and those it would have if all was placed anew."""
    return _compared_replicas(simulated["before"], simulated["ideal"])


def _compared_replicas(before: Mapping[str, int], after: Mapping[str, int]) -> list[dict[str, Any]]:
    names = sorted(before.keys() | after.keys())
    return [{"name": name, "before": before.get(name, 0), "after": after.get(name, 0)} for name in names]
