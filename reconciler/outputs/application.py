"""The document of ``argosy apply``."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated

from .apply_reports import ClusterReportPart, report_parts
from .document import OutputDocument, meaning_of_field
from .parts import Rendered

if TYPE_CHECKING:
    from reconciler.deliver.results import ClusterReport


class ApplicationDocument(OutputDocument, frozen=True, kw_only=True):
    """A rendered commit, applied."""

    kind = "Application"
    about = "What applying a commit did."
    printed_by = ("apply",)

    rendered: Rendered
    clusters: Annotated[Mapping[str, ClusterReportPart], meaning_of_field("For each cluster: what was done in it.")]


def application_document(commit: str, reports: Iterable["ClusterReport"]) -> ApplicationDocument:
    """Return the reports of clusters that a commit was applied to as a document."""
    return ApplicationDocument(rendered=commit, clusters=report_parts(reports))
