"""A tool is one short method: its signature is the schema, its docstring the description."""

import difflib
import inspect
from collections.abc import Callable
from datetime import date
from typing import Any, NewType, TypeVar, get_type_hints

import msgspec

from prove.servers.errors import ToolError
from prove.servers.schema import bare, ids_in, is_id, is_secret, metas, schema, subject_of

_YEARS = (1900, 2199)

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
    arguments: type[msgspec.Struct]
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
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

    def decode(self, arguments: Any) -> tuple[Any, ...]:
        """Arguments as a client sent them -> values in the order of the signature.

        Strict: nothing is coerced, nothing ignored. Raises `ToolError("invalid_argument")`.
        """
        try:
            msgspec.json.encode(arguments)  # half of a surrogate pair is no text: it could not be stored or shown
        except UnicodeEncodeError:
            raise ToolError("invalid_argument", f"{self.name}: the arguments hold text that is not valid Unicode") from None
        try:
            values = msgspec.structs.astuple(msgspec.convert(arguments, self.arguments))
        except msgspec.ValidationError:
            raise ToolError("invalid_argument", self.complaint(arguments)) from None
        for value in values:  # at the ends of the calendar, date arithmetic overflows
            if isinstance(value, date) and not _YEARS[0] <= value.year <= _YEARS[1]:
                raise ToolError("invalid_argument", f"{self.name}: {value} lies outside the years {_YEARS[0]} to {_YEARS[1]}")
        return values

    def complaint(self, arguments: Any) -> str:
        """Why the arguments do not fit, in words that do not depend on a library's version."""
        if not isinstance(arguments, dict):
            return f"{self.name}: arguments must be an object, got {_show(arguments)}"
        known = {p.name: p for p in self.parameters}
        for name in arguments:
            if name not in known:
                return f"{self.name} has no argument {name!r}{did_you_mean(str(name), known)}; it takes {', '.join(known) or 'none'}"
        for parameter in self.parameters:
            if parameter.required and parameter.name not in arguments:
                return f"{self.name}: {parameter.name} is missing; expected {expected(self.input_schema['properties'][parameter.name])}"
        for name, value in arguments.items():
            try:
                msgspec.convert(value, known[name].hint)
            except msgspec.ValidationError:
                return f"{self.name}: {name} must be {expected(self.input_schema['properties'][name])}, got {_show(value)}"
        return f"{self.name}: the arguments do not fit its schema"


def did_you_mean(word: str, known: Any) -> str:
    """`" (did you mean 'x'?)"` for the closest known word, or nothing."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


_BOUNDS = {
    "exclusiveMinimum": "above {}",
    "minimum": "at least {}",
    "exclusiveMaximum": "below {}",
    "maximum": "at most {}",
    "minLength": "of at least {} characters",
    "maxLength": "of at most {} characters",
    "minItems": "with at least {} items",
    "maxItems": "with at most {} items",
    "pattern": "matching {}",
}
_NOUNS = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


def expected(spec: dict[str, Any]) -> str:
    """A property's schema in words: "an integer above 0 (an amount in cents)"."""
    if "enum" in spec:
        return "one of " + ", ".join(map(repr, spec["enum"]))
    words = [_NOUNS[spec["type"]], *(text.format(spec[key]) for key, text in _BOUNDS.items() if key in spec)]
    if spec["type"] == "array":
        words.insert(1, f"whose items are each {expected(spec['items'])}")
    return " ".join(words) + (f" ({spec['description']})" if "description" in spec else "")


def _show(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 60 else text[:57] + "..."


def tool_of(function: Callable[..., Any]) -> Tool:
    """Read a marked method. Raises TypeError for a signature that makes no flat, described schema."""
    name, signature = function.__name__, inspect.signature(function)
    hints = get_type_hints(function, include_extras=True)
    parameters = tuple(_parameter(p, hints[p.name]) for p in list(signature.parameters.values())[1:])
    fields = [(p.name, p.hint) if p.required else (p.name, p.hint, p.default) for p in parameters]
    properties = {p.name: _property(name, p) for p in parameters}
    return Tool(
        name=name,
        description=inspect.cleandoc(function.__doc__ or "").strip(),
        marks=function.__prove__,  # type: ignore[attr-defined]
        parameters=parameters,
        returns=hints["return"],
        function=function,
        arguments=msgspec.defstruct(name, fields, forbid_unknown_fields=True),
        input_schema={
            "type": "object",
            "properties": properties,
            "required": [p.name for p in parameters if p.required],
            "additionalProperties": False,
        },
        output_schema=schema(hints["return"], nullable=True),
        consumes=frozenset().union(*(ids_in(p.hint) for p in parameters if p.required)),
        produces=frozenset(ids_in(hints["return"])),
        subject=subject_of(hints["return"]),
    )


def _parameter(declared: inspect.Parameter, hint: Any) -> Parameter:
    required, core = declared.default is declared.empty, bare(hint)
    return Parameter(declared.name, hint, required, None if required else declared.default, core if is_id(core) else None, is_secret(hint))


def _property(tool: str, parameter: Parameter) -> dict[str, Any]:
    spec = schema(parameter.hint)
    if not parameter.id_type and not any(m.description for m in metas(parameter.hint)):
        raise TypeError(
            f"{tool}({parameter.name}): give it a named type that says what it means, as `Annotated[..., Meta(description=...)]`"
        )
    if not parameter.required and parameter.default is not None:
        spec["default"] = msgspec.to_builtins(parameter.default)
    return spec
