"""The output of checks: of the source, of policies, of commits, of the repository."""

from reconciler.reference.shapes import mapping, records, text, texts, whole

IMPORT = {
    "system": text("The federation that the documents are of, or `live clusters`."),
    "counts": mapping(whole(), "How many lines there are of each grade."),
    "documents": records(
        {
            "document": text("Kind, namespace and name."),
            "from": text("The file and line that it stands in, or the clusters that have it."),
            "grade": text(
                "`exact`, `exact for now` (for the clusters and counts of today), `approximate` or `refused`."
            ),
            "code?": text("A stable name of the reason, if there is one to give."),
            "rule?": text("The rule of that federation which it is about."),
            "message?": text("The reason in a sentence, and what to do."),
        },
        "What became of each document, one reason a line: exact ones first.",
    ),
    "files": texts("The files that are written, or would be with `--output-dir`."),
    "others": whole("How many documents are of no other federation, and are left alone."),
}
