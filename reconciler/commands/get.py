"""``argosy get``: objects of members as their servers show them, of many members at once."""

from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.commands.options.member_options import with_asking_options
from reconciler.commands.options.selector_checks import (
    checked_field_selector,
    checked_label_keys,
    checked_label_selector,
    checked_namespace,
)
from reconciler.console.idle_options import is_option_given, refuse_given_options
from reconciler.console.log import Log
from reconciler.console.printing import print_data, print_error, print_text
from reconciler.members.options import AccessOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reconciler.inspection.choosing import Chosen
    from reconciler.inspection.found import FoundInMembers
    from reconciler.inspection.objects import ObjectOutput
    from reconciler.inspection.tables import Shown
    from reconciler.inspection.wanted import ObjectsWanted
    from reconciler.status.reported_objects import ReportedObjects


class GetOptions(Struct, frozen=True, kw_only=True):
    """The options of ``argosy get``."""

    words: tuple[str, ...]
    namespace: str = "default"
    all_namespaces: bool = False
    object_selector: str = ""
    field_selector: str = ""
    output: str = ""
    sort_by: str = ""
    subresource: str = ""
    show_kind: bool = False
    show_labels: bool = False
    label_columns: tuple[str, ...] = ()
    no_headers: bool = False
    show_managed_fields: bool = False
    ignore_not_found: bool = False
    watch: bool = False
    watch_only: bool = False
    output_watch_events: bool = False
    access: AccessOptions = field(default_factory=AccessOptions)


