"""Other Git repositories: a version resolved, and the files of a commit fetched into a repository of a moment."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from reconciler.repository import GitFolder, RemoteTips, Repository
from reconciler.repository.command import GitCommand
from reconciler.repository.location import checked_address
from reconciler.repository.refs import checked_ref_name
from reconciler.repository.remotes import list_remote_refs, resolve_remote
from render.errors import GitError
from render.versions import newest_version_in_range

from .content import MOST_BYTES, MOST_FILES, Files, checked_files, fault_of_content_path
from .credentials import Credentials
from .download import url_for_messages
from .lock_file import COMMIT
from .model import CREDENTIALS, ExternalSource, UnavailableSource

_FETCH = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--upload-pack=git-upload-pack")
_FETCHED = "refs/fetched/wanted"
_LONG_ID = 64
_PLAIN = {0o100644, 0o100755}
_LOGIN = f"if it needs a login: {CREDENTIALS}, or from git itself"
_HEAD = "HEAD"
_HEADS, _TAGS = "refs/heads/", "refs/tags/"


def git_command_for_address(git: GitCommand, url: str, credentials: Credentials) -> GitCommand:
    """Return the command for an address: with its host's credentials, which then follow no redirect."""
    header = credentials.of(url) if url.startswith("https://") else None
    if header is None:
        return git
    extra = ((f"http.{url}.extraHeader", f"Authorization: {header}"), ("http.followRedirects", "false"))
    return replace(git, extra=(*git.extra, *extra))


def resolved_commit(source: ExternalSource, git: GitCommand) -> Mapping[str, str]:
    """Return the commit that a Source means, with the tag or branch it was found by."""
    place = source.place
    url = checked_address(place["url"])
    if revision := place.get("revision"):
        return {"commit": revision}
    offered = _tips_of_remote(git, url)
    ref = _wanted_ref(place, offered, url)
    if ref.startswith(_HEADS):
        return {"commit": offered.tips[ref], "branch": ref.removeprefix(_HEADS)}
    found = {"tag": ref.removeprefix(_TAGS)} if ref.startswith(_TAGS) else {"ref": ref}
    with _fetched_repository(git, url, ref, length=len(offered.tips[ref])) as repository:
        return {"commit": repository.resolve(_FETCHED), **found}


def commit_files(url: str, resolved: Mapping[str, str], git: GitCommand, folder: str) -> Files:
    """Return the plain files of a commit below a folder; links and submodules are left out."""
    commit, base = resolved["commit"], f"{folder}/" if folder else ""
    if not COMMIT.fullmatch(commit):
        raise UnavailableSource(f"{_url_for_messages(url)} is to be read at what is no commit in full")
    named = resolved.get("ref", "")
    with _fetched_repository(git, checked_address(url), commit, length=len(commit), named=named) as repository:
        found = [file for file in repository.snapshot(commit).files if file.path.startswith(base)]
        plain = [file for file in found if file.mode in _PLAIN and not fault_of_content_path(file.path)]
        if len(plain) > MOST_FILES or sum(file.size for file in plain) > MOST_BYTES:
            hint = "write a Source of it with a path: only what is below that is taken"
            raise UnavailableSource(
                f"{_url_for_messages(url)} has more than {MOST_FILES} files or {MOST_BYTES} bytes", hint=hint
            )
        contents = repository.read_blobs(file.id for file in plain)
    return checked_files({file.path.removeprefix(base): contents[file.id] for file in plain}, _url_for_messages(url))


def _tips_of_remote(git: GitCommand, url: str) -> RemoteTips:
    try:
        return list_remote_refs(resolve_remote(git, url))
    except GitError as error:
        message, hint = f"{_url_for_messages(url)} cannot be read: {error.message}", error.hint or _LOGIN
        raise UnavailableSource(message, hint=hint, is_denied=True) from error


def _wanted_ref(place: Mapping[str, str], offered: RemoteTips, url: str) -> str:
    """Return the ref that a Source means; UnavailableSource where the remote has none."""
    if wanted := place.get("semver"):
        tags = [ref.removeprefix(_TAGS) for ref in offered.tips if ref.startswith(_TAGS)]
        found = newest_version_in_range(tags, wanted)
        ref, what = f"{_TAGS}{found}", f"tag in {wanted!r}"
    elif tag := place.get("tag"):
        ref, what = f"{_TAGS}{tag}", f"tag {tag!r}"
    elif (name := place.get("ref") or _HEAD) != _HEAD:
        known = [ref for ref in (name, f"{_TAGS}{name}", f"{_HEADS}{name}") if ref in offered.tips]
        ref, what = (known or [name])[0], f"ref {name!r}"
    elif branch := place.get("branch"):
        ref, what = f"{_HEADS}{branch}", f"branch {branch!r}"
    else:
        ref, what = offered.head, "branch that HEAD names"
    if ref not in offered.tips:
        raise UnavailableSource(f"{_url_for_messages(url)} has no {what}")
    return ref


@contextmanager
def _fetched_repository(
    git: GitCommand, url: str, wanted: str, *, length: int, named: str = ""
) -> Iterator[Repository]:
    """Fetch a ref, or a commit by its id, into a bare repository that is removed at the end.

    ``named`` is the ref that the commit was found by, where that is no branch and no tag.
    """
    for ref in (named, "" if COMMIT.fullmatch(wanted) else wanted):
        if ref not in {"", _HEAD}:
            checked_ref_name(ref)
    with tempfile.TemporaryDirectory(prefix="argosy-") as folder:
        path = Path(folder)
        algorithm = "sha256" if length == _LONG_ID else "sha1"
        inside = replace(git, folder=path)
        inside.run("init", "--bare", "--quiet", "--template=", f"--object-format={algorithm}", "--", folder)
        try:
            inside.run(*_FETCH, "--depth=1", "--", url, f"+{wanted}:{_FETCHED}", network=True)
        except GitError as error:
            if wanted.startswith("refs/"):
                raise UnavailableSource(f"{_url_for_messages(url)} cannot be fetched: {error.message}") from error
            _fetch_all_branches_and_tags(inside, url, wanted, named)
        yield Repository(GitFolder(git_dir=path, common_dir=path), inside)


def _fetch_all_branches_and_tags(git: GitCommand, url: str, commit: str, named: str) -> None:
    """Fetch every branch and tag of a server that hands out no commit by its id, and a ref that is neither."""
    refs = [f"+{_HEADS}*:refs/fetched/heads/*", f"+{_TAGS}*:refs/fetched/tags/*"]
    try:
        git.run(*_FETCH, "--", url, *refs, *([f"+{named}:{_FETCHED}"] if named else []), network=True)
        git.run("cat-file", "-e", "--end-of-options", f"{commit}^{{commit}}")
    except GitError as error:
        raise UnavailableSource(
            f"{_url_for_messages(url)} does not have commit {commit[:12]}: {error.message}"
        ) from error


def _url_for_messages(url: str) -> str:
    return url_for_messages(url) if "://" in url else url
