"""``argosy export``: the fleet as the objects of other systems, for those who leave or run both for a while."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reconciler.commands.options.emission_options import Option, decorator_adding_options, show_emission
from reconciler.commands.options.help_pages import DocumentedGroup
from reconciler.console.log import Log

if TYPE_CHECKING:
    from reconciler.emission.model import Emission

_OUTPUT: tuple[Option, ...] = (
    click.argument("revision", default="", metavar="[REV]"),
    click.option(
        "--output-dir", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Write files below DIR."
    ),
    click.option("-o", "--output", type=click.Choice(["yaml", "json"]), default="yaml", help="Output format."),
)


@click.group(
    "export",
    cls=DocumentedGroup,
    epilog="Exit codes: 0 printed or written; 3 the source cannot be used, or no remote is known.",
)
def command() -> None:
    """Print the fleet as the objects of other systems, for those who leave, or who run both for a while.

    What has no counterpart is reported on stderr. Nothing but Git is read, and nothing is committed.
    """


@command.command(short_help="Print Karmada's objects of a source.")
@decorator_adding_options(_OUTPUT)
@click.pass_obj
def karmada(log: Log, /, revision: str, **shown: Any) -> int:
    """Print Karmada's objects of a source  [default: HEAD]: templates, policies, overrides and Clusters.

    Objects of other federations are what they become here, and kustomizations and charts are built. Clusters have no
    credentials: karmadactl join gives them new ones. Read again by Argosy, these files render the same tree.
    """
    from reconciler.preview.exports import exported_source
    from reconciler.repository import open_repository

    with open_repository(log.repository, progress=log.transfer) as repository:
        emission = exported_source(repository, revision)
    return _show_exported_objects(log, emission, shown)


@command.command(short_help="Print the Works of a source, for each cluster.")
@decorator_adding_options(_OUTPUT)
@click.option("--cluster", "clusters", multiple=True, metavar="NAME", help="Only these clusters (repeatable).")
@click.pass_obj
def works(log: Log, /, revision: str, clusters: tuple[str, ...], **shown: Any) -> int:
    """Print the Works of a source  [default: HEAD], as Karmada's binding controller makes them for each cluster."""
    from reconciler.preview.exports import exported_works
    from reconciler.repository import open_repository

    with open_repository(log.repository, progress=log.transfer) as repository:
        emission = exported_works(repository, revision, clusters, log)
    return _show_exported_objects(log, emission, shown)


@command.command(short_help="Print the ApplicationSet that delivers to all clusters.")
@decorator_adding_options(_OUTPUT)
@click.option("--url", "address", default="", metavar="URL", help="The repository  [default: the remote's address]")
@click.pass_obj
def applicationset(log: Log, /, revision: str, address: str, **shown: Any) -> int:
    """Print the ApplicationSet that delivers a rendered commit  [default: the newest]; argosy emit has more choices."""
    from reconciler.emission.model import EmissionOptions
    from reconciler.preview.exports import EmissionRequest, emit_objects
    from reconciler.repository import open_repository
    from render.settings.emission import Deployer

    request = EmissionRequest(deployer=Deployer.ARGO_CD, options=EmissionOptions(), revision=revision, address=address)
    with open_repository(log.repository, progress=log.transfer) as repository:
        emission = emit_objects(repository, request)
    return _show_exported_objects(log, emission, shown)


def _show_exported_objects(log: Log, emission: "Emission", shown: dict[str, Any]) -> int:
    show_emission(log, emission, folder=shown["output_dir"], output=shown["output"])
    return 0
