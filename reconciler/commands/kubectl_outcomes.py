"""The running of kubectl for members, and how its outcomes are printed: as tables, blocks, lines, or by itself."""

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING

import click

from reconciler.commands.options.kubectl_commands import checked_words_for_kubectl, impersonation_words
from reconciler.console.log import Log
from reconciler.console.printing import print_error, print_text
from reconciler.console.styled_text import StyledText
from reconciler.members.options import AccessOptions

if TYPE_CHECKING:
    from reconciler.inspection.choosing import Chosen
    from reconciler.inspection.kubectl import Ran
    from reconciler.members.exchange import Failure

_COLORS = ("cyan", "green", "magenta", "yellow", "blue", "red")
_DATA = ("-o", "--output")
_STREAMS = frozenset({"-w", "--watch", "-f", "--follow"})
_TRUE = frozenset({"", "1", "t", "T", "true", "TRUE", "True"})
_TAKES_THE_REST = frozenset("noscl")
"""Short options with a value, which may stand right behind them: in ``-nweb`` there is no ``-w``."""


def run_for_each(
    log: Log, words: Sequence[str], access: AccessOptions, show: "Callable[[Mapping[str, Ran]], str]"
) -> int:
    """Run kubectl for members at once, and print what all of them together show; return how that went."""
    from reconciler.inspection.choosing import chosen_members

    arguments = checked_words_for_kubectl(words)
    with chosen_members(log, access) as chosen:
        ended, failures = _outcomes(chosen, arguments, access)
    print_text(show(ended), end="")
    return _code_with_words(log, ended, failures)


def describe_for_each(log: Log, words: Sequence[str], access: AccessOptions) -> int:
    """Have kubectl describe objects of members, and describe what agents reported of those of members that pull."""
    from reconciler.commands.pulling_members import agent_reports, objects_meant_for_kubectl, text_of_described_reports
    from reconciler.inspection.choosing import chosen_members

    arguments = checked_words_for_kubectl(("describe", *words))
    meant = objects_meant_for_kubectl(words)
    ended: dict[str, Ran] = {}
    failures: dict[str, Failure] = {}
    with chosen_members(log, access, shows_reports=meant is not None) as chosen:
        reports = agent_reports(log, chosen, meant) if meant is not None and chosen.pulling else ()
        if chosen.names:
            ended, failures = _outcomes(chosen, arguments, access)
    described = text_of_described_reports(log, reports)
    print_text("\n".join(filter(None, [blocks_of_outcomes(ended), described])), end="")
    return _code_with_words(log, ended, failures, is_recorded=bool(reports)) if chosen.names else 0


def _outcomes(
    chosen: "Chosen", arguments: Sequence[str], access: AccessOptions
) -> "tuple[dict[str, Ran], dict[str, Failure]]":
    """Run kubectl for members at once, and return how each ended and why some could not be used."""
    from reconciler.inspection.kubectl import kubectl_for, outcomes_of_members

    with kubectl_for(chosen, before=impersonation_words(access)) as (kubectl, failures):
        names = [name for name in chosen.names if name not in failures]
        return outcomes_of_members(kubectl, names, arguments, limit=access.max_parallel), failures


def stream_lines(log: Log, words: Sequence[str], access: AccessOptions) -> int:
    """Run kubectl for members at once, and print each line as it comes, its member before it."""
    from reconciler.inspection.choosing import chosen_members
    from reconciler.inspection.kubectl import kubectl_for, stream_of_members

    arguments = checked_words_for_kubectl(words)
    with (
        chosen_members(log, access) as chosen,
        kubectl_for(chosen, before=impersonation_words(access)) as (kubectl, failures),
    ):
        names = [name for name in chosen.names if name not in failures]
        _warn_of_failures(log, failures)
        width = max(map(len, names), default=0)
        colors = dict(zip(names, cycle(_COLORS), strict=False))
        marks = {name: StyledText.of_pieces([(f"{name.ljust(width)} | ", color)]) for name, color in colors.items()}

        def tell(name: str, line: str) -> None:
            print_text(line, mark=marks[name])

        ended = stream_of_members(kubectl, names, arguments, tell)
    return _code_with_words(log, ended, failures, is_warned=True)


def run_at_terminal(log: Log, words: Sequence[str], access: AccessOptions) -> int:
    """Run kubectl for the one member that is chosen, with this terminal, and return its exit code."""
    from reconciler.inspection.choosing import chosen_members
    from reconciler.inspection.kubectl import kubectl_for
    from render.errors import ClusterError

    arguments = checked_words_for_kubectl(words)
    with chosen_members(log, access) as chosen:
        if len(chosen.names) != 1:
            raise click.UsageError(
                f"this is for one cluster, and {len(chosen.names)} are chosen: name it with --cluster"
            )
        with kubectl_for(chosen, before=impersonation_words(access)) as (kubectl, failures):
            for name, failure in failures.items():
                raise ClusterError(f"{name}: {failure.message}", hint=failure.hint)
            return kubectl.code_at_terminal(chosen.names[0], arguments)


