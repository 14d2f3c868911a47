"""Shell completion in every command: clusters, namespaces, objects and policies, revisions."""

import copy
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from .global_options import REPOSITORY

if TYPE_CHECKING:
    from reconciler.names.quick_scan import ScannedNames

_NOUNS = ("cluster", "policy")
_OURS = (".policy.karmada.io", ".work.karmada.io", ".argosy.dev")
_MOST_SUBJECTS = 60
"""More objects than these are offered by their kinds first: a person would not read them."""


class _Completed(click.types.StringParamType):
    """Text for which a shell is offered names: of objects, policies and clusters, or of revisions."""

    def __init__(
        self, offers: Callable[[click.Context, "ScannedNames", str], Iterable[str]], *, of_revisions: bool = False
    ) -> None:
        self._offers = offers
        self._of_revisions = of_revisions

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's signature
        """Offer what begins as what is typed."""
        from reconciler.names.quick_scan import collect_names_in_time, collect_objects, collect_revisions

        scan = collect_revisions if self._of_revisions else collect_objects
        names = collect_names_in_time(str(ctx.meta.get(REPOSITORY, ".")), scan)
        offered = sorted(set(self._offers(ctx, names, incomplete)))
        return [CompletionItem(name) for name in offered if name.startswith(incomplete)]


class _Path(click.types.StringParamType):
    """Text for which a shell offers what is on this machine."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's signature
        """Let the shell offer files or folders."""
        return [CompletionItem(incomplete, type=self._kind)]


def _subject_completions(context: click.Context, names: "ScannedNames", incomplete: str) -> Iterable[str]:
    """Return kinds and, where a person can read them all, objects; then names: ``KIND/NAME`` and ``KIND NAME``."""
    earlier = tuple(context.params.get("subject") or ())
    noun, slash, _ = incomplete.partition("/")
    if slash:
        return [f"{noun}/{name}" for name in _object_names_for_noun(noun, context, names)]
    if earlier:
        return _object_names_for_noun(earlier[0], context, names)
    kinds = {kind: kind.partition(".")[0].lower() for kind, _, _ in names.objects if not kind.endswith(_OURS)}
    nouns = [*_NOUNS, *kinds.values()]
    is_short = len(names.objects) + len(names.clusters) <= _MOST_SUBJECTS
    meant = {incomplete, *(nouns if is_short else ())}
    return [*nouns, *(f"{noun}/{name}" for noun in meant for name in _object_names_for_noun(noun, context, names))]


def _object_names_for_noun(noun: str, context: click.Context, names: "ScannedNames") -> Iterable[str]:
    """Return the names of what a noun means, in the namespace that was chosen."""
    from reconciler.names.kinds import names_of_kind
    from reconciler.names.subjects import is_cluster_noun, policy_kinds_meant_by
    from render.model import ObjectRef

    if is_cluster_noun(noun):
        return names.clusters
    namespace, matching, kinds = str(context.params.get("namespace") or ""), [], policy_kinds_meant_by(noun)
    for group_kind, place, name in names.objects:
        kind, _, group = group_kind.partition(".")
        is_meant = kind in kinds or noun.lower() in names_of_kind(ObjectRef(group, kind, place, name), "", {})
        if is_meant and (not namespace or place in {"", namespace}):
            matching.append(name)
    return matching


_CLUSTERS = _Completed(lambda _context, names, _text: names.clusters)
_FORMER = _Completed(lambda _context, names, _text: names.clusters - names.members)
_REMOVALS = _Completed(lambda _context, names, _text: (f"{name}=" for name in names.clusters))
_NAMESPACES = _Completed(lambda _context, names, _text: {place for _, place, _ in names.objects if place})
_REVISIONS = _Completed(lambda _context, names, _text: names.revisions, of_revisions=True)
_TYPES = {
    **dict.fromkeys(("clusters", "cluster", "in_cluster", "name", "names"), _CLUSTERS),
    "former": _FORMER,
    **dict.fromkeys(("rev", "revision", "base", "head"), _REVISIONS),
    "allowed": _REMOVALS,
    "namespace": _NAMESPACES,
    **dict.fromkeys(("repo", "kubeconfigs"), _Path("dir")),
    **dict.fromkeys(("kubeconfig", "paths"), _Path("file")),
    "subject": _Completed(_subject_completions),
}
"""The completion of a parameter, by its name, in every command."""


def with_completion(command: click.Command) -> click.Command:
    """Return a command, and its own commands, whose names a shell can complete; who joins is not there yet."""
    completed = copy.copy(command)
    completed.params = [param_with_completion(param) for param in command.params]
    if isinstance(completed, click.Group):
        inner = completed.commands.items()
        completed.commands = {name: each if name == "join" else with_completion(each) for name, each in inner}
    return completed


def param_with_completion(param: click.Parameter) -> click.Parameter:
    """Return a parameter that a shell can complete, if there is anything to offer for it."""
    if param.name not in _TYPES or not isinstance(param.type, click.types.StringParamType):
        return param
    completed = copy.copy(param)
    completed.type = _TYPES[param.name]
    return completed
