"""A sentence for every field of RunSettings, and the value that counts where one is left out."""

from collections.abc import Mapping

from .fields import Field

RUN_SETTINGS_FIELDS: Mapping[str, Field] = {
    "metadata.name": Field("A name for people; nothing depends on it.", "default"),
    "spec.fleets": Field("The fleets that are kept; without it, those that the command line names."),
    "spec.fleets[].repository": Field("A repository, its address, or a folder of repositories, each of them a fleet."),
    "spec.fleets[].name": Field(
        "The name of the fleet in log lines, metrics and addresses of webhooks; unset, the last part of its address."
    ),
    "spec.poll": Field(
        "The interval at which every source is looked at; unset, remotes that tell nobody of a push are asked every 30"
        " seconds."
    ),
    "spec.drift": Field("The interval at which members are looked at where nothing happened.", "5m"),
    "spec.bootstrap": Field("The first pass of a fleet is allowed: there is no rendered branch yet.", False),
    "spec.maxFleets": Field("The number of fleets that passes run over at once, up to 64.", 4),
    "spec.passTimeout": Field("The time after which a pass is killed.", "1h"),
    "spec.grace": Field("The time for which passes may go on after SIGTERM.", "25s"),
    "spec.webhook": Field("The public address, where signed webhooks wake fleets."),
    "spec.webhook.address": Field("The port, or the host and the port, such as `0.0.0.0:8080`."),
    "spec.webhook.secrets": Field("The secrets that webhooks are signed with."),
    "spec.webhook.secrets[].provider": Field("The sender of webhooks."),
    "spec.webhook.secrets[].file": Field("The file of the secret, which is read for every webhook."),
    "spec.inside": Field("The address of `/metrics`, `/healthz` and `/readyz`: a port, or a host and a port."),
    "spec.notifications": Field("The channels by which people are told once what changed."),
    "spec.notifications[].kind": Field("The form of a channel."),
    "spec.notifications[].file": Field("The file with the address of a channel, or with the token of a forge."),
    "spec.notifications[].context": Field("The context of the cluster that Events are written to (kind: events)."),
    "spec.notifications[].api": Field("The address of a forge's API; unset, the address of the source says so."),
    "spec.notifications[].project": Field("The project on a forge; unset, the address of the source says so."),
    "spec.lease": Field("The Lease of which only the holder runs passes, where there are several controllers."),
    "spec.lease.context": Field("The context of the cluster that has the Lease."),
    "spec.lease.namespace": Field("The namespace of the Lease.", "argosy-system"),
    "spec.lease.name": Field("The name of the Lease.", "argosy-run"),
    "spec.members": Field("The choice of members, and how they are reached, as options of the same names say it."),
    "spec.members.kubeconfig": Field("A file of contexts, one named like each cluster."),
    "spec.members.kubeconfigs": Field("A folder with one kubeconfig for each cluster."),
    "spec.members.inCluster": Field("The member that the controller runs in."),
    "spec.members.clusters": Field("The only members that are applied to; unset, all.", []),
    "spec.members.selector": Field("The labels of the members that are applied to, such as `env=prod,tier`."),
    "spec.members.maxParallel": Field("The number of members that are worked on at once, up to 512.", 32),
    "spec.members.timeout": Field("The time limit of each member.", "5m"),
    "spec.members.as": Field("The user that passes act as in members."),
    "spec.members.asGroups": Field("The groups that passes act as, with `as`.", []),
}
"""The fields of RunSettings."""
