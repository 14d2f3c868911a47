"""KubeAdmiral, which comes from KubeFed: plain objects, policies that they name, and a planner that avoids moves."""
