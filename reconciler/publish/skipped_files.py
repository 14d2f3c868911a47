"""The files that hold no Kubernetes object, told in one line: any repository has some, and they are no warning each."""

from reconciler.console.log import VERBOSE, Log
from reconciler.source.desired import Desired
from render.words import counted


def tell_skipped(desired: Desired, log: Log) -> None:
    """Count these files for people at a terminal; with ``-v`` name each, wherever the lines go."""
    skipped = desired.without_objects
    if skipped and (log.is_terminal or log.level >= VERBOSE):
        named = "" if log.level >= VERBOSE else "; -v names them"
        log.info(f"skipped {counted(len(skipped), 'file')} without a Kubernetes object{named}")
    for each in skipped:
        log.detail(f"{each.path}: {each.reason}")
