"""The kustomizations of a fleet that are built: those that nothing else builds upon."""

from collections.abc import Collection, Iterable

from .tree import Kustomizations


def root_folders(known: Kustomizations, chosen: Iterable[str], named: Collection[str]) -> list[str]:
    """Return the folders to build, of those that the fleet does not leave out.

    What any kustomization of the tree refers to is a part of that one, even if the fleet leaves that out; a folder that
    the fleet's paths name is built all the same. A component is never built by itself. Of kustomizations that refer to
    each other in a circle the first is built, so that kustomize says so.
    """
    parts = {base for folder in known.folders for base in known.bases_of(folder)}
    ends = [folder for folder in known.folders if folder not in parts]
    circles = sorted(known.folders - _reached(known, ends))
    chosen = sorted(set(chosen))
    roots = [each for each in chosen if not known.is_component(each) and (each not in parts or each in named)]
    return sorted({*roots, *(each for each in circles[:1] if each in chosen)})


def _reached(known: Kustomizations, folders: Iterable[str]) -> set[str]:
    """Return these folders and all that they build upon."""
    unseen, reached = list(folders), set(folders)
    while unseen:
        for base in known.bases_of(unseen.pop()):
            if base not in reached:
                reached.add(base)
                unseen.append(base)
    return reached
