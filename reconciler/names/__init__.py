"""Names people type for kinds, objects, clusters and policies: understood, completed or refused."""
