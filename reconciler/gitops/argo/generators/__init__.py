"""Generators of ApplicationSets: the sets of parameters that they make, and the texts that these are filled into.

``parameters`` makes the sets of parameters, and ``combining`` joins those of several generators. ``texts`` fills them
into the texts of a template: by name, or by the templates of Go that ``syntax`` reads and ``evaluation`` runs with its
``functions`` and ``values``. Nothing here reads anything: the files and clusters that a generator asks for are handed
in.
"""
