"""``argosy emit``: the objects by which Argo CD or Flux deliver what was rendered."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reconciler.commands.options.checked_words import checked_duration_of_flux
from reconciler.commands.options.emission_options import Option, decorator_adding_options, show_emission
from reconciler.commands.options.help_pages import DocumentedGroup
from reconciler.console.log import Log

if TYPE_CHECKING:
    from reconciler.emission.model import EmissionOptions
    from render.settings.emission import Deployer

_SHARED: tuple[Option, ...] = (
    click.argument("revision", default="", metavar="[REV]"),
    click.option("--cluster", "clusters", multiple=True, metavar="NAME", help="Only these clusters (repeatable)."),
    click.option(
        "--in",
        "placing",
        type=click.Choice(["Hub", "Member"], case_sensitive=False),
        default="Hub",
        show_default=True,
        help="Hub: the tool runs once and reaches all members. Member: it runs in each of them.",
    ),
    click.option("--url", "address", default="", metavar="URL", help="The repository  [default: the remote's address]"),
    click.option("--namespace", default="", metavar="NAME", help="The namespace of the objects  [default: the tool's]"),
    click.option(
        "--output-dir", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Write files below DIR."
    ),
    click.option("-o", "--output", type=click.Choice(["yaml", "json"]), default="yaml", help="Output format."),
)


@click.group(
    "emit",
    cls=DocumentedGroup,
    epilog="Nothing but Git is read, and no cluster is asked. Exit codes: 0 printed; 2 no such cluster.",
)
def command() -> None:
    """Print the objects by which Argo CD or Flux deliver what was rendered, in place of argosy apply.

    They read the rendered branch as it is. What Argosy does by itself is in their fields: the order of applying, what
    is never pruned, and the fields that others own, such as the replicas of an autoscaler.
    """


@command.command(short_help="Print a GitRepository and Kustomizations for Flux.")
@decorator_adding_options(_SHARED)
@click.option(
    "--kubeconfig-secret",
    default="{cluster}-kubeconfig",
    show_default=True,
    metavar="NAME",
    help="In a hub: the Secret with the kubeconfig of a cluster.",
)
@click.option("--git-secret", default="", metavar="NAME", help="The Secret by which Flux reads the repository.")
@click.option(
    "--interval",
    default="1m",
    show_default=True,
    metavar="TIME",
    callback=checked_duration_of_flux,
    help="How often Flux asks for commits.",
)
@click.pass_obj
def flux(log: Log, /, **options: Any) -> int:
    """Print a GitRepository, and Kustomizations for each cluster of a rendered commit  [default: the newest].

    A cluster has one Kustomization, and one more for each kind that intercepts writes (webhooks, aggregated APIs),
    which waits until the first is healthy. Namespaces, CustomResourceDefinitions and volumes are never pruned, and
    deleting a Kustomization leaves its objects where they are.
    """
    from render.settings.emission import Deployer

    return _emit_and_show(log, Deployer.FLUX, options)


@command.command(short_help="Print an ApplicationSet or Applications for Argo CD.")
@decorator_adding_options(_SHARED)
@click.option(
    "--as",
    "grouping",
    type=click.Choice(["applicationset", "applications"]),
    default="applicationset",
    show_default=True,
    help="One ApplicationSet that reads the branch, or Applications for each cluster.",
)
@click.option("--project", default="default", show_default=True, metavar="NAME", help="The project of Applications.")
@click.pass_obj
def argocd(log: Log, /, **options: Any) -> int:
    """Print an ApplicationSet, or Applications for each cluster of a rendered commit  [default: the newest].

    What is never pruned, and what intercepts writes, are Applications of their own, an earlier wave and a later one,
    so that no object needs an annotation. In a hub, a cluster has the name in Argo CD that it has here.
    """
    from render.settings.emission import Deployer

    return _emit_and_show(log, Deployer.ARGO_CD, options)


def _emit_and_show(log: Log, deployer: "Deployer", options: dict[str, Any]) -> int:
    """Emit the objects, and print them or write them to files; what has no counterpart is said."""
    from reconciler.preview.exports import EmissionRequest, emit_objects
    from reconciler.repository import open_repository

    folder, output = options.pop("output_dir"), options.pop("output")
    request = EmissionRequest(
        deployer=deployer,
        revision=options.pop("revision"),
        clusters=options.pop("clusters"),
        address=options.pop("address"),
        options=_emission_options_of_flags(options),
    )
    with open_repository(log.repository, progress=log.transfer) as repository:
        emission = emit_objects(repository, request)
    show_emission(log, emission, folder=folder, output=output)
    return 0


def _emission_options_of_flags(given: dict[str, Any]) -> "EmissionOptions":
    from reconciler.emission.model import EmissionOptions
    from render.settings.emission import Grouping, Placing

    groupings = {"applicationset": Grouping.APPLICATION_SET, "applications": Grouping.APPLICATIONS}
    placing, grouping = Placing(given.pop("placing")), groupings[given.pop("grouping", "applicationset")]
    return EmissionOptions(placing=placing, grouping=grouping, **given)
