"""``argosy import``: the fleet of another federation as templates, policies and overrides."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reconciler.console.log import Log
from reconciler.console.printing import print_data, print_text

if TYPE_CHECKING:
    from reconciler.edit.importing import Import


SYSTEMS = ("kubefed", "federation-v1", "clusternet", "kubesphere", "liqo", "kubeadmiral", "karmada")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """The options of ``argosy import``."""

    folder: Path
    system: str | None = None
    output_dir: Path | None = None
    is_printed: bool = False
    is_overwriting: bool = False
    output: str = "text"
    verbose: bool = False


@click.command(
    name="import",
    epilog="Exit codes: 0 converted; 3 something was refused, a file cannot be read, or one would be overwritten.",
)
@click.argument("folder", type=click.Path(path_type=Path, exists=True, allow_dash=True))
@click.option("--from", "system", type=click.Choice(SYSTEMS), help="The federation  [default: the one it tells].")
@click.option(
    "--output-dir", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Write the files below DIR."
)
@click.option("--print", "is_printed", is_flag=True, help="Print the files instead of the report.")
@click.option("--overwrite", "is_overwriting", is_flag=True, help="Write files anew that are there with other content.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="Format of the report.")
@click.option("--all", "verbose", is_flag=True, help="Report also what was converted exactly.")
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    r"""Turn the fleet of another federation below FOLDER into templates, policies and overrides.

    FOLDER holds YAML files such as people keep or kubectl get -o yaml prints (- is standard input). Without
    --output-dir nothing is written. --from names the federation; left out, it is the one that the documents tell:

    \b
    kubefed        federated objects of any kind, and what belongs to them
    kubesphere     the same, and its clusters, workspaces, releases, extensions
    federation-v1  plain objects, annotated or not: each is divided or copied
    clusternet     Subscriptions with what they feed, Globalizations,
                   Localizations, HelmCharts
    liqo           offloaded namespaces with what stands in them
    kubeadmiral    plain objects that name a policy, and these policies
    karmada        its own objects, without what a control plane wrote

    The report says of each document how well it was converted: exact; exact for now, for the clusters and replicas of
    today; approximate; or refused. -o json adds the rule that each line is about. Secrets and credentials are never
    copied: they are listed with what to do.
    """
    return import_and_show(log, ImportOptions(**options))


def import_and_show(log: Log, options: ImportOptions) -> int:
    """Convert, write or print the files, and report; return the exit code."""
    from reconciler.edit.importing import imported

    result = imported(options.folder, options.system)
    if options.output_dir is not None:
        _write(log, options.output_dir, result, is_overwriting=options.is_overwriting)
    if options.is_printed:
        for path, content in result.files.items():
            print_data(f"---\n# {path}\n{content.decode()}")
    elif options.output == "json":
        _print_json(result)
    else:
        _print_report(result, options)
    if result.others:
        log.info("left out", documents=result.others, because="they are of no other federation")
    return 3 if result.is_refused else 0


def _write(log: Log, folder: Path, result: "Import", *, is_overwriting: bool) -> None:
    from reconciler.repository.worktree import put_files
    from render.errors import ConfigError

    different = [path for path, content in result.files.items() if _is_other(folder / path, content)]
    if different and not is_overwriting:
        hint = "--overwrite writes them anew, another --output-dir leaves them alone"
        raise ConfigError(f"{folder / different[0]} is there with other content", hint=hint)
    folder.mkdir(parents=True, exist_ok=True)
    put_files(folder, result.files)
    for path in result.files:
        log.info("wrote", file=str(folder / path))


def _is_other(path: Path, content: bytes) -> bool:
    return path.exists() and (not path.is_file() or path.read_bytes() != content)


def _print_json(result: "Import") -> None:
    from collections import Counter

    from reconciler.console.json_values import as_json
    from render.federations.units import Grade
    from render.model import ARGOSY_API_VERSION

    grades = Counter(line.grade for line in result.lines)
    documents = [
        {"document": line.subject, "from": line.origin, "grade": line.grade.value}
        | {key: value for key, value in (("code", line.code), ("rule", line.rule), ("message", line.message)) if value}
        for line in result.lines
    ]
    report = {
        "apiVersion": ARGOSY_API_VERSION,
        "kind": "ImportReport",
        "system": result.system,
        "counts": {grade.value: grades[grade] for grade in Grade},
        "documents": documents,
        "files": sorted(result.files),
        "others": result.others,
    }
    print_data(as_json(report))


def _print_report(result: "Import", options: ImportOptions) -> None:
    from collections import Counter

    from reconciler.console.text import table
    from render.federations.units import Grade

    shown = [line for line in result.lines if options.verbose or line.grade is not Grade.EXACT or line.code]
    if shown:
        rows = [(line.grade, line.subject, line.origin, line.message or "-") for line in shown]
        print_text(table(("GRADE", "DOCUMENT", "FROM", "WHY"), rows), end="")
    grades = Counter(line.grade for line in result.lines)
    print_text(", ".join(f"{grades[grade]} {grade}" for grade in Grade if grades[grade]))
    if options.output_dir is None:
        print_text(f"{len(result.files)} files would be written: name a folder with --output-dir")
