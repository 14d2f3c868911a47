"""Kinds by the names people type for them: ``deploy``, ``deployments``, ``Deployment.v1.apps``.

Kubernetes' kinds have the short names kubectl knows; a custom resource those of its CustomResourceDefinition.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from render.errors import UnknownName
from render.kinds import BUILT_IN
from render.model import ObjectRef, Template
from render.words import first_few, most_similar_word

from .subjects import error_of_unknown_name


def names_of_kind(ref: ObjectRef, version: str, names: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of a kind, in lower case; ``names`` are those of its definition, if it has one.

    >>> sorted(names_of_kind(ObjectRef("", "ConfigMap", "", "x"), "v1", {}))
    ['cm', 'cm.v1', 'configmap', 'configmap.v1', 'configmaps', 'configmaps.v1']
    """
    built_in = BUILT_IN.get((ref.group, ref.kind))
    known = [ref.kind, _plural_of_kind(ref.kind), *(built_in.short_names if built_in else ())]
    known += [name for name in (names.get("plural"), names.get("singular")) if isinstance(name, str)]
    known += [name for name in names.get("shortNames") or () if isinstance(name, str)]
    for name in dict.fromkeys(each.lower() for each in known):
        yield name
        if ref.group:
            yield f"{name}.{ref.group}"
            yield f"{name}.{version}.{ref.group}"
        elif version:
            yield f"{name}.{version}"


def _plural_of_kind(kind: str) -> str:
    if kind.endswith(("s", "x", "ch", "sh")):
        return kind if kind == "Endpoints" else f"{kind}es"
    return f"{kind[:-1]}ies" if kind.endswith("y") and kind[-2:-1] not in "aeiou" else f"{kind}s"


def parse_kind_and_name(words: Sequence[str]) -> tuple[str, str]:
    """Read ``KIND/NAME`` or ``KIND NAME``, as kubectl takes either; UnknownName when it is neither.

    >>> parse_kind_and_name(["deploy/web"]), parse_kind_and_name(["deploy", "web"])
    (('deploy', 'web'), ('deploy', 'web'))
    """
    noun, slash, name = words[0].partition("/")
    if len(words) == 1 and slash and noun and name:
        return noun, name
    if len(words) == 2 and not slash:
        return words[0], words[1]
    hint = "write KIND/NAME or KIND NAME; a cluster is cluster/NAME, a policy policy/NAME"
    raise UnknownName(f"{' '.join(words)!r} names nothing", hint=hint)


def ref_of_named_object(noun: str, name: str, namespace: str, templates: Iterable[Template]) -> ObjectRef:
    """Return the one object that is meant; without a namespace, whichever namespace it is in.

    An object that lives in no namespace is found whatever namespace is named, as kubectl finds it. UnknownName says
    what there is instead.
    """
    refs = _refs_of_kind(noun, tuple(templates))
    candidates = [ref for ref in refs if not namespace or ref.namespace in {"", namespace}]
    named = [ref for ref in candidates if ref.name == name]
    if len(named) == 1:
        return named[0]
    as_written = [ref for ref in named if noun in {ref.kind, ref.group_kind}]
    if len(as_written) == 1:
        return as_written[0]
    if named:
        choices = ", ".join(sorted(map(str, named)))
        raise UnknownName(f"{noun}/{name} may be {choices}", hint="say which with -n or a longer kind")
    where = f" in namespace {namespace}" if namespace else ""
    message = f"the source has no {noun} called {name!r}{where}"
    if elsewhere := sorted(ref.namespace for ref in refs if ref.name == name):
        raise UnknownName(message, hint=f"there is one in namespace {first_few(elsewhere)}")
    raise error_of_unknown_name(message, name, {ref.name for ref in candidates})


def _refs_of_kind(noun: str, templates: tuple[Template, ...]) -> list[ObjectRef]:
    definitions = {
        (spec["group"], spec["names"]["kind"]): spec["names"] for spec in map(_definition_spec, templates) if spec
    }
    words: dict[tuple[str, str, str], frozenset[str]] = {}
    refs = []
    for template in templates:
        ref, version = template.ref, template.api_version.rpartition("/")[2]
        key = (ref.group, ref.kind, version)
        if key not in words:
            words[key] = frozenset(names_of_kind(ref, version, definitions.get((ref.group, ref.kind), {})))
        if noun.lower() in words[key]:
            refs.append(ref)
    if not refs:
        near = most_similar_word(noun, {word for each in words.values() for word in each})
        kinds = sorted({template.ref.kind for template in templates})
        message = f"the source has no objects of kind {noun!r}"
        raise (
            UnknownName(message, hint=f"did you mean {near!r}?")
            if near
            else error_of_unknown_name(message, noun, kinds)
        )
    return refs


def _definition_spec(template: Template) -> Mapping[str, Any] | None:
    """Return the spec of a CustomResourceDefinition that can be used."""
    spec = template.manifest.get("spec")
    if template.ref.kind != "CustomResourceDefinition" or not isinstance(spec, dict):
        return None
    names = spec.get("names")
    return spec if isinstance(names, dict) and "kind" in names and "group" in spec else None
