"""Somebody else's MCP server: a small library of books, written without any SDK. A word on the command line changes how it behaves.

`shared FILE`: the members are kept in a file, so that sessions see each other's; `die`: it says why and ends; `vanish`: it ends in
the middle of a call of `lend`.
"""

import json
import os
import sys
import time
from pathlib import Path

MODE, FILE = (*sys.argv[1:], "", "")[:2]
BOOKS = [{"id": "B-7", "title": "Emma"}, {"id": "B-9", "title": "Persuasion"}]
TEXT = {"type": "string"}
TOOLS = {
    "list_books": ("List the books there are.", {}, True),
    "read_book": ("Read a book aloud.", {"bookId": TEXT}, True),
    "add_member": ("Add a member.", {"member_name": TEXT, "level": {"anyOf": [{"type": "string", "enum": ["junior", "full"]}]}}, False),
    "lend": ("Lend a book to a member.", {"book_id": TEXT, "member": {"$ref": "#/$defs/Name"}}, False),
    "list_members": ("List the members.", {}, True),
    "write_note": ("Write a note into a file.", {"path": TEXT}, False),
    "read_note": ("Read a note.", {"path": TEXT}, True),
    "clock": ("Say how often this was asked.", {}, True),
    "time": ("Say what time it is, to the second.", {}, True),
    "launch": ("Launch the rocket.", {"code": TEXT}, False),
}
members: list[str] = []
asked = 0


def known() -> list[str]:
    return json.loads(Path(FILE).read_text() if Path(FILE).exists() else "[]") if MODE == "shared" else members


def run(name: str, given: dict) -> object:
    """The result. Raises ValueError or OSError where there is none."""
    global asked
    if name == "list_books":
        return {"books": BOOKS}
    if name in ("read_book", "lend") and given.get("bookId", given.get("book_id")) not in [b["id"] for b in BOOKS]:
        raise ValueError("no such book")
    if name == "read_book":
        return "It is a truth universally acknowledged."
    if name == "add_member":
        now = [*known(), given["member_name"]]
        members[:] = now
        if MODE == "shared":
            Path(FILE).write_text(json.dumps(now))
        return {"member": given["member_name"]}
    if name == "lend":
        if MODE == "vanish":
            os._exit(1)
        if given["member"] not in known():
            raise ValueError("no such member")
        return {"due": "2026-04-01"}
    if name == "list_members":
        return {"members": known()}
    if name == "write_note":
        Path(given["path"]).write_text("remember")
        return f"wrote {given['path']}"
    if name == "read_note":
        return Path(given["path"]).read_text()
    if name == "clock":
        asked += 1
        return {"pid": os.getpid(), "asked": asked}
    if name == "time":
        return {"time": time.strftime("%H:%M:%S")}
    raise ValueError("wrong code")


def listed():
    defs = {"Name": {"type": "string", "description": "for example 'alpha'"}}
    for name, (description, parameters, reads) in TOOLS.items():
        schema = {"type": "object", "properties": parameters, "required": list(parameters), "$defs": defs}
        yield {"name": name, "description": description, "inputSchema": schema, "annotations": {"readOnlyHint": reads}}


def called(name, given):
    try:
        value = run(name, given)
    except (ValueError, OSError) as refused:
        return {"content": [{"type": "text", "text": f"{refused}"}], "isError": True}
    if isinstance(value, str):
        return {"content": [{"type": "text", "text": value}]}
    return {"content": [{"type": "text", "text": json.dumps(value)}], "structuredContent": value}


def answer(method, params):
    if method == "initialize":
        who = {"name": "library", "version": "1"}
        return {"result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": who}}
    if method == "tools/list":  # in pages, as the protocol allows
        tools, start = list(listed()), int(params.get("cursor", 0))
        return {"result": {"tools": tools[start : start + 5], **({"nextCursor": "5"} if start == 0 else {})}}
    if method == "tools/call":
        return {"result": called(params["name"], params.get("arguments", {}))}
    return {"error": {"code": -32601, "message": f"there is no method {method}"}}


if __name__ == "__main__":
    if MODE == "die":
        sys.exit("the library is closed")
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            reply = {"jsonrpc": "2.0", "id": message["id"], **answer(message["method"], message.get("params", {}))}
            print(json.dumps(reply), flush=True)
