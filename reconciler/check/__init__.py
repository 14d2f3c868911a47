"""Problems and warnings of the source, and their reports."""
