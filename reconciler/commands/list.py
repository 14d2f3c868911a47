"""``argosy list``: objects, clusters, policies or namespaces of the fleet, as its branches describe them."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from reconciler.commands.fleets_below import fleets_listed_on_error
from reconciler.commands.options.at_option import with_at_option
from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.commands.options.subject_options import with_namespace_options
from reconciler.commands.options.survey_options import STATES, with_page_options
from reconciler.console.idle_options import refuse_given_options
from reconciler.console.log import Log
from reconciler.console.printing import print_output

if TYPE_CHECKING:
    from reconciler.outputs.document import OutputDocument
    from reconciler.survey.choosing import Choice, ClusterChoice
    from reconciler.survey.lists import ListPart
    from reconciler.survey.surveying import Survey

WHAT = ("objects", "clusters", "policies", "namespaces")
_OF_OBJECTS = ("claimant", "cluster", "app")
_OF_CLUSTERS = ("region", "provider")
_IDLE = {
    "objects": _OF_CLUSTERS,
    "clusters": ("namespace", "kind", "claimant", "app"),
    "policies": (*_OF_OBJECTS, *_OF_CLUSTERS, "state", "order", "is_reversed"),
    "namespaces": ("kind", *_OF_OBJECTS, *_OF_CLUSTERS, "state", "order", "is_reversed"),
}
"""The options that do nothing for a list."""


_ORDERS = {
    "objects": ("name", "state", "replicas", "clusters", "since"),
    "clusters": ("name", "state", "replicas", "objects", "since"),
}
"""The orders that a list can have, where it has more than one."""


class ListOptions(Struct, frozen=True, kw_only=True):
    """The options of ``argosy list``."""

    what: str
    namespace: str = ""
    kind: str = ""
    claimant: str = ""
    cluster: str = ""
    app: str = ""
    region: str = ""
    provider: str = ""
    state: str | None = None
    text: str = ""
    order: str = "name"
    is_reversed: bool = False
    offset: int = 0
    limit: int = 0
    at: str = ""
    output: str = "table"


class ListAnswer(Struct, frozen=True, kw_only=True):
    """A list as text, as names and as a document."""

    text: Iterable[str]
    names: Iterable[str]
    document: "OutputDocument"


@click.command(
    cls=DocumentedCommand, epilog="Exit codes: 0 listed; 1 nothing that was asked for is there; 2 no such name; 4 Git."
)
@click.argument("what", type=click.Choice(WHAT), metavar="objects | clusters | policies | namespaces")
@with_namespace_options("Only what is in this namespace; a pattern such as team-* may stand for several.")
@click.option(
    "--kind",
    default="",
    metavar="KIND",
    help="Only objects or policies of this kind: Deployment, deployment.apps, RolloutPolicy.",
)
@click.option("--policy", "claimant", default="", metavar="NAME", help="Only objects that this policy claims.")
@click.option(
    "--cluster", default="", metavar="NAME", help="Only this cluster, or objects that go to it; or a pattern."
)
@click.option("--app", default="", metavar="NAME", help="Only objects that belong to this app, by their labels.")
@click.option("--region", default="", metavar="NAME", help="Only clusters of this region.")
@click.option("--provider", default="", metavar="NAME", help="Only clusters of this provider.")
@click.option(
    "--state",
    type=click.Choice(STATES),
    metavar="STATE",
    help="Only what is in this state: Unwell, Unknown, Waiting, Progressing or Well.",
)
@click.option("--text", default="", metavar="TEXT", help="Only what has this text in its name.")
@click.option(
    "--sort",
    "order",
    type=click.Choice(["name", "state", "replicas", "clusters", "objects", "since"]),
    default="name",
    show_default=True,
    metavar="ORDER",
    help="name, state, replicas, clusters, objects or since: worst, most or longest first.",
)
@click.option("--reverse", "is_reversed", is_flag=True, help="Turn the order round.")
@with_page_options(0)
@with_at_option
@click.option(
    "-o", "--output", type=click.Choice(["table", "json", "yaml", "name"]), default="table", help="Output format."
)
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """List objects, clusters, policies or namespaces of the fleet.

    It tells what the branches say, as 'argosy status' does, of as many as are asked for. An object's state is its worst
    in any cluster, or with --cluster in those that are named: Unwell, Unknown (nobody knows how it is now), Waiting
    (for a person, a wave or the end of a hold), Progressing or Well. Nothing is fetched, and no cluster is asked;
    'argosy get' asks members.
    """
    what = options["what"]
    refuse_given_options(_IDLE[what], f"does not go with {what}")
    if options["order"] not in _ORDERS.get(what, ("name",)):
        raise click.UsageError(f"--sort {options['order']} does not go with {what}")
    with fleets_listed_on_error(log):
        return list_and_show(log, ListOptions(**options))


def list_and_show(log: Log, options: ListOptions) -> int:
    """Print a list; return 1 where it is empty."""
    from reconciler.outputs.document import document_text, plain_document
    from reconciler.overview.instants import recorded_fleet_at
    from reconciler.repository import open_repository
    from reconciler.survey.known_names import refuse_unknown_names
    from reconciler.survey.surveying import Survey
    from render.documents import emit

    with open_repository(log.repository, refresh=False) as repository:
        survey = Survey(recorded_fleet_at(repository, log, options.at))
        refuse_unknown_names(survey, _choice(options), _cluster_choice(options))
        answer = list_answer(survey, options)
        names = list(answer.names)
        texts: dict[str, Callable[[], str | Iterable[str]]] = {
            "json": lambda: document_text(answer.document),
            "yaml": lambda: emit(plain_document(answer.document)).decode(),
            "name": lambda: "".join(f"{name}\n" for name in names),
            "table": lambda: answer.text,
        }
        print_output(texts[options.output](), options.output)
    return 0 if names else 1


def list_answer(survey: "Survey", options: ListOptions) -> ListAnswer:
    """Return the list that is asked for."""
    makers = {
        "objects": _answer_of_objects,
        "clusters": _answer_of_clusters,
        "policies": _answer_of_policies,
        "namespaces": _answer_of_namespaces,
    }
    return makers[options.what](survey, options)


def _answer_of_objects(survey: "Survey", options: ListOptions) -> ListAnswer:
    from reconciler.outputs.lists import object_list_document
    from reconciler.survey.lists import list_objects
    from reconciler.survey.text import object_list_text

    found = list_objects(survey, _choice(options), _part(options))
    return ListAnswer(
        text=object_list_text(found),
        names=[f"{each.ref.group_kind.lower()}/{each.ref.name}" for each in found.page.items],
        document=object_list_document(found),
    )


def _answer_of_clusters(survey: "Survey", options: ListOptions) -> ListAnswer:
    from reconciler.outputs.lists import cluster_list_document
    from reconciler.survey.lists import list_clusters
    from reconciler.survey.text import cluster_list_text

    found = list_clusters(survey, _cluster_choice(options), _part(options))
    names = [f"cluster/{each.name}" for each in found.page.items]
    return ListAnswer(text=cluster_list_text(found), names=names, document=cluster_list_document(found))


def _answer_of_policies(survey: "Survey", options: ListOptions) -> ListAnswer:
    from reconciler.outputs.lists import policy_list_document
    from reconciler.survey.lists import list_policies
    from reconciler.survey.text import policy_list_text

    found = list_policies(survey, _choice(options), _part(options))
    names = [f"{str(each.policy).partition(' ')[0].lower()}/{each.policy.name}" for each in found.page.items]
    return ListAnswer(text=policy_list_text(found), names=names, document=policy_list_document(found))


def _answer_of_namespaces(survey: "Survey", options: ListOptions) -> ListAnswer:
    from reconciler.outputs.lists import namespace_list_document
    from reconciler.survey.lists import list_namespaces
    from reconciler.survey.text import namespace_list_text

    found = list_namespaces(survey, _choice(options), _part(options))
    names = [f"namespace/{each.name}" for each in found.page.items if each.name]
    return ListAnswer(text=namespace_list_text(found), names=names, document=namespace_list_document(found))


def _choice(options: ListOptions) -> "Choice":
    from reconciler.survey.choosing import Choice

    return Choice(
        namespace=options.namespace,
        kind=options.kind,
        policy=options.claimant,
        cluster=options.cluster,
        app=options.app,
        state=options.state or "",
        text=options.text,
    )


def _cluster_choice(options: ListOptions) -> "ClusterChoice":
    from reconciler.survey.choosing import ClusterChoice

    return ClusterChoice(
        cluster=options.cluster if options.what == "clusters" else "",
        region=options.region,
        provider=options.provider,
        state=options.state or "",
        text=options.text,
    )


def _part(options: ListOptions) -> "ListPart":
    from reconciler.survey.lists import ListPart

    return ListPart(order=options.order, is_reversed=options.is_reversed, offset=options.offset, limit=options.limit)
