"""Objects of Flux and Argo CD that deploy folders, read as these tools read them where argosy.yaml asks for it.

``rounds`` joins the steps: what a folder makes may deploy further folders, or change objects that do. ``flux`` turns
one object into a ``request``, which ``reconciler.building`` has built. ``trees`` are the files that it may mean;
``after_build`` is done to what was built, with the ``variables`` that Flux fills in.
"""
