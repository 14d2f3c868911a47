"""Sources resolved to versions, and locked content fetched again: the only part of this floor that uses the network."""

import hashlib
import time
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from reconciler.repository import Repository
from reconciler.repository.command import GitCommand
from render.boundary import REPORT_IT, result_or_substitute, words_of_unexpected_error
from render.errors import GitError
from render.values import DiscreetStruct

from .content import MOST_BYTES, Files, checked_files, content_digest
from .credentials import read_credentials
from .download import SECONDS, Downloads, url_for_messages
from .git_repository import commit_files, git_command_for_address, resolved_commit
from .helm_repository import chart_files, resolved_chart
from .lock_file import check_fetchable, is_parsable_address
from .model import ExternalSource, LockedSource, SourceType, UnavailableSource, file_name_of_address
from .oci_registry import artifact_files, resolved_artifact
from .store import ContentStore, content_store


class Fetcher(DiscreetStruct, frozen=True, kw_only=True):
    """The means to fetch content: git, downloads with credentials, and the cache that keeps what came."""

    UNSHOWN = ("git",)

    git: GitCommand
    downloads: Downloads
    store: ContentStore

    @classmethod
    def of(cls, repository: Repository, environment: Mapping[str, str], credentials: str = "") -> "Fetcher":
        """Return the means of a repository; ``credentials`` names their file."""
        known = read_credentials(environment, credentials)
        # Nothing of this repository's configuration counts for another one.
        git = replace(repository.git, folder=Path("/"), extra=())
        return cls(git=git, downloads=Downloads(known), store=content_store(repository))

    def resolved(self, source: ExternalSource) -> LockedSource:
        """Resolve a Source to one version and fetch its files; UnavailableSource where that is not possible."""
        if not is_parsable_address(source.place["url"]):
            raise UnavailableSource(f"{source.title} names no address that can be read", hint="check its url")
        resolved = self._version(source)
        files = self._files(source, resolved)
        digest = self.store.put(files)
        return LockedSource(name=source.name, spec=source.spec, resolved=resolved, content=digest)

    def files(self, locked: LockedSource) -> Files:
        """Return the files of exactly what is locked, from the cache or fetched; others are refused."""
        known = self.store.files(locked.content)
        if known is not None:
            return known
        check_fetchable(locked)
        files = self._files(ExternalSource(name=locked.name, spec=locked.spec), locked.resolved)
        if content_digest(files) != locked.content:
            raise UnavailableSource(
                f"the content of Source {locked.name!r} ({locked.version}) does not match argosy.lock",
                hint=f"somebody replaced it; if that is right, argosy lock --update {locked.name}",
            )
        self.store.put(files)
        return files

    def _version(self, source: ExternalSource) -> Mapping[str, str]:
        downloads = self.downloads.within(SECONDS)
        match source.type:
            case SourceType.GIT:
                return resolved_commit(source, self._git_for(source))
            case SourceType.OCI:
                return resolved_artifact(source, downloads)
            case SourceType.HELM:
                return resolved_chart(source, downloads)
            case SourceType.HTTP:
                return _resolved_digest_of_file(source, downloads)

    def _files(self, source: ExternalSource, resolved: Mapping[str, str]) -> Files:
        url, downloads = source.place["url"], self.downloads.within(SECONDS)
        match source.type:
            case SourceType.GIT:
                return commit_files(url, resolved, self._git_for(source), source.folder)
            case SourceType.OCI:
                return _files_below(artifact_files(url, resolved, downloads), source)
            case SourceType.HELM:
                return _files_below(chart_files(resolved, downloads), source)
            case SourceType.HTTP:
                return _files_below(_files_of_single_download(url, resolved, downloads), source)

    def _git_for(self, source: ExternalSource) -> GitCommand:
        return git_command_for_address(self.git, source.place["url"], self.downloads.credentials)


def fetch_missing(
    fetcher: Fetcher, locked: Iterable[LockedSource], sources: Iterable[ExternalSource] = ()
) -> tuple[UnavailableSource, ...]:
    """Fetch the content that is neither vendored nor in the cache; return what could not be had.

    ``sources`` are known to explain that. What cannot be had has some time together, so that a server that holds each
    request up does not hold up all that wait for this.
    """
    refused, known, wasted = [], {source.name: source for source in sources}, 0.0
    for each in locked:
        if each.vendored or fetcher.store.has(each.content):
            continue
        begun = time.monotonic()
        refuse = _refusal_of_late_source if wasted > SECONDS else partial(_reason_content_is_unavailable, fetcher)
        error = result_or_substitute(partial(refuse, each), partial(_refusal_by_unexpected_error, each))
        if error is not None:
            wasted += time.monotonic() - begun
            refused.append(known[each.name].explained_error(error) if each.name in known else error)
    return tuple(refused)


def _refusal_of_late_source(locked: LockedSource) -> UnavailableSource:
    """Return the refusal of a Source for which no time is left."""
    return UnavailableSource(
        f"Source {locked.name!r} was not asked for: no time is left, for other Sources took it and could not be had",
        hint="see to the others, or keep the content in the repository: argosy vendor",
    )


def _reason_content_is_unavailable(fetcher: Fetcher, locked: LockedSource) -> UnavailableSource | None:
    """Fetch what is locked; return why it cannot be had. What git refuses is no more than that, too."""
    try:
        fetcher.files(locked)
    except UnavailableSource as error:
        return error
    except GitError as error:
        return UnavailableSource(f"Source {locked.name!r} cannot be had: {error.message}", hint=error.hint)
    return None


def _refusal_by_unexpected_error(locked: LockedSource, error: Exception) -> UnavailableSource:
    """Return the refusal of a Source that led to an error nobody thought of, which ends nothing else."""
    return UnavailableSource(
        f"Source {locked.name!r} cannot be had: {words_of_unexpected_error(error)}", hint=REPORT_IT
    )


def _resolved_digest_of_file(source: ExternalSource, downloads: Downloads) -> Mapping[str, str]:
    """Return the digest of a file: the one that the Source asks for, or that it has now."""
    url, digest = source.place["url"], source.place.get("digest", "")
    return {"digest": digest or _digest_of_data(downloads.get(url, most_bytes=MOST_BYTES).content)}


def _files_of_single_download(url: str, resolved: Mapping[str, str], downloads: Downloads) -> Files:
    """Return exactly the file that was locked, under the name that it has at its address."""
    data = downloads.get(url, most_bytes=MOST_BYTES).content
    if _digest_of_data(data) != resolved["digest"]:
        raise UnavailableSource(f"{url_for_messages(url)} does not match its locked digest {resolved['digest'][:19]}")
    return checked_files({file_name_of_address(url): data}, url_for_messages(url))


def _digest_of_data(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _files_below(files: Files, source: ExternalSource) -> Files:
    """Return the files below the folder that a Source means."""
    base = f"{source.folder}/" if source.folder else ""
    found = {path.removeprefix(base): content for path, content in files.items() if path.startswith(base)}
    if not found:
        raise UnavailableSource(f"Source {source.name!r} has no folder {source.folder!r}")
    return found
