"""One session over stdin and stdout: it begins and ends with the process.

Requests are answered one after the other, in the order in which they came; the end of input comes after the last answer. The SDK's
own transport drops what it is working on when its input ends, and leaves a line that it cannot read without an answer.
"""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import redirect_stdout, suppress
from typing import IO, Any

import anyio
import mcp_types as types
import msgspec
from mcp.server import Server
from mcp.shared.message import SessionMessage

from prove.mcp.adapter import adapt
from prove.mcp.message import Envelope, Unreadable, read
from prove.mcp.sessions import Limits, Served
from prove.servers.catalog import load


def serve(servers: Sequence[str], seed: int = 0) -> None:
    """Serve until the client closes its end. Raises LookupError for an unknown server."""
    face = Served.fresh(servers, seed).whole
    name, summary = (servers[0], load(servers[0]).summary) if len(servers) == 1 else ("prove", f"The servers {', '.join(servers)}.")
    # files of our own: the interpreter waits at its end for whoever still reads from its own stdin
    with redirect_stdout(sys.stderr), open(os.dup(1), "wb") as out:  # the line is the protocol's alone, whoever prints
        source = open(os.dup(0), "rb")  # noqa: SIM115 - closed by the end of the process: a reader may stand in it
        try:
            asyncio.run(_serve(adapt(name, summary, lambda context: face), source, out, face.served.limits))
        except* BrokenPipeError:  # the client has gone and reads no more
            os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())  # where the rest goes


async def _serve(server: Server[Any], source: IO[bytes], out: IO[bytes], limits: Limits) -> None:
    into, inwards = anyio.create_memory_object_stream[SessionMessage | Exception]()
    outwards, answers = anyio.create_memory_object_stream[SessionMessage]()

    async def write(text: bytes) -> None:
        await anyio.to_thread.run_sync(_write, out, text + b"\n", abandon_on_cancel=True)

    async with anyio.create_task_group() as group:
        group.start_soon(server.run, inwards, outwards, server.create_initialization_options())
        async with into, answers:
            async for line in _read_ahead(source, limits):
                try:
                    message = read(line, limits)
                except Unreadable as unreadable:
                    await write(msgspec.json.encode(unreadable.answer))
                    continue
                await into.send(SessionMessage(_as_sdk(message)))
                while message.id is not msgspec.UNSET:
                    answer = (await answers.receive()).message
                    await write(answer.model_dump_json(by_alias=True, exclude_unset=True).encode())
                    if isinstance(answer, types.JSONRPCResponse | types.JSONRPCError):
                        break


def _as_sdk(message: Envelope) -> types.JSONRPCRequest | types.JSONRPCNotification:
    if message.id is msgspec.UNSET:
        return types.JSONRPCNotification(jsonrpc="2.0", method=message.method, params=message.params)
    return types.JSONRPCRequest(jsonrpc="2.0", id=message.id, method=message.method, params=message.params)


def _write(out: IO[bytes], text: bytes) -> None:
    out.write(text)
    out.flush()


async def _read_ahead(source: IO[bytes], limits: Limits) -> AsyncIterator[bytes]:
    """The lines, read in a thread that dies with the process: nothing else interrupts a read. As many may wait as a session may make
    calls, for clients that write them all before they read."""
    loop, waiting, room = asyncio.get_running_loop(), asyncio.Queue[bytes | None](), threading.Semaphore(limits.calls)

    def read_all() -> None:
        with suppress(RuntimeError):  # the loop has ended before the input
            try:
                for line in _lines(source, limits.body_bytes):
                    room.acquire()
                    loop.call_soon_threadsafe(waiting.put_nowait, line)
            finally:
                loop.call_soon_threadsafe(waiting.put_nowait, None)

    threading.Thread(target=read_all, daemon=True).start()
    while (line := await waiting.get()) is not None:
        room.release()
        yield line


def _lines(source: IO[bytes], longest: int) -> Iterator[bytes]:
    """The lines that are not blank; of one that is longer than `longest` bytes, its first `longest + 1`."""
    while line := source.readline(longest + 1):
        rest = line
        while rest and not rest.endswith(b"\n"):
            rest = source.readline(longest)
        if line.strip():
            yield line.removesuffix(b"\n")
