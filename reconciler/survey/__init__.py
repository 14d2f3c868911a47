"""The fleet surveyed: its objects, clusters, policies and namespaces listed, counted in a matrix, and searched.

All of it is made of one value, the ``Survey`` of a fleet as its branches describe it, so that lists, numbers and what a
search finds agree with each other. Nothing is rendered for it, and no cluster is asked.
"""
