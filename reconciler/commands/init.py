"""``argosy init``: the first files of a fleet."""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.console.log import Log
from reconciler.console.printing import print_text
from render.words import counted_noun

if TYPE_CHECKING:
    from reconciler.edit.beginning import NewFleet
    from reconciler.edit.cluster_files import MemberSource
    from reconciler.repository import Repository


_WHAT_IS_READ = "Argosy reads manifests, what kustomizations build of them, and charts that a HelmChart names"


class InitOptions(Struct, frozen=True, kw_only=True):
    """The options of ``argosy init``."""

    contexts: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    kubeconfig: str = ""
    pipelines: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    has_charts: bool = False
    is_printed: bool = False


@click.command(
    cls=DocumentedCommand,
    epilog="Exit codes: 0 written or printed; 1 nothing is read, or a chart got no HelmChart; 3 refused; 4 Git failed.",
)
@click.option(
    "--context",
    "contexts",
    multiple=True,
    metavar="NAME",
    help="Only these contexts of the kubeconfig; patterns such as 'kind-*' choose several (repeatable).",
)
@click.option(
    "--new-cluster",
    "clusters",
    multiple=True,
    metavar="NAME",
    help="A cluster without a context, which passes render for and do not reach (repeatable).",
)
@click.option("--kubeconfig", default="", metavar="FILE", help="The kubeconfig  [default: the one kubectl reads]")
@click.option(
    "--ci", "pipelines", multiple=True, type=click.Choice(["github", "gitlab"]), help="Write pipeline files as well."
)
@click.option(
    "--charts", "has_charts", is_flag=True, help="Write a HelmChart for each Helm chart that nothing renders."
)
@click.option(
    "--path",
    "paths",
    multiple=True,
    metavar="FOLDER",
    help="Read this folder, too, where source.paths leaves it out (repeatable).",
)
@click.option("--print", "is_printed", is_flag=True, help="Print the files and write nothing.")
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Write the first files of a fleet, or what it lacks: argosy.yaml, a file for each cluster, and a policy.

    On a terminal it asks which contexts of the kubeconfig become clusters. Elsewhere these are all, unless --context or
    --new-cluster names some. A pass writes to each of them. The policy selects nothing yet, so that no object goes
    anywhere. How many objects of the repository are read comes first, with the folders of the others. What the
    repository holds is said: objects, charts and kustomizations, and whether Argo CD, Flux or Fleet deploy from it, and
    what argosy lock has to fetch. Where Flux or Argo CD deploy most of the objects from here, argosy.yaml has their
    objects read as they read them; of several environments, it reads one. Where they deploy less, everything is read as
    files. Folders with Karmada's policies are always read. A chart that nothing renders gets a HelmChart with --charts,
    or where somebody at a terminal says so. Values of an environment, such as values-prod.yaml, count in the clusters
    that are called like it; where none is, those of production count everywhere.
    How many objects the first pass places is said before the commands to run next, and how many go nowhere.
    Of folders that define the same objects differently, such as staging and production, one is read and the others
    are left out. An empty folder becomes a repository. Nothing is committed, and no cluster is asked.
    Where a fleet is there, what it lacks is added, and nothing that it has is changed: clusters for contexts and names
    that are named, a policy where there is none, and the rest as above. --print shows it.
    """
    return write_first_files(log, InitOptions(**options))


def _refuse_folders_not_there(log: Log, paths: Iterable[str]) -> None:
    """Refuse folders of --path that are not below the repository's: nothing would be read of them."""
    for each in paths:
        if ".." in Path(each).parts or not (Path(log.repository) / each).is_dir():
            raise click.UsageError(f"--path {each!r}: there is no such folder in the repository")


