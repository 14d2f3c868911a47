"""``argosy explain``: why an object is where it is, what a cluster holds and why, what a policy selects."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.commands.options.now_option import with_now_option
from reconciler.commands.options.subject_options import with_namespace_options
from reconciler.console.idle_options import refuse_given_options
from reconciler.console.log import VERBOSE, Log
from reconciler.console.printing import print_data, print_output

if TYPE_CHECKING:
    from reconciler.explain.answers import ExplainAnswer


class ExplainOptions(Struct, frozen=True, kw_only=True):
    """The options of ``argosy explain``; ``subject`` is what was typed, one word or two."""

    subject: tuple[str, ...]
    namespace: str = ""
    rev: str = ""
    worktree: bool = False
    cluster: str = ""
    now: datetime | None = None
    output: str = "text"
    recursive: bool = False


@click.command(cls=DocumentedCommand)
@click.argument("subject", nargs=-1, required=True, metavar="KIND/NAME | cluster/NAME | policy/NAME | KIND.FIELD")
@with_namespace_options("The namespace the object or policy is in.")
@click.option("--rev", default="", metavar="REV", help="A source commit, or a rendered one  [default: HEAD]")
@click.option("--worktree", is_flag=True, help="Explain the files as they stand, committed or not.")
@click.option("--cluster", default="", metavar="NAME", help="Only what concerns this cluster.")
@with_now_option
@click.option("--recursive", is_flag=True, help="With KIND.FIELD: all fields below it, by name.")
@click.option("-o", "--output", type=click.Choice(["text", "json", "markdown"]), default="text", help="Output format.")
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Say why an object is where it is.

    The answer names the policies that select the object and why one of them claims it, every filter that refused a
    cluster, the division of replicas and the capacity it went by, what each override changed, and which
    clusters keep an older manifest. KIND is what kubectl accepts: deploy, deployments, deployment.apps. Of a cluster it
    tells what the cluster holds and what refuses it the rest; of a policy (pp, cpp, op, cop, or policy for any of them)
    what it selects, claims, loses and changes. With -v divisions are told replica by replica. No cluster is asked.

    KIND.FIELD tells what a field of a kind of Karmada or Argosy means, as kubectl explain does: pp.spec.placement.
    """
    return explain_and_show(log, ExplainOptions(**options))


def explain_and_show(log: Log, options: ExplainOptions) -> int:
    """Explain what the words name, and print it."""
    from reconciler.reference.field_pages import described_field, is_field_path, page_about_field

    if is_field_path(options.subject):
        refuse_given_options(["namespace", "rev", "worktree", "cluster", "now", "output"], "goes without a field")
        print_output(page_about_field(described_field(options.subject[0]), is_recursive=options.recursive), "text")
        return 0
    refuse_given_options(["recursive"], "goes with a field of a kind: KIND.FIELD")
    _refuse_field_of_unknown_kind(options.subject)
    return _explain_object(log, options)


def _refuse_field_of_unknown_kind(words: tuple[str, ...]) -> None:
    """Lead who asks for a field of another kind to who knows it."""
    from render.errors import UnknownName

    if len(words) == 1 and "." in words[0] and "/" not in words[0]:
        others = f"those of other kinds by 'kubectl explain {words[0]}'"
        hint = f"write KIND/NAME for an object; fields of Karmada's and Argosy's kinds are explained here, {others}"
        raise UnknownName(f"{words[0]!r} names nothing", hint=hint)


def _explain_object(log: Log, options: ExplainOptions) -> int:
    from reconciler.branches.left_out import AS_THEY_STAND, warn_of_uncommitted
    from reconciler.console.text import sections_as_markdown, sections_for_terminal
    from reconciler.explain.answers import ExplainRequest, explain_request
    from reconciler.explain.replay import replay_of_revision
    from reconciler.names.kinds import parse_kind_and_name
    from reconciler.repository import open_repository

    noun, name = parse_kind_and_name(options.subject)
    _refuse_options_without_effect(noun, options)
    request = ExplainRequest(
        noun=noun, name=name, namespace=options.namespace, cluster=options.cluster, seats=log.level >= VERBOSE
    )
    with open_repository(log.repository, progress=log.transfer) as repository:
        if not options.rev and not options.worktree:
            warn_of_uncommitted(repository, log, hint=AS_THEY_STAND)
        replay = replay_of_revision(repository, log, revision=options.rev, worktree=options.worktree, now=options.now)
        answer = explain_request(request, replay)
    if options.output == "json":
        print_data(_explanation_as_json(answer))
    else:
        write = sections_as_markdown if options.output == "markdown" else sections_for_terminal
        print_output(write(answer.sections), options.output)
    return 0


def _explanation_as_json(answer: "ExplainAnswer") -> str:
    from reconciler.outputs.cluster_explanation import ClusterExplanationDocument
    from reconciler.outputs.document import document_text
    from reconciler.outputs.explanation_parts import explanation_document
    from reconciler.outputs.object_explanation import ObjectExplanationDocument
    from reconciler.outputs.policy_explanation import PolicyExplanationDocument

    kinds = (ObjectExplanationDocument, ClusterExplanationDocument, PolicyExplanationDocument)
    (kind,) = (each for each in kinds if each.kind == answer.kind)
    return document_text(explanation_document(kind, answer.value))


def _refuse_options_without_effect(noun: str, options: ExplainOptions) -> None:
    """Refuse options that would do nothing beside others."""
    from reconciler.names.subjects import is_cluster_noun, is_policy_noun

    if options.worktree:
        refuse_given_options(["rev"], "goes without --worktree")
    if is_cluster_noun(noun):
        refuse_given_options(["namespace", "cluster"], "goes with an object or a policy")
    elif is_policy_noun(noun):
        refuse_given_options(["cluster"], "goes with an object")
