"""The scopes of kinds: ``kind_scopes`` asks all who tell whether the objects of a kind live in namespaces.

``definitions`` has what the CustomResourceDefinitions of the source tell, and ``well_known_kinds`` what is known of the
kinds of other projects.
"""
