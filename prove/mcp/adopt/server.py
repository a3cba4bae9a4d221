"""Sessions of a foreign server, over stdio or streamable HTTP."""

import json
import logging
import shlex
import shutil
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Any, NoReturn

import mcp_types as types
import msgspec
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from prove.run import RunError
from prove.servers.errors import did_you_mean
from prove.servers.session import Result, refusal
from prove.strict_json import fault, loads

FOLDER = "{folder}"  # in a command or an argument: the session's own folder
SECONDS = 30.0  # how long an answer may take
logging.getLogger("mcp").addHandler(logging.NullHandler())  # what goes wrong on the way is raised as well


class ForeignTool(msgspec.Struct, frozen=True):
    """A tool as its server lists it. `reads` where the server says that it changes nothing."""

    name: str
    description: str
    input_schema: dict[str, Any]
    reads: bool


class ForeignResult(Result, frozen=True):
    """What a call gave. `text` is what a model reads; `data` says the same as plain data where the server does."""

    data: Any = None

    @property
    def value(self) -> Any:
        """The result as plain data: the text itself where there is no other."""
        return self.data


class ForeignSession:
    """A connection: what an episode needs of a `Session`, without fork, digest or a clock that could be moved."""

    def __init__(self, server: "Adopted", client: Client, portal: BlockingPortal, folder: str) -> None:
        self.server, self._client, self._portal, self._folder = server, client, portal, folder
        self.tools = {name: (server.name, tool) for name, tool in server.tools.items()}

    def call(self, name: str, arguments: Any) -> Result:
        """Run one tool. What the server refuses is a `Result`; raises `RunError` where it answers no more."""
        if name not in self.tools:
            return refusal("not_found", f"there is no tool {name!r}{did_you_mean(str(name), sorted(self.tools))}")
        if why := fault(arguments):  # the SDK's client would fall over it, with all that is under way
            return refusal("invalid_argument", f"the arguments are no JSON: {why}")
        try:
            result = self._portal.call(self._client.call_tool, name, self._inside(arguments))
        except MCPError as error:
            if error.code in (types.CONNECTION_CLOSED, types.REQUEST_TIMEOUT):
                raise RunError(f"{self.server.name} stopped answering in {name}: {error.message}") from None
            return ForeignResult(False, self._outside(error.message), data=self._outside(error.message))
        except (RuntimeError, ValueError) as error:  # the SDK's word for a result that is none, or not what its schema promised
            raise RunError(f"{name} of {self.server.name} breaks the protocol: {str(error).splitlines()[0]}") from None
        return self._result(result)

    def advance(self, **duration: float) -> None:
        """Time is the foreign server's own: it passes by itself."""

    def _result(self, result: types.CallToolResult) -> ForeignResult:
        text = self._outside("\n".join(b.text if isinstance(b, types.TextContent) else f"[{b.type}]" for b in result.content))
        data = result.structured_content
        if data is not None:
            return ForeignResult(not result.is_error, text, data=json.loads(self._outside(json.dumps(data))))
        try:
            return ForeignResult(not result.is_error, text, data=loads(text))
        except ValueError:
            return ForeignResult(not result.is_error, text, data=text)

    # the folder has another name in each session: whoever compares sessions, or learns from one, sees it as {folder}

    def _inside(self, arguments: Any) -> Any:
        return json.loads(json.dumps(arguments).replace(FOLDER, self._folder)) if self._folder else arguments

    def _outside(self, text: str) -> str:
        return text.replace(self._folder, FOLDER) if self._folder else text


class Adopted:
    """A foreign server: `with Adopted(["npx", "-y", "some-server"]) as server: ...`, or `Adopted(["https://.../mcp"])`.

    `{folder}` in the command is a fresh folder for each session, which holds a copy of `start`. `only` are the tools to use,
    all by default. Entering raises `RunError` where no server answers and LookupError for a tool that it does not have, and
    OSError where there is no such command. Tools are called for real: adopt what can be tried out without harm.
    """

    def __init__(self, command: Sequence[str], only: Collection[str] = (), start: Path | None = None) -> None:
        self.command, self.only, self.start = list(command), list(only), start
        self.url = self.command[0] if len(self.command) == 1 and "://" in self.command[0] else ""
        self.name = "foreign"
        self.tools: dict[str, ForeignTool] = {}
        self.opened = 0  # sessions so far
        self._stack = ExitStack()

    def __enter__(self) -> "Adopted":
        if self.start and not self.start.is_dir():
            raise NotADirectoryError(20, "is no folder to start from", str(self.start))
        self._portal = self._stack.enter_context(start_blocking_portal())
        try:
            with self._connected() as (client, _):
                self.name = client.server_info.name if client.server_info else self.name
                self.tools = {tool.name: tool for tool in map(_tool, self._portal.call(_listed, client))}
            missing = [name for name in self.only if name not in self.tools]
            if missing:
                raise LookupError(f"{self.name} has no tool {missing[0]!r}; it has: {', '.join(self.tools)}")
        except BaseException:
            self._stack.close()
            raise
        self.tools = {name: tool for name, tool in self.tools.items() if name in (self.only or self.tools)}
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    @contextmanager
    def open(self) -> Iterator[ForeignSession]:
        """A fresh session, ended with its process and its folder on the way out."""
        with self._connected() as (client, folder):
            self.opened += 1
            yield ForeignSession(self, client, self._portal, folder)

    @contextmanager
    def _connected(self) -> Iterator[tuple[Client, str]]:
        with ExitStack() as stack:
            words: IO[str] | None = None
            folder = ""
            if self.url:
                target: Any = self.url
            else:
                folder, words = self._folder(stack), stack.enter_context(TemporaryFile("w+", errors="replace"))
                command, *rest = (word.replace(FOLDER, folder) for word in self.command)
                target = stdio_client(StdioServerParameters(command=command, args=rest), errlog=words)  # type: ignore[arg-type]
            connection = self._portal.wrap_async_context_manager(Client(target, read_timeout_seconds=SECONDS))
            try:
                client = connection.__enter__()
            except Exception as error:
                if isinstance(error, OSError) and error.filename:
                    raise  # there is no such command
                self._silent(error, words)
            try:
                yield client, folder
            finally:
                connection.__exit__(None, None, None)  # an error of ours is none of the connection, which would wrap it in a group

    def _folder(self, stack: ExitStack) -> str:
        folder = stack.enter_context(TemporaryDirectory(prefix="prove-", ignore_cleanup_errors=True))
        if self.start:
            shutil.copytree(self.start, folder, dirs_exist_ok=True)
        return str(Path(folder).resolve())

    def _silent(self, error: BaseException, words: IO[str] | None) -> NoReturn:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        said = ""
        if words:
            words.seek(0)
            said = next((f"; its last words: {line.strip()}" for line in reversed(words.readlines()) if line.strip()), "")
        raise RunError(f"no MCP server answers at `{shlex.join(self.command)}`: {error}{said}") from None


async def _listed(client: Client) -> list[types.Tool]:
    listed = await client.list_tools()
    tools = list(listed.tools)
    while listed.next_cursor:
        listed = await client.list_tools(cursor=listed.next_cursor)
        tools += listed.tools
    return tools


def _tool(tool: types.Tool) -> ForeignTool:
    reads = bool(tool.annotations and tool.annotations.read_only_hint)
    return ForeignTool(tool.name, (tool.description or tool.name).strip(), tool.input_schema, reads)
