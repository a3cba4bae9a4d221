"""`prove`: the library from the command line. Each command is a thin face of a function of the package."""

# ruff: noqa: I001 - the help lists the commands in this order
from prove.cli.app import app, fail
from prove.cli import library, serving, data, scoring, runs

__all__ = ["app", "data", "library", "main", "runs", "scoring", "serving"]


def main() -> None:
    """Run the command line; a user's mistake is one line on stderr and exit code 2, never a traceback."""
    from prove.extras import missing
    from prove.records import BadRecord
    from prove.run import ModelError, RunError

    try:
        app()
    except (LookupError, BadRecord, RunError, ModelError) as error:
        fail(error)
    except ModuleNotFoundError as error:
        if not (what := missing(error)):
            raise
        fail(what)
    except OSError as error:
        fail(f"{error.filename or 'output'}: {error.strerror or error}")
