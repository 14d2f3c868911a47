"""The question which contexts become clusters: by options, and on a terminal by asking."""

import os
import sys
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reconciler.console.log import Log
from reconciler.console.printing import print_error
from render.words import counted_noun, first_few

if TYPE_CHECKING:
    from reconciler.members.kubeconfig import Kubeconfig


def contexts_to_join(
    log: Log, kubeconfig: str, chosen: tuple[str, ...], known: AbstractSet[str] | None
) -> tuple[str, ...]:
    """Return the contexts that become clusters: those that are chosen, else those that somebody at a terminal names.

    Without a terminal a new fleet takes all contexts, of those that reach the same server one. A fleet that is there
    takes none that nobody names, as somebody may have left it out; ``known`` are the contexts of its members, None for
    a new fleet. A kubeconfig that is not there is worth a word, unless it was named.
    """
    from reconciler.edit.contexts import contexts_among_available, contexts_by_server

    loaded = _usable_kubeconfig(kubeconfig, is_named=bool(kubeconfig or chosen))
    if isinstance(loaded, str):
        if known is None:
            log.warning(f"{loaded}, so that no context becomes a cluster")
        return ()
    members = known or frozenset()
    if chosen:
        return tuple(each for each in contexts_among_available(loaded.contexts, chosen) if each not in members)
    groups = tuple(each for each in contexts_by_server(loaded.contexts) if members.isdisjoint(each))
    if is_somebody_asked() and groups:
        return _contexts_somebody_names({each: group for group in groups for each in group})
    return _contexts_nobody_names(groups, log) if known is None else _no_contexts(groups, log)


def _usable_kubeconfig(path: str, *, is_named: bool) -> "Kubeconfig | str":
    """Return a kubeconfig, or why none can be used, which stops a command that names one."""
    from reconciler.members.kubeconfig import Kubeconfig, default_kubeconfig_files, load_kubeconfig
    from render.errors import ConfigError

    loaded = load_kubeconfig((Path(path).expanduser(),) if path else default_kubeconfig_files(os.environ))
    if isinstance(loaded, Kubeconfig):
        return loaded
    if is_named:
        raise ConfigError(loaded.message, hint=loaded.hint)
    return loaded.message


def _contexts_nobody_names(groups: Iterable[tuple[str, ...]], log: Log) -> tuple[str, ...]:
    """Return one context for each server, with a warning about the others."""
    for first, *others in groups:
        if others:
            log.warning(f"of contexts that reach one server, {first} becomes a cluster, and {first_few(others)} not")
    return tuple(sorted(first for first, *_ in groups))


def _no_contexts(groups: Iterable[tuple[str, ...]], log: Log) -> tuple[str, ...]:
    """Return no context, and say which there are."""
    others = sorted(each for group in groups for each in group)
    if others:
        of_none = "context of no member" if len(others) == 1 else "contexts of no member"
        log.info(f"found {len(others)} {of_none}, which --context adds: {first_few(others)}")
    return ()


def is_somebody_asked() -> bool:
    """Say whether there is a terminal, at which somebody can answer."""
    return sys.stdin.isatty()


def cluster_names_somebody_gives() -> tuple[str, ...]:
    """Return the names of clusters without a context that somebody at a terminal gives."""
    question = "Names of clusters to render for, without a context (with commas; nothing: none)"
    answer = click.prompt(question, default="", show_default=False, err=True)
    return tuple(dict.fromkeys(answer.replace(",", " ").split()))


def _contexts_somebody_names(group_by_context: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Show the contexts by number and ask which become clusters, until there is an answer."""
    from reconciler.edit.contexts import EVERY_CONTEXT, NO_CONTEXT, contexts_of_answer
    from render.errors import ConfigError

    available = sorted(group_by_context)
    print_error(f"The kubeconfig has {counted_noun(len(available), 'context')}:")
    for number, context in enumerate(available, start=1):
        same = first_few([each for each in group_by_context[context] if each != context])
        print_error(f"  {number}  {context}{f' (the server of {same})' if same else ''}")
    print_error("A pass WRITES to every cluster of the fleet.")

    def contexts_of_text(text: str) -> tuple[str, ...]:
        try:
            return contexts_of_answer(available, text)
        except ConfigError as error:
            raise click.UsageError(str(error)) from error

    question = f"Which become clusters? (numbers, names or patterns; {EVERY_CONTEXT}; {NO_CONTEXT})"
    found: tuple[str, ...] = click.prompt(question, value_proc=contexts_of_text, err=True)
    return found
