"""The topics of ``argosy help``: pages that are written down, and pages made from schemas."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from msgspec import Struct

from reconciler.outputs.documents import DOCUMENTS
from render.admission.schema import DecimalNumber, Flag, ListOf, MapOf, Node, Record, Text, Whole
from render.fleet_settings import compared_setting_of_field
from render.scheduling.filters import FILTERS
from render.settings.setting import SettingReach

from .exit_codes import EXIT_CODES
from .fields import Field
from .git_pages import BRANCHES, TRAILERS
from .leaving import LEAVING
from .pages import ANNOTATIONS, ENVIRONMENT, FILES, NAMES, WORDS, Entry, TopicSection
from .schemas import INPUTS, nodes_by_field_path


class Topic(Struct, frozen=True, kw_only=True):
    """A page of reference."""

    about: str
    sections: tuple[TopicSection, ...]


def _sections_on_exit_codes() -> tuple[TopicSection, ...]:
    before = "Every command ends with one of these codes. The help of a command says which of them it uses, and when."
    return (
        TopicSection(
            before=before,
            entries=tuple(Entry(str(code), f"{text[0].upper()}{text[1:]}.") for code, text in EXIT_CODES.items()),
        ),
    )


def _entries_of_kind_fields(kind: str) -> tuple[Entry, ...]:
    found = INPUTS[kind]
    nodes: dict[str, Node] = {"metadata.name": Text(), **dict(nodes_by_field_path(found.spec, "spec"))}
    return tuple(Entry(path, _text_about_field(nodes[path], found.fields[path])) for path in found.fields)


def _text_about_field(node: Node, field: Field) -> str:
    default = "" if field.default in (None, "", []) else f" Default: `{_default_value_text(field.default)}`."
    return f"({type_name(node)}) {field.about}{default}"


def _default_value_text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"[{', '.join(map(str, value))}]" if isinstance(value, list) else str(value)


_TYPES: Mapping[type[Node], str] = {
    Whole: "whole number",
    Flag: "true or false",
    Record: "object",
    MapOf: "map",
    DecimalNumber: "decimal number",
}


def type_name(node: Node) -> str:
    """Return the type of a field in words.

    >>> type_name(Text(choices=("Allow", "Refuse"))), type_name(ListOf(Text())), type_name(Whole())
    ('Allow or Refuse', 'list', 'whole number')
    """
    match node:
        case Text():
            return " or ".join(node.choices) if node.choices else "text"
        case ListOf():
            return "list of objects" if isinstance(node.items, Record) else "list"
    return _TYPES.get(type(node), "any value")


def _sections_on_fleet_fields() -> tuple[TopicSection, ...]:
    before = (
        "argosy.yaml is optional, and every field of it has a default. It stands at the root of the fleet: what lies"
        " below its folder is the fleet's. The least it may hold is `apiVersion: argosy.dev/v1alpha1` and"
        " `kind: Fleet`. `argosy schema Fleet` prints its JSON Schema. Settings that reach outside of the repository,"
        " or limit what a change may do, count as the last rendered source says: a change of them waits, with exit code"
        " 6, until `argosy reconcile --accept-settings`, or until the file of `--accepted-settings` has it, too;"
        " `argosy run` goes on when it looks at the source next. A line says so where changes of its field wait."
        " A member that joins under the context named like it, in a kubeconfig"
        " that is in use, is no such change. The addresses at which webhooks of the interpreter are asked, and those in"
        " argosy.lock at which Sources are fetched, wait in the same way; another version at an address that is in"
        " force does not. The file of `--accepted-settings` holds them as they stand in the source: a document of kind"
        " Fleet for the settings, of kind Source for an address and its host, and of kind"
        " ResourceInterpreterWebhookConfiguration for webhooks."
    )
    return (
        TopicSection(before=before, entries=tuple(map(_entry_with_right_to_change, _entries_of_kind_fields("Fleet")))),
    )


def _entry_with_right_to_change(entry: Entry) -> Entry:
    """Return the entry of a field of argosy.yaml, with whose word it takes to change it."""
    setting = compared_setting_of_field(entry.name)
    if setting is None or setting.reach.kind is SettingReach.SOURCE:
        return entry
    words = "Changes wait." if setting.reach.kind is SettingReach.OUTSIDE else "A weaker value waits."
    return entry._replace(about=f"{entry.about} {words}")


def _sections_on_policy_test_fields() -> tuple[TopicSection, ...]:
    before = (
        "A PolicyTest (`apiVersion: argosy.dev/v1alpha1`) says where objects must go. It stands anywhere in the source,"
        " by custom in a file `*_test.yaml`, and is never propagated. `argosy test` renders the source for each test as"
        " if for the first time, with the capacity that Clusters declare. `backtest` expects something of the recorded"
        " past instead, or as well. `argosy schema PolicyTest` prints its JSON Schema."
    )
    filters = TopicSection(
        title="Filters",
        before="A cluster that one of these filters refuses gets nothing. `refused` of an expectation names the filter,"
        " and `argosy explain` shows the reason.",
        entries=tuple(Entry(each.name, each.meaning) for each in FILTERS),
    )
    return TopicSection(before=before, entries=_entries_of_kind_fields("PolicyTest")), filters


def _sections_on_rollout_fields() -> tuple[TopicSection, ...]:
    before = (
        "A RolloutPolicy (`apiVersion: argosy.dev/v1alpha1`) selects objects as a PropagationPolicy does, those of its"
        " namespace; a ClusterRolloutPolicy selects any, and comes after it. A change of what it selects goes out wave"
        " by wave, each step in a rendered commit of its own. `argosy diff` shows the waves of a change before it is"
        " merged, `argosy rollout` what goes out. `argosy schema RolloutPolicy` prints its JSON Schema."
    )
    controls = TopicSection(
        title="RolloutControl",
        before="A RolloutControl is what a person says about one change of a rollout. It is a file of the source, which"
        " `argosy rollout` writes, and means nothing for any other change.",
        entries=_entries_of_kind_fields("RolloutControl"),
    )
    return TopicSection(before=before, entries=_entries_of_kind_fields("RolloutPolicy")), controls


def _sections_on_rollback_fields() -> tuple[TopicSection, ...]:
    before = (
        "A RollbackRequest (`apiVersion: argosy.dev/v1alpha1`) names an earlier rendered commit: the clusters and"
        " replicas that objects had in it are to stand again. A revert of the source restores files alone, for dynamic"
        " strategies divide anew. `argosy rollback` restores both and writes the request. It is answered once, by the"
        " first pass that finds it, and may be deleted then: `rollbacks.yaml` of the rendered branch names those that"
        " were. What moves afterwards stays where it went. What is divided as it was then is not touched.\n\n"
        "Replicas of a cluster that has left, or that is not allowed any more, go to clusters that had none, as far as"
        " these take them; everything that does not stand as it did is named. How much room there is does not matter."
        " Where an object is scaled since, the former split is scaled. Copies go where their policy sends them. Numbers"
        " are never held back by a rollout, a window or a freeze, but where `alsoFor: Placements` asks for waves; the"
        " former bytes go out as any change of the source. `argosy schema RollbackRequest` prints its JSON Schema."
    )
    return (TopicSection(before=before, entries=_entries_of_kind_fields("RollbackRequest")),)


def _sections_on_price_fields() -> tuple[TopicSection, ...]:
    before = (
        "A PriceList (`apiVersion: argosy.dev/v1alpha1`) says what clusters charge, and stands anywhere in the source."
        " An object costs, in each cluster, its rendered replicas times what one requests times the prices there; a"
        " month has 730 hours. No placement goes by it. Without a price in a cluster, or for something that is"
        " requested, a cost is unknown, and so are those of DaemonSets, whose pods are as many as there are nodes, and"
        " of Jobs and CronJobs, which run until they are done. Objects that request nothing are counted by themselves."
        " Volumes, load balancers, traffic and what autoscalers add in members are in no cost. `argosy diff` shows what"
        " a change costs, by the prices after it, and `argosy simulate` what is supposed does; `maxCostIncrease` of"
        " argosy.yaml is a guard on that. `argosy schema PriceList` prints its JSON Schema."
    )
    return (TopicSection(before=before, entries=_entries_of_kind_fields("PriceList")),)


def _sections_on_resilience_fields() -> tuple[TopicSection, ...]:
    before = (
        "A ResiliencePolicy (`apiVersion: argosy.dev/v1alpha1`) names objects as a PropagationPolicy selects them,"
        " those of its namespace, and the losses of clusters that they have to survive; a ClusterResiliencePolicy names"
        " any objects. Every policy that names an object counts. `argosy validate` takes each loss in turn, and a loss"
        " that leaves too little is a problem. `argosy diff` shows what a change does to resilience, and with `--check`"
        " refuses it (exit code 6) where an object does not survive any more what it survived before, also where the"
        " same change edits the policy, unless the trailer `Argosy-Allow-Fragile` or `--allow-fragile` allows it. No"
        " pass asks: what is pushed is delivered, and a fleet that has lost a cluster goes on to be repaired.\n\n"
        "Replicas count where they are placed, whether they run or not. Only what policies name is placed anew, the"
        " objects of all of them together, in the order of a pass; what else the lost clusters had takes no room."
        " Static weights and copies ask no cluster for room: of these, what there is no room for does not count, where"
        " the capacity is known. `argosy schema ResiliencePolicy` prints its JSON Schema."
    )
    return (TopicSection(before=before, entries=_entries_of_kind_fields("ResiliencePolicy")),)


def _sections_on_source_fields() -> tuple[TopicSection, ...]:
    before = (
        "A Source (`apiVersion: argosy.dev/v1alpha1`) names another repository or a chart. It stands anywhere in the"
        " source and is never propagated. `argosy lock` resolves it to one version and writes argosy.lock, which is"
        " committed: a render reads exactly what stands there. What kustomizations build upon needs none, nor do"
        " charts and repositories that objects of Flux and Argo CD name, where `spec.source.render` has these read."
        " `argosy schema Source` prints its JSON Schema."
    )
    return (TopicSection(before=before, entries=_entries_of_kind_fields("Source")),)


def _sections_on_helm_chart_fields() -> tuple[TopicSection, ...]:
    before = (
        "A HelmChart (`apiVersion: argosy.dev/v1alpha1`) has a chart rendered by `helm template`. It stands anywhere in"
        " the source and is never propagated; what the chart makes are templates. `argosy schema HelmChart` prints its"
        " JSON Schema."
    )
    return (TopicSection(before=before, entries=_entries_of_kind_fields("HelmChart")),)


def _sections_on_run_settings() -> tuple[TopicSection, ...]:
    before = (
        "RunSettings (`apiVersion: argosy.dev/v1alpha1`) are the settings of `argosy run --settings FILE`. They are"
        " read again at SIGHUP; a file that cannot be used is refused, and the settings stay as they were. They stand"
        " on the machine, and in no source. What is not said in them is as the options say, and what is said in them"
        " may be said by no option. Paths begin beside the file. A duration is such as `90s`, `5m` or `1h`. `argosy"
        " schema RunSettings` prints their JSON Schema."
    )
    return (TopicSection(before=before, entries=_entries_of_kind_fields("RunSettings")),)


def _sections_on_json_documents() -> tuple[TopicSection, ...]:
    before = (
        "Data goes to stdout, log lines to stderr, and progress to a terminal only. `-o json` prints one value with"
        " `apiVersion: argosy.dev/v1alpha1` and a `kind`. Commits are whole ids, and null where there is none. Fields"
        " may be added within `v1alpha1`, but none is renamed. `argosy schema KIND` prints the JSON Schema of a kind."
    )
    entries = (
        Entry(each.kind, f"{each.about} Printed by {' and '.join(f'`argosy {line}`' for line in each.printed_by)}.")
        for each in DOCUMENTS
    )
    return (TopicSection(before=before, entries=tuple(entries)),)


def _function_returning_sections(sections: tuple[TopicSection, ...]) -> Callable[[], tuple[TopicSection, ...]]:
    return lambda: sections


class _TopicPage(NamedTuple):
    about: str
    sections: Callable[[], tuple[TopicSection, ...]]


_PAGES: Mapping[str, _TopicPage] = {
    "words": _TopicPage("What the words of Argosy mean.", _function_returning_sections(WORDS)),
    "files": _TopicPage("Which files of a repository are read.", _function_returning_sections(FILES)),
    "argosy.yaml": _TopicPage("The settings of a fleet.", _sections_on_fleet_fields),
    "policy-tests": _TopicPage("Tests of policies.", _sections_on_policy_test_fields),
    "rollouts": _TopicPage("Changes that go out wave by wave.", _sections_on_rollout_fields),
    "rollbacks": _TopicPage("Splits of an earlier commit that stand again.", _sections_on_rollback_fields),
    "prices": _TopicPage("Prices of clusters, and what workloads cost.", _sections_on_price_fields),
    "resilience": _TopicPage("Losses of clusters that objects survive.", _sections_on_resilience_fields),
    "sources": _TopicPage("Other repositories and charts.", _sections_on_source_fields),
    "charts": _TopicPage("Helm charts that are rendered.", _sections_on_helm_chart_fields),
    "run-settings": _TopicPage("The settings of a controller.", _sections_on_run_settings),
    "annotations": _TopicPage(
        "Annotations, labels and taints that mean something.", _function_returning_sections(ANNOTATIONS)
    ),
    "branches": _TopicPage(
        "The branches that Argosy writes, and what is in them.", _function_returning_sections(BRANCHES)
    ),
    "trailers": _TopicPage("Lines at the end of commit messages.", _function_returning_sections(TRAILERS)),
    "environment": _TopicPage("Variables of the environment.", _function_returning_sections(ENVIRONMENT)),
    "names": _TopicPage("How objects, clusters and revisions are named.", _function_returning_sections(NAMES)),
    "output": _TopicPage("The documents that -o json prints.", _sections_on_json_documents),
    "leaving": _TopicPage(
        "What stays without Argosy, and how something else takes over.", _function_returning_sections(LEAVING)
    ),
    "exit-codes": _TopicPage("How a command can end.", _sections_on_exit_codes),
}

TOPICS: Mapping[str, str] = {name: page.about for name, page in _PAGES.items()}
"""Every topic with its one line."""


def load_topic(name: str) -> Topic:
    """Return a page of reference."""
    page = _PAGES[name]
    return Topic(about=page.about, sections=page.sections())
