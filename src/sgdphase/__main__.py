"""`python -m sgdphase`: the command, with this interpreter."""

from sgdphase.cli import main

if __name__ == "__main__":
    main()
