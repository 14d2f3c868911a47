"""``argosy cluster label``, ``taint``, ``cordon``, ``uncordon`` and ``set``: one edit of any number of members."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec import Struct

from reconciler.commands.options.edit_options import EditMessages, print_next_steps
from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.console.log import Log
from reconciler.console.printing import print_text

from .cluster_outcomes import free_and_show

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reconciler.edit.member_selection import EditsOf, MemberSelection
    from render.model import Manifest

_Command = TypeVar("_Command", bound=Callable[..., Any])

COMMIT = click.option("--commit", is_flag=True, help="Commit the files that were changed, and nothing else.")
NAMES = click.argument("names", nargs=-1, metavar="[NAME|GLOB]...")
_OVERWRITE = click.option("--overwrite", is_flag=True, help="Also change what has another value.")
SELECTOR = click.option(
    "-l", "--selector", default="", metavar="LABELS", help="Members with these labels, such as env=prod,tier."
)
_CAPACITY = (
    click.option("--cpu", default="", metavar="AMOUNT", help="Processors that pods may use, such as 64 or 1500m."),
    click.option("--memory", default="", metavar="AMOUNT", help="Memory that pods may use, such as 256Gi."),
    click.option("--pods", default="", metavar="COUNT", help="The number of pods there is room for."),
    click.option(
        "--capacity",
        multiple=True,
        metavar="RESOURCE=AMOUNT",
        help="The capacity of any resource, such as nvidia.com/gpu=8 (repeatable).",
    ),
)
_PLACE = (
    click.option("--region", default="", help="The region it is in."),
    click.option("--zone", "zones", multiple=True, help="A zone it is in (repeatable)."),
    click.option("--provider", default="", help="The provider that runs it."),
)


def with_field_options(command: _Command) -> _Command:
    """Add the options that declare the place and the capacity of members."""
    for option in reversed((*_PLACE, *_CAPACITY)):
        command = option(command)
    return command


def member_fields(options: dict[str, Any]) -> Any:
    """Take the options that declare a place and a capacity out of all options, as one value."""
    from reconciler.edit.member_fields import MemberFields, parse_capacity

    place = {name: options.pop(name) for name in ("region", "zones", "provider")}
    amounts = {name: options.pop(name) for name in ("cpu", "memory", "pods")}
    return MemberFields(**place, capacity=parse_capacity(amounts, options.pop("capacity")))


@click.command(cls=DocumentedCommand)
@click.argument("names", nargs=-1, metavar="[NAME|GLOB]... KEY=VALUE|KEY-...")
@SELECTOR
@_OVERWRITE
@COMMIT
@click.pass_obj
def label(log: Log, /, names: tuple[str, ...], *, selector: str, overwrite: bool, commit: bool) -> int:
    """Set labels (key=value) and take them away (key-).

    Rules about regions, zones and providers read the Cluster's spec, and not its labels: a label that is called like
    one of them is set, and the command that sets the field is named.
    """
    from reconciler.edit.labels import label_edits, parse_labels

    chosen, words = _names_and_changes(names, "=", is_selected=bool(selector))
    change = parse_labels(words)
    done = "labeled" if change.wanted else "unlabeled"
    messages = EditMessages(subject=f"Label {{}}: {' '.join(words)}", done=done, idle="not labeled")
    selection = selection_of(chosen, selector)

    def edits_of(manifest: "Manifest") -> Any:
        return label_edits(manifest, change, overwrite=overwrite)

    warn = _PlaceWarning(labels=change.wanted)
    return _edit_and_show(log, selection, edits_of, messages, commit=commit, warn=warn)


@click.command(cls=DocumentedCommand)
@click.argument("names", nargs=-1, metavar="[NAME|GLOB]... KEY=VALUE:EFFECT|KEY:EFFECT-...")
@SELECTOR
@_OVERWRITE
@COMMIT
@click.pass_obj
def taint(log: Log, /, names: tuple[str, ...], *, selector: str, overwrite: bool, commit: bool) -> int:
    """Set taints (key=value:NoSchedule) and take them away (key-).

    key:NoSchedule- takes away the taint with this effect alone. Where one is taken away, what comes back is shown
    first, and what does not by itself, as with 'argosy cluster uncordon'.
    """
    from reconciler.edit.labels import parse_taints, taint_edits

    chosen, words = _names_and_changes(names, "=:", is_selected=bool(selector))
    change = parse_taints(words)
    done = "tainted" if change.wanted else "untainted"
    messages = EditMessages(subject=f"Taint {{}}: {' '.join(words)}", done=done, idle="not tainted")
    selection = selection_of(chosen, selector)
    show = free_and_show if change.removed else _edit_and_show
    return show(log, selection, lambda each: taint_edits(each, change, overwrite=overwrite), messages, commit=commit)


@click.command(cls=DocumentedCommand)
@NAMES
@SELECTOR
@COMMIT
@click.pass_obj
def cordon(log: Log, /, names: tuple[str, ...], *, selector: str, commit: bool) -> int:
    """Let nothing new be placed in members; what is there stays.

    A workload that is there may get more of its replicas there, as with Karmada: only objects that are not there yet
    have to tolerate the taint. argosy cluster drain has it leave.
    """
    from reconciler.edit.labels import TaintChange, taint_edits
    from render.cluster import CORDON

    change = TaintChange(wanted=(CORDON,), removed=())
    messages = EditMessages(subject="Cordon {}", done="cordoned", idle="already cordoned")
    selection = selection_of(names, selector)
    return _edit_and_show(
        log, selection, lambda each: taint_edits(each, change, overwrite=True), messages, commit=commit
    )


@click.command(cls=DocumentedCommand)
@NAMES
@SELECTOR
@COMMIT
@click.pass_obj
def uncordon(log: Log, /, names: tuple[str, ...], *, selector: str, commit: bool) -> int:
    """Let things be placed in members again.

    This ends a cordon and a drain. What comes back is shown first, as 'argosy diff' does. Divided replicas that left a
    member stay where they are; the 'argosy rebalance' that moves them is named.
    """
    from reconciler.edit.labels import TaintChange, taint_edits
    from render.cluster import CORDON, DRAIN

    change = TaintChange(wanted=(), removed=(CORDON, *DRAIN))
    messages = EditMessages(subject="Uncordon {}", done="uncordoned", idle="already uncordoned")
    selection = selection_of(names, selector)
    return free_and_show(
        log, selection, lambda each: taint_edits(each, change, overwrite=True), messages, commit=commit
    )


@click.command("set", cls=DocumentedCommand)
@NAMES
@SELECTOR
@with_field_options
@COMMIT
@click.pass_obj
def set_fields(log: Log, /, names: tuple[str, ...], *, selector: str, commit: bool, **options: Any) -> int:
    """Declare where members are, and what they have room for.

    Spread constraints and field selectors go by the region, the zones and the provider. A capacity counts for
    strategies that divide by free capacity, until the member is observed.
    """
    from reconciler.edit.member_fields import field_edits

    wanted = member_fields(options)
    if not wanted:
        raise click.UsageError("name a capacity: --cpu, --memory or --pods; or a place: --region, --zone or --provider")
    subject = f"Set {{}}: {wanted}" if wanted.has_place else f"Set the capacity of {{}}: {wanted}"
    done = "place set" if not wanted.capacity else "set" if wanted.has_place else "capacity set"
    messages = EditMessages(subject=subject, done=done, idle="unchanged")
    selection = selection_of(names, selector)
    return _edit_and_show(log, selection, lambda each: field_edits(each, wanted), messages, commit=commit)


def _names_and_changes(
    words: tuple[str, ...], signs: str, *, is_selected: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the leading words that are names of members, and those from the first change on.

    Without any change, the words behind the first are taken for changes that are none.
    """
    at = next((at for at, word in enumerate(words) if word.endswith("-") or set(signs) & set(word)), None)
    if at is None:
        at = 0 if is_selected else min(1, len(words))
    if not words[at:]:
        raise click.UsageError("say what to set, as key=value, or to take away, as key-")
    return words[:at], words[at:]


