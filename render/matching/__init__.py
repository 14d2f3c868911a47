"""Match templates with propagation policies: exclusions, the policy that claims each template, and its binding."""
