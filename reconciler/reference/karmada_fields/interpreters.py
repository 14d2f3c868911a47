"""Sentences about the fields of customizations and webhooks of the resource interpreter."""

from collections.abc import Mapping

_SCRIPT = "The script, in Lua: {}."
INTERPRETER_FIELDS: Mapping[str, str] = {
    "spec.target": "The kind that the scripts are about.",
    "target.apiVersion": "The apiVersion of the kind.",
    "target.kind": "The kind.",
    "spec.customizations": "The scripts, by what they answer.",
    "customizations.replicaResource": "How many replicas an object has, and what one requests.",
    "replicaResource.luaScript": _SCRIPT.format("`GetReplicas(desiredObj)` returns a number and requirements"),
    "customizations.componentResource": (
        "The pod templates of an object that has several, by the gate MultiplePodTemplatesScheduling."
    ),
    "componentResource.luaScript": _SCRIPT.format("`GetComponents(desiredObj)` returns a list of components"),
    "customizations.replicaRevision": "An object with another number of replicas.",
    "replicaRevision.luaScript": _SCRIPT.format("`ReviseReplica(desiredObj, desiredReplica)` returns the object"),
    "customizations.retention": "The fields that a member keeps of its own object.",
    "retention.luaScript": _SCRIPT.format("`Retain(desiredObj, observedObj)` returns the object to apply"),
    "customizations.statusAggregation": "The status of a template, made of those in the members.",
    "statusAggregation.luaScript": _SCRIPT.format("`AggregateStatus(desiredObj, statusItems)` returns the object"),
    "customizations.dependencyInterpretation": "The objects that an object needs in its cluster.",
    "dependencyInterpretation.luaScript": _SCRIPT.format("`GetDependencies(desiredObj)` returns a list of references"),
    "customizations.statusReflection": "What of a status is recorded.",
    "statusReflection.luaScript": _SCRIPT.format("`ReflectStatus(observedObj)` returns it"),
    "customizations.healthInterpretation": "Whether an object is healthy.",
    "healthInterpretation.luaScript": _SCRIPT.format("`InterpretHealth(observedObj)` returns true or false"),
    "webhooks.name": "The full name of the webhook, such as `widgets.example.com`.",
    "webhooks.clientConfig": "How the webhook is reached.",
    "clientConfig.url": "Its address, with https; it excludes `service`.",
    "clientConfig.service": "The Service of the webhook, in the cluster of whoever asks; it excludes `url`.",
    "service.namespace": "The namespace of the Service.",
    "service.name": "The name of the Service.",
    "service.path": "The path of the address.",
    "service.port": "The port of the Service; left out, 443.",
    "clientConfig.caBundle": "The certificates by which it is trusted, in PEM form and base64.",
    "webhooks.rules": "What the webhook is asked about.",
    "rules.operations": "The operations of the interpreter; `*` is all.",
    "rules.apiGroups": "The API groups of the kinds; `*` is all.",
    "rules.apiVersions": "The versions of the kinds; `*` is all.",
    "rules.kinds": "The kinds; `*` is all.",
    "webhooks.timeoutSeconds": "How long an answer may take, from 1 to 30 seconds; left out, 10.",
    "webhooks.interpreterContextVersions": "The versions of the questions that it understands; there is `v1alpha1`.",
}
