"""Trees of kustomizations made up from a number: overlays, bases and components that use every way to name a file."""

import json
from collections.abc import Iterable
from random import Random
from typing import Any

from render.documents import emit

TOP = "eu"
BUILTIN = "builtin"
_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}


def a_tree(seed: int) -> dict[str, bytes]:
    """Return the files of a tree; ``TOP`` is the folder to build."""
    return _Tree(seed).files


def a_grove(seeds: Iterable[int]) -> dict[str, bytes]:
    """Return the files of several trees, each in a folder of its own, and what builds them all at once."""
    files = {f"t{seed}/{path}": content for seed in seeds for path, content in a_tree(seed).items()}
    document = {"resources": [f"../t{seed}/{TOP}" for seed in seeds]}
    if min(seeds) % 20 < 10:
        document["buildMetadata"] = ["originAnnotations", "transformerAnnotations"]
    return {f"{TOP}/kustomization.yaml": emit(document), **files}


class _Tree:
    """A tree while it is made up: each file that something names has a number of its own."""

    def __init__(self, seed: int) -> None:
        self.chance = chance = Random(seed)
        self.files: dict[str, bytes] = {"unnamed/secret.yaml": emit(self._a_map()), "eu/unnamed.txt": b"hidden\n"}
        self.count = 1000 * seed
        deep = self._kustomization("deep", [])
        base = self._kustomization("base", [deep] if chance.random() < 0.5 else [])
        component = self._kustomization("part", [], is_component=True) if chance.random() < 0.5 else ""
        self._kustomization(TOP, [base], component)

    def _number(self) -> int:
        self.count += 1
        return self.count

    def _a_map(self) -> dict[str, Any]:
        return {**_MAP, "metadata": {"name": f"m{self.chance.randrange(10**9)}"}, "data": {"a": "b", "c": "on"}}

    def _file(self, folder: str, content: bytes, suffix: str = ".yaml") -> str:
        """Write a file, in this folder, below it or beside it, and return its name as seen from there."""
        name = f"f{self._number()}{suffix}"
        place = self.chance.choice(["", "", "sub/", "./", "../shared/", "../shared/deep/../", "../unnamed/"])
        path = place.replace("./", "", 1) if place == "./" else place
        clean = f"{folder}/{path}{name}".replace(f"{folder}/../", "").replace("deep/../", "")
        self.files[clean] = content
        return f"{place}{name}"

    def _kustomization(self, folder: str, bases: list[str], component: str = "", *, is_component: bool = False) -> str:
        chance = self.chance
        resources = [f"../{each}" for each in bases]
        names = []
        for _ in range(chance.randrange(1, 4)):
            value = self._a_map()
            names.append(value["metadata"]["name"])
            resources.append(self._file(folder, self._text(value)))
        document: dict[str, Any] = {"resources": resources}
        if is_component:
            document |= {"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component"}
        if component:
            document["components"] = [f"../{component}"]
        ways = [getattr(self, name) for name in dir(self) if name.startswith("_with_")]
        for way in chance.sample(ways, chance.randrange(2, 7)):
            document |= way(folder, names)
        name = chance.choice(["kustomization.yaml", "kustomization.yml", "Kustomization"])
        self.files[f"{folder}/{name}"] = self._text(document)
        return folder

    def _text(self, value: Any) -> bytes:
        """Return a value in one of the ways to write it."""
        plain = emit(value)
        return self.chance.choice(
            [
                plain,
                json.dumps(value).encode(),
                json.dumps(value, indent=2).encode(),
                b"\xef\xbb\xbf" + plain,
                b"# A comment.\n---\n" + plain + b"...\n",
                plain.replace(b"\n", b"\r\n"),
                b"# A comment.\n\n" + plain,
            ]
        )

    def _with_names(self, _folder: str, _names: list[str]) -> dict[str, Any]:
        return {"namePrefix": "p-", "nameSuffix": "-s", "namespace": "shop"}

    def _with_labels(self, _folder: str, _names: list[str]) -> dict[str, Any]:
        fields = [{"path": "data/labels", "create": True, "kind": "ConfigMap"}]
        return {"labels": [{"pairs": {"a": "yes", "b": "1"}, "includeSelectors": False, "fields": fields}]}

    def _with_annotations(self, _folder: str, _names: list[str]) -> dict[str, Any]:
        return {"commonAnnotations": {"x.org/y": "08", "z": "multi\nline"}, "commonLabels": {"k": "v"}}

    def _with_config_map(self, folder: str, _names: list[str]) -> dict[str, Any]:
        named = [f"key.{self._number()}={self._file(folder, b'text', '.txt')}", self._file(folder, b"\x00\xff", ".bin")]
        envs = [self._file(folder, b"A=1\n# c\nB=x=y\n", ".env")]
        options = {"disableNameSuffixHash": self.chance.random() < 0.5, "labels": {"of": "it"}}
        generated = {
            "name": f"g{self._number()}",
            "files": named,
            "envs": envs,
            "literals": ["l=1"],
            "options": options,
        }
        return {"configMapGenerator": [generated], "generatorOptions": {"annotations": {"made": "yes"}}}

    def _with_secret(self, folder: str, _names: list[str]) -> dict[str, Any]:
        env = self._file(folder, b"PASSWORD=1\n", ".env")
        return {"secretGenerator": [{"name": f"s{self._number()}", "env": env, "type": "Opaque"}]}

    def _with_patches(self, folder: str, names: list[str]) -> dict[str, Any]:
        merge = {**_MAP, "metadata": {"name": names[0]}, "data": {"merged": "1e3"}}
        added = [{"op": "add", "path": "/data/added", "value": "x"}]
        target = {"kind": "ConfigMap", "name": names[-1]}
        return {
            "patches": [
                {"path": self._file(folder, self._text(merge))},
                {"path": self._file(folder, json.dumps(added).encode()), "target": target},
                {"patch": emit(merge).decode(), "options": {"allowNameChange": True}},
            ]
        }

    def _with_old_patches(self, folder: str, names: list[str]) -> dict[str, Any]:
        merge = {**_MAP, "metadata": {"name": names[0]}, "data": {"old": "1"}}
        added = [{"op": "add", "path": "/data/older", "value": "x"}]
        target = {"version": "v1", "kind": "ConfigMap", "name": names[-1]}
        return {
            "patchesStrategicMerge": [self._file(folder, self._text(merge)), emit(merge).decode(), json.dumps(merge)],
            "patchesJson6902": [{"path": self._file(folder, emit(added)), "target": target}],
        }

    def _with_replacements(self, folder: str, names: list[str]) -> dict[str, Any]:
        source = {"kind": "ConfigMap", "name": names[0], "fieldPath": "data.a"}
        targets = [{"select": {"kind": "ConfigMap"}, "fieldPaths": ["data.copied"], "options": {"create": True}}]
        found = {"source": source, "targets": targets}
        return {"replacements": [{"path": self._file(folder, emit(self.chance.choice([found, [found]])))}, found]}

    def _with_configurations(self, folder: str, _names: list[str]) -> dict[str, Any]:
        text = emit({"commonLabels": [{"path": "data/more", "create": True, "kind": "ConfigMap"}]})
        return {"configurations": [self._file(folder, text)], "commonLabels": {"c": "d"}}

    def _with_definitions(self, folder: str, _names: list[str]) -> dict[str, Any]:
        definition: dict[str, Any] = {
            "org.Thing": {"Schema": {"properties": {"kind": {}, "apiVersion": {}, "metadata": {}}}}
        }
        return {"crds": [self._file(folder, json.dumps(definition).encode(), ".json")]}

    def _with_generators(self, folder: str, _names: list[str]) -> dict[str, Any]:
        own = f"{folder}/in{self._number()}.txt"
        self.files[own] = b"of a generator\n"
        name = own.rpartition("/")[2]
        head = {"apiVersion": BUILTIN, "metadata": {"name": f"gen{self._number()}"}}
        generator = {**head, "kind": "ConfigMapGenerator", "files": [name, f"k={name}"], "literals": ["a=b"]}
        listed = [
            self._file(folder, self._text(generator)),
            emit({**generator, "metadata": {"name": f"i{self.count}"}}).decode(),
        ]
        return {"generators": listed}

    def _with_transformers(self, folder: str, names: list[str]) -> dict[str, Any]:
        head = {"apiVersion": BUILTIN, "metadata": {"name": f"t{self._number()}"}}
        fields = [{"path": "metadata/annotations", "create": True}]
        annotating = {**head, "kind": "AnnotationsTransformer", "annotations": {"t": "1"}, "fieldSpecs": fields}
        own = f"{folder}/patch{self._number()}.yaml"
        self.files[own] = emit({**_MAP, "metadata": {"name": names[0]}, "data": {"transformed": "y"}})
        patching = {"apiVersion": BUILTIN, "kind": "PatchTransformer", "metadata": {"name": f"p{self.count}"}}
        patching |= {"path": own.rpartition("/")[2], "target": {"kind": "ConfigMap", "name": names[0]}}
        folder_of_them = f"transformers{self._number()}"
        self.files[f"{folder_of_them}/kustomization.yaml"] = b"resources: [t.yaml]\n"
        self.files[f"{folder_of_them}/t.yaml"] = emit(annotating)
        return {"transformers": [self._file(folder, self._text(patching)), f"../{folder_of_them}"]}

    def _with_origins(self, _folder: str, _names: list[str]) -> dict[str, Any]:
        return {"buildMetadata": ["originAnnotations", "transformerAnnotations"]}

    def _with_order(self, _folder: str, _names: list[str]) -> dict[str, Any]:
        return {"sortOptions": {"order": "legacy"}, "images": [{"name": "a", "newTag": "1.0"}]}
