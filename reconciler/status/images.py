"""The images that the folders of clusters ask for, container by container, and who keeps an earlier version."""

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from reconciler.plans.rendered_object import mapping_of_rendered_file
from render.binding import Binding
from render.interpretation.fields import mapping_at
from render.kinds import BUILT_IN
from render.layout import object_path
from render.model import Manifest, ObjectRef

from .branches import RecordedFleet

_CONTAINERS = ("initContainers", "containers")


class PlacedImage(Struct, frozen=True, kw_only=True):
    """An image of a container, and the clusters whose folders ask for it.

    ``is_earlier``: these keep an earlier version of the object, because a rollout has not come to them, or the newest
    one cannot be made for them. ``clusters`` is empty for the newest where every cluster keeps an earlier one: it is
    that of the template then, which overrides may still change.
    """

    container: str
    image: str
    clusters: tuple[str, ...]
    is_earlier: bool = False


def images_of_binding(branches: RecordedFleet, binding: Binding) -> tuple[PlacedImage, ...]:
    """Return the images of an object by container; of each container, those that are not earlier come first."""
    earlier = _is_at_earlier_version(binding)
    found: dict[tuple[str, str, bool], list[str]] = {}
    for name, images in _images_by_cluster(branches, binding.ref):
        for container, image in images.items():
            found.setdefault((container, image, earlier(name)), []).append(name)
    if any(is_earlier for _, _, is_earlier in found):
        newest = {container for container, _, is_earlier in found if not is_earlier}
        for container, image in _images_of_template(branches, binding.ref).items():
            if container not in newest:
                found[container, image, False] = []
    ranked = sorted(found.items(), key=lambda each: (each[0][0], each[0][2], each[0][1]))
    return tuple(
        PlacedImage(container=container, image=image, clusters=tuple(sorted(names)), is_earlier=is_earlier)
        for (container, image, is_earlier), names in ranked
    )


def _is_at_earlier_version(binding: Binding) -> Callable[[str], bool]:
    """Return what says of a cluster whether it keeps an earlier version of an object."""
    outdated = {name for each in binding.kept if each.is_outdated for name in each.clusters}
    rollout = binding.rollout
    if rollout is None:
        return outdated.__contains__
    versions = rollout.version_by_cluster
    return lambda name: name in outdated or versions.get(name, rollout.completed) != rollout.target


def _images_by_cluster(branches: RecordedFleet, ref: ObjectRef) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield the images of an object in each member that has a folder with it; equal files are read once."""
    built_in = BUILT_IN.get((ref.group, ref.kind))
    tree, path = branches.fleet.previous.tree, object_path(ref)
    if built_in is None or not built_in.pod_spec or tree.read_blobs is None:
        return
    tree.load([ref])
    entries = {name: tree.trees.entry(folder, path) for name, folder in tree.clusters.items()}
    ids = {name: entry.id for name, entry in entries.items() if entry is not None and name in branches.fleet.members}
    contents = tree.contents(set(ids.values()))
    images = {
        each: _images_of_containers(mapping_of_rendered_file(content), built_in.pod_spec)
        for each, content in contents.items()
    }
    yield from ((name, images[each]) for name, each in sorted(ids.items()))


def _images_of_template(branches: RecordedFleet, ref: ObjectRef) -> Mapping[str, str]:
    """Return the images of an object as the rendered source has it."""
    built_in = BUILT_IN.get((ref.group, ref.kind))
    template = next((each for each in branches.fleet.source.desired.templates if each.ref == ref), None)
    return _images_of_containers(template.manifest, built_in.pod_spec) if template and built_in else {}


def _images_of_containers(manifest: Manifest, pod_spec: tuple[str, ...]) -> dict[str, str]:
    spec = mapping_at(manifest, *pod_spec)
    listed = (each for key in _CONTAINERS for each in spec.get(key) or () if isinstance(each, Mapping))
    return {str(each.get("name") or ""): str(each["image"]) for each in listed if each.get("image")}
