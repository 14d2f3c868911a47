"""``argosy pods``: the pods of an object in all members, the events about them, and the end of a log."""

from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct, field

from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.commands.options.member_options import with_asking_options
from reconciler.commands.options.subject_options import with_namespace_options
from reconciler.console.idle_options import refuse_given_options
from reconciler.console.log import Log
from reconciler.console.printing import print_error, print_output, print_text
from reconciler.members.options import AccessOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reconciler.inspection.pods import PodsInMember, PodsWanted
    from reconciler.members.exchange import Failure


class PodsOptions(Struct, frozen=True, kw_only=True):
    """The options of ``argosy pods``."""

    subject: tuple[str, ...]
    namespace: str = ""
    pod: str = ""
    container: str = ""
    tail: int = 100
    previous: bool = False
    output: str = "text"
    access: AccessOptions = field(default_factory=AccessOptions)


@click.command(
    cls=DocumentedCommand,
    epilog="Exit codes: 0 every cluster answered; 1 no cluster has the object, or one refused to answer; 2 no such"
    " object; 5 no cluster could be used; 7 some could not be reached.",
)
@click.argument("subject", nargs=-1, required=True, metavar="KIND/NAME")
@with_namespace_options("The namespace the object is in.")
@click.option("--pod", default="", metavar="NAME", help="Print the end of the log of this pod.")
@click.option("--container", default="", metavar="NAME", help="Of this container  [default: the first]")
@click.option(
    "--tail",
    type=click.IntRange(1, 1000),
    default=100,
    show_default=True,
    metavar="N",
    help="So many lines of the log.",
)
@click.option("--previous", is_flag=True, help="The log of the run before.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@with_asking_options
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Show the pods of an object in all members as they are now, with the newest events about it and them.

    The object is one of the source. Its pods are those that it owns, a Deployment through its ReplicaSets. The members
    are asked at once, with the rights you have there; one that does not answer costs its own time and is named. With
    --pod the end of a log follows. What Secrets of the source hold is cut out of messages and logs; what a program
    prints otherwise is printed as it is.
    """
    chosen = PodsOptions(**options)
    if not chosen.pod:
        refuse_given_options(["container", "tail", "previous"], "goes with --pod")
    return show_pods(log, chosen)


def show_pods(log: Log, options: PodsOptions) -> int:
    """Ask the members, print what they have, and return how that went."""
    from datetime import UTC, datetime

    from reconciler.inspection.choosing import chosen_members
    from reconciler.inspection.pod_text import sections_of_pods
    from reconciler.inspection.pods import pods_of_members
    from reconciler.outputs.document import document_text
    from reconciler.outputs.pods import pods_document

    now, wanted = datetime.now(UTC), _wanted_pods(log, options)
    with chosen_members(log, options.access) as chosen:
        answers = pods_of_members(chosen.names, wanted, chosen.reach)
    if options.output == "json":
        print_output(document_text(pods_document(wanted.ref, answers, now)), "json")
    else:
        from reconciler.console.text import sections_for_terminal

        print_text(sections_for_terminal(sections_of_pods(answers, now.timestamp())), end="")
    return _exit_code_with_words(log, wanted, answers)


def _wanted_pods(log: Log, options: PodsOptions) -> "PodsWanted":
    """Return what is asked of members: an object of the source, and what of its Secrets may not be repeated."""
    from reconciler.branches.reading import read_source
    from reconciler.inspection.pods import LogWanted, PodsWanted, values_of_secrets
    from reconciler.names.kinds import parse_kind_and_name, ref_of_named_object
    from reconciler.repository import open_repository

    noun, name = parse_kind_and_name(options.subject)
    with open_repository(log.repository, progress=log.transfer) as repository:
        desired = read_source(repository, repository.resolve("HEAD")).desired
    ref = ref_of_named_object(noun, name, options.namespace, desired.templates)
    asked = LogWanted(pod=options.pod, container=options.container, lines=options.tail, is_previous=options.previous)
    return PodsWanted(ref=ref, log=asked if options.pod else None, hidden=values_of_secrets(desired.templates))


def _exit_code_with_words(log: Log, wanted: "PodsWanted", answers: "Mapping[str, PodsInMember | Failure]") -> int:
    """Say who did not answer and what is nowhere; ClusterError where nobody could be used."""
    from reconciler.members.exchange import UNREACHABLE, Failure
    from render.errors import ClusterError

    failures = {name: each for name, each in answers.items() if isinstance(each, Failure)}
    for name, each in failures.items():
        log.warning(f"{name}: {each}")
    unreached = [name for name, each in failures.items() if each.kind in UNREACHABLE]
    if len(unreached) == len(answers):
        raise ClusterError("no cluster could be used", hint="the lines above say what each answered")
    found = [each for each in answers.values() if not isinstance(each, Failure)]
    if found and all(each.is_absent for each in found):
        print_error(f"no cluster that answered has {wanted.ref}")
        return 1
    if wanted.log is not None and not any(each.log for each in found):
        print_error(f"no cluster that answered has a pod {wanted.log.pod!r} of {wanted.ref}")
        return 1
    if unreached:
        return 7
    return 1 if failures else 0
