"""Commands that run kubectl for members: their own options are taken out, and all other words are left to kubectl."""

from collections.abc import Callable, Sequence

import click

from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.commands.options.member_options import with_asking_options
from reconciler.members.options import AccessOptions

_OURS_ALONE = frozenset(
    {"--context", "--server", "-s", "--token", "--user", "--username", "--password", "--client-key"}
    | {"--client-certificate", "--certificate-authority", "--insecure-skip-tls-verify", "--tls-server-name"}
)
"""The options by which kubectl would ask somebody else than the members of the fleet."""


class CommandOfKubectl(DocumentedCommand):
    """A command that hands the words it does not know to kubectl as they are, in their order."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the command's own options out of its words, and leave the rest alone."""
        flags = {name: param for param in self.params if isinstance(param, click.Option) for name in param.opts}
        ours, others, words = list[str](), list[str](), iter(args)
        for word in words:
            name, equals, _ = word.partition("=")
            option = flags.get(name)
            if word == "--":
                others.extend((word, *words))
            elif word in ctx.help_option_names or (option is not None and (option.is_flag or equals)):
                ours.append(word)
            elif option is not None:
                ours.extend((word, *(each for each in [next(words, None)] if each is not None)))
            else:
                others.append(word)
        super().parse_args(ctx, [*ours, *(["--", *others] if others else [])])
        return []


def command_of_kubectl(metavar: str, epilog: str) -> Callable[[Callable[..., int]], click.Command]:
    """Return the decorator that makes a command of kubectl; its handler gets ``words`` and ``access``."""

    def command_from_handler(handler: Callable[..., int]) -> click.Command:
        with_words = click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar=metavar)
        handed = with_words(with_asking_options(click.pass_obj(handler)))
        made: click.Command = click.command(cls=CommandOfKubectl, epilog=epilog)(handed)
        return made

    return command_from_handler


def checked_words_for_kubectl(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words, a usage error for one by which kubectl would not ask the members."""
    before = words[: words.index("--")] if "--" in words else words
    for word in before:
        if word.partition("=")[0] in _OURS_ALONE:
            raise click.UsageError(f"{word.partition('=')[0]}: members are chosen by --cluster and --cluster-selector")
    return tuple(words)


def impersonation_words(access: AccessOptions) -> tuple[str, ...]:
    """Return the words by which kubectl acts as another user."""
    if not access.as_user:
        return ()
    return (f"--as={access.as_user}", *(f"--as-group={group}" for group in access.as_groups))
