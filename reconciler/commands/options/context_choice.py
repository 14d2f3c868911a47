"""The question which contexts become clusters: by options, and on a terminal by asking."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reconciler.console.log import Log
from render.words import counted_noun, first_few

if TYPE_CHECKING:
    from reconciler.members.kubeconfig import Kubeconfig


def contexts_to_join(log: Log, kubeconfig: str, chosen: tuple[str, ...]) -> tuple[str, ...]:
    """Return the contexts that become clusters: those that are chosen, else those that somebody at a terminal names.

    Without a terminal they are all contexts, of those that reach the same server one. A kubeconfig that is not there
    is worth a word, unless it was named.
    """
    from reconciler.edit.contexts import contexts_among_available, contexts_by_server
    from reconciler.members.kubeconfig import Kubeconfig, default_kubeconfig_files, load_kubeconfig
    from render.errors import ConfigError

    files = (Path(kubeconfig).expanduser(),) if kubeconfig else default_kubeconfig_files(os.environ)
    loaded = load_kubeconfig(files)
    if not isinstance(loaded, Kubeconfig):
        if kubeconfig or chosen:
            raise ConfigError(loaded.message, hint=loaded.hint)
        log.warning(f"{loaded.message}, so that no context becomes a cluster")
        return ()
    if chosen:
        return contexts_among_available(loaded.contexts, chosen)
    groups = tuple(contexts_by_server(loaded.contexts))
    if is_somebody_asked() and groups:
        return _contexts_somebody_names(loaded, {each: group for group in groups for each in group})
    for first, *others in groups:
        if others:
            log.warning(f"of contexts that reach one server, {first} becomes a cluster, and {first_few(others)} not")
    return tuple(sorted(first for first, *_ in groups))


def is_somebody_asked() -> bool:
    """Say whether there is a terminal, at which somebody can answer."""
    return sys.stdin.isatty()


def cluster_names_somebody_gives() -> tuple[str, ...]:
    """Return the names of clusters without a context that somebody at a terminal gives."""
    question = "Names of clusters to render for, without a context (with commas; nothing: none)"
    answer = click.prompt(question, default="", show_default=False, err=True)
    return tuple(dict.fromkeys(answer.replace(",", " ").split()))


def _contexts_somebody_names(loaded: "Kubeconfig", group_by_context: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Show the contexts by number and ask which become clusters, until there is an answer."""
    from reconciler.edit.contexts import EVERY_CONTEXT, NO_CONTEXT, contexts_of_answer
    from render.errors import ConfigError

    available = sorted(loaded.contexts)
    click.echo(f"The kubeconfig has {counted_noun(len(available), 'context')}:", err=True)
    for number, context in enumerate(available, start=1):
        same = first_few([each for each in group_by_context[context] if each != context])
        click.echo(f"  {number}  {context}{f' (the server of {same})' if same else ''}", err=True)
    click.echo("A pass WRITES to every cluster of the fleet.", err=True)

    def contexts_of_text(text: str) -> tuple[str, ...]:
        try:
            return contexts_of_answer(available, text)
        except ConfigError as error:
            raise click.UsageError(str(error)) from error

    question = f"Which become clusters? (numbers, names or patterns; {EVERY_CONTEXT}; {NO_CONTEXT})"
    found: tuple[str, ...] = click.prompt(question, value_proc=contexts_of_text, err=True)
    return found
