"""The library's face to any MCP client: stdio (one session a process) and streamable HTTP (one session a URL).

The core knows nothing of MCP; this package puts it on the official SDK's low-level `Server`, which owns the wire and both
protocol eras. What a client sees is byte for byte what `Session.call` gives in process. Sessions are made, reset, forked and
ended beside the protocol, at a control endpoint: see `prove.mcp.control`.
"""
