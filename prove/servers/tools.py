"""A tool is one short method: its signature is the schema, its docstring the description."""

import inspect
from collections.abc import Callable
from typing import Any, NewType, TypeVar, get_type_hints

import msgspec

from prove.servers.decoding import Decoder, parameter_schema
from prove.servers.schema import bare, ids_in, is_id, is_secret, metas, schema, subject_of

F = TypeVar("F", bound=Callable[..., Any])


class Marks(msgspec.Struct, frozen=True):
    """What a decorator says of a tool."""

    writes: bool
    destructive: bool = False
    idempotent: bool = False


def read(method: F) -> F:
    """Mark a method as a tool that leaves the state alone."""
    method.__prove__ = Marks(writes=False)  # type: ignore[attr-defined]
    return method


def write(method: F | None = None, *, destructive: bool = False, idempotent: bool = False) -> Any:
    """Mark a method as a tool that changes the state.

    `destructive`: it removes or cancels something. `idempotent`: saying it again succeeds and changes nothing.
    """

    def mark(function: F) -> F:
        function.__prove__ = Marks(True, destructive, idempotent)  # type: ignore[attr-defined]
        return function

    return mark if method is None else mark(method)


class Parameter(msgspec.Struct, frozen=True):
    """One argument of a tool: its hint says everything about it."""

    name: str
    hint: Any
    required: bool
    default: Any
    id_type: NewType | None  # of the record that it names
    secret: bool


class Tool(msgspec.Struct, frozen=True):
    """A tool as the rest of the house sees it. Made once a server class, by `tool_of`."""

    name: str
    description: str
    marks: Marks
    parameters: tuple[Parameter, ...]
    returns: Any
    function: Callable[..., Any]
    decode: Callable[[Any], tuple[Any, ...]]  # arguments as a client sent them -> values in the order of the signature
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    names: tuple[tuple[int, NewType], ...]  # where ids stand among the values, alone or in a list
    consumes: frozenset[NewType]  # the ids in its required parameters
    produces: frozenset[NewType]  # the ids in its result
    subject: NewType | None  # the key of the records that its result is about

    def ids_of(self, arguments: dict[str, Any]) -> dict[NewType, str]:
        """The records that a call is about: the ids among its arguments, by type."""
        return {p.id_type: arguments[p.name] for p in self.parameters if p.id_type and p.name in arguments}

    def as_function(self) -> dict[str, Any]:
        """The tool in the chat-completions format: `{"type": "function", "function": {...}}`."""
        return {
            "type": "function",
            "function": {"name": self.name, "description": self.description, "parameters": self.input_schema},
        }


def tool_of(function: Callable[..., Any]) -> Tool:
    """Read a marked method. Raises TypeError for a signature that makes no flat, described schema."""
    name, signature = function.__name__, inspect.signature(function)
    hints = get_type_hints(function, include_extras=True)
    parameters = tuple(_parameter(p, hints[p.name]) for p in list(signature.parameters.values())[1:])
    input_schema = {
        "type": "object",
        "properties": {p.name: _property(name, p) for p in parameters},
        "required": [p.name for p in parameters if p.required],
        "additionalProperties": False,
    }
    decoder = Decoder(
        name,
        {p.name: p.hint for p in parameters},
        input_schema,
        defaults={p.name: p.default for p in parameters if not p.required},
        secret={p.name for p in parameters if p.secret},
    )
    return Tool(
        name=name,
        description=inspect.cleandoc(function.__doc__ or "").strip(),
        marks=function.__prove__,  # type: ignore[attr-defined]
        parameters=parameters,
        returns=hints["return"],
        function=function,
        decode=decoder.decode,
        input_schema=input_schema,
        output_schema=schema(hints["return"], nullable=True),
        names=tuple((at, kind) for at, p in enumerate(parameters) for kind in ids_in(p.hint)),
        consumes=frozenset().union(*(ids_in(p.hint) for p in parameters if p.required)),
        produces=frozenset(ids_in(hints["return"])),
        subject=subject_of(hints["return"]),
    )


def _parameter(declared: inspect.Parameter, hint: Any) -> Parameter:
    required, core = declared.default is declared.empty, bare(hint)
    return Parameter(declared.name, hint, required, None if required else declared.default, core if is_id(core) else None, is_secret(hint))


def _property(tool: str, parameter: Parameter) -> dict[str, Any]:
    spec = parameter_schema(parameter.hint)
    if not parameter.id_type and not any(m.description for m in metas(parameter.hint)):
        raise TypeError(
            f"{tool}({parameter.name}): give it a named type that says what it means, as `Annotated[..., Meta(description=...)]`"
        )
    if not parameter.required and parameter.default is not None:
        spec["default"] = msgspec.to_builtins(parameter.default)
    return spec
