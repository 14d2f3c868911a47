"""Remotes: their refs listed and fetched, and branches pushed with the lease that makes a push safe."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from render.errors import GitError
from render.expressions import lazy_expression

from .command import GitCommand
from .location import address_and_secret_configuration, checked_address, is_address
from .porcelain import Progress, run_with_progress
from .read_only import refuse_where_read_only
from .refs import RefUpdate, checked_ref_name, git_ordering_ref_writes

_LINE = lazy_expression(r"(?P<id>[0-9a-f]{40,64})\t(?P<ref>\S+)")
# A repository's configuration may name programs of its own for these, which run on this machine for a remote here.
_UPLOAD, _RECEIVE = "--upload-pack=git-upload-pack", "--receive-pack=git-receive-pack"
_SYMBOLIC = lazy_expression(r"ref: (?P<ref>\S+)\tHEAD")


class RemoteTips(Struct, frozen=True, kw_only=True):
    """The refs of a remote with their tips, and the branch that its HEAD names ("" if it names none)."""

    tips: dict[str, str]
    head: str = ""


class ReachedRemote(NamedTuple):
    """A remote by name or address, without a password, and the git command that knows the password all the same."""

    git: GitCommand
    name: str


def list_remote_refs(remote: ReachedRemote, refs: Iterable[str] = ()) -> RemoteTips:
    """Return the refs of a remote - all, or those named in full - and its HEAD."""
    wanted = frozenset(refs)
    answer = remote.git.run("ls-remote", "--symref", _UPLOAD, "--", remote.name, *sorted(wanted), network=True)
    listing = answer.stdout.decode("utf-8", "surrogateescape")
    listed = {match["ref"]: match["id"] for match in _LINE.finditer(listing) if not match["ref"].endswith("^{}")}
    head = _SYMBOLIC.search(listing)
    tips = {ref: id_ for ref, id_ in listed.items() if not wanted or ref in wanted}
    return RemoteTips(tips=tips, head=head["ref"] if head else "")


def resolve_remote(git: GitCommand, remote: str, *, is_push: bool = False, is_plain: bool = False) -> ReachedRemote:
    """Return how a remote is reached: by no option, and no other protocol.

    ``is_plain`` says that it is a configured one whose addresses have no password.
    """
    if is_address(remote):
        public, secrets = address_and_secret_configuration(checked_address(remote))
        return ReachedRemote(replace(git, extra=(*git.extra, *secrets)), public)
    if not remote or remote.startswith("-") or any(ord(letter) < 0x20 for letter in remote):
        raise GitError(f"{remote!r} is not a remote", hint="name a configured remote (git remote) or its address")
    hidden = () if is_plain else _configuration_hiding_passwords(git, remote, is_push=is_push)
    return ReachedRemote(replace(git, extra=(*git.extra, *hidden)), remote)


def _configuration_hiding_passwords(git: GitCommand, remote: str, *, is_push: bool) -> tuple[tuple[str, str], ...]:
    """Return configuration that takes passwords out of a configured remote's addresses, and sends them all the same.

    git hands the address of a remote to its helpers as an argument, which everybody on this machine can read. So the
    address is rewritten as one for which the environment has the credentials; whatever else is configured for the
    remote still counts. An address with a user alone stays: a credential helper knows the password.
    """
    option = ("--push",) if is_push else ()
    real = _lines_or_none(git, "remote", "get-url", *option, "--all", "--", remote)
    if not any(urlsplit(address).password for address in real):
        return ()
    pushed = _lines_or_none(git, "config", "--get-all", f"remote.{remote}.pushurl") if is_push else []
    written = pushed or _lines_or_none(git, "config", "--get-all", f"remote.{remote}.url")
    # Without addresses of their own, pushes go where pushInsteadOf leads, and only there once one of them matches.
    rewriting = "pushInsteadOf" if is_push and not pushed else "insteadOf"
    extra: list[tuple[str, str]] = []
    for address, original in zip(real, written, strict=False):
        public, secrets = address_and_secret_configuration(address)
        extra += [*secrets, (f"url.{public}.{rewriting}", original)]
    return tuple(extra)


def _lines_or_none(git: GitCommand, *arguments: str) -> list[str]:
    """Return the lines of an answer; none where git knows nothing to answer."""
    answer = git.run(*arguments, answers=frozenset({0, 1, 2, 128}))
    return answer.stdout.decode("utf-8", "surrogateescape").splitlines() if not answer.returncode else []


class Fetching(Struct, frozen=True, kw_only=True):
    """The refs to fetch, with ``depth`` commits of history (None: all); ``prune`` removes refs gone at the remote."""

    refspecs: Sequence[str]
    depth: int | None = None
    prune: bool = False


def fetch_refs(remote: ReachedRemote, fetching: Fetching, progress: Progress | None) -> None:
    """Fetch into local refs; nothing else of the repository changes, not even FETCH_HEAD."""
    refuse_where_read_only("fetch")
    for refspec in fetching.refspecs:
        source, _, target = refspec.removeprefix("+").partition(":")
        for ref in (source, target):
            checked_ref_name(ref.replace("*", "x", 1))
    options = [
        _UPLOAD,
        "--no-write-fetch-head",
        "--no-auto-maintenance",
        "--no-recurse-submodules",
        "--no-tags",
        "--progress",
    ]
    options += ["--prune"] if fetching.prune else []
    options += [f"--depth={int(fetching.depth)}"] if fetching.depth else []
    arguments = ("fetch", *options, "--", remote.name, *fetching.refspecs)
    run_with_progress(remote.git, arguments, progress)


def push_refs(
    remote: ReachedRemote, updates: Iterable[RefUpdate], progress: Progress | None, *, dry_run: bool = False
) -> None:
    """Move branches of a remote, all or none, each only from where it was expected; else ``SourceMoved``.

    A dry run asks the remote for the right to push and sends nothing.
    """
    refuse_where_read_only("push")
    updates = tuple(updates)
    leases = [f"--force-with-lease={checked_ref_name(update.ref)}:{update.expected or ''}" for update in updates]
    refspecs = [f"{update.new or ''}:{update.ref}" for update in updates]
    # A server that speaks the dumb HTTP protocol refuses --atomic; one ref is atomic anyway.
    options = ["--atomic"] if len(updates) > 1 else []
    options += [_RECEIVE, "--porcelain", "--progress", "--no-verify", "--no-follow-tags", "--no-signed"]
    options += ["--dry-run"] if dry_run else []
    # What a push writes here, of branches that are tracked, a fetch would write again.
    git = git_ordering_ref_writes(remote.git, len(updates))
    # A clone that mirrors its remote (git clone --mirror) would push all refs, and git refuses to push some.
    git = (
        git if is_address(remote.name) else replace(git, extra=(*git.extra, (f"remote.{remote.name}.mirror", "false")))
    )
    run_with_progress(git, ("push", *options, *leases, "--", remote.name, *refspecs), progress)
