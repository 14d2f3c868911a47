"""The schema of OverridePolicy and ClusterOverridePolicy."""

from render.admission.schema import Anything, Record, Sequence, Text
from render.admission.shared_schema import CLUSTER_AFFINITY, LABELS, RESOURCE_SELECTOR, TEXT, TEXTS

_OPERATOR = Text(choices=("add", "remove", "replace"))
_ADD_OR_REMOVE = Text(choices=("add", "remove"))


def _operations(pointer: str) -> Sequence:
    return Sequence(Record({f"{pointer}!": TEXT, "operator!": _OPERATOR, "value": Anything()}))


_COMMAND_ARGS = Sequence(Record({"containerName!": TEXT, "operator!": _ADD_OR_REMOVE, "value": TEXTS}))
_LABELS_ANNOTATIONS = Sequence(Record({"operator!": _OPERATOR, "value!": LABELS}))
_IMAGE = Record(
    {
        "predicate": Record({"path!": TEXT}),
        "component!": Text(choices=("Registry", "Repository", "Tag")),
        "operator!": _OPERATOR,
        "value": TEXT,
    }
)
_OVERRIDERS = Record(
    {
        "plaintext": _operations("path"),
        "imageOverrider": Sequence(_IMAGE),
        "commandOverrider": _COMMAND_ARGS,
        "argsOverrider": _COMMAND_ARGS,
        "labelsOverrider": _LABELS_ANNOTATIONS,
        "annotationsOverrider": _LABELS_ANNOTATIONS,
        "fieldOverrider": Sequence(
            Record({"fieldPath!": TEXT, "json": _operations("subPath"), "yaml": _operations("subPath")})
        ),
    }
)
OVERRIDE_SPEC = Record(
    {
        "resourceSelectors": Sequence(RESOURCE_SELECTOR),
        "overrideRules": Sequence(Record({"targetCluster": CLUSTER_AFFINITY, "overriders!": _OVERRIDERS})),
        "targetCluster": CLUSTER_AFFINITY,
        "overriders": _OVERRIDERS,
    }
)
