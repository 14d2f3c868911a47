"""Match templates with propagation policies: which are never propagated, which policy claims each, its binding."""
