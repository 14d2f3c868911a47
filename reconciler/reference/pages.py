"""The topics of ``argosy help``, as data: tables of names, each with a whole sentence or two."""

from typing import NamedTuple

from msgspec import Struct


class Entry(NamedTuple):
    """A name and what it means; words in backquotes are typed as they stand."""

    name: str
    about: str


class TopicSection(Struct, frozen=True, kw_only=True):
    """A table of entries below a title, with a paragraph before it."""

    title: str = ""
    before: str = ""
    entries: tuple[Entry, ...] = ()


ANNOTATIONS = (
    TopicSection(
        title="In resource templates",
        before="You write these in your own objects. They are annotations unless a line says otherwise.",
        entries=(
            Entry("argosy.dev/prune", '`"false"`: the object is never deleted, also when it leaves the source.'),
            Entry(
                "argosy.dev/recreate",
                '`"true"`: if a field that cannot change has changed, the object is deleted and created again. This is'
                " for ConfigMap, Secret, Deployment, StatefulSet, Job, Pod, RoleBinding and ClusterRoleBinding; a"
                " StatefulSet leaves its pods running, a Job or a Pod runs again from the beginning.",
            ),
            Entry(
                "argosy.dev/ignore-fields",
                "Fields, such as `.spec.replicas, .data.size`, that are set when the object is created and never"
                " afterwards. They are separated by commas or spaces, and written as `path` in `fieldRules` of"
                " argosy.yaml, which say it for many objects.",
            ),
            Entry("argosy.dev/yield-fields", "Fields that any other manager keeps once it owns them."),
            Entry("argosy.dev/own-fields", "Fields that are always as committed, whoever writes them."),
            Entry(
                "argosy.dev/owner",
                "Whoever is to be asked about the object, or about all in a Namespace: `argosy overview` names them"
                " beside what is unwell. A label of that name, or one `owner` or `team`, says the same.",
            ),
            Entry("helm.sh/resource-policy", '`keep`: the same as `argosy.dev/prune: "false"`.'),
            Entry(
                "work.karmada.io/conflict-resolution",
                "`overwrite` or `abort`: whether an object that is in the cluster already may be taken over. It counts"
                " more than `conflictResolution` of the policy.",
            ),
            Entry(
                "resourcetemplate.karmada.io/retain-replicas",
                'A label. `"true"`: the number of replicas stays as the cluster has it.',
            ),
            Entry(
                "namespace.karmada.io/skip-auto-propagation",
                'A label of a Namespace. `"true"`: it is not propagated with the objects in it.',
            ),
            Entry(
                "resourcetemplate.karmada.io/claimed-by",
                "A label. Something else distributes the object, so no policy does.",
            ),
            Entry(
                "resourcetemplate.karmada.io/deletion-protected",
                "A label, also of policies, Clusters and whatever else is in the source. `Always`: the guard refuses,"
                " with exit code 6, that the object leaves the source or a cluster, unless a commit names it"
                " (`Argosy-Allow-Removal`). That of a Namespace protects nothing in it.",
            ),
        ),
    ),
    TopicSection(
        title="In Clusters of the source",
        entries=(
            Entry(
                "argosy.dev/drain",
                "A taint. `argosy cluster drain` sets it, and everything leaves the cluster that another one takes."
                " With the value `allow-unplaced`, which `--allow-unplaced` writes, all else leaves, too.",
            ),
            Entry(
                "cluster.karmada.io/unschedulable",
                "A taint. `argosy cluster cordon` sets it, and nothing is placed there that is not there yet. A"
                " workload that is there may get more of its replicas there.",
            ),
            Entry(
                "argosy.dev/renamed-from",
                "The names that the cluster had before, separated by commas, the last one last. `argosy cluster rename`"
                " sets it. What the previous commit, the facts and the status branch record under such a name is read"
                " as recorded of this cluster, unless they know it by its own name already: by a folder, or, once it"
                " is emptied, by its facts. What they still have of a former name beside its own is left out of the"
                " next commit. So it may stay when the"
                " rename is done; a name in it that another cluster of the source has is a problem.",
            ),
        ),
    ),
    TopicSection(
        title="In what Argosy writes",
        before="You read these; you do not write them.",
        entries=(
            Entry(
                "argosy.dev/template-digest",
                "In bindings: the content of the template when a policy with `activationPreference: Lazy` last took"
                " effect.",
            ),
            Entry(
                "argosy.dev/rebalanced-by",
                "In bindings: the WorkloadRebalancers of the source that were answered, each once, and the"
                " RollbackRequests, each with the rendered commit that it names.",
            ),
            Entry(
                "argosy.dev/completions",
                "In bindings: the completions of a Job, and those of each cluster in which it has begun, where they"
                " cannot change any more.",
            ),
            Entry(
                "argosy.dev/undivided",
                "In bindings: the replicas that each cluster keeps of an object which was placed before anything told"
                " how many it has, and whether only members define it. They are divided as soon as their number, the"
                " placement of the policy or a definition in the source asks for it, or `argosy rebalance` does.",
            ),
            Entry(
                "argosy.dev/replicas-at",
                "In bindings: where the replicas of an object stand by definitions that only members have. Where these"
                " say otherwise, the object stays as it is until the source has a definition.",
            ),
            Entry("argosy.dev/applied", "In clusters of the status branch: the rendered commit that was last applied."),
            Entry("argosy.dev/outcome", "In clusters of the status branch: how the last pass over the cluster ended."),
            Entry("argosy.dev/outcome-since", "In clusters of the status branch: since when passes end so."),
            Entry("argosy.dev/outcome-message", "In clusters of the status branch: why the last pass ended so."),
            Entry("argosy.dev/outcome-hint", "In clusters of the status branch: what to do about it."),
            Entry(
                "argosy.dev/failing-since", "In clusters of the status branch: since when the cluster does not answer."
            ),
            Entry("argosy.dev/clock", "In clusters of an agent's branch: by how much the agent's clock is wrong."),
            Entry(
                "argosy.dev/unseen-hint",
                "In clusters of the status branch: what to do about the reason why passes do not see the cluster.",
            ),
            Entry("argosy.dev/check", "A label of Jobs of checks: a digest of the rollout and the check."),
            Entry("argosy.dev/rollout", "On Jobs of checks: the rollout that asks."),
            Entry("argosy.dev/change", "On Jobs of checks: the digest of the change that goes out."),
            Entry("argosy.dev/agent", "A label of everything that an agent consists of: its cluster."),
            Entry("argosy.dev/heartbeat", "In clusters of an agent's branch: when the agent last looked."),
            Entry(
                "argosy.dev/refused",
                "In clusters of an agent's and the status branch: why the agent refuses what its mirror has now.",
            ),
            Entry("argosy.dev/refused-hint", "In clusters of an agent's and the status branch: what to do about that."),
            Entry(
                "argosy.dev/deployer",
                "In clusters of the status branch: the tool that reported all this, such as `Flux`.",
            ),
            Entry(
                "argosy.dev/member",
                "On an ApplySet's parent: the member that its cluster is. A cluster whose inventory was lost is known"
                " again by it.",
            ),
            Entry(
                "argosy.dev/rendered",
                "On an ApplySet's parent: the rendered commit that something was last written for. One that does not"
                " follow it is refused.",
            ),
            Entry("argosy.dev/cluster", "A label of Kustomizations and Applications of `argosy emit`: the cluster."),
            Entry(
                "argosy.dev/stage",
                "A label of Applications of `argosy emit argocd`: which part of the cluster's folder it applies.",
            ),
            Entry(
                "applyset.kubernetes.io/part-of",
                "A label of every object that Argosy applied to a member: the fleet's ApplySet. Its parent is the"
                " ConfigMap `argosy-<fleet>-<root>` in the namespace `argosy-system`, where the root is the beginning"
                " of the id of the rendered branch's first commit. The field manager has the same name.",
            ),
        ),
    ),
)

