"""The federations that fleets come from: one folder a federation, and the table of all.

Each decides as the project does that it is about, oddities included, so that a fleet that comes from there keeps what
it has. ``argosy import``, the federations that are rendered where they stand, and the rules that reports name are made
of the table.
"""

from collections.abc import Iterable, Mapping

from render.model import Manifest

from .clusternet import CLUSTERNET
from .federation import Federation
from .federation_v1 import FEDERATION_V1
from .karmada import KARMADA
from .kubeadmiral import KUBEADMIRAL
from .kubefed import KUBEFED
from .kubesphere import KUBESPHERE
from .liqo import LIQO

# By falling precedence where a document can be of several.
FEDERATIONS: tuple[Federation, ...] = (
    KUBEFED,
    KUBESPHERE,
    CLUSTERNET,
    LIQO,
    KUBEADMIRAL,
    FEDERATION_V1,
    KARMADA,
)
RULE_BY_CODE: Mapping[str, str] = {code: rule for each in FEDERATIONS for code, rule in each.rules.items()}
"""The rule by the code of a remark; codes that are about no rule of one federation are not there."""


def federation_named(name: str) -> Federation:
    """Return the federation of a name."""
    return next(each for each in FEDERATIONS if each.name == name)


def federations_found_in(manifests: Iterable[Manifest]) -> tuple[Federation, ...]:
    """Return the federations that documents can be of no other than, each once.

    Those that stand beside another federation's documents, as KubeFed's do in KubeSphere, are not found for themselves.
    """
    names = {_federation_name_of_manifest(manifest) for manifest in manifests}
    found = [each for each in FEDERATIONS if each.name in names]
    included = {each.includes for each in found}
    found = [each for each in found if each.name not in included]
    return tuple(each for each in found if len(found) == 1 or not each.is_beside_any)


def _federation_name_of_manifest(manifest: Manifest) -> str:
    return next((each.name for each in FEDERATIONS if each.is_its(manifest)), "")
