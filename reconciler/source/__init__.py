"""The source of a commit, from files to checked values.

``loading`` joins the steps. ``reading`` is the seam to what makes objects of folders and charts, and ``built_files``
its output. ``external`` has the Sources and their lock, and ``included`` reads everything, with the manifests of
Sources that include theirs. ``fleet_file`` reads argosy.yaml, ``files`` selects the files to read, and ``manifests``
parses them. ``roles`` sorts the manifests: ``templates`` makes resource templates of some, ``karmada_objects`` the
policies, overrides, clusters and customizations of others, and ``policy_tests`` the tests. ``scopes`` says which kinds
live in namespaces; ``foreign_documents`` knows what only looks like an object, ``broken`` is what can be left out.
``schemas`` checks templates against those of their kinds, ``checks`` compares the objects with each other, ``lines``
finds the lines of problems, and ``desired`` is the value of it all. ``facts`` are what members add to it.
"""
