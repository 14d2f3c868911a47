"""``argosy schema``: the JSON Schema of what people write and of what ``-o json`` prints."""

import click
from click.shell_completion import CompletionItem

from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.console.printing import print_data, print_text


def _completed_kinds(_context: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer kinds to a shell."""
    from reconciler.reference.schemas import KINDS

    return [CompletionItem(kind) for kind in KINDS if kind.lower().startswith(incomplete.lower())]


@click.command(cls=DocumentedCommand)
@click.argument("kind", default="", shell_complete=_completed_kinds)
def command(kind: str) -> int:
    """Print the JSON Schema of KIND  [default: list the kinds].

    There is a schema of each kind that people write for Argosy (such as Fleet, PolicyTest and RolloutPolicy), of
    Karmada's kinds, and of each document that -o json prints.
    """
    from reconciler.console.json_values import as_json
    from reconciler.console.tables import text_table
    from reconciler.names.subjects import error_of_unknown_name
    from reconciler.reference.field_pages import kind_of_noun
    from reconciler.reference.schemas import KINDS, json_schema_of_kind

    if not kind:
        print_text(text_table(("KIND", "WHAT IT IS"), list(KINDS.items())), end="")
        return 0
    known_kind = next((each for each in KINDS if each.lower() == kind.lower()), None) or kind_of_noun(kind)
    if known_kind is None:
        raise error_of_unknown_name(f"there is no schema of {kind!r}", kind, KINDS)
    print_data(as_json(json_schema_of_kind(known_kind)))
    return 0
