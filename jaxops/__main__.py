"""`python -m jaxops train.py`."""

from jaxops._checked.command import main

if __name__ == "__main__":
    main()