def is_streaming(words: Sequence[str]) -> bool:
    """Say whether words ask for what comes as well, so that the output has no end."""
    before = words[: words.index("--")] if "--" in words else words
    return any(_is_streaming_word(word) for word in before)


def _is_streaming_word(word: str) -> bool:
    """Say whether a word is such an option, by itself or, like ``-Aw``, among short ones.

    >>> [_is_streaming_word(each) for each in ("-Aw", "-w", "--watch=true", "--watch=false", "-nweb", "-w=0", "web")]
    [True, True, True, False, False, False, False]
    """
    name, _, value = word.partition("=")
    if name.startswith("--") or not name.startswith("-"):
        return name in _STREAMS and value in _TRUE
    for letter in name[1:]:
        if letter in _TAKES_THE_REST:
            return False
        if f"-{letter}" in _STREAMS:
            return value in _TRUE
    return False


def refuse_data_forms(words: Sequence[str], instead: str) -> None:
    """Refuse output for programs, which of many members at once would be none that a program reads."""
    for number, word in enumerate(words):
        name, equals, value = word.partition("=")
        value = value if equals else next(iter(words[number + 1 :]), "")
        if word.startswith("-o") and not word.startswith("-o=") and len(word) > len("-o"):
            name, value = "-o", word.removeprefix("-o")
        if name in _DATA and value not in {"wide", "name"}:
            raise click.UsageError(f"-o {value}: {instead}")


def blocks_of_outcomes(ended: "Mapping[str, Ran]") -> str:
    """Return what kubectl printed for members, each below a line that names it."""
    return "\n".join(f"Cluster:  {name}\n{each.out}" for name, each in ended.items() if each.out.strip())


def table_of_outcomes(ended: "Mapping[str, Ran]") -> str:
    """Return the tables that kubectl printed for members as one."""
    from reconciler.inspection.kubectl import text_of_tables

    return text_of_tables({name: each.out for name, each in ended.items()})


def table_shown_for_words(words: Sequence[str]) -> "Callable[[Mapping[str, Ran]], str]":
    """Return how the tables are shown that kubectl prints for some words: with titles, or without as is asked for."""
    return lines_of_outcomes if _has_no_titles(words) else table_of_outcomes


def lines_of_outcomes(ended: "Mapping[str, Ran]") -> str:
    """Return the lines that kubectl printed for members, each behind the name of its member."""
    width = max(map(len, ended), default=0)
    return "".join(f"{name.ljust(width)}   {line}\n" for name, each in ended.items() for line in each.out.splitlines())


def _has_no_titles(words: Sequence[str]) -> bool:
    names = (each for each in zip(words, (*words, "")[1:], strict=True) if each[0] in _DATA)
    is_by_name = any(value == "name" for _, value in names) or any(f"{each}=name" in words for each in _DATA)
    return is_by_name or "-oname" in words or bool({"--no-headers", "--no-headers=true"} & set(words))


def _warn_of_failures(log: Log, failures: "Mapping[str, Failure]") -> None:
    for name, failure in failures.items():
        log.warning(f"{name}: {failure}")


def _code_with_words(
    log: Log,
    ended: "Mapping[str, Ran]",
    failures: "Mapping[str, Failure]",
    *,
    is_warned: bool = False,
    is_recorded: bool = False,
) -> int:
    """Say what failed, and return how all of it went; ClusterError where no member could be used.

    ``is_recorded``: an agent reported the object, so that it is not said to be nowhere.
    """
    from render.errors import ClusterError

    if not is_warned:
        _warn_of_failures(log, failures)
    if failures and not ended:
        raise ClusterError("no cluster could be used", hint="the lines above say what each answered")
    failed = {name: each for name, each in ended.items() if each.code != 0 and not each.is_absent}
    absent = [each for each in ended.values() if each.is_absent]
    for name, each in ended.items():
        said = " ".join(each.err.split())
        if name in failed:
            log.warning(f"{name}: {said or f'kubectl ended with {each.code}'}")
        elif said:
            log.detail(f"{name}: {said}")
    if absent and len(absent) == len(ended) and not is_recorded:
        print_error(absent[0].err.strip())
        return 1
    if failed:
        return 1
    return 7 if failures else 0
