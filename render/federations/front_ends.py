"""The federations that fleets come from, and which of them documents are of."""

from collections.abc import Iterable

from render.model import Manifest

from .clusternet.front_end import CLUSTERNET
from .federation_v1.front_end import FEDERATION_V1
from .karmada.front_end import KARMADA
from .kubeadmiral.front_end import KUBEADMIRAL
from .kubefed.front_end import KUBEFED
from .kubesphere.front_end import KUBESPHERE
from .liqo.front_end import LIQO
from .units import FrontEnd

FRONT_ENDS: tuple[FrontEnd, ...] = (KUBESPHERE, KUBEFED, CLUSTERNET, LIQO, KUBEADMIRAL, FEDERATION_V1, KARMADA)
"""Every federation, by falling precedence where a document can be of several."""


def named(name: str) -> FrontEnd:
    """Return the federation of a name."""
    return next(each for each in FRONT_ENDS if each.name == name)


def found_in(manifests: Iterable[Manifest]) -> tuple[FrontEnd, ...]:
    """Return the federations that documents can be of no other than, each once.

    KubeSphere has KubeFed's documents beside its own, and Clusters of Karmada's tell of members of any.
    """
    found = {each for manifest in manifests for each in (_of(manifest),) if each is not None}
    if KUBESPHERE in found:
        found.discard(KUBEFED)
    if found - {KARMADA}:
        found.discard(KARMADA)
    return tuple(each for each in FRONT_ENDS if each in found)


def _of(manifest: Manifest) -> FrontEnd | None:
    return next((each for each in FRONT_ENDS if each.is_its(manifest)), None)
