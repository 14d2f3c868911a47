"""Programs that help people and ask about a fleet by the Model Context Protocol: tools, and answers that are bounded.

``messages`` reads and writes what goes through the pipe, and ``server`` answers it. A tool (``tools``) is a command of
the command line with some of its options. A call runs that command in a process of its own (``runs``), which can write
nothing, and ``answers`` makes an answer of what it printed. One tool writes: ``proposals`` says what it may be handed,
and ``proposing`` is the process that makes the branch.
"""