def write_first_files(log: Log, options: InitOptions) -> int:
    """Write or print the first files, and name the commands to run next."""
    from reconciler.commands.options.context_choice import is_somebody_asked
    from reconciler.edit.additions import additions_to_fleet, contexts_of_members
    from reconciler.edit.beginning import Beginning, new_fleet
    from reconciler.edit.cluster_files import opened_source
    from reconciler.preview.first_pass import (
        first_pass_lines,
        lines_on_what_stops_first_pass,
        outcome_of_first_pass,
    )
    from reconciler.repository.opening import init_if_empty_folder

    if not options.is_printed and init_if_empty_folder(log.repository):
        log.info("made a repository of the empty folder")
    with opened_source(log) as source:
        is_new = not source.home.path
        _refuse_folders_not_there(log, options.paths if is_new else ())
        found, names = _contexts_and_clusters(log, options, None if is_new else contexts_of_members(source))
        begin_or_add = new_fleet if is_new else additions_to_fleet
        wanted = Beginning(contexts=found, clusters=names, pipelines=options.pipelines, paths=options.paths)
        fleet, is_whole = _fleet_with_charts(source, begin_or_add(source, wanted), log, options)
        if options.is_printed:
            _print_files(fleet.files)
            return 0 if is_whole else 1
        outcome = outcome_of_first_pass(source.repository, fleet.after, log) if is_new else None
        is_ignored = _is_anything_ignored_of_written(source, fleet.files, log)
        steps = tuple(_next_steps(source, fleet, options, is_reaching=bool(found), is_ignored=is_ignored))
        stopping = tuple(lines_on_what_stops_first_pass(source, fleet))
    _warn_of_reach(log, found, is_chosen=bool(options.contexts) or is_somebody_asked())
    placing = first_pass_lines(outcome) if outcome else stopping
    for line in (*placing, *_lines_on_absent_clusters(fleet)):
        print_text(line)
    print_text("next:" if fleet.files else "nothing is added: the fleet has what was found and named")
    for step in steps:
        print_text(f"  {step}")
    return 0 if is_whole else 1


def _fleet_with_charts(
    source: "MemberSource", fleet: "NewFleet", log: Log, options: InitOptions
) -> "tuple[NewFleet, bool]":
    """Say what the repository holds, and return the fleet with HelmCharts where these are wanted.

    A chart that cannot be rendered gets none, and a warning says why. The answer is whether there is none of these, and
    something is read where anything is there.
    """
    from reconciler.edit.chart_offers import offers_of_charts
    from reconciler.edit.layout import lines_about_broken_files, lines_about_charts, repository_layout_lines
    from reconciler.edit.offered_charts import FleetWithCharts, fleet_with_charts
    from reconciler.source.unread_forms import forms_in_words, forms_nothing_is_read_of

    is_new = not source.home.path
    layout = tuple(repository_layout_lines(source, fleet) if is_new else lines_about_broken_files(fleet.after))
    offers = offers_of_charts(source, fleet.after)
    chosen = FleetWithCharts(fleet=fleet)
    if offers.charts and (options.has_charts or _are_charts_wanted_by_somebody(len(offers.charts))):
        chosen = fleet_with_charts(source, fleet, offers.charts)
    for line in () if options.is_printed else chosen.fleet.objects.lines():
        print_text(line)
    for note in (*layout, *lines_about_charts(offers, chosen.written), *_notes_on_new_fleet(fleet)):
        log.info(f"found {note}")
    log.warn_of(f"no HelmChart is written: {problem}" for problem in chosen.problems)
    forms = forms_nothing_is_read_of(source.files, chosen.fleet.after.desired, has_others=True)
    if forms:
        log.warning(f"nothing here is read, of {forms_in_words(forms)}: {_WHAT_IS_READ}")
    return chosen.fleet, not (chosen.problems or forms)


def _are_charts_wanted_by_somebody(count: int) -> bool:
    """Ask somebody at a terminal whether charts get HelmCharts; nobody wants them elsewhere."""
    from reconciler.commands.options.context_choice import is_somebody_asked

    what = "a HelmChart for the chart" if count == 1 else f"HelmCharts for the {count} charts"
    return is_somebody_asked() and click.confirm(f"Write {what} that nothing renders?", default=True, err=True)


def _is_anything_ignored_of_written(source: "MemberSource", files: Mapping[str, bytes], log: Log) -> bool:
    """Write files, and say whether Git ignores any of them."""
    from reconciler.edit.cluster_files import warn_of_ignored

    source.repository.put_files(files)
    for path in files:
        log.info("wrote", file=path)
    return warn_of_ignored(source.repository, files, log)


def _first_push(repository: "Repository") -> str:
    """Return the command that gives a remote its first commits, for passes take the source from there; "": none."""
    from reconciler.branches.publication import branch_of_head, remote_of_source

    remote, branch = remote_of_source(repository), branch_of_head(repository)
    if not remote or not branch or repository.tip(f"refs/remotes/{remote}/{branch}"):
        return ""
    return f"git push -u {remote} {branch}"


