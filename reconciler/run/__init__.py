"""The controller: reconcile passes over any number of fleets, begun by what happens, for as long as the process lives.

``pacing`` decides when a fleet's source is looked at and when a pass runs: a pure function of events and of the time.
``controller`` is the loop around it. It is told by ``watching`` that refs of a repository on this machine changed, and
by signals. ``fleet_run`` asks where a source stands, and has ``processes`` run each pass in a process of its own, which
can be killed and leaves no memory behind. ``fleets`` finds the repositories, ``settings`` says how they are run.
"""
