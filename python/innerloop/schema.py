"""JSON schemas of Python types, and the conversion of JSON into their values. Both follow the same
cases: a type has a schema here only if values of it can be made."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import os
import pathlib
import types
import typing
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from .core import Json

_PLAIN: dict[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    None: "null",
    type(None): "null",
}
_PYTHON: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}
_WRITTEN: dict[Any, tuple[Json, Callable[[Any], Any]]] = {
    datetime.datetime: (
        {"type": "string", "format": "date-time"},
        lambda json: datetime.datetime.fromisoformat(_zone(json)),
    ),
    datetime.date: ({"type": "string", "format": "date"}, datetime.date.fromisoformat),
    datetime.time: (
        {"type": "string", "format": "time"},
        lambda json: datetime.time.fromisoformat(_zone(json)),
    ),
    datetime.timedelta: (
        {"type": "number", "description": "seconds"},
        lambda json: datetime.timedelta(seconds=json),
    ),
    decimal.Decimal: ({"type": "number"}, lambda json: decimal.Decimal(str(json))),
    uuid.UUID: ({"type": "string", "format": "uuid"}, uuid.UUID),
    pathlib.Path: ({"type": "string"}, pathlib.Path),
    os.PathLike: ({"type": "string"}, pathlib.Path),
}
"""The types that are a text or a number in JSON, each with its schema and its conversion."""
_LISTS = (list, Sequence, set, frozenset)
_MAPS = (dict, Mapping)


class UnsupportedType(Exception):
    """The error for a type that has no schema here."""


def schema_of(kind: Any) -> Json:
    """Returns the schema of a type.

    Raises:
        UnsupportedType: It has none.
    """
    if kind in (Any, object):
        return {}
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    origin, inside = get_origin(kind), get_args(kind)
    if (origin or kind) in _WRITTEN:
        return dict(_WRITTEN[origin or kind][0])
    if origin is typing.Annotated:
        return _annotated(inside)
    if origin is Literal:
        return {"enum": list(inside)}
    if origin in (Union, types.UnionType):
        return _union(inside)
    if (origin or kind) in _LISTS:
        return {"type": "array", "items": schema_of(inside[0]) if inside else {}}
    if (origin or kind) is tuple:
        return _tuple(inside)
    if (origin or kind) in _MAPS:
        values = schema_of(inside[1]) if inside else {}
        return {"type": "object", "additionalProperties": values or True}
    return _class(kind)


def value_of(kind: Any, json: Any) -> Any:
    """Returns the value of a type for JSON that fits the type's schema."""
    origin, inside = get_origin(kind), get_args(kind)
    if origin is typing.Annotated:
        return value_of(inside[0], json)
    if origin in (Union, types.UnionType):
        return _of_union(inside, json)
    # A model may write `1` for `1.0`, which fits the schema.
    if kind is float:
        return float(json)
    made = origin or kind
    if made in _WRITTEN:
        return _WRITTEN[made][1](json)
    if made in _LISTS:
        values = [value_of(inside[0], item) for item in json] if inside else list(json)
        return made(values) if made in (set, frozenset) else values
    if made is tuple:
        kinds = inside[:1] * len(json) if inside[1:] == (...,) else inside
        return tuple(value_of(one, item) for one, item in zip(kinds, json, strict=True))
    if made in _MAPS and inside:
        return {name: value_of(inside[1], value) for name, value in json.items()}
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind(json)
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        hints = get_type_hints(kind, include_extras=True)
        return kind(**{name: value_of(hints[name], value) for name, value in json.items()})
    if _is_model(kind):
        return kind.model_validate(json)
    return json


def _zone(written: str) -> str:
    """Replaces the Z of UTC, which Python 3.10 does not read."""
    return f"{written[:-1]}+00:00" if written.endswith(("Z", "z")) else written


def _is_model(kind: Any) -> bool:
    """Returns whether a type is a pydantic model, or has the same methods."""
    methods = ("model_json_schema", "model_validate")
    return isinstance(kind, type) and all(callable(getattr(kind, name, None)) for name in methods)


def _annotated(inside: tuple[Any, ...]) -> Json:
    schema = schema_of(inside[0])
    words = next((extra for extra in inside[1:] if isinstance(extra, str)), None)
    return schema if words is None else {**schema, "description": words}


def _union(kinds: tuple[Any, ...]) -> Json:
    all_of_them = [schema_of(kind) for kind in kinds]
    # A union with `Any` allows everything.
    if {} in all_of_them:
        return {}
    if all(schema.keys() == {"type"} for schema in all_of_them):
        return {"type": [schema["type"] for schema in all_of_them]}
    return {"anyOf": all_of_them}


def _of_union(kinds: tuple[Any, ...], json: Any) -> Any:
    for kind in kinds:
        if _fits(kind, json):
            try:
                return value_of(kind, json)
            except ValueError:
                # A text that is not a date, for example, may be meant as a text.
                continue
    return json


def _fits(kind: Any, json: Any) -> bool:
    schema = schema_of(kind)
    if "enum" in schema:
        return json in schema["enum"]
    if "anyOf" in schema or isinstance(schema.get("type"), list):
        return any(_fits(one, json) for one in get_args(kind))
    if isinstance(json, dict) and "properties" in schema:
        names: set[str] = set(json)
        return names.issuperset(schema.get("required", ())) and names.issubset(schema["properties"])
    wanted: str | None = schema.get("type")
    if wanted is None:
        return True
    # `bool` is an `int` in Python, but not in JSON.
    if isinstance(json, bool):
        return wanted == "boolean"
    return isinstance(json, _PYTHON[wanted])


def _tuple(kinds: tuple[Any, ...]) -> Json:
    if kinds[1:] == (...,):
        return {"type": "array", "items": schema_of(kinds[0])}
    count = len(kinds)
    items = [schema_of(kind) for kind in kinds]
    return {"type": "array", "prefixItems": items, "minItems": count, "maxItems": count}


def _class(kind: Any) -> Json:
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return {"enum": [member.value for member in kind]}
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        required = [
            field.name
            for field in dataclasses.fields(kind)
            if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        ]
        return _object(kind, required)
    if typing.is_typeddict(kind):
        return _object(kind, sorted(kind.__required_keys__))
    if _is_model(kind):
        schema: Json = kind.model_json_schema()
        whole: Json = _whole(schema, schema.get("$defs", {}), kind.__name__, ())
        return whole
    raise UnsupportedType(getattr(kind, "__name__", str(kind)))


def _whole(json: Any, parts: Json, name: str, inside: tuple[str, ...]) -> Any:
    """Returns a schema with its definitions in the place of references: it becomes part of another
    schema, from which the references would lead nowhere."""
    if isinstance(json, list):
        return [_whole(item, parts, name, inside) for item in json]
    if not isinstance(json, dict):
        return json
    part = str(json.get("$ref", "")).rpartition("/")[2]
    if part in inside:
        raise UnsupportedType(f"{name}, whose part {part} holds itself")
    if part in parts:
        rest = {key: value for key, value in json.items() if key != "$ref"}
        return _whole(parts[part], parts, name, (*inside, part)) | rest
    fields = json.items()
    return {key: _whole(item, parts, name, inside) for key, item in fields if key != "$defs"}


def _object(kind: Any, required: list[str]) -> Json:
    hints = get_type_hints(kind, include_extras=True)
    properties = {name: schema_of(hint) for name, hint in hints.items()}
    return object_schema(properties, required)


def object_schema(properties: Json, required: list[str]) -> Json:
    """Returns the schema of an object with these properties and no others."""
    schema: Json = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    schema["additionalProperties"] = False
    return schema
