"""``argosy import``: another federation's fleet, or what runs in clusters, as templates, policies and overrides."""

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct, field

from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.commands.options.member_options import with_reading_options
from reconciler.console.idle_options import refuse_given_options
from reconciler.console.log import Log
from reconciler.console.printing import print_data, print_text
from reconciler.members.options import AccessOptions
from render.federations import FEDERATIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reconciler.edit.importing import Import
    from reconciler.members.opening import Members
    from reconciler.passes.import_proof import Proof


_INDENT, _WIDTH = 15, 76
_OF_MEMBERS = ("namespaces", "with_system", "clusters")
_OF_CLUSTERS = ("context", "unproven", *_OF_MEMBERS, *AccessOptions.names())


class ImportOptions(Struct, frozen=True, kw_only=True):
    """The options of ``argosy import``; without a folder clusters are read."""

    folder: Path | None = None
    system: str | None = None
    output_dir: Path | None = None
    is_printed: bool = False
    is_overwriting: bool = False
    dry_run: bool = False
    output: str = "text"
    verbose: bool = False
    namespaces: tuple[str, ...] = ()
    with_system: bool = False
    unproven: bool = False
    context: str = ""
    access: AccessOptions = field(default_factory=AccessOptions)


def _federations_table() -> str:
    """Return a line for each federation, with the name that --from has for it."""
    lines = (
        textwrap.fill(each.about, _WIDTH, initial_indent=each.name.ljust(_INDENT), subsequent_indent=" " * _INDENT)
        for each in FEDERATIONS
    )
    return "\n".join(lines)


_HELP = f"""Turn the fleet of another federation, or what runs in clusters, into templates, policies and overrides.

FOLDER holds YAML files such as people keep or kubectl get -o yaml prints (- is standard input). Without
--output-dir nothing is written. --from names the federation; left out, it is the one that the documents tell:

\b
{_federations_table()}

Without FOLDER, --context names the control plane of a federation to read (--kubeconfig alone: its current context).
It becomes what its files would become. Of Karmada's, the bindings are taken along, so that every object stays
where it is and with the replicas it has there. The contexts of members are named like the members.

--cluster names clusters to read that no federation joins. What runs in them becomes one template for each object,
one policy for the objects of a namespace that run in the same clusters, and overrides for what differs between
clusters. Left out, and listed: what controllers, servers and the cluster itself made, namespaces of the system
unless they are asked for, Pods and Secrets, whose values are never read.

What was read is rendered and compared with the clusters: what applying it would change is shown, object by object,
and who owns what it may not take over. Nothing is written to any cluster.

The report says of each document how well it was converted: exact; exact for now, for the clusters and replicas of
today; approximate; or refused. The files are loaded as argosy validate loads them first: what that refuses or leaves
out is refused. -o json adds the rule that each line is about. Secrets and credentials are never copied: they are
listed with what to do.
"""


