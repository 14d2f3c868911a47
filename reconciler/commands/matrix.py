"""``argosy matrix``: which objects are in which clusters, counted by groups of both."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from reconciler.commands.fleets_below import fleets_listed_on_error
from reconciler.commands.options.at_option import with_at_option
from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.commands.options.subject_options import with_namespace_options
from reconciler.commands.options.survey_options import STATES
from reconciler.console.log import Log
from reconciler.console.printing import print_output

if TYPE_CHECKING:
    from reconciler.survey.matrix import MatrixQuestion


class MatrixOptions(Struct, frozen=True, kw_only=True):
    """The options of ``argosy matrix``."""

    rows: str = "namespace"
    columns: str = "region"
    namespace: str = ""
    kind: str = ""
    claimant: str = ""
    app: str = ""
    cluster: str = ""
    region: str = ""
    provider: str = ""
    state: str | None = None
    limit: int = 100
    row_offset: int = 0
    column_offset: int = 0
    at: str = ""
    output: str = "table"


@click.command(
    cls=DocumentedCommand, epilog="Exit codes: 0 shown; 1 nothing that was asked for is there; 2 no such name; 4 Git."
)
@click.option(
    "--rows",
    type=click.Choice(["namespace", "kind", "app", "policy", "object"]),
    default="namespace",
    show_default=True,
    help="What a row stands for.",
)
@click.option(
    "--columns",
    type=click.Choice(["region", "provider", "cluster"]),
    default="region",
    show_default=True,
    help="What a column stands for.",
)
@with_namespace_options("Only objects in this namespace; a pattern such as team-* may stand for several.")
@click.option("--kind", default="", metavar="KIND", help="Only objects of this kind: Deployment, deployment.apps.")
@click.option("--policy", "claimant", default="", metavar="NAME", help="Only objects that this policy claims.")
@click.option("--app", default="", metavar="NAME", help="Only objects that belong to this app, by their labels.")
@click.option("--cluster", default="", metavar="NAME", help="Only this cluster, or those that a pattern matches.")
@click.option("--region", default="", metavar="NAME", help="Only clusters of this region.")
@click.option("--provider", default="", metavar="NAME", help="Only clusters of this provider.")
@click.option(
    "--state",
    type=click.Choice(STATES),
    metavar="STATE",
    help="Only what is in this state there: Unwell, Unknown, Waiting, Progressing or Well.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=100,
    show_default=True,
    metavar="N",
    help="Show so many rows and columns at most; 0 shows all.",
)
@click.option(
    "--row-offset", type=click.IntRange(min=0), default=0, metavar="N", help="Leave out so many rows, the first."
)
@click.option(
    "--column-offset", type=click.IntRange(min=0), default=0, metavar="N", help="Leave out so many columns, the first."
)
@with_at_option
@click.option("-o", "--output", type=click.Choice(["table", "json", "yaml"]), default="table", help="Output format.")
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Show how many objects are where, and in which state.

    Rows are groups of objects and columns groups of clusters, so that a fleet of any size fits on a page. To see into a
    cell, ask for what it is made of: 'argosy matrix -n shop --region eu --rows object --columns cluster'. A cell counts
    the objects that are in any cluster of the column, and the copies of them that are not well. Nothing is fetched, and
    no cluster is asked.
    """
    with fleets_listed_on_error(log):
        return show_matrix(log, MatrixOptions(**options))


def show_matrix(log: Log, options: MatrixOptions) -> int:
    """Print a matrix; return 1 where it is empty."""
    from reconciler.outputs.document import document_text, plain_document
    from reconciler.outputs.matrix import matrix_document
    from reconciler.overview.instants import recorded_fleet_at
    from reconciler.repository import open_repository
    from reconciler.survey.known_names import refuse_unknown_names
    from reconciler.survey.matrix import matrix_of_fleet
    from reconciler.survey.surveying import Survey
    from reconciler.survey.text import matrix_text
    from render.documents import emit

    with open_repository(log.repository, refresh=False) as repository:
        survey, question = Survey(recorded_fleet_at(repository, log, options.at)), _question(options)
        refuse_unknown_names(survey, question.objects, question.clusters)
        matrix = matrix_of_fleet(survey, question)
        document = matrix_document(survey, question.rows, question.columns, matrix)
        texts: dict[str, Callable[[], str | Iterable[str]]] = {
            "json": lambda: document_text(document),
            "yaml": lambda: emit(plain_document(document)).decode(),
            "table": lambda: matrix_text(question, matrix),
        }
        print_output(texts[options.output](), options.output)
    return 0 if matrix.cells else 1


def _question(options: MatrixOptions) -> "MatrixQuestion":
    from reconciler.survey.choosing import Choice, ClusterChoice
    from reconciler.survey.matrix import MatrixQuestion

    return MatrixQuestion(
        rows=options.rows,
        columns=options.columns,
        objects=Choice(
            namespace=options.namespace,
            kind=options.kind,
            policy=options.claimant,
            app=options.app,
            state=options.state or "",
        ),
        clusters=ClusterChoice(cluster=options.cluster, region=options.region, provider=options.provider),
        row_offset=options.row_offset,
        column_offset=options.column_offset,
        limit=options.limit,
    )
