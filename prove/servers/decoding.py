"""Arguments as a client sent them -> values as a tool sees them, or a refusal that says why not.

The schema decides: what it allows is decoded, whatever library does the work. Three things are made sure here for every
tool: everything has a size, patterns mean what JSON Schema means by them, and values reach a tool in the normal form of
their type (`prove.servers.normal`).
"""

import json
import re
from datetime import date, datetime
from typing import Annotated, Any, get_args, get_origin

import msgspec
from msgspec import Meta, convert
from msgspec.structs import astuple

from prove.servers.errors import ToolError, did_you_mean
from prove.servers.normal import form_of
from prove.servers.schema import bare, is_id, schema, without_none
from prove.servers.types import BOUNDS, ID_BOUNDS

_YEARS = (1900, 2199)
_CONSTRAINTS = {
    "string": {"min_length": "minLength", "max_length": "maxLength", "pattern": "pattern"},
    "array": {"min_length": "minItems", "max_length": "maxItems"},
    "integer": {"gt": "exclusiveMinimum", "ge": "minimum", "lt": "exclusiveMaximum", "le": "maximum", "multiple_of": "multipleOf"},
}
_ENDLESS = re.compile(r"[*+]|,\}|^[^^]|[^$]$")  # a pattern that anything may be longer than
_CONSTRAINTS["number"] = _CONSTRAINTS["integer"]
_ECMA_SPACE = r"\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_ECMA_CLASSES = {r"\d": "0-9", r"\w": "A-Za-z0-9_", r"\s": _ECMA_SPACE}


def parameter_schema(hint: Any) -> dict[str, Any]:
    """The JSON Schema of a parameter: that of its hint, and a size for everything that has none."""
    return _bounded(schema(hint), bare(hint))


def _bounded(spec: dict[str, Any], core: Any) -> dict[str, Any]:
    if get_origin(core) is list:
        spec["items"] = _bounded(spec["items"], bare(get_args(core)[0]))
    if "enum" in spec or core in (date, datetime):
        return spec
    if "pattern" in spec and not _ENDLESS.search(spec["pattern"]):
        return spec  # it says by itself how long a text may be
    default = ID_BOUNDS if is_id(core) else BOUNDS.get(spec["type"], {})
    stated = {"minimum" if "exclusiveMinimum" in spec else "", "maximum" if "exclusiveMaximum" in spec else ""}
    return spec | {word: bound for word, bound in default.items() if word not in spec and word not in stated}


def wire(hint: Any, spec: dict[str, Any]) -> Any:
    """The type by which msgspec decodes a parameter of that schema."""
    core = bare(hint)
    if get_origin(core) is list:
        core = list[wire(get_args(core)[0], spec["items"])]  # type: ignore[misc]
    limits: dict[str, Any] = {} if "enum" in spec else {k: spec[w] for k, w in _CONSTRAINTS.get(spec["type"], {}).items() if w in spec}
    if "pattern" in limits:
        limits["pattern"] = ecma(limits["pattern"])
    if core is datetime:
        limits["tz"] = True
    kind = Annotated[str if is_id(core) else core, Meta(**limits)] if limits else str if is_id(core) else core
    return kind | None if without_none(hint) is not hint else kind


def ecma(pattern: str) -> str:
    r"""A pattern of JSON Schema for Python's `re`, which would let `$` stand before a last newline and `\d` take any script's digits.

    https://json-schema.org/draft/2020-12/json-schema-core#section-6.4
    """
    out, inside = "", False
    for token in re.findall(r"\\.|.", pattern, re.DOTALL):
        inside = token == "[" or (inside and token != "]")
        if token in _ECMA_CLASSES:
            out += _ECMA_CLASSES[token] if inside else f"[{_ECMA_CLASSES[token]}]"
        else:
            out += r"\Z" if token == "$" and not inside else token
    return out