ENVIRONMENT = (
    TopicSection(
        before="Nothing in the environment changes a rendered byte.",
        entries=(
            Entry(
                "ARGOSY_AUTHOR_NAME",
                "The author of the commits that Argosy makes; without it, `GIT_AUTHOR_NAME`, or git's `user.name`.",
            ),
            Entry(
                "ARGOSY_AUTHOR_EMAIL", "The author's address; without it, `GIT_AUTHOR_EMAIL`, or git's `user.email`."
            ),
            Entry("ARGOSY_SIGN_KEY", "The SSH key that signs commits of mirrors, of the status and of agents."),
            Entry("ARGOSY_GIT_TIMEOUT", "How many seconds one fetch or push may take."),
            Entry(
                "ARGOSY_READ_ONLY",
                "Any value: nothing is written to the repository, no cache is kept, and what would write is refused.",
            ),
            Entry(
                "ARGOSY_CLONE_PROGRAMS",
                "`off`: git runs no program that the clone's own configuration names (`core.sshCommand`,"
                " `gpg.program` and its like, `credential.helper`), but what the user's and the machine's say.",
            ),
            Entry("ARGOSY_CREDENTIALS", "The file of names and passwords for the hosts of Sources."),
            Entry("SOPS_AGE_KEY_FILE, SOPS_AGE_KEY", "The age keys that decrypt what SOPS encrypted, as for `sops`."),
            Entry("GNUPGHOME", "The keyring of PGP for the same; without it, `~/.gnupg`."),
            Entry("ARGOSY_FORGE_TOKEN_FILE", "The file of the token that pull requests are opened with."),
            Entry("ARGOSY_FORGE_API", "The address of the forge's API; without it, the remote's address says so."),
            Entry("ARGOSY_FORGE_PROJECT", "The project on the forge; without it, the remote's address says so."),
            Entry("KUBECONFIG", "The kubeconfigs that name the members' contexts; without it, `~/.kube/config`."),
            Entry("HTTPS_PROXY, HTTP_PROXY, ALL_PROXY", "The proxy to members, unless their kubeconfig names one."),
            Entry("NO_PROXY", "The members that are reached without a proxy of the environment."),
            Entry("XDG_CACHE_HOME", "The folder of the mirrors of repositories named by address; else `~/.cache`."),
            Entry("NO_COLOR", "Any value switches colours off; states keep their shapes on a terminal."),
            Entry(
                "CLICOLOR, CLICOLOR_FORCE",
                "`CLICOLOR=0` switches colours off as well; `CLICOLOR_FORCE=1` asks for colours and marks in a pipe,"
                " with lines as long as COLUMNS says.",
            ),
            Entry("TERM", "On `dumb`, output is as plain as in a pipe, and nothing is written over."),
            Entry("COLUMNS, LINES", "The size of a terminal that does not tell its own."),
            Entry(
                "GIT_*",
                "git runs without these variables, except for those about ssh, certificates and configuration files.",
            ),
        ),
    ),
)

