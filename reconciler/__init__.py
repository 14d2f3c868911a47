"""The shell: Git, clusters, the clock and the command line around the pure core."""
