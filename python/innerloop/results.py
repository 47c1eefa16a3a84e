"""The conversion of what a function returns into JSON. Every type that a parameter may have can be
returned, too; a value that JSON cannot hold raises, and is never written as something else."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import json
import os
import uuid
from collections.abc import Mapping, Sequence, Set, ValuesView
from typing import Any

from ._threads import described

_LISTS = (Sequence, ValuesView, collections.deque)
# A `datetime` is a `date`, too.
_TIMES = (datetime.date, datetime.time)


def text_of(value: Any) -> str:
    """Returns a value as the model reads it: a text as it is, anything else as JSON.

    Raises:
        TypeError: There is no JSON for it.
        ValueError: There is none for a value of its type, such as an infinite number.
    """
    made = plain(value)
    if isinstance(made, str):
        return made
    return json.dumps(made, ensure_ascii=False, allow_nan=False)


def plain(value: Any) -> Any:
    """Returns a value of JSON's own types alone.

    Raises:
        TypeError: There is no JSON for it.
        ValueError: There is none for a value of its type, such as an infinite number.
    """
    try:
        made = _plain(value)
        json.dumps(made, allow_nan=False)
        return made
    except RecursionError:
        raise ValueError("the value holds itself, or is nested too deeply") from None


def _plain(value: Any) -> Any:
    if value is None or type(value) in (str, bool, int, float):
        return value
    if isinstance(value, enum.Enum):
        return _plain(value.value)
    # Subclasses of JSON's own types, such as NumPy's `float64`, may have a text of their own.
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return {field.name: _plain(getattr(value, field.name)) for field in fields}
    if isinstance(value, Mapping):
        return {_name(name): _plain(item) for name, item in value.items()}
    if isinstance(value, Set):
        return _in_order([_plain(item) for item in value])
    # Before lists, since bytes are sequences of numbers. Bytes that are no UTF-8 raise.
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).decode()
    if isinstance(value, _LISTS):
        return [_plain(item) for item in value]
    return _of_class(value)


def _of_class(value: Any) -> Any:
    if isinstance(value, _TIMES):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, decimal.Decimal | uuid.UUID):
        return str(value)
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, BaseException):
        return described(value)
    if isinstance(value, type):
        raise TypeError(f"there is no JSON for the class {value.__name__}")
    if callable(dump := getattr(value, "model_dump", None)):
        # A pydantic model, known by its method: pydantic is no dependency.
        return _plain(dump(mode="json"))
    if (attributes := getattr(type(value), "__attrs_attrs__", None)) is not None:
        return {one.name: _plain(getattr(value, one.name)) for one in attributes}
    # Numbers and arrays of NumPy and similar libraries, by their methods.
    for name in ("item", "tolist"):
        if callable(make := getattr(value, name, None)):
            try:
                return _plain(make())
            except (TypeError, ValueError):
                # `item` fails for an array of more than one element.
                continue
    raise TypeError(f"there is no JSON for a value of type {type(value).__name__}")


def _name(name: Any) -> str:
    made = _plain(name)
    if isinstance(made, str):
        return made
    if made is None or isinstance(made, bool | int | float):
        return json.dumps(made)
    raise TypeError(f"there is no name in JSON for a key of type {type(name).__name__}")


def _in_order(items: list[Any]) -> list[Any]:
    """Returns the items of a set in a stable order."""
    # The order of a set of texts changes from process to process, which would spoil the provider's
    # cache and recordings.
    return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))