FILES = (
    TopicSection(
        before="A fleet is the folder of an argosy.yaml, or the whole repository where there is none. Kinds are"
        " recognised by `apiVersion` and `kind`, never by folder.",
        entries=(
            Entry("*.yaml, *.yml, *.json", "These files are read, up to 8 MiB each."),
            Entry("*_test.yaml", "PolicyTests stand in such files by custom; any other file will do."),
            Entry("argosy.lock", "The exact versions of the Sources, written by `argosy lock` beside argosy.yaml."),
            Entry("vendor/<name>", "The content of a Source, written by `argosy vendor`; it holds no templates."),
            Entry(".argosyignore", "The files that are not read, in gitignore syntax, as in `spec.source.ignore`."),
            Entry("A file without apiVersion and kind", "It is skipped and counted."),
            Entry("A document without them beside others that have them", "It is a problem."),
            Entry(
                "A configuration file of a tool",
                "It is skipped: a kubeconfig, a file for kind or kubeadm, and so on. A warning names one with"
                " credentials.",
            ),
            Entry("A file with templates in {{ }}", "It is not read, and a warning says so."),
            Entry(
                "A repository of nothing but charts, templates or files in other languages",
                "Nothing of it is read, which `argosy init`, `argosy validate` and passes say; their exit code is 1.",
            ),
            Entry("A list", "A kind that ends in `List` and has `items` is read as its items."),
            Entry("A folder whose name begins with a dot", "It is not read."),
            Entry("A folder with another argosy.yaml", "It is another fleet, and is left alone."),
            Entry(
                "A folder with kustomization.yaml",
                "It is built by kustomize, unless another kustomization of the repository refers to it, and its objects"
                " are templates. What it reads is no manifest of its own; a file in it that it does not list is not"
                " read, and a warning says so where that holds manifests.",
            ),
            Entry(
                "A folder with Chart.yaml",
                "It is rendered where a HelmChart names it, and otherwise not read, which a warning says. At the root"
                " of a fleet it hides nothing else. `argosy init --charts` writes a HelmChart for each chart.",
            ),
            Entry("A symbolic link, a submodule, a Git LFS pointer", "It is never followed, and a warning says so."),
            Entry("A document that SOPS encrypted", "It is carried byte for byte, and only decrypted to be applied."),
            Entry("A file that SOPS encrypted as a whole", "It is not read, and a warning says so."),
            Entry(
                "A list, or several documents of one file, that SOPS encrypted together",
                "It is a broken file, as its objects could not be decrypted one by one.",
            ),
            Entry(
                "An object or a file that SOPS encrypted, and that others are made of",
                "What would be made of it is broken like a file, and that of a HelmChart a problem: only what is"
                " delivered as it stands is decrypted.",
            ),
            Entry(
                "A broken file",
                "It is a problem if objects were rendered from it, or if it broke since the last rendered commit."
                " Otherwise it is left out, with a warning, and the exit code is 1 (that of `argosy validate`: 3);"
                " `spec.source.strict` makes it a problem.",
            ),
            Entry(
                "An object that an API server would refuse, or one of a kind of unknown scope",
                "It is never delivered, and every command goes by that. As long as it was not delivered before, it is"
                " left out and named, the exit code is 1, and that of `argosy validate` is 3. Once it was delivered, a"
                " change that makes it so stops the pass with 3. Ciphertext of SOPS where a value is needed, and a"
                " variable that nothing sets, are treated alike. In a source without policies this is only a warning.",
            ),
            Entry(
                "An object that stands in more than one place",
                "Equal copies are one object. Of others none is used, as nothing says which is meant: each is named,"
                " and the exit code is 1. What a kustomization builds is used where files contradict each other."
                " `argosy init` chooses whole folders and leaves the others out by `source.ignore`. It keeps what the"
                " README of the repository has people apply, then what a kustomization builds or a policy stands"
                " beside, then what is nearest to the top. Policies, overrides and customizations of one name, and"
                " customizations of one target, are chosen alike; two that differ are a problem until then.",
            ),
            Entry(
                "A file that is not read any more",
                "It is a problem if objects were rendered from it, or a policy or a cluster stood in it, unless it was "
                "emptied or an ignore was written to leave it out.",
            ),
        ),
    ),
)

