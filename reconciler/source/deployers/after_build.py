"""Changes that Flux makes to objects after they are built: variables filled in, and metadata set on all of them.

Variables come from ConfigMaps of the source and from the Kustomization itself. Values of Secrets are never read: an
object that needs one is left out, and said.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from msgspec import Struct, field

from reconciler.source.built_files import Origin, inputs_of
from reconciler.source.manifests import LocatedManifest
from render.documents import Document, document_texts, emit, read_documents
from render.model import as_list, as_mapping, is_opaque

from .request import BuiltFolder, UnusableDeployer
from .variables import BadSubstitutionError, substitute_variables

_SWITCH = "kustomize.toolkit.fluxcd.io/substitute"
Settings = Mapping[tuple[str, str, str], LocatedManifest]
"""ConfigMaps and Secrets of a source, by kind, namespace and name."""


class HiddenVariableError(Exception):
    """A variable has a value that is not read; the message names who has it."""


class _Holder(NamedTuple):
    """An object that variables come from: its values, or of one that is not read the names, as far as known."""

    name: str
    values: Mapping[str, str]
    hidden: frozenset[str] | None = frozenset()


class Variables(Struct, frozen=True, kw_only=True):
    """The variables of a Kustomization; ``holders`` come in order, and the later one counts."""

    holders: tuple[_Holder, ...]
    inputs: tuple[tuple[str, bytes], ...] = ()

    def value(self, name: str) -> str:
        """Return the value of a variable; HiddenVariableError where it may be one that is not read."""
        for holder in reversed(self.holders):
            if name in holder.values:
                return holder.values[name]
            if holder.hidden is None or name in holder.hidden:
                raise HiddenVariableError(f"${{{name}}} of {holder.name}")
        return ""


def variables_of(spec: Mapping[str, Any], namespace: str, settings: Settings) -> Variables | None:
    """Return the variables that are filled in; None where none are.

    UnusableDeployer names a ConfigMap that is not there, unless it is optional.
    """
    after = spec.get("postBuild")
    if not isinstance(after, dict):
        return None
    unknown = sorted(after.keys() - {"substitute", "substituteFrom"})
    if unknown:
        raise UnusableDeployer(f"spec.postBuild.{unknown[0]}", "no field that is known here")
    holders, inputs = [], list[tuple[str, bytes]]()
    references = after.get("substituteFrom")
    for number, each in enumerate(as_list(references)):
        wanted = as_mapping(each)
        found = settings.get((str(wanted.get("kind")), namespace, str(wanted.get("name"))))
        holder = _holder(f"spec.postBuild.substituteFrom[{number}]", wanted, namespace, found)
        holders += [holder] if holder else []
        inputs += inputs_of(found.file) if found else ()
    own = after.get("substitute")
    holders.append(_Holder("", _texts(own)))
    return Variables(holders=tuple(holders), inputs=tuple(inputs)) if references or own else None


def _holder(path: str, wanted: Mapping[str, Any], namespace: str, found: LocatedManifest | None) -> _Holder | None:
    kind, is_optional = wanted.get("kind"), bool(wanted.get("optional"))
    name = f"{kind} {namespace}/{wanted.get('name')}"
    if kind == "Secret":
        if found is None:
            return None if is_optional else _Holder(name, {}, None)
        parts = [found.manifest.get(key) for key in ("data", "stringData")]
        return _Holder(name, {}, frozenset(str(key) for part in parts if isinstance(part, dict) for key in part))
    if kind != "ConfigMap":
        raise UnusableDeployer(f"{path}.kind", f"{kind!r} has no variables: they come from ConfigMaps and Secrets")
    if found is None:
        if is_optional:
            return None
        raise UnusableDeployer(path, f"there is no {name} in the source", "optional: true goes on without")
    return _Holder(name, _texts(found.manifest.get("data")))


def _texts(values: Any) -> dict[str, str]:
    """Return values of variables, which are of one line."""
    return {str(key): str(value).replace("\n", "") for key, value in values.items()} if isinstance(values, dict) else {}


class LeftOut(NamedTuple):
    """An object that cannot be made: its origin and name, and the reason."""

    origin: Origin
    name: str
    reason: str


class Finished(Struct):
    """The output of a folder after all that is done to it, and the objects that are left out."""

    output: bytes = b""
    origins: tuple[Origin, ...] = ()
    inputs: tuple[tuple[str, bytes], ...] = ()
    left_out: list[LeftOut] = field(default_factory=list)


def finished_by_flux(
    place: LocatedManifest, built: BuiltFolder, settings: Settings, default_namespace: str
) -> Finished:
    """Return the objects of a Kustomization with variables filled in and metadata set."""
    spec, own = place.manifest["spec"], place.manifest["metadata"].get("namespace")
    variables = variables_of(spec, str(own or default_namespace), settings)
    metadata = spec.get("commonMetadata") if isinstance(spec.get("commonMetadata"), dict) else {}
    done = Finished(inputs=variables.inputs if variables else ())
    if variables is None and not metadata:
        done.output, done.origins = built.output, built.origins
        return done
    texts, kept = [], []
    documents = zip(read_documents(built.output)[0], document_texts(built.output), built.origins, strict=False)
    for document, written, origin in documents:
        try:
            text = _text(document, written, variables, metadata)
        except (BadSubstitutionError, HiddenVariableError) as error:
            done.left_out.append(LeftOut(origin, _name(document.value), str(error)))
            continue
        texts.append(b"---\n" + text.strip(b"\n").removeprefix(b"---\n") + b"\n")
        kept.append(origin)
    done.output, done.origins = b"".join(texts), tuple(kept)
    return done


def _text(document: Document, text: bytes, variables: Variables | None, metadata: Mapping[str, Any]) -> bytes:
    """Return the text of one object; what SOPS encrypted stays as it is, for it is signed."""
    value = document.value
    if not isinstance(value, dict) or is_opaque(value):
        return text
    if variables is not None and b"$" in text and not _is_switched_off(value):
        text = substitute_variables(text.decode(), variables.value).encode()
        documents, errors = read_documents(text)
        if errors or len(documents) != 1 or not isinstance(documents[0].value, dict):
            raise BadSubstitutionError("with its variables filled in it is no YAML object")
        value = documents[0].value
    return emit(with_common_metadata(value, metadata)) if metadata else text


def _is_switched_off(value: Mapping[str, Any]) -> bool:
    return any(part.get(_SWITCH) == "disabled" for part in _labels_and_annotations(value))


def _labels_and_annotations(value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    found = value.get("metadata")
    for key in ("labels", "annotations"):
        part = found.get(key) if isinstance(found, dict) else None
        yield as_mapping(part)


def with_common_metadata(value: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with labels and annotations that all objects are to have; they count more than its own."""
    own = value.get("metadata")
    changed = dict(own) if isinstance(own, dict) else {}
    for key, before in zip(("labels", "annotations"), _labels_and_annotations(value), strict=True):
        if isinstance(metadata.get(key), dict) and metadata[key]:
            changed[key] = {**before, **metadata[key]}
    return {**value, "metadata": changed}


def _name(value: Any) -> str:
    found = value.get("metadata") if isinstance(value, dict) else None
    return f"{value.get('kind')} {found.get('name')}" if isinstance(found, dict) else "a document"
