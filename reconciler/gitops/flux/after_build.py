"""Changes that Flux makes to objects after they are built: variables filled in, and metadata set on all of them.

Variables come from ConfigMaps of the source and from the Kustomization itself. Values of Secrets are never read: an
object that needs one is left out, and said.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec import Struct, field

from reconciler.building.common_metadata import labels_and_annotations, object_with_common_metadata
from reconciler.building.requests import BuiltFolder, UnusableRequest
from reconciler.source.broken import CIPHERTEXT, UNSET_VARIABLE
from reconciler.source.built_files import Origin, source_files_behind
from reconciler.source.manifests import LocatedManifest
from render.documents import Document, documents_with_texts, emit, read_documents
from render.expressions import lazy_expression
from render.model import is_encrypted_by_sops, list_or_empty, mapping_or_empty
from render.syntax import quoted_text

from .variables import BadSubstitutionError, UnsetVariablesError, substitute_variables

_SWITCH, _OFF = "kustomize.toolkit.fluxcd.io/substitute", "disabled"
_STRATEGY, _WITH_VARIABLES, _ALWAYS = "substituteStrategy", "WithVariables", "Always"
_VARIABLE = lazy_expression(r"[A-Za-z_][A-Za-z0-9_]*")
Settings = Mapping[tuple[str, str, str], LocatedManifest]
"""ConfigMaps and Secrets of a source, by kind, namespace and name."""


class HiddenVariableError(Exception):
    """A variable has a value that is not read; the message names who has it."""


class _Holder(NamedTuple):
    """An object that variables come from: its values, or of one that is not read the names, as far as known."""

    name: str
    values: Mapping[str, str]
    hidden: frozenset[str] | None = frozenset()

    @property
    def has_variables(self) -> bool:
        """Say whether there may be any variable."""
        return bool(self.values or self.hidden is None or self.hidden)


class Variables(Struct, frozen=True, kw_only=True):
    """The variables of a Kustomization; ``holders`` come in order, and the later one counts."""

    holders: tuple[_Holder, ...]
    inputs: tuple[tuple[str, bytes], ...] = ()

    def value(self, name: str) -> str | None:
        """Return the value of a variable, None without one; HiddenVariableError where it may be one not read."""
        for holder in reversed(self.holders):
            if name in holder.values:
                return holder.values[name]
            if holder.hidden is None or name in holder.hidden:
                raise HiddenVariableError(f"${{{name}}} of {holder.name}")
        return None


def variables_of(place: LocatedManifest, settings: Settings, default_namespace: str) -> Variables | None:
    """Return the variables of a Kustomization; None for none: without any, only a strategy asks for defaults.

    UnusableRequest names a ConfigMap that is not there, unless it is optional, and what cannot be a variable.
    """
    after, own = place.manifest["spec"].get("postBuild"), place.manifest["metadata"].get("namespace")
    namespace = str(own or default_namespace)
    if not isinstance(after, dict):
        return None
    unknown = sorted(after.keys() - {"substitute", "substituteFrom", _STRATEGY})
    if unknown:
        raise UnusableRequest(f"spec.postBuild.{unknown[0]}", "no field that is known here")
    strategy = after.get(_STRATEGY) or _WITH_VARIABLES
    if strategy not in (_WITH_VARIABLES, _ALWAYS):
        message = f"must be {_WITH_VARIABLES!r} or {_ALWAYS!r}"
        raise UnusableRequest(f"spec.postBuild.{_STRATEGY}", message)
    holders, inputs = [], list[tuple[str, bytes]]()
    references = after.get("substituteFrom")
    for number, each in enumerate(list_or_empty(references)):
        wanted = mapping_or_empty(each)
        found = settings.get((str(wanted.get("kind")), namespace, str(wanted.get("name"))))
        holder = _variables_holder(f"spec.postBuild.substituteFrom[{number}]", wanted, namespace, found)
        holders += [holder] if holder else []
        inputs += source_files_behind(found.file) if found else ()
    holders.append(_holder_of_source_values("spec.postBuild.substitute", "", after.get("substitute")))
    if strategy != _ALWAYS and not any(each.has_variables for each in holders):
        return None
    return Variables(holders=tuple(holders), inputs=tuple(inputs))


def _variables_holder(
    path: str, wanted: Mapping[str, Any], namespace: str, found: LocatedManifest | None
) -> _Holder | None:
    kind, is_optional = wanted.get("kind"), bool(wanted.get("optional"))
    name = f"{kind} {namespace}/{wanted.get('name')}"
    if kind == "Secret":
        if found is None:
            return None if is_optional else _Holder(name, {}, None)
        parts = [found.manifest.get(key) for key in ("data", "stringData")]
        return _Holder(name, {}, frozenset(str(key) for part in parts if isinstance(part, dict) for key in part))
    if kind != "ConfigMap":
        raise UnusableRequest(f"{path}.kind", f"{kind!r} has no variables: they come from ConfigMaps and Secrets")
    if found is None:
        if is_optional:
            return None
        raise UnusableRequest(path, f"there is no {name} in the source", "optional: true goes on without")
    if is_encrypted_by_sops(found.manifest):
        message = f"SOPS encrypted {name}, and nothing decrypts what variables come from"
        raise UnusableRequest(path, message, kind=CIPHERTEXT)
    return _holder_of_source_values(path, name, found.manifest.get("data"))


def _holder_of_source_values(path: str, name: str, values: Any) -> _Holder:
    """Return variables that stand in the source, each of one line."""
    texts = (
        {str(key): str(value).replace("\n", "") for key, value in values.items()} if isinstance(values, dict) else {}
    )
    wrong = next((key for key in texts if not _VARIABLE.fullmatch(key)), None)
    if wrong is not None:
        owner = f" of {name}" if name else ""
        raise UnusableRequest(
            path, f"{quoted_text(wrong)}{owner} is no name of a variable", "letters, digits and '_' alone"
        )
    return _Holder(name, texts)


class LeftOut(NamedTuple):
    """An object that cannot be made: its origin and name, the reason, a hint, and the kind of the problem."""

    origin: Origin
    name: str
    reason: str
    hint: str = ""
    kind: str = ""


class Finished(Struct):
    """The output of a folder after all that is done to it, and the objects that are left out."""

    output: bytes = b""
    origins: tuple[Origin, ...] = ()
    inputs: tuple[tuple[str, bytes], ...] = ()
    left_out: list[LeftOut] = field(default_factory=list)


def objects_finished_by_flux(place: LocatedManifest, built: BuiltFolder, variables: Variables | None) -> Finished:
    """Return the objects of a Kustomization with variables filled in and metadata set."""
    spec = place.manifest["spec"]
    metadata = spec.get("commonMetadata") if isinstance(spec.get("commonMetadata"), dict) else {}
    done = Finished(inputs=variables.inputs if variables else ())
    if variables is None and not metadata:
        done.output, done.origins = built.output, built.origins
        return done
    texts, kept = [], []
    for (document, written), origin in zip(documents_with_texts(built.output), built.origins, strict=False):
        try:
            text = _text_of_finished_object(document, written, variables, metadata)
        except (BadSubstitutionError, HiddenVariableError) as error:
            kind = UNSET_VARIABLE if isinstance(error, UnsetVariablesError) else ""
            done.left_out.append(
                LeftOut(origin, _name_of_object(document.value), str(error), _hint_for_variable_error(error), kind)
            )
            continue
        texts.append(b"---\n" + text.strip(b"\n").removeprefix(b"---\n") + b"\n")
        kept.append(origin)
    done.output, done.origins = b"".join(texts), tuple(kept)
    return done


def _hint_for_variable_error(error: Exception) -> str:
    if isinstance(error, UnsetVariablesError):
        name = error.names[0]
        return (
            f"set it under postBuild.substitute, empty if it is meant to be, or write ${{{name}:=}} for nothing and"
            f" $${{{name}}} for the text itself; {_SWITCH}: {_OFF} leaves all of an object as it is"
        )
    return "a ConfigMap, or postBuild.substitute, may set what is no secret" if "Secret" in str(error) else ""


def _text_of_finished_object(
    document: Document, text: bytes, variables: Variables | None, metadata: Mapping[str, Any]
) -> bytes:
    """Return the text of one object; what SOPS encrypted stays as it is, for it is signed."""
    value = document.value
    if not isinstance(value, dict) or is_encrypted_by_sops(value):
        return text
    if variables is not None and b"$" in text and not _is_substitution_disabled(value):
        text = substitute_variables(text.decode(), variables.value).encode()
        documents, errors = read_documents(text)
        if errors or len(documents) != 1 or not isinstance(documents[0].value, dict):
            raise BadSubstitutionError("with its variables filled in it is no YAML object")
        value = documents[0].value
    return emit(object_with_common_metadata(value, metadata)) if metadata else text


def _is_substitution_disabled(value: Mapping[str, Any]) -> bool:
    return any(part.get(_SWITCH) == _OFF for part in labels_and_annotations(value))


def _name_of_object(value: Any) -> str:
    found = value.get("metadata") if isinstance(value, dict) else None
    return f"{value.get('kind')} {found.get('name')}" if isinstance(found, dict) else "a document"
