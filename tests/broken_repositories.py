"""Repositories with something wrong in them, and every word that must be said about it.

``problems`` stop a pass, ``warnings`` do not; both are whole, in the order they are printed.
"""

from collections.abc import Mapping
from typing import NamedTuple

from tests.sources import LINK, SUBMODULE, Content, Entry

CLUSTER = """\
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata:
  name: member1
spec:
  syncMode: Push
"""

POLICY = """\
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata:
  name: web
  namespace: shop
spec:
  resourceSelectors:
  - apiVersion: apps/v1
    kind: Deployment
"""

OVERRIDE = """\
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterOverridePolicy
metadata:
  name: registry
spec:
  overrideRules:
  - overriders:
      imageOverrider:
      - component: Registry
        operator: replace
        value: registry.example.com
"""

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: nginx}]}}
"""

CONFIG = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
"""


class Broken(NamedTuple):
    why: str
    files: Mapping[str, Content]
    problems: str = ""
    warnings: str = ""


BROKEN = [
    # What YAML cannot be read.
    Broken(
        "a tab where spaces must be",
        {"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n\tname: x\n"},
        problems=("a.yaml:4: a tab where YAML needs spaces\n  hint: indent with spaces"),
    ),
    Broken(
        "text that is no YAML",
        {"a.yaml": "apiVersion: v1\nkind: ConfigMap\ndata: {a: [1, 2}\n"},
        problems=(
            "a.yaml:3: a '[' or '{' list that is broken or not closed\n  hint: check commas, quotes and brackets"
        ),
    ),
    Broken(
        "a template of a chart outside its chart",
        {"a.yaml": "{{- if .Values.web }}\nkind: Service\n{{- end }}\n"},
        warnings=(
            ".: no file here holds a Kubernetes manifest\n"
            "a.yaml: not read: a template; what stands in {{ }} is not filled in"
        ),
    ),
    Broken(
        "an object whose name is a template",
        {"a.yaml": CONFIG.replace("settings", '"{{ name }}"'), "b.yaml": CONFIG},
        warnings="a.yaml: not read: a template; what stands in {{ }} is not filled in",
    ),
    Broken(
        "what SOPS encrypted as a whole",
        {
            "a.yaml": "apiVersion: ENC[AES256_GCM,data:x]\nkind: ENC[AES256_GCM,data:y]\nsops:\n  mac: z\n",
            "b.yaml": "data: ENC[AES256_GCM,data:x]\nsops:\n  mac: z\n",
            "c.yaml": CONFIG,
        },
        warnings=(
            "a.yaml: not read: encrypted as a whole by SOPS, so that nothing tells what it is\n"
            "b.yaml: not read: encrypted as a whole by SOPS, so that nothing tells what it is"
        ),
    ),
    Broken(
        "objects that two folders share, one of which has another object as well",
        {
            **{
                f"{folder}/{name}.yaml": CONFIG.replace("settings", name) + f"data: {{at: {folder}}}\n"
                for folder in ("production", "staging")
                for name in ("one", "two")
            },
            "staging/own/own.yaml": CONFIG.replace("settings", "own"),
        },
        problems=(
            "staging/one.yaml:1: 2 objects are defined differently in production and staging, and none of these is used:"
            " ConfigMap default/one and ConfigMap default/two\n"
            "  hint: keep one, or leave out a folder, with what is nowhere else (ConfigMap default/own), in argosy.yaml:\n"
            "    spec:\n"
            "      source:\n"
            "        ignore: [/staging/]"
        ),
    ),
    Broken(
        "objects that two folders share",
        {
            f"{folder}/{name}.yaml": CONFIG.replace("settings", name) + f"data: {{at: {folder}}}\n"
            for folder in ("production", "staging")
            for name in ("one", "two")
        },
        problems=(
            "staging/one.yaml:1: 2 objects are defined differently in production and staging, and none of these is used:"
            " ConfigMap default/one and ConfigMap default/two\n"
            "  hint: keep one, or leave out a folder in argosy.yaml:\n"
            "    spec:\n"
            "      source:\n"
            "        ignore: [/staging/]"
        ),
    ),
    Broken(
        "JSON that ends too early",
        {"a.json": '{"apiVersion": "v1",\n "kind": "ConfigMap"\n'},
        problems=(
            "a.json:3: a '[' or '{' list that is broken or not closed\n  hint: check commas, quotes and brackets"
        ),
    ),
    Broken(
        "a key twice",
        {"a.yaml": CONFIG + "data:\n  a: '1'\n  b: '2'\n  a: '3'\n"},
        problems=("a.yaml:8: duplicate key 'a'\n  hint: kubectl would silently keep only the last one"),
    ),
    Broken(
        "a key twice in JSON",
        {"a.json": '{"apiVersion": "v1",\n "kind": "Secret",\n "kind": "Secret"}'},
        problems=("a.json:3: duplicate key 'kind'\n  hint: kubectl would silently keep only the last one"),
    ),
    Broken(
        "aliases that explode",
        {
            "a.yaml": CONFIG
            + "a: &a [x,x,x,x,x,x,x,x,x]\n"
            + "".join(
                f"{name}: &{name} [{','.join(['*' + before] * 9)}]\n"
                for before, name in zip("abcdefgh", "bcdefghi", strict=True)
            )
        },
        problems="a.yaml:14: aliases that expand beyond all measure",
    ),
    Broken(
        "an alias of nothing",
        {"a.yaml": CONFIG + "data: *nothing\n"},
        problems=(
            "a.yaml:5: alias of an unknown anchor\n  hint: anchors are known only within their document;"
            " put text that starts with '*' in quotes"
        ),
    ),
    Broken(
        "an anchor inside itself",
        {"a.yaml": CONFIG + "data: &loop\n  a: *loop\n"},
        problems="a.yaml:6: an anchor that contains itself",
    ),
    Broken(
        "brackets without end",
        {"a.yaml": CONFIG + "data: " + "[" * 10_000 + "]" * 10_000 + "\n"},
        problems="a.yaml:5: nested deeper than 200 levels",
    ),
    Broken(
        "bytes that are not UTF-8",
        {"a.yaml": CONFIG.encode() + b"data:\n  name: caf\xe9\n"},
        problems=("a.yaml:6: not UTF-8: byte 0xe9 at offset 75\n  hint: save the file as UTF-8"),
    ),
    Broken(
        "UTF-16 that is cut off",
        {"a.yaml": CONFIG.encode("utf-16")[:-1]},
        problems=("a.yaml:4: not UTF-16: byte 0x0a at offset 116\n  hint: save the file as UTF-8"),
    ),
    Broken(
        "a control character",
        {"a.yaml": CONFIG + "data:\n  a: '\x1b[2J'\n"},
        problems=(
            'a.yaml:6: control character U+001B\n  hint: write it as an escape in double quotes, such as "\\x1b"'
        ),
    ),
    Broken(
        "a number that is none",
        {"a.yaml": CONFIG + "data:\n  ratio: .nan\n"},
        problems="a.yaml:6: infinity and not-a-number cannot be stored in Kubernetes",
    ),
    Broken("a key that is null", {"a.yaml": CONFIG + "data:\n  ~: x\n"}, problems="a.yaml:6: a key that is null"),
    Broken(
        "two documents broken, one fine",
        {"a.yaml": f"{CONFIG}---\nkind: [\n---\napiVersion: v1\napiVersion: v1\n"},
        problems=(
            "a.yaml:7: no value where one must stand\n"
            "  hint: check brackets, quotes and indentation\n"
            "a.yaml:9: duplicate key 'apiVersion'\n"
            "  hint: kubectl would silently keep only the last one"
        ),
    ),
    # What is no manifest.
    Broken(
        "no kind beside a manifest",
        {"a.yaml": f"{CONFIG}---\napiVersion: v1\nmetadata:\n  name: b\n"},
        problems="a.yaml:6: kind: required, but missing",
    ),
    Broken(
        "a list of objects beside a manifest",
        {"a.yaml": f"{CONFIG}---\n- apiVersion: v1\n  kind: Secret\n"},
        problems="a.yaml:6: a manifest must be an object, not a list",
    ),
    Broken(
        "a kind that is a number",
        {"a.yaml": "apiVersion: v1\nkind: 5\nmetadata:\n  name: a\n"},
        problems="a.yaml:2: kind: must be a string, not a number",
    ),
    Broken(
        "an apiVersion of three parts",
        {"a.yaml": CONFIG.replace("v1", "a/b/v1")},
        problems=("a.yaml:1: apiVersion: 'a/b/v1' is no API version\n  hint: such as 'v1' or 'apps/v1'"),
    ),
    Broken(
        "a kind with a slash",
        {"a.yaml": CONFIG.replace("ConfigMap", "../ConfigMap")},
        problems=("a.yaml:2: kind: '../ConfigMap' is no kind\n  hint: such as 'ConfigMap'"),
    ),
    Broken(
        "half a manifest",
        {"a.yaml": "apiVersion: v1\nknd: ConfigMap\nmetadata:\n  name: a\n"},
        warnings=(
            ".: no file here holds a Kubernetes manifest\n"
            "a.yaml: not read: a document in it has apiVersion or kind, but none has both"
        ),
    ),
    Broken(
        "no metadata",
        {"a.yaml": "apiVersion: v1\nkind: ConfigMap\n"},
        problems="a.yaml:1: metadata.name: required, but missing",
    ),
    Broken(
        "metadata that is a list",
        {"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: [a]\n"},
        problems="a.yaml:3: metadata: must be an object, not a list",
    ),
    Broken(
        "no name",
        {"a.yaml": CONFIG.replace("name: settings", "labels: {}")},
        problems="a.yaml:3: metadata.name: required, but missing",
    ),
    Broken(
        "a name the server would make up",
        {"a.yaml": CONFIG.replace("name:", "generateName:")},
        problems=(
            "a.yaml:3: metadata.name: required, but missing\n  hint: generateName needs an API server; write the name"
        ),
    ),
    Broken(
        "a name that climbs out",
        {"a.yaml": CONFIG.replace("settings", "../../x")},
        problems="a.yaml:4: metadata.name: '../../x' is no such name: between dots, use lower-case letters, digits and '-' only, with a letter or digit at both ends",
    ),
    Broken(
        "a role whose name climbs out",
        {"a.yaml": "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n  name: ../../x\n"},
        problems="a.yaml:4: metadata.name: '../../x' may not be '.' or '..' or have '/', '%' or a control character",
    ),
    Broken(
        "a name in capitals",
        {"a.yaml": CONFIG.replace("settings", "Settings")},
        problems="a.yaml:4: metadata.name: 'Settings' is no such name: between dots, use lower-case letters, digits and '-' only, with a letter or digit at both ends",
    ),
    Broken(
        "a name that is a number",
        {"a.yaml": CONFIG.replace("settings", "1234")},
        problems=("a.yaml:4: metadata.name: must be a string, not a number\n  hint: put it in quotes"),
    ),
    Broken(
        "a name without end",
        {"a.yaml": CONFIG.replace("settings", "x" * 254)},
        problems="a.yaml:4: metadata.name: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...' is longer than 253 characters",
    ),
    Broken(
        "a namespace that is two",
        {"a.yaml": DEPLOYMENT.replace("namespace: shop", "namespace: shop/eu")},
        problems="a.yaml:5: metadata.namespace: 'shop/eu' is no such name: use lower-case letters, digits and '-' only, with a letter or digit at both ends",
    ),
    Broken(
        "a namespace that is yes",
        {"a.yaml": DEPLOYMENT.replace("namespace: shop", "namespace: yes")},
        problems=("a.yaml:5: metadata.namespace: must be a string, not a boolean\n  hint: put it in quotes"),
    ),
    Broken(
        "a label that is a number",
        {"a.yaml": CONFIG + "  labels:\n    app: web\n    version: 1.10\n"},
        problems=("a.yaml:7: metadata.labels[version]: must be a string, not a number\n  hint: put it in quotes"),
    ),
    Broken(
        "labels Kubernetes has no room for",
        {"a.yaml": CONFIG + "  labels:\n    -app: web\n    app: we b\n"},
        problems=(
            "a.yaml:5: metadata.labels: '-app' is no label key: use letters, digits, '-', '_' and '.' only, with a letter or digit at both ends\n"
            "a.yaml:5: metadata.labels: the value of 'app': 'we b' is no label value: use letters, digits, '-', '_' and '.' only, with a letter or digit at both ends"
        ),
    ),
    Broken(
        "an annotation that is on",
        {"a.yaml": CONFIG + "  annotations:\n    example.com/debug: on\n"},
        problems=(
            "a.yaml:6: metadata.annotations[example.com/debug]: must be a string, not a boolean\n"
            "  hint: put it in quotes"
        ),
    ),
    # What lists hold.
    Broken(
        "items that are no list",
        {"a.yaml": "apiVersion: v1\nkind: List\nitems:\n  a: b\n"},
        problems="a.yaml:3: items: must be a list, not an object",
    ),
    Broken(
        "an item that says nothing",
        {"a.yaml": "apiVersion: v1\nkind: List\nitems:\n- metadata:\n    name: a\n- 5\n"},
        problems=(
            "a.yaml:4: apiVersion: required, but missing\n"
            "a.yaml:4: kind: required, but missing\n"
            "a.yaml:6: a manifest must be an object, not a number"
        ),
    ),
    Broken(
        "a mistake deep in a list",
        {
            "a.yaml": "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMapList\n  items:\n"
            "  - metadata:\n      name: a\n  - metadata:\n      name: b\n      labels:\n        x: 1\n"
        },
        problems=("a.yaml:12: metadata.labels[x]: must be a string, not a number\n  hint: put it in quotes"),
    ),
    # What the arithmetic reads.
    Broken(
        "replicas in quotes",
        {"a.yaml": DEPLOYMENT.replace("replicas: 2", 'replicas: "2"')},
        problems="a.yaml:7: spec.replicas: must be a whole number, not a string\n  hint: write it without quotes",
    ),
    Broken(
        "replicas that are no whole number",
        {"a.yaml": DEPLOYMENT.replace("replicas: 2", "replicas: 1.5")},
        problems="a.yaml:7: spec.replicas: must be a whole number, not a number with a fraction",
    ),
    Broken(
        "replicas that no server can hold",
        {"a.yaml": DEPLOYMENT.replace("replicas: 2", "replicas: 1e30")},
        problems="a.yaml:7: spec.replicas: must be a whole number, not a number beyond 64 bits",
    ),
    Broken(
        "replicas that SOPS encrypted",
        {"a.yaml": DEPLOYMENT.replace("replicas: 2", "replicas: ENC[x]") + "sops:\n  mac: ENC[y]\n"},
        problems="a.yaml:7: spec.replicas: SOPS encrypted it, and nothing decrypts what is divided\n"
        "  hint: leave it readable: --encrypted-regex says what SOPS encrypts",
    ),
    Broken(
        "replicas below nothing",
        {"a.yaml": DEPLOYMENT.replace("replicas: 2", "replicas: -1")},
        problems="a.yaml:7: spec.replicas: must be from 0 to 2147483647",
    ),
    Broken(
        "a Deployment whose spec is a list",
        {"a.yaml": DEPLOYMENT.replace("spec:\n  replicas: 2", "spec:\n- replicas: 2")},
        problems="a.yaml:6: spec: must be an object, not a list",
    ),
    # What is there twice.
    Broken(
        "an object twice in one file, with other replicas",
        {"a.yaml": f"{DEPLOYMENT}---\n{DEPLOYMENT.replace('replicas: 2', 'replicas: 3')}"},
        problems=(
            "a.yaml:11: Deployment.apps shop/web is defined otherwise at a.yaml:1, and none of these is used\n"
            "  hint: keep one"
        ),
    ),
    Broken(
        "an object three times, once in a list, once in the default namespace",
        {
            "a.yaml": CONFIG,
            "b/list.yaml": "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: settings\n",
            "c.yml": CONFIG + "  namespace: default\ndata: {at: c}\n",
        },
        problems=(
            "b/list.yaml:4: ConfigMap default/settings is defined otherwise at a.yaml:1 and c.yml:1, and none of these is"
            " used\n"
            "  hint: keep one, or leave out what is not meant in argosy.yaml:\n"
            "    spec:\n"
            "      source:\n"
            "        ignore: [/c.yml]"
        ),
    ),
    Broken(
        "another version of the same object",
        {"a.yaml": DEPLOYMENT, "b.yaml": DEPLOYMENT.replace("apps/v1", "apps/v1beta1")},
        problems=(
            "b.yaml:1: Deployment.apps shop/web is defined otherwise at a.yaml:1, and none of these is used\n"
            "  hint: keep one, or leave out what is not meant in argosy.yaml:\n"
            "    spec:\n"
            "      source:\n"
            "        ignore: [/b.yaml]"
        ),
    ),
    Broken(
        "two policies of one name",
        {"cluster.yaml": CLUSTER, "a.yaml": POLICY, "b.yaml": POLICY + "  priority: 5\n"},
        problems=("b.yaml:1: PropagationPolicy shop/web is defined twice, also at a.yaml:1\n  hint: keep one"),
    ),
    Broken(
        "two override policies and two clusters of one name",
        {
            "a.yaml": f"{OVERRIDE}---\n{CLUSTER}",
            "b.yaml": f"{CLUSTER}  region: eu\n---\n{OVERRIDE.replace('registry.example', 'other.example')}",
        },
        problems=(
            "b.yaml:1: Cluster member1 is defined twice, also at a.yaml:13\n"
            "  hint: keep one\n"
            "b.yaml:9: ClusterOverridePolicy registry is defined twice, also at a.yaml:1\n"
            "  hint: keep one"
        ),
    ),
    # What policies say wrong.
    Broken(
        "a field that does not exist",
        {"a.yaml": POLICY + "  placement:\n    clusterAfinity:\n      clusterNames: [member1]\n"},
        problems=("a.yaml:11: spec.placement.clusterAfinity: unknown field\n  hint: did you mean 'clusterAffinity'?"),
        warnings=(
            "a.yaml:1: the source has policies but no clusters, so nothing is scheduled\n"
            "  hint: declare members as cluster.karmada.io/v1alpha1 Cluster, with labels and region"
        ),
    ),
    Broken(
        "selectors and overriders that are null, though they are required",
        {
            "a.yaml": POLICY.partition("  resourceSelectors")[0] + "  resourceSelectors:\n",
            "b.yaml": OVERRIDE.partition("  overrideRules")[0] + "  overrideRules:\n  - overriders: ~\n",
            "c.yaml": CLUSTER,
        },
        problems=(
            "a.yaml:7: spec.resourceSelectors: required, but missing\n"
            "b.yaml:7: spec.overrideRules[0].overriders: required, but missing"
        ),
    ),
    Broken(
        "a word that does not exist",
        {"a.yaml": POLICY + "  placement:\n    replicaScheduling:\n      replicaSchedulingType: Dividedd\n"},
        problems=(
            "a.yaml:12: spec.placement.replicaScheduling.replicaSchedulingType: unknown value 'Dividedd'\n"
            "  hint: write 'Duplicated' or 'Divided'"
        ),
    ),
    Broken(
        "a policy of nothing",
        {"a.yaml": POLICY.partition("  resource")[0] + "  priority: 5\n"},
        problems="a.yaml:6: spec.resourceSelectors: required, but missing",
    ),
    Broken(
        "types mixed up",
        {"a.yaml": POLICY.replace("resourceSelectors:\n  -", "resourceSelectors:\n   ") + "  priority: high\n"},
        problems=(
            "a.yaml:7: spec.resourceSelectors: must be a list, not an object\n"
            "a.yaml:10: spec.priority: must be a whole number, not a string"
        ),
    ),
    Broken(
        "two ways to choose clusters at once",
        {
            "c.yaml": CLUSTER,
            "a.yaml": POLICY + "  placement:\n    clusterAffinity: {clusterNames: [member1]}\n"
            "    clusterAffinities:\n    - affinityName: a\n",
        },
        problems=(
            "a.yaml:10: spec.placement: clusterAffinity and clusterAffinities exclude each other\n"
            "  hint: move clusterAffinity into the list, under an affinityName"
        ),
    ),
    Broken(
        "a version Karmada never had",
        {"a.yaml": POLICY.replace("v1alpha1", "v1")},
        problems=(
            "a.yaml:1: apiVersion: there is no PropagationPolicy in 'policy.karmada.io/v1'\n"
            "  hint: write 'policy.karmada.io/v1alpha1'"
        ),
    ),
    Broken(
        "a policy of a kind that does not exist",
        {"a.yaml": POLICY.replace("PropagationPolicy", "PropagationPolicies")},
        problems=(
            "a.yaml:2: kind: there is no 'PropagationPolicies' in policy.karmada.io\n"
            "  hint: did you mean 'PropagationPolicy'?"
        ),
    ),
    Broken(
        "a policy in lower case",
        {"a.yaml": POLICY.replace("PropagationPolicy", "propagationpolicy")},
        problems=(
            "a.yaml:2: kind: there is no 'propagationpolicy' in policy.karmada.io\n"
            "  hint: did you mean 'PropagationPolicy'?"
        ),
    ),
    Broken(
        "a kind that is nothing like any of its group",
        {"a.yaml": POLICY.replace("PropagationPolicy", "Rollout")},
        problems=(
            "a.yaml:2: kind: there is no 'Rollout' in policy.karmada.io\n"
            "  hint: known here: ClusterOverridePolicy, ClusterPropagationPolicy, ClusterTaintPolicy,"
            " FederatedResourceQuota, OverridePolicy, PropagationPolicy"
        ),
    ),
    Broken(
        "a policy of a group that does not exist",
        {"a.yaml": POLICY.replace("policy.karmada.io/v1alpha1", "karmada.io/v1")},
        problems=(
            "a.yaml:1: apiVersion: there is no PropagationPolicy in 'karmada.io/v1'\n"
            "  hint: write 'policy.karmada.io/v1alpha1'"
        ),
    ),
    Broken(
        "a policy of no group at all",
        {"a.yaml": POLICY.replace("policy.karmada.io/v1alpha1", "v1")},
        problems=(
            "a.yaml:1: apiVersion: there is no PropagationPolicy in 'v1'\n  hint: write 'policy.karmada.io/v1alpha1'"
        ),
    ),
    Broken(
        "an override of another group of Karmada's",
        {"a.yaml": OVERRIDE.replace("policy.karmada.io", "config.karmada.io")},
        problems=(
            "a.yaml:1: apiVersion: there is no ClusterOverridePolicy in 'config.karmada.io/v1alpha1'\n"
            "  hint: write 'policy.karmada.io/v1alpha1'"
        ),
    ),
    Broken(
        "a cluster of a group with a slip",
        {"a.yaml": CLUSTER.replace("cluster.karmada.io", "cluster.karmda.io")},
        problems=(
            "a.yaml:1: apiVersion: there is no Cluster in 'cluster.karmda.io/v1alpha1'\n"
            "  hint: write 'cluster.karmada.io/v1alpha1'"
        ),
    ),
    Broken(
        "a test of policies of another group",
        {"a.yaml": "apiVersion: argosy.io/v1alpha1\nkind: PolicyTest\nmetadata:\n  name: a\n"},
        problems=(
            "a.yaml:1: apiVersion: there is no PolicyTest in 'argosy.io/v1alpha1'\n  hint: write 'argosy.dev/v1alpha1'"
        ),
    ),
    Broken(
        "a cluster of the Cluster API, which is one more template",
        {
            "c.yaml": CLUSTER,
            "a.yaml": "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata:\n  name: a\n",
        },
    ),
    Broken(
        "policies of another project, which its definition brings along",
        {
            "c.yaml": CLUSTER,
            "a.yaml": POLICY.replace("policy.karmada.io", "core.kubeadmiral.io"),
            "b.yaml": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
            "metadata:\n  name: propagationpolicies.core.kubeadmiral.io\n"
            "spec:\n  group: core.kubeadmiral.io\n  scope: Namespaced\n"
            "  names: {kind: PropagationPolicy, plural: propagationpolicies}\n"
            "  versions: [{name: v1alpha1, served: true, storage: true}]\n",
        },
    ),
    Broken(
        "an overrider without a component",
        {"a.yaml": OVERRIDE.replace("component: Registry", "component: Registri")},
        problems=(
            "a.yaml:9: spec.overrideRules[0].overriders.imageOverrider[0].component: unknown value 'Registri'\n"
            "  hint: write 'Registry', 'Repository' or 'Tag'"
        ),
    ),
    Broken(
        "a policy and a template wrong at once",
        {"z.yaml": POLICY + "  priority: high\n", "a.yaml": CONFIG.replace("settings", "A")},
        problems=(
            "a.yaml:4: metadata.name: 'A' is no such name: between dots, use lower-case letters, digits and '-' only, with a letter or digit at both ends\n"
            "z.yaml:10: spec.priority: must be a whole number, not a string"
        ),
    ),
    # What clusters say wrong.
    Broken(
        "a cluster with dots",
        {"a.yaml": CLUSTER.replace("member1", "eu.member1")},
        problems="a.yaml:4: metadata.name: 'eu.member1' is no such name: use lower-case letters, digits and '-' only, with a letter or digit at both ends",
    ),
    Broken(
        "a cluster that is neither pushed nor pulled",
        {"a.yaml": CLUSTER.replace("Push", "Poll")},
        problems=("a.yaml:6: spec.syncMode: unknown value 'Poll'\n  hint: write 'Push' or 'Pull'"),
    ),
    Broken(
        "a taint without effect",
        {"a.yaml": CLUSTER + "  taints:\n  - key: maintenance\n"},
        problems=("a.yaml:8: spec.taints[0].effect: required, but missing\n  hint: write 'NoSchedule' or 'NoExecute'"),
    ),
    Broken(
        "a taint that only prefers",
        {"a.yaml": CLUSTER + "  taints:\n  - {key: a, effect: PreferNoSchedule}\n  - {key: b, effect: NoSchedule}\n"},
        warnings="a.yaml:7: spec.taints: PreferNoSchedule means nothing for clusters; taints with it are left out",
    ),
    # What files are.
    Broken(
        "a file of 20 MB",
        {"a.yaml": Entry(size=20 * 1024 * 1024)},
        problems=(
            "a.yaml: 20971520 bytes, but at most 8388608 are read\n"
            "  hint: if the file is no Kubernetes manifest, name it under source.ignore in argosy.yaml or in .argosyignore"
        ),
    ),
    Broken(
        "a link out of the repository",
        {"a.yaml": Entry(b"/etc/passwd", LINK), "apps/shared": Entry(b"../../shared", LINK)},
        warnings=(
            ".: no file here holds a Kubernetes manifest\n"
            "a.yaml: not read: a symbolic link; links are never followed\n"
            "apps/shared: not read: a symbolic link; links are never followed"
        ),
    ),
    Broken(
        "an argosy.yaml that is a link",
        {"argosy.yaml": Entry(b"/etc/argosy.yaml", LINK), "a.yaml": CONFIG},
        problems=("argosy.yaml: is a symbolic link; links are never followed\n  hint: put the file here"),
    ),
    Broken(
        "names that would draw on the terminal",
        {"a\x1b[2J.yaml": "apiVersion: v1\nkind: ConfigMap\n", "b\n.yaml": "apiVersion: v1\nkind: ConfigMap\n"},
        problems=(
            "a\\x1b[2J.yaml:1: metadata.name: required, but missing\nb\\n.yaml:1: metadata.name: required, but missing"
        ),
    ),
    Broken(
        "a submodule",
        {"vendor/base": Entry(b"", SUBMODULE)},
        warnings=(
            ".: no file here holds a Kubernetes manifest\n"
            "vendor/base: not read: a submodule; submodules are never followed"
        ),
    ),
    Broken(
        "a pointer to what Git does not hold",
        {"a.yaml": "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n"},
        warnings=(
            ".: no file here holds a Kubernetes manifest\n"
            "a.yaml: not read: a Git LFS pointer; only what Git itself holds is read"
        ),
    ),
    Broken(
        "a chart",
        {
            "chart/Chart.yaml": "name: web\n",
            "chart/templates/a.yaml": "{{",
        },
        warnings=(
            ".: no file here holds a Kubernetes manifest\nchart: not read: a Helm chart that no HelmChart renders"
        ),
    ),
    # What argosy.yaml says wrong.
    Broken(
        "a Fleet with a field that does not exist",
        {"argosy.yaml": "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\nspec:\n  defaultNamspace: shop\n"},
        problems=("argosy.yaml:4: spec.defaultNamspace: unknown field\n  hint: did you mean 'defaultNamespace'?"),
    ),
    Broken(
        "folders to read that are not there",
        {
            "argosy.yaml": "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\n"
            "spec:\n  source:\n    paths:\n    - apps\n    - ./polices/\n    - nowhere\n",
            "apps/a.yaml": CONFIG,
            "policies/p.yaml": POLICY,
        },
        problems=(
            "argosy.yaml:7: spec.source.paths[1]: there is no './polices/'\n"
            "  hint: did you mean 'policies'?\n"
            "argosy.yaml:8: spec.source.paths[2]: there is no 'nowhere'\n"
            "  hint: it would be looked for beside argosy.yaml"
        ),
    ),
    Broken(
        "folders to read that lead out",
        {
            "argosy.yaml": "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\nspec:\n  source: {paths: [../other, /etc]}\n",
        },
        problems=(
            "argosy.yaml:4: spec.source.paths[0]: '../other' leads out of the folder of argosy.yaml\n"
            "  hint: write a folder or file below argosy.yaml, such as 'apps'; '.' is all of them\n"
            "argosy.yaml:4: spec.source.paths[1]: '/etc' leads out of the folder of argosy.yaml\n"
            "  hint: write a folder or file below argosy.yaml, such as 'apps'; '.' is all of them"
        ),
    ),
    Broken(
        "limits beyond all",
        {
            "argosy.yaml": "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\n"
            "spec:\n  removalGuard: {percent: 200, count: -1}\n"
        },
        problems=(
            "argosy.yaml:4: spec.removalGuard.count: must be at least 0, not -1\n"
            "argosy.yaml:4: spec.removalGuard.percent: must be at most 100, not 200\n"
            "  hint: write a percentage"
        ),
    ),
    Broken(
        "an extent that no refusal has",
        {"argosy.yaml": "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\nspec:\n  removalGuard: {scope: Clusters}\n"},
        problems="argosy.yaml:4: spec.removalGuard.scope: unknown value 'Clusters'\n  hint: write 'Fleet' or 'Cluster'",
    ),
    Broken(
        "a Fleet of words that do not exist",
        {
            "argosy.yaml": "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\nspec:\n  claims: sticky\n"
            "  secrets: Forbid\n  reserveCapacity: 'no'\n",
        },
        problems=(
            "argosy.yaml:4: spec.claims: unknown value 'sticky'\n"
            "  hint: write 'Pure' or 'Sticky'\n"
            "argosy.yaml:5: spec.secrets: unknown value 'Forbid'\n"
            "  hint: write 'Allow' or 'Refuse'\n"
            "argosy.yaml:6: spec.reserveCapacity: must be a boolean, not a string\n"
            "  hint: write true or false, without quotes"
        ),
    ),
    Broken(
        "an argosy.yaml that is no Fleet",
        {"argosy.yaml": "fleet: eu\n"},
        problems=(
            "argosy.yaml: holds no document of kind Fleet\n"
            "  hint: the least it may hold is apiVersion: argosy.dev/v1alpha1 and kind: Fleet"
        ),
    ),
    Broken(
        "an argosy.yaml that is no YAML",
        {"argosy.yaml": "kind: Fleet: no\n"},
        problems=(
            "argosy.yaml:1: a ':' where no key can stand\n"
            "  hint: put text that contains ': ' or starts with a special character in quotes; check the indentation"
        ),
    ),
    Broken(
        "a Fleet in another file",
        {"fleet.yaml": "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\nmetadata:\n  name: eu\n"},
        problems=("fleet.yaml:1: a Fleet is read from argosy.yaml alone\n  hint: move it to argosy.yaml"),
    ),
    Broken(
        "two Fleets in one file",
        {
            "argosy.yaml": "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\n---\napiVersion: argosy.dev/v1alpha1\nkind: Fleet\n"
        },
        problems=("argosy.yaml:4: a second Fleet in one file\n  hint: keep one"),
    ),
    Broken(
        "two fleets and nobody says which",
        {"eu/argosy.yaml": "", "us/argosy.yaml": ""},
        problems=(".: holds 2 fleets: eu, us\n  hint: name one with -C FOLDER"),
    ),
    Broken(
        "a kind of ours that does not exist",
        {"a.yaml": "apiVersion: argosy.dev/v1alpha1\nkind: PolicyTests\n"},
        problems=("a.yaml:2: kind: there is no 'PolicyTests' in argosy.dev\n  hint: did you mean 'PolicyTest'?"),
    ),
    Broken(
        "a selected kind that nobody defines",
        {
            "c.yaml": CLUSTER,
            "a.yaml": "apiVersion: acme.example/v1\nkind: Widget\nmetadata:\n  name: w\n",
            "b.yaml": POLICY.replace("apps/v1", "acme.example/v1").replace("Deployment", "Widget"),
        },
        problems=(
            "a.yaml:2: kind: nothing says whether Widget.acme.example lives in namespaces\n"
            "  hint: add CustomResourceDefinitions, or say it in argosy.yaml, once these guesses are checked:\n"
            "    spec:\n      kinds:\n      - {group: acme.example, kind: Widget, scope: Namespaced}"
        ),
    ),
    Broken(
        "a customization whose script is no Lua",
        {
            "a.yaml": """\
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata:
  name: widgets
spec:
  target: {apiVersion: acme.example/v1, kind: Widget}
  customizations:
    replicaResource:
      luaScript: "function GetReplicas(obj return 1 end"
"""
        },
        problems="a.yaml:9: spec.customizations.replicaResource.luaScript: is no Lua: line 1: ')' expected near 'return'",
    ),
    # What is only worth a word.
    Broken("nothing at all", {}, warnings=".: no file here holds a Kubernetes manifest"),
    Broken(
        "a README and nothing else",
        {"README.md": "# Fleet", "values.yaml": "a: 1"},
        warnings=".: no file here holds a Kubernetes manifest",
    ),
    Broken(
        "a policy for clusters that are not there",
        {
            "c.yaml": CLUSTER,
            "a.yaml": POLICY + "  placement:\n    clusterAffinity:\n"
            "      clusterNames: [member1, member2]\n      exclude: [member3]\n",
        },
        warnings=(
            "a.yaml:12: spec.placement.clusterAffinity.clusterNames: no cluster of the source is called 'member2'\n"
            "a.yaml:13: spec.placement.clusterAffinity.exclude: no cluster of the source is called 'member3'"
        ),
    ),
    Broken(
        "a namespace for what has none",
        {"a.yaml": CONFIG.replace("ConfigMap", "Namespace") + "  namespace: shop\n"},
        warnings="a.yaml:5: metadata.namespace: the kind is cluster-scoped, so its namespace is left out",
    ),
    Broken(
        "what Karmada never propagates",
        {
            "a.yaml": CONFIG + "  namespace: kube-system\n",
            "b.yaml": "apiVersion: work.karmada.io/v1alpha1\nkind: Work\nmetadata:\n  name: w\n",
        },
        warnings=(
            "a.yaml:1: ConfigMap kube-system/settings is left out: nothing in the namespace kube-system is propagated\n"
            "  hint: spec.skippedNamespaces of argosy.yaml leaves it out: with [] there, policies may select it\n"
            "b.yaml:1: Work.work.karmada.io default/w is left out: objects of the group work.karmada.io are never"
            " propagated, and Argosy does not act on them\n"
            "  hint: put its manifests into the source, and select them by a policy for that cluster"
        ),
    ),
    Broken(
        "a remedy of a condition that nobody observes",
        {
            "a.yaml": "apiVersion: remedy.karmada.io/v1alpha1\nkind: Remedy\n"
            "metadata:\n  name: q\nspec:\n  actions:\n  - TrafficControl\n  decisionMatches:\n"
            "  - clusterConditionMatch:\n      conditionType: ServiceDomainNameResolutionReady\n"
            '      operator: Equal\n      conditionStatus: "False"\n',
        },
        warnings=(
            "a.yaml:8: spec.decisionMatches: never matches: of clusters, Ready and CompleteAPIEnablements are observed"
        ),
    ),
    Broken(
        "a Secret everyone can read",
        {"a.yaml": CONFIG.replace("ConfigMap", "Secret") + "stringData:\n  password: hunter2\n"},
        warnings="a.yaml:1: in clear text for everyone who can read the repository: Secret default/settings",
    ),
    Broken(
        "a Secret where Secrets are refused",
        {
            "argosy.yaml": "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\nspec:\n  secrets: Refuse\n",
            "a.yaml": CONFIG.replace("ConfigMap", "Secret") + "data:\n  password: aHVudGVyMg==\n",
        },
        problems=(
            "a.yaml:1: Secret default/settings is in clear text, and argosy.yaml says secrets: Refuse\n"
            "  hint: encrypt it with SOPS, or keep it out of Git"
        ),
    ),
]
