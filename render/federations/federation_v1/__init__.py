"""Federation v1: annotations on plain objects say where they go, and every workload is divided."""