@click.command(
    cls=DocumentedCommand,
    name="import",
    help=_HELP,
    epilog="Exit codes: 0 converted; 1 taking it over would change something; 3 something was refused, a file cannot be"
    " read, or one would be overwritten; 5 no cluster could be read; 7 some could not.",
)
@click.argument("folder", type=click.Path(path_type=Path, exists=True, allow_dash=True), required=False)
@click.option(
    "--from",
    "system",
    type=click.Choice([each.name for each in FEDERATIONS]),
    help="The federation  [default: the one it tells].",
)
@click.option(
    "--output-dir", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Write the files below DIR."
)
@click.option("--print", "is_printed", is_flag=True, help="Print the files instead of the report.")
@click.option("--overwrite", "is_overwriting", is_flag=True, help="Write files anew that are there with other content.")
@click.option("--dry-run", is_flag=True, help="Write nothing; say which files of --output-dir would be written.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="Format of the report.")
@click.option("--all", "verbose", is_flag=True, help="Report also what was converted exactly.")
@click.option(
    "-n", "--namespace", "namespaces", multiple=True, metavar="NAME", help="Only these namespaces (repeatable)."
)
@click.option("-A", "--all-namespaces", "with_system", is_flag=True, help="Also the namespaces of the system.")
@click.option("--context", default="", metavar="CONTEXT", help="Read the control plane of a federation there.")
@click.option("--no-proof", "unproven", is_flag=True, help="Do not compare the result with the clusters.")
@with_reading_options
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Convert a fleet, and report."""
    chosen = ImportOptions(**options)
    _refuse_options_without_effect(chosen)
    return import_and_show(log, chosen)


def _refuse_options_without_effect(options: ImportOptions) -> None:
    """Refuse options that would do nothing beside others."""
    if options.folder is not None:
        refuse_given_options(_OF_CLUSTERS, "goes without FOLDER, which is read instead of clusters")
    elif options.access.clusters:
        refuse_given_options(
            ["system", "context"], "goes without --cluster, which is for clusters that no federation joins"
        )
    elif options.context or options.access.kubeconfig:
        refuse_given_options(_OF_MEMBERS, "goes with --cluster: a control plane is read as a whole")
    else:
        raise click.UsageError("name a FOLDER, clusters with --cluster, or a control plane with --context")
    if options.with_system:
        refuse_given_options(["namespaces"], "goes without -A, which is all namespaces")


def import_and_show(log: Log, options: ImportOptions) -> int:
    """Convert, compare with clusters, write or print the files, and report; return the exit code."""
    from reconciler.check.imported import import_graded_by_loading
    from reconciler.edit.importing import import_of_folder

    proof = None
    if options.folder is not None:
        result = import_of_folder(options.folder, options.system)
    else:
        result, proof = _import_of_clusters_with_proof(log, options)
    result = import_graded_by_loading(result, log)
    if options.output_dir is not None:
        _write_imported_files(log, options.output_dir, result, options)
    if options.is_printed:
        for path, content in result.files.items():
            print_data(f"---\n# {path}\n{content.decode()}")
    elif options.output == "json":
        from reconciler.outputs.document import document_text
        from reconciler.outputs.import_report import import_document

        print_data(document_text(import_document(result, proof)))
    else:
        _print_report(result, proof, options)
    if result.others:
        log.info("left out", documents=result.others, because="they are of no other federation")
    if options.output != "json":
        log.warn_of(map(str, result.warnings))
    log.warn_of(
        f"{name}: it is left out, for it could not be read: {failure.message}"
        for name, failure in result.failures.items()
    )
    return _exit_code_of_import(result, proof)


def _exit_code_of_import(result: "Import", proof: "Proof | None") -> int:
    if result.is_refused:
        return 3
    if proof is not None and not proof.is_proven:
        return 1
    return 7 if result.failures or (proof is not None and proof.is_partial) else 0


def _import_of_clusters_with_proof(log: Log, options: ImportOptions) -> "tuple[Import, Proof | None]":
    """Read the clusters that are named, and prove what became of them."""
    from reconciler.edit.context_names import contexts_by_cluster_name
    from reconciler.edit.live_clusters import members_in_contexts
    from reconciler.members.visits import MemberReach
    from reconciler.passes.import_proof import proof_of_import

    access = options.access
    contexts = contexts_by_cluster_name(dict.fromkeys(access.clusters))
    members = members_in_contexts(contexts, access)
    with log.timed("read clusters"):
        result = (
            _import_of_members(options, contexts, members) if contexts else _import_of_control_plane(options, members)
        )
    if options.unproven:
        return result, None
    with log.timed("compare"):
        return result, proof_of_import(result.files, result.facts, MemberReach.of(access, members.open), log)


def _import_of_members(options: ImportOptions, contexts: "Mapping[str, str]", members: "Members") -> "Import":
    from reconciler.edit.live_clusters import LiveReading, import_of_clusters
    from reconciler.members.visits import MemberReach

    reading = LiveReading(
        contexts=contexts,
        reach=MemberReach.of(options.access, members.open),
        namespaces=options.namespaces,
        with_system=options.with_system,
    )
    return import_of_clusters(reading)


def _import_of_control_plane(options: ImportOptions, members: "Members") -> "Import":
    from reconciler.edit.live_clusters import control_plane_context
    from reconciler.edit.live_hub import HubReading, import_of_control_plane
    from reconciler.members.visits import MemberReach

    context = control_plane_context(options.context, options.access)
    reading = HubReading(context=context, reach=MemberReach.of(options.access, members.open), system=options.system)
    return import_of_control_plane(reading)


def _write_imported_files(log: Log, folder: Path, result: "Import", options: ImportOptions) -> None:
    from reconciler.repository.worktree import put_files
    from render.errors import ConfigError

    new = {path: content for path, content in result.files.items() if not _has_content(folder / path, content)}
    there = [path for path in new if (folder / path).exists()]
    if there and not options.is_overwriting:
        hint = "--overwrite writes them anew, another --output-dir leaves them alone"
        raise ConfigError(f"{folder / there[0]} is there with other content", hint=hint)
    if not options.dry_run:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            why = error.strerror or str(error)
            raise ConfigError(f"{folder} cannot be made: {why}", hint="choose another --output-dir") from error
        put_files(folder, result.files)
    for path in new if options.dry_run else result.files:
        log.info("would write" if options.dry_run else "wrote", file=str(folder / path))


def _has_content(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content


def _print_report(result: "Import", proof: "Proof | None", options: ImportOptions) -> None:
    from collections import Counter

    from reconciler.console.tables import text_table
    from render.federations.units import Grade

    shown = [
        line for line in result.lines if options.verbose or line.grade is not Grade.EXACT or line.has_remark_to_show
    ]
    if shown:
        rows = [(line.grade, line.subject, line.origin or "-", line.message or "-") for line in shown]
        print_text(text_table(("GRADE", "DOCUMENT", "FROM", "WHY"), rows), end="")
    grades = Counter(line.grade for line in result.lines)
    print_text(", ".join(f"{grades[grade]} {grade}" for grade in Grade if grades[grade]))
    if proof is not None:
        print_text("".join(proof.text()), end="")
    if options.output_dir is None:
        print_text(f"{len(result.files)} files would be written: name a folder with --output-dir")
