"""``python -m reconciler``: the ``argosy`` command where it is not on the path."""

from reconciler.cli import main

if __name__ == "__main__":
    main()
