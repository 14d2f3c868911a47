"""``argosy init``: the first files of a fleet."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.console.log import Log
from reconciler.console.printing import print_text
from render.words import counted_noun

if TYPE_CHECKING:
    from reconciler.edit.beginning import NewFleet
    from reconciler.repository import Repository


@click.command(
    cls=DocumentedCommand, epilog="Exit codes: 0 written or printed; 3 there is a fleet already; 4 Git failed."
)
@click.option(
    "--context", "contexts", multiple=True, metavar="NAME", help="Only these contexts of the kubeconfig (repeatable)."
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
@click.option("--print", "is_printed", is_flag=True, help="Print the files and write nothing.")
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Write the first files of a fleet: argosy.yaml, a file for each cluster, and a policy.

    Every context of the kubeconfig becomes a cluster, unless --context or --new-cluster names some. The policy selects
    nothing yet, so that no object goes anywhere. How many objects of the repository are read comes first, with the
    folders of the others. What the repository holds is said: objects, charts and kustomizations, and whether Argo CD,
    Flux or Fleet deploy from it, and what argosy lock has to fetch. Where Flux or Argo CD deploy most of the objects
    from here, argosy.yaml has their objects read as they read them; of several environments, it reads one. Where they
    deploy less, everything is read as files. Folders with Karmada's policies are always read.
    How many objects the first pass places is said before the commands to run next, and how many go nowhere.
    Of folders that define the same objects differently, such as staging and production, one is read and the others
    are left out. An empty folder becomes a repository. Nothing is committed, and no cluster is asked.
    """
    return write_first_files(log, **options)


def write_first_files(
    log: Log,
    *,
    contexts: tuple[str, ...],
    clusters: tuple[str, ...],
    kubeconfig: str,
    pipelines: tuple[str, ...],
    is_printed: bool,
) -> int:
    """Write or print the first files, and name the commands to run next."""
    from reconciler.edit.beginning import Beginning, new_fleet
    from reconciler.edit.cluster_files import opened_source, warn_of_ignored
    from reconciler.edit.layout import repository_layout_lines
    from reconciler.edit.pipelines import placeholders_to_fill_in
    from reconciler.preview.first_pass import first_pass_lines, outcome_of_first_pass
    from reconciler.repository.opening import init_if_empty_folder

    is_by_hand = bool(clusters) and not contexts
    found = () if is_by_hand else _contexts_to_join(log, kubeconfig, contexts)
    wanted = Beginning(contexts=found, clusters=clusters, pipelines=pipelines)
    if not is_printed and init_if_empty_folder(log.repository):
        log.info("made a repository of the empty folder")
    with opened_source(log) as source:
        fleet = new_fleet(source, wanted)
        notes = (*repository_layout_lines(source, fleet), *_notes_on_new_fleet(fleet))
        _print_what_was_found(() if is_printed else fleet.objects.lines(), notes, log)
        if is_printed:
            _print_files(fleet.files)
            return 0
        outcome = outcome_of_first_pass(source.repository, fleet.after, log)
        source.repository.put_files(fleet.files)
        for path in fleet.files:
            log.info("wrote", file=path)
        is_ignored = warn_of_ignored(source.repository, fleet.files, log)
        first_push = _first_push(source.repository)
    said = first_pass_lines(outcome) if outcome else ()
    for line in (*said, "next:", *(f"  {each}" for each in placeholders_to_fill_in(pipelines))):
        print_text(line)
    _print_next_steps(fleet, is_reaching=bool(found), is_ignored=is_ignored, first_push=first_push)
    return 0


def _print_what_was_found(objects: Iterable[str], notes: Iterable[str], log: Log) -> None:
    """Print how many objects are read, and say what else the repository holds."""
    for line in objects:
        print_text(line)
    for note in notes:
        log.info(f"found {note}")


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


def _contexts_to_join(log: Log, kubeconfig: str, chosen: tuple[str, ...]) -> tuple[str, ...]:
    """Return the contexts that become clusters; a kubeconfig that is not there is worth a word, unless it was named."""
    import os

    from reconciler.edit.beginning import contexts_among_available
    from reconciler.members.kubeconfig import Kubeconfig, default_kubeconfig_files, load_kubeconfig
    from render.errors import ConfigError

    files = (Path(kubeconfig).expanduser(),) if kubeconfig else default_kubeconfig_files(os.environ)
    loaded = load_kubeconfig(files)
    if isinstance(loaded, Kubeconfig):
        return contexts_among_available(loaded.contexts, chosen)
    if kubeconfig or chosen:
        raise ConfigError(loaded.message, hint=loaded.hint)
    log.warning(f"{loaded.message}; argosy cluster join NAME adds a cluster")
    return ()


def _print_files(files: Mapping[str, bytes]) -> None:
    for path, content in files.items():
        print_text(f"# {path}\n{content.decode()}")


def _print_next_steps(fleet: "NewFleet", *, is_reaching: bool, is_ignored: bool, first_push: str) -> None:
    if fleet.unlocked:
        print_text("  argosy lock")
    add = "git add -f" if is_ignored else "git add"
    print_text(f"  {add} {' '.join([*fleet.files, *([fleet.lock] if fleet.unlocked else [])])}")
    print_text("  git commit -m 'Begin a fleet'")
    if first_push:
        print_text(f"  {first_push}")
    print_text("  argosy reconcile --bootstrap --dry-run")
    if is_reaching:
        print_text("  argosy reconcile --bootstrap")
        print_text("  argosy diff --live")
