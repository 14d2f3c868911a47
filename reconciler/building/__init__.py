"""Folders of a source turned into manifests by the tools that people use for it: ``kustomize`` and ``helm template``.

``requests`` are what it is asked for, and ``source_trees`` what folders are taken from. ``builder`` joins the steps.
``kustomization`` reads the files that one names, and ``closures`` follows them through the tree. ``tools`` finds the
programs, and ``sandbox`` runs one over a private copy of a closure alone. A build is a function of the ids of these
files and of the tool's version, and ``builds`` remembers it by exactly that; ``origins`` says which file each object
came from. ``simple`` builds without the tool what only lists resources, ``sealed`` keeps what SOPS signed, and
``remote`` puts locked content in the place of other repositories. ``folders`` are those that objects of Flux and Argo
CD deploy. ``charts`` renders charts, and ``post_rendering`` changes their output as Flux does.
"""
