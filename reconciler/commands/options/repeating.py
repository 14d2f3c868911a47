"""``--watch``: do it again whenever a file of the work tree is saved, until ^C.

The watcher stands before the first run, so that nothing saved meanwhile is missed. A run that ends in an error is
reported and the next save gets its chance.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from reconciler.console.log import Log
from reconciler.console.printing import print_error
from reconciler.repository import open_repository
from render.errors import ReconcileError

_STEP_MS = 20
_LONGEST_MS = 200
_POLL_MS = 100


def repeat_on_save(log: Log, run: Callable[[], int]) -> int:
    """Run now and after every save of a file in the work tree; the last run's exit code, if the watching ends."""
    with open_repository(log.repository) as repository:
        work_tree = repository.work_tree_for_verb("watch")
    return run_for_each_change(log, run, saved_paths(work_tree))


def saved_paths(folder: Path) -> Iterator[set[str]]:
    """Yield nothing once the folder is watched, then the paths of files as they are saved, .git left out."""
    from watchfiles import watch

    git_folder = str(folder / ".git")
    watcher = watch(
        folder,
        watch_filter=lambda _, path: not path.startswith(git_folder),
        debounce=_LONGEST_MS,
        step=_STEP_MS,
        rust_timeout=_POLL_MS,
        yield_on_timeout=True,
    )
    yield {path for _, path in next(watcher)}
    yield from ({path for _, path in changes} for changes in watcher if changes)


def run_for_each_change(log: Log, run: Callable[[], int], changes: Iterable[set[str]]) -> int:
    """Run once for each set of changes; an error of one run does not end the next."""
    code = 0
    for changed in changes:
        begun = time.monotonic()
        try:
            code = run()
        except ReconcileError as error:
            print_error(str(error))
            code = error.exit_code
        log.info("watching", saved=len(changed), ms=round((time.monotonic() - begun) * 1000), code=code)
    return code
