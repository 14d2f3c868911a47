"""The help of a command: words stay whole, many options stand in groups, and examples stand before how it ends."""

from collections.abc import Iterable, Mapping

import click

MOST_IN_A_LIST = 10
"""A longer list of options is divided into groups: nobody reads thirty of them in a row."""

_GROUPS: Mapping[str, tuple[str, ...]] = {
    "Place and marks": ("region", "zones", "provider", "labels", "taints"),
    "Capacity": ("cpu", "memory", "pods", "capacity"),
    "Guards": (
        *("bootstrap", "accept_rewind", "accept_settings", "accepted_settings", "allowed", "allowed_moves"),
        *("allowed_costs", "check", "allowed_signers", "unproven"),
    ),
    "Output": (
        *("output", "output_dir", "shape", "stat", "max_bytes", "is_printed", "is_overwriting", "verbose"),
        *("show_labels", "label_columns", "no_headers", "show_managed_fields"),
    ),
    "Which objects": (
        *("kind", "claimant", "app", "state", "text"),
        *("object_selector", "field_selector", "ignore_not_found"),
    ),
    "Which part": ("order", "is_reversed", "offset", "limit", "row_offset", "column_offset"),
    "Time": (
        *(
            "at",
            "watch",
            "watch_only",
            "output_watch_events",
            "once",
            "now",
            "poll",
            "interval",
            "drift",
            "heartbeat",
            "only_heartbeat",
            "pass_timeout",
            "grace",
        ),
        "horizon",
    ),
    "Losses": ("without_clusters", "without_regions", "without_zones", "without_providers", "n_minus", "by"),
    "Room": ("headroom",),
    "Other changes": ("cordoned", "tainted", "sized", "scaled", "added"),
    "Other programs": ("webhook", "webhook_secrets", "inside", "channels", "lease"),
    "Which clusters": ("live", "clusters", "cluster_selector", "selector", "shard", "context"),
    "How clusters are reached": (
        *("in_cluster", "kubeconfig", "kubeconfigs", "as_user", "as_groups", "timeout", "max_parallel"),
    ),
    "What may be deleted": ("no_prune", "orphans", "yes", "confirmed", "confirm_all"),
    "What may be written": (
        "rehearse",
        "allow_older",
        "reason",
        "until",
        "migrate_from",
        "take_from",
        "remove_foreign",
    ),
}
"""The groups in the order they are shown, with the options of each by their parameters' names."""

_GROUP_OF = {name: title for title, names in _GROUPS.items() for name in names}
_REST = "Options"


# Click breaks lines at hyphens, and half an option cannot be copied. It leaves this character alone, which is none of
# ours and becomes a hyphen again once lines are broken.
_UNBROKEN = "\u2011"


def _with_unbreakable_hyphens(text: str) -> str:
    return text.replace("-", _UNBROKEN)


class WholeWords(click.HelpFormatter):
    """A formatter of help that breaks no line at a hyphen."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write how a command is called."""
        super().write_usage(_with_unbreakable_hyphens(prog), _with_unbreakable_hyphens(args), prefix)

    def write_text(self, text: str) -> None:
        """Write a paragraph."""
        super().write_text(_with_unbreakable_hyphens(text))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write a list of words, each with what it is."""
        super().write_dl(
            [(_with_unbreakable_hyphens(word), _with_unbreakable_hyphens(about)) for word, about in rows],
            col_max,
            col_spacing,
        )

    def getvalue(self) -> str:
        """Return what was written."""
        return super().getvalue().replace(_UNBROKEN, "-")


class HelpContext(click.Context):
    """A context whose help has whole words."""

    formatter_class = WholeWords


class DocumentedCommand(click.Command):
    """A command whose help groups a long list of options and shows examples."""

    context_class = HelpContext

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, those of a long list in groups."""
        options = (param for param in self.get_params(ctx) if isinstance(param, click.Option))
        shown = [(option.name or "", row) for option in options if (row := option.get_help_record(ctx))]
        # What every command has, --help, makes no list a long one.
        is_long = len(shown) - 1 > MOST_IN_A_LIST
        for title in (_REST, *_GROUPS):
            rows = [row for name, row in shown if (_GROUP_OF.get(name, _REST) if is_long else _REST) == title]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, and how the command ends."""
        write_examples(ctx, formatter)
        super().format_epilog(ctx, formatter)


class DocumentedGroup(click.Group):
    """A group of commands whose help shows examples, and whose commands are documented ones."""

    command_class = DocumentedCommand
    context_class = HelpContext

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, and how the commands end."""
        write_examples(ctx, formatter)
        super().format_epilog(ctx, formatter)


def write_examples(context: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the examples of a command as they can be copied: a line is never broken."""
    from reconciler.reference.examples import EXAMPLES

    examples = EXAMPLES.get(context.command_path.partition(" ")[2], ())
    if examples:
        with formatter.section("Examples"):
            for line, about in examples:
                formatter.write(f"  # {about}\n  {line}\n")
