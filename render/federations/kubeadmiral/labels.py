"""The labels by which plain objects name policies of KubeAdmiral."""

POLICY_LABELS = {
    "kubeadmiral.io/propagation-policy-name": "PropagationPolicy",
    "kubeadmiral.io/cluster-propagation-policy-name": "ClusterPropagationPolicy",
}
OVERRIDE_LABELS = {
    "kubeadmiral.io/cluster-override-policy-name": "ClusterOverridePolicy",
    "kubeadmiral.io/override-policy-name": "OverridePolicy",
}
