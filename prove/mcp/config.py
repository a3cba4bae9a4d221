"""What to paste into a client's settings, so that it starts `prove serve` itself."""

import json
import shlex
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SNIPPETS = """\
Claude Desktop, in claude_desktop_config.json:
{claude}

VS Code, in .vscode/mcp.json:
{code}

MCP Inspector, in a terminal:
npx @modelcontextprotocol/inspector {words}
"""


def snippets(servers: Sequence[str], seed: int = 0) -> str:
    """The three snippets as text. Paths are absolute: a client starts the command in a folder of its own."""
    entry, name = launch(servers, seed), "-".join(servers)
    return SNIPPETS.format(
        claude=json.dumps({"mcpServers": {name: entry}}, indent=2),
        code=json.dumps({"servers": {name: {"type": "stdio", **entry}}}, indent=2),
        words=shlex.join([entry["command"], *entry["args"]]),
    )


def launch(servers: Sequence[str], seed: int = 0) -> dict[str, Any]:
    """The command that serves these servers over stdio, and its arguments."""
    words = ["serve", *servers, *(["--seed", str(seed)] if seed else [])]
    script = Path(sysconfig.get_path("scripts")) / "prove"
    if script.exists():
        return {"command": str(script), "args": words}
    return {"command": sys.executable, "args": ["-m", "prove", *words]}
