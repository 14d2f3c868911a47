"""The kinds Kubernetes itself defines, one module per family."""

from collections.abc import Mapping

from render.interpretation.operations import Interpretation

from . import batch, network, pods, scaling, storage, workloads

NATIVE: Mapping[tuple[str, str], Interpretation] = {
    **workloads.KINDS,
    **batch.KINDS,
    **pods.KINDS,
    **storage.KINDS,
    **network.KINDS,
    **scaling.KINDS,
}
"""The interpretation of each built-in kind, by apiVersion and kind."""
