"""``argosy cluster``: members of the fleet, changed in the files of the source."""

from typing import Any

import click

from reconciler.console.log import Log

_COMMIT = click.option("--commit", is_flag=True, help="Commit the file that was changed, and nothing else.")
_NAME = click.argument("name")


@click.group("cluster", epilog="Exit codes: 0 done; 2 no such member; 3 refused, nothing was changed; 4 Git failed.")
def command() -> None:
    """Join, label, taint, cordon and drain members by changing their files.

    Cluster files are edited where they are: comments, order and every other byte stay. What would make the source
    worse is refused, and no cluster is asked.
    """


@command.command()
@_NAME
@click.option("--region", default="", help="The region it is in.")
@click.option("--zone", "zones", multiple=True, help="A zone it is in (repeatable).")
@click.option("--provider", default="", help="Who runs it.")
@click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", help="A label (repeatable).")
@click.option("--context", default="", help="List it in argosy.yaml with this kubeconfig context: passes apply to it.")
@_COMMIT
@click.pass_obj
def join(log: Log, /, *, commit: bool, **options: Any) -> int:
    """Write clusters/NAME.yaml for a new member.

    Passes apply to the clusters that argosy.yaml lists; where it lists none and names no kubeconfigs, they only render.
    """
    from reconciler.edit.joining import Joining, join_member

    return join_member(log, Joining(**options), commit=commit)


@command.command()
@_NAME
@click.option("--drain", is_flag=True, help="Make everything leave the cluster first, and say what to run next.")
@click.option("--disconnect", is_flag=True, help="Leave the cluster as it is: nothing in it is touched any more.")
@_COMMIT
@click.pass_obj
def unjoin(log: Log, name: str, *, drain: bool, disconnect: bool, commit: bool) -> int:
    """Take a member out of the source, once nothing is rendered for it."""
    from reconciler.edit.leaving import unjoin_member

    return unjoin_member(log, name, drain=drain, disconnect=disconnect, commit=commit)


@command.command()
@_NAME
@click.argument("words", nargs=-1, required=True, metavar="KEY=VALUE|KEY-...")
@click.option("--overwrite", is_flag=True, help="Also change labels that have another value.")
@_COMMIT
@click.pass_obj
def label(log: Log, name: str, words: tuple[str, ...], *, overwrite: bool, commit: bool) -> int:
    """Set labels (key=value) and take them away (key-)."""
    from reconciler.edit.labels import label_member

    return label_member(log, name, words, overwrite=overwrite, commit=commit)


@command.command()
@_NAME
@click.argument("words", nargs=-1, required=True, metavar="KEY=VALUE:EFFECT|KEY:EFFECT-...")
@click.option("--overwrite", is_flag=True, help="Also change taints that have another value.")
@_COMMIT
@click.pass_obj
def taint(log: Log, name: str, words: tuple[str, ...], *, overwrite: bool, commit: bool) -> int:
    """Set taints (key=value:NoSchedule) and take them away (key:NoSchedule-, key-)."""
    from reconciler.edit.labels import taint_member

    return taint_member(log, name, words, overwrite=overwrite, commit=commit)


@command.command()
@_NAME
@_COMMIT
@click.pass_obj
def cordon(log: Log, name: str, *, commit: bool) -> int:
    """Let nothing new be placed in a member; what is there stays."""
    from reconciler.edit.labels import cordon_member

    return cordon_member(log, name, commit=commit)


@command.command()
@_NAME
@_COMMIT
@click.pass_obj
def uncordon(log: Log, name: str, *, commit: bool) -> int:
    """Let things be placed in a member again."""
    from reconciler.edit.labels import uncordon_member

    return uncordon_member(log, name, commit=commit)
