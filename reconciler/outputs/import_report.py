"""The document of ``argosy import``."""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, UnsetType, field

from .document import DocumentPart, OutputDocument, meaning_of_field, value_unless_empty
from .live_difference import LiveChangePart, live_change_part
from .parts import FailurePart, failure_part
from .validation import ProblemPart, problem_part

if TYPE_CHECKING:
    from reconciler.edit.importing import Import, Line
    from reconciler.passes.import_proof import ClusterProof, Proof


class ImportedPart(DocumentPart, frozen=True, kw_only=True):
    """A document of another federation, or an object of clusters, and one thing to say of it."""

    document: Annotated[str, meaning_of_field("Kind, namespace and name.")]
    origin: Annotated[str, meaning_of_field("The file and line that it stands in, or the clusters that have it.")] = (
        field(name="from")
    )
    grade: Annotated[
        str,
        meaning_of_field(
            "`exact`, `exact for now` (for the clusters and counts of today), `approximate` or `refused`."
        ),
    ]
    code: Annotated[str, meaning_of_field("A stable name of the reason, if there is one to give.")] | UnsetType = UNSET
    rule: Annotated[str, meaning_of_field("The rule of that federation which it is about.")] | UnsetType = UNSET
    message: Annotated[str, meaning_of_field("The reason in a sentence, and what to do.")] | UnsetType = UNSET


class ClusterProofPart(DocumentPart, frozen=True, kw_only=True):
    """A cluster, compared with what it would be given."""

    proven: Annotated[int, meaning_of_field("How many objects are taken over as they are.")]
    failure: Annotated[FailurePart, meaning_of_field("The reason why the cluster was not finished.")] | UnsetType = (
        UNSET
    )
    objects: Annotated[tuple[LiveChangePart, ...], meaning_of_field("The objects that are not as wanted.")]


class ProofPart(DocumentPart, frozen=True, kw_only=True):
    """The comparison of clusters with what the files give them."""

    proven: Annotated[
        bool, meaning_of_field("True if taking over every cluster that was looked at changes nothing in it.")
    ]
    problems: Annotated[
        tuple[str, ...], meaning_of_field("The reasons why the files cannot be rendered, or objects not be placed.")
    ]
    clusters: Mapping[str, ClusterProofPart]


class ImportReportDocument(OutputDocument, frozen=True, kw_only=True):
    """The report of an import."""

    kind = "ImportReport"
    about = "What became of the documents of another federation, or of what runs in clusters."
    printed_by = ("import",)

    system: Annotated[str, meaning_of_field("The federation that the documents are of, or `live clusters`.")]
    counts: Annotated[Mapping[str, int], meaning_of_field("How many lines there are of each grade.")]
    documents: Annotated[
        tuple[ImportedPart, ...], meaning_of_field("What became of each document, one reason a line: exact ones first.")
    ]
    files: Annotated[tuple[str, ...], meaning_of_field("The files that are written, or would be with `--output-dir`.")]
    warnings: Annotated[tuple[ProblemPart, ...], meaning_of_field("What `argosy validate` warns of in the files.")]
    others: Annotated[int, meaning_of_field("How many documents are of no other federation, and are left alone.")]
    failures: (
        Annotated[Mapping[str, FailurePart], meaning_of_field("The clusters that could not be read, with the reason.")]
        | UnsetType
    ) = UNSET
    proof: (
        Annotated[
            ProofPart,
            meaning_of_field(
                "Of clusters that were read: the comparison of what the files give them with what they hold."
            ),
        ]
        | UnsetType
    ) = UNSET


def import_document(result: "Import", proof: "Proof | None") -> ImportReportDocument:
    """Return the report of an import, and its proof if there is one, as a document."""
    from render.federations.units import Grade

    grades = Counter(line.grade for line in result.lines)
    failures = {name: failure_part(failure) for name, failure in result.failures.items()}
    return ImportReportDocument(
        system=result.system,
        counts={grade.value: grades[grade] for grade in Grade},
        documents=tuple(map(_imported_part, result.lines)),
        files=tuple(sorted(result.files)),
        warnings=tuple(map(problem_part, result.warnings)),
        others=result.others,
        failures=value_unless_empty(failures),
        proof=UNSET if proof is None else _proof_part(proof),
    )


def _imported_part(line: "Line") -> ImportedPart:
    return ImportedPart(
        document=line.subject,
        origin=line.origin,
        grade=line.grade.value,
        code=value_unless_empty(line.code),
        rule=value_unless_empty(line.rule),
        message=value_unless_empty(line.message),
    )


def _proof_part(proof: "Proof") -> ProofPart:
    return ProofPart(
        proven=proof.is_proven,
        problems=proof.problems,
        clusters={each.cluster: _cluster_proof_part(each) for each in proof.clusters},
    )


def _cluster_proof_part(proof: "ClusterProof") -> ClusterProofPart:
    failure = FailurePart(reason=proof.reason, message=proof.failure) if proof.failure else UNSET
    return ClusterProofPart(proven=proof.proven, failure=failure, objects=tuple(map(live_change_part, proof.different)))
