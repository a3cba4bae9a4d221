"""From our tools to the SDK's low-level server. Schemas, validation, order and error texts stay ours."""

from collections.abc import Callable
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

import prove
from prove.servers.catalog import load
from prove.servers.session import Result, Session
from prove.servers.tools import Tool

TODAY = "prove://today"
CHANGES = "prove://changes"


def adapt(server: str, session_of: Callable[[Any], Session]) -> Server[Any]:
    """An MCP server of one domain; `session_of` finds the session that a request belongs to."""
    domain = load(server)
    tools = [describe(tool) for tool in domain.server.tools.values()]

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        # synchronous on purpose: calls of a session run one at a time, never in a thread
        return as_mcp(session_of(context).call(params.name, params.arguments or {}))

    async def list_resources(context: Any, params: Any) -> types.ListResourcesResult:
        today = types.Resource(uri=TODAY, name="today", description="the session's date and time", mime_type="text/plain")
        changes = types.Resource(uri=CHANGES, name="changes", description="how many records the session changed, by table")
        return types.ListResourcesResult(resources=[today, changes])

    async def read_resource(context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        session = session_of(context)
        texts = {TODAY: session.clock.now.isoformat(), CHANGES: _changes(session)}
        if params.uri not in texts:
            raise MCPError(types.INVALID_PARAMS, f"there is no resource {params.uri}; there are: {', '.join(texts)}")
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=params.uri, text=texts[params.uri])])

    return Server(
        f"prove-{server}",
        version=prove.__version__,
        description=domain.summary,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )


def describe(tool: Tool) -> types.Tool:
    """A tool as MCP lists it."""
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=not tool.marks.writes,
            destructive_hint=tool.marks.destructive,
            idempotent_hint=tool.marks.idempotent or not tool.marks.writes,
            open_world_hint=False,
        ),
    )


def as_mcp(result: Result) -> types.CallToolResult:
    """A result as MCP carries it: the text that a rollout sees, and the same as data where the call succeeded."""
    content: list[Any] = [types.TextContent(text=result.text)]
    return types.CallToolResult(content=content, structured_content=result.value if result.ok else None, is_error=not result.ok)


def _changes(session: Session) -> str:
    counts = {table: len(rows) for table, rows in session.changes().items()}
    return "\n".join(f"{table}: {count}" for table, count in counts.items()) or "nothing has changed"