@click.command(
    cls=DocumentedCommand,
    epilog="Exit codes: 0 every cluster answered; 1 no cluster has an object that is named, or one refused to answer;"
    " 2 no such kind; 5 no cluster could be used; 7 some could not be reached.",
)
@click.argument("words", nargs=-1, metavar="KIND[,KIND] [NAME...] | KIND/NAME...")
@click.option(
    "-n",
    "--namespace",
    default="default",
    show_default=True,
    callback=checked_namespace,
    metavar="NAME",
    help="The namespace of the objects.",
)
@click.option("-A", "--all-namespaces", is_flag=True, help="The objects of every namespace.")
@click.option(
    "-l",
    "--selector",
    "object_selector",
    default="",
    callback=checked_label_selector,
    metavar="LABELS",
    help="Only objects with these labels, as for kubectl.",
)
@click.option(
    "--field-selector",
    default="",
    callback=checked_field_selector,
    metavar="FIELDS",
    help="Only objects with these fields: status.phase=Running.",
)
@click.option(
    "-o",
    "--output",
    default="",
    metavar="FORM",
    help="wide, json, yaml, name, jsonpath=TEMPLATE, jsonpath-as-json=PATH, jsonpath-file=FILE,"
    " custom-columns=NAME:.path or custom-columns-file=FILE  [default: a table]",
)
@click.option(
    "--sort-by",
    default="",
    metavar="FIELD",
    help="Sort by this field over all clusters: .metadata.creationTimestamp.",
)
@click.option(
    "--subresource",
    type=click.Choice(["status", "scale", "resize"]),
    default=None,
    help="Show this part of objects that are named.",
)
@click.option("--show-kind", is_flag=True, help="Write the kind before each name.")
@click.option("--show-labels", is_flag=True, help="Show all labels in the last column.")
@click.option(
    "-L",
    "--label-columns",
    multiple=True,
    callback=checked_label_keys,
    metavar="LABEL",
    help="Show this label in a column (repeatable).",
)
@click.option("--no-headers", is_flag=True, help="Leave out the titles of columns.")
@click.option("--show-managed-fields", is_flag=True, help="Keep metadata.managedFields in json and yaml.")
@click.option("--ignore-not-found", is_flag=True, help="Say nothing of names that no cluster has.")
@click.option("-w", "--watch", is_flag=True, help="After what is there, show every change as it comes, until ^C.")
@click.option("--watch-only", is_flag=True, help="Show the changes alone.")
@click.option("--output-watch-events", is_flag=True, help="Show what happened as well: ADDED, MODIFIED, DELETED.")
@with_asking_options
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Show objects of all members as they are now, with the cluster of each.

    The members are asked at once, and each answers with its own table: the columns are those of kubectl get, printer
    columns of custom resources included. A member that does not answer costs its own time and is named. One that pulls
    is not asked: what its agent reported last stands in a table of its own, dated, with state and replicas. Kinds are
    named as for kubectl (deploy, deployments.apps, all). As JSON or YAML each object has its cluster in the field
    "cluster"; the contents of Secrets are hidden.

    With -w all members are watched at once, and each change is a row, as with kubectl. A member that does not answer is
    named and asked again; nothing that happens meanwhile is left out, but what several changes made of an object may be
    one row. In any other form each change is a document of its own, from which templates and columns take their values;
    with --output-watch-events it is a document that has a type and an object.

    Of kubectl's options, these are not here: -f, -k and -R (objects of the source are those of argosy status), Go's
    templates (jsonpath and json take their place), --raw, --server-print and --chunk-size.
    """
    chosen = GetOptions(**{**options, "subresource": options["subresource"] or ""})
    _refuse_options_without_effect(chosen)
    return get_and_show(log, chosen)


def _refuse_options_without_effect(options: GetOptions) -> None:
    """Refuse options that would do nothing beside others."""
    if options.all_namespaces and is_option_given("namespace"):
        raise click.UsageError("-A means every namespace and -n one: choose one")
    form = options.output.partition("=")[0]
    if options.watch or options.watch_only:
        refuse_given_options(["sort_by", "subresource"], "goes without -w")
    else:
        refuse_given_options(["output_watch_events"], "goes with -w")
    if form not in {"", "wide"}:
        refuse_given_options(["show_labels", "label_columns", "show_kind"], "goes with tables")
    if form not in {"", "wide", "custom-columns", "custom-columns-file"}:
        refuse_given_options(["no_headers"], "goes with tables")
    if form not in {"json", "yaml", "jsonpath", "jsonpath-file", "jsonpath-as-json"}:
        refuse_given_options(["show_managed_fields"], "goes with -o json, yaml or jsonpath")


def get_and_show(log: Log, options: GetOptions) -> int:
    """Ask the members, print what they have, and return how that went."""
    from datetime import UTC, datetime

    from reconciler.inspection.asking import ObjectQuestion, answers_of_members
    from reconciler.inspection.choosing import chosen_members
    from reconciler.inspection.found import FoundInMembers
    from reconciler.inspection.objects import parse_object_output
    from reconciler.inspection.ordering import parse_order

    output = parse_object_output(options.output, has_header=not options.no_headers)
    wanted = _wanted_objects(options)
    options = replace(options, sort_by=parse_order(options.sort_by)) if options.sort_by else options
    if options.watch or options.watch_only:
        return _watch_and_show(log, wanted, options, output)
    question = ObjectQuestion(
        wanted=wanted,
        now=datetime.now(UTC),
        is_whole=output is not None,
        has_objects=bool(options.sort_by),
        subresource=options.subresource,
    )
    narrows = options.no_headers or wanted.labels or wanted.fields or options.subresource
    shows_reports = output is None and not narrows
    with chosen_members(log, options.access, shows_reports=shows_reports) as chosen:
        answers = answers_of_members(chosen.names, question, chosen.reach)
    found = FoundInMembers(answers=answers, wanted=wanted)
    reports = _reports_of_agents(log, found, chosen)
    _print_found(found, options, output)
    _print_reports(reports, options, is_first=found.is_empty)
    return _exit_code_with_words(found, reports, chosen, options, log)


def _reports_of_agents(log: Log, found: "FoundInMembers", chosen: "Chosen") -> "tuple[ReportedObjects, ...]":
    """Return what agents of members that pull reported of what is wanted, where that is to be shown."""
    if not chosen.pulling:
        return ()
    from reconciler.commands.pulling_members import agent_reports
    from reconciler.status.reported_objects import ObjectsMeant

    names_by_word = {kind.word: kind.names for kind in found.wanted.kinds}
    meant = ObjectsMeant(names_by_word=names_by_word, namespace=found.wanted.namespace, group_kinds=found.group_kinds)
    return agent_reports(log, chosen, meant)


def _print_reports(reports: "Sequence[ReportedObjects]", options: GetOptions, *, is_first: bool) -> None:
    if not reports:
        return
    import time

    from reconciler.status.reported_objects import text_of_reports

    parts = text_of_reports(
        reports, time.time(), has_namespaces=options.all_namespaces, is_wide=options.output == "wide"
    )
    print_text(parts if is_first else ("\n", *parts), end="")


def _watch_and_show(log: Log, wanted: "ObjectsWanted", options: GetOptions, output: "ObjectOutput | None") -> int:
    from reconciler.commands.watched_objects import WatchTerms, check_watched_kinds, watch_and_show

    check_watched_kinds(wanted)
    terms = WatchTerms(
        wanted=wanted,
        shown=_shown_of_options(options),
        output=output,
        has_managers=options.show_managed_fields,
        only_changes=options.watch_only,
        has_events=options.output_watch_events,
        ignores_absence=options.ignore_not_found,
    )
    return watch_and_show(log, options.access, terms)


def _shown_of_options(options: GetOptions) -> "Shown":
    from reconciler.inspection.tables import Shown

    return Shown(
        is_wide=options.output == "wide",
        has_kinds=options.show_kind,
        has_namespaces=options.all_namespaces,
        has_header=not options.no_headers,
        has_labels=options.show_labels,
        labels=options.label_columns,
    )


def _wanted_objects(options: GetOptions) -> "ObjectsWanted":
    from reconciler.inspection.wanted import ObjectsWanted, parse_wanted_kinds

    wanted = ObjectsWanted(
        kinds=parse_wanted_kinds(options.words),
        namespace="" if options.all_namespaces else options.namespace,
        labels=options.object_selector,
        fields=options.field_selector,
    )
    if wanted.are_named and options.all_namespaces:
        raise click.UsageError("an object is named together with its namespace: -A goes without names")
    if wanted.are_named:
        refuse_given_options(["object_selector", "field_selector"], "goes without names of objects")
    else:
        refuse_given_options(["subresource"], "goes with names of objects")
    return wanted


def _print_found(found: "FoundInMembers", options: GetOptions, output: "ObjectOutput | None") -> None:
    from reconciler.inspection.objects import shown_object, text_of_objects
    from reconciler.inspection.ordering import ordered_objects, ordered_rows
    from reconciler.inspection.tables import kind_rows_of_tables, text_of_kind_rows

    if output is None:
        tables = kind_rows_of_tables(found.tables)
        tables = ordered_rows(tables, options.sort_by) if options.sort_by else tables
        print_text(text_of_kind_rows(tables, _shown_of_options(options)), end="")
        return
    objects = [
        (kind, shown_object(cluster, item, has_managers=options.show_managed_fields))
        for kind, cluster, item in found.objects
    ]
    text = text_of_objects(ordered_objects(objects, options.sort_by) if options.sort_by else objects, output)
    if output.is_data:
        print_data(text)
    else:
        print_text(text, end="")


def _exit_code_with_words(
    found: "FoundInMembers",
    reports: "Sequence[ReportedObjects]",
    chosen: "Chosen",
    options: GetOptions,
    log: Log,
) -> int:
    """Say what was not found and who did not answer; ClusterError where nobody did."""
    for line in found.refusals:
        log.warning(line)
    found.raise_unless_somebody_answered()
    if not reports:
        found.raise_for_unknown_kinds()
    if found.partly_served:
        log.info(found.partly_served)
    wanted, reported = (
        found.wanted,
        {f"{ref.group_kind.lower()}/{ref.name}" for each in reports for ref, _ in each.objects},
    )
    missing = () if options.ignore_not_found else tuple(name for name in found.names_nowhere if name not in reported)
    for name in missing:
        print_error(f"no cluster that was asked has {name}{_words_of_place(wanted)}")
    if found.is_empty and not (missing or reports or found.refusals or options.ignore_not_found):
        print_error(f"nothing found{_words_of_place(wanted)} in {len(chosen.names)} of the fleet's clusters")
    if found.unreached:
        return 7
    return 1 if missing or found.refusals else 0


def _words_of_place(wanted: "ObjectsWanted") -> str:
    return f" in namespace {wanted.namespace}" if wanted.namespace else ""