def selection_of(names: tuple[str, ...], selector: str) -> "MemberSelection":
    """Return the members that the words of a command select."""
    from reconciler.edit.member_selection import MemberSelection

    return MemberSelection(names=names, selector=selector)


class _PlaceWarning(Struct, frozen=True, kw_only=True):
    """The labels that are set, of which some may be taken for the place of a cluster."""

    labels: "Mapping[str, str]" = {}

    def log_warning(self, log: Log, manifests: "Iterable[Manifest]", selection: str) -> None:
        """Warn of labels by which no rule about places goes, with the command that sets the fields they mean."""
        from reconciler.edit.labels import unread_places

        unread = {field: value for each in manifests for field, value in unread_places(each, self.labels).items()}
        warn_of_unread_places(log, unread, selection)


def warn_of_unread_places(log: Log, unread: "Mapping[str, str]", selection: str) -> None:
    """Warn of labels by which no rule about places goes, with the command that sets the fields they mean."""
    if not unread:
        return
    fields = " and ".join(f"spec.{'zones' if field == 'zone' else field}" for field in unread)
    places = " and ".join(f"{field}s" for field in unread)
    options = " ".join(f"--{field} {value}" for field, value in unread.items())
    log.warning(f"rules about {places} read {fields}, and no label\n  hint: argosy cluster set {selection} {options}")


def _edit_and_show(
    log: Log,
    selection: "MemberSelection",
    edits_of: "EditsOf",
    messages: EditMessages,
    *,
    commit: bool,
    warn: _PlaceWarning | None = None,
) -> int:
    """Edit the Clusters of members and print what became of each."""
    from reconciler.edit.cluster_files import opened_source, write_change
    from reconciler.edit.member_selection import change_of_members, names_in_subject, selected_members
    from reconciler.edit.next_steps import steps_after_unseen_edit

    steps: tuple[str, ...] = ()
    with opened_source(log) as source:
        names = selected_members(source, selection)
        subject = messages.subject.replace("{}", names_in_subject(names), 1)
        change, changed = change_of_members(source, names, edits_of, subject)
        manifests = [source.place_of(name).manifest for name in names]
        if change is not None:
            commit_id = write_change(source, change, log, commit=commit)
            steps = tuple(steps_after_unseen_edit(source, change, commit_id))
    for name in names:
        print_text(f"cluster/{name} {messages.done if name in changed else messages.idle}")
    if warn is not None:
        warn.log_warning(log, manifests, str(selection))
    if steps:
        print_next_steps(steps)
    return 0
