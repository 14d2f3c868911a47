#!/bin/sh
# Make or delete three clusters on this machine: clusters.sh up|down [kind|k3d].
#
# They get the contexts berlin, oregon and paris, in the file that KUBECONFIG names and in no other.
set -eu

usage() {
    echo "usage: KUBECONFIG=FILE $0 up|down [kind|k3d]" >&2
    exit 2
}

action=${1:-}
tool=${2:-kind}
case "$action" in up | down) ;; *) usage ;; esac
case "$tool" in kind | k3d) ;; *) usage ;; esac
: "${KUBECONFIG:?names the file that the contexts go to: export KUBECONFIG=\$PWD/fleet.kubeconfig}"

for name in berlin oregon paris; do
    case "$action $tool" in
    "up kind")
        kind create cluster --name "$name" --kubeconfig "$KUBECONFIG"
        kubectl config rename-context "kind-$name" "$name"
        ;;
    "up k3d")
        k3d cluster create "$name" --kubeconfig-update-default=false
        k3d kubeconfig merge "$name" --output "$KUBECONFIG"
        kubectl config rename-context "k3d-$name" "$name"
        ;;
    "down kind") kind delete cluster --name "$name" --kubeconfig "$KUBECONFIG" ;;
    "down k3d") k3d cluster delete "$name" ;;
    esac
done
if [ "$action" = down ]; then rm -f "$KUBECONFIG"; fi
