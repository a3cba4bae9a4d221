"""From our tools to the SDK's low-level server. Schemas, validation, order and error texts stay ours."""

import logging
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

import mcp_types as types
import msgspec
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

import prove
from prove.mcp.sessions import Face
from prove.servers.decoding import quoted
from prove.servers.schema import fields_of, is_secret
from prove.servers.session import Result
from prove.servers.tools import Tool

log = logging.getLogger(__name__)
Handler = Callable[[Any, Any], Awaitable[Any]]


def _now(face: Face) -> str:
    return face.session.clock.now.isoformat()


def _digest(face: Face) -> str:
    return face.session.digest()


def _changes(face: Face) -> str:
    """What the session changed, as JSON; a secret that a record keeps is null, since no client was told it."""
    servers = {home for home, tool in tools_of(face).values()}
    changes = {table: rows for table, rows in face.session.changes().items() if table.split(".")[0] in servers}
    plain = {table: {key: [_without_secrets(r) for r in pair] for key, pair in rows.items()} for table, rows in changes.items()}
    return msgspec.json.encode(plain).decode()


def _without_secrets(record: Any) -> Any:
    if record is None:
        return None
    hidden = {name: None for name, hint in fields_of(type(record)).items() if is_secret(hint)}
    return msgspec.to_builtins(record) | hidden


#: uri -> (name, description, type, what it reads)
RESOURCES: dict[str, tuple[str, str, str, Callable[[Face], str]]] = {
    "prove://now": ("now", "the session's date and time, which stand still while tools run", "text/plain", _now),
    "prove://digest": ("digest", "the digest of the session's state: equal for equal states", "text/plain", _digest),
    "prove://changes": ("changes", "what the session changed: [before, after] by table and key", "application/json", _changes),
}


def adapt(name: str, summary: str, face_of: Callable[[Any], Face]) -> Server[Any]:
    """An MCP server; `face_of` finds what the client of a request sees.

    Handlers run a tool to its end without awaiting, and never in a thread: so no two calls of a session overlap, and a client
    that goes away in the middle leaves either the whole call or nothing.
    """

    @_contained
    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[describe(listed, tool) for listed, (_, tool) in tools_of(face_of(context)).items()])

    @_contained
    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        return as_mcp(face_of(context).call(params.name, params.arguments or {}))

    @_contained
    async def list_resources(context: Any, params: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(
            resources=[
                types.Resource(uri=uri, name=short, description=description, mime_type=kind)
                for uri, (short, description, kind, _) in RESOURCES.items()
            ]
        )

    @_contained
    async def read_resource(context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        if uri not in RESOURCES:
            known = ", ".join(RESOURCES)
            raise MCPError(types.INVALID_PARAMS, f"there is no resource {quoted(uri)}; there are: {known}", {"uri": uri[:200]})
        _, _, kind, read = RESOURCES[uri]
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=kind, text=read(face_of(context)))])

    server: Server[Any] = Server(
        name,
        version=prove.__version__,
        instructions=f"{summary} The session's date and time are in prove://now.",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )
    # no schema of ours takes an argument from a header; unless told so, the SDK lists all tools before each call over HTTP
    server.get_tool_input_schema = lambda tool: None
    return server


def _contained(handler: Handler) -> Handler:
    """A handler whose crash, a bug and no refusal, is loud here, and nothing of it gets outside."""

    @wraps(handler)
    async def contained(context: Any, params: Any) -> Any:
        try:
            return await handler(context, params)
        except MCPError:
            raise
        except Exception:
            log.exception("%s crashed: %s", handler.__name__, getattr(params, "name", None) or getattr(params, "uri", ""))
            raise MCPError(types.INTERNAL_ERROR, "the server crashed; its log says why") from None

    return contained


def tools_of(face: Face) -> dict[str, tuple[str, Tool]]:
    """The tools that can be called, in the order in which their servers declare them."""
    session = face.session
    return {name: found for name, found in session.tools.items() if session.only is None or name in session.only}


def describe(name: str, tool: Tool) -> types.Tool:
    """A tool as MCP lists it."""
    return types.Tool(
        name=name,
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
    """A result as MCP carries it: the text that a rollout sees, and the same as data where the call succeeded.

    A refusal has its text only: its data would not fit the tool's output schema.
    """
    content: list[Any] = [types.TextContent(text=result.text)]
    return types.CallToolResult(content=content, structured_content=result.value if result.ok else None, is_error=not result.ok)
