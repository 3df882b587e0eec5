"""Reads interface definitions with the parser of PyPI's varlink, and says what it understood.

Standard input: definitions, each ended by a NUL. Standard output: for each a JSON object, either
{"error": "..."} or {"name": "...", "members": ["type T (x: int)", ...]}, members sorted and on one line.
"""

import json
import sys

from varlink.scanner import (
    Interface,
    _Alias,
    _Array,
    _CustomType,
    _Dict,
    _Enum,
    _Error,
    _Maybe,
    _Method,
    _Object,
    _Struct,
)


def text(kind):
    if isinstance(kind, _Maybe):
        return "?" + text(kind.element_type)
    if isinstance(kind, _Dict):
        return "[string]" + text(kind.element_type)
    if isinstance(kind, _Array):
        return "[]" + text(kind.element_type)
    if isinstance(kind, _CustomType):
        return kind.name
    if isinstance(kind, _Object):
        return "object"
    if isinstance(kind, _Enum):
        return "(" + ", ".join(kind.fields) + ")"
    if isinstance(kind, _Struct):
        return "(" + ", ".join(f"{name}: {text(of)}" for name, of in kind.fields.items()) + ")"
    # The others stand for themselves: a set of strings, and values of Python's own types.
    words = {set: "[string]()", bool: "bool", int: "int", float: "float", str: "string"}
    return words[type(kind)]


def line(member):
    if isinstance(member, _Alias):
        return f"type {member.name} {text(member.type)}"
    if isinstance(member, _Error):
        return f"error {member.name} {text(member.type)}"
    assert isinstance(member, _Method)
    return f"method {member.name}{text(member.in_type)} -> {text(member.out_type)}"


def read(definition):
    try:
        interface = Interface(definition)
    except (SyntaxError, RecursionError) as error:
        return {"error": str(error)}
    members = sorted(line(member) for member in interface.members.values())
    return {"name": interface.name, "members": members}


for definition in sys.stdin.buffer.read().decode("utf-8").split("\0")[:-1]:
    print(json.dumps(read(definition)))
