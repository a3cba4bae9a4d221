"""One served library for all tests of the MCP face."""

import subprocess

import pytest

from .helpers import Web, command


@pytest.fixture(scope="session")
def web():
    """The whole library as the command serves it, in a process of its own."""
    with command("serve", "--all", "--http", "--port", "0", stdout=subprocess.PIPE) as process:
        address, token = (process.stdout.readline().split()[-1] for _ in range(2))
        with Web(address, token) as client:
            yield client
        process.terminate()
