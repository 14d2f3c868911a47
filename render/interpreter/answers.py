"""Answers in the API's form, into values and back: requirements, components and dependencies."""

from typing import Any

from render.interpretation.fields import error_of_wrong_type, integer_at, mapping_at, objects_at, text_at
from render.resources import Component, DependentObject, NodeClaim, ReplicaRequirements


def requirements_from_answer(answer: Any) -> ReplicaRequirements | None:
    """Return ReplicaRequirements from the API's form; None for null."""
    if answer is None:
        return None
    request = mapping_at(answer, "resourceRequest")
    for name, quantity in request.items():
        if isinstance(quantity, bool) or not isinstance(quantity, str | int | float):
            raise error_of_wrong_type(quantity, "a quantity", ("resourceRequest", name))
    return ReplicaRequirements(
        node_claim=_node_claim_from_answer(answer["nodeClaim"]) if answer.get("nodeClaim") is not None else None,
        resource_request={name: str(quantity) for name, quantity in request.items()},
        namespace=text_at(answer, "namespace"),
        priority_class_name=text_at(answer, "priorityClassName"),
    )


def _node_claim_from_answer(claim: Any) -> NodeClaim:
    return NodeClaim(
        node_selector=mapping_at(claim, "nodeSelector"),
        tolerations=tuple(objects_at(claim, "tolerations")),
        hard_node_affinity=mapping_at(claim, "hardNodeAffinity") or None,
    )


def component_from_answer(answer: Any) -> Component:
    """Return a Component from the API's form."""
    return Component(
        name=text_at(answer, "name"),
        replicas=integer_at(answer, "replicas") or 0,
        requirements=requirements_from_answer(mapping_at(answer, "replicaRequirements") or None),
    )


def dependency_from_answer(answer: Any) -> DependentObject:
    """Return a DependentObject from the API's form."""
    selector = mapping_at(answer, "labelSelector") if answer.get("labelSelector") is not None else None
    return DependentObject(
        api_version=text_at(answer, "apiVersion"),
        kind=text_at(answer, "kind"),
        namespace=text_at(answer, "namespace"),
        name=text_at(answer, "name"),
        label_selector=selector,
    )


def plain_requirements(requirements: ReplicaRequirements | None) -> dict[str, Any] | None:
    """Return ReplicaRequirements in the API's form, without empty fields."""
    if requirements is None:
        return None
    claim = requirements.node_claim
    written = {
        "nodeClaim": None if claim is None else _plain_node_claim(claim),
        "resourceRequest": dict(requirements.resource_request) or None,
        "namespace": requirements.namespace or None,
        "priorityClassName": requirements.priority_class_name or None,
    }
    return {key: value for key, value in written.items() if value is not None}


def _plain_node_claim(claim: NodeClaim) -> dict[str, Any]:
    written = {
        "nodeSelector": claim.node_selector,
        "tolerations": list(claim.tolerations),
        "hardNodeAffinity": claim.hard_node_affinity,
    }
    return {key: value for key, value in written.items() if value}


def plain_component(component: Component) -> dict[str, Any]:
    """Return a Component in the API's form."""
    requirements = plain_requirements(component.requirements)
    named = {"name": component.name, "replicas": component.replicas}
    return named if requirements is None else {**named, "replicaRequirements": requirements}


def plain_dependency(dependency: DependentObject) -> dict[str, Any]:
    """Return a DependentObject in the API's form, without empty fields."""
    written = {
        "apiVersion": dependency.api_version,
        "kind": dependency.kind,
        "namespace": dependency.namespace,
        "name": dependency.name,
        "labelSelector": dependency.label_selector,
    }
    return {key: value for key, value in written.items() if value is not None and value != ""}


def missing_part_of_reference(dependency: DependentObject) -> str:
    """Return the part a reference to a dependency lacks; empty when it is complete."""
    if not dependency.api_version or not dependency.kind:
        return "apiVersion or kind"
    return "" if dependency.name or dependency.label_selector is not None else "name and no labelSelector"