def _notes_on_new_fleet(fleet: "NewFleet") -> Iterator[str]:
    """Yield what follows from the files that begin a fleet."""
    if fleet.lost:
        yield _note_on_lost_objects(fleet)
    if fleet.in_skipped_namespaces:
        what = counted_noun(fleet.in_skipped_namespaces, "object")
        yield f"{what} left out for being in kube-*: 'skippedNamespaces: []' under spec lets policies select them"
    if fleet.undeclared:
        what = f"{counted_noun(len(fleet.undeclared), 'cluster')} that Argo CD deploys to and that the fleet has not"
        yield f"{what}: {', '.join(fleet.undeclared)}; argosy cluster join NAME adds one"
    if fleet.releases:
        what = counted_noun(fleet.releases, "HelmRelease")
        yield f"{what} read as objects: HelmRelease in source.render of argosy.yaml has charts rendered"
    if fleet.unlocked:
        what = counted_noun(fleet.unlocked, "chart or repository", "charts and repositories")
        yield f"{what} of others, which argosy lock pins and fetches"


def _note_on_lost_objects(fleet: "NewFleet") -> str:
    are = "is" if len(fleet.lost) == 1 else "are"
    what, names = counted_noun(len(fleet.lost), "object"), ", ".join(fleet.lost)
    if fleet.tool:
        return f"{what} that {fleet.tool} does not deploy {are} not read, by source.paths of argosy.yaml: {names}"
    return f"{what} that {are} nowhere else, and left out with the folder: {names}"


def _contexts_and_clusters(
    log: Log, options: InitOptions, known: AbstractSet[str] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the contexts that become clusters, and the names of clusters without a context.

    Clusters that are named go without the contexts of the kubeconfig, unless these are named as well. ``known``
    are the contexts of members; None for a new fleet.
    """
    from reconciler.commands.options.context_choice import (
        cluster_names_somebody_gives,
        contexts_to_join,
        is_somebody_asked,
    )

    clusters, contexts = options.clusters, options.contexts
    found = () if clusters and not contexts else contexts_to_join(log, options.kubeconfig, contexts, known)
    if not found and not clusters and known is None and is_somebody_asked():
        return found, cluster_names_somebody_gives()
    return found, clusters


def _warn_of_reach(log: Log, contexts: tuple[str, ...], *, is_chosen: bool) -> None:
    """Warn, before anything else is run, of the clusters that passes write to."""
    from reconciler.edit.context_names import contexts_by_cluster_name

    named = contexts_by_cluster_name(contexts)
    names = ", ".join(name if name == context else f"{name} (context {context})" for name, context in named.items())
    others = "" if is_chosen else "; --context takes only those it names, also by a pattern such as 'kind-*'"
    if named:
        log.warn_always(f"a pass WRITES to {counted_noun(len(named), 'cluster')} of the kubeconfig: {names}{others}")


def _lines_on_absent_clusters(fleet: "NewFleet") -> Iterator[str]:
    """Yield that there is no cluster, or that policies name others, and what makes some."""
    from reconciler.edit.beginning import absent_clusters_of_policies

    if not fleet.after.desired.clusters:
        yield "the fleet has no cluster, so that nothing goes anywhere: argosy init --new-cluster NAME adds one"
    if absent := absent_clusters_of_policies(fleet.after):
        what = f"{counted_noun(len(absent), 'cluster')} that policies name and that the fleet has not"
        yield f"{what}: {', '.join(absent)}: argosy init --new-cluster NAME adds one"


def _print_files(files: Mapping[str, bytes]) -> None:
    for path, content in files.items():
        print_text(f"# {path}\n{content.decode()}")


def _next_steps(
    source: "MemberSource", fleet: "NewFleet", options: InitOptions, *, is_reaching: bool, is_ignored: bool
) -> Iterator[str]:
    """Yield the commands to run next, and before them what nobody but the author knows."""
    from reconciler.edit.pipelines import placeholders_to_fill_in
    from reconciler.edit.uncommitted_files import arguments_of_paths, paths_to_add

    if not fleet.files:
        return
    yield from placeholders_to_fill_in(options.pipelines)
    if fleet.unlocked:
        yield "argosy lock"
    add = "git add -f" if is_ignored else "git add"
    yield f"{add} {arguments_of_paths(source, [*fleet.files, *([fleet.lock] if fleet.unlocked else [])])}"
    if found := tuple(paths_to_add(source, fleet.after, fleet.files.keys())):
        yield f"git add {arguments_of_paths(source, found)}"
    yield f"git commit -m '{'Add to' if source.home.path else 'Begin'} a fleet'"
    if first_push := _first_push(source.repository):
        yield first_push
    bootstrap = "" if source.is_rendered else " --bootstrap"
    yield f"argosy reconcile{bootstrap} --dry-run"
    if is_reaching:
        yield f"argosy reconcile{bootstrap}"
        yield "argosy diff --live"
