"""The content of other repositories and charts, pinned by argosy.lock and read from a cache by digest.

``model`` has a Source as it is written and as it is locked, and ``lock_file`` reads and writes argosy.lock. ``content``
makes a digest of files and packs them, ``store`` keeps them beside the repository, and ``reading`` answers with the
files of a locked Source; neither ever uses the network.

``fetching`` resolves Sources and fetches what is locked: from ``git_repository``, ``helm_repository`` and
``oci_registry``, by ``download`` with ``credentials``, out of ``archives``.
"""
