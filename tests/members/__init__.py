"""Many members of a fleet in one process: Kubernetes' own code for what decides, with storage in memory, built with Go.

``server.go`` puts the API server together, ``storage.go`` is its storage, ``definitions.go`` serves custom kinds,
``controllers.go`` plays the controllers, and ``control.go`` tells what was asked and what changed.
"""
