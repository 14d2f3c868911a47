"""KubeAdmiral, which comes from KubeFed: plain objects, policies that they name, and a planner that avoids moves."""

from render.federations.federation import Federation, predicate_of_group_endings
from render.model import Manifest

from .labels import POLICY_LABELS


def _names_a_policy(manifest: Manifest) -> bool:
    metadata = manifest.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, dict) else None
    return isinstance(labels, dict) and not POLICY_LABELS.keys().isdisjoint(labels)


KUBEADMIRAL = Federation(
    name="kubeadmiral",
    title="KubeAdmiral",
    about="plain objects that name a policy, and these policies",
    is_of_type=predicate_of_group_endings(".kubeadmiral.io"),
    is_marked=_names_a_policy,
    rules={},
)
