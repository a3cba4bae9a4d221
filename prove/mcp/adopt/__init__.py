"""Somebody else's MCP server as an environment: its tools, the graph of what depends on what, episodes on it.

A foreign server has no worlds, seeds, forks or digests. What stands in for them: a session is a connection of its own, over stdio
a process and an empty folder of its own; states are compared by what the tools say of them; whether sessions are isolated and
whether results repeat is not assumed but tried.
"""