NAMES = (
    TopicSection(
        before="What a command asks about is named as for kubectl. An option that would do nothing beside the others is"
        " refused, never ignored.",
        entries=(
            Entry("KIND/NAME or KIND NAME", "An object. KIND is such as `deploy`, `deployments` or `deployment.apps`."),
            Entry("-n NAMESPACE", "The namespace of the object; left out, or with `-A`, it may be any."),
            Entry("cluster/NAME", "A member."),
            Entry("policy/NAME", "A policy of any kind; `pp`, `cpp`, `op` and `cop` say which kind."),
            Entry("REV", "Any revision that git knows: a commit, branch or tag."),
        ),
    ),
    TopicSection(
        title="What is not there",
        entries=(
            Entry(
                "A cluster, object, kind or policy",
                "The command names the nearest there is, and ends with exit code 2.",
            ),
            Entry("A namespace or labels that hold nothing", "A line on stderr, no data, and exit code 0."),
            Entry(
                "A repository, revision or work tree",
                "The command says what to run instead, and ends with exit code 4.",
            ),
        ),
    ),
)

WORDS = (
    TopicSection(
        entries=(
            Entry(
                "resource template", "An object in Git as you wrote it: a Deployment, a ConfigMap, a custom resource."
            ),
            Entry("propagation policy", "Karmada's policy that says which templates go where."),
            Entry("override policy", "Karmada's policy that says what differs in which clusters."),
            Entry("placement", "A policy's rules for choosing clusters and dividing replicas; never the outcome."),
            Entry("binding", "The outcome for one template: its target clusters and their replicas."),
            Entry("work", "One manifest as it must be in one cluster."),
            Entry("fleet", "A set of members, and the folder whose files describe them."),
            Entry("member", "A cluster that Argosy delivers to."),
            Entry("source", "The commit, or the branch, with what people wrote; everything else is made from it."),
            Entry("rendered branch", "`argosy/rendered`: a folder for each cluster, with what that must hold."),
            Entry("status branch", "`argosy/status`: what passes saw in members, and what they did there."),
            Entry(
                "facts",
                "What the scheduler reads of a member: served APIs and capacity. A Cluster declares them in its"
                " `status`, or a pass observes them.",
            ),
            Entry("previous", "The last rendered commit."),
            Entry("claims", "A policy claims an object: of all that select the object, this policy places it."),
            Entry(
                "reconcile pass",
                "One run of fetch, render, guard, commit, push and, where members are reached, apply and observe.",
            ),
            Entry("guard", "A limit: a pass that would remove or move more at once commits nothing."),
            Entry("released", "An object whose policy is gone: it stays as it is, byte for byte."),
            Entry("rescheduled", "An object whose clusters and replicas are decided again."),
            Entry(
                "disconnected",
                "A cluster that left the source: nothing in it is read, written or pruned. What the branches have of it"
                " stays, until `argosy cluster forget` has it dropped.",
            ),
            Entry("prune", "Delete from a member what no rendered commit asks for any more."),
            Entry("drift", "A difference between a member and the rendered commit that was applied to it."),
        ),
    ),
)
