"""The page: views over the documents that ``-o json`` prints, as HTML that a browser shows without anything else.

``views`` has one module for each view, and the table of them. A view asks a ``look`` at a fleet for documents, and
names a template; it computes nothing. ``site`` answers an address with a page, ``serving`` a request of HTTP, once
``entry`` has let it in. The page writes nothing: what changes something is shown as a command to run.
"""
