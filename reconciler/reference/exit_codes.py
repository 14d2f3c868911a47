"""The codes a command can end with: each has its meaning here and nowhere else."""

from collections.abc import Mapping

EXIT_CODES: Mapping[int, str] = {
    0: "converged, or no difference",
    1: 'the answer is "no": a difference, something unschedulable, a failed object',
    2: "the command line is wrong",
    3: "input or configuration refused",
    4: "Git failed, or this machine: a disk is full, or may not be written",
    5: "no cluster could be used",
    6: "refused by a guard",
    7: "all reachable clusters converged, some were unreachable",
    70: "a bug in Argosy",
    130: "interrupted",
}
