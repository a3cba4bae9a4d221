"""`python -m prove`: the command line, where no `prove` stands on the path."""

from prove.cli import main

if __name__ == "__main__":
    main()