class Decoder:
    """Decodes the arguments of one tool."""

    def __init__(self, tool: str, hints: dict[str, Any], input_schema: dict[str, Any], defaults: dict[str, Any], secret: set[str]) -> None:
        self.tool, self.schema, self.secret = tool, input_schema, secret
        self.properties: dict[str, Any] = input_schema["properties"]
        self.wires = {name: wire(hint, self.properties[name]) for name, hint in hints.items()}
        fields = [(n, w, defaults[n]) if n in defaults else (n, w) for n, w in self.wires.items()]
        self.struct = msgspec.defstruct(tool, fields, forbid_unknown_fields=True)
        self.forms = tuple((at, n, form) for at, n in enumerate(hints) if (form := form_of(self.properties[n])))
        self.shortest = {n: least for n in hints if (least := self.properties[n].get("minLength", 0))}
        self.dates = tuple(at for at, hint in enumerate(hints.values()) if bare(hint) in (date, datetime))

    def decode(self, arguments: Any) -> tuple[Any, ...]:
        """Values in the order of the signature. Nothing is coerced but a float without a fraction where an integer is due, nothing
        ignored. Raises `ToolError("invalid_argument")`."""
        try:
            try:
                values = astuple(convert(arguments, self.struct))
            except msgspec.ValidationError:
                values = astuple(convert(_whole(arguments), self.struct))
            for at in self.dates:
                self._check_year(values[at])
            for at, name, form in self.forms:
                if (value := values[at]) is not None and (normal := form(value)) is not value:
                    values = (*values[:at], self._long_enough(name, normal), *values[at + 1 :])
            return values
        except (msgspec.ValidationError, ValueError, RecursionError):  # a half surrogate and NaN are ValueErrors
            raise ToolError("invalid_argument", self.complaint(arguments)) from None

    def _long_enough(self, name: str, normal: Any) -> Any:
        if isinstance(normal, str) and len(normal) < self.shortest.get(name, 0):
            raise ValueError(f"{name} is blank")
        return normal

    def _check_year(self, value: date | None) -> None:
        if value is not None and not _YEARS[0] <= value.year <= _YEARS[1]:  # at the ends of the calendar, date arithmetic overflows
            raise ToolError("invalid_argument", f"{self.tool}: {value} lies outside the years {_YEARS[0]} to {_YEARS[1]}")

    def complaint(self, arguments: Any) -> str:
        """Why the arguments do not fit, in words that do not depend on a library's version. No secret is shown."""
        if not isinstance(arguments, dict):
            return f"{self.tool}: arguments must be an object, got {shown(arguments)}"
        for name in arguments:
            if name not in self.properties:
                takes = ", ".join(self.properties) or "none"
                return f"{self.tool} has no argument {quoted(name)}{did_you_mean(str(name)[:60], self.properties)}; it takes {takes}"
        for name in self.schema["required"]:
            if name not in arguments:
                return f"{self.tool}: {name} is missing; expected {expected(self.properties[name])}"
        for name, value in arguments.items():
            if not self._fits(name, value):
                got = "something else" if name in self.secret else shown(value)
                return f"{self.tool}: {name} must be {expected(self.properties[name])}, got {got}"
        return f"{self.tool}: the arguments do not fit its schema"

    def _fits(self, name: str, value: Any) -> bool:
        form = form_of(self.properties[name])
        try:
            decoded = convert(_whole(value), self.wires[name])
            self._long_enough(name, decoded if form is None or decoded is None else form(decoded))
        except (msgspec.ValidationError, ValueError, OverflowError, RecursionError):
            return False
        return True


def _whole(value: Any) -> Any:
    """Arguments in which a float without a fraction is an integer: JSON Schema knows no difference."""
    if type(value) is dict:
        return {k: _whole(v) for k, v in value.items()}
    if type(value) is list:
        return [_whole(v) for v in value]
    return int(value) if type(value) is float and value.is_integer() else value


_BOUNDS_IN_WORDS = {
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
    words = [_NOUNS[spec["type"]], *(text.format(spec[key]) for key, text in _BOUNDS_IN_WORDS.items() if key in spec)]
    if spec["type"] == "array":
        words.insert(1, f"whose items are each {expected(spec['items'])}")
    return " ".join(words) + (f" ({spec['description']})" if "description" in spec else "")


def quoted(name: Any) -> str:
    """A name in a message, shortened; half a surrogate pair escaped."""
    return repr(str(name)[:60])


def shown(value: Any) -> str:
    """A value in a message: its JSON, shortened; half a surrogate pair escaped."""
    try:
        text = json.dumps(value, ensure_ascii=False)
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(value)
    except RecursionError:
        return "something nested too deep"
    return text if len(text) <= 60 else text[:57] + "..."
