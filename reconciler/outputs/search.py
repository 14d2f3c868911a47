"""The document of ``argosy search``."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, UnsetType

from .document import DocumentPart, OutputDocument, meaning_of_field, value_unless_empty
from .parts import Rendered, StateWord
from .survey_parts import RecordedAt, SourceOfRendered, commit_fields

if TYPE_CHECKING:
    from reconciler.survey.searching import Searched, SearchResult
    from reconciler.survey.surveying import Survey


class FoundPart(DocumentPart, frozen=True, kw_only=True):
    """Something in which all words were found."""

    name: Annotated[
        str, meaning_of_field("What it is called: an object, a policy, a commit, or the file and line of a warning.")
    ]
    about: Annotated[str, meaning_of_field("What it is, or what is wrong, in a few words.")] | UnsetType = UNSET
    state: StateWord | UnsetType = UNSET


class FoundKindPart(DocumentPart, frozen=True, kw_only=True):
    """The findings of one kind."""

    kind: Annotated[
        str, meaning_of_field("`Object`, `Cluster`, `Policy`, `Namespace`, `Commit` (of the source) or `Problem`.")
    ]
    total: Annotated[int, meaning_of_field("How many there are, with those that are not listed.")]
    found: Annotated[tuple[FoundPart, ...], meaning_of_field("The best of them first; commits the newest first.")]


class SearchDocument(OutputDocument, frozen=True, kw_only=True):
    """The outcome of a search."""

    kind = "Search"
    about = "What some words are found in: objects, clusters, policies, namespaces, commits and problems."
    printed_by = ("search",)

    rendered: Rendered
    source: SourceOfRendered
    recorded_at: RecordedAt | UnsetType = UNSET
    words: Annotated[tuple[str, ...], meaning_of_field("The words that were asked for.")]
    commits_searched: Annotated[int, meaning_of_field("How many commits of the source were looked through.")]
    kinds: Annotated[tuple[FoundKindPart, ...], meaning_of_field("What was found, by kind.")]


def search_document(
    survey: "Survey", words: Sequence[str], commits: int, results: "Iterable[SearchResult]"
) -> SearchDocument:
    """Return what was found as a document."""
    return SearchDocument(
        **commit_fields(survey.branches),
        words=tuple(words),
        commits_searched=commits,
        kinds=tuple(
            FoundKindPart(kind=str(each.kind), total=each.total, found=tuple(map(_found_part, each.best)))
            for each in results
        ),
    )


def _found_part(each: "Searched") -> FoundPart:
    return FoundPart(
        name=each.name,
        about=value_unless_empty(each.about),
        state=UNSET if each.state is None else str(each.state),
    )
